"""PAT316: a scan answers a pattern that is asked often."""

from __future__ import annotations

import re
from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View

_PER_S = 0.1
_ITEMS = 1000
_LOOKUP_ITEMS = 10_000
_LOOKUP_TIMES = 100


def check(view: View) -> Iterator[Finding]:
    """Look for scans of many items, asked at a rate."""
    for read in view.reads:
        request, pattern = read.read, read.pattern
        if request.operation != "Scan":
            continue
        if request.limit is not None and request.filter is None and not request.filter_expression:
            continue  # it reads no more than that
        loads = view.pattern_loads(pattern)
        rate = max([pattern.rps, *(load.peak_per_s or 0.0 for _, load in loads)])
        if pattern.cached_s:
            rate = min(rate, 1 / pattern.cached_s)
        items = _items(view, read)
        is_lookup = not loads and not pattern.rps and _looks_up(read) and items >= _LOOKUP_ITEMS
        if is_lookup and (request.returned or 0) * _LOOKUP_TIMES <= items and request.returned is not None:
            yield finding(
                RULE,
                read.path,
                *(view.entity_path(name) for name in request.entities if name in view.entities),
                message=f"a Scan of {items:,.0f} items looks for {request.returned:,.0f} of them",
                because="a Scan reads and bills every item, whatever its filter keeps: each call takes all "
                f"{items:,.0f}, in pages of 1 MB, to return {request.returned:,.0f}",
                repair="write an index with what the filter asks for as its partition key, and query it",
            )
        if rate >= _PER_S and items >= _ITEMS:
            yield finding(
                RULE,
                read.path,
                *(path for path, _ in loads),
                message=f"a Scan of {items:,.0f} items answers a pattern that is asked {rate:g} times a second",
                because="a Scan reads and bills every item, whatever its filter keeps: "
                f"{items * rate:,.0f} items a second, and it takes longer as the table grows",
                repair="write an index, sparse if few items are looked for, and query it",
            )


def _looks_up(read: Read) -> bool:
    """Tell whether a caller asks for something: the filter compares with what is given."""
    condition, text = read.read.filter, read.read.filter_expression
    is_equal = condition is not None and condition.get("operator") == "=" and "parameter" in condition
    return is_equal or re.fullmatch(r"\s*#?\w+\s*=\s*:\w+\s*", text) is not None


def _items(view: View, read: Read) -> float:
    if read.read.examined is not None:
        return read.read.examined
    if read.read.index is not None:
        return 0.0  # a sparse index may be small
    users = view.blueprint.users or 1.0
    return sum(each.count * (users if each.per == "user" else 1.0) for each in view.blueprint.volumes)


RULE = Rule("PAT316", Severity.WARNING, "A Scan answers a pattern that is asked often", check)
