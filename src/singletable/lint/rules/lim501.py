"""LIM501: a transaction of more actions than one request takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.batches import ACTIONS_MAX, requests_together
from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path


def check(view: View) -> Iterator[Finding]:
    """Count the actions of transactions, of patterns, rules and services."""
    for each in requests_together(view):
        if each.is_transaction and each.actions > ACTIONS_MAX:
            yield _found(each.name, each.actions, each.operation, *each.paths(view))
    for at, service in enumerate(view.blueprint.services):
        for number in dict.fromkeys(step.together for step in service.steps if step.together):
            actions = sum(step.most for step in service.steps if step.together == number)
            if actions > ACTIONS_MAX:
                yield _found(f"service {service.name}", actions, "TransactWriteItems", ("services", at))


def _found(name: str, actions: float, operation: str, *paths: Path) -> Finding:
    return finding(
        RULE,
        *paths,
        message=f"{name} sends a transaction of {actions:g} actions, where {ACTIONS_MAX} are the most",
        because=f"{operation} with more than {ACTIONS_MAX} actions is refused as a whole: none of the "
        f"{actions:g} is carried out",
        repair=f"keep what has to happen together within {ACTIONS_MAX} actions; do the rest from the stream, or "
        "in steps that can be repeated",
        facts={"is_read": operation == "TransactGetItems"},
    )


def prove(found: Finding, bench: Bench) -> str | None:
    """Send a transaction of one action too many."""
    keys = [bench.key(number) for number in range(ACTIONS_MAX + 1)]
    if found.facts["is_read"]:
        gets = [{"Get": {"TableName": bench.table_name, "Key": key}} for key in keys]
        refusal = bench.refusal("transact_get_items", TransactItems=gets)
    else:
        puts = [{"Put": {"TableName": bench.table_name, "Item": key}} for key in keys]
        refusal = bench.refusal("transact_write_items", TransactItems=puts)
    return f"a transaction of {len(keys)} actions is refused: {refusal}" if refusal is not None else None


RULE = Rule("LIM501", Severity.ERROR, "A transaction has more than 100 actions", check, prove)
