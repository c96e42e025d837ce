"""Backups at a rate, and pruning: weeks pass by a clock that the test moves."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.engine.backup_schedule import BackupRate, BackupSchedule, interval_s
from singletable.errors import StorageFailedError
from singletable.storage.transaction import Transaction
from support.backed_up import DAY_S, back_up, fill, folder, names, restored
from support.past_tables import turn_on
from support.sample_tables import create_single
from support.serving import CommandProcess

HOUR_S = 3600
MONDAY_US = 1_699_833_600_000_000  # 2023-11-13 00:00 UTC


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(MONDAY_US + 12 * HOUR_S * 1_000_000)


def _pass_days(clock: ManualClock, days: int) -> None:
    for _ in range(days):
        clock.advance(DAY_S)


def test_first_backup_is_made_at_once_and_the_next_in_the_next_week(db: Database, clock: ManualClock) -> None:
    create_single(db)
    fill(db, 5)
    db.backup_schedule(every="weekly", keep="90d")
    assert names(db) == ["single-scheduled-20231113T120000Z"]
    _pass_days(clock, 6)
    assert len(names(db)) == 1
    clock.advance(12 * HOUR_S)  # Monday, midnight
    assert names(db)[1:] == ["single-scheduled-20231120T000000Z"]
    arn = db.list_backups()["BackupSummaries"][1]["BackupArn"]
    assert len(restored(db, arn)) == 5


def test_table_that_cannot_be_backed_up_does_not_keep_others_from_it(
    tmp_path: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    with Database.open(tmp_path / "app.db", clock=clock) as db:
        for name in ("broken", "sound"):
            create_single(db, name)
        table = db._session.store.catalog.get("broken")
        assert table is not None

        def damage(transaction: Transaction) -> None:
            transaction.is_dirty = True
            transaction.execute(f"DROP TABLE item_{table.id}").fetchall()

        db._session.store.write(damage)
        db.backup_schedule(every="weekly", keep="90d")
        assert [name.partition("-")[0] for name in names(db)] == ["sound"]
        assert f"no such table: main.item_{table.id}" in caplog.text


def test_schedule_goes_on_after_a_mistake_of_ours(
    db: Database, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    create_single(db)
    mistakes = iter([ValueError("a mistake")])

    def new_suffix() -> str:
        for mistake in mistakes:
            raise mistake
        return "00000001"

    BackupSchedule(db._session.store, BackupRate(every_s=DAY_S, keep_s=DAY_S), new_suffix)
    assert "were not made, and are tried again: a mistake" in caplog.text
    clock.advance(60)
    assert len(names(db)) == 1


def test_ninety_days_of_weekly_backups_are_kept(db: Database, clock: ManualClock) -> None:
    create_single(db)
    db.backup_schedule(every="weekly", keep="90d")
    by_hand = back_up(db, "by-hand")
    db.backup_all("before-v2")
    turn_on(db)
    _pass_days(clock, 365)
    listed = db.list_backups()["BackupSummaries"]
    scheduled = [one for one in listed if "-scheduled-" in one["BackupName"]]
    assert 12 <= len(scheduled) <= 14
    oldest = scheduled[0]["BackupCreationDateTime"]
    assert scheduled[-1]["BackupCreationDateTime"] - oldest <= timedelta(days=90)
    assert [one["BackupArn"] for one in listed if "-scheduled-" not in one["BackupName"]] == [by_hand]
    assert len(list(folder(db).rglob("*.db"))) == len(listed)


def test_restarts_neither_skip_nor_repeat(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "app.db"
    with Database.open(path, clock=clock) as db:
        create_single(db)
    for _ in range(6):
        with Database.open(path, clock=clock) as db:
            db.backup_schedule(every="daily", keep="90d")
        clock.advance(8 * HOUR_S)
    with Database.open(path, clock=clock) as db:
        days = [name[-16:-8] for name in names(db)]
        assert days == ["20231113", "20231114", "20231115"]


def test_two_processes_make_one_backup(tmp_path: Path, clock: ManualClock) -> None:
    with (
        Database.open(tmp_path / "a.db", clock=clock) as one,
        Database.open(tmp_path / "a.db", clock=clock) as two,
    ):
        create_single(one)
        one.backup_schedule(every="daily")
        two.backup_schedule(every="daily")
        _pass_days(clock, 3)
        assert len(names(one)) == 4


def test_new_table_has_its_backup_in_the_same_span(db: Database, clock: ManualClock) -> None:
    create_single(db)
    db.backup_schedule(every="weekly")
    clock.advance(DAY_S)
    create_single(db, "second")
    clock.advance(60)
    assert [name.partition("-")[0] for name in names(db)] == ["single", "second"]
    clock.advance(DAY_S)
    assert len(names(db)) == 2


def test_clock_that_is_put_back_repeats_nothing(db: Database, clock: ManualClock) -> None:
    create_single(db)
    db.backup_schedule(every="daily")
    clock.jump(-13 * HOUR_S)
    clock.advance(1)
    assert len(names(db)) == 1


def test_clock_that_jumps_ahead_for_a_while_prunes_nothing(db: Database, clock: ManualClock) -> None:
    create_single(db)
    db.backup_schedule(every="weekly", keep="30d")
    clock.jump(365 * DAY_S)
    clock.advance(60)
    assert len(names(db)) == 1
    clock.jump(-365 * DAY_S)
    _pass_days(clock, 14)
    assert len(names(db)) == 3


def test_schedule_goes_on_after_a_clock_was_wrong_for_long(db: Database, clock: ManualClock) -> None:
    create_single(db)
    db.backup_schedule(every="weekly", keep="3650d")
    clock.jump(365 * DAY_S)
    clock.advance(2 * HOUR_S)  # it is believed by now
    clock.advance(60)
    clock.jump(-365 * DAY_S)
    before = len(names(db))
    _pass_days(clock, 14)
    assert len(names(db)) == before + 2


def test_failure_is_logged_and_tried_again(
    tmp_path: Path, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    in_the_way = tmp_path / "backups"
    with Database.open(tmp_path / "app.db", clock=clock, backups=in_the_way) as db:
        create_single(db)
        in_the_way.write_text("a file, where the folder is to be")
        with caplog.at_level(logging.ERROR, "singletable.backups"):
            db.backup_schedule(every="daily")
        assert "scheduled backups were not made, and are tried again" in caplog.text
        in_the_way.unlink()
        clock.advance(60)
        assert len(names(db)) == 1


def test_stopped_schedule_makes_nothing(db: Database, clock: ManualClock) -> None:
    create_single(db)
    db.backup_schedule(every="daily").stop()
    _pass_days(clock, 3)
    assert len(names(db)) == 1


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("weekly", 7 * DAY_S), ("daily", DAY_S), ("12h", 12 * HOUR_S), ("90d", 90 * DAY_S)],
)
def test_intervals(given: str, seconds: int) -> None:
    assert interval_s(given) == seconds


@pytest.mark.parametrize("given", ["", "0d", "d", "1w", "-1d", "1.5h", "99999999h", timedelta(seconds=1)])
def test_what_is_no_interval(given: str | timedelta) -> None:
    with pytest.raises(ValueError, match=r"no interval|too short"):
        interval_s(given)


@pytest.mark.parametrize("given", [None, 7, b"weekly"])
def test_what_is_neither_text_nor_timedelta_is_no_interval(db: Database, given: Any) -> None:
    with pytest.raises(TypeError, match="is no interval: a text as 'weekly', '12h' or '90d', or a timedelta"):
        db.backup_schedule(every=given)
    with pytest.raises(TypeError, match="is no interval"):
        db.backup_schedule(keep=given)


@pytest.mark.parametrize(
    ("every", "keep"), [("weekly", "1h"), ("weekly", timedelta(days=6)), (timedelta(days=2), "daily")]
)
def test_backup_is_kept_until_the_next_one_is_made(
    db: Database, every: str | timedelta, keep: str | timedelta
) -> None:
    create_single(db)
    with pytest.raises(ValueError, match=f"{keep} is shorter than {every}"):
        db.backup_schedule(every=every, keep=keep)
    assert names(db) == []
    db.backup_schedule(every=every, keep=every)
    assert len(names(db)) == 1


def test_folder_of_backups_that_is_a_file_is_refused(tmp_path: Path) -> None:
    in_the_way = tmp_path / "notes.txt"
    in_the_way.write_text("not a folder")
    with pytest.raises(StorageFailedError, match="which is a file") as caught:
        Database.open(tmp_path / "app.db", backups=in_the_way)
    assert caught.value.hint is not None
    assert not (tmp_path / "app.db").exists()


def test_weeks_begin_on_monday() -> None:
    rate = BackupRate(every_s=7 * DAY_S, keep_s=DAY_S)
    assert rate.slot(MONDAY_US - 1) + 1 == rate.slot(MONDAY_US)


def test_server_makes_backups_of_a_schedule(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with Database.open(path) as db:
        create_single(db)
        fill(db, 3)
    arguments = ("--backup-every", "daily", "--backup-keep", "30d", "--backups", str(tmp_path / "kept"))
    with CommandProcess("serve", str(path), "--port", "0", *arguments, cwd=tmp_path) as server:
        server.read_line()
        while not list((tmp_path / "kept").rglob("*.json")):
            assert server.process.poll() is None
    with Database.open(path, backups=tmp_path / "kept") as db:
        (name,) = names(db)
        assert name.startswith("single-scheduled-")
