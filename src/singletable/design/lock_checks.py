"""What must hold of locks: every unique value has the lock of its item, and no lock is without such a value.

A lock under the key that it had before (`was`) is as right as one under its new key, while those who write look
there; and it can be moved.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from singletable.client.calls import Steps
from singletable.design.actions import Action
from singletable.design.checks import Finding
from singletable.design.committing import settle
from singletable.design.entity import STORED, Entity
from singletable.design.expressions import Placeholders
from singletable.design.moving import key_attributes
from singletable.design.relations import LockForm, lock_sort
from singletable.design.revising import changed_meanwhile
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item, shown_key, time_text
from singletable.design.uniqueness import (
    GRACE_S,
    LOCK_NAME,
    TAKEN_AT,
    Lock,
    as_seen,
    has_lock,
    lock_item,
    lock_key,
    locks_of,
    old_locks,
    owner_attributes,
    owner_key,
    ttl_attribute,
)
from singletable.design.write_planning import clock_time
from singletable.errors import MigrationError


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
    moving = (yield from old_locks(session)) if session.catalog.old_locks else ()
    counting = [lock.key for lock in locks_of(session.catalog, schema, entity, moving).values()]
    for lock in locks_of(session.catalog, schema, entity).values():
        found, owner = yield from _stored(session, lock.key)
        if owner == expected:
            continue
        lock = replace(lock, owner=owner_attributes(session.catalog, expected))
        before, was = (None, None) if lock.was is None else (yield from _stored(session, lock.was))
        if was == expected and found is None and lock.was in counting:
            continue
        actions: tuple[Action, ...] = ()
        if was != expected and lock.was and (yield from _is_needed(session, before, was, lock.was)):
            owner = was
        else:
            actions = yield from _taking(session, lock, found, owner)
        findings.append(Finding(schema.name, expected, ", ".join(lock.values), expected, owner, actions))
    return findings


def _stored(session: Session, key: Item) -> Steps[tuple[Item | None, Item | None]]:
    """Read a lock; return it with the key of its owner."""
    found = yield from read_item(session, key)
    return found, None if found is None else owner_key(session.catalog, found)


def _is_needed(session: Session, lock: Item | None, owner: Item | None, key: Item) -> Steps[bool]:
    """Look whether the owner of a lock is there, and has the value."""
    if owner is None or _is_over(session, lock):
        return False
    return (yield from has_lock(session, owner, key))


def _taking(
    session: Session, lock: Lock, found: Item | None, owner: Item | None
) -> Steps[tuple[Action, ...]]:
    """Return what gives an item its lock; nothing if another item has the same value: that is for people."""
    if (yield from _is_needed(session, found, owner, lock.key)):
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
    key = key_attributes(session, lock)
    owner = owner_key(session.catalog, lock)
    if _is_new(session, lock) or owner is None or (yield from has_lock(session, owner, key)):
        return []
    return [Finding(LOCK_NAME, key, "", None, owner, (_removal(key, lock),))]


def _is_new(session: Session, lock: Item) -> bool:
    before = time_text(clock_time(session) - timedelta(seconds=GRACE_S))
    return bool(lock.get(TAKEN_AT, {}).get("S", "") > before)


def _removal(key: Item, lock: Item) -> Action:
    into = Placeholders()
    params = into.add_to({"ConditionExpression": as_seen(lock, into)})
    return Action("Delete", key, params, changed_meanwhile(key), "after")


# --- locks under old keys ------------------------------------------------------------------------------------


def old_forms(session: Session, lock: Item) -> list[LockForm]:
    """Return the unique values whose lock this may be, under the key that it had before; none of a new key."""
    catalog = session.catalog
    if not catalog.old_locks:
        return []
    text, sort = (str(lock[name].get("S")) for name in catalog.table.key_attributes())
    forms = [form for schema in catalog.schemas.values() for form in schema.locks.values()]
    fitting = [form for form in forms if form.key.compiled is None or form.key.compiled.matches(text)]
    if any(lock_sort(form.sort, text) == sort for form in fitting):
        return []
    return [form for form in fitting if form.was is not None and lock_sort(form.was, text) == sort]


def is_under_old_key(session: Session, item: Item) -> Steps[bool]:
    """Tell whether an item is a lock under the key that it had before, and its owner has the value."""
    if not is_lock(session, item) or not old_forms(session, item):
        return False
    owner = owner_key(session.catalog, item)
    return owner is not None and (yield from has_lock(session, owner, key_attributes(session, item)))


def bring_lock_home(session: Session, key: Item) -> Steps[bool]:
    """Move a lock from the key that it had before to its new one, or take it away if nobody needs it.

    At every moment the value is locked by one of the two. Tell whether there was something to do. It raises
    MigrationError when another item has the value by the new key.
    """
    plans: list[list[Action]] = []

    def plan() -> Steps[list[Action]]:
        plans.append((yield from homing(session, key)))
        return plans[-1]

    yield from settle(session, plan)
    put = [action for action in plans[-1] if action.kind == "Put"]
    if put and not session.client.capabilities.transactions:
        yield from settle(session, lambda: _stray(session, put[0].key))
    return any(plans)


def homing(session: Session, key: Item) -> Steps[list[Action]]:
    """Return the actions that move a lock from the key that it had before, or take it away; none: it stays."""
    stored, owner = yield from _stored(session, key)
    forms = [] if stored is None or not is_lock(session, stored) else old_forms(session, stored)
    if stored is None or owner is None or not forms:
        return []
    home = yield from _home(session, key, forms, owner)
    there, other = yield from _stored(session, home)
    removal = _removal(key, stored)
    if other == owner:
        return [removal]
    if not (yield from _is_needed(session, stored, owner, key)):
        # Without a lock under the new key, it may be for a write to come.
        return [] if there is None and _is_new(session, stored) else [removal]
    if there is not None and (other is None or (yield from _is_needed(session, there, other, home))):
        taken = "another item" if other is None else shown_key(other)
        raise MigrationError(f"its value is that of {shown_key(owner)}, and also that of {taken}")
    into = Placeholders()
    if there is None:
        condition = f"attribute_not_exists({into.name(session.catalog.table.pk)})"
    else:
        condition = as_seen(there, into)
    params = into.add_to({"Item": {**stored, **home}, "ConditionExpression": condition})
    return [Action("Put", home, params, changed_meanwhile(home)), removal]


def _home(session: Session, key: Item, forms: list[LockForm], owner: Item) -> Steps[Item]:
    """Return the new key of a lock. Where several entities have such values, their owner's entity says which."""
    form = forms[0]
    if len({each.sort for each in forms}) > 1:
        item = yield from read_item(session, owner)
        schema = None if item is None else session.catalog.schema_of(item)
        form = next((each for each in forms if schema is not None and each.entity == schema.name), form)
    return lock_key(session.catalog, key[session.catalog.table.pk]["S"], form.sort)


def _stray(session: Session, key: Item) -> Steps[list[Action]]:
    """Take a lock away that was put for an owner who gave the value back in that moment."""
    lock = yield from read_item(session, key)
    findings = [] if lock is None else (yield from check_owner(session, lock))
    return [action for finding in findings for action in finding.actions]
