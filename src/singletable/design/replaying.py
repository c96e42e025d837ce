"""Writes that a handler asks for, so that they bear to be asked for again: a stream delivers at least once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from singletable.client.calls import Steps
from singletable.design.cascading import delete_steps
from singletable.design.committing import write
from singletable.design.entity import Entity
from singletable.design.preparing import key_of, schema_for
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import AttributeValue, Item, is_empty
from singletable.design.streams import SingleWrite
from singletable.design.writes import Add, Append, Create, Delete, Put, Update
from singletable.errors import (
    AlreadyExistsError,
    DesignError,
    NotFoundError,
    VersionConflictError,
)


def carry_out(session: Session, wanted: SingleWrite, changed: Item) -> Steps[None]:
    """Carry out a write that the change of an item has led to; `changed` is the key of that item.

    A write that was carried out before counts as done: the item is as it is wanted, or gone. So does an update of
    the changed item itself, when it was deleted since: a stream tells of the past.
    """
    try:
        if isinstance(wanted, Delete):
            yield from delete_steps(session, wanted)
        else:
            yield from write(session, wanted)
    except NotFoundError:
        if not _is_moot(session, wanted, changed):
            raise
    except (AlreadyExistsError, VersionConflictError) as error:
        if not (yield from _is_done(session, wanted, error)):
            raise


def _is_moot(session: Session, wanted: SingleWrite, changed: Item) -> bool:
    """Tell whether it is right that a write finds nothing."""
    if isinstance(wanted, Update):
        return key_of(schema_for(session, wanted.target), wanted.target) == changed
    return isinstance(wanted, Delete)


def _is_done(session: Session, wanted: SingleWrite, error: DesignError) -> Steps[bool]:
    match wanted:
        case Create(entity) | Put(entity):
            schema = schema_for(session, entity)
            values = {name: entity.__dict__.get(name) for name in _given(schema, entity)}
            return (yield from _holds(session, schema, key_of(schema, entity), values))
        case Update(target=target, changes=changes):
            if any(isinstance(value, Add | Append) for value in changes.values()):
                return False
            schema = schema_for(session, target)
            return (yield from _holds(session, schema, key_of(schema, target), changes))
        case Delete():
            return False


def _given(schema: EntitySchema[Any], entity: Entity) -> set[str]:
    """Name the fields that the handler has set: not the times and versions that are filled in with every write."""
    filled = {*schema.created, *schema.updated}
    if schema.version is not None:
        filled.add(schema.version.name)
    return (entity.model_fields_set & schema.fields.keys()) - filled


def _holds(session: Session, schema: EntitySchema[Any], key: Item, values: Mapping[str, Any]) -> Steps[bool]:
    """Tell whether the stored item has these values."""
    item = yield from read_item(session, key)
    if item is None or session.catalog.schema_of(item) is not schema:
        return False
    stored = schema.to_entity(item)
    return all(
        getattr(stored, name) == value
        or _encoded(schema, name, value) == item.get(schema.fields[name].stored)
        for name, value in values.items()
    )


def _encoded(schema: EntitySchema[Any], name: str, value: Any) -> AttributeValue | None:
    return None if is_empty(value) else schema.fields[name].encode(value)
