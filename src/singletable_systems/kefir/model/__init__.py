"""Kefir: keys, entities and the design with its access patterns."""
