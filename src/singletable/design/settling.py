"""Entities that agree with each other, as if every write had kept the others: what is stored beside each of them,
and the numbers that each of them has. Pure: nothing is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from singletable.design.belonging import Aggregated
from singletable.design.catalog import Catalog
from singletable.design.counting import average_of, stored_changes, stored_number, total
from singletable.design.deriving import made_items
from singletable.design.entity import STORED, Entity
from singletable.design.markers import AverageOf, Upkeep
from singletable.design.projections import refuse_partial
from singletable.design.relations import LockForm
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import AttributeValue, Item, decode, shown_key
from singletable.design.uniqueness import lock_item, locks_of
from singletable.errors import InvalidWriteError

E = TypeVar("E", bound=Entity)


# --- what is stored beside an item --------------------------------------------------------------------------


def items_beside(
    session: Session,
    schema: EntitySchema[Any],
    entity: Entity,
    kept_by: Sequence[Upkeep],
    moving: Collection[LockForm] = (),
) -> Iterator[Item]:
    """Return what is stored with an item: the locks of its unique values, and what is derived from it so.

    Locks that are `moving` are stored under both of their keys.
    """
    catalog = session.catalog
    if schema.uniques:
        now_us = session.now_us()
        for lock in locks_of(catalog, schema, entity, moving).values():
            yield lock_item(lock, catalog, now_us)
    for by in kept_by:
        for made in catalog.belonging.made_from(schema, by):
            child = made.link.child
            for _, item in made_items(made, entity).values():
                yield item
                if any(catalog.belonging.made_from(child, each) for each in kept_by):
                    yield from items_beside(session, child, child.to_entity(item), kept_by, moving)


# --- numbers -------------------------------------------------------------------------------------------------


def counted_entity(catalog: Catalog, entity: E, children: Iterable[Entity]) -> E:
    """Return an entity with the numbers that its children come to; what is not its own, or not counted, is not."""
    schema, known = catalog.schema_for(type(entity)), list(children)
    for child in known:
        refuse_partial(child)
    changes: dict[str, AttributeValue | None] = {}
    for each in catalog.belonging.counting(schema):
        counted = [child for child in known if type(child) is each.link.child.entity]
        numbers = total(each, (child for child in counted if each.link.holds(entity, child)))
        changes.update(stored_changes(catalog, schema, numbers))
    return _with_numbers(schema, entity, changes)


def _with_numbers(schema: EntitySchema[Any], entity: E, changes: dict[str, AttributeValue | None]) -> E:
    values: dict[str, Any] = {}
    beside: Item = {}
    for stored, value in changes.items():
        if stored in schema.by_stored:
            name = schema.by_stored[stored].name
            values[name] = None if value is None else schema.valid_field(name, decode(value))
        elif value is not None:
            beside[stored] = value
    counted = entity.model_copy(update=values)
    counted.__dict__.update(schema.computed_values(counted.__dict__, schema.followers(values)))
    if beside:  # where an item that was read keeps what is no field
        counted.__dict__[STORED] = {**schema.to_item(counted), **beside}
    return counted


def refuse_half_averages(catalog: Catalog, schema: EntitySchema[Any], item: Item) -> None:
    """Refuse an item with an average that does not follow from the sum and the count beside it."""
    for each in catalog.belonging.counting(schema):
        if isinstance(each.marker, AverageOf) and not _is_whole(each, item):
            key = {name: item[name] for name in catalog.table.key_attributes()}
            raise InvalidWriteError(
                f"{schema.entity.__name__} {shown_key(key)} has an average, {each.field}, that is not that of the "
                "sum and the count which belong to it",
                hint="counted(entity, children) of the design gives an entity all its numbers",
            )


def _is_whole(each: Aggregated, item: Item) -> bool:
    numbers = {name: stored_number(item, name) for name in (each.sum_name, each.count_name)}
    mean, found = average_of(each, numbers), item.get(each.link.parent.fields[each.field].stored)
    return mean == found or (mean is not None and found is not None and decode(mean) == decode(found))
