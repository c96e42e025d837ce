"""PAT301: a query asks for partitions by something else than equality."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import is_equality, prove_refused, queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for queries with another operator than = on a partition key."""
    for read in queries(view):
        for asked in read.of("pk"):
            if not is_equality(asked) and read.source is not None:
                yield finding(
                    RULE,
                    read.path,
                    view.index_path(read.source.name),
                    message=f"{shown(asked)} is no equality, and {asked.attribute} is the partition key of "
                    f"{read.source.title}",
                    because=f"a query reads one partition, named by equality: {asked.operator} on "
                    f"{asked.attribute} is refused",
                    repair=f"write the keys so that {asked.attribute} is known in full (an index with what is "
                    "asked as its partition key, sharded if it is busy), and move the prefix or range into a "
                    "sort key",
                    facts={"query": query_members(view, read)},
                )


RULE = Rule("PAT301", Severity.ERROR, "A partition key is not asked for by equality", check, prove_refused)
