"""A backup is the state of one moment, whatever is written meanwhile, by threads and by other processes."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from random import Random

import pytest

from resilience.crash.children import Reports, run, start
from resilience.crash.mover import ACCOUNTS, BALANCE, open_accounts, transfer
from singletable import Database, limits
from support.backed_up import assert_only_whole_backups, restored


def _total(db: Database, arn: str, table: str) -> int:
    items = restored(db, arn, table)
    assert len(items) == ACCOUNTS
    return sum(int(item["balance"]["N"]) for item in items)


@pytest.mark.parametrize("in_thread", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("place", ["file", "memory"])
def test_backup_made_while_threads_write_is_consistent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, *, in_thread: bool
) -> None:
    if in_thread:
        monkeypatch.setattr(limits, "SMALL_BACKUP_BYTES", -1)
    path = ":memory:" if place == "memory" else str(tmp_path / "app.db")
    with Database.open(path, durability="relaxed") as db:
        open_accounts(db)
        stop = threading.Event()
        moved = itertools.count()

        def move(seed: int) -> None:
            random = Random(seed)
            while not stop.is_set():
                transfer(db, random)
                next(moved)

        threads = [threading.Thread(target=move, args=(seed,)) for seed in range(2)]
        for thread in threads:
            thread.start()
        arns = []
        for number in range(8):
            details = db.create_backup(TableName="accounts", BackupName=f"b-{number}")["BackupDetails"]
            arns.append(details["BackupArn"])
        db._session.store.workers.wait()
        stop.set()
        for thread in threads:
            thread.join()
        assert next(moved) > 0
        totals = [_total(db, arn, f"restored-{number}") for number, arn in enumerate(arns)]
        assert totals == [ACCOUNTS * BALANCE] * 8
        assert db.check() == []


def test_backup_made_while_another_process_writes_is_consistent(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Database.open(path, durability="relaxed") as db:
        open_accounts(db)
        with Reports([start("mover", path, 7)]) as reports:
            lines = reports.lines()
            arns: list[str] = []
            for number in range(5):
                next(lines)  # it is writing
                details = db.create_backup(TableName="accounts", BackupName=f"b-{number}")["BackupDetails"]
                arns.append(details["BackupArn"])
        totals = [_total(db, arn, f"restored-{number}") for number, arn in enumerate(arns)]
        assert totals == [ACCOUNTS * BALANCE] * 5


def test_backup_holds_what_was_acknowledged_before_it(tmp_path: Path) -> None:
    with Database.open(tmp_path / "app.db", durability="relaxed") as db:
        open_accounts(db)
        for number in range(10):
            db.put_item(TableName="accounts", Item={"id": {"S": f"new-{number}"}})
            arn = db.create_backup(TableName="accounts", BackupName="now")["BackupDetails"]["BackupArn"]
            assert len(restored(db, arn, f"restored-{number}")) == ACCOUNTS + number + 1


def test_backups_of_two_processes_stand_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as one, Database.open(path) as two:
        open_accounts(one)
        first = one.create_backup(TableName="accounts", BackupName="one")["BackupDetails"]["BackupArn"]
        two.create_backup(TableName="accounts", BackupName="two")
        assert sorted(s["BackupName"] for s in one.list_backups()["BackupSummaries"]) == ["one", "two"]
        two.delete_backup(BackupArn=first)
        assert [s["BackupName"] for s in one.list_backups()["BackupSummaries"]] == ["two"]


def test_fork_while_a_backup_is_made_leaves_it_to_the_parent(tmp_path: Path) -> None:
    assert run("forking_backup", tmp_path / "app.db") == b"3\n"
    assert assert_only_whole_backups(tmp_path / "app.db.backups") == 3
