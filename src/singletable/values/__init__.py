"""Attribute values: their internal form, numbers, order-preserving keys, sizes. Import the submodules."""
