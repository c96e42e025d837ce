"""TTL606: a cache or lock that is read after it has expired."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.expiry import Expiry, expiries
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View

_MATTERS = ("cache", "lock", "session")


def check(view: View) -> Iterator[Finding]:
    """Look for reads of items that must not be used once they expired, without a filter on the time."""
    for each in expiries(view):
        if each.rule.purpose not in _MATTERS or each.is_kept_by_library or not each.name:
            continue
        reads = [read for read in view.reads if each.entity.name in read.read.entities]
        unfiltered = [read for read in reads if not _is_checked(read, each)]
        if unfiltered:
            numbers = ", ".join(dict.fromkeys(read.pattern.number for read in unfiltered))
            yield finding(
                RULE,
                *each.paths,
                *dict.fromkeys(read.path[:2] for read in unfiltered),
                message=f"{each.entity.name} is read without a look at {each.name}, by {numbers}",
                because="an item that has expired is still read until TTL deletes it, up to a few days later: a "
                f"{each.rule.purpose} that is over still counts",
                repair=f"filter on {each.name} greater than now, or compare it after the read",
            )


def _is_checked(read: Read, each: Expiry) -> bool:
    names = {each.rule.field, each.rule.stored}
    return any(
        name and (name in repr(read.read.filter) or name in read.read.filter_expression) for name in names
    )


RULE = Rule("TTL606", Severity.WARNING, "Expired items are still read", check)
