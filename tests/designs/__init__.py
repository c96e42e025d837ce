"""Designs that the tests run: what the documents of the four systems use, in small."""
