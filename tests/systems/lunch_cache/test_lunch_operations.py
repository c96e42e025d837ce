"""Lunch Cache as it is operated: set up in one step, what expires, what is cleared, restored and kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from singletable import Database, Put
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.stack import Deployment
from singletable.systems import find_system
from singletable_systems.lunch_cache import LunchCache, Menus, check_health, statistics_of
from singletable_systems.lunch_cache.model.entities import HealthProbe, WeeklyMenu
from singletable_systems.lunch_cache.model.weeks import Week
from singletable_systems.lunch_cache.operating import roles_and_alarms as operations
from singletable_systems.lunch_cache.services.menus import menu_of
from support.design_clients import Between, on_client
from support.opened_designs import call, stored_items
from support.targets import TARGETS, opened
from systems.lunch_scrapes import scrape
from systems.lunch_world import BruteForce

DAY = date(2026, 3, 4)  # a Wednesday of week 10
DAY_S = 86_400
TABLE = "lunch-cache-prod"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(int(datetime.combine(DAY, time(12), UTC).timestamp()) * 1_000_000)


@pytest.fixture
def database(tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    with Database.open(tmp_path / "lunch.db", clock=clock) as opened:
        yield opened
        assert opened.check() == []


@pytest.fixture
def db(database: Database) -> Iterator[LunchCache]:
    with LunchCache.open(database, environment="prod") as opened:
        yield opened


def seed(db: LunchCache) -> list[WeeklyMenu]:
    """Fill a table with the made-up menus of the day."""
    db.load(find_system("lunch_cache").seed("small", DAY).entities)
    read: Any = db.catalog.schema_for(WeeklyMenu).to_entity
    return [read(item) for item in stored_items(db)]


def pks(db: LunchCache) -> list[str]:
    return sorted(item["pk"]["S"] for item in stored_items(db))


def in_index(db: LunchCache) -> list[str]:
    return sorted(item["pk"]["S"] for item in call(db, "Scan", IndexName="RestaurantIndex")["Items"])


# --- setting up (LC-24, LC-01) ------------------------------------------------------------------------------


def test_table_is_made_by_one_request_with_its_index_and_then_set_up(clock: ManualClock) -> None:
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        between = Between(client)
        db = on_client(LunchCache, between, environment="prod")
        changing = [each for each in between.calls if not each.operation.startswith(("Describe", "List"))]
        operations_asked = [each.operation for each in changing]
        assert operations_asked == ["CreateTable", "UpdateTimeToLive", "UpdateContinuousBackups"]
        created = changing[0].params
        assert [index["IndexName"] for index in created["GlobalSecondaryIndexes"]] == ["RestaurantIndex"]
        assert created["BillingMode"] == "PAY_PER_REQUEST"
        assert db.drift() == []
        between.calls.clear()
        on_client(LunchCache, between, environment="prod")
        assert all(each.operation.startswith(("Describe", "List")) for each in between.calls)


def test_settings_of_the_table_are_those_of_the_document(database: Database, db: LunchCache) -> None:
    ttl = database.describe_time_to_live(TableName=TABLE)["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}  # 004:122
    backups: Any = database.describe_continuous_backups(TableName=TABLE)["ContinuousBackupsDescription"]
    recovery = backups["PointInTimeRecoveryDescription"]
    assert (recovery["PointInTimeRecoveryStatus"], recovery["RecoveryPeriodInDays"]) == ("ENABLED", 35)
    assert check_health(db).is_healthy
    assert stored_items(db) == []


def test_region_is_that_of_stockholm() -> None:
    place = Deployment(operations.REGION, "123456789012", {"environment": "prod"})
    arns = {
        resource
        for policy in operations.roles(place).all()
        for statement in policy.statements
        for resource in statement.resources
    }
    assert operations.REGION == "eu-north-1"  # eu-west-1, as the document has it, is Ireland
    assert {arn.split(":")[3] for arn in arns - {"*"}} == {"eu-north-1"}


# --- what expires -------------------------------------------------------------------------------------------


def test_menu_is_swept_fourteen_days_after_its_scrape_and_hidden_before(clock: ManualClock) -> None:
    with (
        Database.open(":memory:", clock=clock, ttl_sweep_s=None) as database,
        LunchCache.open(database, environment="prod") as db,
    ):
        Menus(db).store(scrape(place="Niagara", at=db.now()))
        Menus(db).store(scrape(place="La Cantina", at=db.now() + timedelta(seconds=5)))
        clock.advance(14 * DAY_S - 1)
        assert db.menu("niagara", 2026, 10).maybe() is not None
        clock.advance(1)
        assert db.menu("niagara", 2026, 10).maybe() is None
        assert [menu.restaurant for menu in db.menus(["niagara", "la-cantina"], 2026, 10).all()] == [
            "la-cantina"
        ]
        for asked in (db.history("niagara"), db.flawed("niagara"), db.menus_of("niagara")):
            assert list(asked.all()) == []
        assert statistics_of(db, "Niagara").menus == 0
        assert pks(db) == in_index(db) == ["la-cantina-2026-10", "niagara-2026-10"]
        clock.advance(1)
        assert database.sweep_expired() == 1
        assert pks(db) == in_index(db) == ["la-cantina-2026-10"]


@pytest.mark.parametrize("days", [1, 14, 60])
def test_retention_of_menus_is_what_it_is_said_to_be(
    database: Database, db: LunchCache, clock: ManualClock, days: int
) -> None:
    menus = Menus(db, retention=timedelta(days=days))
    menus.store(scrape(place="Niagara", at=db.now()))
    clock.advance(days * DAY_S - 1)
    assert len(pks(db)) == 1
    assert len(menus.history("Niagara", page_size=5)) == 1
    clock.advance(2)
    assert pks(db) == in_index(db) == []


def test_menu_that_is_scraped_again_lives_fourteen_days_from_then(db: LunchCache, clock: ManualClock) -> None:
    Menus(db).store(scrape(place="Niagara", at=db.now()))
    clock.advance(13 * DAY_S)
    Menus(db).store(scrape("newer", place="Niagara", at=db.now(), week=Week(2026, 10)))
    clock.advance(14 * DAY_S - 1)
    assert pks(db) == in_index(db) == ["niagara-2026-10"]
    clock.advance(2)
    assert pks(db) == in_index(db) == []


def test_probe_that_nobody_took_away_is_swept_after_minutes(db: LunchCache, clock: ManualClock) -> None:
    db.create(HealthProbe(probe=7))
    assert in_index(db) == []
    clock.advance(5 * 60 - 1)
    assert len(pks(db)) == 1
    clock.advance(2)
    assert pks(db) == []


# --- the clean-up (LC-05) -----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("segments", [1, 4])
def test_expired_menus_are_cleared_and_no_others(target: str, segments: int) -> None:
    now = datetime(2033, 1, 5, 9, 0, tzinfo=UTC)  # far ahead: no target has swept them by its own clock
    clock = ManualClock(int(now.timestamp()) * 1_000_000)
    with opened(target, clock=clock) as client:
        between = Between(client)
        db = on_client(LunchCache, between, environment="prod")
        over = [menu_of(scrape(place=f"Old {n}", at=now - timedelta(days=14, seconds=n))) for n in range(30)]
        fresh = [menu_of(scrape(place=f"New {n}", at=now - timedelta(days=n % 13))) for n in range(30)]
        db.batch(*map(Put, [*over, *fresh]))
        between.calls.clear()
        cleared = db.delete_expired(segments=segments)
        assert (cleared.read, cleared.deleted) == (60, 30)
        assert pks(db) == in_index(db) == sorted(menu.key[0].render() for menu in fresh)
        scans = [each.params for each in between.calls if each.operation == "Scan"][:segments]
        assert {scan["TotalSegments"] for scan in scans} == {segments}
        assert all("ttl" in scan["ExpressionAttributeNames"].values() for scan in scans)
        assert db.delete_expired(segments=segments).deleted == 0


def test_clean_up_keeps_to_its_pace(clock: ManualClock) -> None:
    waits: list[float] = []
    with (
        Database.open(":memory:", clock=clock) as database,
        LunchCache.open(database, environment="prod", sleep=waits.append) as db,
    ):
        at = db.now()
        menus = [menu_of(scrape(place=f"Old {n}", at=at)) for n in range(1500)]
        db.load(menus)
        cleared = db.delete_expired(segments=1, units_per_s=10)
        assert cleared.read == 1500
        assert sum(waits) * 10 == pytest.approx(cleared.units, rel=0.5)


# --- restored, and kept -------------------------------------------------------------------------------------


def go_on(db: LunchCache, clock: ManualClock) -> None:
    """Let newer scrapes come, and menus be deleted."""
    clock.advance(3600)
    for menu in list(db.history("niagara").all()):
        db.delete(menu)
    Menus(db).store(scrape("newer", place="Gröna Lunden", at=db.now()))
    Menus(db).store(scrape("new", place="Somewhere", at=db.now()))
    clock.advance(60)


def assert_as_before(database: Database, menus: list[WeeklyMenu], items: list[Any], now: datetime) -> None:
    """Assert that the restored environment has every item, and answers every pattern as at the moment."""
    with LunchCache.open(database, environment="restored") as db:
        db.create_table()
        # The files of these tests are plain, and diff says so.
        assert {difference.what for difference in db.drift()} <= {"encryption"}
        assert db.verify().is_clean
        assert stored_items(db) == items
        assert pks(db) == in_index(db)
        brute = BruteForce(menus, now)
        for restaurant in {menu.restaurant for menu in menus}:
            for pattern in ("history", "flawed", "menus_of"):
                assert list(getattr(db, pattern)(restaurant).all()) == getattr(brute, pattern)(restaurant)
            for menu in menus:
                asked = (restaurant, menu.year, menu.week)
                assert db.menu(*asked).maybe() == brute.menu(*asked)
        everywhere = sorted({menu.restaurant for menu in menus})
        assert db.menus(everywhere, 2026, 10).found().item == brute.menus(everywhere, 2026, 10)


def test_restore_to_a_moment_brings_back_every_menu(
    database: Database, db: LunchCache, clock: ManualClock
) -> None:
    menus = seed(db)
    items, before = stored_items(db), db.now()
    go_on(db, clock)
    assert stored_items(db) != items
    database.restore_table_to_point_in_time(
        SourceTableName=TABLE, TargetTableName="lunch-cache-restored", RestoreDateTime=before
    )
    assert_as_before(database, menus, items, before)


def test_restore_from_a_backup_brings_back_every_menu(
    database: Database, db: LunchCache, clock: ManualClock
) -> None:
    menus = seed(db)
    items, before = stored_items(db), db.now()
    backup = database.create_backup(TableName=TABLE, BackupName="by-hand")["BackupDetails"]["BackupArn"]
    go_on(db, clock)
    database.restore_table_from_backup(TargetTableName="lunch-cache-restored", BackupArn=backup)
    assert_as_before(database, menus, items, before)


def test_table_that_is_kept_for_a_rollback_keeps_its_rows_for_thirty_days(
    database: Database, db: LunchCache, clock: ManualClock
) -> None:
    """LC-25: its expiry is turned off when the app moves to another environment; then it is dropped."""
    seed(db)
    items = stored_items(db)
    clock.advance(3600)  # the setting can be changed once an hour
    database.update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"Enabled": False, "AttributeName": "ttl"}
    )
    with LunchCache.open(database, environment="v2") as moved:
        Menus(moved).store(scrape(place="Niagara", at=moved.now()))
        clock.advance(30 * DAY_S)
        assert pks(moved) == []  # what is in use goes on to expire
    assert stored_items(db) == items
    with LunchCache.open(database, environment="prod", create=False) as kept:  # to look at it changes nothing
        assert kept.menu("niagara", 2026, 10).maybe() is None
        clock.advance(DAY_S)
        assert stored_items(kept) == items
    # Rolled back: the app of before does not show what has expired, and its scrapes come anew.
    Menus(db).store(scrape(place="Niagara", at=db.now()))
    assert len(list(db.history("niagara").all())) == 1
    database.delete_table(TableName=TABLE)
    assert database.list_tables()["TableNames"] == ["lunch-cache-v2"]
