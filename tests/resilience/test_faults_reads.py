"""A read that fails: the request fails, nothing wrong is read or written because of it, and the next one works."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from resilience.crash.faulty_disk import FaultyDisk, faulty_disk
from resilience.crash.model import Progress
from resilience.crash.perform import perform
from resilience.crash.tables import create_all, create_plain
from resilience.crash.verify import assert_same, expected_items, read_tables, verify_database, verify_file
from resilience.crash.workload import Workload
from singletable import Database
from singletable.errors import CorruptDatabaseError, StorageFailedError

WORKLOAD = Workload(71, large=0.1, large_bytes=30_000)
# SQLite itself calls an EIO of read(2) a damaged file (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT).
READ_ERRORS = (StorageFailedError, CorruptDatabaseError)
OPERATIONS = 40


def _write(db: Database, progress: Progress, disk: FaultyDisk) -> None:
    """Do the next operation; if its read fails, nothing of it may be there, and it must work the second time."""
    number = progress.acknowledged + 1
    operation = WORKLOAD.operation(0, number)
    try:
        outcome = perform(db, operation)
    except READ_ERRORS:
        assert disk.read_has_failed
        assert_same(read_tables(db), expected_items({0: progress.state}))
        outcome = perform(db, operation)
    progress.acknowledge(number, outcome)


def _write_with_a_failing_read(path: Path, at: int) -> None:
    progress = Progress(WORKLOAD, writer=0)
    with faulty_disk(path) as disk:
        with ExitStack() as stack:
            # Each of two writers finds that the other has changed the file, and has to read it again.
            databases = [stack.enter_context(Database.open(path)) for _ in range(2)]
            create_all(databases[0])
            disk.arm_reads(at=at)
            for number in range(OPERATIONS):
                _write(databases[number % 2], progress, disk)
            assert disk.read_has_failed
            for db in databases:
                verify_database(db, [progress])
        verify_file(path, [progress])


def test_failed_read_spoils_nothing(tmp_path: Path) -> None:
    for at in sorted(Random(71).sample(range(1, 150), 25)):
        _write_with_a_failing_read(tmp_path / f"{at}.db", at)


@pytest.mark.soak
def test_failed_read_anywhere_spoils_nothing(tmp_path: Path) -> None:
    for at in range(1, 150):
        _write_with_a_failing_read(tmp_path / f"{at}.db", at)


def test_failed_read_is_an_error_and_the_next_read_works(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    key = {"PK": {"S": "a"}}
    with faulty_disk(path) as disk, Database.open(path) as db:
        create_plain(db, "things")
        db.get_item(TableName="things", Key=key)  # opens the connection that is to fail
        # It stands in the log, which is read by system calls; the file itself may be mapped into memory.
        db.put_item(TableName="things", Item={**key, "Payload": {"S": "x" * 200_000}})
        disk.arm_reads(at=1, calls=1000)
        with pytest.raises(READ_ERRORS) as caught:
            db.get_item(TableName="things", Key=key)
        assert caught.value.hint
        disk.disarm()
        assert "Item" in db.get_item(TableName="things", Key=key)


def test_failed_read_while_opening_is_not_a_verdict_on_the_file(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        create_plain(db, "things")
    with faulty_disk(path) as disk:
        for at in range(1, 6):
            disk.arm_reads(at=at)
            try:
                Database.open(path).close()
            except READ_ERRORS:
                continue
        disk.disarm()
        with Database.open(path) as db:
            assert db.list_tables()["TableNames"] == ["things"]
