"""LIM505: two actions of one transaction on one item."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from singletable.lint.batches import requests_together
from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.keys import read_template
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.patterns import PatternBlueprint, WriteBlueprint


def check(view: View) -> Iterator[Finding]:
    """Look for writes of a transaction whose keys are the same texts of the same parameters."""
    patterns = {f"pattern {each.number}": each for each in view.blueprint.patterns}
    for each in requests_together(view):
        if each.operation != "TransactWriteItems" or each.name not in patterns:
            continue
        for one, other in combinations(each.writes, 2):
            if _is_same_item(one, other, patterns[each.name]):
                key = " and ".join(f"{part.attribute} {part.templates[0]}" for part in one.key)
                yield finding(
                    RULE,
                    *each.paths(view),
                    message=f"{each.name} has {one.operation} and {other.operation} of one item in a transaction: "
                    f"{key}",
                    because="a transaction with two actions on one item is refused, even a ConditionCheck beside "
                    "an update",
                    repair="make them one action: the condition goes into the write of that item, and all changes "
                    "into one update expression",
                )


def prove(_found: Finding, bench: Bench) -> str | None:
    """Send a transaction that writes an item twice."""
    put = {"Put": {"TableName": bench.table_name, "Item": bench.key()}}
    refusal = bench.refusal("transact_write_items", TransactItems=[put, put])
    return f"a transaction that writes an item twice is refused: {refusal}" if refusal is not None else None


def _is_same_item(one: WriteBlueprint, other: WriteBlueprint, pattern: PatternBlueprint) -> bool:
    """Tell whether two keys are one, whatever the caller asks for: each of their values is a parameter."""
    given = {each.name for each in pattern.parameters}
    keys = [
        {part.attribute: part.templates for part in write.key if part.operator == "="}
        for write in (one, other)
    ]
    slots = {
        slot.name
        for templates in keys[0].values()
        for template in templates
        for slot in read_template(template, {}).slots
    }
    is_one_each = one.count == other.count == 1
    return (
        bool(keys[0]) and keys[0] == keys[1] and one.entity == other.entity and is_one_each and slots <= given
    )


RULE = Rule("LIM505", Severity.ERROR, "A transaction has two actions on one item", check, prove)
