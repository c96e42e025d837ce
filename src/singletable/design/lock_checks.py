"""What must hold of locks: every unique value has the lock of its item, and no lock is without such a value."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from singletable.client.calls import Steps
from singletable.design.actions import Action
from singletable.design.checks import Finding
from singletable.design.entity import STORED, Entity
from singletable.design.expressions import Placeholders
from singletable.design.moving import key_attributes
from singletable.design.revising import changed_meanwhile
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item, time_text
from singletable.design.uniqueness import (
    GRACE_S,
    LOCK_NAME,
    TAKEN_AT,
    Lock,
    as_seen,
    has_lock,
    lock_item,
    locks_of,
    owner_attributes,
    owner_key,
    ttl_attribute,
)
from singletable.design.write_planning import clock_time


def is_lock(session: Session, item: Item) -> bool:
    """Tell whether a stored item is a lock."""
    return item.get(session.catalog.discriminator) == {"S": LOCK_NAME}


def check_locks(session: Session, schema: EntitySchema[Any], entity: Entity) -> Steps[list[Finding]]:
    """Find unique values of an item that have no lock, or that of another item.

    One whose time to live is over has a claim to none: who wants its values may have taken them.
    """
    if schema.is_expired(entity.__dict__[STORED], session.now_us() / 1_000_000):
        return []
    findings = []
    # Where the item is, which may be a key that it had before.
    expected = key_attributes(session, entity.__dict__[STORED])
    for lock in locks_of(session.catalog, schema, entity).values():
        found = yield from read_item(session, lock.key)
        owner = None if found is None else owner_key(session.catalog, found)
        if owner != expected:
            lock = replace(lock, owner=owner_attributes(session.catalog, expected))
            actions = yield from _taking(session, lock, found, owner)
            findings.append(Finding(schema.name, expected, ", ".join(lock.values), expected, owner, actions))
    return findings


def _taking(
    session: Session, lock: Lock, found: Item | None, owner: Item | None
) -> Steps[tuple[Action, ...]]:
    """Return what gives an item its lock; nothing if another item has the same value: that is for people."""
    if owner is not None and not _is_over(session, found) and (yield from has_lock(session, owner, lock.key)):
        return ()
    into = Placeholders()
    if found is None or owner is None:
        condition = f"attribute_not_exists({into.name(session.catalog.table.pk)})"
    else:
        condition = as_seen(found, into)
    params = {"Item": lock_item(lock, session.catalog, session.now_us()), "ConditionExpression": condition}
    return (Action("Put", lock.key, into.add_to(params), changed_meanwhile(lock.key)),)


def _is_over(session: Session, lock: Item | None) -> bool:
    """Tell whether the time to live of a lock is over, which is that of its owner."""
    expiry = ttl_attribute(session.catalog)
    value = (lock or {}).get(expiry, {}) if expiry is not None else {}
    return "N" in value and float(value["N"]) <= session.now_us() / 1_000_000


def check_owner(session: Session, lock: Item) -> Steps[list[Finding]]:
    """Find a lock whose owner does not have the value. One that was taken just now may be for a write to come."""
    key = {name: lock[name] for name in session.catalog.table.key_attributes()}
    owner = owner_key(session.catalog, lock)
    before = time_text(clock_time(session) - timedelta(seconds=GRACE_S))
    is_new = lock.get(TAKEN_AT, {}).get("S", "") > before
    if is_new or owner is None or (yield from has_lock(session, owner, key)):
        return []
    into = Placeholders()
    params = into.add_to({"ConditionExpression": as_seen(lock, into)})
    action = Action("Delete", key, params, changed_meanwhile(key))
    return [Finding(LOCK_NAME, key, "", None, owner, (action,))]
