"""Numbers in keys: two values that text has in another order than numbers have, if there are such."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from singletable.lint.keys import Slot

Number = int | float

_LARGEST: Final = {"iso-week": 53.0, "week": 53.0, "month": 12.0, "day": 31.0, "hour": 23.0}
_DIGITS_MAX: Final = 12


def misordered(slot: Slot) -> tuple[Number, Number] | None:
    """Return a smaller and a larger number, both of at least zero, of which the larger sorts first."""
    return _first(slot, _positive(slot))


def misordered_negative(slot: Slot) -> tuple[Number, Number] | None:
    """Return a smaller and a larger number, one below zero, of which the larger sorts first."""
    least = getattr(slot.source, "minimum", None)
    found = sorted({value for value in _known(slot) if value < 0})
    if not found and (least is None or least >= 0):
        return None
    return _first(slot, [*pairwise(found), (-40, -5), (-5, 0), (-5, 3)])


def digits_max(slot: Slot) -> int | None:
    """Return how many characters its format gives a number; None where it gives as many as it needs."""
    pad = slot.marker("Pad")
    if pad is not None:
        return int(pad["width"])
    found = re.fullmatch(r"(?:.?[<>=^])?[-+ ]?(\d+)(?:\.\d+)?[a-z]?", slot.spec)
    return int(found[1]) if found is not None else None


def _known(slot: Slot) -> list[Number]:
    """Return the numbers that are said: all that it can have, or samples."""
    said = slot.values if slot.values is not None else slot.samples
    return [value for value in said if isinstance(value, int | float) and not isinstance(value, bool)]


def _positive(slot: Slot) -> Iterator[tuple[Number, Number]]:
    known = sorted({value for value in _known(slot) if value >= 0})
    yield from ((small, large) for at, small in enumerate(known) for large in known[at + 1 :])
    if slot.values is not None:
        return
    least = getattr(slot.source, "minimum", None) or 0
    most = _most(slot)
    is_whole = slot.type.partition("[")[0].lower() not in ("float", "decimal", "double") and not any(
        isinstance(value, float) and not value.is_integer() for value in known
    )
    for power in range(1, _DIGITS_MAX):
        steps: list[tuple[Number, Number]] = [(10**power - 1, 10**power)]
        if not is_whole:
            steps.append((10**power - 0.5, 10**power))
        yield from ((small, large) for small, large in steps if small >= least and large <= most)


def _most(slot: Slot) -> float:
    most = getattr(slot.source, "maximum", None)
    if most is not None:
        return float(most)
    if slot.format in _LARGEST:
        return _LARGEST[slot.format]
    width = digits_max(slot)
    if width is None:
        return float("inf")
    places = re.search(r"\.(\d+)", slot.spec)
    digits = width - 1 - int(places[1]) if places is not None and int(places[1]) else width
    return float(10 ** max(digits, 0) - 1)


def _first(slot: Slot, pairs: Iterable[tuple[Number, Number]]) -> tuple[Number, Number] | None:
    return next((pair for pair in pairs if slot.written(pair[1]) < slot.written(pair[0])), None)
