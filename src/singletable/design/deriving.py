"""Items that are made from another one by a function, and kept with it."""

from __future__ import annotations

from functools import partial
from typing import Any

from singletable.design.actions import Action
from singletable.design.batch_reading import hashable
from singletable.design.belonging import Made
from singletable.design.entity import Entity
from singletable.design.expressions import Placeholders
from singletable.design.revising import changed_meanwhile, unchanged_attributes
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import Item
from singletable.design.unfit_items import as_far_as_readable
from singletable.errors import InvalidWriteError

MadeItems = dict[tuple[Any, ...], tuple[Item, Item]]  # keys and items


def refuse_derived(schema: EntitySchema[Any]) -> None:
    """Refuse to write an item by hand that is made from another one."""
    if schema.derived is not None:
        made_from = schema.derived.source
        source = made_from if isinstance(made_from, str) else made_from.__name__
        raise InvalidWriteError(
            f"{schema.entity.__name__} is made from {source} by the layer",
            hint=f"write the {source}, and it follows; verify(repair=True) makes what is missing",
        )


def made_items(made: Made, source: Entity | None) -> MadeItems:
    """Return the items that are made from an entity, by their keys."""
    if source is None:
        return {}
    schema, items = made.link.child, {}
    names = schema.table.key_attributes()
    for entity in made.declaration.make(source):
        if type(entity) is not schema.entity or not made.link.holds(source, entity):
            raise InvalidWriteError(
                f"{schema.entity.__name__}.{made.declaration.name} has made {entity!r}, which is no "
                f"{schema.entity.__name__} of {source!r}",
                hint=f"what it makes has the same {', '.join(made.link.via.values())} as its source",
            )
        item = schema.to_item(entity)
        key = {name: item[name] for name in names}
        items[hashable(key)] = (key, item)
    return items


def derived_actions(
    session: Session, schema: EntitySchema[Any], before: Entity | None, after: Entity | None
) -> list[Action]:
    """Return the writes of derived items that a write of their source asks for."""
    actions: list[Action] = []
    for made in session.catalog.belonging.made_from(schema, "transaction"):
        old: MadeItems = {}
        if before is not None:
            old = as_far_as_readable(before, partial(made_items, made, before), old)
        actions += replacements(old, made_items(made, after))
    return actions


def replacements(old: MadeItems, new: MadeItems) -> list[Action]:
    """Return the puts and deletes that make one set of items the other."""
    puts = [put_action(key, item) for name, (key, item) in new.items() if old.get(name) != (key, item)]
    return puts + [delete_action(key) for name, (key, _) in old.items() if name not in new]


def put_action(key: Item, item: Item, found: Item | None = None, *, checks: bool = False) -> Action:
    """Return the put of a derived item; with `checks`, only while what was found is unchanged."""
    into = Placeholders()
    params: dict[str, Any] = {"Item": item}
    _add_check(params, key, found, into, checks=checks)
    return Action("Put", key, into.add_to(params), changed_meanwhile(key), order="after")


def delete_action(key: Item, found: Item | None = None, *, checks: bool = False) -> Action:
    """Return the deletion of a derived item; with `checks`, only while what was found is unchanged."""
    into = Placeholders()
    params: dict[str, Any] = {}
    _add_check(params, key, found, into, checks=checks)
    return Action("Delete", key, into.add_to(params), changed_meanwhile(key), order="after")


def _add_check(
    params: dict[str, Any], key: Item, found: Item | None, into: Placeholders, *, checks: bool
) -> None:
    if not checks:
        return
    if found is None:
        terms = [f"attribute_not_exists({into.name(next(iter(key)))})"]
    else:
        terms = unchanged_attributes(found, into)
    params["ConditionExpression"] = " AND ".join(terms)
