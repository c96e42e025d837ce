"""Crashes, power cuts, faults of the disk, and models that find what nobody thought of."""
