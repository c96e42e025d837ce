"""LIM504: a batch is to do what only a transaction or a single write does."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.batches import Together, requests_together
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for batches with conditions or updates."""
    for each in requests_together(view):
        if each.operation == "BatchWriteItem" and (lacking := _lacking(each)):
            what, happens = lacking
            yield finding(
                RULE,
                *each.paths(view),
                message=f"{each.name} has {what} in a BatchWriteItem, which has no such thing",
                because=f"a batch puts and deletes whole items, each by itself, with no condition: {happens}",
                repair="send a transaction, or single writes with their conditions",
            )


def _lacking(each: Together) -> tuple[str, str] | None:
    for write in each.writes:
        if condition := write.condition_expression or write.condition:
            return f"the condition {condition}", "what it is to protect is overwritten"
        if write.operation in ("UpdateItem", "ConditionCheck"):
            return f"an {write.operation}", "a put of some fields replaces the item, and the others are lost"
        if write.update_expression:
            return (
                f"the update {write.update_expression}",
                "a put replaces the item, and the rest of it is lost",
            )
    return None


RULE = Rule("LIM504", Severity.ERROR, "A batch has a condition or an update", check)
