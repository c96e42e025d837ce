"""PAT309: GetItem or BatchGetItem on an index."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.bench import Bench
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
                facts={"index": index},
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Get an item by the key of the index."""
    index = bench.blueprint.index(found.facts["index"])
    if index is None:
        return None
    kinds = {name: bench.blueprint.table.types.get(name, "S") for name in (*index.pk, *index.sk)}
    refusal = bench.refusal("get_item", Key={name: {kind: "1"} for name, kind in kinds.items()})
    return f"GetItem by the key of {index.name} is refused: {refusal}" if refusal is not None else None


RULE = Rule("PAT309", Severity.ERROR, "GetItem is to read an index", check, prove)
