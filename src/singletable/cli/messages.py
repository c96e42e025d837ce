"""What the command says to people: errors and hints, always on stderr. stdout is for data.

Without stderr (`2>&-`) nothing is said: Python's `print` would take stdout instead.
"""

from __future__ import annotations

import sys
from contextlib import suppress


def say_error(message: str, *, hint: str | None = None) -> None:
    """Print what is wrong and, on a paragraph of its own, what to do."""
    say(f"error: {message}")
    if hint is not None:
        say(f"\nhint: {hint}")


def say(message: str) -> None:
    """Print a line that helps but is not part of the result; behind what was printed of that before."""
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # whoever prints next hears that nobody reads it
            sys.stdout.flush()
    if sys.stderr is not None:
        print(message, file=sys.stderr, flush=True)
