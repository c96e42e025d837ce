"""A sync that fails: the write it belongs to was not acknowledged, is not there, and can be sent again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from resilience.crash.faulty_sync_vfs import FAULTY_SYNC, FaultySyncs, faulty_syncs
from resilience.crash.logged_work import STEPS, LoggedWork, left_by
from resilience.crash.model import Progress
from resilience.crash.perform import perform
from resilience.crash.tables import create_all, create_plain
from resilience.crash.verify import assert_same, assert_sound, expected_items, read_tables, verify_file
from resilience.crash.workload import Workload
from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import StorageFailedError

WORKLOAD = Workload(61, large=0.1, large_bytes=60_000)
OPERATIONS = 25


def _write(db: Database, progress: Progress, syncs: FaultySyncs) -> None:
    number = progress.acknowledged + 1
    failed_before = syncs.failed
    try:
        outcome: str | None = perform(db, WORKLOAD.operation(0, number))
    except StorageFailedError:
        outcome = None
    assert (outcome is None) == (syncs.failed > failed_before), (
        "acknowledged without a sync, or failed with it"
    )
    if outcome is None:
        assert_same(read_tables(db), expected_items({0: progress.state}))
    else:
        progress.acknowledge(number, outcome)


@pytest.mark.parametrize("calls", [1, 3], ids=["once", "three_times"])
def test_write_whose_sync_fails_is_not_there_and_can_be_repeated(tmp_path: Path, calls: int) -> None:
    for at in range(1, _count_syncs(tmp_path / "counting.db") - calls + 2, calls):
        path = tmp_path / f"{at}.db"
        progress = Progress(WORKLOAD, writer=0)
        with faulty_syncs() as syncs:
            with Database.open(path, vfs=FAULTY_SYNC) as db:
                create_all(db)
                syncs.arm(at=at, calls=calls)
                while progress.acknowledged < OPERATIONS:
                    _write(db, progress, syncs)
            assert syncs.failed == calls
        verify_file(path, [progress])


def _count_syncs(path: Path) -> int:
    with faulty_syncs() as syncs, Database.open(path, vfs=FAULTY_SYNC) as db:
        create_all(db)
        made = syncs.count
        for number in range(1, OPERATIONS + 1):
            perform(db, WORKLOAD.operation(0, number))
        count = syncs.count - made
    assert count > OPERATIONS // 2, "some operations are refused or change nothing, but most must be synced"
    return count


def test_sync_that_fails_changes_nothing_of_a_log_and_of_those_who_live_by_it(tmp_path: Path) -> None:
    expected, count = _work(tmp_path / "counting.db", at=None)
    for at in range(1, count + 1, 9):
        found, _ = _work(tmp_path / f"{at}.db", at=at)
        assert found == expected


def _work(path: Path, *, at: int | None) -> tuple[dict[str, Any], int]:
    """Do all steps, each again while it fails. Return what they leave, and how many syncs they took."""
    clock = ManualClock()
    with faulty_syncs() as syncs:
        with Database.open(path, vfs=FAULTY_SYNC, clock=clock) as db:
            work = LoggedWork(db, clock)
            made = syncs.count
            if at is not None:
                syncs.arm(at=at, calls=2)
            for number in range(1, STEPS + 1):
                while True:
                    try:
                        work.step(number)
                        break
                    except StorageFailedError:
                        assert syncs.failed <= 2
            count = syncs.count - made
            found = left_by(db)
        assert at is None or syncs.failed
    assert_sound(path)
    return found, count


def test_every_acknowledged_write_was_synced(tmp_path: Path) -> None:
    with faulty_syncs() as syncs, Database.open(tmp_path / "app.db", vfs=FAULTY_SYNC) as db:
        create_plain(db, "things")
        for number in range(10):
            before = syncs.count
            db.put_item(TableName="things", Item={"PK": {"S": f"{number}"}})
            assert syncs.count == before + 1


def test_failed_sync_is_said_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with faulty_syncs() as syncs, Database.open(path, vfs=FAULTY_SYNC) as db:
        create_plain(db, "things")
        syncs.arm(at=1)
        with pytest.raises(StorageFailedError) as caught:
            db.put_item(TableName="things", Item={"PK": {"S": "a"}})
        assert str(path) in caught.value.message
        assert caught.value.hint
        assert db.scan(TableName="things")["Items"] == []


def test_failed_sync_while_a_database_is_made_leaves_one_that_opens(tmp_path: Path) -> None:
    for at in range(1, 8):
        path = tmp_path / f"{at}.db"
        with faulty_syncs() as syncs:
            syncs.arm(at=at)
            with pytest.raises(StorageFailedError):
                _create(path)
        with Database.open(path) as db:
            assert set(db.list_tables()["TableNames"]) < {"ledger", "events", "shared"}
        assert_sound(path)


def _create(path: Path) -> None:
    with Database.open(path, vfs=FAULTY_SYNC) as db:
        create_all(db)
