"""LIM506: writes that are to happen together or not at all, in no transaction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.batches import operation_named
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.patterns import PatternBlueprint, RuleBlueprint
    from singletable.blueprint.positions import Path


def check(view: View) -> Iterator[Finding]:
    """Look for several writes that have to be all or nothing, and are sent one by one or in a batch."""
    for at, pattern in enumerate(view.blueprint.patterns):
        yield from _parted(view, pattern, f"pattern {pattern.number}", ("patterns", at))
    for at, rule in enumerate(view.blueprint.rules):
        yield from _parted(view, rule, f"rule {rule.name}", ("rules", at))


def _parted(view: View, part: PatternBlueprint | RuleBlueprint, name: str, path: Path) -> Iterator[Finding]:
    operations = [getattr(part, "operation", ""), *(write.operation for write in part.writes)]
    if "all-or-nothing" not in part.requires or part.is_transaction:
        return
    if any(operation_named(each) == "TransactWriteItems" for each in operations):
        return
    writes = max(sum(write.count for write in part.writes), part.actions or 0)
    if writes < 2 or not part.writes:
        return
    is_batch = any(operation_named(each) == "BatchWriteItem" for each in operations)
    entities = tuple(dict.fromkeys(write.entity for write in part.writes if write.entity in view.entities))
    sent = "in a BatchWriteItem, which is no transaction" if is_batch else "one by one"
    yield finding(
        RULE,
        path,
        *(view.entity_path(entity) for entity in entities),
        message=f"{name} has {writes} writes that have to be all or nothing, and sends them {sent}",
        because=f"of {writes} writes some are done and some are not, when one fails or the caller dies between "
        "them: " + (f"{' and '.join(entities)} disagree" if len(entities) > 1 else "half of it is there"),
        repair="send them as one TransactWriteItems: is_transaction = true",
    )


RULE = Rule("LIM506", Severity.ERROR, "Writes that belong together are sent apart", check)
