"""Tables, values and calls that several tests use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from singletable import Database
from singletable.errors import ApiError
from singletable.storage.chores.background import Background


def key_schema(*names: str) -> list[Any]:
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def attributes(**types: str) -> list[Any]:
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]


def index(name: str, *keys: str, projection: str = "ALL", include: list[str] | None = None) -> Any:
    shape: dict[str, Any] = {"ProjectionType": projection}
    if include:
        shape["NonKeyAttributes"] = include
    return {"IndexName": name, "KeySchema": key_schema(*keys), "Projection": shape}


def create_plain(db: Database, name: str = "plain") -> None:
    """A table with a partition key only."""
    db.create_table(
        TableName=name,
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S"),
        BillingMode="PAY_PER_REQUEST",
    )


def create_single(db: Database, name: str = "single", **more: Any) -> None:
    """A single-table design: PK and SK, one global index over GSI1PK and GSI1SK."""
    db.create_table(
        TableName=name,
        KeySchema=key_schema("PK", "SK"),
        AttributeDefinitions=attributes(PK="S", SK="S", GSI1PK="S", GSI1SK="S"),
        GlobalSecondaryIndexes=[index("GSI1", "GSI1PK", "GSI1SK")],
        BillingMode="PAY_PER_REQUEST",
        **more,
    )


def item(pk: str, sk: str, **more: Any) -> dict[str, Any]:
    """An item of the single-table design; other attributes are strings unless given typed."""
    typed = {name: value if isinstance(value, dict) else {"S": value} for name, value in more.items()}
    return {"PK": {"S": pk}, "SK": {"S": sk}, **typed}


# --- background work by hand -----------------------------------------------------------------


@dataclass
class FastClock:
    """A clock on which every look takes a tenth of a second: a piece of background work ends after 64 rows."""

    time_us: int = 1_700_000_000_000_000

    def now_us(self) -> int:
        self.time_us += 100_000
        return self.time_us

    def elapsed_us(self) -> int:
        return self.now_us()


def open_by_hand(path: str) -> Database:
    """Open a database whose background work is done piece by piece, when the test says so."""
    db = Database.open(path, durability="relaxed", clock=FastClock())
    background(db).stop()
    return db


def background(db: Database) -> Background:
    return db._session.store.background


def finish(db: Database) -> int:
    """Do what is left of the background work. Return how many pieces it took."""
    pieces = 1
    while not background(db).piece():
        pieces += 1
        assert pieces < 1_000
    return pieces


# --- values and refusals ---------------------------------------------------------------------


def s(text: str) -> dict[str, str]:
    return {"S": text}


def n(number: int | str) -> dict[str, str]:
    return {"N": str(number)}


def refusal(db: Database, operation: str, **request: Any) -> tuple[str, str]:
    """Return the code and the message with which a request is refused."""
    with pytest.raises(ApiError) as caught:
        getattr(db, operation)(**request)
    return caught.value.code, caught.value.message


def invalid(message: str) -> tuple[str, str]:
    return "ValidationException", message


def all_pages(db: Database, operation: str, **request: Any) -> list[Any]:
    """Return the pages of a query or scan, to the end."""
    pages = [getattr(db, operation)(**request)]
    while "LastEvaluatedKey" in pages[-1]:
        assert len(pages) < 1_000, "the cursor does not move"
        pages.append(
            getattr(db, operation)(**{**request, "ExclusiveStartKey": pages[-1]["LastEvaluatedKey"]})
        )
    return pages


def all_items(db: Database, operation: str, **request: Any) -> list[Any]:
    return [item for page in all_pages(db, operation, **request) for item in page["Items"]]


# --- work ---------------------------------------------------------------------------------------


def calls_of(work: Callable[[], object]) -> int:
    """Count the functions that are called for something, in Python and below."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
