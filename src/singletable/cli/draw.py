"""`singletable draw`: a picture of a design's item collections, or of the items in its table."""

from __future__ import annotations

import argparse
import json
from pathlib import PurePath
from typing import Final

from singletable.cli.messages import WrongUseError, say
from singletable.cli.output import write_file
from singletable.cli.patterns.finding import PatternSource, find_source
from singletable.cli.patterns.opening import opened
from singletable.cli.targets import add_design, add_opening, given_capabilities
from singletable.drawing import Picture, draw_design, draw_items, html, picture_data, svg

EXAMPLES = """\
examples:
  singletable draw kefir --out kefir.svg             the item collections of a system
  singletable draw app.kefir:Kefir --out kefir.html  those of a design, as one page to click through
  singletable draw kefir kefir.db --out items.html   some items of each kind, as they are stored
  singletable draw kefir --view GSI1 >gsi1.svg       one index alone
  singletable draw kefir --json | jq .views          what would be drawn, for programs

Without --out the picture is printed as SVG. Of a TARGET only a bounded part is read, and nothing is written.
"""

SUFFIXES: Final = (".svg", ".html")

DONE = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `draw`."""
    add_design(parser)
    parser.add_argument(
        "target", metavar="TARGET", nargs="?", help="draw items of this file, URL or dynamodb://REGION"
    )
    parser.add_argument(
        "--out", metavar="FILE", type=_picture_file, help="where the picture is to be: FILE.svg or FILE.html"
    )
    parser.add_argument("--view", metavar="NAME", help="draw this index alone, or `table`")
    add_opening(parser)
    parser.add_argument("--json", action="store_true", help="print what is drawn as JSON")


def _picture_file(text: str) -> str:
    if PurePath(text).suffix.lower() not in SUFFIXES:
        raise argparse.ArgumentTypeError(f"{text!r} is no picture: its name ends with .svg or .html")
    return text


def run(arguments: argparse.Namespace) -> int:
    """Draw; print the picture, or write it to a file."""
    source = find_source(arguments.design)
    picture = _picture(arguments, source)
    if arguments.out is not None:
        draw = svg if arguments.out.lower().endswith(".svg") else html
        write_file(arguments.out, draw(picture))
        say(f"{arguments.out} is written")
    if arguments.json:
        print(json.dumps(picture_data(picture), ensure_ascii=False))
    elif arguments.out is None:
        print(svg(picture), end="")
    return DONE


def _picture(arguments: argparse.Namespace, source: PatternSource) -> Picture:
    declared = draw_design(source.design.blueprint())
    views = [view.name for view in declared.views]
    if arguments.view is not None and arguments.view not in views:
        raise WrongUseError(
            f"{source.design.__name__} has no view {arguments.view!r}", hint=f"its views: {', '.join(views)}"
        )
    if arguments.target is None:
        return declared if arguments.view is None else declared.only(arguments.view)
    capabilities = given_capabilities(arguments, arguments.target)
    with opened(source, arguments.target, dict(arguments.env), capabilities) as found:
        return draw_items(found.design, view=arguments.view)
