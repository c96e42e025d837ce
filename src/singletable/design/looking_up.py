"""Finds the item that has a unique value: by the value's lock, and then by the key that the lock holds.

A value is taken at every moment by one item at most, but the two reads are of two moments: between them it may go
from one item to another, or an item to another key. So where the item that a lock names does not have the value,
the lock is read again, and followed again if it has changed.
"""

from __future__ import annotations

from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.answers import entity_of, read_units
from singletable.design.pages import Found, Usage
from singletable.design.plans import Lookup
from singletable.design.requests import get_params
from singletable.design.schema import EntitySchema
from singletable.design.session import Session, ask
from singletable.design.stored_values import Item
from singletable.design.uniqueness import lock_key, old_locks, owner_key, ttl_attribute
from singletable.errors import VersionConflictError

FOLLOWED_MAX: Final = 20


def lookup_params(session: Session, plan: Lookup[Any]) -> dict[str, Any]:
    """Return the request for the lock."""
    form = session.catalog.schema_for(plan.entity).locks[plan.unique]
    key = lock_key(session.catalog, plan.key.render(), form.sort)
    return get_params(session.table, key, consistent=True)


def look_up(session: Session, plan: Lookup[Any]) -> Steps[Found[Any]]:
    """Read the item that has a value. What was read beside it, locks too, counts as thrown away."""
    schema, usage = session.catalog.schema_for(plan.entity), Usage()
    form, text = schema.locks[plan.unique], plan.key.render()
    new = lock_key(session.catalog, text, form.sort)
    entity = yield from _followed(session, schema, plan, new, usage)
    if entity is None and form.was is not None and form in (yield from old_locks(session)):
        # It may move meanwhile, so the new key comes once more behind the old one.
        for key in (lock_key(session.catalog, text, form.was), new):
            entity = entity or (yield from _followed(session, schema, plan, key, usage))
    return Found(entity, usage)


def _followed(
    session: Session, schema: EntitySchema[Any], plan: Lookup[Any], key: Item, usage: Usage
) -> Steps[Any]:
    """Return the entity that the lock of a key leads to; None if it has not the value."""
    cache_s, seen = plan.cache_s, None
    for _ in range(FOLLOWED_MAX):
        lock = yield from _read(session, key, cache_s, usage)
        owner = None if lock is None or lock == seen else _owner(session, lock)
        if owner is None:
            return None
        item = yield from _read(session, owner, cache_s, usage)
        entity = None if item is None else entity_of(schema, session, item)
        if entity is not None and _has_value(entity, plan):
            usage.thrown_away -= 1
            return entity
        # Of answers that were kept, each may be of another moment: they prove nothing.
        seen = lock if cache_s is None else None
        cache_s = None
    raise VersionConflictError(
        f"{plan!r}: the lock has changed {FOLLOWED_MAX} times while it was followed",
        hint="too many write this value at once: read it again",
    )


def _read(session: Session, key: Item, cache_s: float | None, usage: Usage) -> Steps[Item | None]:
    params = get_params(session.table, key, consistent=True)
    answer = yield from ask(session, Call("GetItem", params), cache_s)
    item: Item | None = answer.get("Item")
    is_there = int(item is not None)
    usage.add(Usage(read_units(answer), is_there, is_there))
    return item


def _owner(session: Session, lock: Item) -> Item | None:
    """Return the key of a lock's owner; None for what is no lock, or one whose time is over, as is its owner's."""
    expiry = ttl_attribute(session.catalog)
    if expiry is not None and "N" in lock.get(expiry, {}) and float(lock[expiry]["N"]) <= session.now_s():
        return None
    return owner_key(session.catalog, lock)


def _has_value(entity: Any, plan: Lookup[Any]) -> bool:
    kind = type(plan.key)
    found = kind.from_values({name: getattr(entity, name) for name in kind.reads()})
    return found is not None and found.render() == plan.key.render()
