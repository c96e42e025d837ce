"""What is read from answers: entities, units; and how long to wait before asking again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import Item

RETRY_S: Final = 0.05
RETRY_S_MAX: Final = 5.0


def read_units(answer: dict[str, Any]) -> float:
    """Return the units that an answer says it has consumed."""
    consumed = answer.get("ConsumedCapacity")
    if not consumed:
        return 0.0
    if isinstance(consumed, list):
        return float(sum(each.get("CapacityUnits", 0.0) for each in consumed))
    return float(consumed.get("CapacityUnits", 0.0))


def entity_of(schema: EntitySchema[Any], session: Session, item: Item) -> Any:
    """Return the entity of an item; None for an item of another entity, or one whose time is over."""
    catalog = session.catalog
    stored = item.get(catalog.discriminator)
    if stored is None:
        if catalog.schema_of(item) is not schema:
            return None
    elif stored.get("S") != schema.name:
        return None
    if schema.ttl is not None and schema.is_expired(item, session.now_s()):
        return None
    return schema.to_entity(item)


def waits() -> Iterator[float]:
    """Return pauses, each twice as long as the one before. They never end: what is unprocessed is not lost."""
    pause_s = RETRY_S
    while True:
        yield pause_s
        pause_s = min(pause_s * 2, RETRY_S_MAX)
