"""Items that move to another key of the table, which DynamoDB knows only as a new item and the end of the old one.

With transactions both happen at once. Without, the item is copied with a mark, the old one is deleted, and the
mark is taken off: whoever finds a mark knows what was going on, makes it his own, and ends the move. Who finds the
old item gone while the mark is still his has copied what somebody deleted, and takes the copy back. Nothing is
overwritten, and a change that somebody makes meanwhile is either taken along or in the way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import blake2b
from typing import Any, Final
from uuid import uuid4

from singletable.client.calls import Call, Steps, Wait
from singletable.design.answers import read_units
from singletable.design.entity import Entity
from singletable.design.expressions import Placeholders
from singletable.design.schema import EntitySchema
from singletable.design.session import TRANSIENT, Session, throttled_transaction
from singletable.design.stored_items import read_charged
from singletable.design.stored_values import AttributeValue, Item, shown_key
from singletable.design.uniqueness import locks_of, owner_attributes
from singletable.errors import ConditionFailedError, MigrationError, TransactionCanceledError

MARK: Final = "$movedFrom"  # of an item that is being moved, where there are no transactions


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
    mover: str = field(
        default_factory=lambda: uuid4().hex, compare=False
    )  # tells its mark from those of others


def owned_locks(
    session: Session, schema: EntitySchema[Any], entity: Entity, key: Item
) -> tuple[OwnedLock, ...]:
    """Return the locks of an entity that is stored under this key: they name it. Of two keys, one has a lock."""
    if not schema.uniques:
        return ()
    before = owner_attributes(session.catalog, key)
    locks = locks_of(session.catalog, schema, entity, session.catalog.old_locks)
    return tuple(OwnedLock(lock.key, before, lock.owner) for lock in locks.values())


# --- the move ---------------------------------------------------------------------------------------------


def move_item(session: Session, move: Move) -> Steps[bool]:
    """Move an item. False, or a refused condition: it has changed, so look again.

    It raises MigrationError when another item has the new key, or both have been changed; ThrottledError when it
    is worth another try, later.
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
            # A lock that is not the item's, or not there, is none of its own: `verify` repairs that. Others are.
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
    """Deal with an item that is at the new key already: the same one, or another."""
    there = yield from _read(session, key_attributes(session, move.after), move)
    if there is None:
        return False
    if fingerprint(there) != fingerprint(move.after):
        if (yield from _has_changed(session, move)):
            return False
        new = shown_key(key_attributes(session, move.after))
        raise MigrationError(f"its new key {new} is taken by another item")
    yield from _call(move, Call("DeleteItem", _old(session, move)))
    return True


def _has_changed(session: Session, move: Move) -> Steps[bool]:
    """Tell whether the old item is not what it was: others may have moved it, and changed it since."""
    return (yield from _read(session, move.key, move)) != move.before


def _in_steps(session: Session, move: Move) -> Steps[bool]:
    copy = {**move.after, MARK: _mark(move)}
    is_mine = True
    try:
        yield from _call(move, Call("PutItem", _new(session, copy)))
    except ConditionFailedError:
        there = yield from _read(session, key_attributes(session, move.after), move)
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
    yield from unmark(session, key_attributes(session, move.after))
    return True


def _taken_over(session: Session, move: Move, there: Item, copy: Item) -> Steps[bool]:
    """Make a copy that another has begun with one's own, up to date; False if the old item has changed.

    The old item may have changed since it was copied, or the copy, but not both.
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
        "ConditionExpression": unchanged_item(session, there, key_attributes(session, there), into),
    }
    yield from _call(move, Call("PutItem", into.add_to(params)))
    return True


def _take_back(session: Session, move: Move, copy: Item) -> Steps[None]:
    """Delete a copy of an item that is gone, unless somebody has taken it over or changed it."""
    if (yield from _read(session, move.key, move)) is not None:
        return
    key = key_attributes(session, copy)
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
    """Take the mark of a move off an item."""
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
        return  # replaced as a whole by somebody who knows no mark


def _move_lock(session: Session, move: Move, lock: OwnedLock) -> Steps[None]:
    try:
        yield from _call(move, Call("UpdateItem", _lock_update(session, lock)))
    except ConditionFailedError:
        return  # moved before, or not the item's


def _call(move: Move, call: Call) -> Steps[None]:
    answer = yield call
    move.units.append(read_units(answer))


def _read(session: Session, key: Item, move: Move) -> Steps[Item | None]:
    item, units = yield from read_charged(session, key)
    move.units.append(units)
    return item


# --- requests ---------------------------------------------------------------------------------------------


def _new(session: Session, item: Item) -> dict[str, Any]:
    into = Placeholders()
    condition = f"attribute_not_exists({into.name(session.catalog.table.pk)})"
    return into.add_to({"TableName": session.table, "Item": item, "ConditionExpression": condition})


def _old(session: Session, move: Move) -> dict[str, Any]:
    into = Placeholders()
    condition = unchanged_item(session, move.before, move.key, into)
    return into.add_to({"TableName": session.table, "Key": move.key, "ConditionExpression": condition})


def _lock_update(session: Session, lock: OwnedLock) -> dict[str, Any]:
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
    """Write that an item is there, and that these attributes of it are as they were read; None: not there."""
    terms = [f"attribute_exists({into.name(session.catalog.table.pk)})"]
    for name, value in sorted(attributes.items()):
        if name in key:
            continue
        if value is None:
            terms.append(f"attribute_not_exists({into.name(name)})")
        else:
            terms.append(f"{into.name(name)} = {into.value(value)}")
    return " AND ".join(terms)


def key_attributes(session: Session, item: Item) -> Item:
    """Return the key of an item in the table."""
    return {name: item[name] for name in session.catalog.table.key_attributes()}


# --- what was copied --------------------------------------------------------------------------------------


def _mark(move: Move) -> AttributeValue:
    """Return what is written beside a copy: where it comes from, what was copied, and by whom."""
    content: Item = {"key": {"M": move.key}, "print": {"S": fingerprint(move.after)}, "by": {"S": move.mover}}
    return {"M": content}


def fingerprint(item: Item) -> str:
    """Return a text that is equal for equal items, however their numbers and sets are written."""
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
