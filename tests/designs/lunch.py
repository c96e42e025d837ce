"""Lunch Cache: weekly menus in a table without a sort key, with an index on attributes that are fields."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from singletable.design import (
    BatchGet,
    Compressed,
    Design,
    Digits,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    Put,
    Query,
    SortKey,
    Stored,
    Table,
    Ttl,
    Volume,
    expires,
    pattern,
)

Weekday = Literal["måndag", "tisdag", "onsdag", "torsdag", "fredag"]


class LunchTable(Table):
    name = "lunch-cache-{environment}"
    pk = "pk"
    sk = None
    restaurants = Index("RestaurantIndex", pk="restaurant", sk="cachedAt")
    sizes = Index("SizeIndex", pk="year", sk=("lunchCount", "averagePrice"))


class MenuPK(Key, template="{restaurant}-{year}-{week:02}"):
    restaurant: str
    year: int
    week: int


class RestaurantPK(Key, template="{restaurant}"):
    restaurant: str


class CachedSK(SortKey, template="{cached_at}"):
    cached_at: datetime


class YearKey(Key):
    year: int


class SizeKey(SortKey):
    lunch_count: int
    average_price: Decimal


class Lunch(BaseModel):
    name: str = Field(min_length=1)
    description: str | None = None
    price: Annotated[Decimal, Digits(2)] = Field(gt=0)
    weekday: Weekday
    served_at: Annotated[str, Stored("place")]


class WeeklyMenu(Entity):
    key = Keys(MenuPK)
    by_restaurant = LunchTable.restaurants.keys(RestaurantPK, CachedSK)
    by_size = LunchTable.sizes.keys(YearKey, SizeKey)

    restaurant: str
    year: int
    week: int = Field(ge=1, le=53)
    lunches: list[Lunch] = []
    lunch_count: int = 0
    average_price: Decimal | None = None
    cached_at: datetime
    ttl: Ttl = expires(days=14, after="cached_at")
    raw_page: Annotated[str, Compressed()] | None = None
    metadata: dict[str, str] | None = None


class LunchCache(Design):
    table = LunchTable
    entities = (WeeklyMenu,)
    volumes = {WeeklyMenu: Volume(520, 2)}

    @pattern("1 Store weekly menu", rps=0.0001)
    def store(self, menu: WeeklyMenu) -> Put[WeeklyMenu]:
        return Put(menu)

    @pattern("2 Current week's menu", rps=0.005)
    def menu(self, restaurant: str, year: int, week: int) -> Get[WeeklyMenu]:
        return WeeklyMenu.key.get(MenuPK(restaurant=restaurant, year=year, week=week))

    @pattern("3 Restaurant history, newest first")
    def history(self, restaurant: str) -> Query[WeeklyMenu]:
        return WeeklyMenu.by_restaurant.query(RestaurantPK(restaurant=restaurant)).newest_first()

    @pattern("3b Restaurant history between two times")
    def cached_between(self, restaurant: str, first: datetime, last: datetime) -> Query[WeeklyMenu]:
        bounds = (CachedSK(cached_at=first), CachedSK(cached_at=last))
        return WeeklyMenu.by_restaurant.query(RestaurantPK(restaurant=restaurant), between=bounds)

    @pattern("8 All restaurants this week")
    def this_week(self, restaurants: list[str], year: int, week: int) -> BatchGet[WeeklyMenu]:
        return WeeklyMenu.key.batch_get(
            [MenuPK(restaurant=restaurant, year=year, week=week) for restaurant in restaurants]
        )

    @pattern("7 Menus of a year by their size")
    def by_size(self, year: int, lunch_count: int, price_from: Decimal | None = None) -> Query[WeeklyMenu]:
        if price_from is None:
            return WeeklyMenu.by_size.query(YearKey(year=year), SizeKey.prefix(lunch_count=lunch_count))
        least = SizeKey(lunch_count=lunch_count, average_price=price_from)
        return WeeklyMenu.by_size.query(YearKey(year=year), ge=least)
