"""PAT303: a query has two conditions on one key attribute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import prove_refused, queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import Read, View


def check(view: View) -> Iterator[Finding]:
    """Look for key attributes that stand in two conditions of one query."""
    for read in queries(view):
        counts = Counter(each.attribute for each in read.asked if each.role)
        for attribute, count in counts.items():
            if count > 1:
                yield _found(view, read, attribute)


def _found(view: View, read: Read, attribute: str) -> Finding:
    asked = [each for each in read.asked if each.attribute == attribute]
    return finding(
        RULE,
        read.path,
        view.index_path(read.read.index),
        message=f"{len(asked)} conditions on {attribute}: {' AND '.join(shown(each) for each in asked)}",
        because="a key condition takes one condition for each key attribute: DynamoDB refuses this query",
        repair="make one range of them: BETWEEN the lower bound and the upper one, which is the end of the "
        "prefix where there is no other (ORDER#~ ends ORDER# for values in ASCII)",
        facts={"query": query_members(view, read)},
    )


RULE = Rule("PAT303", Severity.ERROR, "A key attribute stands in two conditions", check, prove_refused)
