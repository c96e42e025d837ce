"""A process that asks a database everything: its answers are compared with those of a sound file.

usage: python -m resilience.crash.asker   (a line [what, file] in, a line of JSON out: see `_STEPS`)
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import SingleTableError
from singletable.storage.check import check_file

BEGIN_US = 1_700_000_000_000_000
HALF_US = BEGIN_US + 3_600_000_000
END_US = HALF_US + 3_600_000_000
ORDERS, NAMES = "orders", "names"
PARTITIONS, ITEMS, GROUPS, NAMED = 5, 24, 4, 60

Answers = dict[str, str]  # of each request a digest, or the error after "!"


def create(db: Any) -> None:
    """Create a table with indexes of both kinds, a stream, a past and a time to live, and one with nothing."""
    text, number = ("PK", "SK", "Group", "Name"), ("Rank",)
    db.create_table(
        TableName=ORDERS,
        KeySchema=_keys("PK", "SK"),
        AttributeDefinitions=[
            *({"AttributeName": name, "AttributeType": "S"} for name in text[:3]),
            *({"AttributeName": name, "AttributeType": "N"} for name in number),
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "ByGroup",
                "KeySchema": _keys("Group", "Rank"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "ByRank",
                "KeySchema": _keys("PK", "Rank"),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        BillingMode="PAY_PER_REQUEST",
    )
    db.update_continuous_backups(
        TableName=ORDERS, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    db.update_time_to_live(
        TableName=ORDERS, TimeToLiveSpecification={"Enabled": True, "AttributeName": "Until"}
    )
    db.create_table(
        TableName=NAMES,
        KeySchema=_keys("Name")[:1],
        AttributeDefinitions=[{"AttributeName": "Name", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def _keys(*names: str) -> Any:
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def order_key(partition: int, number: int) -> Any:
    return {"PK": {"S": f"customer#{partition}"}, "SK": {"S": f"order#{number:03}"}}


def put_order(db: Any, partition: int, number: int, note: str) -> None:
    item = {
        **order_key(partition, number),
        "Group": {"S": f"group#{number % GROUPS}"},
        "Rank": {"N": str(number % 7)},
        "Note": {"S": note},
    }
    if partition == 0 and number % 6 == 5:
        item["Until"] = {"N": str(BEGIN_US // 1_000_000 + number)}  # over by the end
    db.put_item(TableName=ORDERS, Item=item)


def put_name(db: Any, number: int, text: str) -> None:
    db.put_item(TableName=NAMES, Item={"Name": {"S": f"name {number}"}, "Text": {"S": text}})


# --- what is asked ------------------------------------------------------------------------------------

_Request = tuple[str, Callable[[], Any]]


def reads(db: Any) -> Iterator[_Request]:
    for partition in range(PARTITIONS):
        for number in range(-1, ITEMS + 1):
            yield _get(db, ORDERS, order_key(partition, number))
    for number in range(-3, NAMED + 3):
        yield _get(db, NAMES, {"Name": {"S": f"name {number}"}})
    keys = [order_key(partition, number) for partition in range(PARTITIONS) for number in (1, 9, 17, 99)]
    yield "BatchGetItem", lambda: db.batch_get_item(RequestItems={ORDERS: {"Keys": keys}})
    gets: Any = [{"Get": {"TableName": ORDERS, "Key": key}} for key in keys]
    yield "TransactGetItems", lambda: db.transact_get_items(TransactItems=gets)
    ranges = [
        *((None, "PK", f"customer#{partition}") for partition in range(PARTITIONS + 1)),
        *(("ByRank", "PK", f"customer#{partition}") for partition in range(PARTITIONS + 1)),
        *(("ByGroup", "Group", f"group#{group}") for group in range(GROUPS + 1)),
    ]
    for index, name, value in ranges:
        for forward in (True, False):
            where = _query(index, name, value, forward=forward)
            yield f"Query {index} {value} {forward}", partial(_pages, db.query, where, 9)
    for index in (None, "ByRank", "ByGroup"):
        where = {"TableName": ORDERS} if index is None else {"TableName": ORDERS, "IndexName": index}
        yield f"Scan {index}", partial(_pages, db.scan, where, 50)
    for segment in range(3):
        part = {"TableName": NAMES, "Segment": segment, "TotalSegments": 3}
        yield f"Scan segment {segment}", partial(_pages, db.scan, part, 50)
    for table in (ORDERS, NAMES, "missing"):
        yield f"DescribeTable {table}", partial(db.describe_table, TableName=table)
    yield "ListTables", db.list_tables
    yield "DescribeTimeToLive", lambda: db.describe_time_to_live(TableName=ORDERS)
    yield "GetRecords", lambda: _records(db)
    past = db.at(HALF_US / 1e6)
    yield "Scan of the past", lambda: _pages(past.scan, {"TableName": ORDERS}, 50)
    yield "Query of the past", lambda: _pages(past.query, _query("ByGroup", "Group", "group#1"), 50)
    for number in (0, 3, 23):
        key = order_key(1, number)
        yield f"history {number}", partial(_history, db, key)


def writes(db: Any) -> Iterator[tuple[str, Callable[[], Any], tuple[str, Any]]]:
    """Yield writes, each with the table and the key of what it changes; no two change the same item."""
    absent = {"ConditionExpression": "attribute_not_exists(PK)"}
    for number in (2, 8, 14, ITEMS + 7):
        for partition in range(1, PARTITIONS):
            key = order_key(partition, number)
            item = {**key, "Note": {"S": "new" * 40}}
            yield (
                f"PutItem {partition} {number}",
                partial(db.put_item, TableName=ORDERS, Item=item, **absent),
                (ORDERS, key),
            )
    for number in range(0, NAMED + 4, 5):
        key = {"Name": {"S": f"name {number}"}}
        yield (
            f"UpdateItem {number}",
            partial(
                db.update_item,
                TableName=NAMES,
                Key=key,
                UpdateExpression="ADD Seen :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
                ReturnValues="ALL_NEW",
            ),
            (NAMES, key),
        )
    for partition in range(1, PARTITIONS):
        key = order_key(partition, 20)
        moved: Any = {
            "TableName": ORDERS,
            "Key": key,
            "UpdateExpression": "SET #g = :g",
            "ConditionExpression": "attribute_exists(PK)",
            "ExpressionAttributeNames": {"#g": "Group"},
            "ExpressionAttributeValues": {":g": {"S": "group#0"}},
        }
        checked: Any = {
            "TableName": NAMES,
            "Key": {"Name": {"S": f"name {partition}"}},
            "ConditionExpression": "attribute_exists(#n)",
            "ExpressionAttributeNames": {"#n": "Name"},
        }
        items: Any = [{"Update": moved}, {"ConditionCheck": checked}]
        yield (
            f"TransactWriteItems {partition}",
            partial(db.transact_write_items, TransactItems=items),
            (ORDERS, key),
        )


def _get(db: Any, table: str, key: Any) -> _Request:
    return f"GetItem {json.dumps(key)}", lambda: db.get_item(TableName=table, Key=key)


def _query(index: str | None, name: str, value: str, *, forward: bool = True) -> Any:
    where: Any = {
        "TableName": ORDERS,
        "KeyConditionExpression": "#n = :v",
        "ExpressionAttributeNames": {"#n": name},
        "ExpressionAttributeValues": {":v": {"S": value}},
        "ScanIndexForward": forward,
    }
    return where if index is None else {**where, "IndexName": index}


def _pages(read: Callable[..., Any], where: Any, limit: int) -> list[Any]:
    found: list[Any] = []
    start: Any = {}
    while True:
        page = read(**where, **start, Limit=limit)
        found.append(page["Items"])
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def _history(db: Any, key: Any) -> list[str]:
    return [str(version) for version in db.history(ORDERS, key)]


def _records(db: Any) -> list[Any]:
    (stream,) = db.list_streams(TableName=ORDERS)["Streams"]
    arn = stream["StreamArn"]
    (shard,) = db.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    at = db.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")
    iterator: str | None = at["ShardIterator"]
    found: list[Any] = []
    while iterator is not None:
        page = db.get_records(ShardIterator=iterator)
        if not page["Records"]:
            break
        found.append(page["Records"])
        iterator = page.get("NextShardIterator")
    return found


# --- the process -----------------------------------------------------------------------------------------


def _ask(request: Callable[[], Any]) -> str:
    """Return a digest of an answer, or the error. What is no error of ours ends the process."""
    try:
        answer = request()
    except SingleTableError as error:
        return f"!{type(error).__name__}: {error}"
    return hashlib.blake2b(json.dumps(answer, default=str).encode(), digest_size=8).hexdigest()


def ask_all(db: Any) -> Answers:
    """Read everything; then write, and read what was written: as it is now, or as it was if it was refused."""
    answers = {name: _ask(request) for name, request in reads(db)}
    for name, request, (table, key) in writes(db):
        named, get = _get(db, table, key)
        before = answers[named] if named in answers else _ask(get)
        answers[name] = _ask(request)
        after = _ask(get)
        answers[f"{named} behind it"] = "as before" if after == before and answers[name][0] == "!" else after
    answers["sweep"] = _ask(db.sweep_expired)
    return answers


class _Asker:
    def __init__(self) -> None:
        self.db: Any = None

    def check(self, path: str) -> list[str]:
        try:
            return [str(problem) for problem in check_file(path)]
        except SingleTableError as error:
            return [f"!{type(error).__name__}: {error}"]

    def open(self, path: str) -> str:
        try:
            self.db = Database.open(path, clock=ManualClock(END_US), durability="relaxed")
        except SingleTableError as error:
            return f"!{type(error).__name__}: {error}"
        return ""

    def read(self, path: str) -> Answers:
        assert self.db is not None
        return {name: _ask(request) for name, request in reads(self.db)}

    def ask(self, path: str) -> Answers:
        assert self.db is not None
        return ask_all(self.db)

    def close(self, path: str) -> None:
        if self.db is not None:
            self.db.close()
        self.db = None

    def use(self, path: str) -> Answers:
        """Check the file, open it, ask everything, and close it."""
        answers = {"check": json.dumps(self.check(path)), "open": self.open(path)}
        if self.db is not None:
            answers |= self.ask(path)
            self.close(path)
        return answers


_STEPS = ("check", "open", "read", "ask", "close", "use")


def main() -> None:
    asker = _Asker()
    for line in sys.stdin:
        what, path = json.loads(line)
        assert what in _STEPS
        print(json.dumps(getattr(asker, what)(path)), flush=True)


if __name__ == "__main__":
    main()
