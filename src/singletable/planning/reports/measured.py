"""What a running server has counted, for people and for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from singletable.planning.measured import Measured, MeasuredPlace
from singletable.planning.reports.figures import counted, share


def measured_data(found: Measured) -> dict[str, Any]:
    """Return it as JSON has it."""
    return {
        "url": found.url,
        "counted_s": round(found.counted_s, 3),
        "places": [asdict(place) for place in found.places],
        "notes": list(found.notes),
    }


def measured_text(found: Measured, *, width: int = 80) -> str:
    """Write it for a terminal: the busiest place first."""
    return "\n".join(line.rstrip() for line in _lines(found, max(60, width))) + "\n"


def _lines(found: Measured, width: int) -> Iterator[str]:
    yield f"{found.url}, counted for {found.counted_s:,.0f} s"
    yield ""
    if not found.places:
        yield "no table had a request"
        return
    names = {_name(place) for place in found.places}
    name_width = min(width - 48, max(len("table or index"), *map(len, names)))
    yield (
        f"{'at most':>8} {'expected':>9}  {'table or index':<{name_width}} {'reads/s':>8} {'writes/s':>8} "
        f"{'throttled':>9}"
    )
    for place in found.places:
        throttled = place.reads_throttled + place.writes_throttled
        expected = "" if place.share is None else share(place.share, 1)
        refused = counted(throttled) if throttled else ""
        yield (
            f"{share(place.share_at_most, 1):>8} {expected:>9}  {_cut(_name(place), name_width):<{name_width}} "
            f"{counted(place.reads_per_s):>8} {counted(place.writes_per_s):>8} {refused:>9}"
        )
        if place.key:
            yield f"{'':>20}{_cut(place.key, width - 20)}"
    notes = dict.fromkeys([*(note for place in found.places for note in place.notes), *found.notes])
    yield ""
    for note in notes:
        yield from textwrap.wrap(note, width, initial_indent="  - ", subsequent_indent="    ")


def _name(place: MeasuredPlace) -> str:
    return place.table if place.place == "table" else f"{place.table} {place.place}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3].rstrip() + "..."
