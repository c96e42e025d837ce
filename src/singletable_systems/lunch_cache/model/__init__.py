"""Lunch Cache: keys, weeks, entities and the design with its access patterns."""
