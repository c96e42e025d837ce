"""A process that restores a table to a moment and from a backup, and writes on to the source, until it is killed.

usage: python -m resilience.crash.restore FILE AT_US BACKUP_ARN FIRST      (the number of its first write)

Each report is the number of a write and the statuses of the two restored tables after it; the first one is made
before they are asked for. They are filled in the smallest pieces.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta

from resilience.crash.backfill import HastyClock, numbered_item
from resilience.crash.workload import Item
from singletable import Database

SOURCE = "source"
TO_MOMENT = "to-moment"
FROM_BACKUP = "from-backup"
ITEMS = 2000
ATTRIBUTE = "expires"


def source_item(number: int, version: int) -> Item:
    """Return an item of the source; one of ten would have expired, if items of its table did."""
    item = numbered_item(number, version)
    return {**item, ATTRIBUTE: {"N": "1700001000"}} if number % 10 == 0 else item


def write(db: Database, number: int) -> None:
    """Change the source: an item gets another version, or is deleted, or is made again."""
    item = source_item(number * 1013 % ITEMS, number)
    if number % 3:
        db.put_item(TableName=SOURCE, Item=item)
    else:
        db.delete_item(TableName=SOURCE, Key={name: item[name] for name in ("PK", "SK")})


def restore(db: Database, at_us: int, backup_arn: str) -> None:
    """Ask for the two tables that an earlier process has not asked for."""
    tables = db.list_tables()["TableNames"]
    if TO_MOMENT not in tables:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at_us)
        db.restore_table_to_point_in_time(
            SourceTableName=SOURCE, TargetTableName=TO_MOMENT, RestoreDateTime=at
        )
    if FROM_BACKUP not in tables:
        db.restore_table_from_backup(TargetTableName=FROM_BACKUP, BackupArn=backup_arn)


def status(db: Database, table: str) -> str:
    return str(db.describe_table(TableName=table)["Table"]["TableStatus"])


def main(path: str, at_us: str, backup_arn: str, first: str) -> None:
    db = Database.open(path, durability="relaxed", clock=HastyClock())
    number = int(first)
    os.write(1, f"{number - 1} asking asking\n".encode())
    restore(db, int(at_us), backup_arn)
    while True:
        write(db, number)
        os.write(1, f"{number} {status(db, TO_MOMENT)} {status(db, FROM_BACKUP)}\n".encode())
        number += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
