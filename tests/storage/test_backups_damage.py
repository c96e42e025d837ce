"""Backups that are damaged, and disks without room: a clear error, and nothing else is touched."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random

import pytest

from resilience.crash.children import run
from resilience.crash.mover import open_accounts
from singletable import Database
from singletable.errors import CorruptDatabaseError
from singletable.server import BackgroundServer
from singletable.storage.check import check_file
from singletable.storage.file.file_copies import back_up_file
from support.backed_up import assert_only_whole_backups, back_up, fill, folder, names, restored
from support.sample_tables import create_single


def _flip(path: Path, random: Random) -> None:
    contents = bytearray(path.read_bytes())
    contents[random.randrange(len(contents))] ^= 1 << random.randrange(8)
    path.write_bytes(contents)


@pytest.fixture
def backed_up(tmp_path: Path) -> Database:
    db = Database.open(tmp_path / "app.db", durability="relaxed", backups=tmp_path / "kept")
    create_single(db)
    fill(db, 50)
    return db


@pytest.mark.parametrize("seed", range(10))
def test_damaged_file_is_not_restored(backed_up: Database, seed: int) -> None:
    with backed_up as db:
        arn = back_up(db)
        (data,) = folder(db).rglob("*.db")
        _flip(data, Random(seed))
        with pytest.raises(CorruptDatabaseError, match="is damaged: its SHA-256"):
            db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
        assert db.list_tables()["TableNames"] == ["single"]
        db.delete_backup(BackupArn=arn)
        assert len(restored(db, back_up(db))) == 50


@pytest.mark.parametrize("seed", range(10))
def test_damaged_description_is_left_out_of_lists(backed_up: Database, seed: int) -> None:
    with backed_up as db:
        arn = back_up(db)
        (described,) = folder(db).rglob("*.json")
        whole = json.loads(described.read_bytes())
        while True:
            original = described.read_bytes()
            _flip(described, Random(seed))
            try:
                if json.loads(described.read_bytes()) == whole:  # only white space was hit
                    described.write_bytes(original)
                    seed += 100
                    continue
            except ValueError:
                pass
            break
        back_up(db, "second")
        assert names(db) == ["second"]
        with pytest.raises(CorruptDatabaseError, match="is damaged"):
            db.describe_backup(BackupArn=arn)
        with pytest.raises(CorruptDatabaseError, match="is damaged"):
            db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)


def test_missing_file_is_told(backed_up: Database) -> None:
    with backed_up as db:
        arn = back_up(db)
        (data,) = folder(db).rglob("*.db")
        data.unlink()
        with pytest.raises(Exception, match="is not there any more"):
            db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
        assert db.list_tables()["TableNames"] == ["single"]


def test_client_is_told_of_damage_without_paths(backed_up: Database) -> None:
    import boto3
    from botocore.exceptions import ClientError

    with backed_up as db, BackgroundServer(db) as address:
        arn = back_up(db)
        (data,) = folder(db).rglob("*.db")
        _flip(data, Random(1))
        client = boto3.client(
            "dynamodb",
            endpoint_url=address.url,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )
        client.meta.config.retries = {"max_attempts": 0}
        with pytest.raises(ClientError, match="damaged") as caught:
            client.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
        assert caught.value.response["Error"]["Code"] == "InternalServerError"
        identity = arn.rpartition("/")[2]
        assert caught.value.response["Error"]["Message"].startswith(
            f"the backup {identity} of table single is damaged: its SHA-256 is not"
        )
        shutil.rmtree(folder(db))
        folder(db).write_text("a file, where the folder is to be")
        with pytest.raises(ClientError) as caught:
            client.create_backup(TableName="single", BackupName="again")
        assert caught.value.response["Error"]["Message"].startswith("the backups of table single: ")


@pytest.mark.parametrize("limit", [1_000, 20_000, 90_000])
def test_backup_without_room_leaves_nothing(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        open_accounts(db)
    name, has_hint = json.loads(run("cramped", limit, "backup", path))
    assert name in ("DiskFullError", "StorageFailedError")
    assert has_hint
    assert assert_only_whole_backups(tmp_path / "app.db.backups") == 1  # the one that was made with room
    assert check_file(path) == []


@pytest.mark.parametrize("limit", [1_000, 50_000])
def test_copy_without_room_leaves_nothing(tmp_path: Path, limit: int) -> None:
    path, copy = tmp_path / "app.db", tmp_path / "copy.db"
    with Database.open(path) as db:
        open_accounts(db)
    name, _ = json.loads(run("cramped", limit, "copy", path, copy))
    assert name in ("DiskFullError", "StorageFailedError")
    assert sorted(file.name for file in tmp_path.iterdir() if "copy" in file.name) == []
    back_up_file(str(path), str(copy), force=False)
    (tmp_path / "other").mkdir()
    name, _ = json.loads(run("cramped", limit, "restore", copy, tmp_path / "other" / "app.db"))
    assert name in ("DiskFullError", "StorageFailedError")
    assert list((tmp_path / "other").iterdir()) == []
