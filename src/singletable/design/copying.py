"""Copies: fields that repeat one of another entity, filled in with the item and refreshed with their source."""

from __future__ import annotations

from typing import Any

from singletable.client.calls import Steps
from singletable.design.batch_reading import hashable
from singletable.design.belonging import Copied
from singletable.design.counting import Touch, touch
from singletable.design.entity import STORED, Entity
from singletable.design.revising import Revision, read_stored, revision
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import AttributeValue, is_empty
from singletable.errors import KeyValueError, SeparatorError


def filled_copies(session: Session, schema: EntitySchema[Any], entity: Entity) -> Steps[dict[str, Any]]:
    """Return the copies that an entity was not given, from where they are copied.

    An entity that was read has copies as old as the reading, so they are filled in again.
    """
    filled: dict[str, Any] = {}
    sources: dict[tuple[Any, ...], Entity | None] = {}
    for copied in session.catalog.belonging.copying(schema):
        is_given = copied.field in entity.model_fields_set and STORED not in entity.__dict__
        key = copied.link.parent_key(entity)
        if key is None or (is_given and copied.by == "stream"):
            continue
        name = hashable(key)
        if name not in sources:
            sources[name] = yield from read_stored(session, copied.link.parent, key)
        source = sources[name]
        if source is not None and can_hold(copied, source):
            filled[copied.field] = getattr(source, copied.marker.field)
    return filled


def readable_copies(session: Session, schema: EntitySchema[Any], entity: Entity) -> Steps[dict[str, Any]]:
    """Return the copies of an entity that does not fit, from where they are copied, if that can be told."""
    try:
        return (yield from filled_copies(session, schema, entity))
    except (KeyValueError, SeparatorError):
        return {}  # it belongs to nothing that has a key


def can_hold(copied: Copied, source: Entity) -> bool:
    """Tell whether the copy can be what the source has: a field that must have a value is not emptied."""
    if getattr(source, copied.marker.field) is not None:
        return True
    field = copied.link.child.entity.model_fields[copied.field]
    return not field.is_required() and field.default is None


def copy_touches(session: Session, schema: EntitySchema[Any], after: Entity | None) -> list[Touch]:
    """Return the checks that sources still have what a transaction copies from them."""
    if after is None:
        return []
    touches = []
    for copied in session.catalog.belonging.copying(schema):
        key = copied.link.parent_key(after)
        value = getattr(after, copied.field)
        if copied.by == "transaction" and key is not None:
            codec = copied.link.parent.fields[copied.marker.field]
            expected = None if is_empty(value) else codec.encode(value)
            touches.append(
                touch(copied.link.parent, key, expects={codec.stored: expected}, needs_parent=False)
            )
    return touches


def copy_value(copied: Copied, source: Entity) -> AttributeValue | None:
    """Return a copy as it is stored; None where the source has nothing."""
    value = getattr(source, copied.marker.field)
    return None if is_empty(value) else copied.link.child.fields[copied.field].encode(value)


def is_stale(copied: Copied, child: Entity, source: Entity) -> bool:
    """Tell whether a copy is not what its source has."""
    return can_hold(copied, source) and getattr(child, copied.field) != getattr(source, copied.marker.field)


def copy_revision(
    session: Session, copied: Copied, child: Entity, source: Entity, *, reads: frozenset[str]
) -> Revision:
    """Plan the refresh of a copy. It is a version of the child: who writes that whole, writes the copy too."""
    schema = copied.link.child
    changes = {schema.fields[copied.field].stored: copy_value(copied, source)}
    return revision(session, schema, child, changes, reads=reads, bumps=True)
