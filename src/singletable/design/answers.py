"""What is read from answers: entities, units; and how long to wait before asking again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from singletable.client.calls import Wait
from singletable.design.places import View
from singletable.design.plans import Report
from singletable.design.schema import EntitySchema
from singletable.design.session import Session, throttling_hint
from singletable.design.stored_values import Item
from singletable.errors import InvalidItemError, TargetThrottledError

RETRY_S: Final = 0.05
RETRY_S_MAX: Final = 5.0
CONFLICT_S_MAX: Final = 0.5  # who was faster is done soon
RETRIES_MAX: Final = 80

EntityOf = Callable[[EntitySchema[Any], Session, Item, View | None], Any]


def read_units(answer: dict[str, Any]) -> float:
    """Return the units that an answer says it has consumed."""
    consumed = answer.get("ConsumedCapacity")
    if not consumed:
        return 0.0
    if isinstance(consumed, list):
        return float(sum(each.get("CapacityUnits", 0.0) for each in consumed))
    return float(consumed.get("CapacityUnits", 0.0))


def entity_of(schema: EntitySchema[Any], session: Session, item: Item, view: View | None = None) -> Any:
    """Return the entity of an item; None for an item of another entity, or one whose time is over.

    A view makes a partial entity of what an index holds.
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
    """Return what gets entities of items; with a report, None for an invalid item too, which is reported."""
    if report is None:
        return entity_of

    def entity_or_report(
        schema: EntitySchema[Any], session: Session, item: Item, view: View | None = None
    ) -> Any:
        try:
            return entity_of(schema, session, item, view)
        except InvalidItemError as error:
            report(error)
            return None

    return entity_or_report


def backoff(*, seconds_max: float = RETRY_S_MAX) -> Iterator[Wait]:
    """Return random pauses, each up to twice as long as the one before, for some minutes.

    AWS calls that exponential backoff with full jitter: those who met do not meet again after equal pauses.
    """
    seconds = RETRY_S
    for _ in range(RETRIES_MAX):
        yield Wait(seconds, is_random=True)
        seconds = min(seconds * 2, seconds_max)


def waits(table: str) -> Iterator[Wait]:
    """Return the pauses before a batch is sent again that a table has left undone; in the end, give up."""
    yield from backoff()
    raise TargetThrottledError(
        f"the table {table} has left a part of a batch undone {RETRIES_MAX + 1} times in a row",
        hint=f"what it has done stays done; {throttling_hint()}",
    )
