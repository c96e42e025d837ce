"""A process that adds an index to a table and writes on while the index is being filled, until it is killed.

usage: python -m resilience.crash.backfill FILE FIRST      (the number of its first write)

Each report is the number of a write and the status of the index after it.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from resilience.crash.workload import Item
from singletable import Database
from singletable.clock import SystemClock

TABLE = "filled"
INDEX = "ByColour"
ITEMS = 4000
COLOURS = 5

_POLLS_MAX = 6000
_POLL_S = 0.01


def numbered_item(number: int, version: int) -> Item:
    """Return an item whose place in the index changes with its version; every seventh stands in none."""
    item: dict[str, Any] = {
        "PK": {"S": f"item#{number}"},
        "SK": {"S": "x"},
        "Version": {"N": str(version)},
        "Rank": {"N": str(number % 100)},
    }
    if (number + version) % 7:
        item["Colour"] = {"S": f"colour#{(number + version) % COLOURS}"}
    return item


def written_number(write: int) -> int:
    """Return which item the write-th write changes: some that the filling has passed, some to come."""
    return write * 1013 % ITEMS


def add_index(db: Database) -> None:
    """Ask for the index unless an earlier process has done so."""
    table = db.describe_table(TableName=TABLE)["Table"]
    if table.get("GlobalSecondaryIndexes"):
        return
    db.update_table(
        TableName=TABLE,
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "S"},
            {"AttributeName": "Colour", "AttributeType": "S"},
            {"AttributeName": "Rank", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": INDEX,
                    "KeySchema": [
                        {"AttributeName": "Colour", "KeyType": "HASH"},
                        {"AttributeName": "Rank", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    )


def wait_until_active(db: Database, table: str) -> None:
    """Ask for the table until its index is filled."""
    never = threading.Event()
    for _ in range(_POLLS_MAX):
        if index_status(db, table) == "ACTIVE":
            return
        never.wait(_POLL_S)
    raise AssertionError("the index is not filled")


class HastyClock:
    """A clock on which everything takes long, so that the index is filled in the smallest pieces."""

    def __init__(self) -> None:
        self._time_us = SystemClock().now_us()

    def now_us(self) -> int:
        self._time_us += 20_000
        return self._time_us

    def elapsed_us(self) -> int:
        return self.now_us()


def index_status(db: Database, table: str) -> str:
    indexes = db.describe_table(TableName=table)["Table"]["GlobalSecondaryIndexes"]
    return str(indexes[0]["IndexStatus"])


def main(path: str, first: str) -> None:
    db = Database.open(path, clock=HastyClock())
    add_index(db)
    write = int(first)
    while True:
        db.put_item(TableName=TABLE, Item=numbered_item(written_number(write), write))
        os.write(1, f"{write} {index_status(db, TABLE)}\n".encode())
        write += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
