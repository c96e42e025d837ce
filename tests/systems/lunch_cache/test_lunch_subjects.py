"""The subjects that the document's testing strategy names, one by one (004:234-246)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import (
    ConditionNotMetError,
    CursorMismatchError,
    InvalidItemError,
    KeyValueError,
    NotFoundError,
    TableMissingError,
)
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import WeeklyMenu
from singletable_systems.lunch_cache.model.keys import MenuPK
from singletable_systems.lunch_cache.model.weeks import Week
from singletable_systems.lunch_cache.services.menus import Menus, Stored, menu_of
from support.opened_designs import call, opened_design, stored_items
from support.targets import TARGETS
from systems.lunch_scrapes import lunch, scrape
from systems.lunch_world import NOW

DAY_S = 86_400


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(int(NOW.timestamp()) * 1_000_000)


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[LunchCache]:
    with opened_design(LunchCache, request.param, clock, environment="test") as opened:
        yield opened


# --- unit tests (004:236-240) ---------------------------------------------------------------------------------


def test_cache_key_generation_from_place_and_moment() -> None:
    for place, at, key in (
        ("Niagara", datetime(2025, 1, 15, 9, tzinfo=UTC), "niagara-2025-03"),
        ("La Cantina", datetime(2024, 12, 30, 9, tzinfo=UTC), "la-cantina-2025-01"),
        ("Å Ä Ö", datetime(2027, 1, 1, 9, tzinfo=UTC), "å-ä-ö-2026-53"),
    ):
        pk, _ = menu_of(scrape(place=place, at=at)).key
        assert pk.render() == key
        assert MenuPK.parse(key) == pk


def test_item_serialization_and_deserialization_give_the_same_menu(db: LunchCache) -> None:
    menu = menu_of(
        scrape(lunches=[lunch(price="99,50 kr"), lunch(price="?")], source="parser", last_updated=NOW)
    )
    db.store_menu(menu).run()
    assert db.menu("la-cantina", 2033, 1).one() == menu
    (item,) = stored_items(db)
    assert db.store_menu(db.menu("la-cantina", 2033, 1).one()).request()["Item"].keys() == item.keys()


def test_ttl_calculation_is_fourteen_days_in_whole_seconds() -> None:
    at = datetime(2025, 1, 20, 10, 30, 0, 999_000, tzinfo=UTC)
    with LunchCache.open(":memory:") as db:
        for given in (at, at.astimezone(tz=None)):
            item = db.store_menu(menu_of(scrape(at=given))).request()["Item"]
            assert item["ttl"] == {"N": "1738578600"}  # 004:129, LC-08
        item = db.store_menu(menu_of(scrape(at=at), retention=timedelta(days=1))).request()["Item"]
        assert item["ttl"] == {"N": str(1738578600 - 13 * DAY_S)}


def test_error_handling_says_what_is_wrong(db: LunchCache) -> None:
    Menus(db).store(scrape(at=NOW))
    with pytest.raises(NotFoundError, match="restaurant='nobody'"):
        db.menu("nobody", 2033, 1).one()
    with pytest.raises(ConditionNotMetError, match="la-cantina-2033-01 does not meet"):
        db.store_menu(menu_of(scrape(at=NOW - timedelta(hours=1)))).run()
    with pytest.raises(ValidationError, match="restaurant"):
        menu_of(scrape(place="東京"))
    with pytest.raises(KeyValueError, match="MenuPK"):
        Menus(db).this_week("東京")
    with pytest.raises(ValueError, match="has no time zone"):
        Menus(db).store(scrape(at=datetime(2025, 1, 20)))  # noqa: DTZ001
    Menus(db).store(scrape(at=NOW, week=Week(2033, 2)))
    cursor = Menus(db).history("La Cantina", page_size=1).cursor
    with pytest.raises(CursorMismatchError):
        Menus(db).history("Niagara", page_size=1, cursor=cursor)
    call(db, "DeleteTable")
    with pytest.raises(TableMissingError, match="lunch-cache-test"):
        db.history("niagara").page(5)


def test_error_handling_of_an_item_that_is_no_menu(db: LunchCache) -> None:
    broken = {"pk": {"S": "niagara-2033-01"}, "entityType": {"S": "WeeklyMenu"}, "lunches": {"S": "none"}}
    call(db, "PutItem", Item=broken)
    with pytest.raises(InvalidItemError, match="niagara-2033-01"):
        db.menu("niagara", 2033, 1).maybe()


# --- integration tests (004:242-246) ----------------------------------------------------------------------------


def test_table_operations_create_read_update_and_delete(db: LunchCache) -> None:
    menus = Menus(db)
    created = menus.store(scrape("first"))
    assert isinstance(created, Stored)
    assert db.menu("la-cantina", 2033, 1).one() == created.menu
    menus.store(scrape("second", at=NOW + timedelta(minutes=1)))
    menu = db.menu("la-cantina", 2033, 1).one()
    assert [each.name for each in menu.lunches] == ["second"]
    db.delete(menu)
    assert db.menu("la-cantina", 2033, 1).maybe() is None
    assert stored_items(db) == []


def test_gsi_queries_find_the_weeks_of_one_restaurant(db: LunchCache) -> None:
    for weeks in range(3):
        for place in ("La Cantina", "La", "La Cantina 2"):
            menus = Menus(db)
            menus.store(scrape(place=place, at=NOW - timedelta(days=weeks), week=Week(2033, 1).after(-weeks)))
    found = [(menu.restaurant, menu.year, menu.week) for menu in db.history("la-cantina").all()]
    assert found == [("la-cantina", 2033, 1), ("la-cantina", 2032, 53), ("la-cantina", 2032, 52)]


def test_ttl_functionality_takes_menus_from_table_and_index(clock: ManualClock) -> None:
    with (
        Database.open(":memory:", clock=clock) as database,
        LunchCache.open(database, environment="test") as db,
    ):
        Menus(db).store(scrape())
        clock.advance(14 * DAY_S - 1)
        assert len(stored_items(db)) == 1
        clock.advance(3)
        assert stored_items(db) == []
        assert call(db, "Scan", IndexName="RestaurantIndex")["Items"] == []
        assert database.metrics().time_to_live_deleted_items("lunch-cache-test") == 1


def test_ttl_functionality_hides_what_is_not_deleted_yet(clock: ManualClock) -> None:
    with (
        Database.open(":memory:", clock=clock, ttl_sweep_s=None) as database,
        LunchCache.open(database, environment="test") as db,
    ):
        menus = Menus(db)
        menus.store(scrape())
        clock.advance(14 * DAY_S)
        assert len(stored_items(db)) == 1
        assert db.menu("la-cantina", 2033, 1).maybe() is None  # LC-10
        assert len(menus.history("La Cantina", page_size=5)) == 0
        clock.advance(1)
        assert database.sweep_expired() == 1


def test_backup_and_restore_procedures_bring_back_a_deleted_table(tmp_path: Path, clock: ManualClock) -> None:
    with Database.open(tmp_path / "lunch.db", clock=clock) as database:
        with LunchCache.open(database, environment="prod") as db:
            stored = [Menus(db).store(scrape(place=place)).menu for place in ("La Cantina", "Niagara")]
            backup = database.create_backup(TableName="lunch-cache-prod", BackupName="before")[
                "BackupDetails"
            ]
            for menu in stored:
                db.delete(menu)
        database.restore_table_from_backup(
            TargetTableName="lunch-cache-restored", BackupArn=backup["BackupArn"]
        )
        assert_restored(database, stored)


def test_backup_and_restore_procedures_go_back_to_a_moment(tmp_path: Path, clock: ManualClock) -> None:
    with Database.open(tmp_path / "lunch.db", clock=clock) as database:
        with LunchCache.open(database, environment="prod") as db:
            clock.advance(60)
            stored = [Menus(db).store(scrape(place=place)).menu for place in ("La Cantina", "Niagara")]
            before = db.now()
            clock.advance(60)
            Menus(db).store(scrape("nonsense", at=NOW + timedelta(minutes=1)))
            db.delete(stored[1])
            clock.advance(60)
        database.restore_table_to_point_in_time(
            SourceTableName="lunch-cache-prod",
            TargetTableName="lunch-cache-restored",
            RestoreDateTime=before,
        )
        assert_restored(database, stored)


def assert_restored(database: Database, stored: list[WeeklyMenu]) -> None:
    """Read the restored table through the design, which gives it the settings that no restore brings along."""
    assert [each.what for each in LunchCache.diff(database, environment="restored")] != []
    with LunchCache.open(database, environment="restored") as db:
        db.create_table()
        # The files of these tests are plain, and diff says so.
        assert {difference.what for difference in db.drift()} <= {"encryption"}
        found = Menus(db).all_this_week(["La Cantina", "Niagara"])
        assert (found.menus, found.missing) == (stored, [])
        assert [menu.restaurant for menu in db.history("niagara").all()] == ["niagara"]
    with LunchCache.open(database, environment="prod") as db:
        assert db.menu("niagara", 2033, 1).maybe() is None
