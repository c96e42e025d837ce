"""Streams: records in order, with both images; and the stream of a table that is made anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from singletable.client.capabilities import is_unknown_operation
from singletable.errors import ApiError, NotDynamoDbError, TargetError, TargetUnreachableError, ThrottledError
from singletable.probe.report import Finding, absent, breaks, holds
from singletable.probe.table import SEEN_S_MAX, Item, ProbeTable, key, text

_READS_MAX: Final = 20  # of a shard that has ended, or has nothing more for now
_EVENTS: Final = ["INSERT", "MODIFY", "REMOVE"]


def stream_records(table: ProbeTable) -> Finding:
    """Write an item, write it again, delete it; read that back from the stream."""
    arn = table.description.get("LatestStreamArn")
    if not arn:
        return absent("a table gets none")
    first, second = ({**key("STREAM"), **text(value=value)} for value in ("1", "2"))
    table.put(first)
    table.put(second)
    table.on("DeleteItem", Key=key("STREAM"))
    found: list[dict[str, Any]] = []

    def is_complete() -> bool:
        found[:] = [record for record in _records(table, arn) if _key_of(record) == key("STREAM")]
        return len(found) >= len(_EVENTS)

    try:
        is_seen = table.eventually(is_complete)
    except TargetUnreachableError:
        raise
    except TargetError as error:
        return _unserved(error)
    except ApiError as error:
        if not is_unknown_operation(error):
            raise
        return absent("they cannot be read")
    if not is_seen:
        return breaks(f"of {len(_EVENTS)} changes, {len(found)} are in the stream after {SEEN_S_MAX:.0f} s")
    images = [
        (record["eventName"], record["dynamodb"].get("OldImage"), record["dynamodb"].get("NewImage"))
        for record in found
    ]
    if [name for name, _, _ in images] != _EVENTS:
        return breaks(f"the changes of an item come as {', '.join(name for name, _, _ in images)}")
    if [image[1:] for image in images] != [(None, first), (first, second), (second, None)]:
        return breaks("records do not have the item before and after the change")
    return holds("the changes of an item come in order, with the item before and after")


def stream_of_new_table(table: ProbeTable) -> Finding:
    """Delete a table that has a stream, make another of its name, and read the stream of that one."""
    if not table.description.get("LatestStreamArn"):
        return absent("a table gets none")
    if table.describe(table.again) is None:
        table.make_again([])
    if not table.remove(table.again):
        if table.left_s <= 0:
            return Finding("untried", "the time was over")
        return breaks("a table that was deleted does not go")
    try:
        described = table.make_again([])
    except ThrottledError:
        raise
    except ApiError as error:
        return breaks(f"a table of the same name cannot be made: {error.message or error.code}")
    arn = described.get("LatestStreamArn")
    if not arn:
        return breaks("a table of the same name gets no stream")
    table.ask("PutItem", TableName=table.again, Item=key("NEW"))
    try:
        is_seen = table.eventually(lambda: [_key_of(each) for each in _records(table, arn)] == [key("NEW")])
    except TargetUnreachableError:
        raise
    except TargetError as error:
        return _unserved(error)
    if not is_seen:
        return breaks("its stream does not have the one change that was made")
    return holds("a table of the same name has a stream of its own")


def _unserved(error: TargetError) -> Finding:
    """Say why streams cannot be read: to boto3 they are a service of their own, which an endpoint may not run."""
    return absent("they are not served here" if isinstance(error, NotDynamoDbError) else error.message)


def _records(table: ProbeTable, arn: str) -> Iterator[dict[str, Any]]:
    """Return the records that a stream has now, shard by shard."""
    for shard in _shards(table, arn):
        params = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = table.ask("GetShardIterator", params).get("ShardIterator")
        for _ in range(_READS_MAX):
            if iterator is None:
                break
            answer = table.ask("GetRecords", ShardIterator=iterator)
            yield from answer.get("Records", ())
            if not answer.get("Records"):
                break
            iterator = answer.get("NextShardIterator")


def _shards(table: ProbeTable, arn: str) -> Iterator[str]:
    params: dict[str, Any] = {"StreamArn": arn}
    while True:
        described = table.ask("DescribeStream", params)["StreamDescription"]
        yield from (shard["ShardId"] for shard in described.get("Shards", ()))
        if not described.get("LastEvaluatedShardId"):
            return
        params["ExclusiveStartShardId"] = described["LastEvaluatedShardId"]


def _key_of(record: dict[str, Any]) -> Item:
    keys: Item = record["dynamodb"]["Keys"]
    return keys
