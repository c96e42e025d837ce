"""TTL604: TTL that is used as a timer."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.expiry import expiries
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for an expiry that something waits for."""
    for each in expiries(view):
        if each.rule.purpose == "timer":
            yield finding(
                RULE,
                *each.paths,
                message=f"the expiry of {each.entity.name} is used as a timer",
                because=f"TTL deletes within a few days after {each.name}, not at that time: what waits for the "
                "deletion comes late",
                repair="use a scheduler, or a sparse index of what is due that a sweeper asks; TTL cleans up",
            )


RULE = Rule("TTL604", Severity.WARNING, "TTL is used as a timer", check)
