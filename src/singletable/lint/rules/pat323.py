"""PAT323: the first items are asked for in an order that the sort key does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot
from singletable.lint.requests import queries
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, View

_TIME_ORDERED: Final = ("ulid",)


def check(view: View) -> Iterator[Finding]:
    """Look for reads of the first few by a field of which the sort key knows nothing."""
    for read in queries(view):
        means, limit = read.read.means, read.read.limit
        if means is None or not means.by or not means.first or read.source is None or limit is None:
            continue
        met = [place for place in view.found_by(read) if place.entity.name in read.read.entities]
        if not met or not all(_is_other_order(view, place, means.by) for place in met):
            continue
        keys = (
            ", ".join(dict.fromkeys(template.text for place in met for template in place.sk)) or "no sort key"
        )
        where = read.source.title
        yield finding(
            RULE,
            read.path,
            view.index_path(read.source.name),
            met[0].path,
            message=f"the {limit} items with the {means.first} {means.by} are asked for, and {where} is in the "
            f"order of {keys}",
            because=f"a query returns items in the order of the sort key: the first {limit} are the first by "
            f"{keys}, whatever their {means.by}",
            repair=f"write {means.by} into the sort key of an index, with a fixed width, and query that",
        )


def _is_other_order(view: View, place: Place, by: str) -> bool:
    """Tell whether a field is of another kind than all that the sort key holds."""
    field = view.fields(place.entity.name).get(by)
    slots = [slot for template in place.sk for slot in template.slots]
    if field is None or any(_holds(slot, by) for slot in slots) or any(slot.is_open for slot in slots):
        return False
    asked = Slot(by, source=field)
    if asked.is_time:
        return not any(slot.is_time or slot.is_number or slot.format in _TIME_ORDERED for slot in slots)
    return asked.is_number and not any(slot.is_number and not slot.is_time for slot in slots)


def _holds(slot: Slot, by: str) -> bool:
    part = slot.part.field if slot.part is not None else ""
    return by in (slot.name, part, getattr(slot.source, "name", ""), getattr(slot.source, "stored", ""))


RULE = Rule("PAT323", Severity.ERROR, "The first items are asked for in an order that the key lacks", check)
