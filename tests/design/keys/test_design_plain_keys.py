"""Indexes on plain attributes, of one or of several: numbers in their order, bounds, and pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from singletable.design import (
    BatchGet,
    Design,
    Entity,
    Index,
    Key,
    Keys,
    Merged,
    Put,
    Query,
    SortKey,
    Table,
    pattern,
)
from singletable.errors import KeyValueError
from support.opened_designs import opened_design, stored_items
from support.targets import TARGETS


class MenuTable(Table):
    name = "menus"
    pk = "id"
    sk = "page"
    by_week = Index("ByWeek", pk="restaurant", sk="week")
    by_place = Index("ByPlace", pk=("country", "city"), sk=("stars", "price", "restaurant"))


class MenuPK(Key, template="{id}"):
    id: str


class PageSK(SortKey, template="{page}"):
    page: int


class RestaurantPK(Key, template="{restaurant}"):
    restaurant: str


class WeekSK(SortKey, template="{week}"):
    week: int


class PlacePK(Key):
    country: str
    city: str


class StarsSK(SortKey):
    stars: int
    price: int
    restaurant: str


class Menu(Entity):
    key = Keys(MenuPK, PageSK)
    by_week = MenuTable.by_week.keys(RestaurantPK, WeekSK)
    by_place = MenuTable.by_place.keys(PlacePK, StarsSK)

    id: str
    page: int
    restaurant: str
    week: int
    country: str = "se"
    city: str = "malmö"
    stars: int = 3
    price: int = 100


class Menus(Design):
    table = MenuTable
    entities = (Menu,)

    @pattern("1 Menus of a restaurant")
    def weeks(self, restaurant: str) -> Query[Menu]:
        return Menu.by_week.query(RestaurantPK(restaurant=restaurant))

    @pattern("2 Menus of several restaurants, by week")
    def together(self, *restaurants: str) -> Merged[Menu]:
        return Merged([self.weeks(restaurant) for restaurant in restaurants])

    @pattern("3 Menus of a city")
    def city(self, country: str, city: str) -> Query[Menu]:
        return Menu.by_place.query(PlacePK(country=country, city=city))

    @pattern("4 Some pages")
    def pages(self, *keys: tuple[str, int]) -> BatchGet[Menu]:
        return Menu.key.batch_get([(MenuPK(id=name), PageSK(page=page)) for name, page in keys])


def menu(week: int, restaurant: str = "niagara", **fields: Any) -> Menu:
    return Menu(**{"id": restaurant, "page": week, "restaurant": restaurant, "week": week, **fields})


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Menus]:
    with opened_design(Menus, request.param) as opened:
        yield opened


def test_fields_are_the_keys_and_stored_once(db: Menus) -> None:
    db.create(menu(7))
    assert stored_items(db) == [
        {
            "id": {"S": "niagara"},
            "page": {"N": "7"},
            "restaurant": {"S": "niagara"},
            "week": {"N": "7"},
            "country": {"S": "se"},
            "city": {"S": "malmö"},
            "stars": {"N": "3"},
            "price": {"N": "100"},
            "entityType": {"S": "Menu"},
        }
    ]


def test_numbers_are_in_the_order_of_numbers(db: Menus) -> None:
    weeks = [-3, 1, 2, 9, 10, 11, 100]
    db.batch(*(Put(menu(week)) for week in weeks), *(Put(menu(week + 1, "mias")) for week in weeks))
    assert [row.week for row in db.weeks("niagara").all()] == weeks
    assert [row.week for row in db.weeks("niagara").newest_first().all()] == weeks[::-1]
    both = sorted([*weeks, *(week + 1 for week in weeks)])
    for limit in (1, 3, 50):
        found, cursor = [], None
        while True:
            page = db.together("niagara", "mias").page(limit=limit, cursor=cursor)
            found += [row.week for row in page]
            cursor = page.cursor
            if cursor is None:
                break
        assert found == both


def test_bounds_on_a_number(db: Menus) -> None:
    db.batch(*(Put(menu(week)) for week in range(1, 15)))

    def weeks(**bounds: Any) -> list[int]:
        plan = Menu.by_week.query(RestaurantPK(restaurant="niagara"), **bounds)
        return [row.week for row in db.plan(plan).all()]

    assert weeks(gt=WeekSK(week=9)) == [10, 11, 12, 13, 14]
    assert weeks(lt=WeekSK(week=3)) == [1, 2]
    assert weeks(between=(WeekSK(week=9), WeekSK(week=11))) == [9, 10, 11]
    assert weeks(between=(WeekSK(week=11), WeekSK(week=9))) == []
    assert weeks(sk=WeekSK(week=10)) == [10]
    with pytest.raises(KeyValueError, match="two bounds of WeekSK are inclusive"):
        weeks(gt=WeekSK(week=1), lt=WeekSK(week=5))


def test_keys_of_several_attributes(db: Menus) -> None:
    some = [
        menu(n, f"r{n}", stars=1 + n % 3, price=n * 20, city="malmö" if n % 4 else "lund") for n in range(24)
    ]
    db.batch(*(Put(each) for each in some))
    here = [each for each in some if each.city == "malmö"]

    def order(row: Menu) -> Any:
        return row.stars, row.price, row.restaurant

    assert list(db.city("se", "malmö").all()) == sorted(here, key=order)

    def found(**bounds: Any) -> list[Menu]:
        plan = Menu.by_place.query(PlacePK(country="se", city="malmö"), **bounds)
        return list(db.plan(plan).all())

    def expected(meets: Any) -> list[Menu]:
        return sorted((row for row in here if meets(row)), key=order)

    assert found(sk=StarsSK.prefix(stars=2)) == expected(lambda row: row.stars == 2)
    assert found(gt=StarsSK.prefix(stars=1)) == expected(lambda row: row.stars > 1)
    assert found(ge=StarsSK.prefix(stars=2, price=200)) == expected(lambda r: r.stars == 2 and r.price >= 200)
    between = (StarsSK.prefix(stars=2, price=100), StarsSK.prefix(stars=2, price=300))
    assert found(between=between) == expected(lambda row: row.stars == 2 and 100 <= row.price <= 300)
    assert found(sk=StarsSK(stars=2, price=20, restaurant="r1")) == expected(lambda row: row.id == "r1")
    with pytest.raises(KeyValueError, match="a range on one attribute of a key"):
        found(between=(StarsSK.prefix(stars=1), StarsSK.prefix(stars=2, price=3)))


def test_pages_of_keys_of_several_attributes(db: Menus) -> None:
    db.batch(*(Put(menu(n, f"r{n}", stars=1 + n % 3, price=n // 4)) for n in range(20)))
    everything = list(db.city("se", "malmö").all())
    found: list[Menu] = []
    cursor = None
    while True:
        page = db.city("se", "malmö").page(limit=3, cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
    assert found == everything


def test_update_of_a_field_that_is_a_key_moves_the_item(db: Menus) -> None:
    made = db.create(menu(7)).entity
    db.update(made, week=12, city="lund")
    assert [row.week for row in db.weeks("niagara").all()] == [12]
    assert list(db.city("se", "malmö").all()) == []
    assert list(db.city("se", "lund").all()) == [made]


def test_numbers_in_the_keys_of_a_batch_get_are_found(db: Menus) -> None:
    db.batch(*(Put(menu(week)) for week in (1, 10, 100)))
    found = db.pages(("niagara", 100), ("niagara", 5), ("niagara", 1)).found().item
    assert [None if row is None else row.week for row in found] == [100, None, 1]
