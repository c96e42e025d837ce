"""When an item expires: by the policy that its entity declares, `ttl: Ttl = expires(days=30, when=...)`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from singletable.design.conditions import holds
from singletable.design.entity import STORED, Entity
from singletable.design.schema import EntitySchema
from singletable.design.stored_values import Item


def expiry_of(schema: EntitySchema[Any], values: Mapping[str, Any], now: datetime) -> datetime | None:
    """Return when an item of these values expires, if it is made now; None if it does not."""
    assert schema.expires is not None
    if schema.expires_when is not None and not holds(schema.expires_when, values):
        return None
    start = now if schema.expires.after is None else values.get(schema.expires.after)
    return None if start is None else _in_seconds(start + schema.expires.delta)


def expiry_of_put(
    schema: EntitySchema[Any], entity: Entity, values: Mapping[str, Any], now: datetime
) -> datetime | None:
    """Return when an item expires that is written whole.

    Somebody may have given it a time. One that it has already is kept, unless it counts from a field: an item does
    not live longer because it is written again. While the policy's condition does not hold, there is none.
    """
    assert schema.ttl is not None
    assert schema.expires is not None
    current: datetime | None = getattr(entity, schema.ttl.name)
    policy = expiry_of(schema, values, now)
    if policy is None and schema.expires_when is not None:
        return None
    if _was_chosen(schema, entity, current):
        return None if current is None else _in_seconds(current)
    if schema.expires.after is None and current is not None:
        return current
    return policy


def _in_seconds(time: datetime) -> datetime:
    """Return a time as it is stored, so that an entity that was written is the one that is read."""
    return time.replace(microsecond=0)


def _was_chosen(schema: EntitySchema[Any], entity: Entity, current: datetime | None) -> bool:
    """Tell whether somebody has set the time to live of an entity since it was made or read."""
    assert schema.ttl is not None
    if schema.ttl.name not in entity.model_fields_set:
        return False
    stored: Item | None = entity.__dict__.get(STORED)
    if stored is None:
        return True
    known = stored.get(schema.ttl.stored)
    return known != (None if current is None else schema.ttl.encode(current))
