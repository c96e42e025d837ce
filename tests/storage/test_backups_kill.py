"""Kill -9 in the middle of making, restoring and deleting: nothing half done is ever there."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from resilience.crash.children import Reports, start
from resilience.crash.mover import ACCOUNTS, BALANCE, open_accounts
from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.check import check_file
from support.backed_up import DAY_S, assert_only_whole_backups, restored
from support.sample_tables import finish


def _kill_after(path: Path, reports_max: int) -> list[str]:
    lines: list[str] = []
    with Reports([start("backup_maker", path), start("mover", path, reports_max)]) as reports:
        seen = 0
        for line in reports.lines():
            lines.append(line)
            seen += line != "moved"
            if seen == reports_max:
                reports.kill()
        reports.assert_killed()
    return lines


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_killed_maker_leaves_whole_backups_only(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "app.db"
    random = Random(seed)
    with Database.open(path, durability="relaxed") as db:
        open_accounts(db)
    made: set[str] = set()
    for _ in range(5):
        for line in _kill_after(path, random.randint(1, 14)):
            word, _, arn = line.partition(" ")
            if word == "made":
                made.add(arn)
            elif word == "deleted":
                made.discard(arn)
        assert check_file(path) == []
        with Database.open(path, durability="relaxed") as db:
            finish(db)
            db._session.store.workers.wait()  # of tables that were being deleted
            listed = {one["BackupArn"] for one in db.list_backups()["BackupSummaries"]}
            # The last one of each run may have been made, or deleted, without a word.
            assert len(made - listed) <= 1
            made = listed
            db.create_backup(TableName="accounts", BackupName="again")
            tables = db.list_tables()["TableNames"]
            statuses = {db.describe_table(TableName=name)["Table"]["TableStatus"] for name in tables}
            assert statuses == {"ACTIVE"}
            for arn in listed:
                items = restored(db, arn, f"kept-{arn[-8:]}")
                assert sum(int(item["balance"]["N"]) for item in items) == ACCOUNTS * BALANCE
                db.delete_table(TableName=f"kept-{arn[-8:]}")
            made |= {one["BackupArn"] for one in db.list_backups()["BackupSummaries"]}
            assert db.check() == []
        assert_only_whole_backups(tmp_path / "app.db.backups")


def test_file_without_a_description_goes_after_a_day(tmp_path: Path) -> None:
    """Its mark may have been lost in a power cut; but it may also be on its way here, copied by hand."""
    clock = ManualClock()
    with Database.open(tmp_path / "app.db", clock=clock) as db:
        open_accounts(db)
        arn = db.create_backup(TableName="accounts", BackupName="b-1")["BackupDetails"]["BackupArn"]
        (described,) = (tmp_path / "app.db.backups").rglob("*.json")
        data = described.with_suffix(".db")
        stray = data.with_name("mine.db")
        stray.write_bytes(b"a file of somebody else")
        text = described.read_bytes()
        described.unlink()
        assert db.list_backups()["BackupSummaries"] == []
        db.create_backup(TableName="accounts", BackupName="b-2")
        assert data.exists()
        described.write_bytes(text)
        assert len(restored(db, arn)) == ACCOUNTS
        described.unlink()
        clock.time_us = data.stat().st_mtime_ns // 1000 + 2 * DAY_S * 1_000_000
    with Database.open(tmp_path / "app.db", clock=clock) as db:
        db.create_backup(TableName="accounts", BackupName="b-3")
        assert not data.exists()
        assert stray.exists()
