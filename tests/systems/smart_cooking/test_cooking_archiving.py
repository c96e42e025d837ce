"""Archives: history that expires is kept as files or objects, each whole and once, however often it is told of."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from singletable.clock import ManualClock
from singletable_systems.smart_cooking.model.entities import CookingHistory
from singletable_systems.smart_cooking.model.keys import HistoryId, RecipeId, UserId
from singletable_systems.smart_cooking.reactions.archive import (
    FileArchive,
    S3Archive,
    archive_name,
    document,
    user_folder,
)
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.cooking_history import YEAR_DAYS, Cooking
from systems.cooking_recipes import cooked, written
from systems.cooking_users import ADA, BO, opened_cooking, sign_up
from systems.moto_services import BUCKET, bucket

DAY_S = 86_400


def entry(history_id: str = "h1", user_id: str = "ada", **others: Any) -> CookingHistory:
    values: dict[str, Any] = {
        "history_id": HistoryId(history_id),
        "user_id": UserId(user_id),
        "recipe_id": RecipeId("r1"),
        "status": "completed",
        "personal_notes": "Rất ngon",
        "created_at": datetime(2025, 1, 20, 15, 30, tzinfo=UTC),
        "updated_at": datetime(2025, 1, 20, 18, 5, tzinfo=UTC),
        **others,
    }
    return CookingHistory(**values)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        sign_up(db, ADA, BO)
        yield db


# --- names ----------------------------------------------------------------------------------------------------


def test_name_of_an_entry_says_whose_it_is_and_when_it_was() -> None:
    name = archive_name(entry())
    assert name.startswith(f"{user_folder(UserId('ada'))}/2025-01-20T15-30-00-h1-")
    assert user_folder(UserId("ada")).startswith("ada-")
    assert name.endswith(".json")


@pytest.mark.parametrize("odd", ["../../etc", "/srv", "a/b", "..", "CON", "x" * 400, "ø\0", ""])
def test_name_stays_inside_its_folder_whatever_the_ids_are(tmp_path: Path, odd: str) -> None:
    FileArchive(tmp_path / "archive").store(entry(history_id=odd, user_id=odd))
    [path] = files(tmp_path)
    assert path.parent.parent == tmp_path / "archive"
    assert len(path.name) < 120
    assert json.loads(path.read_text(encoding="utf-8"))["history_id"] == odd


def test_different_entries_have_different_names_also_where_case_makes_no_difference() -> None:
    ids = ["a", "A", "a/", "a?", "a-", "x" * 50, "x" * 51]
    names = {archive_name(entry(history_id=own, user_id=user)).lower() for own in ids for user in ids}
    assert len(names) == len(ids) ** 2


# --- files ----------------------------------------------------------------------------------------------------


def test_entry_is_one_file_however_often_it_is_stored(tmp_path: Path) -> None:
    archive = FileArchive(tmp_path / "not" / "there")
    for _ in range(2):
        archive.store(entry())
    archive.store(entry("h2"))
    found = files(tmp_path)
    assert len(found) == 2
    assert CookingHistory.model_validate_json(found[0].read_bytes()) == entry()


@pytest.mark.parametrize("umask", [0o022, 0o077], ids=oct)
def test_file_is_for_whom_the_umask_says(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        FileArchive(tmp_path).store(entry())
    finally:
        os.umask(before)
    (stored,) = files(tmp_path)
    assert stored.stat().st_mode & 0o777 == 0o666 & ~umask


def test_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space"):
            FileArchive(tmp_path).store(entry())
    assert files(tmp_path) == []
    FileArchive(tmp_path).store(entry())
    assert files(tmp_path)[0].read_bytes() == document(entry())


# --- objects --------------------------------------------------------------------------------------------------


def test_entry_is_one_object_under_its_prefix() -> None:
    with bucket() as client:
        archive = S3Archive(client, BUCKET, "history/")
        for _ in range(2):
            archive.store(entry())
        listed = client.list_objects_v2(Bucket=BUCKET)["Contents"]
        assert [each["Key"] for each in listed] == [f"history/{archive_name(entry())}"]
        stored = client.get_object(Bucket=BUCKET, Key=listed[0]["Key"])
        assert stored["Body"].read() == document(entry())
        assert stored["ContentType"] == "application/json"


@pytest.mark.parametrize("odd", ["../../etc", "a/b", "x" * 400, "ø\0", ""])
def test_object_has_a_key_that_s3_takes_whatever_the_ids_are(odd: str) -> None:
    with bucket() as client:
        S3Archive(client, BUCKET).store(entry(history_id=odd, user_id=odd))
        (listed,) = client.list_objects_v2(Bucket=BUCKET)["Contents"]
        assert listed["Key"] == archive_name(entry(history_id=odd, user_id=odd))
        assert len(listed["Key"].encode()) <= 1024  # S3 guide, "Object key naming guidelines"


def test_refusal_of_s3_is_raised() -> None:
    with bucket() as client:
        denied = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [denied]})
        client.put_bucket_policy(Bucket=BUCKET, Policy=policy)
        with pytest.raises(ClientError, match="Forbidden"):
            S3Archive(client, BUCKET).store(entry())
        assert "Contents" not in client.list_objects_v2(Bucket=BUCKET)
        with pytest.raises(ClientError, match="NoSuchBucket"):
            S3Archive(client, "other-bucket").store(entry())


# --- the consumer ---------------------------------------------------------------------------------------------


def test_history_that_expires_is_archived_and_no_other(
    memory: SmartCooking, clock: ManualClock, tmp_path: Path
) -> None:
    memory.archive = FileArchive(tmp_path)
    recipe_id = written(memory).recipe_id
    kept = cooked(memory, BO, recipe_id)
    expiring = Cooking(memory, keep_days=YEAR_DAYS).start(BO, recipe_id)
    deleted = Cooking(memory, keep_days=YEAR_DAYS).start(BO, recipe_id)
    memory.delete(deleted)
    with memory.consume() as consumer:
        clock.advance((YEAR_DAYS - 1) * DAY_S)
        consumer.drain()
        assert files(tmp_path) == []
        clock.advance(2 * DAY_S)
        consumer.drain()
    assert [each.history_id for each in memory.history(BO).all()] == [kept.history_id]
    [path] = files(tmp_path)
    assert path == tmp_path / archive_name(expiring)
    assert CookingHistory.model_validate_json(path.read_bytes()) == expiring


def test_consumer_without_an_archive_passes_nothing_over(
    memory: SmartCooking, clock: ManualClock, tmp_path: Path
) -> None:
    memory.archive = FileArchive(tmp_path)
    expiring = Cooking(memory, keep_days=1).start(BO, written(memory).recipe_id)
    memory.archive = None
    consumer = memory.consume(background=False, retries=0, wait=lambda seconds: None)
    clock.advance(2 * DAY_S)
    consumer.drain()
    consumer.stop()
    [letter] = memory.dead_letters(name=consumer.name)
    assert letter.record["dynamodb"]["OldImage"]["history_id"]["S"] == expiring.history_id
    assert "no archive" in letter.error
