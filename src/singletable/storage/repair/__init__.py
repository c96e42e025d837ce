"""Repair of a damaged file: what its pages still say, what other places know, and a new file of both."""
