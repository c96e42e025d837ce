"""Unique values: a lock item for each, made, moved and taken away with the item that has the value.

A lock's key is the rendered key of the `Unique`, so the table itself sees to it that there is one at most. It
holds

    entityType   $unique, under the design's discriminator: no entity has this name, so nobody takes it for one
    $owner       the key of the item that has the value, and $ownerSort where the table has a sort key
    $takenAt     when it was taken, by the clock of the one who did
    $claim       who took it, where there are no transactions (`singletable.design.claiming`)
    ttl          when the owner expires, if it does: the lock goes with it

What a write does to locks is a function of the entity before and after it. A value that stays asks for nothing,
not even a read; only a new expiry of the owner is written to its locks too. A new value takes a lock that is free,
that is the item's own, or whose owner has expired. An old one is given back; a lock that turns out to be somebody
else's is left alone.

A lock whose owner does not have the value can be there too: its process died, or somebody deleted the owner by
other means. It is taken over by the next who wants the value, once it is older than `GRACE_S`.

Locks may have had another sort key before (`was`), and a process of an older version, which knows no other, may
still be running. So while there may be such locks, a value has two: it is taken, given back and expires under both
keys, and who has only the old one keeps others from it as well. Once every value has a lock under the new key, the
old ones do not count any more. A session finds that out before it deals with its first lock: the index that has
them in one partition shows none, or the table says so (`mark_moved`). What the table says stays true. The index
lags behind, and an older version may put the first lock into it: a session looks again after `KNOWN_S`, until it
has seen none for `SURE_S`. That there are some is asked again after `KNOWN_S` too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.actions import Action
from singletable.design.catalog import Catalog
from singletable.design.entity import Entity
from singletable.design.expressions import Placeholders
from singletable.design.relations import HASH, LockForm, lock_index, lock_sort
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import AttributeValue, Item, shown_key, time_text
from singletable.design.unfit_items import as_far_as_readable, is_unfit
from singletable.errors import ApiError, DesignError, DuplicateError

LOCK_NAME: Final = "$unique"  # the value of a lock's discriminator
GRACE_S: Final = 60  # for which a lock is its owner's, though the owner does not have the value
KNOWN_S: Final = 10  # after which it is asked again whether there are locks under old keys
SURE_S: Final = 60  # for which an index is to show none, until that is not asked again
MOVED_NAME: Final = "$locks"  # the key and the discriminator of the item that says which locks have moved

# Of names that nobody gives an attribute, lest a lock come into an index.
OWNER: Final = "$owner"
OWNER_SORT: Final = "$ownerSort"
TAKEN_AT: Final = "$takenAt"
CLAIM: Final = "$claim"

LockId = tuple[str, str]  # the texts of a lock's key


@dataclass(frozen=True, slots=True)
class Lock:
    """The lock of one value of an entity, as it should be stored."""

    key: Item
    owner: Item  # attributes, by the names that they have in a lock
    expiry: AttributeValue | None
    entity: str
    values: Mapping[str, Any]  # that are unique, by field
    was: Item | None = None  # the key that it had before


@dataclass(frozen=True, slots=True)
class LockChange:
    """What happens to one lock: who gives it back, and who takes it."""

    key: Item
    takes: Lock | None
    owners: tuple[Item, ...]  # of whom one may have it now
    now_us: int
    catalog: Catalog


# --- what a write does to locks -------------------------------------------------------------------------


def lock_actions(
    session: Session, schema: EntitySchema[Any], before: Entity | None, after: Entity | None
) -> Steps[list[Action]]:
    """Return the locks that a write takes and gives back; `before` is the entity as it is stored."""
    if not schema.uniques:
        return []
    catalog, now_us = session.catalog, session.now_us()
    moving = (yield from old_locks(session)) if catalog.old_locks else ()
    old = {} if before is None else locks_of(catalog, schema, before, moving)
    new = {} if after is None else locks_of(catalog, schema, after, moving)
    actions = []
    for name, lock in new.items():
        had = old.get(name)
        # An item that does not fit was written by other means, which may not have locked what it has.
        if had is None or had.expiry != lock.expiry or is_unfit(before):
            action = _action(LockChange(lock.key, lock, (lock.owner,), now_us, catalog))
            actions.append(action if had is None or _outlives(lock, had) else replace(action, order="after"))
    for name, lock in old.items():
        if name not in new:
            actions.append(_action(LockChange(lock.key, None, (lock.owner,), now_us, catalog)))
    return actions


def locks_of(
    catalog: Catalog, schema: EntitySchema[Any], entity: Entity, moving: Collection[LockForm] = ()
) -> dict[LockId, Lock]:
    """Return the locks that an entity has: of values that are `moving`, under both keys, the new one first.

    There is none for a value with a part that is None.
    """
    found: dict[LockId, Lock] = {}
    for form in schema.locks.values():
        lock = as_far_as_readable(entity, partial(_lock, catalog, schema, form, entity), None)
        if lock is None:
            continue
        text = lock.key[catalog.table.pk]["S"]
        found[text, form.sort] = lock
        if lock.was is not None and form.was is not None and form in moving:
            found[text, form.was] = replace(lock, key=lock.was, was=None)
    return found


def _lock(catalog: Catalog, schema: EntitySchema[Any], form: LockForm, entity: Entity) -> Lock | None:
    values = {name: getattr(entity, name) for name in form.key.reads()}
    key = form.key.from_values(values)
    if key is None:
        return None
    text = key.render()
    return Lock(
        lock_key(catalog, text, form.sort),
        owner_attributes(catalog, schema.primary_key(entity)),
        _expiry(schema, entity),
        schema.entity.__name__,
        values,
        None if form.was is None else lock_key(catalog, text, form.was),
    )


def lock_item(lock: Lock, catalog: Catalog, now_us: int) -> Item:
    """Return the item of a lock that is taken now."""
    item = {
        **lock.key,
        catalog.discriminator: {"S": LOCK_NAME},
        **lock.owner,
        TAKEN_AT: {"S": _time(now_us)},
    }
    expiry = ttl_attribute(catalog)
    if lock.expiry is not None and expiry is not None:
        item[expiry] = lock.expiry
    return item


def lock_key(catalog: Catalog, text: str, sort: str) -> Item:
    """Return the key in the table of a value's lock: from the text of the value, and the sort key as declared."""
    table = catalog.table
    pk = {table.pk: {"S": text}}
    return pk if table.sk is None else {**pk, table.sk: {"S": lock_sort(sort, text)}}


def owner_attributes(catalog: Catalog, key: Item) -> Item:
    """Return a key of the table as a lock holds it."""
    names = (OWNER, OWNER_SORT)
    return {
        name: key[attribute] for name, attribute in zip(names, catalog.table.key_attributes(), strict=False)
    }


def owner_key(catalog: Catalog, lock: Item) -> Item | None:
    """Return the key of a stored lock's owner; None for an item that is no lock."""
    names = (OWNER, OWNER_SORT)
    attributes = catalog.table.key_attributes()
    if any(name not in lock for name, _ in zip(names, attributes, strict=False)):
        return None
    return {attribute: lock[name] for name, attribute in zip(names, attributes, strict=False)}


def ttl_attribute(catalog: Catalog) -> str | None:
    """Name the attribute by which items of the table expire."""
    return next((schema.ttl.stored for schema in catalog.schemas.values() if schema.ttl), None)


def _expiry(schema: EntitySchema[Any], entity: Entity) -> AttributeValue | None:
    value = None if schema.ttl is None else entity.__dict__.get(schema.ttl.name)
    return None if schema.ttl is None or value is None else schema.ttl.encode(value)


def _outlives(lock: Lock, had: Lock) -> bool:
    """Tell whether a lock is to live longer than it would. No lock may go before its owner does."""
    if lock.expiry is None or had.expiry is None:
        return lock.expiry is None
    return float(lock.expiry["N"]) > float(had.expiry["N"])


def _time(now_us: int) -> str:
    return time_text(datetime.fromtimestamp(0, UTC) + timedelta(microseconds=now_us))


# --- as actions --------------------------------------------------------------------------------------------


def _action(change: LockChange) -> Action:
    into = Placeholders()
    terms = [f"attribute_not_exists({into.name(change.catalog.table.pk)})", *_of_owners(change, into)]
    if change.takes is None:
        params = into.add_to({"ConditionExpression": " OR ".join(terms)})
        return Action(
            "Delete", change.key, params, _taken(change), "after", merged_locks, made_from=change, lapses=True
        )
    expiry = ttl_attribute(change.catalog)
    if expiry is not None:
        terms.append(f"{into.name(expiry)} <= {into.value({'N': str(change.now_us // 1_000_000)})}")
    return _put(change, change.takes, " OR ".join(terms), into)


def _put(change: LockChange, lock: Lock, condition: str, into: Placeholders) -> Action:
    item = lock_item(lock, change.catalog, change.now_us)
    params = into.add_to({"Item": item, "ConditionExpression": condition})
    return Action("Put", change.key, params, _taken(change), "claim", merged_locks, made_from=change)


def _of_owners(change: LockChange, into: Placeholders) -> list[str]:
    return [f"({_equal(owner, into)})" for owner in change.owners]


def _equal(attributes: Item, into: Placeholders) -> str:
    return " AND ".join(f"{into.name(name)} = {into.value(value)}" for name, value in attributes.items())


def as_seen(lock: Item, into: Placeholders) -> str:
    """Write that a stored lock is the one that was seen: nobody else has taken it since, nor its owner again."""
    known: Item = {name: lock[name] for name in (OWNER, OWNER_SORT, TAKEN_AT, CLAIM) if name in lock}
    terms = _equal(known, into)
    return terms if CLAIM in lock else f"{terms} AND attribute_not_exists({into.name(CLAIM)})"


def if_as_seen(action: Action, lock: Item) -> Action:
    """Return the action on a lock on condition that it still is as it was seen."""
    change: LockChange = action.made_from
    into = Placeholders()
    condition = as_seen(lock, into)
    if change.takes is not None:
        return replace(_put(change, change.takes, condition, into), order=action.order)
    return replace(action, params=into.add_to({"ConditionExpression": condition}))


def _taken(change: LockChange) -> Any:
    def refused(stored: Item | None) -> DesignError:
        owner = owner_key(change.catalog, stored) if stored is not None else None
        return duplicate(change.takes, change.key, owner)

    return refused


def duplicate(lock: Lock | None, key: Item, owner: Item | None) -> DuplicateError:
    """Say that a value is taken, and by whom."""
    by = "another item" if owner is None else shown_key(owner)
    if lock is None:
        return DuplicateError(f"the lock {shown_key(key)} is that of {by}", owner=owner)
    fields = " and ".join(f"{name} {value!r}" for name, value in lock.values.items())
    return DuplicateError(
        f"{lock.entity}: {fields} is taken by {by}",
        hint="choose another value, or change the item that has it",
        fields=tuple(lock.values),
        owner=owner,
    )


# --- several writes in one transaction -------------------------------------------------------------------


def merged_locks(first: Action, second: Action) -> Action | None:
    """Make one action of a lock that one write gives back and another one takes; None for what is no lock."""
    one, other = first.made_from, second.made_from
    if not isinstance(one, LockChange) or not isinstance(other, LockChange):
        return None
    if one.takes is not None and other.takes is not None and one.takes.owner != other.takes.owner:
        raise duplicate(other.takes, other.key, owner_key(one.catalog, one.takes.owner))
    owners = (*one.owners, *(owner for owner in other.owners if owner not in one.owners))
    return _action(replace(one, takes=one.takes or other.takes, owners=owners))


# --- locks that nobody needs -------------------------------------------------------------------------------


def reclaimed(session: Session, action: Action, stored: Item | None) -> Steps[Action | None]:
    """Return the action that takes over a lock which nobody needs; None if the owner has it, or may soon."""
    change: LockChange = action.made_from
    if change.takes is None or stored is None:
        return None
    owner = owner_key(session.catalog, stored)
    taken_at = stored.get(TAKEN_AT, {}).get("S")
    if owner is None or taken_at is None or taken_at > _time(session.now_us() - GRACE_S * 1_000_000):
        return None
    if (yield from has_lock(session, owner, change.key)):
        return None
    return if_as_seen(action, stored)


def has_lock(session: Session, owner: Item, lock_key: Item) -> Steps[bool]:
    """Look whether the item of a key is stored with the value of a lock, be that under its new key or its old one.

    What cannot be read counts as such.
    """
    item = yield from read_item(session, owner)
    if item is None:
        return False
    schema = session.catalog.schema_of(item)
    if schema is None:
        return True
    try:
        locks = locks_of(session.catalog, schema, schema.to_entity(item), session.catalog.old_locks)
    except DesignError:
        return True
    return any(lock.key == lock_key for lock in locks.values())


# --- locks under old keys ----------------------------------------------------------------------------------


def old_locks(session: Session) -> Steps[frozenset[LockForm]]:
    """Return which unique values may have locks under old keys; that there are none is asked a few times."""
    known, now_us = session.known_locks, session.client.clock.elapsed_us()
    if known.old is not None and (known.is_final or now_us - known.asked_us < KNOWN_S * 1_000_000):
        return known.old
    unseen = yield from _unseen(session)
    old = yield from _not_moved(session, session.catalog.old_locks - unseen)
    since_us = now_us if known.none_since_us is None else known.none_since_us
    known.none_since_us = None if old else since_us
    known.is_final = not old and (not unseen or now_us - since_us >= SURE_S * 1_000_000)
    known.asked_us = now_us
    known.old = old
    return old


def _unseen(session: Session) -> Steps[frozenset[LockForm]]:
    """Return the unique values whose old locks an index would show, and shows none."""
    old = session.catalog.old_locks
    seen = old
    for sort in sorted({form.was or "" for form in old}):
        if (yield from _is_gone(session, sort)):
            seen = frozenset(form for form in seen if form.was != sort)
    return old - seen


def _not_moved(session: Session, old: frozenset[LockForm]) -> Steps[frozenset[LockForm]]:
    """Leave out what the table says has moved."""
    if not old:
        return old
    said = (yield from read_item(session, _moved_key(session.catalog))) or {}
    return frozenset(form for form in old if said.get(_moved_name(form)) != {"S": form.sort})


def _is_gone(session: Session, sort: str) -> Steps[bool]:
    """Look into the index that has locks of one sort key in one partition. What cannot be seen may be there."""
    catalog = session.catalog
    index = lock_index(catalog.table, catalog.discriminator, None)
    if index is None or HASH in sort:
        return False
    into = Placeholders()
    wanted = {catalog.table.sk: {"S": sort}, catalog.discriminator: {"S": LOCK_NAME}}
    condition = _equal({name: wanted[name] for name in index.pk}, into)
    params = {"TableName": session.table, "IndexName": index.name, "Limit": 1}
    try:
        # DynamoDB refuses to read an index that is being filled. Others may show what it has so far, so it is
        # to be full before it is read.
        if not session.client.is_trusted and not (yield from _is_filled(session, index.name)):
            return False
        answer = yield Call("Query", into.add_to({**params, "KeyConditionExpression": condition}))
        return not answer["Items"]
    except ApiError:
        return False  # the index is not there yet, or nobody has allowed to read it


def _is_filled(session: Session, name: str) -> Steps[bool]:
    answer = yield Call("DescribeTable", {"TableName": session.table})
    indexes = answer["Table"].get("GlobalSecondaryIndexes", ())
    return any(each["IndexName"] == name and each.get("IndexStatus") == "ACTIVE" for each in indexes)


def mark_moved(session: Session, forms: Iterable[LockForm]) -> Steps[None]:
    """Write into the table that all locks of these are under their new keys: the old ones count no more."""
    into = Placeholders()
    sets = {
        session.catalog.discriminator: {"S": MOVED_NAME},
        **{_moved_name(form): {"S": form.sort} for form in forms},
    }
    texts = [f"{into.name(name)} = {into.value(value)}" for name, value in sets.items()]
    params = {
        "TableName": session.table,
        "Key": _moved_key(session.catalog),
        "UpdateExpression": f"SET {', '.join(texts)}",
    }
    yield Call("UpdateItem", into.add_to(params))
    session.known_locks.forget()


def _moved_key(catalog: Catalog) -> Item:
    return {name: {"S": MOVED_NAME} for name in catalog.table.key_attributes()}


def _moved_name(form: LockForm) -> str:
    return f"{form.entity}.{form.name}"
