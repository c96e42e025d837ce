"""Large files of backups are verified in a thread, before the table that is restored from them is filled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from singletable import Database, limits
from singletable.errors import CorruptDatabaseError, ResourceNotFoundError
from singletable.storage.backups import restoring
from support.backed_up import back_up, fill, folder, restored
from support.sample_tables import all_items, create_single, refusal


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(limits, "SMALL_BACKUP_FILE_BYTES", 0)
    return tmp_path / "app.db"


@pytest.fixture
def db(path: Path) -> Database:
    db = Database.open(path, durability="relaxed")
    create_single(db)
    fill(db, 300)
    return db


class Endless:
    """Takes the place of the checksum: it is computed until that has to end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Event()
        monkeypatch.setattr(restoring, "sha256_of", self)

    def __call__(self, path: str, progress: Callable[[int, int], None]) -> str:
        self.begun.set()
        while True:
            progress(0, 1)


def status(db: Database) -> str:
    return db.describe_table(TableName="again")["Table"]["TableStatus"]


def damage(db: Database, *, length: int = 0) -> None:
    """Change a byte in the middle of the only backup, or cut some off."""
    (data,) = folder(db).rglob("*.db")
    contents = bytearray(data.read_bytes())
    contents[len(contents) // 2] ^= 1
    data.write_bytes(contents[: len(contents) - length])


def test_large_backup_is_restored(db: Database) -> None:
    with db:
        assert restored(db, back_up(db)) == all_items(db, "scan", TableName="single")
        assert db.check() == []


def test_nobody_waits_while_it_is_verified(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with db:
        arn = back_up(db)
        endless = Endless(monkeypatch)
        db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
        assert endless.begun.wait(20)
        assert status(db) == "CREATING"
        fill(db, 5, first=500)
        db._session.store.background.piece()
        assert db.describe_table(TableName="again")["Table"]["ItemCount"] == 0
        assert refusal(db, "delete_backup", BackupArn=arn)[0] == "BackupInUseException"
        assert db.check() == []


def test_table_is_taken_away_when_the_file_is_damaged(db: Database, caplog: pytest.LogCaptureFixture) -> None:
    with db:
        arn = back_up(db)
        damage(db)
        db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
        db._session.store.workers.wait()
        assert db.list_tables()["TableNames"] == ["single"]
        assert "table again was not restored: ST804: the backup" in caplog.text
        assert "its SHA-256 is not that of the file that was made" in caplog.text
        db.delete_backup(BackupArn=arn)
        assert db.check() == []


def test_file_that_was_cut_off_is_refused_at_once(db: Database) -> None:
    with db:
        arn = back_up(db)
        damage(db, length=4096)
        with pytest.raises(CorruptDatabaseError, match="is damaged: its length"):
            db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
        assert db.list_tables()["TableNames"] == ["single"]


@pytest.mark.parametrize("is_sound", [True, False], ids=["sound", "damaged"])
def test_it_is_verified_again_after_the_next_open(
    db: Database, path: Path, monkeypatch: pytest.MonkeyPatch, *, is_sound: bool
) -> None:
    arn = back_up(db)
    with monkeypatch.context() as patched:
        endless = Endless(patched)
        db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
        assert endless.begun.wait(20)
        db.close()
    if not is_sound:
        damage(db)
    with Database.open(path, durability="relaxed") as reopened:
        with suppress(ResourceNotFoundError):  # it is taken away by the next piece, whoever does that
            while status(reopened) != "ACTIVE":
                reopened._session.store.background.piece()
        assert ("again" in reopened.list_tables()["TableNames"]) == is_sound
        if is_sound:
            assert len(all_items(reopened, "scan", TableName="again")) == 300
        assert reopened.check() == []
