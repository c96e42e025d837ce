"""Draw the systems into docs/images/systems: their item collections, as SVG and as HTML.

usage: python scripts/draw_systems.py [--check]

`--check` writes nothing, and exits 1 when a picture differs from what its design says.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from singletable.drawing import draw_design, html, svg
from singletable.systems import installed_systems

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images" / "systems"


def pictures() -> Iterator[tuple[str, str]]:
    """Draw all systems: names of files, and what is to be in them."""
    for name, system in installed_systems().items():
        picture = draw_design(system.design.blueprint())
        yield f"{name}.svg", svg(picture)
        yield f"{name}.html", html(picture)


def main(argv: list[str] | None = None) -> int:
    """Write the pictures, or compare them."""
    parser = argparse.ArgumentParser(description="Draw the systems into docs/images/systems.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a picture differs")
    arguments = parser.parse_args(argv)
    differing = [(name, text) for name, text in pictures() if _stored(name) != text]
    if arguments.check:
        for name, _ in differing:
            print(f"error: {name} differs from its design", file=sys.stderr)
        if differing:
            print("\nhint: run python scripts/draw_systems.py", file=sys.stderr)
        return 1 if differing else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in differing:
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


def _stored(name: str) -> str | None:
    path = FOLDER / name
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
