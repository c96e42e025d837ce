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
        elif request.operation in ("Query", "Scan") and request.limit is None and not _is_known(view, read):
            yield finding(
                RULE,
                read.path,
                message=f"pattern {pattern.number} has to be complete, and reads one page",
                because=f"a page of a {request.operation} ends at 1 MB, and nobody says how much there is: what "
                "is on later pages is missing without an error",
                repair="read on with LastEvaluatedKey as ExclusiveStartKey until an answer has none",
            )


def _is_known(view: View, read: Read) -> bool:
    """Tell whether somebody says how much there is: then it is on one page, or PAT313 finds that it is not."""
    places = view.found_by(read)
    return bool(places) and all(view.volume(place.entity.name) is not None for place in places)


RULE = Rule("PAT322", Severity.WARNING, "An answer that has to be complete may lack a part", check)
