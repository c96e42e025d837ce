"""What the command says to people: errors and hints, always on stderr. stdout is for data.

Commands in it can be pasted: they begin with what this command was started by, such as .venv/bin/singletable.
Without stderr (`2>&-`) nothing is said: Python's `print` would take stdout instead.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Final

from singletable.errors import SingleTableError

_NO_PAGE_OF_ITS_OWN = "docs/errors/README.md"
_PROGRAM: Final = "singletable"
_COMMAND: Final = re.compile(rf"(?<![\w./-]){_PROGRAM}(?= ([a-z-]+))")


class WrongUseError(SingleTableError):
    """A command cannot be carried out as it was given."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)


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
        print(_COMMAND.sub(_as_started, message), file=sys.stderr, flush=True)


# --- commands to paste ------------------------------------------------------------------------------------------


def started_by(*, is_new_terminal: bool = False) -> str:
    """Return what starts this command from a shell: from this one, or from one where no venv is active."""
    path = sys.argv[0]
    found = shutil.which(_PROGRAM)
    if os.path.basename(path).partition(".")[0] == _PROGRAM:
        is_found = found is not None and os.path.realpath(found) == os.path.realpath(path)
        # A venv that is active here is at the front of the PATH, and need not be in another terminal.
        if is_found and not (is_new_terminal and path.startswith(os.path.join(sys.prefix, ""))):
            return _PROGRAM
        return shlex.quote(_from_here(path))
    is_module = path.endswith(os.path.join(_PROGRAM, "__main__.py"))
    if is_module and (found is None or is_new_terminal):
        return f"{python_here()} -m {_PROGRAM}"
    return _PROGRAM


def database_line(file: str, call: str) -> str:
    """Return a line for a shell that calls a method of a database. Nobody needs the AWS CLI for it."""
    path = json.dumps(file, ensure_ascii=False)  # in quotes that need no others in a shell
    code = f"from singletable import Database; Database.open({path}).{call}"
    return f"{python_here()} -c {shlex.quote(code)}"


def python_here() -> str:
    """Return the Python that runs this command, as a shell takes it."""
    return shlex.quote(_from_here(sys.executable))


def _from_here(path: str) -> str:
    return path.removeprefix(os.path.join(os.getcwd(), ""))


def _as_started(found: re.Match[str]) -> str:
    # Only before the name of a command: a file may be "a singletable database".
    is_command = find_spec(f"singletable.cli.{found[1].replace('-', '_')}") is not None
    return started_by() if is_command else found[0]
