"""Tables with streams, and reading those to their end, for several tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from singletable import Database
from singletable.clock import ManualClock
from support.sample_tables import attributes, key_schema

HOUR_S = 3600
DAY_S = 24 * HOUR_S
EMPTY_PAGES_MAX = (
    3  # each of them has passed over some thousand changes of other shards, or there are no more
)


def create_streamed(db: Any, name: str = "streamed", view: str = "NEW_AND_OLD_IMAGES") -> str:
    """Make a table whose changes a stream shows; return the ARN of that. `db` may be a boto3 client as well."""
    answer = db.create_table(
        TableName=name,
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S"),
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": view},
    )
    arn: str = answer["TableDescription"]["LatestStreamArn"]
    return arn


def turn_off(db: Database, name: str = "streamed") -> None:
    db.update_table(TableName=name, StreamSpecification={"StreamEnabled": False})


def turn_on(db: Any, name: str = "streamed", view: str = "NEW_AND_OLD_IMAGES") -> str:
    answer = db.update_table(
        TableName=name, StreamSpecification={"StreamEnabled": True, "StreamViewType": view}
    )
    arn: str = answer["TableDescription"]["LatestStreamArn"]
    return arn


def put(db: Any, key: str, table: str = "streamed", **more: Any) -> None:
    db.put_item(TableName=table, Item={"id": {"S": key}, **more})


def delete(db: Any, key: str, table: str = "streamed") -> None:
    db.delete_item(TableName=table, Key={"id": {"S": key}})


# --- shards -----------------------------------------------------------------------------------------


def shards_of(reader: Any, arn: str, **more: Any) -> list[Any]:
    """Return all shards of a stream, page by page. `reader` is a database or a boto3 client for streams."""
    found: list[Any] = []
    start: dict[str, str] = {}
    while True:
        page = reader.describe_stream(StreamArn=arn, **start, **more)["StreamDescription"]
        found += page["Shards"]
        if "LastEvaluatedShardId" not in page:
            return found
        start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}


def only_shard(reader: Any, arn: str) -> str:
    (shard,) = shards_of(reader, arn)
    shard_id: str = shard["ShardId"]
    return shard_id


# --- records ----------------------------------------------------------------------------------------


def iterator_at(reader: Any, arn: str, kind: str = "TRIM_HORIZON", **more: Any) -> str:
    """Return an iterator for a place in a shard; in the only one, if none is named."""
    shard = more.pop("ShardId", None) or only_shard(reader, arn)
    answer = reader.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType=kind, **more)
    iterator: str = answer["ShardIterator"]
    return iterator


def pages_from(reader: Any, iterator: str, **more: Any) -> Iterator[Any]:
    """Yield pages until the shard has ended, or nothing more seems to come: an empty page may be on the way."""
    empty_in_a_row = 0
    while empty_in_a_row < EMPTY_PAGES_MAX:
        page = reader.get_records(ShardIterator=iterator, **more)
        yield page
        if "NextShardIterator" not in page:
            return
        empty_in_a_row = 0 if page["Records"] else empty_in_a_row + 1
        iterator = page["NextShardIterator"]


def records_from(reader: Any, iterator: str, **more: Any) -> list[Any]:
    return [record for page in pages_from(reader, iterator, **more) for record in page["Records"]]


def records_of(reader: Any, arn: str, **more: Any) -> list[Any]:
    """Return all records of a stream, parents before their children."""
    return [
        record
        for shard in shards_of(reader, arn)
        for record in records_from(reader, iterator_at(reader, arn, ShardId=shard["ShardId"]), **more)
    ]


def keys_of(records: list[Any]) -> list[str]:
    return [record["dynamodb"]["Keys"]["id"]["S"] for record in records]


def events_of(records: list[Any]) -> list[tuple[str, str]]:
    return [(record["eventName"], record["dynamodb"]["Keys"]["id"]["S"]) for record in records]


def divided(db: Database, clock: ManualClock, *, records: int) -> tuple[str, list[Any]]:
    """Make a stream whose first shard is full with so many records; return its ARN and the shards that follow."""
    arn = create_streamed(db)
    for number in range(records):
        put(db, f"k{number}")
    clock.advance(1)
    _, *children = shards_of(db, arn)
    return arn, children
