"""PAT312: Limit is taken for the number of items after a filter."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for reads with a limit and a filter that do not read on."""
    for read in view.reads:
        request = read.read
        if (
            request.pk
            or request.limit is None
            or request.is_paged
            or request.operation not in ("Query", "Scan")
        ):
            continue  # a design that runs reads on until it has as many
        if request.filter is None and not request.filter_expression:
            continue
        yield finding(
            RULE,
            read.path,
            message=f"Limit {request.limit} stands with a filter, and nothing reads on",
            because=f"Limit counts the items that are read, before the filter: of the first {request.limit} only "
            "those that pass are returned, perhaps none, though there are more",
            repair="put what the filter asks for into a key, or read on with LastEvaluatedKey until there are "
            f"{request.limit}",
            facts={"limit": min(request.limit or 1, 100)},
        )


def prove(found: Finding, bench: Bench) -> str | None:
    """Scan as many items as the limit, of which none passes, though there is one that does."""
    limit = int(found.facts["limit"])
    for number in range(limit + 1):
        bench.send("put_item", Item={**bench.key(number), "passes": {"BOOL": False}})
    first = bench.send("scan", Limit=limit + 1)["Items"][-1]  # the last of the order in which they are read
    bench.send("put_item", Item={**first, "passes": {"BOOL": True}})
    answer = bench.send(
        "scan",
        Limit=limit,
        FilterExpression="passes = :yes",
        ExpressionAttributeValues={":yes": {"BOOL": True}},
    )
    return f"with Limit {limit}, {answer['Count']} of the items that pass are returned, and there is 1"


RULE = Rule("PAT312", Severity.ERROR, "Limit counts items before the filter", check, prove)
