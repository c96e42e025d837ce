"""PAT302: a query names no partition."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import prove_refused, queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for queries with conditions on sort keys alone, or on some of several partition keys."""
    for read in queries(view):
        source = read.source
        if source is None or not read.asked or any(not each.role for each in read.asked):
            continue
        missing = [name for name in source.pk if name not in {each.attribute for each in read.of("pk")}]
        if missing:
            asked = " AND ".join(shown(each) for each in read.asked)
            yield finding(
                RULE,
                read.path,
                view.index_path(source.name),
                message=f"the query of {source.title} has no condition on {', '.join(missing)}",
                because=f"{asked} names no partition: DynamoDB refuses a query without its partition key, and "
                "what is left is a scan of everything",
                repair="add an index whose partition key the caller knows (a status or a work queue, with a "
                "shard number if it is busy) and whose sort key is what is asked for here",
                facts={"query": query_members(view, read)},
            )


RULE = Rule("PAT302", Severity.ERROR, "A query names no partition", check, prove_refused)
