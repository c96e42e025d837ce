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
from singletable.design.stored_values import Item, decode, is_empty, shown_key
from singletable.design.unfit_items import unfit_entity
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
    """Read the stored entity, consistently. One that has expired is still there.

    One that does not fit is read as far as it can be: `unfit_fields` names what is wrong.
    """
    item = yield from read_item(session, key)
    if item is None:
        return None
    refuse_stranger(session, schema, item)
    entity: Entity
    try:
        entity = schema.to_entity(item)
    except InvalidItemError:
        entity = unfit_entity(schema, item)
    return entity


# --- whose it is -------------------------------------------------------------------------------------------


def of_entity(session: Session, schema: EntitySchema[Any], key: Item | None, into: Placeholders) -> str:
    """Write that the item of a key is of an entity, or not there at all.

    Items from before the discriminator have none: they are of the entity that their key is of. Without a key they
    are anybody's.
    """
    catalog = session.catalog
    name = into.name(schema.discriminator)
    own = " OR ".join(f"{name} = {into.value({'S': each})}" for each in sorted(schema.names))
    is_others = key is not None and schema in catalog.overlapping and catalog.schema_of(key) is not schema
    absent = catalog.table.pk if is_others else schema.discriminator
    return f"(attribute_not_exists({into.name(absent)}) OR {own})"


def refuse_stranger(session: Session, schema: EntitySchema[Any], stored: Item) -> None:
    """Refuse to go on with a stored item that is not of an entity."""
    error = stranger(session, schema, stored)
    if error is not None:
        raise error


def stranger(session: Session, schema: EntitySchema[Any], stored: Item) -> InvalidItemError | None:
    """Say that a stored item is not of an entity, and what it calls itself; None if it is."""
    catalog = session.catalog
    other = catalog.schema_of(stored)
    if other is schema:
        return None
    key = {name: stored[name] for name in catalog.table.key_attributes()}
    said = stored.get(catalog.discriminator)
    if other is not None:
        what = f"a {other.name}" if said is not None else f"a {other.name} by its key"
        why, hint = "", "begin the sort keys of different entities with different words"
    else:
        what = "a stranger"
        why = f": its {catalog.discriminator} is {said and decode(said)!r}, which is no entity of {catalog.name}"
        hint = "ask who has written it: error.key is its key, and db.verify() lists all of them"
    return InvalidItemError(
        f"the item {shown_key(key)} is {what}, not a {schema.name}{why}", key=key, hint=hint
    )


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
