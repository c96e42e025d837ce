"""A restore that was killed goes on after the next open, and ends with the table as it was at its moment."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from resilience.crash.children import Reports, start
from resilience.crash.restore import (
    ATTRIBUTE,
    FROM_BACKUP,
    ITEMS,
    SOURCE,
    TO_MOMENT,
    source_item,
    status,
    write,
)
from resilience.crash.verify import assert_index_agrees, assert_sound, read_pages
from resilience.crash.workload import Item
from singletable import Database
from singletable.storage.chores import backfilling, sweeping, trimming
from support.backed_up import back_up
from support.expiring import log_of
from support.past_tables import end_of_log, turn_off, turn_on
from support.sample_tables import attributes, background, finish, index, key_schema, open_by_hand, refusal

INDEX = "ByColour"
_POLLS_MAX = 6000
_CHANGES = 300
_STREAM: Any = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
_TTL: Any = {"AttributeName": ATTRIBUTE, "Enabled": True}


@dataclass(frozen=True)
class Moment:
    """A moment of the source, and what it held then; also a backup of that."""

    at_us: int
    backup_arn: str
    items: dict[str, Item]


def _items(db: Database, table: str) -> dict[str, Item]:
    return {item["PK"]["S"]: item for item in read_pages(db.scan, TableName=table)}


def _make_source(db: Database) -> Moment:
    """Make a table with a past: items, changes of them, the moment, and as many changes behind that."""
    db.create_table(
        TableName=SOURCE,
        KeySchema=key_schema("PK", "SK"),
        AttributeDefinitions=attributes(PK="S", SK="S", Colour="S", Rank="N"),
        GlobalSecondaryIndexes=[index(INDEX, "Colour", "Rank")],
        BillingMode="PAY_PER_REQUEST",
    )
    turn_on(db, SOURCE)
    for first in range(0, ITEMS, 25):
        requests: Any = [
            {"PutRequest": {"Item": source_item(number, 0)}} for number in range(first, first + 25)
        ]
        db.batch_write_item(RequestItems={SOURCE: requests})
    for number in range(_CHANGES):
        write(db, number)
    moment = Moment(end_of_log(db, SOURCE), back_up(db, "moment", SOURCE), _items(db, SOURCE))
    for number in range(_CHANGES, 2 * _CHANGES):
        write(db, number)
    return moment


def _kill_after(path: Path, moment: Moment, first: int, reports_max: int) -> tuple[int, set[str]]:
    """Run the process that restores; return the number of its last write, and the statuses that it saw."""
    statuses: set[str] = set()
    last = first - 1
    with Reports([start("restore", path, moment.at_us, moment.backup_arn, first)]) as reports:
        for count, line in enumerate(reports.lines(), 1):
            number, *seen = line.split()
            last = int(number)
            statuses.update(seen)
            if count == reports_max:
                reports.kill()
        reports.assert_killed()
    return last, statuses


def _wait_until_restored(db: Database) -> None:
    never = threading.Event()
    for _ in range(_POLLS_MAX):
        if status(db, TO_MOMENT) == status(db, FROM_BACKUP) == "ACTIVE":
            return
        never.wait(0.01)
    raise AssertionError("the restore does not go on")


def _assert_restored(db: Database, table: str, moment: Moment) -> None:
    found = _items(db, table)
    assert found == moment.items
    assert_index_agrees(db, table, INDEX, ("Colour", "Rank"), found.values(), whole=True)
    assert db.describe_table(TableName=table)["Table"]["ItemCount"] == len(found)


def _kill_and_resume(path: Path, seed: int, kills: int) -> None:
    random = Random(seed)
    with Database.open(path, durability="relaxed") as db:
        moment = _make_source(db)
    last, statuses = 2 * _CHANGES - 1, set()
    for _ in range(kills):
        last, seen = _kill_after(path, moment, last + 1, random.randint(2, 12))
        statuses |= seen
        assert_sound(path)
    assert "CREATING" in statuses, "all was restored before the first kill"
    with Database.open(path, durability="relaxed") as db:
        _wait_until_restored(db)
        for table in (TO_MOMENT, FROM_BACKUP):
            _assert_restored(db, table, moment)
        db.put_item(TableName=TO_MOMENT, Item=source_item(0, 1))
        turn_off(db, SOURCE)  # nobody needs its past any more
        for table in (SOURCE, TO_MOMENT, FROM_BACKUP):
            db.delete_table(TableName=table)
        db.delete_backup(BackupArn=moment.backup_arn)
    assert_sound(path)


def test_killed_restore_resumes_after_reopen(tmp_path: Path) -> None:
    _kill_and_resume(tmp_path / "restored.db", seed=1, kills=3)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 22))
def test_restore_killed_several_times_resumes_after_reopen(tmp_path: Path, seed: int) -> None:
    _kill_and_resume(tmp_path / "restored.db", seed, kills=6)


def test_restore_killed_before_it_was_acknowledged_is_there_or_is_not(tmp_path: Path) -> None:
    path = tmp_path / "restored.db"
    with Database.open(path, durability="relaxed") as db:
        moment = _make_source(db)
    for _ in range(2):
        _kill_after(path, moment, 2 * _CHANGES, 1)
        assert_sound(path)
    _kill_after(path, moment, 2 * _CHANGES, 2)  # this one asks for what is not there
    assert_sound(path)
    with Database.open(path, durability="relaxed") as db:
        _wait_until_restored(db)
        _assert_restored(db, TO_MOMENT, moment)


# --- what others do meanwhile -----------------------------------------------------------------------------


@pytest.fixture
def halfway(tmp_path: Path) -> Any:
    """A database whose restore has begun, and the moment to which the table is brought."""
    path = str(tmp_path / "halfway.db")
    with open_by_hand(path) as db:
        moment = _make_source(db)
        db.restore_table_to_point_in_time(
            SourceTableName=SOURCE,
            TargetTableName=TO_MOMENT,
            RestoreDateTime=datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment.at_us),
        )
        db.restore_table_from_backup(TargetTableName=FROM_BACKUP, BackupArn=moment.backup_arn)
        assert status(db, TO_MOMENT) == status(db, FROM_BACKUP) == "CREATING"
        yield db, moment
        finish(db)
        for table in (TO_MOMENT, FROM_BACKUP):
            _assert_restored(db, table, moment)
        assert db.check() == []
    assert_sound(Path(path))


def test_what_a_restore_needs_cannot_be_taken_away(halfway: tuple[Database, Moment]) -> None:
    db, moment = halfway
    for table in (SOURCE, TO_MOMENT, FROM_BACKUP):
        assert refusal(db, "delete_table", TableName=table)[0] == "ResourceInUseException"
    off: Any = {"PointInTimeRecoveryEnabled": False}
    turned_off = refusal(
        db, "update_continuous_backups", TableName=SOURCE, PointInTimeRecoverySpecification=off
    )
    assert turned_off[0] == "ContinuousBackupsUnavailableException"
    assert refusal(db, "delete_backup", BackupArn=moment.backup_arn)[0] == "BackupInUseException"


def test_table_that_is_being_restored_cannot_be_used(halfway: tuple[Database, Moment]) -> None:
    db, _ = halfway
    for table in (TO_MOMENT, FROM_BACKUP):
        for operation, request in (
            ("put_item", {"Item": source_item(0, 1)}),
            ("update_table", {"StreamSpecification": _STREAM}),
            ("update_time_to_live", {"TimeToLiveSpecification": _TTL}),
        ):
            refused = refusal(db, operation, TableName=table, **request)
            assert refused[0] == "ResourceNotFoundException", operation


def test_source_of_a_restore_can_be_changed(halfway: tuple[Database, Moment]) -> None:
    """Its stream and indexes come and go; what is restored is as it was, with the indexes of that time."""
    db, _ = halfway
    db.update_table(TableName=SOURCE, StreamSpecification=_STREAM)
    write(db, 2 * _CHANGES)
    background(db).piece()
    db.update_table(TableName=SOURCE, StreamSpecification={"StreamEnabled": False})
    write(db, 2 * _CHANGES + 1)
    db.update_table(TableName=SOURCE, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": INDEX}}])
    write(db, 2 * _CHANGES + 2)


def _pass_days(db: Database, days: int) -> None:
    db._session.store.clock.time_us += days * 24 * 3600 * 1_000_000  # type: ignore[attr-defined]


def test_log_is_not_trimmed_beneath_a_restore(halfway: tuple[Database, Moment]) -> None:
    """However long it takes, and though the past is kept for a day only by now."""
    db, moment = halfway
    turn_on(db, SOURCE, days=1)
    _pass_days(db, 40)
    for number in range(2 * _CHANGES, 2 * _CHANGES + 100):
        write(db, number)
    while not background(db).piece([trimming]):
        pass
    oldest = log_of(db, SOURCE)[0]
    assert oldest.seq > 1, "nothing was trimmed at all"
    assert oldest.at_us <= moment.at_us


def test_items_that_expire_in_the_source_are_restored(halfway: tuple[Database, Moment]) -> None:
    db, _ = halfway
    db.update_time_to_live(TableName=SOURCE, TimeToLiveSpecification=_TTL)
    _pass_days(db, 1)
    while not background(db).piece([backfilling, sweeping]):
        pass
    assert not any(ATTRIBUTE in item for item in read_pages(db.scan, TableName=SOURCE))
    assert status(db, TO_MOMENT) == "CREATING"
