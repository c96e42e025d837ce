"""Menus as parsers bring them and as the app asks for them: newest scrape, an hour's freshness, history."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable.errors import ConditionNotMetError, ItemTooLargeError
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import DataQuality, ValidationIssue
from singletable_systems.lunch_cache.model.weeks import Week
from singletable_systems.lunch_cache.services.menus import FutureScrapeError, Kept, Menus, Stored, menu_of
from support.design_clients import Between, on_client
from support.opened_designs import stored_items
from support.targets import TARGETS, opened, target_of
from systems.lunch_scrapes import lunch, scrape, store_all
from systems.lunch_world import NOW

HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> ManualClock:
    """A clock that is later than the scrapes of these tests."""
    return ManualClock(int((NOW + 2 * HOUR).timestamp()) * 1_000_000)


@pytest.fixture(params=TARGETS)
def two(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[tuple[LunchCache, LunchCache]]:
    """A Lunch Cache as two processes open it: each has a cache of its own."""
    with opened(request.param, clock=clock) as client:
        target = target_of(client)
        with (
            LunchCache.open(target, clock=clock, create=True, environment="test") as ours,
            LunchCache.open(target, clock=clock, environment="test") as theirs,
        ):
            yield ours, theirs


@pytest.fixture
def db(two: tuple[LunchCache, LunchCache]) -> LunchCache:
    return two[0]


def names(menu: Any) -> list[str]:
    return [each.name for each in menu.lunches]


# --- storing ------------------------------------------------------------------------------------------------


def test_scrape_is_stored_as_the_menu_of_its_week(db: LunchCache) -> None:
    outcome = Menus(db).store(scrape(source="la-cantina-parser", last_updated=NOW - HOUR))
    assert isinstance(outcome, Stored)
    (item,) = stored_items(db)
    assert item["pk"] == {"S": "la-cantina-2033-01"}
    assert item["restaurant"] == {"S": "la-cantina"}
    assert item["lunches"]["L"][0]["M"]["place"] == {"S": "La Cantina"}
    assert item["lunches"]["L"][0]["M"]["week"] == {"N": "1"}
    assert item["metadata"] == {"M": {"version": {"S": "1.0"}, "source": {"S": "la-cantina-parser"}}}
    assert item["lastUpdated"] == {"S": "2033-01-05T08:00:00.000Z"}
    assert item["ttl"] == {"N": str(int((NOW + timedelta(days=14)).timestamp()))}
    assert Menus(db).this_week("LA CANTINA") == outcome.menu


TURNS = [
    (datetime(2024, 12, 30, 9, tzinfo=UTC), "la-cantina-2025-01"),
    (datetime(2024, 1, 2, 9, tzinfo=UTC), "la-cantina-2024-01"),
    (datetime(2027, 1, 1, 9, tzinfo=UTC), "la-cantina-2026-53"),
    (datetime(2027, 1, 3, 23, 30, tzinfo=UTC), "la-cantina-2027-01"),  # Monday in Stockholm
]


@pytest.mark.parametrize(("at", "key"), TURNS)
def test_menus_at_the_turn_of_a_year_do_not_overwrite_those_of_a_year_before(at: datetime, key: str) -> None:
    pk, _ = menu_of(scrape(at=at)).key
    assert pk.render() == key


def test_page_that_shows_next_weeks_menu_is_stored_as_that(db: LunchCache) -> None:
    Menus(db).store(scrape(week=Week(2033, 2)))
    assert [item["pk"]["S"] for item in stored_items(db)] == ["la-cantina-2033-02"]
    assert Menus(db).this_week("La Cantina") is None


def test_older_scrape_never_overwrites_a_newer_one(db: LunchCache) -> None:
    menus = Menus(db)
    newer = menus.store(scrape("newer", at=NOW))
    older = menus.store(scrape("older", at=NOW - timedelta(milliseconds=1)))
    assert isinstance(older, Kept)
    assert older.menu == newer.menu
    assert names(menus.this_week("La Cantina")) == ["newer"]
    assert isinstance(menus.store(scrape("newest", at=NOW + timedelta(milliseconds=1))), Stored)
    assert names(menus.this_week("La Cantina")) == ["newest"]


def test_scrape_of_the_future_is_refused(db: LunchCache) -> None:
    ahead = scrape(at=db.now() + timedelta(minutes=5, seconds=1))
    with pytest.raises(FutureScrapeError, match="still to come"):
        Menus(db).store(ahead)
    assert stored_items(db) == []
    assert isinstance(Menus(db).store(scrape(at=db.now() + timedelta(minutes=5))), Stored)


def test_same_scrape_can_be_stored_again(db: LunchCache) -> None:
    menus = Menus(db)
    first = menus.store(scrape())
    before = stored_items(db)
    assert menus.store(scrape()) == first
    assert stored_items(db) == before


def test_newer_scrape_that_comes_in_between_is_kept(clock: ManualClock) -> None:
    with opened("embedded", clock=clock) as client:
        between = Between(client)
        ours, theirs = (
            on_client(LunchCache, between, environment="x"),
            on_client(LunchCache, client, environment="x"),
        )

        def come_in_between(call: Call) -> None:
            if call.operation == "PutItem":
                Menus(theirs).store(scrape("newer", at=NOW + HOUR))

        between.before = come_in_between
        assert isinstance(Menus(ours).store(scrape("ours")), Kept)
        assert names(Menus(ours).this_week("La Cantina")) == ["newer"]


def test_newest_scrape_stays_where_processes_race(tmp_path: Path) -> None:
    path = str(tmp_path / "lunch.db")
    with LunchCache.open(path):
        pass
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        counts = list(processes.map(store_all, [path, path], [1, 2]))
    assert all(0 < count < 60 for count in counts)
    with LunchCache.open(path, clock=ManualClock(int(NOW.timestamp()) * 1_000_000)) as db:
        assert names(Menus(db).this_week("La Cantina")) == ["minute 59"]


def test_newest_scrape_stays_where_threads_race(db: LunchCache) -> None:
    def store(minute: int) -> None:
        Menus(db).store(scrape(f"minute {minute}", at=NOW + timedelta(minutes=minute)))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(store, random.Random(3).sample(range(40), 40)))
    assert names(Menus(db).this_week("La Cantina")) == ["minute 39"]


def test_errors_of_a_scrape_are_kept_with_what_was_right(db: LunchCache) -> None:
    found = [lunch("Soppa"), lunch("Fisk", price="dagspris"), "reklam"]
    outcome = Menus(db).store(scrape(lunches=found))
    menu = Menus(db).this_week("La Cantina")
    assert menu == outcome.menu
    assert menu is not None
    assert (names(menu), menu.lunch_count) == (["Soppa"], 1)
    assert menu.validation_errors == [
        ValidationIssue(field="lunches[1].price", message="'dagspris' is no price"),
        ValidationIssue(field="lunches[2]", message="'reklam' is no lunch"),
    ]
    assert menu.data_quality == DataQuality(completeness=Decimal("0.6667"), accuracy=Decimal("0.7143"))


def test_flawed_menus_are_found_across_weeks(db: LunchCache) -> None:
    menus = Menus(db)
    for weeks in range(4):
        found = [lunch() if weeks % 2 else lunch(price=0)]
        at = NOW - timedelta(days=weeks)
        menus.store(scrape(lunches=found, at=at, week=Week(2033, 1).after(-weeks)))
    page = menus.flawed("La Cantina", page_size=10)
    assert [(menu.year, menu.week) for menu in page] == [(2033, 1), (2032, 52)]
    assert page.cursor is None


def test_retention_says_how_long_a_menu_lives(db: LunchCache, clock: ManualClock) -> None:
    Menus(db, retention=timedelta(days=400)).store(scrape())
    clock.advance(399 * 86_400)
    assert len(Menus(db).history("La Cantina", page_size=5)) == 1
    clock.advance(86_400)
    assert len(Menus(db).history("La Cantina", page_size=5)) == 0


def test_menu_that_is_too_large_is_refused_and_the_old_one_stays(db: LunchCache) -> None:
    menus = Menus(db)
    menus.store(scrape("small"))
    with pytest.raises(ItemTooLargeError):
        menus.store(scrape(lunches=[lunch("x" * 1000)] * 500, at=NOW + HOUR))
    assert names(menus.this_week("La Cantina")) == ["small"]


def test_newer_item_that_is_no_menu_is_neither_kept_nor_overwritten(db: LunchCache) -> None:
    Menus(db).store(scrape(at=NOW + HOUR))
    (item,) = stored_items(db)
    db.session.client.call(
        "PutItem", {"TableName": db.session.table, "Item": {**item, "lunches": {"S": "?"}}}
    )
    with pytest.raises(ConditionNotMetError):
        Menus(db).store(scrape())


# --- reading ------------------------------------------------------------------------------------------------


def test_all_restaurants_of_this_week_with_those_that_are_missing(db: LunchCache) -> None:
    menus = Menus(db)
    for place in ("Niagara", "La Cantina", "Å Ä Ö"):
        menus.store(scrape(place, place=place))
    menus.store(scrape(place="Valvet", week=Week(2033, 2)))
    found = menus.all_this_week(["Å Ä Ö", "Valvet", "niagara", "Niagara", "Nobody", "La Cantina"])
    assert found.week == Week(2033, 1)
    assert [names(menu) for menu in found.menus] == [["Å Ä Ö"], ["Niagara"], ["La Cantina"]]
    assert found.missing == ["valvet", "nobody"]
    assert menus.all_this_week([]).menus == []


def test_this_week_is_that_of_stockholm(db: LunchCache, clock: ManualClock) -> None:
    menus = Menus(db)
    menus.store(scrape("this week"))
    menus.store(scrape("next week", week=Week(2033, 2)))
    sunday = datetime(2033, 1, 9, 22, 59, tzinfo=UTC)
    clock.advance((sunday - db.now()).total_seconds())
    assert names(menus.this_week("La Cantina")) == ["this week"]
    clock.advance(60)
    assert names(menus.this_week("La Cantina")) == ["next week"]


def test_history_is_paged_from_the_newest_scrape_on(db: LunchCache) -> None:
    menus = Menus(db)
    for weeks in range(5):
        menus.store(scrape(f"{weeks}", at=NOW - timedelta(days=weeks), week=Week(2033, 1).after(-weeks)))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = menus.history("La Cantina", page_size=2, cursor=cursor)
        seen += [name for menu in page for name in names(menu)]
        cursor = page.cursor
        if cursor is None:
            break
        assert len(page) == 2
    assert seen == ["0", "1", "2", "3", "4"]


def test_history_without_a_page_size_is_no_call(db: LunchCache) -> None:
    with pytest.raises(TypeError, match="page_size"):
        Menus(db).history("La Cantina")  # type: ignore[call-arg]  # LC-26


# --- fresh for an hour --------------------------------------------------------------------------------------


def units(db: LunchCache) -> tuple[float, float]:
    """Return what this week's menu costs to read, alone and with those of other restaurants."""
    one = db.menu("la-cantina", 2033, 1).found().units
    return one, db.menus(["la-cantina", "valvet"], 2033, 1).found().units


def test_second_read_costs_nothing_within_the_hour(
    two: tuple[LunchCache, LunchCache], clock: ManualClock
) -> None:
    ours, theirs = two
    Menus(theirs).store(scrape("first"))
    Menus(theirs).store(scrape("another", place="Valvet"))
    assert all(spent > 0 for spent in units(ours))
    Menus(theirs).store(scrape("second", at=NOW + timedelta(minutes=1)))
    clock.advance(3599)
    assert units(ours) == (0, 0)
    assert names(Menus(ours).this_week("La Cantina")) == ["first"]
    clock.advance(1)
    assert names(Menus(ours).this_week("La Cantina")) == ["second"]
    menu, _ = Menus(ours).all_this_week(["La Cantina", "Valvet"]).menus
    assert names(menu) == ["second"]


def test_menu_that_was_not_there_is_looked_for_again_after_a_minute(
    two: tuple[LunchCache, LunchCache], clock: ManualClock
) -> None:
    ours, theirs = two
    assert Menus(ours).this_week("La Cantina") is None
    Menus(theirs).store(scrape())
    clock.advance(59)
    assert Menus(ours).this_week("La Cantina") is None
    clock.advance(1)
    assert Menus(ours).this_week("La Cantina") is not None


def test_store_through_the_same_design_is_seen_at_once(db: LunchCache) -> None:
    menus = Menus(db)
    menus.store(scrape("first"))
    assert names(menus.this_week("La Cantina")) == ["first"]
    menus.store(scrape("second", at=NOW + timedelta(minutes=1)))
    assert names(menus.this_week("La Cantina")) == ["second"]
    assert [names(menu) for menu in menus.all_this_week(["La Cantina"]).menus] == [["second"]]


def test_store_of_another_restaurant_leaves_what_is_fresh(db: LunchCache) -> None:
    menus = Menus(db)
    menus.store(scrape())
    units(db)
    menus.store(scrape(place="Niagara"))
    assert units(db) == (0, 0)


def test_menu_that_expires_is_not_shown_from_the_cache(db: LunchCache, clock: ManualClock) -> None:
    menus = Menus(db, retention=timedelta(minutes=30))
    menus.store(scrape(at=db.now()))
    assert menus.this_week("La Cantina") is not None
    clock.advance(1800)
    assert menus.this_week("La Cantina") is None
    assert units(db)[0] == 0
