"""Batches and transactions of a design: what one request holds, and how much of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from singletable.blueprint.patterns import PatternBlueprint, ReadBlueprint, RuleBlueprint, WriteBlueprint
    from singletable.blueprint.positions import Path
    from singletable.lint.view import View

Operation = Literal["TransactWriteItems", "TransactGetItems", "BatchWriteItem", "BatchGetItem"]
ACTIONS_MAX: Final = 100  # of a transaction (API reference, "TransactWriteItems", "TransactGetItems")
_BEGINNINGS: Final[dict[str, Operation]] = {
    "transactwrite": "TransactWriteItems",
    "transactget": "TransactGetItems",
    "batchwrite": "BatchWriteItem",
    "batchget": "BatchGetItem",
    "batchput": "BatchWriteItem",
    "batchdelete": "BatchWriteItem",
}


@dataclass(frozen=True)
class Together:
    """A request of several actions: its writes or its read, and how many actions it has."""

    operation: Operation
    name: str  # what people call the pattern or rule that sends it
    path: Path
    actions: float
    entities: tuple[str, ...]
    kb: float | None = None  # of all its items, where every size is known
    writes: tuple[WriteBlueprint, ...] = ()
    read: ReadBlueprint | None = None

    @property
    def is_transaction(self) -> bool:
        """Tell whether all of it happens or nothing."""
        return self.operation.startswith("Transact")

    def paths(self, view: View) -> tuple[Path, ...]:
        """Return its place, and those of its entities."""
        return (self.path, *(view.entity_path(name) for name in self.entities if name in view.entities))


def operation_named(text: str) -> Operation | None:
    """Return the operation that a word means: `BatchGet`, `batch-get`, `TransactWriteItems`."""
    word = re.sub(r"[^a-z]", "", text.lower())
    return next((found for begin, found in _BEGINNINGS.items() if word.startswith(begin)), None)


def requests_together(view: View) -> Iterator[Together]:
    """Yield the batches and transactions of all patterns and rules."""
    for at, pattern in enumerate(view.blueprint.patterns):
        yield from _writing(view, pattern, f"pattern {pattern.number}", ("patterns", at))
        yield from _reading(view, pattern, ("patterns", at))
    for at, rule in enumerate(view.blueprint.rules):
        yield from _writing(view, rule, f"rule {rule.name}", ("rules", at))


def _writing(view: View, part: PatternBlueprint | RuleBlueprint, name: str, path: Path) -> Iterator[Together]:
    said = operation_named(getattr(part, "operation", ""))
    kinds = {operation_named(write.operation) for write in part.writes}
    if part.is_transaction or said == "TransactWriteItems" or "TransactWriteItems" in kinds:
        writes = part.writes
        actions = max(part.actions or 0, sum(write.count for write in writes))
        yield _written(view, "TransactWriteItems", name, path, actions, writes)
        return
    is_batch = said == "BatchWriteItem"
    batch = [w for w in part.writes if is_batch or operation_named(w.operation) == "BatchWriteItem"]
    if batch:
        actions = part.actions or sum(write.count for write in batch)
        yield _written(view, "BatchWriteItem", name, path, actions, tuple(batch))


def _written(
    view: View,
    operation: Operation,
    name: str,
    path: Path,
    actions: float,
    writes: tuple[WriteBlueprint, ...],
) -> Together:
    entities = tuple(dict.fromkeys(write.entity for write in writes))
    sizes = [(write.count, view.volume(write.entity)) for write in writes]
    known = [count * volume.kb for count, volume in sizes if volume is not None]
    kb = sum(known) if sizes and len(known) == len(sizes) else None
    return Together(operation, name, path, actions, entities, kb, writes)


def _reading(view: View, pattern: PatternBlueprint, path: Path) -> Iterator[Together]:
    for read in pattern.reads:
        operation = operation_named(read.operation)
        if operation is None or read.pk:  # a design that runs divides its keys into requests by itself
            continue
        actions = read.count if read.count > 1 or len(pattern.reads) > 1 else pattern.actions or 1
        if operation == "BatchGetItem" and pattern.actions is not None:
            actions = min(actions, pattern.actions)
        sizes = [volume.kb for entity in read.entities if (volume := view.volume(entity)) is not None]
        kb = actions * min(sizes) if sizes and len(sizes) == len(read.entities) else None
        name = f"pattern {pattern.number}"
        yield Together(operation, name, path, actions, read.entities, kb, read=read)
