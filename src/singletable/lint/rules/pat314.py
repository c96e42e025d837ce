"""PAT314: a filter drops nearly all that is read."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_TIMES = 10
_ITEMS = 1000
_RARE_PER_S = 0.01


def check(view: View) -> Iterator[Finding]:
    """Look for queries that read many items for few."""
    for read in view.reads:
        request = read.read
        if request.operation != "Query" or request.examined is None or request.returned is None:
            continue
        if request.examined < _ITEMS or request.examined < _TIMES * request.returned:
            continue
        loads = view.pattern_loads(read.pattern)
        peaks = [load.peak_per_s for _, load in loads if load.peak_per_s is not None]
        if peaks and max(peaks) < _RARE_PER_S:
            continue  # a report now and then
        yield finding(
            RULE,
            read.path,
            *(path for path, _ in loads),
            message=f"{request.examined:,.0f} items are read for {request.returned:,.0f} that the filter keeps",
            because="a filter runs after the read: units and time are spent on all "
            f"{request.examined:,.0f} items at every call",
            repair="put what the filter asks for into a sort key, or into a sparse index that holds only such "
            "items",
        )


RULE = Rule("PAT314", Severity.WARNING, "A filter drops nearly all that is read", check)
