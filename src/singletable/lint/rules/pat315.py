"""PAT315: a query is read in the opposite order of what it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot, Template
from singletable.lint.requests import queries
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View

_OPPOSITES: Final = {
    ("newest", "forward"): ("oldest", "backward", "false"),
    ("highest", "forward"): ("lowest", "backward", "false"),
    ("oldest", "backward"): ("newest", "forward", "true"),
    ("lowest", "backward"): ("highest", "forward", "true"),
}
_ASCENDING: Final = ("Pad", "Verbatim", "Ge", "Le", "Gt", "Lt", "MaxLen", "MinLen")


def check(view: View) -> Iterator[Finding]:
    """Look for orders that contradict what is said to come first."""
    for read in queries(view):
        means = read.read.means
        opposite = _OPPOSITES.get((means.first, read.read.order)) if means is not None else None
        if means is None or opposite is None or not means.by:
            continue
        met = [place for place in view.found_by(read) if place.entity.name in read.read.entities]
        if not met or not all(len(place.sk) == 1 and _sorts(place.sk[0], means.by, read) for place in met):
            continue
        given, order, flag = opposite
        yield finding(
            RULE,
            read.path,
            met[0].path,
            message=f"{means.first} {means.by} should come first, but the query is read {read.read.order}",
            because=f"{met[0].sk[0].text} is in ascending order of {means.by}: read {read.read.order}, it gives "
            f"the {given} first",
            repair=f"read {order}: ScanIndexForward = {flag}",
        )


def _sorts(template: Template, by: str, read: Read) -> bool:
    """Tell whether keys of one partition are in ascending order of a field: nothing else varies before it."""
    fixed = {slot.name for asked in read.asked for each in asked.templates[:1] for slot in each.slots}
    for slot in template.slots:
        if _is(slot, by):
            return _is_ascending(slot)
        if slot.name not in fixed:
            return False
    return False


def _is(slot: Slot, by: str) -> bool:
    return by in (slot.name, getattr(slot.source, "name", None), getattr(slot.source, "stored", None))


def _is_ascending(slot: Slot) -> bool:
    if slot.part is not None and (slot.part.bucket or slot.part.letters or slot.part.shards):
        return False
    markers = [*getattr(slot.part, "markers", ()), *getattr(slot.source, "markers", ())]
    return (slot.is_number or slot.is_time) and all(each["kind"] in _ASCENDING for each in markers)


RULE = Rule("PAT315", Severity.ERROR, "A query is read against the order that it means", check)
