"""LIM502: a batch of more items than one request takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from singletable.limits import BATCH_GET_ITEMS_MAX, BATCH_WRITE_ITEMS_MAX
from singletable.lint.batches import requests_together
from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

_MOST: Final = {"BatchGetItem": BATCH_GET_ITEMS_MAX, "BatchWriteItem": BATCH_WRITE_ITEMS_MAX}


def check(view: View) -> Iterator[Finding]:
    """Count the items of batches; a read that goes on until it has all is divided."""
    for each in requests_together(view):
        most = _MOST.get(each.operation)
        if most is None or each.actions <= most or (each.read is not None and each.read.is_paged):
            continue
        what = "keys" if each.read is not None else "items"
        yield finding(
            RULE,
            *each.paths(view),
            message=f"{each.name} sends a {each.operation} of {each.actions:g} {what}, where {most} are the most",
            because=f"{each.operation} with more than {most} {what} is refused as a whole: none of the "
            f"{each.actions:g} is {'read' if each.read is not None else 'written'}",
            repair=f"divide them into requests of at most {most}, and send again what comes back unprocessed",
            facts={"operation": each.operation},
        )


def prove(found: Finding, bench: Bench) -> str | None:
    """Send a batch of one item too many."""
    operation = found.facts["operation"]
    keys = [bench.key(number) for number in range(_MOST[operation] + 1)]
    if operation == "BatchGetItem":
        refusal = bench.refusal("batch_get_item", RequestItems={bench.table_name: {"Keys": keys}})
    else:
        puts = [{"PutRequest": {"Item": key}} for key in keys]
        refusal = bench.refusal("batch_write_item", RequestItems={bench.table_name: puts})
    return f"a {operation} of {len(keys)} is refused: {refusal}" if refusal is not None else None


RULE = Rule("LIM502", Severity.ERROR, "A batch has more items than one request takes", check, prove)
