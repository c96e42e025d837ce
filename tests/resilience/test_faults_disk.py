"""A disk that fails: the request fails with an error, nothing of it is there, and the database goes on."""

from __future__ import annotations

import contextlib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from resilience.crash.almost_full_log import Template, make_template
from resilience.crash.faulty_disk import Fault, FaultyDisk, faulty_disk
from resilience.crash.logged_work import STEPS, LoggedWork, left_by
from resilience.crash.model import Progress
from resilience.crash.perform import perform
from resilience.crash.tables import create_all, create_plain
from resilience.crash.verify import (
    assert_same,
    assert_sound,
    expected_items,
    read_tables,
    verify_database,
    verify_file,
)
from resilience.crash.workload import Workload
from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import DatabaseError, DiskFullError, StorageFailedError

WORKLOAD = Workload(21, large=0.1, large_bytes=60_000)
OPERATIONS = 25
ATTEMPTS_MAX = 100
FAULTS = (Fault.IO_ERROR, Fault.SHORT_WRITE, Fault.DISK_FULL)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return make_template(tmp_path_factory.mktemp("template"), WORKLOAD)


class Run:
    """The workload, from opening the file on, on a disk that fails."""

    def __init__(self, template: Template, path: Path, disk: FaultyDisk) -> None:
        self._path = path
        self._disk = disk
        self.progress = template.progress()
        self._last = self.progress.acknowledged + OPERATIONS
        self.errors: list[DatabaseError] = []

    def open(self) -> Database:
        """Open the file, again while that fails."""
        for _ in range(ATTEMPTS_MAX):
            try:
                # Under this clock, what is written depends on the operations alone, and not on how fast they are.
                return Database.open(self._path, clock=ManualClock())
            except (DiskFullError, StorageFailedError) as error:
                self.errors.append(error)
        raise AssertionError("the file does not open after the fault")

    def write_all(self, db: Database) -> None:
        """Do every operation, again while it fails."""
        while self.progress.acknowledged < self._last:
            self._write(db)
            assert len(self.errors) < ATTEMPTS_MAX, "the database does not go on after the fault"

    def _write(self, db: Database) -> None:
        number = self.progress.acknowledged + 1
        failed_before = len(self._disk.failed)
        try:
            outcome: str | None = perform(db, WORKLOAD.operation(0, number))
        except (DiskFullError, StorageFailedError) as error:
            outcome = None
            self.errors.append(error)
        failed = self._disk.failed[failed_before:]
        if outcome is None:
            assert failed, f"failed without a fault: {self.errors[-1]}"
            assert_same(read_tables(db), expected_items({0: self.progress.state}))
        else:
            assert not any(call.is_of_commit for call in failed), f"acknowledged in spite of {failed}"
            self.progress.acknowledge(number, outcome)


def _run(template: Template, directory: Path, fault: Fault, *, at: int, calls: int = 1) -> Run:
    """Write with the at-th call and its successors failing; verify in the same process, then from outside."""
    path = template.copy_to(directory)
    with faulty_disk(path) as disk:
        disk.arm(fault, at=at, calls=calls)
        run = Run(template, path, disk)
        with run.open() as db:
            run.write_all(db)
            assert disk.failed, "the fault was not met"
            disk.disarm()
            verify_database(db, [run.progress])
        verify_file(path, [run.progress])
    return run


def _count_calls(template: Template, directory: Path) -> int:
    path = template.copy_to(directory)
    with faulty_disk(path) as disk:
        run = Run(template, path, disk)
        with run.open() as db:
            run.write_all(db)
            calls = list(disk.calls)
    assert {call.file for call in calls} == {"", "-wal", "-shm"}, "not every kind of file was written"
    return len(calls)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_failing_write_fails_the_request_and_nothing_else(
    template: Template, tmp_path: Path, fault: Fault
) -> None:
    calls = _count_calls(template, tmp_path)
    for at in sorted(Random(fault.name).sample(range(1, calls + 1), 12)):
        _run(template, tmp_path, fault, at=at)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_database_goes_on_after_twenty_failures(template: Template, tmp_path: Path, fault: Fault) -> None:
    calls = _count_calls(template, tmp_path)
    for at in sorted(Random(f"{fault.name}/20").sample(range(1, calls + 1), 4)):
        _run(template, tmp_path, fault, at=at, calls=20)


@pytest.mark.soak
@pytest.mark.parametrize("calls", [1, 20], ids=["once", "twenty_times"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_fault_at_every_write_is_survived(
    template: Template, tmp_path: Path, fault: Fault, calls: int
) -> None:
    for at in range(1, _count_calls(template, tmp_path) + 1):
        _run(template, tmp_path, fault, at=at, calls=calls)


def test_full_disk_is_said_to_be_full(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with faulty_disk(path) as disk, Database.open(path) as db:
        create_plain(db, "things")
        disk.arm(Fault.DISK_FULL, at=1, calls=1000)
        with pytest.raises(DiskFullError, match=r"the disk is full") as caught:
            db.put_item(TableName="things", Item={"PK": {"S": "a"}})
        assert caught.value.hint
        assert "Item" not in db.get_item(TableName="things", Key={"PK": {"S": "a"}})
        disk.disarm()
        db.put_item(TableName="things", Item={"PK": {"S": "a"}})
        assert "Item" in db.get_item(TableName="things", Key={"PK": {"S": "a"}})


def test_checkpoint_that_finds_no_room_fails_no_request(template: Template, tmp_path: Path) -> None:
    """The log is copied into the file after a commit; if that fails, it is tried again later."""
    path = template.copy_to(tmp_path)
    with faulty_disk(path) as disk:
        run = Run(template, path, disk)
        with run.open() as db:
            disk.arm(Fault.DISK_FULL, at=1, calls=1_000_000, files=("",))
            run.write_all(db)
            assert disk.failed, "there was no checkpoint"
            disk.disarm()
        assert not run.errors
        verify_file(path, [run.progress])


# --- what stands on a log ---------------------------------------------------------------


def _work(path: Path, fault: Fault | None, *, at: int = 0, calls: int = 1) -> tuple[dict[str, Any], int]:
    """Do all steps, each again while it fails. Return what they leave, and how many calls they took."""
    clock = ManualClock()
    with faulty_disk(path) as disk, Database.open(path, clock=clock) as db:
        work = LoggedWork(db, clock)
        before = len(disk.calls)
        if fault is not None:
            disk.arm(fault, at=at, calls=calls)
        for number in range(1, STEPS + 1):
            _repeat(work, number)
        assert fault is None or disk.failed, "the fault was not met"
        disk.disarm()
        taken = len(disk.calls) - before
        found = left_by(db)
    assert_sound(path)
    return found, taken


def _repeat(work: LoggedWork, number: int) -> None:
    for _ in range(ATTEMPTS_MAX):
        try:
            work.step(number)
        except (DiskFullError, StorageFailedError):
            continue
        return
    raise AssertionError("the database does not go on after the fault")


def _fail_work(tmp_path: Path, fault: Fault, *, samples: int | None) -> None:
    expected, calls = _work(tmp_path / "counting.db", None)
    points = range(1, calls + 1)
    for at in points if samples is None else sorted(Random(fault.name).sample(points, samples)):
        found, _ = _work(tmp_path / f"{at}.db", fault, at=at, calls=at % 5 + 1)
        assert found == expected


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_failing_write_changes_nothing_of_a_log_and_of_those_who_live_by_it(
    tmp_path: Path, fault: Fault
) -> None:
    """A sweep, a trim or a consumer that has failed goes on; nothing is done twice, or left out."""
    _fail_work(tmp_path, fault, samples=6)


@pytest.mark.soak
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_failing_write_anywhere_changes_nothing_of_a_log(tmp_path: Path, fault: Fault) -> None:
    _fail_work(tmp_path, fault, samples=None)


# --- making a database -----------------------------------------------------------------


def _create(path: Path) -> None:
    with Database.open(path) as db:
        create_all(db)


def _calls_of_creation(path: Path) -> int:
    with faulty_disk(path) as disk:
        _create(path)
        return len(disk.calls)


def _fail_creation(path: Path, fault: Fault, at: int) -> None:
    with faulty_disk(path) as disk:
        disk.arm(fault, at=at)
        with contextlib.suppress(DiskFullError, StorageFailedError):
            _create(path)
        assert disk.failed
    with Database.open(path) as db:
        for table in db.list_tables()["TableNames"]:
            db.delete_table(TableName=table)
        create_all(db)
        verify_database(db, [Progress(WORKLOAD, writer=0)])
    assert_sound(path)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_fault_while_a_database_is_made_leaves_one_that_opens(tmp_path: Path, fault: Fault) -> None:
    calls = _calls_of_creation(tmp_path / "counting.db")
    for at in sorted({*range(1, 10), *Random(1).sample(range(10, calls + 1), 10)}):
        _fail_creation(tmp_path / f"{at}.db", fault, at)


@pytest.mark.soak
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_fault_anywhere_while_a_database_is_made_leaves_one_that_opens(tmp_path: Path, fault: Fault) -> None:
    for at in range(1, _calls_of_creation(tmp_path / "counting.db") + 1):
        _fail_creation(tmp_path / f"{at}.db", fault, at)
