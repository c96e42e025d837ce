"""Measurements of the engine, each as a ratio against a floor taken in the same seconds."""
