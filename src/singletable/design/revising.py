"""Changes that the layer makes to stored items by itself: from what was read, and only while that is still so.

A revision sets attributes of an item, and of its index keys those that come out differently. It demands that
everything it was worked out from is unchanged; when it is refused, it is worked out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from singletable.client.calls import Steps
from singletable.design.actions import Action, Order, Refused
from singletable.design.entity import STORED, Entity, key_values
from singletable.design.expressions import Placeholders
from singletable.design.owning import old_keys_of
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import AttributeValue, Item, shown_key
from singletable.errors import ConditionNotMetError, DesignError

Changes = Mapping[str, AttributeValue | None]  # by the names of attributes; None removes
Plan = Callable[[], Steps[list[Action]]]


class ChangedMeanwhileError(ConditionNotMetError):
    """What a plan was made from has changed before it was carried out. It is made again."""


@dataclass(frozen=True, slots=True)
class Planned(Action):
    """What is planned at the last moment, from what is stored then."""

    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """A change of a stored item: the action, and the entity as it will be."""

    action: Action
    before: Entity
    after: Entity


def changed_meanwhile(key: Item) -> Refused:
    """Return what says that an item is no longer what a plan was made from."""

    def refused(stored: Item | None) -> DesignError:
        return ChangedMeanwhileError(f"the item {shown_key(key)} has changed meanwhile", hint="try again")

    return refused


def read_stored(session: Session, schema: EntitySchema[Any], key: Item) -> Steps[Entity | None]:
    """Read an item consistently, also one whose time is over; None if there is none, or one of another entity.

    One that is still under an old key (`was=`) is found by its new one.
    """
    found = yield from _read_at(session, schema, key)
    if found is not None or schema.key.keys.was is None:
        return found
    # It may move meanwhile, so the new key comes once more behind the old ones.
    for old in (*old_keys_of(schema, key), key):
        found = yield from _read_at(session, schema, old)
        if found is not None and schema.primary_key(found) == key:
            return found
    return None


def _read_at(session: Session, schema: EntitySchema[Any], key: Item) -> Steps[Entity | None]:
    item = yield from read_item(session, key)
    if item is None or session.catalog.schema_of(item) is not schema:
        return None
    entity: Entity = schema.to_entity(item)
    return entity


def revision(
    session: Session,
    schema: EntitySchema[Any],
    before: Entity,
    changes: Changes,
    *,
    reads: Iterable[str] = (),
    expects: Changes | None = None,
    bumps: bool = False,
    order: Order = "after",
) -> Revision:
    """Plan a change of an item that was read, with its index keys.

    `reads` names the fields that the change was worked out from; `expects` are attributes that must have these
    values, and `bumps` counts the change as a version of the item.
    """
    stored: Item = before.__dict__[STORED]
    after = schema.to_entity(_changed(stored, changes))
    fields = {schema.by_stored[name].name for name in changes if name in schema.by_stored}
    follow = schema.followers(fields)
    if follow:
        changes = {**changes, **schema.stored_fields(after, follow)}
        fields |= follow
        after.__dict__[STORED] = _changed(stored, changes)
    keys, parts = _key_changes(schema, stored, after, fields)
    into = Placeholders()
    needed = schema.with_sources((*reads, *parts, *follow))
    guarded = {schema.fields[name].stored for name in needed if name in schema.fields}
    terms = [f"attribute_exists({into.name(session.catalog.table.pk)})"]
    terms += unchanged_attributes({name: stored.get(name) for name in {*guarded, *changes}}, into)
    terms += unchanged_attributes(expects or {}, into)
    text = update_text({**changes, **keys}, into)
    if bumps and schema.version is not None:
        text += f" ADD {into.name(schema.version.stored)} {into.value({'N': '1'})}"
    params = into.add_to({"UpdateExpression": text, "ConditionExpression": " AND ".join(terms)})
    key = {name: stored[name] for name in session.catalog.table.key_attributes()}
    return Revision(Action("Update", key, params, changed_meanwhile(key), order), before, after)


def _changed(stored: Item, changes: Changes) -> Item:
    item = {name: value for name, value in stored.items() if name not in changes}
    item.update({name: value for name, value in changes.items() if value is not None})
    return item


def _key_changes(
    schema: EntitySchema[Any], stored: Item, after: Entity, fields: set[str]
) -> tuple[dict[str, AttributeValue | None], set[str]]:
    """Return the attributes of index keys that come out differently, and the fields that they are built from."""
    changes: dict[str, AttributeValue | None] = {}
    parts: set[str] = set()
    values = key_values(after)
    for binding in schema.indexes:
        if not binding.reads() & (fields | schema.properties):
            continue
        parts |= binding.reads()
        rendered = binding.render(values)
        for name in binding.written():
            if rendered.get(name) != stored.get(name):
                changes[name] = rendered.get(name)
    return changes, parts - fields


def unchanged_attributes(attributes: Mapping[str, AttributeValue | None], into: Placeholders) -> list[str]:
    """Write that attributes have these values, and that those of None are not there."""
    return [
        f"attribute_not_exists({into.name(name)})"
        if value is None
        else f"{into.name(name)} = {into.value(value)}"
        for name, value in sorted(attributes.items())
    ]


def update_text(changes: Changes, into: Placeholders) -> str:
    """Write the changes as an update expression."""
    sets = [
        f"{into.name(name)} = {into.value(value)}" for name, value in changes.items() if value is not None
    ]
    removes = [into.name(name) for name, value in changes.items() if value is None]
    parts = [f"SET {', '.join(sets)}"] if sets else []
    parts += [f"REMOVE {', '.join(removes)}"] if removes else []
    return " ".join(parts)
