"""Attribute values: their internal form, numbers, order-preserving keys, sizes. Import the submodules.

No tables, requests or expressions here: only values, and DynamoDB's rules for them.
"""
