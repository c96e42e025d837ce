"""A disk that fails: the request fails with an error, nothing of it is there, and the database goes on."""

from __future__ import annotations

import contextlib
from pathlib import Path
from random import Random

import pytest

from crash.almost_full_log import Template, make_template
from crash.faulty_vfs import FAULTY, Fault, FaultyDisk, faulty_disk
from crash.model import Progress
from crash.perform import perform
from crash.tables import create_all, create_plain
from crash.verify import assert_same, assert_sound, expected_items, read_tables, verify_database, verify_file
from crash.workload import Workload
from singletable import Database
from singletable.errors import DatabaseError, DiskFullError, StorageFailedError

WORKLOAD = Workload(21, large=0.1, large_bytes=60_000)
OPERATIONS = 25
FAULTS = (Fault.IO_ERROR, Fault.SHORT_WRITE, Fault.DISK_FULL)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return make_template(tmp_path_factory.mktemp("template"), WORKLOAD)


class Run:
    """The workload on a disk that fails."""

    def __init__(self, template: Template, db: Database, disk: FaultyDisk) -> None:
        self._db = db
        self._disk = disk
        self.progress = template.progress()
        self._last = self.progress.acknowledged + OPERATIONS
        self.errors: list[DatabaseError] = []

    def write_all(self) -> None:
        while self.progress.acknowledged < self._last:
            self._write_once()
            assert len(self.errors) < 100, "the database does not go on after the fault"

    def _write_once(self) -> None:
        number = self.progress.acknowledged + 1
        failed_before = len(self._disk.failed)
        try:
            outcome: str | None = perform(self._db, WORKLOAD.operation(0, number))
        except (DiskFullError, StorageFailedError) as error:
            outcome = None
            self.errors.append(error)
        failed = self._disk.failed[failed_before:]
        if outcome is None:
            assert failed, f"failed without a fault: {self.errors[-1]}"
            assert_same(read_tables(self._db), expected_items({0: self.progress.state}))
        else:
            assert not any(call.is_of_commit for call in failed), f"acknowledged in spite of {failed}"
            self.progress.acknowledge(number, outcome)


def _run(template: Template, directory: Path, fault: Fault, *, at: int, calls: int = 1) -> Run:
    """Write with the at-th call and its successors failing; verify in the same process, then from outside."""
    path = template.copy_to(directory)
    with faulty_disk(path) as disk:
        with Database.open(path, vfs=FAULTY) as db:
            disk.arm(fault, at=at, calls=calls)
            run = Run(template, db, disk)
            run.write_all()
            assert disk.failed, "the fault was not met"
            disk.disarm()
            verify_database(db, [run.progress])
        verify_file(path, [run.progress])
    return run


def _count_calls(template: Template, directory: Path) -> list[str]:
    path = template.copy_to(directory)
    with faulty_disk(path) as disk, Database.open(path, vfs=FAULTY) as db:
        opened = len(disk.calls)
        Run(template, db, disk).write_all()
        return [f"{call.kind} {call.file}" for call in disk.calls[opened:]]


def test_workload_meets_commits_checkpoints_and_syncs(template: Template, tmp_path: Path) -> None:
    calls = _count_calls(template, tmp_path)
    assert {"write -wal", "sync -wal", "write ", "write -shm"} <= set(calls)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_failing_write_fails_the_request_and_nothing_else(
    template: Template, tmp_path: Path, fault: Fault
) -> None:
    calls = len(_count_calls(template, tmp_path))
    for at in sorted(Random(f"{fault.name}").sample(range(1, calls + 1), 25)):
        _run(template, tmp_path, fault, at=at)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_database_goes_on_after_twenty_failures(template: Template, tmp_path: Path, fault: Fault) -> None:
    calls = len(_count_calls(template, tmp_path))
    for at in sorted(Random(f"{fault.name}/20").sample(range(1, calls + 1), 8)):
        run = _run(template, tmp_path, fault, at=at, calls=20)
        assert run.errors


@pytest.mark.soak
@pytest.mark.parametrize("calls", [1, 20], ids=["once", "twenty_times"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_fault_at_every_write_is_survived(
    template: Template, tmp_path: Path, fault: Fault, calls: int
) -> None:
    for at in range(1, len(_count_calls(template, tmp_path)) + 1):
        _run(template, tmp_path, fault, at=at, calls=calls)


def test_full_disk_is_said_to_be_full(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with faulty_disk(path) as disk, Database.open(path, vfs=FAULTY) as db:
        create_plain(db, "things")
        disk.arm(Fault.DISK_FULL, at=1, calls=1000)
        with pytest.raises(DiskFullError, match=r"the disk is full") as caught:
            db.put_item(TableName="things", Item={"PK": {"S": "a"}})
        assert caught.value.hint
        assert "Item" not in db.get_item(TableName="things", Key={"PK": {"S": "a"}})
        disk.disarm()
        db.put_item(TableName="things", Item={"PK": {"S": "a"}})
        assert "Item" in db.get_item(TableName="things", Key={"PK": {"S": "a"}})


def test_failed_sync_is_a_failed_request(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with faulty_disk(path) as disk, Database.open(path, vfs=FAULTY) as db:
        create_plain(db, "things")
        first = len(disk.calls)
        db.put_item(TableName="things", Item={"PK": {"S": "a"}})
        kinds = [call.kind for call in disk.calls[first:]]
        disk.arm(Fault.IO_ERROR, at=kinds.index("sync") + 1)
        with pytest.raises(StorageFailedError) as caught:
            db.put_item(TableName="things", Item={"PK": {"S": "b"}})
        assert disk.failed[0].kind == "sync"
        assert caught.value.hint
        assert db.scan(TableName="things")["Items"] == [{"PK": {"S": "a"}}]


def test_failed_read_is_an_error_and_the_next_read_works(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        create_plain(db, "things")
        db.put_item(TableName="things", Item={"PK": {"S": "a"}, "Payload": {"S": "x" * 200_000}})
    with faulty_disk(path) as disk, Database.open(path, vfs=FAULTY) as db:
        disk.reads_fail = True
        with pytest.raises(StorageFailedError):
            db.get_item(TableName="things", Key={"PK": {"S": "a"}})
        disk.reads_fail = False
        assert "Item" in db.get_item(TableName="things", Key={"PK": {"S": "a"}})


# --- making a database -----------------------------------------------------------------


def _create(path: Path) -> None:
    with Database.open(path, vfs=FAULTY) as db:
        create_all(db)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_fault_while_a_database_is_made_leaves_one_that_opens(tmp_path: Path, fault: Fault) -> None:
    path = tmp_path / "counting.db"
    with faulty_disk(path) as disk:
        _create(path)
        calls = len(disk.calls)
    for at in sorted({*range(1, 25), *Random(1).sample(range(25, calls), 20)}):
        path = tmp_path / f"{at}.db"
        with faulty_disk(path) as disk:
            disk.arm(fault, at=at)
            with contextlib.suppress(DiskFullError, StorageFailedError):
                _create(path)
            assert disk.failed
        with Database.open(path) as db:
            _create_missing(db)
            verify_database(db, [Progress(WORKLOAD, writer=0)])
        assert_sound(path)


def _create_missing(db: Database) -> None:
    for table in db.list_tables()["TableNames"]:
        db.delete_table(TableName=table)
    create_all(db)
