"""A table whose changes are logged, changes of it, and handlers that remember what they were given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from singletable import Database
from singletable.consumers import Consumer
from support.sample_tables import attributes, key_schema

TABLE = "things"

Event = dict[str, Any]


def create_logged(db: Database, *, view: str = "NEW_AND_OLD_IMAGES", name: str = TABLE) -> None:
    """Make a table with a partition key and a stream."""
    db.create_table(
        TableName=name,
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S"),
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": view},  # type: ignore[typeddict-item]
    )


def create_counts(db: Database) -> None:
    """Make a table without a stream, for what handlers write."""
    db.create_table(
        TableName="counts",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S"),
        BillingMode="PAY_PER_REQUEST",
    )


def set_stream(db: Database, *, on: bool) -> None:
    specification: Any = {"StreamEnabled": on}
    if on:
        specification["StreamViewType"] = "NEW_AND_OLD_IMAGES"
    db.update_table(TableName=TABLE, StreamSpecification=specification)


def put(db: Database, *keys: str, **more: str) -> None:
    """Write items one after the other; their other attributes are strings."""
    typed: dict[str, Any] = {name: {"S": value} for name, value in more.items()}
    for key in keys:
        db.put_item(TableName=TABLE, Item={"id": {"S": key}, **typed})


def delete(db: Database, key: str) -> None:
    db.delete_item(TableName=TABLE, Key={"id": {"S": key}})


def keys_of(event: Event) -> list[str]:
    return [record["dynamodb"]["Keys"]["id"]["S"] for record in event["Records"]]


class Seen:
    """A handler that takes everything, and remembers the keys of each batch."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def __call__(self, event: Event, context: Any) -> None:
        self.batches.append(keys_of(event))

    @property
    def keys(self) -> list[str]:
        return [key for batch in self.batches for key in batch]


class Choosy(Seen):
    """A handler that fails for some keys, and remembers those of the batches that it took."""

    def __init__(self, poison: Iterable[str]) -> None:
        super().__init__()
        self.poison = set(poison)
        self.tried: list[list[str]] = []

    def __call__(self, event: Event, context: Any) -> None:
        self.tried.append(keys_of(event))
        bad = self.poison & set(keys_of(event))
        if bad:
            raise ValueError(f"cannot take {min(bad)}")
        super().__call__(event, context)


def by_hand(db: Database, handler: Any, name: str = "follower", **more: Any) -> Consumer:
    """Make a consumer that runs when the test says so, and does not sleep."""
    return db.consume(TABLE, handler, name, **{"background": False, "wait": lambda seconds: None, **more})


def dead_keys(db: Database, name: str = "follower") -> list[str]:
    return [letter.record["dynamodb"]["Keys"]["id"]["S"] for letter in db.dead_letters(TABLE, name)]


def count_of(db: Database, key: str) -> int:
    """Return what handlers have counted for a key."""
    item = db.get_item(TableName="counts", Key={"id": {"S": key}}).get("Item")
    return 0 if item is None else int(item["n"]["N"])


def add_one(key: str) -> dict[str, Any]:
    """Return the update that counts a key."""
    return {
        "TableName": "counts",
        "Key": {"id": {"S": key}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
