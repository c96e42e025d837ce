"""The files that hold what is written down, and how they differ from what the code does now."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final

from golden.record import SCRIPTS, WITHOUT, blueprint_lines, recorded_lines
from golden.surface import command_lines, error_lines, surface_lines

FOLDER: Final = Path(__file__).parent
HINT: Final = (
    "if this is meant: PYTHONPATH=tests .venv/bin/python -m golden, and read the diff before you commit it"
)
_SHOWN_LINES_MAX: Final = 60
_SHOWN_CHARACTERS_MAX: Final = 900
_LONG_CHARACTERS: Final = 40

# What each file holds: the first four are of the whole product, the others of one script each.
FILES: Final[dict[str, Callable[[], list[str]]]] = {
    "surface.txt": surface_lines,
    "errors.txt": error_lines,
    "command.txt": command_lines,
    "blueprints.txt": blueprint_lines,
    **{f"calls/{name}.jsonl": partial(recorded_lines, name) for name in SCRIPTS},
}


def differences(name: str) -> str:
    """Compare a file with what it should hold now; return the lines that differ, or nothing."""
    found = list(difflib.unified_diff(read(name), FILES[name](), "recorded", "now", lineterm="", n=1))
    more = [f"and {len(found) - _SHOWN_LINES_MAX} lines more"] if len(found) > _SHOWN_LINES_MAX else []
    return "\n".join([line[:_SHOWN_CHARACTERS_MAX] for line in found[:_SHOWN_LINES_MAX]] + more)


def read(name: str) -> list[str]:
    """Return the lines of a file, each as it was before it was shortened."""
    path = FOLDER / name
    lines: list[str] = []
    told = _marked(read(_before(name))) if _before(name) else {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        lines.append(told.get(line, line))
        told |= _marked(lines[-1:])
    return lines


def write_all() -> list[str]:
    """Write every file anew; return the names of those that changed."""
    changed: list[str] = []
    for name, lines in FILES.items():
        path = FOLDER / name
        text = "".join(f"{line}\n" for line in _shortened(name, lines()))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            changed.append(name)
    return changed


# --- calls that are made again --------------------------------------------------------------------------------


def _shortened(name: str, lines: Iterable[str]) -> Iterable[str]:
    """Write a mark for a long line that stands above already, or in the file of the script with transactions."""
    told = _marked(read(_before(name))) if _before(name) else {}
    for line in lines:
        mark = _mark(line)
        yield mark if told.get(mark) == line else line
        told |= _marked([line])


def _before(name: str) -> str:
    return name.replace(WITHOUT, "") if WITHOUT in name else ""


def _marked(lines: Iterable[str]) -> dict[str, str]:
    return {_mark(line): line for line in lines if line.startswith("{") and len(line) > _LONG_CHARACTERS}


def _mark(line: str) -> str:
    return "= " + blake2b(line.encode(), digest_size=4).hexdigest()
