"""Unique values: each has a lock item, which is created, moved and deleted with the item that has the value.

The key of a lock is the rendered key of the `Unique`, so the table itself ensures that there is at most one. A
lock holds

    entityType   $unique, under the design's discriminator: no entity may have this name
    $owner       the key of the item that has the value, and $ownerSort where the table has a sort key
    $takenAt     when it was taken, by the clock of the writer
    $claim       the writer's token, on targets without transactions (`singletable.design.writes.perform`)
    ttl          when the owner expires, if it does: the lock expires with it

The effects of a write on locks depend only on the entity before and after it. A value that stays needs no request,
not even a read; only a new expiry of the owner is written to its locks. A new value takes a lock that is free,
that the item has already, or whose owner has expired. An old value gives its lock back. A lock that belongs to
another item is left alone.

A stale lock is one whose owner does not have the value: the process died, or somebody deleted the owner by other
means. The next writer of the value takes a stale lock over, once it is older than `GRACE_S`.

Locks may have had another sort key before (`was`). A process of an older version knows only the old key, and may
still be running. So while locks under old keys may exist, each value has two locks (a dual write): a write takes,
gives back and expires both, and an old lock alone also keeps other items from the value. Once every value has a
lock under its new key, old locks no longer count. A session asks whether that is so before its first use of a
lock. Either the table says so (`mark_moved`), and then it stays true. Or the index that has the old locks in one
partition shows none. But the index is eventually consistent, and an older version may still write the first lock
into it. So the session reads the index again after `KNOWN_S`, until it has shown none for `SURE_S`. A session that
finds old locks asks again after `KNOWN_S` too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from singletable.blueprint import EntityBlueprint, UniqueBlueprint
from singletable.client.calls import Call, Steps
from singletable.design.kept.kind import EntityChange, Finding, Invariant, Kind, Schema, changed_meanwhile
from singletable.design.keys.texts import described_part, stored_template
from singletable.design.model.catalog import Catalog
from singletable.design.model.entity import STORED, Entity, as_far_as_readable, is_unfit
from singletable.design.model.schema import HASH, KeptNames, LockForm, lock_index, lock_sort
from singletable.design.session.action import Action, Refused
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_item
from singletable.design.values.items import AttributeValue, Item, shown_key, time_text
from singletable.design.values.markers import Upkeep
from singletable.errors import ApiError, DesignError, DuplicateError, MigrationError

LOCK_NAME: Final = "$unique"  # the value of a lock's discriminator
GRACE_S: Final = 60  # how long a stale lock still belongs to its owner
KNOWN_S: Final = 10  # how long an answer about locks under old keys is trusted
SURE_S: Final = 60  # how long the index must show no old lock, before the answer is final
MOVED_NAME: Final = "$locks"  # the key and the discriminator of the item that says which locks have moved

# No entity has attributes of these names, so a lock never gets into an index by them.
OWNER: Final = "$owner"
OWNER_SORT: Final = "$ownerSort"
TAKEN_AT: Final = "$takenAt"
CLAIM: Final = "$claim"

LockId = tuple[str, str]  # the texts of a lock's key


@dataclass(frozen=True, slots=True)
class UniqueLock:
    """The lock of one value of an entity, as it should be stored."""

    key: Item
    owner: Item  # attributes, by the names that they have in a lock
    expiry: AttributeValue | None
    entity: str
    values: Mapping[str, object]  # the unique values, by field
    was: Item | None = None  # the key that it had before


@dataclass(frozen=True, slots=True)
class LockChange:
    """The change of one lock: the owners that may give it back, and the one that takes it."""

    key: Item
    takes: UniqueLock | None
    owners: tuple[Item, ...]  # one of them may have it now
    now_us: int
    catalog: Catalog


class Uniques(Kind):
    """The unique values of a design, as the entities declare them (`EntitySchema.locks`)."""

    # An item whose copy or number is repaired may get another unique value, with its lock.
    is_checked_last = True

    def __init__(self, catalog: Catalog) -> None:
        """Do nothing: a unique value concerns one entity alone, so there is nothing to resolve."""

    def is_in(self, schema: Schema) -> bool:
        return bool(schema.uniques)

    def follows(self, schema: Schema, by: Upkeep) -> bool:
        return by == "transaction" and bool(schema.uniques)

    def names(self, schema: Schema) -> KeptNames:
        return KeptNames(effect_reads=schema.lock_reads)

    def describe(self, schema: Schema, described: EntityBlueprint) -> EntityBlueprint:
        uniques = [
            UniqueBlueprint(
                name,
                stored_template(lock.key) or "",
                lock.sort,
                tuple(lock.key.reads()),
                lock.was,
                tuple(map(described_part, lock.key.parts)),
            )
            for name, lock in schema.locks.items()
        ]
        return replace(described, uniques=tuple(uniques))

    def effects(self, session: Session, change: EntityChange) -> Steps[list[Action]]:
        """Return the locks that a write takes and gives back; `before` is the entity as it is stored."""
        schema, before, after, _ = change
        catalog, now_us = session.catalog, session.now_us()
        moving = (yield from old_locks(session)) if catalog.old_locks else ()
        old = {} if before is None else locks_of(catalog, schema, before, moving)
        new = {} if after is None else locks_of(catalog, schema, after, moving)
        actions = []
        for name, lock in new.items():
            had = old.get(name)
            # An item that does not fit was written by other means, which may not have taken its locks.
            if had is None or had.expiry != lock.expiry or is_unfit(before):
                action = _action(LockChange(lock.key, lock, (lock.owner,), now_us, catalog))
                is_claim = had is None or _outlives(lock, had)
                actions.append(action if is_claim else replace(action, order="after"))
        for name, lock in old.items():
            if name not in new:
                actions.append(_action(LockChange(lock.key, None, (lock.owner,), now_us, catalog)))
        return actions

    def beside(
        self, session: Session, schema: Schema, entity: Entity, kept_by: Sequence[Upkeep]
    ) -> Iterator[Item]:
        """Return the locks of an entity; under both keys for unique values that are known to be moving."""
        if schema.uniques:
            now_us, moving = session.now_us(), session.known_locks.old or ()
            for lock in locks_of(session.catalog, schema, entity, moving).values():
                yield lock_item(lock, session.catalog, now_us)

    def invariants(self, schema: Schema) -> Iterator[Invariant]:
        if schema.uniques:
            yield Invariant(partial(_lacking_locks, schema), frozenset(schema.locks))

    def own_check(self, session: Session, item: Item) -> Callable[[], Steps[list[Finding]]] | None:
        return partial(_left_over, session, item) if is_lock(session, item) else None


# --- the locks of an entity ---------------------------------------------------------------------------------


def locks_of(
    catalog: Catalog, schema: Schema, entity: Entity, moving: Collection[LockForm] = ()
) -> dict[LockId, UniqueLock]:
    """Return the locks of an entity; for values that are `moving`, under both keys, the new one first.

    A value with a part that is None has no lock.
    """
    found: dict[LockId, UniqueLock] = {}
    for form in schema.locks.values():
        lock = as_far_as_readable(entity, partial(_lock, catalog, schema, form, entity), None)
        if lock is None:
            continue
        text = lock.key[catalog.table.pk]["S"]
        found[text, form.sort] = lock
        if lock.was is not None and form.was is not None and form in moving:
            found[text, form.was] = replace(lock, key=lock.was, was=None)
    return found


def _lock(catalog: Catalog, schema: Schema, form: LockForm, entity: Entity) -> UniqueLock | None:
    values = {name: getattr(entity, name) for name in form.key.reads()}
    key = form.key.from_values(values)
    if key is None:
        return None
    text = key.render()
    return UniqueLock(
        lock_key(catalog, text, form.sort),
        owner_attributes(catalog, schema.primary_key(entity)),
        _expiry(schema, entity),
        schema.entity.__name__,
        values,
        None if form.was is None else lock_key(catalog, text, form.was),
    )


def lock_item(lock: UniqueLock, catalog: Catalog, now_us: int) -> Item:
    """Return the item of a lock that is taken now."""
    item = {**lock.key, catalog.discriminator: {"S": LOCK_NAME}, **lock.owner, TAKEN_AT: {"S": _time(now_us)}}
    expiry = ttl_attribute(catalog)
    if lock.expiry is not None and expiry is not None:
        item[expiry] = lock.expiry
    return item


def lock_key(catalog: Catalog, text: str, sort: str) -> Item:
    """Return the table key of a lock, from the text of its value and the declared sort key."""
    table = catalog.table
    pk = {table.pk: {"S": text}}
    return pk if table.sk is None else {**pk, table.sk: {"S": lock_sort(sort, text)}}


def owner_attributes(catalog: Catalog, key: Item) -> Item:
    """Return the key of an owner, under the attribute names that a lock uses."""
    names = (OWNER, OWNER_SORT)
    return {name: key[attribute] for name, attribute in zip(names, catalog.key_names, strict=False)}


def owner_key(catalog: Catalog, lock: Item) -> Item | None:
    """Return the key of a stored lock's owner; None for an item that is no lock."""
    names = dict(zip(catalog.key_names, (OWNER, OWNER_SORT), strict=False))
    if any(name not in lock for name in names.values()):
        return None
    return {attribute: lock[name] for attribute, name in names.items()}


def ttl_attribute(catalog: Catalog) -> str | None:
    """Name the time-to-live attribute of the table."""
    return next((schema.ttl.stored for schema in catalog.schemas.values() if schema.ttl), None)


def _expiry(schema: Schema, entity: Entity) -> AttributeValue | None:
    value = None if schema.ttl is None else entity.__dict__.get(schema.ttl.name)
    return None if schema.ttl is None or value is None else schema.ttl.encode(value)


def _outlives(lock: UniqueLock, had: UniqueLock) -> bool:
    """Tell whether a write extends the expiry of a lock. No lock may expire before its owner does."""
    if lock.expiry is None or had.expiry is None:
        return lock.expiry is None
    return float(lock.expiry["N"]) > float(had.expiry["N"])


def _time(now_us: int) -> str:
    return time_text(datetime.fromtimestamp(0, UTC) + timedelta(microseconds=now_us))


# --- as actions --------------------------------------------------------------------------------------------


def _action(change: LockChange) -> Action:
    into = Placeholders()
    terms = [f"attribute_not_exists({into.name(change.catalog.table.pk)})"]
    terms += [f"({_equal(owner, into)})" for owner in change.owners]
    if change.takes is None:
        params = into.add_to({"ConditionExpression": " OR ".join(terms)})
        return Action(
            "Delete", change.key, params, _taken(change), "after", merged_locks, made_from=change, lapses=True
        )
    expiry = ttl_attribute(change.catalog)
    if expiry is not None:
        terms.append(f"{into.name(expiry)} <= {into.value({'N': str(change.now_us // 1_000_000)})}")
    return _put(change, change.takes, " OR ".join(terms), into)


def _put(change: LockChange, lock: UniqueLock, condition: str, into: Placeholders) -> Action:
    item = lock_item(lock, change.catalog, change.now_us)
    params = into.add_to({"Item": item, "ConditionExpression": condition})
    return Action("Put", change.key, params, _taken(change), "claim", merged_locks, made_from=change)


def _equal(attributes: Item, into: Placeholders) -> str:
    return " AND ".join(f"{into.name(name)} = {into.value(value)}" for name, value in attributes.items())


def as_seen(lock: Item, into: Placeholders) -> str:
    """Write the condition that a lock is unchanged since it was read: nobody has taken it, nor its owner again."""
    known: Item = {name: lock[name] for name in (OWNER, OWNER_SORT, TAKEN_AT, CLAIM) if name in lock}
    terms = _equal(known, into)
    return terms if CLAIM in lock else f"{terms} AND attribute_not_exists({into.name(CLAIM)})"


def if_as_seen(action: Action, lock: Item) -> Action:
    """Return an action on a lock, on condition that the lock is unchanged since it was read."""
    change: LockChange = action.made_from
    into = Placeholders()
    condition = as_seen(lock, into)
    if change.takes is not None:
        return replace(_put(change, change.takes, condition, into), order=action.order)
    return replace(action, params=into.add_to({"ConditionExpression": condition}))


def _taken(change: LockChange) -> Refused:
    def refused(stored: Item | None) -> DesignError:
        owner = owner_key(change.catalog, stored) if stored is not None else None
        return duplicate(change.takes, change.key, owner)

    return refused


def duplicate(lock: UniqueLock | None, key: Item, owner: Item | None) -> DuplicateError:
    """Return the error that a value is taken, and by which item."""
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
    """Merge the actions of two writes on one lock, such as a give-back and a take; None for other actions."""
    one, other = first.made_from, second.made_from
    if not isinstance(one, LockChange) or not isinstance(other, LockChange):
        return None
    if one.takes is not None and other.takes is not None and one.takes.owner != other.takes.owner:
        raise duplicate(other.takes, other.key, owner_key(one.catalog, one.takes.owner))
    owners = (*one.owners, *(owner for owner in other.owners if owner not in one.owners))
    return _action(replace(one, takes=one.takes or other.takes, owners=owners))


# --- locks that nobody needs -------------------------------------------------------------------------------


def reclaimed(session: Session, action: Action, stored: Item | None) -> Steps[Action | None]:
    """Return the action that takes over a stale lock; None if the owner has the value, or may have it soon."""
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
    """Tell whether an owner is stored with the value of a lock, which may be under its new key or its old one.

    An owner that cannot be read counts as having the value.
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
    """Return the unique values that may have locks under old keys. The answer "none" is checked a few times."""
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
    """Return the unique values whose old locks would be in an index, where the index shows none."""
    old = session.catalog.old_locks
    seen = old
    for sort in sorted({form.was or "" for form in old}):
        if (yield from _is_gone(session, sort)):
            seen = frozenset(form for form in seen if form.was != sort)
    return old - seen


def _not_moved(session: Session, old: frozenset[LockForm]) -> Steps[frozenset[LockForm]]:
    """Leave out the unique values whose locks have all moved, as the table says (`mark_moved`)."""
    if not old:
        return old
    said = (yield from read_item(session, _moved_key(session.catalog))) or {}
    return frozenset(form for form in old if said.get(_moved_name(form)) != {"S": form.sort})


def _is_gone(session: Session, sort: str) -> Steps[bool]:
    """Tell whether the index with the locks of one sort key in one partition shows none; False if unknown."""
    catalog = session.catalog
    index = lock_index(catalog.table, catalog.discriminator, None)
    if index is None or HASH in sort:
        return False
    into = Placeholders()
    wanted = {catalog.table.sk: {"S": sort}, catalog.discriminator: {"S": LOCK_NAME}}
    condition = _equal({name: wanted[name] for name in index.pk}, into)
    params = {"TableName": session.table, "IndexName": index.name, "Limit": 1}
    try:
        # DynamoDB refuses reads of an index during its backfill. Other targets may show a part of it, so the
        # backfill must be over before the index is read.
        if not session.client.is_trusted and not (yield from _is_filled(session, index.name)):
            return False
        answer = yield Call("Query", into.add_to({**params, "KeyConditionExpression": condition}))
        return not answer["Items"]
    except ApiError:
        return False  # the index does not exist yet, or this program may not read it


def _is_filled(session: Session, name: str) -> Steps[bool]:
    answer = yield Call("DescribeTable", {"TableName": session.table})
    indexes = answer["Table"].get("GlobalSecondaryIndexes", ())
    return any(each["IndexName"] == name and each.get("IndexStatus") == "ACTIVE" for each in indexes)


def mark_moved(session: Session, forms: Iterable[LockForm]) -> Steps[None]:
    """Record in the table that all locks of these unique values have moved, so old locks no longer count."""
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
    return {name: {"S": MOVED_NAME} for name in catalog.key_names}


def _moved_name(form: LockForm) -> str:
    return f"{form.entity}.{form.name}"


# --- what must hold -----------------------------------------------------------------------------------------


def is_lock(session: Session, item: Item) -> bool:
    """Tell whether a stored item is a lock."""
    return item.get(session.catalog.discriminator) == {"S": LOCK_NAME}


def _lacking_locks(schema: Schema, session: Session, entity: Entity) -> Steps[list[Finding]]:
    """Find unique values of an item that have no lock, or whose lock belongs to another item.

    An expired item has no claim to its values: another item may have taken them.
    """
    if schema.is_expired(entity.__dict__[STORED], session.now_us() / 1_000_000):
        return []
    findings = []
    # The key under which the item is stored, which may be an old one.
    expected = session.catalog.key_in(entity.__dict__[STORED])
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
    """Tell whether the owner of a lock exists, and has the value."""
    if owner is None or _is_over(session, lock):
        return False
    return (yield from has_lock(session, owner, key))


def _taking(
    session: Session, lock: UniqueLock, found: Item | None, owner: Item | None
) -> Steps[tuple[Action, ...]]:
    """Return the action that gives an item its lock; none if another item has the value: a person must decide."""
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
    """Tell whether a lock has expired. It expires when its owner does."""
    expiry = ttl_attribute(session.catalog)
    value = (lock or {}).get(expiry, {}) if expiry is not None else {}
    return "N" in value and float(value["N"]) <= session.now_us() / 1_000_000


def check_owner(session: Session, lock: Item) -> Steps[list[Finding]]:
    """Find a stale lock. A lock that was taken just now is not stale: the write of its owner may still come."""
    key = session.catalog.key_in(lock)
    owner = owner_key(session.catalog, lock)
    if _is_new(session, lock) or owner is None or (yield from has_lock(session, owner, key)):
        return []
    return [Finding(LOCK_NAME, key, "", None, owner, (_removal(key, lock),))]


def _left_over(session: Session, seen: Item) -> Steps[list[Finding]]:
    """Find a lock that nobody needs. It is read once more: an item that has moved took its lock along."""
    if not (yield from check_owner(session, seen)):
        return []
    lock = yield from read_item(session, session.catalog.key_in(seen))
    return [] if lock is None else (yield from check_owner(session, lock))


def _is_new(session: Session, lock: Item) -> bool:
    return bool(lock.get(TAKEN_AT, {}).get("S", "") > _time(session.now_us() - GRACE_S * 1_000_000))


def _removal(key: Item, lock: Item) -> Action:
    into = Placeholders()
    params = into.add_to({"ConditionExpression": as_seen(lock, into)})
    return Action("Delete", key, params, changed_meanwhile(key), "after")


# --- moving locks from old keys -----------------------------------------------------------------------------


def old_forms(session: Session, lock: Item) -> list[LockForm]:
    """Return the unique values that this may be an old lock of; none for a lock under a new key."""
    catalog = session.catalog
    if not catalog.old_locks:
        return []
    text, sort = (str(lock[name].get("S")) for name in catalog.key_names)
    forms = [form for schema in catalog.schemas.values() for form in schema.locks.values()]
    fitting = [form for form in forms if form.key.compiled is None or form.key.compiled.matches(text)]
    if any(lock_sort(form.sort, text) == sort for form in fitting):
        return []
    return [form for form in fitting if form.was is not None and lock_sort(form.was, text) == sort]


def is_under_old_key(session: Session, item: Item) -> Steps[bool]:
    """Tell whether an item is a lock under an old key, and its owner has the value."""
    if not is_lock(session, item) or not old_forms(session, item):
        return False
    owner = owner_key(session.catalog, item)
    return owner is not None and (yield from has_lock(session, owner, session.catalog.key_in(item)))


def lock_move(session: Session, key: Item) -> Steps[list[Action]]:
    """Return the actions that move a lock from its old key, or delete it; none if it stays there."""
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
        # A new lock may belong to a write that is still to come.
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
    """Return the new key of a lock. If several unique values fit, the entity of the owner decides."""
    form = forms[0]
    if len({each.sort for each in forms}) > 1:
        item = yield from read_item(session, owner)
        schema = None if item is None else session.catalog.schema_of(item)
        form = next((each for each in forms if schema is not None and each.entity == schema.name), form)
    return lock_key(session.catalog, key[session.catalog.table.pk]["S"], form.sort)


def stray_lock(session: Session, key: Item) -> Steps[list[Action]]:
    """Return the deletion of a lock that became stale while it was moved: the owner gave the value back."""
    lock = yield from read_item(session, key)
    findings = [] if lock is None else (yield from check_owner(session, lock))
    return [action for finding in findings for action in finding.actions]
