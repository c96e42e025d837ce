"""PAT314: a filter drops nearly all that is read."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View

_TIMES = 10
_ITEMS = 1000
_RARE_PER_S = 0.01


def check(view: View) -> Iterator[Finding]:
    """Look for queries that read many items for few."""
    for read in view.reads:
        request = read.read
        if request.operation != "Query" or request.returned is None:
            continue
        examined = _examined(view, read)
        if examined < _ITEMS or examined < _TIMES * request.returned:
            continue
        loads = view.pattern_loads(read.pattern)
        peaks = [load.peak_per_s for _, load in loads if load.peak_per_s is not None]
        if peaks and max(peaks) < _RARE_PER_S:
            continue  # a report now and then
        yield finding(
            RULE,
            read.path,
            *(path for path, _ in loads),
            message=f"{examined:,.0f} items are read for {request.returned:,.0f} that the filter keeps",
            because="a filter runs after the read: units and time are spent on all "
            f"{examined:,.0f} items at every call",
            repair="put what the filter asks for into a sort key, or into a sparse index that holds only such "
            "items",
        )


def _examined(view: View, read: Read) -> float:
    """Return how many items a call reads: as it is said, else all items of a partition by the volumes."""
    request = read.read
    if request.examined is not None:
        return request.examined
    if request.filter is None and not request.filter_expression:
        return 0.0
    if (
        any(not each.is_of_a_kind for each in read.of("sk"))
        or request.limit is not None
        or read.pattern.cached_s
        or not read.of("pk")
    ):
        return 0.0
    return sum(view.together(place) for place in view.found_by(read))


RULE = Rule("PAT314", Severity.WARNING, "A filter drops nearly all that is read", check)
