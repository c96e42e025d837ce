"""Re-keying (`was=`): items move from their old key to their new one, lazily before a write, or in a migration.

DynamoDB cannot change a key: it takes a put and a delete. With transactions, both happen at once. Without, the
item is copied with a mark, the old item is deleted, and the mark is removed. A process that finds a mark takes the
move over: it puts its own mark, and finishes the move. A process that finds the old item gone, while the mark is
still its own, has copied an item that somebody deleted. It deletes the copy again. Nothing is overwritten. A
concurrent change of the item is either copied too, or makes the move fail.

A move changes only the key. So a lazy migration may move an item before a write, even if the write is refused
afterwards. The dual reads of old and new keys are not here: they are in `plans` and `session`. The migration of a
whole table is in `singletable.migrate`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Final

from singletable.client.calls import Call, Params, Steps, Wait, backoff, read_units
from singletable.design.kept.kind import kept_of, unchanged_attributes, update_text
from singletable.design.kept.unique import locks_of, owner_attributes
from singletable.design.keys.key import Key
from singletable.design.keys.old_keys import old_keys
from singletable.design.keys.ranges import sort_range
from singletable.design.model.entity import STORED, Entity, key_values
from singletable.design.model.ownership import old_keys_of
from singletable.design.model.places import Binding, key_item
from singletable.design.model.schema import EntitySchema
from singletable.design.plans.get import Get, named_fields
from singletable.design.session.expressions import Placeholders, key_condition
from singletable.design.session.session import TRANSIENT, Session, throttled_transaction
from singletable.design.session.stored_items import read_charged, read_item
from singletable.design.values.items import AttributeValue, Item, shown_key
from singletable.errors import ConditionFailedError, MigrationError, ThrottledError, TransactionCanceledError

_ATTEMPTS: Final = 20
MARK: Final = "$movedFrom"  # marks a copy during a move, on targets without transactions


@dataclass(frozen=True, slots=True)
class OwnedLock:
    """The lock of a unique value: its key, and the attributes that name its owner, before and after a move."""

    key: Item
    before: Item
    after: Item


@dataclass(frozen=True, slots=True)
class Move:
    """An item as it is stored, and as it is to be stored under another key."""

    key: Item
    before: Item
    after: Item
    owned: tuple[OwnedLock, ...] = ()
    units: list[float] = field(default_factory=list)  # what it has cost so far
    mover: str = field(kw_only=True, compare=False)  # a token that tells its mark from the marks of others


def owned_locks(session: Session, schema: EntitySchema, entity: Entity, key: Item) -> tuple[OwnedLock, ...]:
    """Return the locks that name this key as their owner; under both keys for locks that may be moving."""
    if not schema.uniques:
        return ()
    before = owner_attributes(session.catalog, key)
    locks = locks_of(session.catalog, schema, entity, session.catalog.old_locks)
    return tuple(OwnedLock(lock.key, before, lock.owner) for lock in locks.values())


# --- the move ---------------------------------------------------------------------------------------------


def move_item(session: Session, move: Move) -> Steps[bool]:
    """Move an item. It returns False, or raises ConditionFailedError, if the item has changed: read it again.

    It raises MigrationError if another item has the new key, or if the item was changed under both keys. It raises
    ThrottledError if a later try may succeed.
    """
    try:
        if session.client.capabilities.transactions:
            return (yield from _at_once(session, move))
        return (yield from _in_steps(session, move))
    finally:
        session.cache.clear()


def _at_once(session: Session, move: Move) -> Steps[bool]:
    params = {
        "TransactItems": [
            {"Put": _new(session, move.after)},
            {"Delete": _old(session, move)},
            *({"Update": _lock_update(session, lock)} for lock in move.owned),
        ],
        "ReturnConsumedCapacity": "TOTAL",
    }
    try:
        answer = yield Call("TransactWriteItems", params)
    except TransactionCanceledError as error:
        codes = [reason.code for reason in error.reasons]
        if codes[0] == "ConditionalCheckFailed":
            return (yield from _occupied(session, move))
        if any(code not in ("None", "ConditionalCheckFailed", *TRANSIENT) for code in codes):
            raise MigrationError(str(error)) from error
        if "ConditionalCheckFailed" in codes[2:] and "ConditionalCheckFailed" not in codes[:2]:
            # These locks are missing, or belong to other items, and `verify` repairs that. The rest moves along.
            own = zip(move.owned, codes[2:], strict=True)
            owned = tuple(lock for lock, code in own if code != "ConditionalCheckFailed")
            return (yield from _at_once(session, replace(move, owned=owned)))
        throttled = throttled_transaction(session.table, error)
        if throttled is not None:
            raise throttled from error
        yield Wait(0.05)
        return False
    move.units.append(read_units(answer))
    return True


def _occupied(session: Session, move: Move) -> Steps[bool]:
    """Handle an item that is already at the new key: the same item, or another one."""
    there = yield from _read(session, session.catalog.key_in(move.after), move)
    if there is None:
        return False
    if fingerprint(there) != fingerprint(move.after):
        if (yield from _has_changed(session, move)):
            return False
        new = shown_key(session.catalog.key_in(move.after))
        raise MigrationError(f"its new key {new} is taken by another item")
    yield from _call(move, Call("DeleteItem", _old(session, move)))
    return True


def _has_changed(session: Session, move: Move) -> Steps[bool]:
    """Tell whether the old item has changed: others may have moved it, and then changed it."""
    return (yield from _read(session, move.key, move)) != move.before


def _in_steps(session: Session, move: Move) -> Steps[bool]:
    copy = {**move.after, MARK: _mark(move)}
    is_mine = True
    try:
        yield from _call(move, Call("PutItem", _new(session, copy)))
    except ConditionFailedError:
        there = yield from _read(session, session.catalog.key_in(move.after), move)
        if there is None:
            return False
        if there.get(MARK, {}).get("M", {}).get("key") != copy[MARK]["M"]["key"]:
            return (yield from _occupied(session, move))
        if not (yield from _taken_over(session, move, there, copy)):
            return False
        is_mine = False
    try:
        yield from _call(move, Call("DeleteItem", _old(session, move)))
    except ConditionFailedError:
        if is_mine:
            yield from _take_back(session, move, copy)
        return False
    for lock in move.owned:
        yield from _move_lock(session, move, lock)
    yield from unmark(session, session.catalog.key_in(move.after))
    return True


def _taken_over(session: Session, move: Move, there: Item, copy: Item) -> Steps[bool]:
    """Take over a copy that another process began: mark it, and update it. False if the old item has changed.

    Since the copy was made, the old item or the copy may have changed, but not both.
    """
    copied = there[MARK]["M"]["print"]
    is_current = copied == copy[MARK]["M"]["print"]
    if not is_current and copied != {"S": fingerprint(there)}:
        if (yield from _has_changed(session, move)):
            return False
        raise MigrationError("it was changed under its old key and under its new one")
    into = Placeholders()
    params = {
        "TableName": session.table,
        "Item": {**there, MARK: copy[MARK]} if is_current else copy,
        "ConditionExpression": unchanged_item(session, there, session.catalog.key_in(there), into),
    }
    yield from _call(move, Call("PutItem", into.add_to(params)))
    return True


def _take_back(session: Session, move: Move, copy: Item) -> Steps[None]:
    """Delete a copy whose original is gone, unless somebody has taken the copy over, or changed it."""
    if (yield from _read(session, move.key, move)) is not None:
        return
    key = session.catalog.key_in(copy)
    into = Placeholders()
    params = {
        "TableName": session.table,
        "Key": key,
        "ConditionExpression": unchanged_item(session, copy, key, into),
    }
    try:
        yield from _call(move, Call("DeleteItem", into.add_to(params)))
    except ConditionFailedError:
        return


def unmark(session: Session, key: Item) -> Steps[None]:
    """Remove the mark of a move from an item."""
    into = Placeholders()
    name = into.name(MARK)
    params = {
        "TableName": session.table,
        "Key": key,
        "UpdateExpression": f"REMOVE {name}",
        "ConditionExpression": f"attribute_exists({name})",
    }
    try:
        yield Call("UpdateItem", into.add_to(params))
    except ConditionFailedError:
        return  # somebody has replaced the whole item, without the mark


def _move_lock(session: Session, move: Move, lock: OwnedLock) -> Steps[None]:
    try:
        yield from _call(move, Call("UpdateItem", _lock_update(session, lock)))
    except ConditionFailedError:
        return  # it was moved before, or belongs to another item


def _call(move: Move, call: Call) -> Steps[None]:
    answer = yield call
    move.units.append(read_units(answer))


def _read(session: Session, key: Item, move: Move) -> Steps[Item | None]:
    item, units = yield from read_charged(session, key)
    move.units.append(units)
    return item


# --- requests ---------------------------------------------------------------------------------------------


def _new(session: Session, item: Item) -> Params:
    into = Placeholders()
    condition = f"attribute_not_exists({into.name(session.catalog.table.pk)})"
    return into.add_to({"TableName": session.table, "Item": item, "ConditionExpression": condition})


def _old(session: Session, move: Move) -> Params:
    into = Placeholders()
    condition = unchanged_item(session, move.before, move.key, into)
    return into.add_to({"TableName": session.table, "Key": move.key, "ConditionExpression": condition})


def _lock_update(session: Session, lock: OwnedLock) -> Params:
    into = Placeholders()
    sets = [f"{into.name(name)} = {into.value(value)}" for name, value in lock.after.items()]
    was = [f"{into.name(name)} = {into.value(value)}" for name, value in lock.before.items()]
    params = {
        "TableName": session.table,
        "Key": lock.key,
        "UpdateExpression": f"SET {', '.join(sets)}",
        "ConditionExpression": " AND ".join(was),
    }
    return into.add_to(params)


def unchanged_item(
    session: Session, attributes: Mapping[str, AttributeValue | None], key: Item, into: Placeholders
) -> str:
    """Write the condition that an item exists with these attributes; None for one that must not exist."""
    terms = [f"attribute_exists({into.name(session.catalog.table.pk)})"]
    others = {name: value for name, value in attributes.items() if name not in key}
    return " AND ".join([*terms, *unchanged_attributes(others, into)])


# --- what was copied --------------------------------------------------------------------------------------


def _mark(move: Move) -> AttributeValue:
    """Return the mark of a copy: the old key, the fingerprint of the copied item, and the mover's token."""
    content: Item = {"key": {"M": move.key}, "print": {"S": fingerprint(move.after)}, "by": {"S": move.mover}}
    return {"M": content}


def fingerprint(item: Item) -> str:
    """Return a text that is equal for equal items, even if their numbers and sets are written differently."""
    content = {name: _canonical(value) for name, value in item.items() if name != MARK}
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def _canonical(value: AttributeValue) -> Any:
    for tag, content in value.items():
        match tag:
            case "N":
                return [tag, _number_text(content)]
            case "NS":
                return [tag, sorted(map(_number_text, content))]
            case "B":
                return [tag, bytes(content).hex()]
            case "BS":
                return [tag, sorted(bytes(member).hex() for member in content)]
            case "SS":
                return [tag, sorted(content)]
            case "L":
                return [tag, [_canonical(member) for member in content]]
            case "M":
                return [tag, {name: _canonical(member) for name, member in content.items()}]
    return value


def _number_text(text: str) -> str:
    return str(Decimal(text).normalize())


# --- lazy migration: moves that a write needs -----------------------------------------------------------


def move_to_new_key(session: Session, schema: EntitySchema, target: Entity | Get[Entity]) -> Steps[None]:
    """Move an item that is still under an old key, so that a write finds it under its new key."""
    if schema.key.keys.was is None:
        return
    new = _new_keys(schema, target)
    home = schema.primary_key_of(*new)
    stored = target.__dict__.get(STORED) if isinstance(target, Entity) else None
    if stored is not None and session.catalog.key_in(stored) == home:
        return
    for old in schema.old_primary_keys(*new):
        yield from _move_from(session, schema, old, home)


def move_to_key(session: Session, schema: EntitySchema, key: Item) -> Steps[None]:
    """Move an item to this key, if it is still under an old one."""
    for old in old_keys_of(schema, key):
        yield from _move_from(session, schema, old, key)


def move_partition(session: Session, schema: EntitySchema, binding: Binding, pk: Key) -> Steps[None]:
    """Move all items that belong to a partition of a place, and are still under old keys."""
    for item in (yield from _under_old_keys(session, schema, binding, pk)):
        yield from move_found_item(session, schema, binding, item)


def keys_under_old(
    session: Session, schema: EntitySchema, binding: Binding, pk: Key
) -> Steps[list[tuple[Item, Item]]]:
    """Find the items that belong to a partition of a place, and are still under old keys; with their new keys."""
    found = []
    for item in (yield from _under_old_keys(session, schema, binding, pk)):
        stored = (
            item if binding.index is None else (yield from read_item(session, session.catalog.key_in(item)))
        )
        if stored is None or session.catalog.schema_of(stored) is not schema:
            continue
        entity = schema.to_entity(stored)
        values = key_values(entity)
        rendered = binding.render(values)
        belongs = all(rendered.get(name) == value for name, value in key_item(pk, binding.pk).items())
        if belongs and binding.is_old(stored, values):
            found.append((schema.primary_key(entity), stored))
    return found


def _under_old_keys(session: Session, schema: EntitySchema, binding: Binding, pk: Key) -> Steps[list[Item]]:
    was = binding.keys.was
    if was is None:
        return []
    bounds = sort_range(was[1], None, gt=None, ge=None, lt=None, le=None)
    found: list[Item] = []
    for old in old_keys(was[0], (pk,)):
        into = Placeholders()
        params: Params = {
            "TableName": session.table,
            "KeyConditionExpression": key_condition(binding, old, bounds, into),
            **({"IndexName": binding.index.name} if binding.index is not None else {"ConsistentRead": True}),
        }
        into.add_to(params)
        while True:
            answer = yield Call("Query", params)
            found += [item for item in answer["Items"] if session.catalog.schema_of(item) is schema]
            if "LastEvaluatedKey" not in answer:
                break
            params["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    return found


def move_found_item(session: Session, schema: EntitySchema, binding: Binding, item: Item) -> Steps[None]:
    """Move an item, which was found under the old keys of a place, to its new keys there."""
    key = session.catalog.key_in(item)
    if binding.index is None:
        home = schema.primary_key(schema.to_entity(item))
        if home != key:
            yield from _move_from(session, schema, key, home)
        return
    stored = yield from read_item(session, session.catalog.key_in(item))
    if stored is None or session.catalog.schema_of(stored) is not schema:
        return
    rendered = binding.render(key_values(schema.to_entity(stored)))
    sets = {name: value for name, value in rendered.items() if stored.get(name) != value and name not in key}
    if not sets:
        return
    into = Placeholders()
    update = {
        "TableName": session.table,
        "Key": key,
        "UpdateExpression": update_text(sets, into),
        "ConditionExpression": unchanged_item(session, stored, key, into),
    }
    try:
        yield Call("UpdateItem", into.add_to(update))
    except ConditionFailedError:
        return  # somebody has changed the item, and wrote its new keys with it


def move_parents(session: Session, schema: EntitySchema, target: Entity | Get[Entity]) -> Steps[None]:
    """Move the parents that count a child to their new keys, before the child is written."""
    for link in kept_of(session.catalog).parents(schema):
        parent = link.parent
        if parent.key.keys.was is None:
            continue
        known = key_values(target) if isinstance(target, Entity) else named_fields(target)
        values = {name: known.get(field) for name, field in link.via.items()}
        if all(value is not None for value in values.values()):
            yield from move_to_new_key(session, parent, Get(parent.entity, *parent.key.keys.of(values)))


def _new_keys(schema: EntitySchema, target: Entity | Get[Entity]) -> tuple[Any, Any]:
    if isinstance(target, Get):
        return target.pk, target.sk
    return schema.key.keys.of(key_values(target))


def _move_from(session: Session, schema: EntitySchema, old: Item, home: Item) -> Steps[None]:
    pauses = backoff()
    throttled: ThrottledError | None = None
    for _ in range(_ATTEMPTS):
        item = yield from read_item(session, old)
        if item is None or session.catalog.schema_of(item) is not schema:
            return
        entity = schema.to_entity(item)
        if schema.primary_key(entity) != home:
            return
        after = {**item, **schema.key_attributes(entity), schema.discriminator: {"S": schema.name}}
        owned = owned_locks(session, schema, entity, old)
        try:
            if (yield from move_item(session, Move(old, item, after, owned, mover=session.new_token()))):
                return
        except ConditionFailedError:
            throttled = None
        except ThrottledError as error:
            throttled = error
            yield next(pauses)
    if throttled is not None:
        raise throttled
    raise MigrationError(f"{shown_key(old)} cannot be moved: others keep changing it", hint="try again later")
