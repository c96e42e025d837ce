"""What every error of this package is."""

from __future__ import annotations


class SingleTableError(Exception):
    """Base of every error this package raises on purpose."""
