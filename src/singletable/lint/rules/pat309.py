"""PAT309: GetItem or BatchGetItem on an index."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.requests import SINGLE_READS
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for reads by the primary key that name an index."""
    for read in view.reads:
        operation, index = read.read.operation, read.read.index
        if operation in SINGLE_READS and index is not None:
            yield finding(
                RULE,
                read.path,
                view.index_path(index),
                message=f"{operation} takes no index, and this one is to read {index}",
                because="keys of an index are not unique, so it has no read of one item; the request "
                "has no member for an index, and its key is refused as a key of the table",
                repair=f"send a Query to {index}; or read the table, where its full key is known",
            )


RULE = Rule("PAT309", Severity.ERROR, "GetItem is to read an index", check)
