"""What the command says to people: errors and hints, always on stderr. stdout is for data.

Without stderr (`2>&-`) nothing is said: Python's `print` would take stdout instead.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from singletable.errors import SingleTableError

_NO_PAGE_OF_ITS_OWN = "docs/errors/README.md"


def say_error(message: str, *, hint: str | None = None) -> None:
    """Print what is wrong and, on a paragraph of its own, what to do."""
    say(f"error: {message}")
    if hint is not None:
        say(f"\nhint: {hint}")


def say_failure(error: SingleTableError, *, as_json: bool = False) -> None:
    """Print an error of this package: its number or code, the sentence, the hint and the page.

    For a program it is also the result, on stdout: {"error": {...}}.
    """
    data = error_data(error)
    name = data["number"] or data["code"]
    say_error(f"{name}: {error.message}" if name else str(error), hint=error.hint)
    if data["page"] is not None:
        say(f"{'' if error.hint else chr(10)}page: {data['page']}")
    if as_json and sys.stdout is not None:
        try:
            print(json.dumps({"error": data}, ensure_ascii=False), flush=True)
        except BrokenPipeError:
            raise
        except OSError:
            pass  # that may be the very error


def error_data(error: SingleTableError) -> dict[str, Any]:
    """Return an error as JSON has it."""
    return {
        "number": error.number or None,
        "code": getattr(error, "code", None),
        "message": error.message,
        "hint": error.hint,
        "page": None if error.page == _NO_PAGE_OF_ITS_OWN else error.page,
    }


def say(message: str) -> None:
    """Print a line that helps but is not part of the result; behind what was printed of that before."""
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # whoever prints next hears that nobody reads it
            sys.stdout.flush()
    if sys.stderr is not None:
        print(message, file=sys.stderr, flush=True)
