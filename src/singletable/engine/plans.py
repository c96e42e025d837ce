"""Plan the change of a write. Pure: nothing here reads or writes a store."""

from __future__ import annotations

from typing import assert_never

from singletable import limits
from singletable.capacity.consumed import Consumed
from singletable.capacity.units import index_write_units, write_units
from singletable.engine.keys import check_index_keys, check_index_types
from singletable.engine.requests import Action, ConditionCheck, DeleteItem, PutItem, UpdateItem, Write
from singletable.engine.results import StoredItem
from singletable.errors import INVALID, ConditionFailedError, ValidationError
from singletable.storage.changes import Change, EntryMove
from singletable.storage.images import Image, PrimaryKey, StoredImage
from singletable.storage.tables import Table
from singletable.values.sizes import item_bytes
from singletable.values.types import Item

_ABSENT: Item = {}
_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


def plan_put(
    request: PutItem, table: Table, key: PrimaryKey, stored: StoredImage | None, at_us: int
) -> Change:
    """Plan the change of a PutItem."""
    check_index_keys(table, request.item)
    check_condition(request, stored)
    return Change(table, key, stored, request.image, at_us)


def plan_delete(
    request: DeleteItem, table: Table, key: PrimaryKey, stored: StoredImage | None, at_us: int
) -> Change:
    """Plan the change of a DeleteItem."""
    check_condition(request, stored)
    return Change(table, key, stored, None, at_us)


def plan_update(
    request: UpdateItem, table: Table, key: PrimaryKey, stored: StoredImage | None, at_us: int
) -> Change:
    """Plan the change of an UpdateItem. An item that does not exist begins as its key alone (upsert).

    An update that only removes does not make an item, but one without an expression does (ScyllaDB's
    test_update_item_non_existent, run against the service). It does not follow its paths either: "REMOVE x.y" and
    "REMOVE x[0]" are refused where an item has no x, but not where there is no item (ScyllaDB's
    test_nested_attribute_remove_from_missing_item). We treat a nested DELETE alike; the only evidence are these
    two tests.
    """
    if request.update is not None and table.indexes:
        check_index_types(table, request.update.fixed_types)
    check_condition(request, stored)
    if stored is None and request.update is not None and request.update.only_removes:
        return Change(table, key, None, None, at_us)
    old = stored.item if stored else request.key
    new = request.update.apply(old) if request.update else old
    new_bytes = item_bytes(new)
    if new_bytes > limits.ITEM_BYTES_MAX:
        raise ValidationError(_TOO_LARGE)
    if request.update is not None:
        check_index_keys(table, new, is_update=True)
    return Change(table, key, stored, Image.of(new, new_bytes), at_us)


def plan(request: Write, table: Table, key: PrimaryKey, stored: StoredImage | None, at_us: int) -> Change:
    """Plan the change of any single write."""
    match request:
        case PutItem():
            return plan_put(request, table, key, stored, at_us)
        case DeleteItem():
            return plan_delete(request, table, key, stored, at_us)
        case UpdateItem():
            return plan_update(request, table, key, stored, at_us)
        case _:
            assert_never(request)


def check_condition(request: Action, stored: StoredImage | None) -> None:
    """Raise when the condition of a write does not hold for the item as it stands."""
    condition = request.condition
    if condition is not None and not condition.holds(stored.item if stored else _ABSENT):
        raise ConditionFailedError(stored.item if stored and request.returns_on_failure else None)


def check_update_charge(request: UpdateItem) -> None:
    """Raise when an update carries more bytes than an item may hold, whatever the size of the new item."""
    if request.update is not None and request.update.charges_more_than(limits.ITEM_BYTES_MAX):
        raise ValidationError(_TOO_LARGE)


def check_update_spares_key(request: UpdateItem, table: Table) -> None:
    """Raise when an update would write a key attribute: an item never moves."""
    if request.update is None:
        return
    for name in table.key_names:
        if name in request.update.attributes:
            raise ValidationError(
                f"{INVALID}Cannot update attribute {name}. This attribute is part of the key"
            )


def returned_attributes(request: Write, change: Change) -> StoredItem | None:
    """Return the attributes that ReturnValues asks for."""
    before, after = change.before, change.after
    match request.returns:
        case "NONE":
            return None
        case "ALL_OLD":
            return before.raw if before else None
        case "ALL_NEW":
            return after.raw if after else None
        case "UPDATED_OLD":
            return _updated(request, before)
        case "UPDATED_NEW":
            return _updated(request, after)
        case _:
            assert_never(request.returns)


def _updated(request: Write, image: Image | None) -> Item | None:
    assert isinstance(request, UpdateItem)
    if image is None or request.update is None:
        return None
    return request.update.project(image.item) or None


def consumed_by_write(change: Change) -> Consumed:
    """Return the units of a change: the table's own, and those of each index that it touches."""
    before, after = change.before, change.after
    consumed = Consumed(
        change.table.name,
        write_units(before.item_bytes if before else 0, after.item_bytes if after else 0),
    )
    for move in change.moves:
        if move.old is not None or move.new is not None:
            units = _index_units(move, before, after)
            consumed.add_index(move.in_index.name, units, is_global=move.in_index.definition.is_global)
    return consumed


def _index_units(move: EntryMove, before: Image | None, after: Image | None) -> float:
    index, old, new = move
    return index_write_units(
        index.projected_bytes(before) if before and old else None,
        index.projected_bytes(after) if after and new else None,
        key_moved=old != new,
        changed=old == new and before is not None and after is not None and index.differs(before, after),
    )


def consumed_by_check(request: ConditionCheck, stored: StoredImage | None) -> Consumed:
    """Return the units of a condition check, which counts as a write of the item it looks at."""
    size = stored.item_bytes if stored else 0
    return Consumed(request.table, write_units(size, 0))
