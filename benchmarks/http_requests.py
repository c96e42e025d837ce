"""The table that servers are measured with, and the bodies of requests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchmarks import payloads
from benchmarks.http_client import AnswerError, Client
from benchmarks.payloads import TABLE_DEFINITION, Item, Payloads, Size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

PARTITION_ITEMS: Final = 25
BATCH_ITEMS: Final = 25
UNIQUE: Final = "UNIQUE000000"  # replaced in each request by a number of as many digits (http_load.lua)
NOT_WRITTEN: Final = "0"

GET: Final = "GetItem"
QUERY: Final = "Query"
PUT: Final = "PutItem"
UPDATE: Final = "UpdateItem"
OPERATIONS: Final = (GET, QUERY, PUT, UPDATE)
# An engine that reads and writes item by item is quicker the fewer attributes there are: both are told.
MANY_ATTRIBUTES: Final = "many attributes"
ONE_LONG_TEXT: Final = "one long text"
SHAPES: Final = {MANY_ATTRIBUTES: payloads.ONE_KB, ONE_LONG_TEXT: payloads.ONE_KB_TEXT}
# The least that the answers have to have: the item of 1 KB, 25 of them, or "{}".
ANSWER_BYTES_MIN: Final = {GET: 1_000, QUERY: 25_000, PUT: 2, UPDATE: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """Bodies of one operation, one a line of a file, for random choice."""

    operation: str
    path: Path
    answer_bytes_min: int


def key_of(number: int) -> Item:
    """The primary key of the item with this number."""
    partition, position = divmod(number, PARTITION_ITEMS)
    return {
        "PK": {"S": f"CUSTOMER#{partition:08d}"},
        "SK": {"S": f"ORDER#2024-05-17T12:00:{position:02d}Z"},
    }


def item_of(source: Payloads, number: int, *, version: str) -> Item:
    """An order of 1 KB. Its version is also its sort key in the index, so that an overwrite moves it there."""
    changed = {"version": {"N": version}, "GSI1SK": {"S": f"{version}#{number:06d}"}}
    return {**source.item(number), **key_of(number), **changed}


def write_bodies(directory: Path, source: Payloads) -> dict[str, Bodies]:
    """Write the bodies of every operation: each reaches every item, or every partition, of the table once."""
    numbers = range(source.items)
    partitions = range(0, source.items, PARTITION_ITEMS)
    made: dict[str, Iterator[dict[str, Any]]] = {
        GET: ({"Key": key_of(number)} for number in numbers),
        QUERY: (
            {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": key_of(number)["PK"]}}
            for number in partitions
        ),
        PUT: ({"Item": item_of(source, number, version=UNIQUE)} for number in numbers),
        UPDATE: (
            {
                "Key": key_of(number),
                "UpdateExpression": "SET version = :v",
                "ConditionExpression": "attribute_exists(PK)",
                "ExpressionAttributeValues": {":v": {"N": UNIQUE}},
            }
            for number in numbers
        ),
    }
    return {
        operation: bodies_in(directory, source.size.table, operation, requests)
        for operation, requests in made.items()
    }


def bodies_in(directory: Path, table: str, operation: str, requests: Iterable[dict[str, Any]]) -> Bodies:
    """Write requests on the table into a file."""
    path = directory / f"{table}-{operation}.jsonl"
    with path.open("w", encoding="ascii") as file:
        file.writelines(json.dumps({"TableName": table, **request}) + "\n" for request in requests)
    return Bodies(operation=operation, path=path, answer_bytes_min=ANSWER_BYTES_MIN[operation])


def load_table(port: int, source: Payloads) -> None:
    """Create the table and put every item, in an order that no key follows."""
    client = Client(port)
    client.call("CreateTable", **TABLE_DEFINITION | {"TableName": source.size.table})
    items = (item_of(source, number, version=NOT_WRITTEN) for number in source.numbers_shuffled())
    put_all(client, source.size.table, items)
    client.close()


def put_all(client: Client, table: str, items: Iterable[Item]) -> None:
    """Put items, a batch to a request."""
    for batch in batches(items):
        answer = client.call("BatchWriteItem", RequestItems={table: batch})
        if answer.get("UnprocessedItems"):
            raise AnswerError("a batch was not written whole")


def batches(items: Iterable[Item]) -> Iterator[Sequence[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for item in items:
        batch.append({"PutRequest": {"Item": item}})
        if len(batch) == BATCH_ITEMS:
            yield batch
            batch = []
    if batch:
        yield batch


def make_source(*, items: int, size: Size = payloads.ONE_KB) -> Payloads:
    """Every server gets the same items: they follow from the seed."""
    assert items % PARTITION_ITEMS == 0, "every partition is full"
    return Payloads(size, items=items)


def check_table(port: int, source: Payloads) -> None:
    """See to it that a server has what was put: an item, and a whole partition in order."""
    client = Client(port)
    table = source.size.table
    for number in (0, source.items // 2, source.items - 1):
        key = key_of(number)
        item = client.call(GET, TableName=table, Key=key).get("Item", {})
        if {name: item.get(name) for name in key} != key or "note" not in item:
            raise AnswerError(f"{GET} of {key} found {item}")
        page = client.call(
            QUERY,
            TableName=table,
            KeyConditionExpression="PK = :p",
            ExpressionAttributeValues={":p": key["PK"]},
        )["Items"]
        first = number - number % PARTITION_ITEMS
        keys = [{"PK": item["PK"], "SK": item["SK"]} for item in page]
        if keys != [key_of(first + position) for position in range(PARTITION_ITEMS)]:
            raise AnswerError(f"{QUERY} of {key['PK']} found {keys}")
    client.close()


def versions_written(port: int, table: str) -> int:
    """How many items have been written over since they were loaded."""
    client = Client(port)
    written = 0
    start: dict[str, Any] = {}
    while True:
        page = client.call(
            "Scan",
            TableName=table,
            ProjectionExpression="#v",
            ExpressionAttributeNames={"#v": "version"},
            **start,
        )
        written += len([item for item in page["Items"] if item["version"]["N"] != NOT_WRITTEN])
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    client.close()
    return written
