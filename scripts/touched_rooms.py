"""Print the rooms of tests that belong to what has changed: `python scripts/touched_rooms.py [BASE]`.

What has changed is all that differs from BASE (the last commit, if none is given), and files that are new. A test
file that has changed stands for itself. `make check` runs what is printed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path, PurePath
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
TESTS: Final = ROOT / "tests"

# Tests of a package in a room of another name: all of them, or further ones beside those of its own room.
ROOMS: Final = {
    "blueprint": "design/describe",
    "capacity": "engine",
    "clock": "values",
    "cloudwatch": "stack",
    "database": "engine",
    "errors": "documents",
    "limits": "engine",
    "operations": "wire",
    "encryption": "storage",
    "past": "engine",
    "pattern_texts": "cli",
    "probe": "client",
    "testing": "boto",
    "visible": "cli",
}


def rooms_of(path: PurePath) -> set[str]:
    """Return the tests of a changed file, as paths below the root."""
    match path.parts:
        case ("tests", *_, name) if name.startswith("test_"):
            return {str(path)} if (ROOT / path).exists() else set()
        case ("tests", room, *_) if (TESTS / room).is_dir() and any((TESTS / room).rglob("test_*.py")):
            return {f"tests/{room}"}
        case ("tests", *_) | ("pyproject.toml",):  # fixtures, designs, what rooms share
            return {"tests"}
        case ("src", "singletable", "design", room, *_) if (TESTS / "design" / PurePath(room).stem).is_dir():
            return {f"tests/design/{PurePath(room).stem}"}
        case ("src", "singletable_systems", system, *_):
            own = f"systems/{system}"
            return {f"tests/{own}" if (TESTS / own).is_dir() else "tests/systems"}
        case ("src", "singletable", package, *_):
            name = PurePath(package).stem
            return {f"tests/{room}" for room in (name, ROOMS.get(name, name)) if (TESTS / room).is_dir()}
        case ("scripts" | "Makefile", *_):
            return {"tests/documents"}
        case ("docs" | "README.md" | "CHANGELOG.md" | "CONTRIBUTING.md", *_):
            return {"tests/documents/test_docs_blocks.py"}
        case _:
            return set()


def changed(base: str) -> list[PurePath]:
    """Return the files that differ from a commit, also those that are gone."""
    git = ["git", "-C", str(ROOT)]
    commands = (
        [*git, "diff", "--name-only", "--no-renames", base],
        [*git, "ls-files", "--others", "--exclude-standard"],
    )
    printed = [subprocess.run(each, check=True, capture_output=True, text=True).stdout for each in commands]
    return [PurePath(line) for text in printed for line in text.splitlines()]


def main() -> None:
    base = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    found = {room for path in changed(base) for room in rooms_of(path)}
    whole = {room for room in found if not room.endswith(".py")}
    print(*sorted(room for room in found if not any(room.startswith(f"{each}/") for each in whole)))


if __name__ == "__main__":
    main()
