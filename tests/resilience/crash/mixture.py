"""A process that does everything with the log of a table at once, until it is killed.

usage: python -m resilience.crash.mixture FILE SEED FIRST      (the number of its first write)

Threads write (puts, deletes, transactions, items that expire), consumers copy and count what they are given in one
transaction with their position, and moments are remembered and looked at again, beside backups and expiry.

Each report is `written NUMBER`, `moment TIME_US DIGEST` or `backup ARN`.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import orjson

from resilience.crash.verify import read_pages
from singletable import Database, limits
from singletable.clock import SystemClock
from support.past_tables import end_of_log
from support.sample_tables import attributes, index, key_schema

TABLE = "mixed"
COPY = "copy"
COUNTS = "counts"
COPIER = "copier"
COUNTER = "counter"
INDEX = "ByColour"
ITEMS = 30
PAIRS = 10
ATTRIBUTE = "expires"
STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}

_LEASE_S = 0.2


def create_tables(db: Database) -> None:
    """Make a table with a stream, expiry, recovery and an index, and two for what the consumers write."""
    keys: Any = {"KeySchema": key_schema("PK", "SK"), "BillingMode": "PAY_PER_REQUEST"}
    db.create_table(
        TableName=TABLE,
        AttributeDefinitions=attributes(PK="S", SK="S", Colour="S"),
        GlobalSecondaryIndexes=[index(INDEX, "Colour")],
        StreamSpecification=STREAM,
        **keys,
    )
    for name in (COPY, COUNTS):
        db.create_table(TableName=name, AttributeDefinitions=attributes(PK="S", SK="S"), **keys)
    db.update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"AttributeName": ATTRIBUTE, "Enabled": True}
    )
    db.update_continuous_backups(
        TableName=TABLE, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )


# --- writing ------------------------------------------------------------------------------------------


def _item(name: str, number: int) -> Any:
    item = {"PK": {"S": name}, "SK": {"S": "x"}, "number": {"N": str(number)}}
    if number % 4:
        item["Colour"] = {"S": f"colour#{number % 3}"}
    return item


def pair(number: int) -> list[Any]:
    """Return two items that are always written together."""
    return [_item(f"pair#{number % PAIRS}#{half}", number) for half in "ab"]


def _write(db: Database, random: Random, number: int) -> None:
    name = f"item#{random.randrange(ITEMS)}"
    match random.choices(("put", "delete", "transaction", "expiring"), (4, 2, 2, 2))[0]:
        case "put":
            db.put_item(TableName=TABLE, Item=_item(name, number))
        case "delete":
            db.delete_item(TableName=TABLE, Key={"PK": {"S": name}, "SK": {"S": "x"}})
        case "transaction":
            db.transact_write_items(
                TransactItems=[{"Put": {"TableName": TABLE, "Item": item}} for item in pair(number)]
            )
        case _:
            expires_s = SystemClock().now_us() // 1_000_000 - random.randint(0, 2)
            db.put_item(TableName=TABLE, Item={**_item(name, number), ATTRIBUTE: {"N": str(expires_s)}})


def _write_on(db: Database, seed: str, number: int) -> None:
    for count in itertools.count(number):
        _write(db, Random(f"{seed}/{count}"), count)
        _report(f"written {count}")


# --- consuming ------------------------------------------------------------------------------------------


def copy_changes(event: Any, context: Any) -> None:
    """Keep the copy as the table was behind these changes."""
    for record in event["Records"]:
        change = record["dynamodb"]
        if record["eventName"] == "REMOVE":
            context.transaction.delete_item(TableName=COPY, Key=change["Keys"])
        else:
            context.transaction.put_item(TableName=COPY, Item=change["NewImage"])


def count_changes(event: Any, context: Any) -> None:
    """Count each change, by the number of its record."""
    for record in event["Records"]:
        sequence = record["dynamodb"]["SequenceNumber"]
        context.transaction.update_item(
            TableName=COUNTS,
            Key={"PK": {"S": sequence}, "SK": {"S": "x"}},
            UpdateExpression="ADD times :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )


def consume(db: Database, batch_size: int) -> list[Any]:
    """Start the two consumers."""
    return [
        db.consume(TABLE, handler, name, batch_size=batch_size, lease_s=_LEASE_S, poll_s=0.02)
        for name, handler in ((COPIER, copy_changes), (COUNTER, count_changes))
    ]


# --- looking back ---------------------------------------------------------------------------------------


def digest(items: Iterable[Any]) -> str:
    """Return what tells one state of a table from another."""
    lines = sorted(orjson.dumps(item, option=orjson.OPT_SORT_KEYS) for item in items)
    return hashlib.sha256(b"\n".join(lines)).hexdigest()[:16]


def digest_at(db: Database, at_us: int) -> str:
    """Return the digest of the table as it was, which its index agrees with."""
    view = db.at(at_us / 1_000_000)
    items = list(read_pages(view.scan, TableName=TABLE))
    coloured = digest(item for item in items if "Colour" in item)
    assert digest(read_pages(view.scan, TableName=TABLE, IndexName=INDEX)) == coloured
    return digest(items)


def _look_back(db: Database) -> None:
    known: dict[int, str] = {}
    random = Random(0)
    for count in itertools.count():
        at_us = end_of_log(db, TABLE)
        if not at_us:
            continue
        known[at_us] = digest_at(db, at_us)
        _report(f"moment {at_us} {known[at_us]}")
        earlier_us = random.choice(sorted(known))
        assert digest_at(db, earlier_us) == known[earlier_us], "the past has changed"
        if count % 4 == 0:
            backup = db.create_backup(TableName=TABLE, BackupName=f"b-{count}")
            _report(f"backup {backup['BackupDetails']['BackupArn']}")


# --- the process ------------------------------------------------------------------------------------------


def _report(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def _guarded(work: Callable[..., None], *arguments: Any) -> None:
    # One thread that fails must end the process, or the others would hide it.
    try:
        work(*arguments)
    except BaseException as error:
        os.write(2, f"{work.__name__}: {type(error).__name__}: {error}\n".encode())
        os._exit(3)


def main(path: str, seed: str, first: str) -> None:
    limits.SHARD_RECORDS_MAX = 150  # type: ignore[misc]  # so that shards are closed and followed by others
    db = Database.open(path, durability="relaxed", ttl_sweep_s=0.01)
    consume(db, batch_size=7)
    for work, arguments in ((_write_on, (db, seed, int(first))), (_look_back, (db,))):
        threading.Thread(target=_guarded, args=(work, *arguments)).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
