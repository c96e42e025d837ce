"""Backups of tables, for the tests of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from singletable import Database, limits
from singletable.storage.check import check_file
from singletable.storage.file.connections import ReadConnection
from singletable.storage.file.page_copies import WrittenFile
from support.sample_tables import all_items, item, n

DAY_S = 24 * 3600


def fill(db: Database, count: int, table: str = "single", first: int = 0) -> None:
    """Put numbered items, each with an index entry."""
    for number in range(first, first + count):
        put = item(f"p{number:05}", "s", GSI1PK="all", GSI1SK=f"{number:05}", number=n(number))
        db.put_item(TableName=table, Item=put)


def back_up(db: Database, name: str = "first", table: str = "single") -> str:
    """Make a backup; return its ARN."""
    return db.create_backup(TableName=table, BackupName=name)["BackupDetails"]["BackupArn"]


def details(db: Database, arn: str) -> Any:
    return db.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]


def names(db: Database, **request: Any) -> list[str]:
    """Return the names of the backups that are listed."""
    return [one["BackupName"] for one in db.list_backups(**request)["BackupSummaries"]]


def restored(db: Database, arn: str, table: str = "again", **more: Any) -> list[Any]:
    """Restore a backup into a new table, wait for it, and return its items."""
    db.restore_table_from_backup(TargetTableName=table, BackupArn=arn, **more)
    while db.describe_table(TableName=table)["Table"]["TableStatus"] != "ACTIVE":
        db._session.store.background.piece()
    return all_items(db, "scan", TableName=table)


def folder(db: Database) -> Path:
    return Path(db._session.store.backups.folder.path)


def files(db: Database) -> list[str]:
    """Return everything in the folder of a database's backups."""
    return sorted(str(path.relative_to(folder(db))) for path in folder(db).rglob("*") if path.is_file())


def assert_only_whole_backups(path: Path) -> int:
    """Assert that a folder holds whole and sound backups and nothing else; return how many."""
    names = sorted(file.name for file in path.rglob("*") if file.is_file())
    stems = {name.removesuffix(".json") for name in names if name.endswith(".json")}
    assert names == sorted([f"{stem}.{ending}" for stem in stems for ending in ("db", "json")])
    for file in path.rglob("*.db"):
        assert check_file(file) == []
    return len(stems)


class Gate:
    """Holds backups up that are copied, and not verified yet."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.is_open = threading.Event()


@contextmanager
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Let every backup be made in a thread, which waits at a gate; it is opened at the end of the block."""
    held = Gate()
    verify = WrittenFile.verify

    def wait_and_verify(self: WrittenFile, *arguments: Any) -> str:
        held.reached.set()
        assert held.is_open.wait(20)
        return verify(self, *arguments)

    monkeypatch.setattr(limits, "SMALL_BACKUP_BYTES", -1)
    monkeypatch.setattr(WrittenFile, "verify", wait_and_verify)
    try:
        yield held
    finally:
        held.is_open.set()


def endless_copy(set_attribute: Callable[[object, str, object], None]) -> threading.Event:
    """Let the next copy of a table go on until it is told to end. The event is set when it has begun."""
    begun = threading.Event()
    end_when = ReadConnection.end_when

    def end_when_told(self: ReadConnection, must_end: Callable[[], bool]) -> None:
        def wait() -> bool:
            begun.set()
            while not must_end():
                time.sleep(0.001)
            return True

        end_when(self, must_end if begun.is_set() else wait)

    set_attribute(ReadConnection, "end_when", end_when_told)
    return begun
