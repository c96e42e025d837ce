"""Bringing items home: those that are still under old keys (`was=`), before a write wants to find them.

A move changes nothing but the key, so it may go ahead of the write that asks for it, whatever becomes of that.
"""

from __future__ import annotations

from typing import Any, Final

from singletable.client.calls import Call, Steps
from singletable.design.answers import backoff
from singletable.design.entity import STORED, Entity, key_values
from singletable.design.expressions import Placeholders
from singletable.design.keys import Key
from singletable.design.moving import Move, key_attributes, move_item, owned_locks, unchanged_item
from singletable.design.old_keys import old_keys
from singletable.design.owning import old_keys_of
from singletable.design.places import Binding, key_item
from singletable.design.plans import Get
from singletable.design.ranges import sort_range
from singletable.design.requests import key_condition
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item, shown_key
from singletable.errors import ConditionFailedError, MigrationError, ThrottledError

_ATTEMPTS: Final = 20


def bring_home(session: Session, schema: EntitySchema[Any], target: Entity | Get[Any]) -> Steps[None]:
    """Move an item that is still under an old key, so that a write finds it where it belongs."""
    if schema.key.keys.was is None:
        return
    new = _new_keys(schema, target)
    home = schema.primary_key_of(*new)
    stored = target.__dict__.get(STORED) if isinstance(target, Entity) else None
    if stored is not None and key_attributes(session, stored) == home:
        return
    for old in schema.old_primary_keys(*new):
        yield from _bring(session, schema, old, home)


def bring_key_home(session: Session, schema: EntitySchema[Any], key: Item) -> Steps[None]:
    """Move the item of a key there, if it is still under an old one."""
    for old in old_keys_of(schema, key):
        yield from _bring(session, schema, old, key)


def bring_partition_home(
    session: Session, schema: EntitySchema[Any], binding: Binding, pk: Key
) -> Steps[None]:
    """Bring all items that belong into a partition of a place, and are still under old keys, where they belong."""
    for item in (yield from _under_old_keys(session, schema, binding, pk)):
        yield from bring_item_home(session, schema, binding, item)


def keys_under_old(
    session: Session, schema: EntitySchema[Any], binding: Binding, pk: Key
) -> Steps[list[tuple[Item, Item]]]:
    """Find the items that belong into a partition of a place, and are still under old keys; with new keys."""
    found = []
    for item in (yield from _under_old_keys(session, schema, binding, pk)):
        stored = (
            item if binding.index is None else (yield from read_item(session, key_attributes(session, item)))
        )
        if stored is None or session.catalog.schema_of(stored) is not schema:
            continue
        entity = schema.to_entity(stored)
        values = key_values(entity)
        rendered = binding.render(values)
        belongs = all(rendered.get(name) == value for name, value in key_item(pk, binding.pk).items())
        if belongs and binding.is_old(stored, values):
            found.append((schema.primary_key(entity), stored))
    return found


def _under_old_keys(
    session: Session, schema: EntitySchema[Any], binding: Binding, pk: Key
) -> Steps[list[Item]]:
    was = binding.keys.was
    if was is None:
        return []
    bounds = sort_range(was[1], None, gt=None, ge=None, lt=None, le=None)
    found: list[Item] = []
    for old in old_keys(was[0], (pk,)):
        into = Placeholders()
        params: dict[str, Any] = {
            "TableName": session.table,
            "KeyConditionExpression": key_condition(binding, old, bounds, into),
            **({"IndexName": binding.index.name} if binding.index is not None else {"ConsistentRead": True}),
        }
        into.add_to(params)
        while True:
            answer = yield Call("Query", params)
            found += [item for item in answer["Items"] if session.catalog.schema_of(item) is schema]
            if "LastEvaluatedKey" not in answer:
                break
            params["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    return found


def bring_item_home(session: Session, schema: EntitySchema[Any], binding: Binding, item: Item) -> Steps[None]:
    """Bring an item that was found under the old keys of a place where it belongs."""
    key = key_attributes(session, item)
    if binding.index is None:
        home = schema.primary_key(schema.to_entity(item))
        if home != key:
            yield from _bring(session, schema, key, home)
        return
    stored = yield from read_item(session, key_attributes(session, item))
    if stored is None or session.catalog.schema_of(stored) is not schema:
        return
    rendered = binding.render(key_values(schema.to_entity(stored)))
    sets = {name: value for name, value in rendered.items() if stored.get(name) != value and name not in key}
    if not sets:
        return
    into = Placeholders()
    texts = [f"{into.name(name)} = {into.value(value)}" for name, value in sets.items()]
    update = {
        "TableName": session.table,
        "Key": key,
        "UpdateExpression": f"SET {', '.join(texts)}",
        "ConditionExpression": unchanged_item(session, stored, key, into),
    }
    try:
        yield Call("UpdateItem", into.add_to(update))
    except ConditionFailedError:
        return  # whoever has changed it has written the new keys


def bring_parents_home(session: Session, schema: EntitySchema[Any], target: Entity | Get[Any]) -> Steps[None]:
    """Bring the items home that count a child which is about to be written."""
    for each in session.catalog.belonging.counted(schema, "transaction"):
        parent = each.link.parent
        if parent.key.keys.was is None:
            continue
        known = key_values(target) if isinstance(target, Entity) else _key_parts(target)
        values = {name: known.get(field) for name, field in each.link.via.items()}
        if all(value is not None for value in values.values()):
            yield from bring_home(session, parent, Get(parent.entity, *parent.key.keys.of(values)))


def _key_parts(target: Get[Any]) -> dict[str, Any]:
    keys = [target.pk] if target.sk is None else [target.pk, target.sk]
    return {part.name: getattr(key, part.name) for key in keys for part in key.parts if part.source is None}


def _new_keys(schema: EntitySchema[Any], target: Entity | Get[Any]) -> tuple[Any, Any]:
    if isinstance(target, Get):
        return target.pk, target.sk
    return schema.key.keys.of(key_values(target))


def _bring(session: Session, schema: EntitySchema[Any], old: Item, home: Item) -> Steps[None]:
    pauses = backoff()
    throttled: ThrottledError | None = None
    for _ in range(_ATTEMPTS):
        item = yield from read_item(session, old)
        if item is None or session.catalog.schema_of(item) is not schema:
            return
        entity = schema.to_entity(item)
        if schema.primary_key(entity) != home:
            return
        after = {**item, **schema.key_attributes(entity), schema.discriminator: {"S": schema.name}}
        try:
            if (
                yield from move_item(
                    session, Move(old, item, after, owned_locks(session, schema, entity, old))
                )
            ):
                return
        except ConditionFailedError:
            throttled = None
        except ThrottledError as error:
            throttled = error
            yield next(pauses)
    if throttled is not None:
        raise throttled
    raise MigrationError(f"{shown_key(old)} cannot be moved: others keep changing it", hint="try again later")
