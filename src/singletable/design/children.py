"""Reading the items that belong to another one, page by page, whatever their time to live says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.belonging import Link
from singletable.design.entity import Entity
from singletable.design.expressions import Placeholders
from singletable.design.keys import Key, SortKey
from singletable.design.old_keys import old_keys
from singletable.design.ranges import sort_range
from singletable.design.requests import key_condition
from singletable.design.revising import read_stored
from singletable.design.schema import Binding
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item, shown_key
from singletable.errors import InvalidItemError

Position = tuple[int, Item | None]  # the number of the partition, and the last key that was read of it
START: Final[Position] = (0, None)


def children_page(
    session: Session,
    link: Link,
    place: Binding,
    parent: Entity,
    position: Position,
    *,
    exact: bool,
    counts: bool = False,
) -> Steps[tuple[list[Entity], Position | None]]:
    """Read some of the items that belong to a parent; return where to go on, or None at the end.

    An index may be behind, or hold less than all of an item; with `exact`, what it names is read from the table.
    With `counts`, an item of no entity among them is refused: it may be a child that nobody would count.
    """
    at, start = position
    partitions = list(_partitions(link, place, parent))
    pk, sk = partitions[at]
    answer = yield Call("Query", _params(session, place, pk, sk, start))
    belongs_to = link.parent.primary_key(parent)
    children: list[Entity] = []
    for item in answer["Items"]:
        child = yield from _child(session, link, place, item, exact=exact, counts=counts)
        if child is not None and link.parent_key(child) == belongs_to:
            children.append(child)
    following = answer.get("LastEvaluatedKey")
    if following is not None:
        return children, (at, following)
    return children, (at + 1, None) if at + 1 < len(partitions) else None


def _partitions(link: Link, place: Binding, parent: Entity) -> Iterator[tuple[Key, type[SortKey]]]:
    """Return where the children are: under keys that they were stored by before first, as they may be moving."""
    partitions = list(link.partitions(place, parent))
    if place.keys.was is not None:
        old_pk, old_sk = place.keys.was
        olds = {old.render(): old for pk in partitions for old in old_keys(old_pk, (pk,))}
        yield from ((old, old_sk) for old in olds.values())
    yield from ((pk, place.keys.sk) for pk in partitions)


def _params(
    session: Session, place: Binding, pk: Key, sk: type[SortKey], start: Item | None
) -> dict[str, Any]:
    into = Placeholders()
    bounds = sort_range(sk, None, gt=None, ge=None, lt=None, le=None)
    params: dict[str, Any] = {
        "TableName": session.table,
        "KeyConditionExpression": key_condition(place, pk, bounds, into),
    }
    if place.index is None:
        params["ConsistentRead"] = True
    else:
        params["IndexName"] = place.index.name
    if start is not None:
        params["ExclusiveStartKey"] = start
    return into.add_to(params)


def _child(
    session: Session, link: Link, place: Binding, item: Item, *, exact: bool, counts: bool
) -> Steps[Entity | None]:
    schema, catalog = link.child, session.catalog
    is_part = place.index is not None and catalog.projections[place.index.name] != "ALL"
    if is_part or (exact and place.index is not None):
        key = {name: item[name] for name in catalog.table.key_attributes()}
        found = yield from read_stored(session, schema, key)
        if found is None and counts:
            _refuse_unknown_child(session, (yield from read_item(session, key)))
        return found
    if catalog.schema_of(item) is not schema:
        if counts:
            _refuse_unknown_child(session, item)
        return None
    entity: Entity = schema.to_entity(item)
    return entity


def _refuse_unknown_child(session: Session, item: Item | None) -> None:
    """Refuse an item of no entity where children are: it may be one, by a name that the entity had before."""
    catalog = session.catalog
    if item is None or catalog.is_own(item) or catalog.schema_of(item) is not None:
        return
    key = {each: item[each] for each in catalog.table.key_attributes()}
    raise InvalidItemError(
        f"the item {shown_key(key)} is among its children, and of no entity",
        key=key,
        hint='class New(Entity, was="Old") reads the items of an entity that has another name now',
    )


def read_children(session: Session, link: Link, place: Binding, parent: Entity) -> Steps[list[Entity]]:
    """Read all items that belong to a parent, as they are stored; InvalidItemError if one cannot be read."""
    found: list[Entity] = []
    position: Position | None = START
    while position is not None:
        children, position = yield from children_page(
            session, link, place, parent, position, exact=True, counts=True
        )
        found += children
    if place.keys.was is None:
        return found
    # One that moves meanwhile is found twice.
    return list({shown_key(link.child.primary_key(child)): child for child in found}.values())
