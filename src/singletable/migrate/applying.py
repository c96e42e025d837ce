"""How one item is changed while others write: only if it still is what the change was computed from.

A refused change is computed again from what is stored now. How an item moves to another key stands in
`singletable.design.rekeying`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from singletable.client.calls import Call, Steps, Together, backoff, read_units
from singletable.design.rekeying import MARK, Move, move_item, unchanged_item, unmark
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.values.items import Item
from singletable.errors import (
    ApiError,
    ConditionFailedError,
    DesignError,
    MigrationError,
    ThrottledError,
    ValidationError,
)
from singletable.migrate.forms import ItemRewrite, plain
from singletable.migrate.leases import MigrationLease

Decide = Callable[[Item], ItemRewrite | None]

CHANGES_AT_ONCE: Final = 25
_ATTEMPTS: Final = 20


@dataclass(slots=True)
class Applied:
    """What became of changes."""

    changed: int = 0
    moved: int = 0
    units: float = 0.0
    failures: list[str] = field(default_factory=list)


class Applier:
    """Applies changes to items of one table."""

    def __init__(self, session: Session, decide: Decide, lease: MigrationLease) -> None:
        self._session = session
        self._decide = decide
        self._lease = lease
        self._pk = session.catalog.table.pk

    def apply(self, changes: list[ItemRewrite]) -> Steps[Applied]:
        """Apply changes; those that stay at their key, several at once."""
        applied = Applied()
        staying = [change for change in changes if change.move is None and MARK not in change.removes]
        for at in range(0, len(staying), CHANGES_AT_ONCE):
            yield from self._together(staying[at : at + CHANGES_AT_ONCE], applied)
        for change in changes:
            if change.move is not None:
                yield from self._one(change, applied)
            elif MARK in change.removes:
                yield from self._finish_move(change, applied)
        return applied

    def _together(self, changes: list[ItemRewrite], applied: Applied) -> Steps[None]:
        if len(changes) > 1:
            try:
                answers = yield Together(tuple(self._update(change) for change in changes))
            except (ConditionFailedError, ThrottledError, ValidationError):
                pass  # which of them were carried out is not known: each is looked at again
            else:
                applied.changed += len(changes)
                applied.units += sum(read_units(answer) for answer in answers)
                return
        for change in changes:
            yield from self._one(change, applied)

    def _one(self, change: ItemRewrite, applied: Applied) -> Steps[None]:
        """Apply one change; compute it again whenever the item has changed meanwhile."""
        pauses = backoff()
        wanted: ItemRewrite | None = change
        throttled: ThrottledError | None = None
        for _ in range(_ATTEMPTS):
            assert wanted is not None
            try:
                if wanted.move is None:
                    answer = yield self._update(wanted)
                    applied.units += read_units(answer)
                    applied.changed += 1
                    return
                if (yield from self._move(wanted.move, applied)):
                    applied.moved += 1
                    return
            except ThrottledError as error:
                throttled = error
                yield next(pauses)
                yield from self._lease.keep()  # all pauses together are longer than it is
                continue
            except ConditionFailedError:
                throttled = None
            except (ValidationError, MigrationError) as error:
                applied.failures.append(failure(change.key, error))
                return
            try:
                wanted = yield from self.again(wanted.key, applied)
            except DesignError as error:
                applied.failures.append(failure(change.key, error))
                return
            if wanted is None:
                # By whoever was faster: a writer that knows the new keys (`was=`) has brought it there.
                applied.moved += change.move is not None
                applied.changed += change.move is None
                return
            if MARK in wanted.removes:
                yield from self._finish_move(wanted, applied)
                return
        if throttled is not None:
            raise throttled  # the run stops, and the next one goes on from here: the item is not at fault
        applied.failures.append(failure(change.key, "others kept changing it"))

    def again(self, key: Item, applied: Applied) -> Steps[ItemRewrite | None]:
        """Compute a change from what is stored now; None if there is nothing to do any more."""
        item, units = yield from self._read(key)
        applied.units += units
        return None if item is None else self._decide(item)

    def _read(self, key: Item) -> Steps[tuple[Item | None, float]]:
        params = {
            "TableName": self._session.table,
            "Key": key,
            "ConsistentRead": True,
            "ReturnConsumedCapacity": "TOTAL",
        }
        answer = yield Call("GetItem", params)
        return answer.get("Item"), read_units(answer)

    # --- an item that stays ---------------------------------------------------------------------------

    def _update(self, change: ItemRewrite) -> Call:
        into = Placeholders()
        sets = [f"{into.name(name)} = {into.value(value)}" for name, value in change.sets.items()]
        parts = [f"SET {', '.join(sets)}"] if sets else []
        if change.removes:
            parts.append(f"REMOVE {', '.join(into.name(name) for name in change.removes)}")
        params = {
            "TableName": self._session.table,
            "Key": change.key,
            "UpdateExpression": " ".join(parts),
            "ConditionExpression": unchanged_item(self._session, change.guards, change.key, into),
            "ReturnConsumedCapacity": "TOTAL",
        }
        return Call("UpdateItem", into.add_to(params))

    # --- an item that moves ---------------------------------------------------------------------------

    def _move(self, move: Move, applied: Applied) -> Steps[bool]:
        """Move an item to its new key. False: it has changed, look again."""
        try:
            return (yield from move_item(self._session, move))
        finally:
            applied.units += sum(move.units)

    def _finish_move(self, change: ItemRewrite, applied: Applied) -> Steps[None]:
        """End a move that somebody has begun: delete the old item if it is there, and take the mark off."""
        old: Item = change.guards[MARK]["M"]["key"]["M"]  # type: ignore[index]
        try:
            begun = yield from self.again(old, applied)
        except DesignError as error:
            applied.failures.append(failure(old, error))
            return
        if begun is not None and begun.move is not None:
            yield from self._one(begun, applied)
        else:
            yield from unmark(self._session, change.key)
            applied.moved += 1


def failure(key: Item, reason: ApiError | DesignError | str) -> str:
    """Say of one item why it could not be changed."""
    text = reason if isinstance(reason, str) else getattr(reason, "message", str(reason))
    return f"{' / '.join(map(str, plain(key).values()))}: {text}"
