"""What the tests of counters, copies and derived items share: opening a design anyhow, its stream, raw writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from singletable.clock import ManualClock
from singletable.design import Design
from singletable.design.streams.dispatch import StreamDispatcher
from singletable.design.streams.once import GUARD_NAME
from support.design_clients import on_client, opened_anyhow

D = TypeVar("D", bound=Design)
Record = dict[str, Any]
Item = dict[str, Any]


@contextmanager
def opened_design(design: type[D], target: str) -> Iterator[D]:
    """Open a design on a fresh target, one of `ALL_TARGETS`."""
    clock = ManualClock()
    with opened_anyhow(target, clock=clock, sleep=lambda seconds: None) as client:
        yield on_client(design, client)


def records(db: Design) -> list[Record]:
    """Return all records of the table's stream, in the order of each shard."""
    client = db.session.client
    described = client.call("DescribeTable", {"TableName": db.session.table})
    stream = described["Table"]["LatestStreamArn"]
    shards = client.call("DescribeStream", {"StreamArn": stream})["StreamDescription"]["Shards"]
    found: list[Record] = []
    for shard in shards:
        place = {"StreamArn": stream, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = client.call("GetShardIterator", place)["ShardIterator"]
        while iterator is not None:
            answer = client.call("GetRecords", {"ShardIterator": iterator})
            found += answer["Records"]
            iterator = answer.get("NextShardIterator") if answer["Records"] else None
    return found


def consume(db: Design, given: Iterable[Record] | None = None) -> None:
    """Hand records to the design; all that there are, and those that follow from them, unless some are given."""
    dispatcher = StreamDispatcher(db, db.session, [])
    if given is not None:
        _dispatch(dispatcher, list(given))
        return
    seen: set[str] = set()
    while new := [record for record in records(db) if record["eventID"] not in seen]:
        seen |= {record["eventID"] for record in new}
        _dispatch(dispatcher, new)


def _dispatch(dispatcher: StreamDispatcher, given: list[Record]) -> None:
    failure = dispatcher.dispatch(given)
    if failure is not None:
        raise failure.error


def stored_items(db: Design) -> list[Item]:
    """Return every item of the table, guards left out."""
    items: list[Item] = []
    params: dict[str, Any] = {"TableName": db.session.table, "ConsistentRead": True}
    while True:
        answer = db.session.client.call("Scan", params)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            break
        params["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    return [item for item in items if item.get("entityType") != {"S": GUARD_NAME}]


def stored_item(db: Design, pk: str, sk: str) -> Item | None:
    """Return an item as it is stored."""
    key = {"PK": {"S": pk}, "SK": {"S": sk}}
    params = {"TableName": db.session.table, "Key": key, "ConsistentRead": True}
    item: Item | None = db.session.client.call("GetItem", params).get("Item")
    return item


def damage(db: Design, pk: str, sk: str, **attributes: Any) -> None:
    """Change attributes of a stored item behind the layer's back; None removes one."""
    names = {f"#{number}": name for number, name in enumerate(attributes)}
    sets = [f"#{n} = :{n}" for n, value in enumerate(attributes.values()) if value is not None]
    removes = [f"#{n}" for n, value in enumerate(attributes.values()) if value is None]
    values = {f":{n}": value for n, value in enumerate(attributes.values()) if value is not None}
    parts = ([f"SET {', '.join(sets)}"] if sets else []) + (
        [f"REMOVE {', '.join(removes)}"] if removes else []
    )
    params: dict[str, Any] = {
        "TableName": db.session.table,
        "Key": {"PK": {"S": pk}, "SK": {"S": sk}},
        "UpdateExpression": " ".join(parts),
        "ExpressionAttributeNames": names,
    }
    if values:
        params["ExpressionAttributeValues"] = values
    db.session.client.call("UpdateItem", params)
