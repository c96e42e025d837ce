"""Statistics of a restaurant: exact, and of the menus that are there."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

import pytest

from singletable_systems.lunch_cache.model.entities import WeeklyMenu
from singletable_systems.lunch_cache.services.menus import menu_of
from singletable_systems.lunch_cache.services.statistics import (
    Prices,
    Quality,
    Statistics,
    statistics_of,
    summed_up,
)
from support.targets import TARGETS
from systems.lunch_scrapes import lunch, scrape
from systems.lunch_world import LARGE, NOW, RESTAURANTS, World, opened_world


@pytest.fixture(params=TARGETS, scope="module")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with opened_world(request.param) as opened:
        yield opened


def rounded(values: list[Decimal], decimals: int) -> Decimal:
    mean = sum(map(Fraction, values), Fraction()) / len(values)
    return Decimal(round(mean * 10**decimals)).scaleb(-decimals)


@pytest.mark.parametrize("restaurant", [*RESTAURANTS, LARGE])
def test_statistics_are_those_of_all_menus_that_have_not_expired(world: World, restaurant: str) -> None:
    menus = world.brute.menus_of(restaurant)
    prices = [lunch.price for menu in menus for lunch in menu.lunches]
    with world.recorded("Query") as calls:
        found = statistics_of(world.db, restaurant)
    assert {call.params["IndexName"] for call in calls} == {"RestaurantIndex"}
    assert (found.menus, found.lunches) == (len(menus), len(prices))
    assert found.flawed_menus == len(world.brute.flawed(restaurant))
    assert (found.oldest, found.newest) == (menus[0].cached_at, menus[-1].cached_at)
    assert found.prices == Prices(len(prices), rounded(prices, 2), min(prices), max(prices))
    for day, of_day in found.by_weekday.items():
        each = [lunch.price for menu in menus for lunch in menu.lunches if lunch.weekday == day]
        assert of_day == Prices(len(each), rounded(each, 2), min(each), max(each))
    assert sum(of_day.lunches for of_day in found.by_weekday.values()) == len(prices)


def test_restaurant_without_menus_has_empty_statistics(world: World) -> None:
    assert statistics_of(world.db, "Nobody") == Statistics(0, 0, 0, None, None, None, {}, None)


def menu(*prices: str, day: str = "torsdag", wrong: int = 0) -> WeeklyMenu:
    found = [lunch(price=Decimal(price), weekday=day) for price in prices]
    return menu_of(scrape(lunches=[*found, *[lunch(price="?")] * wrong]))


def test_means_are_rounded_to_the_even_hundredth() -> None:
    assert summed_up([menu("0.01", "0.02")]).prices == Prices(
        2, Decimal("0.02"), Decimal("0.01"), Decimal("0.02")
    )
    assert summed_up([menu("100", "100", "101")]).prices == Prices(
        3, Decimal("100.33"), Decimal(100), Decimal(101)
    )


def test_weekdays_are_told_apart_and_come_in_their_order() -> None:
    found = summed_up([menu("120", day="fredag"), menu("90", "110", day="måndag")])
    assert list(found.by_weekday) == ["måndag", "fredag"]
    assert found.by_weekday["måndag"] == Prices(2, Decimal(100), Decimal(90), Decimal(110))


def test_quality_is_the_mean_over_the_menus_that_say_so() -> None:
    right, wrong = menu("100"), menu("100", wrong=1)  # 3 of 3; 6 there, 1 wrong
    unknown = right.model_copy(update={"data_quality": None})
    found = summed_up([right, wrong, unknown])
    assert found.quality == Quality(2, Decimal("1.0000"), Decimal("0.9166"))  # of 1.0000 and 0.8333
    assert (found.menus, found.flawed_menus) == (3, 1)


def test_menu_without_lunches_counts_and_has_no_prices() -> None:
    found = summed_up([menu()])
    assert (found.menus, found.lunches, found.prices, found.newest) == (1, 0, None, NOW)
    assert found.by_weekday == {}
