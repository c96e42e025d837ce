"""Copies: fields that repeat one of another entity, filled in with the item and refreshed with their source."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from singletable.client.calls import Steps
from singletable.design.batch_reading import hashable
from singletable.design.belonging import Copied
from singletable.design.counting import Touch, touch
from singletable.design.entity import STORED, Entity
from singletable.design.revising import Revision, read_stored, revision
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import AttributeValue, Item, is_empty
from singletable.errors import InvalidWriteError, KeyValueError, SeparatorError


def filled_copies(
    session: Session, schema: EntitySchema[Any], entity: Entity, *, loads: bool
) -> Steps[dict[str, Any]]:
    """Return the copies of an entity, from where they are copied; refuse one that somebody has made up.

    An entity that was read has copies as old as the reading, so they are filled in again. What is loaded is taken
    as it stands, where the stream will put it right.
    """
    filled: dict[str, Any] = {}
    sources: dict[tuple[Any, ...], Entity | None] = {}
    for copied in session.catalog.belonging.copying(schema):
        key = copied.link.parent_key(entity)
        if key is None or (loads and copied.by == "stream" and _is_given(copied, entity)):
            continue
        name = hashable(key)
        if name not in sources:
            sources[name] = yield from read_stored(session, copied.link.parent, key)
        source = sources[name]
        if source is not None and can_hold(copied, source):
            value = filled[copied.field] = getattr(source, copied.marker.field)
            if not loads and _is_made_up(copied, entity, value):
                given = getattr(entity, copied.field)
                raise InvalidWriteError(
                    f"{_shown(copied)}, which is {value!r}, and {given!r} is given for it",
                    hint=f"leave it out: it is filled in, and follows {_shown_source(copied)}",
                )
    return filled


def readable_copies(session: Session, schema: EntitySchema[Any], entity: Entity) -> Steps[dict[str, Any]]:
    """Return the copies of an entity that does not fit, from where they are copied, if that can be told."""
    try:
        return (yield from filled_copies(session, schema, entity, loads=True))
    except (KeyValueError, SeparatorError):
        return {}  # it belongs to nothing that has a key


def refuse_copies(session: Session, schema: EntitySchema[Any], names: Collection[str]) -> None:
    """Refuse to change a copy by hand, unless the item comes to belong to another one."""
    for copied in session.catalog.belonging.copying(schema):
        if copied.field in names and not any(field in names for field in copied.link.via.values()):
            raise InvalidWriteError(_shown(copied), hint=f"change {_shown_source(copied)}, and it follows")


def _is_given(copied: Copied, entity: Entity) -> bool:
    return copied.field in entity.model_fields_set and STORED not in entity.__dict__


def _is_made_up(copied: Copied, entity: Entity, value: Any) -> bool:
    """Tell whether a copy is neither what its source has, nor what was read, nor the default."""
    given, codec = entity.__dict__.get(copied.field), copied.link.child.fields[copied.field]
    field = copied.link.child.entity.model_fields[copied.field]
    if given == value or copied.field not in entity.model_fields_set:
        return False
    if not field.is_required() and given == field.get_default(call_default_factory=True):
        return False
    read: Item | None = entity.__dict__.get(STORED)
    return read is None or read.get(codec.stored) != (None if is_empty(given) else codec.encode(given))


def _shown(copied: Copied) -> str:
    return f"{copied.link.child.entity.__name__}.{copied.field} is a copy of {_shown_source(copied)}"


def _shown_source(copied: Copied) -> str:
    return f"{copied.link.parent.entity.__name__}.{copied.marker.field}"


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
