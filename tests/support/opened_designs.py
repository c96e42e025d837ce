"""Designs on every target, and items brought into their tables behind their backs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from singletable.clock import Clock
from singletable.design import Design
from singletable.limits import BATCH_WRITE_ITEMS_MAX
from support.targets import opened_place

D = TypeVar("D", bound=Design)


@contextmanager
def opened_design(design: type[D], target: str, clock: Clock | None = None, **options: Any) -> Iterator[D]:
    """Open a design on a fresh target, with its table."""
    with (
        opened_place(target, clock=clock) as place,
        design.open(place, clock=clock, create=True, sleep=_no_sleep, **options) as db,
    ):
        yield db


def _no_sleep(seconds: float) -> None:
    pass


def stored_items(db: Design) -> list[dict[str, Any]]:
    """Return all items of a table, as they are stored."""
    items: list[dict[str, Any]] = []
    start: dict[str, Any] = {}
    while True:
        answer = call(db, "Scan", ConsistentRead=True, **start)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return items
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def stored_item(db: Design, pk: str, sk: str) -> dict[str, Any] | None:
    """Return one item, as it is stored."""
    answer = call(db, "GetItem", Key={"PK": {"S": pk}, "SK": {"S": sk}}, ConsistentRead=True)
    item: dict[str, Any] | None = answer.get("Item")
    return item


def store(db: Design, item: dict[str, Any]) -> None:
    """Store an item as somebody else would."""
    call(db, "PutItem", Item=item)


def store_all(db: Design, items: Sequence[dict[str, Any]]) -> None:
    """Store many items as somebody else would."""
    for first in range(0, len(items), BATCH_WRITE_ITEMS_MAX):
        puts = [{"PutRequest": {"Item": item}} for item in items[first : first + BATCH_WRITE_ITEMS_MAX]]
        db.session.client.call("BatchWriteItem", {"RequestItems": {db.session.table: puts}})


def call(db: Design, operation: str, **params: Any) -> dict[str, Any]:
    """Ask the target itself, about the design's table."""
    session = db.session
    return session.client.call(operation, {"TableName": session.table, **params})
