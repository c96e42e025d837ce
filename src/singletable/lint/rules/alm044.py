"""ALM044: an alarm by a statistic that says little or nothing of its metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.lint.watching import watched

_COUNTS: Final = frozenset(  # each sample is one event: their average is always 1
    (
        "ReadThrottleEvents",
        "WriteThrottleEvents",
        "ThrottledRequests",
        "SystemErrors",
        "UserErrors",
        "FaultInjectionServiceInducedErrors",
    )
)
_OF_EACH: Final = ("average", "avg", "mean", "minimum", "min", "maximum", "max")


def check(view: View) -> Iterator[Finding]:
    """Look for averages of events, and for one average over operations of all kinds."""
    for each in watched(view):
        statistic = each.statistic.strip().lower()
        if each.name in _COUNTS and statistic in _OF_EACH:
            yield finding(
                RULE,
                *each.paths,
                message=f"{each.title} watches the {each.statistic} of {each.name}",
                because="each sample is one event, so that the figure is 1 however many there are",
                repair="take the Sum, or the SampleCount",
            )
        elif (
            each.name == "SuccessfulRequestLatency"
            and statistic in ("average", "avg", "mean")
            and each.is_mixed
        ):
            yield finding(
                RULE,
                *each.paths,
                message=f"{each.title} watches the average latency of all operations together",
                because="a Scan of a second is lost among a hundred reads of 4 ms: the average is under 14 ms",
                repair="watch each operation by itself, at p99",
            )


RULE = Rule("ALM044", Severity.WARNING, "The statistic of an alarm hides what it watches", check)
