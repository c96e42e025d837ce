"""Stored items of an open design, as entities: those that plans read, and consistent reads of one item.

The consistent reads are for writes, locks and checks. Unlike reads of plans, they see expired items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from singletable.client.calls import Call, Steps, Together, read_units
from singletable.design.model.entity import Entity
from singletable.design.model.ownership import old_keys_of
from singletable.design.model.places import EntityView
from singletable.design.model.schema import EntitySchema
from singletable.design.model.unfit_items import unfit_entity
from singletable.design.session.expressions import get_params
from singletable.design.session.session import Session
from singletable.design.values.items import Item, decode, shown_key
from singletable.errors import InvalidItemError


def read_item(session: Session, key: Item) -> Steps[Item | None]:
    """Read an item by its table key, strongly consistent."""
    item, _ = yield from read_charged(session, key)
    return item


def read_charged(session: Session, key: Item) -> Steps[tuple[Item | None, float]]:
    """Read an item by its table key, strongly consistent, with the units used."""
    answer = yield Call("GetItem", get_params(session.table, key, consistent=True))
    return answer.get("Item"), read_units(answer)


def read_all_charged(session: Session, keys: Sequence[Item]) -> Steps[list[tuple[Item | None, float]]]:
    """Read items by their table keys at once, strongly consistent, each with the units used."""
    calls = [Call("GetItem", get_params(session.table, key, consistent=True)) for key in keys]
    answers = (yield Together(tuple(calls))) if len(calls) > 1 else [(yield calls[0])] if calls else []
    return [(answer.get("Item"), read_units(answer)) for answer in answers]


def read_stored(session: Session, schema: EntitySchema, key: Item) -> Steps[Entity | None]:
    """Read an entity, strongly consistent, also an expired one; None if there is none, or one of another entity.

    It is a dual read: an item that is still under an old key (`was=`) is found by its new one.
    """
    found = yield from _read_at(session, schema, key)
    if found is not None or schema.key.keys.was is None:
        return found
    # The item may move during the read, so the new key is read once more after the old ones.
    for old in (*old_keys_of(schema, key), key):
        found = yield from _read_at(session, schema, old)
        if found is not None and schema.primary_key(found) == key:
            return found
    return None


def _read_at(session: Session, schema: EntitySchema, key: Item) -> Steps[Entity | None]:
    item = yield from read_item(session, key)
    if item is None or session.catalog.schema_of(item) is not schema:
        return None
    return schema.to_entity(item)


def read_to_change(session: Session, schema: EntitySchema, key: Item) -> Steps[Entity | None]:
    """Read the stored entity, strongly consistent, also an expired one.

    An item that does not fit is read as far as possible: `unfit_fields` names its invalid fields.
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


def refuse_stranger(session: Session, schema: EntitySchema, stored: Item) -> None:
    """Refuse a stored item that is of another entity."""
    error = stranger(session, schema, stored)
    if error is not None:
        raise error


def stranger(session: Session, schema: EntitySchema, stored: Item) -> InvalidItemError | None:
    """Return the error that a stored item is of another entity, with its name; None if it is of this one."""
    catalog = session.catalog
    other = catalog.schema_of(stored)
    if other is schema:
        return None
    key = catalog.key_in(stored)
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


# --- entities of plans ----------------------------------------------------------------------------------

Report = Callable[[InvalidItemError], object]
EntityOf = Callable[[EntitySchema, Session, Item, EntityView | None], Any]


def entity_of(schema: EntitySchema, session: Session, item: Item, view: EntityView | None = None) -> Any:
    """Return the entity of an item; None for an item of another entity, or an expired one.

    A view makes a partial entity from the attributes that an index holds.
    """
    catalog = session.catalog
    stored = item.get(catalog.discriminator)
    if stored is None:
        if catalog.schema_of(item) is not schema:
            return None
    elif stored.get("S") != schema.name and stored.get("S") not in schema.names:
        return None
    if schema.ttl is not None and schema.is_expired(item, session.now_s()):
        return None
    return schema.to_entity(item) if view is None else view.to_entity(item)


def reporting(report: Report | None) -> EntityOf:
    """Return a function that makes entities from items. With a report, invalid items are reported and None."""
    if report is None:
        return entity_of

    def entity_or_report(
        schema: EntitySchema, session: Session, item: Item, view: EntityView | None = None
    ) -> Any:
        try:
            return entity_of(schema, session, item, view)
        except InvalidItemError as error:
            report(error)
            return None

    return entity_or_report
