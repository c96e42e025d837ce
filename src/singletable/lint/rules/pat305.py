"""PAT305: begins_with on a key attribute that is a number."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import key_type, prove_refused, queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for begins_with on sort keys of type Number."""
    for read in queries(view):
        for asked in read.of("sk"):
            if asked.operator == "begins_with" and key_type(view, asked.attribute) == "N":
                yield finding(
                    RULE,
                    read.path,
                    view.index_path(read.read.index),
                    message=f"{shown(asked)}: {asked.attribute} is a number, which begins_with does not take",
                    because="begins_with compares the beginnings of strings and of binary values; on a key of "
                    "type N the query is refused",
                    repair=f"ask for a range of numbers, {asked.attribute} BETWEEN :low AND :high",
                    facts={"query": query_members(view, read)},
                )


RULE = Rule("PAT305", Severity.ERROR, "A number is asked for by its beginning", check, prove_refused)
