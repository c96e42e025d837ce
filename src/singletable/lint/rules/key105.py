"""KEY105: times in a sort key carry offsets from UTC, so that they sort by the clock on the wall."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import Slot
from singletable.lint.rule import Rule, finding
from singletable.lint.rules.key101 import prove
from singletable.lint.view import View

_OFFSET: Final = re.compile(r"T\d\d:\d\d.*[+-]\d\d:?\d\d$")
_UTC: Final = re.compile(r"T\d\d:\d\d.*Z$")
_FORMATS: Final = ("iso-8601-offset", "iso-8601-tz", "iso-8601-zoned", "rfc-3339-offset", "rfc3339-offset")
_LATER, _EARLIER = "2026-10-25T02:15:00+01:00", "2026-10-25T02:30:00+02:00"


def check(view: View) -> Iterator[Finding]:
    """Look for times in sort keys whose offsets differ, or may."""
    for place in view.places:
        for role, attribute, template in place.templates():
            for slot in template.slots if role == "sk" else ():
                if slot.is_encoded or not _has_offsets(slot):
                    continue
                keys = template.example(**{slot.name: _EARLIER}), template.example(**{slot.name: _LATER})
                yield finding(
                    RULE,
                    view.attribute_path(place.entity.name, slot.name),
                    place.path,
                    message=f"{slot.name} stands in {template.text} with its offset from UTC",
                    because=(
                        f"{keys[0]} sorts after {keys[1]}, though it is 45 minutes earlier: "
                        "+02:00 is summer time, and +01:00 follows it"
                    ),
                    repair=f"write {slot.name} in UTC, with Z; keep the offset in an attribute of its own",
                    facts={"attribute": attribute, "keys": keys},
                )


def _has_offsets(slot: Slot) -> bool:
    offsets = {
        "+00:00" if str(value).endswith("Z") else str(value)[-6:]
        for value in slot.samples
        if _OFFSET.search(str(value)) or _UTC.search(str(value))
    }
    return len(offsets) > 1 or (slot.format in _FORMATS and offsets != {"+00:00"})


RULE = Rule("KEY105", Severity.ERROR, "Times in a sort key have offsets from UTC", check, prove)
