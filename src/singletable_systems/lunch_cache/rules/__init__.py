"""Lunch Cache: how lunches of parsers are read."""
