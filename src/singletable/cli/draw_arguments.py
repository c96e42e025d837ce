"""The arguments of `draw`. Imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Final

from singletable.cli.targets import add_design, add_opening

SUFFIXES: Final = (".svg", ".html")

_EXAMPLES = """\
examples:
  singletable draw kefir --out kefir.svg             the item collections of a system
  singletable draw app.kefir:Kefir --out kefir.html  those of a design, as one page to click through
  singletable draw kefir kefir.db --out items.html   some items of each kind, as they are stored
  singletable draw kefir --view GSI1 >gsi1.svg       one index alone
  singletable draw kefir --json | jq .views          what would be drawn, for programs

Without --out the picture is printed as SVG. Of a TARGET only a bounded part is read, and nothing is written.
"""

Add = Callable[..., argparse.ArgumentParser]


def add_draw(commands: Any, add: Add) -> None:
    """Describe `draw`."""
    draw = add(commands, "draw", "draw the item collections of a design, or of its items", _EXAMPLES)
    add_design(draw)
    draw.add_argument(
        "target", metavar="TARGET", nargs="?", help="draw items of this file, URL or dynamodb://REGION"
    )
    draw.add_argument(
        "--out", metavar="FILE", type=_picture_file, help="where the picture is to be: FILE.svg or FILE.html"
    )
    draw.add_argument("--view", metavar="NAME", help="draw this index alone, or `table`")
    add_opening(draw)
    draw.add_argument("--json", action="store_true", help="print what is drawn as JSON")


def _picture_file(text: str) -> str:
    if PurePath(text).suffix.lower() not in SUFFIXES:
        raise argparse.ArgumentTypeError(f"{text!r} is no picture: its name ends with .svg or .html")
    return text
