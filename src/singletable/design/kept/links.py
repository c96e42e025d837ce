"""Links between parents and children, and how the children of a parent are read.

A child names its parent by fields: those of the parent's key, under the same names or as `via` says. The children
of a parent are found in the table or in an index, by a partition key that is built from these fields. A
declaration is refused if there is no such key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar, get_args

from singletable.client.calls import Call, Params, Steps
from singletable.design.kept.kind import Link, Schema
from singletable.design.keys.key import Key, SortKey
from singletable.design.keys.old_keys import old_keys
from singletable.design.keys.ranges import sort_range
from singletable.design.model.entity import Entity
from singletable.design.model.schema import Binding
from singletable.design.session.expressions import Placeholders, key_condition
from singletable.design.session.session import Session
from singletable.design.session.stored_items import read_item, read_stored
from singletable.design.values.conditions import Condition
from singletable.design.values.items import Item, shown_key
from singletable.errors import DeclarationError, InvalidItemError

G = TypeVar("G")
M = TypeVar("M")
T = TypeVar("T")

Position = tuple[int, Item | None]  # the number of the partition, and the last key that was read in it
START: Final[Position] = (0, None)


# --- declarations -------------------------------------------------------------------------------------------


def grouped(found: Iterable[T], group_of: Callable[[T], G]) -> dict[G, tuple[T, ...]]:
    """Return the elements in groups, by the group that `group_of` gives each."""
    groups: dict[G, tuple[T, ...]] = {}
    for each in found:
        groups[group_of(each)] = (*groups.get(group_of(each), ()), each)
    return groups


def link_of(where: str, parent: Schema, child: Schema, via: Mapping[str, str] | None) -> Link:
    """Return the link from a child's entity to its parent's; refuse entities that cannot be linked."""
    needed = parent.key.keys.reads()
    unknown = sorted(set(via or ()) - set(needed))
    if unknown:
        raise DeclarationError(
            f"{where}: via names {unknown[0]!r}, and the key of {parent.entity.__name__} is built from "
            f"{', '.join(needed)}"
        )
    found = {name: (via or {}).get(name, name) for name in needed}
    missing = [field for field in found.values() if not _has(child, field)]
    if missing:
        raise DeclarationError(
            f"{where}: {child.entity.__name__} does not say which {parent.entity.__name__} it belongs to: it has "
            f"no field {', '.join(missing)}",
            hint=f'add the field, or name the one that it is: via={{"{missing[0]}": "..."}}; '
            f"{child.entity.__name__} has {', '.join(sorted(child.fields))}",
        )
    return Link(parent, child, found)


def _has(schema: Schema, name: str) -> bool:
    return name in schema.fields or isinstance(getattr(schema.entity, name, None), property)


def place_of_children(where: str, link: Link, when: Condition | None = None) -> Binding:
    """Find the place that holds all children of a parent: the table, or an index that lacks none of them."""
    known = set(link.via.values())
    for binding in link.child.bindings.values():
        parts = binding.keys.pk.parts
        is_known = all(part.reads in known or part.choices is not None for part in parts)
        if is_known and (binding.index is None or _has_all(binding, link, when)):
            return binding
    child = link.child.entity.__name__
    tried = ", ".join(
        f"{binding.name} ({binding.keys.pk.template})" for binding in link.child.bindings.values()
    )
    raise DeclarationError(
        f"{where}: the {child} items of one {link.parent.entity.__name__} cannot be found: no key of {child} has "
        f"a partition that is built from {', '.join(sorted(known)) or 'nothing'} and holds them all; it has "
        f"{tried}",
        hint=f"bind {child} to an index by {', '.join(sorted(known)) or 'a constant'}, without a condition",
    )


def _has_all(binding: Binding, link: Link, when: Condition | None) -> bool:
    """Tell whether an index holds every child: it is not sparse, but for the condition `when` itself."""
    fields = link.child.entity.model_fields
    optional = [
        name
        for name in set(binding.keys.reads()) - set(link.via.values())
        if name in fields and type(None) in get_args(fields[name].annotation)
    ]
    return not optional and (binding.when is None or binding.when == when)


def require_field_of(where: str, schema: Schema, field: str, what: str) -> None:
    """Refuse a declaration that names a field which an entity does not have."""
    if field not in schema.fields:
        raise DeclarationError(
            f"{where} {what} {schema.entity.__name__}.{field}, which is not a field; it has "
            f"{', '.join(sorted(schema.fields))}"
        )


# --- reading children ---------------------------------------------------------------------------------------


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
    """Read a page of a parent's children, expired ones too. Return it with the next position, None at the end.

    An index is eventually consistent, and may project only a part of an item; with `exact`, each child is read
    from the table. With `counts`, an item of no entity is refused: it may be a child, and would not be counted.
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
    """Return the partitions of the children. Old keys come first (a dual read), as children may be moving."""
    partitions = list(link.partitions(place, parent))
    if place.keys.was is not None:
        old_pk, old_sk = place.keys.was
        olds = {old.render(): old for pk in partitions for old in old_keys(old_pk, (pk,))}
        yield from ((old, old_sk) for old in olds.values())
    yield from ((pk, place.keys.sk) for pk in partitions)


def _params(session: Session, place: Binding, pk: Key, sk: type[SortKey], start: Item | None) -> Params:
    into = Placeholders()
    bounds = sort_range(sk, None, gt=None, ge=None, lt=None, le=None)
    params: Params = {
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
        key = catalog.key_in(item)
        found = yield from read_stored(session, schema, key)
        if found is None and counts:
            _refuse_unknown_child(session, (yield from read_item(session, key)))
        return found
    if catalog.schema_of(item) is not schema:
        if counts:
            _refuse_unknown_child(session, item)
        return None
    return schema.to_entity(item)


def _refuse_unknown_child(session: Session, item: Item | None) -> None:
    """Refuse an item of no entity among children: it may be a child, stored under an old name of its entity."""
    catalog = session.catalog
    if item is None or catalog.is_own(item) or catalog.schema_of(item) is not None:
        return
    key = catalog.key_in(item)
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
    # A child that moves during the read is found twice.
    return list({shown_key(link.child.primary_key(child)): child for child in found}.values())
