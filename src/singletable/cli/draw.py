"""`singletable draw`: a picture of a design's item collections, or of the items in its table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from singletable.cli.messages import say
from singletable.cli.output import write_file
from singletable.cli.patterns.finding import Source, find_source
from singletable.cli.patterns.opening import opened
from singletable.cli.targets import given_capabilities
from singletable.cli.wrong_use import WrongUseError
from singletable.drawing import Picture, draw_design, draw_items, html, picture_data, svg

if TYPE_CHECKING:
    import argparse

DONE = 0


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


def _picture(arguments: argparse.Namespace, source: Source) -> Picture:
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
