"""REC024: an old table is kept for a rollback longer than its items live."""

from __future__ import annotations

import re
from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_KEPT = re.compile(
    r"\b(?:keep|kept|retain|retained|hold)\b(?P<what>[^.;]*?)\bfor (?P<count>\d+) (?P<unit>day|week|month)s?\b",
    re.IGNORECASE,
)
_TABLE = re.compile(r"\b(?:table|version)\b", re.IGNORECASE)
_DAYS = {"day": 1, "week": 7, "month": 30}
_DAY_S = 86_400


def check(view: View) -> Iterator[Finding]:
    """Compare what a change says of the old table with the expiry of all that is in it."""
    lives = [
        entity.ttl.seconds
        for entity in view.blueprint.entities
        if entity.ttl is not None and entity.ttl.seconds is not None and entity.ttl.when is None
    ]
    if not lives or len(lives) < len(view.blueprint.entities):
        return  # some items stay
    longest = max(lives) / _DAY_S
    for at, change in enumerate(view.blueprint.changes):
        for step in (*change.steps, change.about):
            found = _KEPT.search(step)
            if found is None or not _TABLE.search(found["what"]):
                continue
            days = int(found["count"]) * _DAYS[found["unit"].lower()]
            if days > longest:
                yield finding(
                    RULE,
                    ("changes", at),
                    message=f"the old table is kept for {days} days, and its items expire after {longest:g}",
                    because=f"after {longest:g} days the table that a rollback would return to is empty",
                    repair="turn TTL off on the old table while it is kept, or keep it for a shorter time",
                )


RULE = Rule("REC024", Severity.DISAGREEMENT, "A table is kept longer than its items live", check)
