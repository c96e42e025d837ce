"""COS805: requests are counted as units, though items are larger than a unit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint import FigureBlueprint
    from singletable.blueprint.contents import VolumeBlueprint

_UNITS: Final = re.compile(r"unit|[wr]cu|[wr]ru|capacity", re.IGNORECASE)
_EACH: Final = re.compile(r"per_(?!s$|second|hour|day|week|month|year|million)|each", re.IGNORECASE)
_SIZE: Final = re.compile(r"kb|kib|size|bytes|index|cop(?:y|ies)", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_KIND_BYTES: Final = {"write": 1.0, "read": 4.0}  # KB of a unit
_EVENTUAL: Final = 0.5


def check(view: View) -> Iterator[Finding]:
    """Look for bills, units and factors that have less units for a request than the smallest item takes."""
    figures = {figure.name: figure for figure in view.blueprint.figures}
    for at, figure in enumerate(view.blueprint.figures):
        names = _names(figure, figures)
        for kind in _KIND_BYTES:
            volume = _smallest(view, names)
            if volume is None:
                break
            units = _units(kind, volume.kb)
            if (counted := _counted(figure, kind, names)) is not None and counted < units:
                yield finding(
                    RULE,
                    ("figures", at),
                    view.entity_path(volume.entity),
                    message=f"{figure.name} counts {counted:g} {kind} unit for a request, and a {volume.entity} "
                    f"of {volume.kb:g} KB takes {units:g}",
                    because=f"a {kind} unit is {_KIND_BYTES[kind]:g} KB of an item, rounded up: {volume.kb:g} KB "
                    f"are {units:g} units, so that the figure is {units / counted:g} times too low",
                    repair=f"multiply the requests by the units of an item, {units:g}, and those of its copies in "
                    "indexes",
                )
                break


def _counted(figure: FigureBlueprint, kind: str, names: list[str]) -> float | None:
    """Return how many units a figure counts for a request of a kind; None if it does not say so."""
    other = "read" if kind == "write" else "write"
    for name, value in (*figure.terms.items(), (figure.name, figure.value)):
        is_factor = _UNITS.search(name) and _EACH.search(name) and other not in name
        if is_factor and (kind in name or kind == "write") and isinstance(value, int | float) and value > 0:
            return float(value)
    is_unit = re.search(rf"{kind} unit|{kind[0]}[cr]u", figure.unit, re.IGNORECASE) is not None
    is_of_kind = is_unit or f"{kind}_price" in figure.terms
    counts = [name for name in figure.terms if name not in ("write_price", "read_price")]
    if not is_of_kind or not counts or not figure.formula:
        return None
    if any(_UNITS.search(name) or _SIZE.search(name) for name in names if name != figure.name):
        return None
    return 1.0


def _names(figure: FigureBlueprint, figures: dict[str, FigureBlueprint]) -> list[str]:
    """Return the names and units of all that a figure rests on, itself included."""
    found, open_ones = [figure.name], [figure]
    seen = {figure.name}
    while open_ones:
        each = open_ones.pop()
        for name, term in each.terms.items():
            found.append(name)
            if isinstance(term, str) and term in figures and term not in seen:
                seen.add(term)
                found += [term, figures[term].unit]
                open_ones.append(figures[term])
    return found


def _smallest(view: View, names: list[str]) -> VolumeBlueprint | None:
    """Return the smallest items that can be meant: of the entities that are named, else of all of them."""
    volumes = [each for each in view.blueprint.volumes if each.kb > 0 and each.entity in view.entities]
    words = {word.lower().rstrip("s") for name in names for word in _WORD.findall(name)}
    named = [
        each for each in volumes if {word.lower().rstrip("s") for word in _WORD.findall(each.entity)} <= words
    ]
    if not named and len({each.entity for each in volumes}) < len(view.entities):
        return None
    return min(named or volumes, key=lambda each: each.kb, default=None)


def _units(kind: str, kb: float) -> float:
    blocks = math.ceil(kb / _KIND_BYTES[kind])
    return blocks if kind == "write" else blocks * _EVENTUAL


RULE = Rule("COS805", Severity.DISAGREEMENT, "Requests are counted as units", check)
