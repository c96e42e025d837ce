"""Kefir, restored: to a moment and from backups, as another stage, with every item and every answer of then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.systems import find_system
from singletable_systems.kefir import (
    Accounts,
    BatchId,
    Brewing,
    DeviceId,
    Devices,
    Dispatcher,
    Kefir,
    LocalPush,
    Reminders,
    UserId,
)
from support.backed_up import names
from support.opened_designs import stored_items
from systems.kefir_past import KefirPast
from systems.kefir_users import ADA, everything, settle_in, sign_up

DAY = date(2026, 3, 4)
DAY_S = 86_400
DEVICE_LIFE_S = 270 * DAY_S


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(int(datetime.combine(DAY, time(12), UTC).timestamp()) * 1_000_000)


@pytest.fixture
def database(tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    with Database.open(tmp_path / "kefir.db", clock=clock) as opened:
        yield opened
        assert opened.check() == []


def keys_in(db: Kefir) -> set[str]:
    return {f"{item['PK']['S']} {item['SK']['S']}" for item in stored_items(db)}


def seeded(database: Database, stage: str = "prod") -> Kefir:
    """Open a Kefir with the made-up data of the day."""
    db = Kefir.open(database, stage=stage)
    db.load(find_system("kefir").seed("small", DAY).entities)
    return db


def go_on(db: Kefir, clock: ManualClock) -> None:
    """Let users change, add and delete things, and the dispatcher send what is due."""
    brewing = Brewing(db)
    for user in (ADA, UserId("bo"), UserId("chidi")):
        for batch in list(db.batches(user).all())[:4]:
            clock.advance(1)
            brewing.note(user, batch.batch_id, "Later")
            brewing.archive(user, batch.batch_id)
    batch = brewing.start(
        ADA, name="New", water_volume_ml=Decimal(1), sugar_grams=Decimal(1), target_hours_stage1=Decimal(1)
    )
    Reminders(db).remind(ADA, batch.batch_id, "New", db.now())
    Dispatcher(db, LocalPush()).send_due()
    Accounts(db).change_email(ADA, "new@example.com")
    Devices(db).register(ADA, DeviceId("new"), platform="ios", push_token="new")
    brewing.delete(ADA, BatchId("ada-09"))
    users = {each.user_id for each in db.batches_by_status("active").all()} - {ADA}
    Accounts(db).delete_all_data(min(users))
    clock.advance(60)


def test_restore_to_a_moment_brings_back_every_item_of_it_as_another_stage(
    database: Database, clock: ManualClock
) -> None:
    with seeded(database) as db:
        Dispatcher(db, LocalPush()).send_due()
        clock.advance(60)
        past = KefirPast(db)
        assert past.patterns() == Kefir.patterns().keys()
        clock.advance(60)
        go_on(db, clock)
        assert not past.is_found_in(db)
        now = everything(db)
        database.restore_table_to_point_in_time(
            SourceTableName="kefir-app-prod-table",
            TargetTableName="kefir-app-restored-table",
            RestoreDateTime=past.now,
        )
        with Kefir.open(database, stage="restored") as restored:
            past.assert_found_in(restored)
        assert everything(db) == now  # nothing happens to the table that it is restored from


def test_restore_from_a_backup_brings_back_every_item_though_table_and_past_are_gone(
    database: Database, clock: ManualClock
) -> None:
    with seeded(database) as db:
        past = KefirPast(db)
        backup = database.create_backup(TableName=db.session.table, BackupName="before-the-release")
        go_on(db, clock)
    database.delete_table(TableName="kefir-app-prod-table")
    clock.advance(40 * DAY_S)
    database.restore_table_from_backup(
        TargetTableName="kefir-app-restored-table", BackupArn=backup["BackupDetails"]["BackupArn"]
    )
    with Kefir.open(database, stage="restored") as restored:
        past.assert_found_in(restored)


def test_restored_table_is_operated_like_the_other(database: Database, clock: ManualClock) -> None:
    """Its stream, its expiry and its recovery work, which no restore brings along."""
    with seeded(database) as db:
        settle_in(db, UserId("eve"))
        clock.advance(60)
        before = db.now()
        clock.advance(60)
    database.restore_table_to_point_in_time(
        SourceTableName="kefir-app-prod-table",
        TargetTableName="kefir-app-restored-table",
        RestoreDateTime=before,
    )
    with Kefir.open(database, stage="restored") as restored:
        consumer = restored.consume(background=False, wait=lambda seconds: None)
        batch = next(iter(restored.batches(UserId("eve")).all()))
        reminder = Reminders(restored).remind(
            batch.user_id, batch.batch_id, "Taste it", before + timedelta(days=9)
        )
        consumer.drain()
        assert restored.reminder(batch.batch_id, reminder.reminder_id).one().scheduler_arn is not None
        clock.advance(DEVICE_LIFE_S)
        assert not [key for key in keys_in(restored) if "eve-phone" in key]
        past = KefirPast(restored)
        clock.advance(60)
        Accounts(restored).delete_all_data(UserId("eve"))
        database.restore_table_to_point_in_time(
            SourceTableName="kefir-app-restored-table",
            TargetTableName="kefir-app-again-table",
            RestoreDateTime=past.now,
        )
        with Kefir.open(database, stage="again") as again:
            past.assert_found_in(again)


def test_weekly_backups_are_kept_for_ninety_days_and_each_is_that_of_its_week(
    database: Database, clock: ManualClock
) -> None:
    with Kefir.open(database, stage="prod") as db:
        database.backup_schedule(every="weekly", keep="90d")
        for week in range(20):
            sign_up(db, UserId(f"user-{week:02}"))
            clock.advance(7 * DAY_S)
        kept = database.list_backups()["BackupSummaries"]
        assert 12 <= len(kept) <= 14
        assert [name.partition("-scheduled-")[0] for name in names(database)] == [
            "kefir-app-prod-table"
        ] * len(kept)
        for number, backup in ((0, kept[0]), (len(kept) - 1, kept[-1])):
            stage = f"week{number}"
            database.restore_table_from_backup(
                TargetTableName=f"kefir-app-{stage}-table", BackupArn=backup["BackupArn"]
            )
            made_at = backup["BackupCreationDateTime"]
            with Kefir.open(database, stage=stage) as restored:
                found = {key for key in keys_in(restored) if key.endswith("METADATA")}
                users = [db.user(UserId(f"user-{week:02}")).one() for week in range(20)]
                assert found == {
                    f"USER#{user.user_id} METADATA" for user in users if user.created_at < made_at
                }
                assert restored.verify().is_clean
