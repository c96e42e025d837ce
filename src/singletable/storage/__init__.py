"""The ordered store and its change log: one SQLite file, one writer, one transaction for all effects of a change.

All SQL is written here. This package does not know operations, expressions or HTTP.
"""
