"""Kefir: pure decisions about batches."""
