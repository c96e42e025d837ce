"""PAT322: an answer that has to be complete, and a request that may return a part of it."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for patterns that require completeness, with reads that are said not to go on."""
    for read in view.reads:
        request, pattern = read.read, read.pattern
        if "completeness" not in pattern.requires or request.is_paged is not False or read.source is None:
            continue
        if request.operation == "BatchGetItem":
            yield finding(
                RULE,
                read.path,
                message=f"pattern {pattern.number} has to be complete, and asks for no UnprocessedKeys again",
                because="a BatchGetItem returns what it could read in time and within 16 MB: under load, keys "
                "come back unprocessed, and their items are missing without an error",
                repair="send the UnprocessedKeys again, after a pause that grows, until there are none",
            )
        elif request.operation in ("Query", "Scan") and not _is_known(view, read):
            ends = "1 MB" if request.limit is None else f"its Limit of {request.limit} items, or at 1 MB"
            yield finding(
                RULE,
                read.path,
                message=f"pattern {pattern.number} has to be complete, and reads one page"
                + ("" if request.limit is None else f" of {request.limit} items"),
                because=f"a page of a {request.operation} ends at {ends}, and nobody says how much there is: what "
                "is on later pages is missing without an error",
                repair="read on with LastEvaluatedKey as ExclusiveStartKey until an answer has none",
            )


def _is_known(view: View, read: Read) -> bool:
    """Tell whether somebody says how much there is: then it is on one page, or PAT313 finds that it is not."""
    request, places = read.read, view.found_by(read)
    is_said = bool(places) and all(view.volume(place.entity.name) is not None for place in places)
    if request.limit is None:
        return is_said
    count = request.returned or (sum(view.together(place) for place in places) if is_said else 0.0)
    return 0 < count <= request.limit


RULE = Rule("PAT322", Severity.WARNING, "An answer that has to be complete may lack a part", check)
