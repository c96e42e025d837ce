"""What a stream consumer keeps: counters, copies and derived items that are declared `by="stream"`.

A consumer may see a record twice, and records of different items in any order. So a count is added together with a
guard, an item that remembers the record; and copies and derived items are worked out from what the source is now,
not from what the record says it was. After the last write the source is read once more: whoever finishes last has
seen the last of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from singletable.client.calls import Steps
from singletable.design.actions import Action
from singletable.design.belonging import Copied, Made
from singletable.design.children import START, Position, children_page
from singletable.design.committing import settle
from singletable.design.copying import can_hold, is_stale
from singletable.design.counting import Touch, count_touches
from singletable.design.deriving import MadeItems, delete_action, made_items, put_action
from singletable.design.effects import refresh_plan
from singletable.design.entity import STORED, Entity
from singletable.design.guards import DoneAlreadyError, guard_action
from singletable.design.performing import is_same, perform
from singletable.design.revising import ChangedMeanwhileError, read_stored
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item, shown_key
from singletable.errors import DesignError, NotFoundError

_PASSES_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class EntityChange:
    """A record of the stream: an item before and after a write."""

    schema: EntitySchema[Any]
    old: Entity | None
    new: Entity | None
    event_id: str
    is_expired: bool = False  # it was removed because its time was over


def upkeep_steps(session: Session, change: EntityChange) -> Steps[None]:
    """Do what follows from a record for counters, copies and derived items. Doing it twice changes nothing."""
    belonging = session.catalog.belonging
    for touch in count_touches(session, change.schema, change.old, change.new, "stream"):
        yield from _count(session, change, replace(touch, needs_parent=True))
    for copied in belonging.repeated(change.schema, "stream"):
        yield from _spread(session, copied, change)
    for copied in belonging.copying(change.schema):
        if copied.by == "stream":
            yield from _catch_up(session, copied, change)
    for made in belonging.made_from(change.schema, "stream"):
        yield from _derive(session, made, change)


# --- counters -------------------------------------------------------------------------------------------------


def _count(session: Session, change: EntityChange, touch: Touch) -> Steps[None]:
    guard = _guard(session, change, touch)
    try:
        if session.client.capabilities.transactions:
            yield from settle(session, lambda: _plan([guard, touch]))
        else:
            # A consumer that dies between the two leaves a counter that is behind; `verify` repairs it.
            yield from perform(session, guard)
            yield from settle(session, lambda: _plan([touch]))
    except (DoneAlreadyError, NotFoundError):
        return  # or there is nobody to count for


def _plan(actions: list[Action]) -> Steps[list[Action]]:
    yield from ()
    return actions


def _guard(session: Session, change: EntityChange, touch: Touch) -> Action:
    return guard_action(session, f"{change.event_id}#{touch.schema.name}#{shown_key(touch.key)}")


# --- copies ---------------------------------------------------------------------------------------------------


def _spread(session: Session, copied: Copied, change: EntityChange) -> Steps[None]:
    """Refresh the copies that children have of a field that has changed."""
    name = copied.marker.field
    if change.new is None or (change.old is not None and _same(change.old, change.new, name)):
        return
    key = change.schema.primary_key(change.new)
    source = yield from read_stored(session, change.schema, key)
    for _ in range(_PASSES_MAX):
        if source is None or not can_hold(copied, source):
            return
        yield from _refresh_all(session, copied, source)
        now = yield from read_stored(session, change.schema, key)
        if now is None or _same(source, now, name):
            return
        source = now
    raise _kept_changing(key)


def _same(first: Entity, second: Entity, name: str) -> bool:
    return bool(getattr(first, name) == getattr(second, name))


def _refresh_all(session: Session, copied: Copied, source: Entity) -> Steps[None]:
    """Go through the children of a source. Whoever begins again has less to do: what is fresh is only read."""
    position: Position | None = START
    while position is not None:
        children, position = yield from children_page(
            session, copied.link, copied.place, source, position, exact=False
        )
        for child in children:
            if is_stale(copied, child, source):
                yield from _refresh_one(session, copied, copied.link.child.primary_key(child), source)


def _refresh_one(session: Session, copied: Copied, key: Item, source: Entity) -> Steps[None]:
    yield from settle(session, lambda: refresh_plan(session, copied, key, source))


def _catch_up(session: Session, copied: Copied, change: EntityChange) -> Steps[None]:
    """Refresh the copy in a new child: its source may have changed while it was written."""
    if change.new is None or (change.old is not None and not _is_other(copied, change.old, change.new)):
        return
    source_key = copied.link.parent_key(change.new)
    if source_key is None:
        return
    key = change.schema.primary_key(change.new)
    for _ in range(_PASSES_MAX):
        source = yield from read_stored(session, copied.link.parent, source_key)
        if source is None or not is_stale(copied, change.new, source):
            return
        yield from _refresh_one(session, copied, key, source)
        now = yield from read_stored(session, copied.link.parent, source_key)
        if now is None or _same(source, now, copied.marker.field):
            return
    raise _kept_changing(source_key)


def _is_other(copied: Copied, old: Entity, new: Entity) -> bool:
    return not _same(old, new, copied.field) or copied.link.parent_key(old) != copied.link.parent_key(new)


# --- derived items --------------------------------------------------------------------------------------------


def _derive(session: Session, made: Made, change: EntityChange) -> Steps[None]:
    """Write the items that are made from a source as it is now, and delete those that are not."""
    old, new = change.old, change.new
    if old is not None and new is not None and all(_same(old, new, name) for name in made.reads()):
        return
    known: MadeItems = {**made_items(made, old), **made_items(made, new)}
    entity = new if new is not None else old
    assert entity is not None
    key = change.schema.primary_key(entity)
    source = yield from read_stored(session, change.schema, key)
    for _ in range(_PASSES_MAX):
        wanted = made_items(made, source)
        yield from _replace(session, known, wanted)
        now = yield from read_stored(session, change.schema, key)
        if _stored(now) == _stored(source):
            return
        known, source = {**known, **wanted}, now
    raise _kept_changing(key)


def _stored(entity: Entity | None) -> Item | None:
    return None if entity is None else entity.__dict__[STORED]


def _replace(session: Session, known: MadeItems, wanted: MadeItems) -> Steps[None]:
    for key, item in wanted.values():
        stored = yield from read_item(session, key)
        if stored is None or not is_same(stored, item):
            yield from perform(session, put_action(key, item))
    for name, (key, _) in known.items():
        if name not in wanted:
            yield from perform(session, delete_action(key))


def _kept_changing(key: Item) -> DesignError:
    return ChangedMeanwhileError(f"the item {shown_key(key)} kept changing", hint="try again later")
