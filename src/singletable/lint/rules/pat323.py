"""PAT323: the first items are asked for in an order that the sort key does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot
from singletable.lint.requests import queries
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Asked, Place, Read, View

_TIME_ORDERED: Final = ("ulid",)
_IDS: Final = ("ulid", "uuid")
_ALPHABET: Final = ("a-to-z", "z-to-a")


def check(view: View) -> Iterator[Finding]:
    """Look for reads by a field that the sort key does not hold, or holds behind another value."""
    for read in queries(view):
        means, limit = read.read.means, read.read.limit
        if means is None or not means.by or not means.first or read.source is None:
            continue
        met = [place for place in view.found_by(read) if place.entity.name in read.read.entities]
        is_unknown = limit is not None and all(
            _is_other_order(view, place, means.by, means.first) for place in met
        )
        if not met or not (is_unknown or all(_is_behind(place, means.by, read) for place in met)):
            continue
        keys = (
            ", ".join(dict.fromkeys(template.text for place in met for template in place.sk)) or "no sort key"
        )
        where = read.source.title
        items = "items" if limit is None else f"the {limit} items"
        is_spelled = means.first.lower() in _ALPHABET
        asked = (
            f"{items} by {means.by}, {means.first},"
            if is_spelled
            else f"{items} with the {means.first} {means.by} first"
        )
        yield finding(
            RULE,
            read.path,
            view.index_path(read.source.name),
            met[0].path,
            message=f"{asked} are asked for, and {where} is in the order of {keys}",
            because=f"a query returns items in the order of the sort key: those that come first are the first by "
            f"{keys}, whatever their {means.by}",
            repair=f"write {means.by} into the sort key of an index, with a fixed width, and query that",
        )


def _is_other_order(view: View, place: Place, by: str, first: str) -> bool:
    """Tell whether a field is of another kind than all that the sort key holds."""
    field = view.fields(place.entity.name).get(by)
    slots = [slot for template in place.sk for slot in template.slots]
    if field is None or any(_holds(slot, by) for slot in slots) or any(slot.is_open for slot in slots):
        return False
    asked = Slot(by, source=field)
    if asked.is_time:
        return not any(slot.is_time or slot.is_number or slot.format in _TIME_ORDERED for slot in slots)
    if first.lower() in _ALPHABET:
        is_text = asked.type in ("str", "string", "text") and asked.format not in _IDS
        return is_text and all(slot.is_time or slot.is_number or slot.format in _IDS for slot in slots)
    return asked.is_number and not any(slot.is_number and not slot.is_time for slot in slots)


def _is_behind(place: Place, by: str, read: Read) -> bool:
    """Tell whether another value, which the query leaves open and which is no time, comes before a field."""
    if len(place.sk) != 1:
        return False
    slots = place.sk[0].slots
    at = next((at for at, slot in enumerate(slots) if _holds(slot, by)), 0)
    given = {slot.name for asked in read.asked for each in asked.templates for slot in each.slots}
    fixed = max((_fixed(asked) for asked in read.of("sk")), default=0)
    return any(
        slot.name not in given
        and not slot.is_time
        and slot.part is None
        and slot.format not in _TIME_ORDERED
        and (slot.values is None or len(slot.values) > 1)
        for slot in slots[fixed:at]
    )


def _fixed(asked: Asked) -> int:
    """Return how many values at the beginning of a sort key a condition leaves no choice for."""
    count = min((len(each.slots) for each in asked.templates), default=0)
    return count if asked.operator in ("=", "begins_with") else max(0, count - 1)


def _holds(slot: Slot, by: str) -> bool:
    part = slot.part.field if slot.part is not None else ""
    return by in (slot.name, part, getattr(slot.source, "name", ""), getattr(slot.source, "stored", ""))


RULE = Rule("PAT323", Severity.ERROR, "The first items are asked for in an order that the key lacks", check)
