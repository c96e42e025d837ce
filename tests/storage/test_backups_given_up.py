"""Backups that are given up: nobody waits for them when a process forks or a database is closed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from resilience.crash.children import run
from resilience.crash.verify import assert_sound
from singletable import Database, limits
from singletable.errors import DatabaseClosedError
from singletable.storage.file import page_copies
from support.backed_up import assert_only_whole_backups, back_up, endless_copy, files, fill, names, restored
from support.past_tables import turn_on
from support.sample_tables import create_single


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "app.db"


@pytest.fixture
def large(path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A database whose backups are all made in threads."""
    monkeypatch.setattr(limits, "SMALL_BACKUP_BYTES", -1)
    db = Database.open(path, durability="relaxed")
    create_single(db)
    fill(db, 100)
    return db


@pytest.mark.parametrize("how", ["thread", "request"])
def test_copy_is_made_anew_after_a_fork(path: Path, how: str) -> None:
    run("forking_copy", path, how)
    assert_sound(path)
    assert assert_only_whole_backups(Path(f"{path}.backups")) == (1 if how == "thread" else 2)


def test_copy_under_way_is_gone_after_close(
    large: Database, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun = endless_copy(monkeypatch.setattr)
    back_up(large)
    assert begun.wait(20)
    assert names(large) == ["first"]
    large.close()
    assert files(large) == []
    assert "was given up: the database was closed" in caplog.text
    with Database.open(path) as db:
        assert names(db) == []
        back_up(db, "second")
        db._session.store.workers.wait()
        assert names(db) == ["second"]


def test_backup_that_is_being_verified_is_gone_after_close(
    large: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def endless(path: str, chunk_bytes: int) -> Iterator[bytes]:
        while True:
            begun.set()
            yield b""

    monkeypatch.setattr(page_copies, "read_back", endless)
    back_up(large)
    assert begun.wait(20)
    large.close()
    assert files(large) == []


def test_caller_who_waits_for_backups_is_told_of_a_close(
    large: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = endless_copy(monkeypatch.setattr)
    told: list[Exception] = []

    def back_up_all() -> None:
        try:
            large.backup_all()
        except Exception as error:
            told.append(error)

    maker = threading.Thread(target=back_up_all)
    maker.start()
    assert begun.wait(20)
    large.close()
    maker.join()
    assert [type(error) for error in told] == [DatabaseClosedError]
    assert files(large) == []


def test_scheduled_backup_is_made_after_the_next_start(
    large: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = endless_copy(monkeypatch.setattr)
    large.backup_schedule(every="weekly")
    assert begun.wait(20)
    large.close()
    assert files(large) == []
    with Database.open(path) as db:
        schedule = db.backup_schedule(every="weekly")
        schedule.stop()  # waits for what it does
        assert len(names(db)) == 1


def test_deletion_goes_on_after_the_next_start(
    large: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_on(large)
    begun = endless_copy(monkeypatch.setattr)
    large.delete_table(TableName="single")
    assert begun.wait(20)
    large.close()
    assert files(large) == []
    with Database.open(path) as db:
        db._session.store.workers.wait()
        assert db.list_tables()["TableNames"] == []
        (summary,) = db.list_backups(BackupType="SYSTEM")["BackupSummaries"]
        assert len(restored(db, summary["BackupArn"])) == 100


def test_child_does_not_hold_what_its_parent_has_claimed(tmp_path: Path) -> None:
    run("forking_claim", tmp_path / "one.making")
