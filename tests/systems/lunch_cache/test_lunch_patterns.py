"""Every access pattern of Lunch Cache, on data with traps: exact results, order, cursors, requests and units."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby
from random import Random
from typing import Any

import pytest

from singletable.errors import ConditionNotMetError, ConsistencyError, NotFoundError
from singletable.values.sizes import item_bytes
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import WeeklyMenu
from support.opened_designs import stored_items
from support.targets import TARGETS
from systems.lunch_world import LARGE, NOW, RESTAURANTS, WEEKS, World, lunches, opened_world

EVERYBODY = (*RESTAURANTS, LARGE, "nobody")
ANY_WEEK = (*WEEKS, (2032, 51), (2031, 1))


@pytest.fixture(params=TARGETS, scope="module")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with opened_world(request.param) as opened:
        yield opened


@pytest.fixture(params=TARGETS)
def own_world(request: pytest.FixtureRequest) -> Iterator[World]:
    """One that a test may write to."""
    with opened_world(request.param) as opened:
        yield opened


def test_these_are_all_patterns() -> None:
    assert {name: info.number for name, info in LunchCache.patterns().items()} == {
        "store_menu": "1",
        "menu": "2",
        "history": "3",  # 4 is no pattern: the table's time to live cleans up (LC-05)
        "write_probe": "5",
        "read_probe": "5b",
        "delete_probe": "5c",
        "flawed": "6",
        "menus_of": "7",
        "menus": "8",
    }


# --- 2 and 8: by whole keys ---------------------------------------------------------------------------------


@pytest.mark.parametrize("restaurant", EVERYBODY)
def test_menu_of_a_week_is_found_by_its_key(world: World, restaurant: str) -> None:
    for year, week in ANY_WEEK:
        expected = world.brute.menu(restaurant, year, week)
        plan = world.db.menu(restaurant, year, week)
        with world.recorded("GetItem") as calls:
            found = plan.found()
        assert found.item == expected
        cost = world.costs.of(calls, {})
        assert len(calls) == 1
        assert (found.usage.units, found.usage.read) == (cost.units, cost.read)
        if expected is None:
            with pytest.raises(NotFoundError):
                plan.one()


@pytest.mark.parametrize(("year", "week"), ANY_WEEK)
def test_menus_of_a_week_come_in_the_order_that_was_asked_for(world: World, year: int, week: int) -> None:
    wanted = [*reversed(EVERYBODY), "la", "nobody-else"]
    with world.recorded("BatchGetItem") as calls:
        found = world.db.menus(wanted, year, week).found()
    assert found.item == world.brute.menus(wanted, year, week)
    assert len(calls) == 1
    cost = world.costs.of(calls, {})
    assert (found.usage.units, found.usage.read) == (cost.units, cost.read)


def test_menus_of_more_than_a_hundred_restaurants_are_read_in_several_requests(world: World) -> None:
    wanted = [f"restaurant-{number}" for number in range(150)] + ["niagara"]
    with world.recorded("BatchGetItem") as calls:
        found = world.db.menus(wanted, 2033, 1).all()
    assert found == [each for each in world.brute.menus(wanted, 2033, 1) if each is not None]
    assert len(calls) == 2


# --- 3, 6 and 7: the history of a restaurant ------------------------------------------------------------------


@pytest.mark.parametrize("restaurant", EVERYBODY)
@pytest.mark.parametrize("name", ["history", "flawed", "menus_of"])
def test_menus_of_a_restaurant_come_in_the_order_of_their_scrapes(
    world: World, name: str, restaurant: str
) -> None:
    plan = getattr(world.db, name)(restaurant)
    expected = getattr(world.brute, name)(restaurant)
    with world.recorded("Query") as calls:
        rows = plan.all()
        found = list(rows)
    assert by_moment(found) == by_moment(expected)
    if world.costs.knows(restaurant):
        cost = world.costs.of(calls, {})
        assert (rows.usage.units, rows.usage.read) == (cost.units, cost.read)
    assert rows.usage.thrown_away == rows.usage.read - len(found)
    ranks = world.ranks(restaurant)
    for size in (7, 1000) if restaurant == LARGE else (1, 2, 3, len(expected) or 1, 1000):
        goes_from_cursor_to_cursor(world, plan, found, size, ranks)


def by_moment(menus: list[WeeklyMenu]) -> list[list[WeeklyMenu]]:
    """Group menus of one moment: the index has them in no defined order."""
    groups = groupby(menus, lambda menu: menu.cached_at)
    return [sorted(group, key=pk_of) for _, group in groups]


def pk_of(menu: WeeklyMenu) -> str:
    pk, _ = menu.key
    return str(pk.render())


def goes_from_cursor_to_cursor(
    world: World, plan: Any, found: list[WeeklyMenu], size: int, ranks: dict[str, int]
) -> None:
    rows: list[WeeklyMenu] = []
    cursor: str | None = None
    while True:
        with world.recorded("Query") as calls:
            page = plan.page(size, cursor)
        if world.costs.knows(found[0].restaurant if found else ""):
            cost = world.costs.of(calls, ranks)
            assert (page.usage.units, page.usage.read) == (cost.units, cost.read)
        rows += page
        cursor = page.cursor
        if cursor is None:
            break
        assert len(page) == size
    assert rows == found


def test_history_of_more_than_a_megabyte_takes_several_requests(world: World) -> None:
    with world.recorded("Query") as calls:
        found = list(world.db.history(LARGE).all())
    assert len(calls) > 1
    assert sum(len(lunch.description.encode()) for menu in found for lunch in menu.lunches) > 1024 * 1024


def test_history_is_newest_first_also_where_zones_differ(world: World) -> None:
    for restaurant in RESTAURANTS:
        moments = [menu.cached_at for menu in world.db.history(restaurant).all()]
        assert moments == sorted(moments, reverse=True)


def test_history_cannot_be_read_consistently(world: World) -> None:
    with pytest.raises(ConsistencyError):
        world.db.history("niagara").consistent()


# --- 1: storing -------------------------------------------------------------------------------------------------


def scrape(restaurant: str, cached_at: datetime, text: str, *, count: int = 1) -> WeeklyMenu:
    return WeeklyMenu(
        restaurant=restaurant,
        year=2032,
        week=53,
        lunches=lunches(53, restaurant, count=count),
        cached_at=cached_at,
        metadata={"source": text},
    )


def test_stored_menu_is_the_newest_whatever_the_order_and_costs_what_it_must(own_world: World) -> None:
    world, random = own_world, Random(18)
    items = {item["pk"]["S"]: item for item in stored_items(world.db)}
    known = {name: world.brute.menu(name, 2032, 53) for name in RESTAURANTS}
    for number in range(60):
        restaurant = random.choice(RESTAURANTS)
        moment = NOW + timedelta(minutes=random.randrange(20), milliseconds=random.randrange(2))
        menu = scrape(restaurant, moment, f"scrape {number}", count=random.randrange(1, 30))
        pk = f"{restaurant}-2032-53"
        before = items.get(pk)
        with world.recorded("PutItem") as calls:
            if before is None or before["cachedAt"]["S"] <= time_text(moment):
                written = world.db.store_menu(menu).run()
                known[restaurant] = menu
                items[pk] = calls[0].params["Item"]
                assert written.units == put_units(before, items[pk])
            else:
                with pytest.raises(ConditionNotMetError) as refused:
                    world.db.store_menu(menu).run()
                assert time_text(refused.value.stored.cached_at) == before["cachedAt"]["S"]
        assert len(calls) == 1
    for restaurant, newest in known.items():
        assert world.db.menu(restaurant, 2032, 53).maybe() == newest


def time_text(moment: datetime) -> str:
    return f"{moment.isoformat(timespec='milliseconds')[:23]}Z"


def put_units(before: Any, after: Any) -> float:
    """Return what a put costs the table and its index, by KB (AWS guide, "Read and write operations")."""
    new = math.ceil(item_bytes(after) / 1024)
    if before is None:
        return 2 * new
    old = math.ceil(item_bytes(before) / 1024)
    if before["cachedAt"] != after["cachedAt"]:
        return max(old, new) + old + new  # leaves the index, and comes into it elsewhere (LC-22)
    return 2 * max(old, new)


# --- 5: the health check ----------------------------------------------------------------------------------------


def test_probe_is_written_read_and_deleted_by_one_small_request_each(own_world: World) -> None:
    db = own_world.db
    before = stored_items(db)
    with own_world.recorded("PutItem", "GetItem", "DeleteItem") as calls:
        assert db.write_probe(7).run().units == 1
        found = db.read_probe(7).found()
        assert found.item is not None
        assert (found.item.probe, found.units) == (7, 1)  # consistent
        assert db.delete_probe(7).run().units == 1
        assert db.read_probe(7).maybe() is None
    assert [call.operation for call in calls] == ["PutItem", "GetItem", "DeleteItem", "GetItem"]
    assert calls[1].params["ConsistentRead"] is True
    key = calls[0].params["Item"]["pk"]["S"]
    assert key == "HEALTH#00000000000000000007"
    assert not {"restaurant", "cachedAt"} & calls[0].params["Item"].keys()
    assert sorted(map(str, stored_items(db))) == sorted(map(str, before))
