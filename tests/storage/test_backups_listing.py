"""ListBackups: order, pages, filters; and many backups."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import INVALID
from support.backed_up import back_up, names
from support.past_tables import turn_on
from support.sample_tables import create_plain, invalid, refusal


@pytest.fixture
def listed(db: Database, clock: ManualClock) -> Database:
    """Seven backups of two tables, an hour apart."""
    create_plain(db, "one")
    create_plain(db, "two")
    for number in range(7):
        back_up(db, f"b-{number}", "one" if number % 2 else "two")
        clock.advance(3600)
    return db


def test_oldest_comes_first_over_all_tables(listed: Database) -> None:
    assert names(listed) == [f"b-{number}" for number in range(7)]
    assert names(listed, TableName="one") == ["b-1", "b-3", "b-5"]
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/two"
    assert names(listed, TableName=arn) == ["b-0", "b-2", "b-4", "b-6"]


def test_table_that_does_not_exist_has_none(listed: Database) -> None:
    assert listed.list_backups(TableName="three") == {"BackupSummaries": []}


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 100])
def test_pages_go_through_all_of_them_once(listed: Database, limit: int) -> None:
    found: list[str] = []
    request: Any = {"Limit": limit}
    while True:
        page = listed.list_backups(**request)
        assert len(page["BackupSummaries"]) <= limit
        found += [one["BackupName"] for one in page["BackupSummaries"]]
        if "LastEvaluatedBackupArn" not in page:
            break
        request["ExclusiveStartBackupArn"] = page["LastEvaluatedBackupArn"]
    assert found == [f"b-{number}" for number in range(7)]


def test_page_goes_on_behind_a_backup_that_was_deleted(listed: Database) -> None:
    last = listed.list_backups(Limit=3)["LastEvaluatedBackupArn"]
    listed.delete_backup(BackupArn=last)
    assert names(listed, ExclusiveStartBackupArn=last) == ["b-3", "b-4", "b-5", "b-6"]


def test_times_include_the_lower_bound_and_not_the_upper(listed: Database) -> None:
    at: list[datetime] = [one["BackupCreationDateTime"] for one in listed.list_backups()["BackupSummaries"]]
    assert names(listed, TimeRangeLowerBound=at[2], TimeRangeUpperBound=at[4]) == ["b-2", "b-3"]
    step = timedelta(milliseconds=1)
    assert names(listed, TimeRangeLowerBound=at[2] + step, TimeRangeUpperBound=at[4] + step) == ["b-3", "b-4"]
    assert refusal(listed, "list_backups", TimeRangeLowerBound=at[4], TimeRangeUpperBound=at[2]) == invalid(
        f"{INVALID}Time range lower bound must be less than or equal to upper bound"
    )


def test_backups_of_the_system_are_listed_when_asked_for(listed: Database) -> None:
    turn_on(listed, "two")
    listed.delete_table(TableName="two")
    assert len(names(listed)) == 7
    assert names(listed, BackupType="SYSTEM") == ["two$DeletedTableBackup"]
    assert len(names(listed, BackupType="ALL")) == 8
    assert names(listed, BackupType="AWS_BACKUP") == []


def test_many_backups_have_pages_of_a_hundred(db: Database, clock: ManualClock) -> None:
    create_plain(db)
    for number in range(130):
        back_up(db, f"b-{number:03}", "plain")
        clock.advance(1)
    page = db.list_backups()
    assert len(page["BackupSummaries"]) == 100
    rest = names(db, ExclusiveStartBackupArn=page["LastEvaluatedBackupArn"])
    assert rest == [f"b-{number:03}" for number in range(100, 130)]
