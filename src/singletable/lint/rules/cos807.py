"""COS807: more items in a period than writes that make them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.planning.stated_numbers import number

_MONTHS: Final = {"day": 1 / 30, "week": 7 / 30, "month": 1.0, "quarter": 3.0, "year": 12.0}
_NEAR: Final = 1.15


def check(view: View) -> Iterator[Finding]:
    """Compare items of a day, a month or a year with the writes of that time, where both are said."""
    for at, volume in enumerate(view.blueprint.volumes):
        months = _MONTHS.get(volume.per)
        made = _made_monthly(view, volume.entity) if months is not None else None
        if months is None or made is None or volume.count <= made * months * _NEAR:
            continue
        figures = [
            ("figures", place)
            for place, figure in enumerate(view.blueprint.figures)
            if figure.measures.partition(" of ")[2] == volume.entity
        ]
        yield finding(
            RULE,
            ("volumes", at),
            *((view.entity_path(volume.entity),) if volume.entity in view.entities else ()),
            *figures,
            message=f"there are to be {number(volume.count)} items of {volume.entity} a {volume.per}, and "
            f"{number(made * months)} are written",
            because=f"an item is made by a write: {number(volume.count)} of them need as many, so that storage "
            "and cost are worked out from one number or from the other",
            repair="count items, and not what they hold; or put the loads right",
        )


def _made_monthly(view: View, entity: str) -> float | None:
    """Return how many items of an entity are put in a month; None where a write of them has no load."""
    if entity not in view.entities:
        return None
    loads = [load for _, load in view.loads("create", entity)]
    counts = [load.monthly for load in loads]
    for at, pattern in enumerate(view.blueprint.patterns):
        puts = sum(
            each.write.count
            for each in view.writes
            if each.path[:2] == ("patterns", at) and each.write.entity == entity
            if each.write.operation in ("PutItem", "BatchWriteItem", "UpdateItem")
        )
        if puts and not loads:
            found = view.pattern_loads(pattern)
            counts += [None if load.monthly is None else load.monthly * puts for _, load in found]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


RULE = Rule("COS807", Severity.DISAGREEMENT, "There are more items than writes that make them", check)
