"""PAT304: a key condition uses an operator that key conditions do not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import prove_refused, queries, query_members, shown
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_LACKING: Final = frozenset(
    [
        "<>",
        "!=",
        "contains",
        "not_contains",
        "in",
        "or",
        "not",
        "ends_with",
        "like",
        "attribute_exists",
        "attribute_not_exists",
        "attribute_type",
        "exists",
        "size",
        "matches",
    ]
)


def check(view: View) -> Iterator[Finding]:
    """Look for operators on sort keys that filters have, or that nothing has."""
    for read in queries(view):
        for asked in read.of("sk"):
            if asked.operator.strip().lower().replace(" ", "_") in _LACKING:
                yield finding(
                    RULE,
                    read.path,
                    view.index_path(read.read.index),
                    message=f"{shown(asked)}: a key condition has no {asked.operator}",
                    because=f"a sort key takes =, <, <=, >, >=, BETWEEN and begins_with; {asked.operator} is "
                    "refused",
                    repair="ask for a prefix or a range that the sort key is ordered by; send one query for each "
                    "of several values; filter what is left, or write what is asked for into a key",
                    facts={"query": query_members(view, read)},
                )


RULE = Rule("PAT304", Severity.ERROR, "A key condition has an operator that keys lack", check, prove_refused)
