"""DOC904: a sample holds the constant text that its key puts in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot, Template
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path


def check(view: View) -> Iterator[Finding]:
    """Look for samples of fields and parameters that begin with the text before their slot."""
    seen: set[tuple[Path, str]] = set()
    for path, template in _templates(view):
        for text, slot in _led(template):
            value = next((each for each in slot.samples if str(each).startswith(text)), None)
            if value is None or slot.is_encoded or (path, slot.name) in seen:
                continue
            seen.add((path, slot.name))
            rest = str(value).removeprefix(text)
            yield finding(
                RULE,
                path,
                message=f"the sample {value} of {slot.name} begins with {text}, which {template.text} adds",
                because=f"the key becomes {template.example(**{slot.name: value})}, and one that was written with "
                f"{rest} is not found",
                repair=f"give {slot.name} as {rest}; the template adds what stands before it",
            )


def _templates(view: View) -> Iterator[tuple[Path, Template]]:
    for place in view.places:
        for _, _, template in place.templates():
            yield place.path[:2], template
    for read in view.reads:
        for asked in read.asked:
            for template in asked.templates:
                yield read.path[:2], template


def _led(template: Template) -> Iterator[tuple[str, Slot]]:
    """Yield each slot with the word that stands before it: USER# of TEAM#{team}#USER#{user}."""
    for before, slot in pairwise(template.pieces):
        if isinstance(before, str) and isinstance(slot, Slot):
            word = before.strip("#|:/-_.")
            if len(word) > 1 and not before[-1].isalnum():
                yield before.lstrip("#|:/-_."), slot


RULE = Rule("DOC904", Severity.DISAGREEMENT, "A sample holds the prefix that its key adds", check)
