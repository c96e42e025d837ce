"""PAT315: a query is read in the opposite order of what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot, Template
from singletable.lint.requests import queries
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Place, Read, View

_OPPOSITES: Final = {
    ("newest", "forward"): ("oldest", "backward", "false"),
    ("highest", "forward"): ("lowest", "backward", "false"),
    ("oldest", "backward"): ("newest", "forward", "true"),
    ("lowest", "backward"): ("highest", "forward", "true"),
}
_WORDS: Final = {
    "latest": "newest",
    "most recent": "newest",
    "earliest": "oldest",
    "largest": "highest",
    "biggest": "highest",
    "longest": "highest",
    "smallest": "lowest",
    "shortest": "lowest",
    "cheapest": "lowest",
}
_ORDER: Final = rf"\b(newest|oldest|highest|lowest|{'|'.join(_WORDS)})"
_ORDERS: Final = re.compile(_ORDER, re.IGNORECASE)
_LED: Final = re.compile(rf"^(?:the |my |\w+ )?{_ORDER}\b(?! (?:to|first)\b)", re.IGNORECASE)
_LAST: Final = re.compile(r"^(?:the )?last (?:\d+|two|three|five|ten|twenty|fifty|hundred)\b", re.IGNORECASE)
_TITLED: Final = re.compile(rf"{_ORDER}(?: \w+)? first\b", re.IGNORECASE)
_ASCENDING: Final = ("Pad", "Verbatim", "Ge", "Le", "Gt", "Lt", "MaxLen", "MinLen")


def check(view: View) -> Iterator[Finding]:
    """Look for orders that contradict what is said to come first."""
    for read in queries(view):
        met = [place for place in view.found_by(read) if place.entity.name in read.read.entities]
        first, by = _meant(read, met)
        opposite = _OPPOSITES.get((first, read.read.order))
        if opposite is None or not by:
            continue
        if not met or not all(len(place.sk) == 1 and _sorts(place.sk[0], by, read) for place in met):
            continue
        given, order, flag = opposite
        yield finding(
            RULE,
            read.path,
            met[0].path,
            message=f"{first} {by} should come first, but the query is read {read.read.order}",
            because=f"{met[0].sk[0].text} is in ascending order of {by}: read {read.read.order}, it gives "
            f"the {given} first",
            repair=f"read {order}: ScanIndexForward = {flag}",
        )


def _meant(read: Read, met: list[Place]) -> tuple[str, str]:
    """Return what should come first, and by which field: as the read says it, or the title of the pattern."""
    if (means := read.read.means) is not None:
        return _WORDS.get(means.first, means.first), means.by
    title = read.pattern.title
    titled = _TITLED.search(title) or (_LED.search(title) if read.read.limit is not None else None)
    is_last = titled is None and read.read.limit is not None and _LAST.search(title) is not None
    if len(read.pattern.reads) != 1 or not (is_last or (titled and len(_ORDERS.findall(title)) == 1)):
        return "", ""
    word = titled[1].lower() if titled is not None else "newest"
    first = _WORDS.get(word, word)
    by_time = first in ("newest", "oldest")
    given = {slot.name for asked in read.asked for each in asked.templates[:1] for slot in each.slots}
    varying = [
        next((slot for slot in template.slots if slot.name not in given), None)
        for place in met
        for template in place.sk
    ]
    slot = varying[0] if len({slot.name for slot in varying if slot is not None}) == 1 else None
    is_meant = slot is not None and (slot.is_time if by_time else slot.is_number and not slot.is_time)
    return (first, slot.name) if slot is not None and is_meant else ("", "")


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
