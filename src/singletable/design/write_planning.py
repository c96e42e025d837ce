"""What the plans of writes share: whom they are about, what is stored, and what must not have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from singletable.client.calls import Steps
from singletable.design.conditions import Condition, describe
from singletable.design.entity import STORED, Entity
from singletable.design.expressions import Placeholders
from singletable.design.plans import Get
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item, is_empty, shown_key
from singletable.errors import (
    ConditionNotMetError,
    DesignError,
    InvalidItemError,
    InvalidWriteError,
    NotFoundError,
    VersionConflictError,
)


def schema_for(session: Session, target: Entity | Get[Any]) -> EntitySchema[Any]:
    """Return the compiled entity of what a write is about."""
    entity = target.entity if isinstance(target, Get) else type(target)
    return session.catalog.schema_for(entity)


def key_of(schema: EntitySchema[Any], target: Entity | Get[Any]) -> Item:
    """Return the key in the table of what a write is about."""
    if isinstance(target, Get):
        return schema.primary_key_of(target.pk, target.sk)
    return schema.primary_key(target)


def shown(schema: EntitySchema[Any], target: Entity | Get[Any]) -> str:
    """Return what a write is about as people call it."""
    return f"{schema.entity.__name__} {shown_key(key_of(schema, target))}"


def refuse_owner(schema: EntitySchema[Any], means: str) -> None:
    """Refuse to delete an item by means that leave behind what it owns."""
    if schema.entity.entity_options.owns:
        raise InvalidWriteError(
            f"{schema.entity.__name__} owns other items, which {means} would leave behind",
            hint="db.delete(...) deletes them too",
        )


def clock_time(session: Session) -> datetime:
    """Return the time by the target's clock, to the millisecond."""
    now_us = session.now_us()
    return datetime.fromtimestamp(now_us // 1_000_000, UTC) + timedelta(milliseconds=now_us // 1000 % 1000)


def assign(entity: Entity, values: Mapping[str, Any], stored: Item) -> None:
    """Give an entity the values that were stored, without validating them again."""
    entity.__dict__.update(values)
    entity.__pydantic_fields_set__.update(values)
    entity.__dict__[STORED] = stored


# --- what is stored ----------------------------------------------------------------------------------------


def as_stored(schema: EntitySchema[Any], entity: Entity) -> Entity:
    """Return an entity as it was read or written last, without what was changed in it since."""
    stored: Item | None = entity.__dict__.get(STORED)
    if stored is None:
        return entity
    read: Entity = schema.to_entity(stored)
    return read


def read_stored(session: Session, schema: EntitySchema[Any], key: Item) -> Steps[Entity | None]:
    """Read the stored entity, consistently. One that has expired is still there."""
    item = yield from read_item(session, key)
    if item is None:
        return None
    stored = session.catalog.schema_of(item)
    if stored is not schema:
        raise InvalidItemError(
            f"the item {shown_key(key)} is a {stored.name if stored else 'stranger'}, not a {schema.name}",
            key=key,
        )
    entity: Entity = schema.to_entity(item)
    return entity


# --- what must hold of it ----------------------------------------------------------------------------------


def unchanged(
    schema: EntitySchema[Any], fields: Iterable[str], before: Entity, into: Placeholders
) -> list[str]:
    """Write that stored fields are as they were read, to the letter: older items may be written in other ways."""
    stored: Item | None = before.__dict__.get(STORED)
    terms = []
    for name in sorted(set(fields) & schema.fields.keys()):
        codec, value = schema.fields[name], before.__dict__.get(name)
        if stored is not None:
            known = stored.get(codec.stored)
        else:
            known = None if is_empty(value) else codec.encode(value)
        attribute = into.name(codec.stored)
        terms.append(
            f"attribute_not_exists({attribute})" if known is None else f"{attribute} = {into.value(known)}"
        )
    return terms


def version_term(schema: EntitySchema[Any], entity: Entity, into: Placeholders) -> str:
    """Write that the stored item is of the version that was read. Items from before versions have none."""
    assert schema.version is not None
    name = into.name(schema.version.stored)
    read = into.value({"N": str(version_of(schema, entity))})
    if version_of(schema, entity) == 0:
        return f"(attribute_not_exists({name}) OR {name} = {read})"
    return f"{name} = {read}"


def version_of(schema: EntitySchema[Any], entity: Entity) -> int:
    """Return the version at which an entity was read; 0 if it was not."""
    assert schema.version is not None
    return int(getattr(entity, schema.version.name) or 0)


def refusal(
    schema: EntitySchema[Any], target: Entity | Get[Any], when: Condition | None, stored: Item | None
) -> DesignError:
    """Say why a write was refused, by the item that is stored."""
    name = shown(schema, target)
    if stored is None:
        return NotFoundError(f"{name} is not there", hint="create() makes it")
    if schema.version is not None and isinstance(target, Entity):
        there = stored.get(schema.version.stored, {}).get("N", "0")
        if int(there) != version_of(schema, target):
            return VersionConflictError(
                f"{name} was read at version {version_of(schema, target)} and is at version {there} now",
                hint="read it again, and make the change once more",
            )
    what = (
        "has changed meanwhile"
        if when is None
        else f"does not meet {describe(when)}, or has changed meanwhile"
    )
    return ConditionNotMetError(f"{name} {what}", stored=_readable(schema, stored))


def _readable(schema: EntitySchema[Any], stored: Item) -> Entity | None:
    """Return the entity of an item that stands in the way; None if it is another's, or cannot be read."""
    if stored.get(schema.discriminator, {}).get("S", schema.name) not in schema.names:
        return None
    try:
        entity: Entity = schema.to_entity(stored)
    except InvalidItemError:
        return None
    return entity
