"""What the command says to people: errors and hints, always on stderr. stdout is for data."""

from __future__ import annotations

import sys


def say_error(message: str, *, hint: str | None = None) -> None:
    """Print what is wrong and, on a paragraph of its own, what to do."""
    print(f"error: {message}", file=sys.stderr)
    if hint is not None:
        print(f"\nhint: {hint}", file=sys.stderr)


def say(message: str) -> None:
    """Print a line that helps but is not part of the result."""
    print(message, file=sys.stderr, flush=True)
