"""What must hold of stored items, each as a check: it finds what differs, and the actions that put it right.

A check works from what is stored now. Its actions demand that this is still so, so a repair never undoes a write
that went on at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from singletable.client.calls import Steps
from singletable.design.actions import Action
from singletable.design.batch_reading import hashable
from singletable.design.belonging import Aggregated, Copied, Made
from singletable.design.children import read_children
from singletable.design.copying import is_stale
from singletable.design.counting import average_of, stored_number, total
from singletable.design.deriving import delete_action, made_items, put_action
from singletable.design.effects import effect_reads, effects, refresh_actions
from singletable.design.entity import STORED, Entity, key_values
from singletable.design.expressions import Placeholders
from singletable.design.markers import AverageOf
from singletable.design.performing import is_same
from singletable.design.revising import (
    Changes,
    changed_meanwhile,
    read_stored,
    revision,
    unchanged_attributes,
    update_text,
)
from singletable.design.schema import Binding, EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import AttributeValue, Item, decode, shown_key
from singletable.errors import InvalidItemError


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that differs, and the actions that would put it right; none where nobody can know how."""

    entity: str
    key: Item
    field: str
    expected: Any
    found: Any
    actions: tuple[Action, ...] = ()


D = TypeVar("D")
Check = Callable[[Session, Entity], Steps[list[Finding]]]


def checks_of(session: Session, schema: EntitySchema[Any]) -> Iterator[Check]:
    """Return the checks of the items of an entity."""
    belonging = session.catalog.belonging
    yield _of(check_keys, schema)
    yield from (computed_check(schema, name) for name in schema.computed)
    yield from (number_check(each) for each in belonging.counting(schema))
    yield from (copy_check(each) for each in belonging.copying(schema))
    yield from (
        made_check(each, schema) for each in belonging.made if schema in (each.link.parent, each.link.child)
    )


def computed_check(schema: EntitySchema[Any], name: str) -> Check:
    """Return the check of a field that is worked out from others."""
    return _of(check_computed, (schema, name))


def number_check(each: Aggregated) -> Check:
    """Return the check of a counter, sum or average."""
    return _of(check_numbers, each)


def copy_check(copied: Copied) -> Check:
    """Return the check of a copy."""
    return _of(check_copy, copied)


def made_check(made: Made, schema: EntitySchema[Any]) -> Check:
    """Return the check of derived items: of those that an item makes, or whether one is still made."""
    return _of(check_made if made.link.parent is schema else check_origin, made)


def _of(check: Callable[[Session, D, Entity], Steps[list[Finding]]], declared: D) -> Check:
    return lambda session, entity: check(session, declared, entity)


def _value(value: AttributeValue | None) -> Any:
    return None if value is None else decode(value)


# --- keys -----------------------------------------------------------------------------------------------------


def check_keys(session: Session, schema: EntitySchema[Any], entity: Entity) -> Steps[list[Finding]]:
    """Find keys that are not what the fields say: half keys, stale keys, and those of other indexes.

    Keys that an item had before, by `was=`, are right as well until it is brought home.
    """
    yield from ()
    item: Item = entity.__dict__[STORED]
    expected = {**schema.key_attributes(entity), **_old_attributes(schema, entity)}
    table = session.catalog.table
    key = {name: item[name] for name in table.key_attributes()}
    names = {name for index in table.indexes for name in (*index.pk, *index.sk)} - schema.by_stored.keys()
    changes: dict[str, AttributeValue | None] = {
        name: expected.get(name) for name in sorted(names) if expected.get(name) != item.get(name)
    }
    action = _key_repair(schema, key, item, changes) if changes else None
    findings = [
        Finding(schema.name, key, name, _value(value), _value(item.get(name)), (action,) if action else ())
        for name, value in changes.items()
    ]
    wrong = [name for name in key if name in expected and expected[name] != item[name]]
    return findings + [
        Finding(schema.name, key, name, _value(expected[name]), _value(item[name])) for name in wrong
    ]


def _old_attributes(schema: EntitySchema[Any], entity: Entity) -> Item:
    item: Item = entity.__dict__[STORED]
    return {
        attribute.name: item[attribute.name]
        for binding in old_places(schema, entity)
        for attribute in binding.attributes()
    }


def old_places(schema: EntitySchema[Any], entity: Entity) -> list[Binding]:
    """Return the places in which an item that was read is still under the keys that it had before."""
    item, values = entity.__dict__[STORED], key_values(entity)
    return [binding for binding in schema.bindings.values() if binding.is_old(item, values)]


def _key_repair(schema: EntitySchema[Any], key: Item, item: Item, changes: Changes) -> Action:
    into = Placeholders()
    reads = schema.with_sources(name for binding in schema.indexes for name in binding.reads())
    # A property that a key is built from may read any field.
    fields = schema.fields if schema.properties else reads & schema.fields.keys()
    stored = {schema.fields[name].stored for name in fields} | set(changes) | set(key)
    terms = unchanged_attributes({name: item.get(name) for name in stored}, into)
    params = {"UpdateExpression": update_text(changes, into), "ConditionExpression": " AND ".join(terms)}
    return Action("Update", key, into.add_to(params), changed_meanwhile(key))


# --- fields that are worked out from others -------------------------------------------------------------------


def check_computed(
    session: Session, field: tuple[EntitySchema[Any], str], entity: Entity
) -> Steps[list[Finding]]:
    """Find a computed field that is stored as something else than what comes of the fields that it is made of."""
    yield from ()
    schema, name = field
    item: Item = entity.__dict__[STORED]
    ((stored, expected),) = schema.stored_fields(entity, (name,)).items()
    found = item.get(stored)
    if _value(expected) == _value(found) and (expected is None) == (found is None):
        return []
    key = {each: item[each] for each in session.catalog.table.key_attributes()}
    changes = {stored: expected}
    planned = revision(session, schema, entity, changes, reads=schema.with_sources((name,)), order="item")
    return [Finding(schema.name, key, name, _value(expected), _value(found), (planned.action,))]


# --- numbers --------------------------------------------------------------------------------------------------


def check_numbers(session: Session, each: Aggregated, parent: Entity) -> Steps[list[Finding]]:
    """Find a counter, sum or average that is not what the children of an item come to."""
    schema = each.link.parent
    item: Item = parent.__dict__[STORED]
    key = schema.primary_key(parent)
    try:
        sums = total(each, (yield from read_children(session, each.link, each.place, parent)))
    except InvalidItemError as error:
        # A child that nobody can read counts all the same: no number is put right without it.
        return [Finding(schema.name, key, each.field, "children that can be read", error.message)]
    numbers: dict[str, tuple[Decimal, Decimal]] = {
        name: (value, stored_number(item, name)) for name, value in sums.items()
    }
    changes: dict[str, AttributeValue | None] = {
        name: {"N": str(expected)} for name, (expected, found) in numbers.items() if expected != found
    }
    shown = [(name, expected, found) for name, (expected, found) in numbers.items() if name in changes]
    if isinstance(each.marker, AverageOf):
        stored, mean = schema.fields[each.field].stored, average_of(each, sums)
        if _value(mean) != _value(item.get(stored)) and (mean is not None or stored in item):
            changes[stored] = mean
            shown.append((stored, _value(mean), _value(item.get(stored))))
    if not changes:
        return []
    follows = bool({each.field} & effect_reads(session, schema))
    reads = effect_reads(session, schema) if follows else frozenset()
    planned = revision(session, schema, parent, _all_numbers(each, item, changes), reads=reads, order="item")
    actions = [planned.action]
    if follows:
        actions += yield from effects(session, schema, parent, planned.after)
    return [
        Finding(schema.name, key, _field_name(schema, name), expected, found, tuple(actions))
        for name, expected, found in shown
    ]


def _all_numbers(each: Aggregated, item: Item, changes: Changes) -> Changes:
    """Return the changes with the numbers beside them: none of them may change between reading and writing."""
    return {name: item[name] for name in (each.sum_name, each.count_name) if name in item} | dict(changes)


def _field_name(schema: EntitySchema[Any], stored: str) -> str:
    return schema.by_stored[stored].name if stored in schema.by_stored else stored


# --- copies and derived items ---------------------------------------------------------------------------------


def check_copy(session: Session, copied: Copied, child: Entity) -> Steps[list[Finding]]:
    """Find a copy that is not what its source has. One whose source is gone stays as it is."""
    key = copied.link.parent_key(child)
    source = None if key is None else (yield from read_stored(session, copied.link.parent, key))
    if source is None or not is_stale(copied, child, source):
        return []
    schema = copied.link.child
    actions = yield from refresh_actions(session, copied, child, source)
    expected, found = getattr(source, copied.marker.field), getattr(child, copied.field)
    return [Finding(schema.name, schema.primary_key(child), copied.field, expected, found, tuple(actions))]


def check_made(session: Session, made: Made, source: Entity) -> Steps[list[Finding]]:
    """Find derived items that are missing, or not what is made from their source."""
    findings = []
    for key, item in made_items(made, source).values():
        found = yield from read_item(session, key)
        is_changing = found is None and made.link.child.key.keys.was is not None
        if is_changing and (yield from read_stored(session, made.link.child, key)) is not None:
            continue  # under the key that it had before
        if found is None or not is_same(found, item):
            action = put_action(key, item, found, checks=True)
            findings.append(Finding(made.link.child.name, key, "", item, found, (action,)))
    return findings


def check_origin(session: Session, made: Made, derived: Entity) -> Steps[list[Finding]]:
    """Find a derived item that nothing makes any more."""
    item: Item = derived.__dict__[STORED]
    source_key = made.link.parent_key(derived)
    key = {name: item[name] for name in session.catalog.table.key_attributes()}
    source = None
    if source_key is not None:
        source = yield from read_stored(session, made.link.parent, source_key)
        there = (yield from read_item(session, source_key)) if source is None else None
        if there is not None and session.catalog.schema_of(there) is None:
            # Perhaps of an entity that has another name now: what was made from it is not deleted for that.
            says = f"its source {shown_key(source_key)} is of no entity"
            return [Finding(made.link.child.name, key, "", "a source that can be read", says)]
    is_old = made.link.child.key.is_old(item, key_values(derived))
    home = made.link.child.primary_key(derived) if is_old else key
    if hashable(home) in made_items(made, source):
        return []
    action = delete_action(key, item, checks=True)
    return [Finding(made.link.child.name, key, "", None, item, (action,))]
