"""Menus with traps in them, answers by brute force over all of them, and what requests on them must cost.

The traps: restaurants whose names begin alike, or end like a year; weeks of one digit, week 53 and the turn of
the year; menus of one moment, of other time zones and of a clock that is ahead; menus whose time is over;
one from before discriminators, and a stranger in the index; menus of tens of KB, over 1 MB together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from singletable import Put
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.values.sizes import item_bytes
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import Lunch, ValidationIssue, Weekday, WeeklyMenu
from support.design_clients import Between, on_client
from support.opened_designs import call, store, stored_items
from support.targets import opened
from systems.request_costs import is_full, stored_bytes

# A Wednesday of 2033-W01. The year before has a week 53, which holds the first two days of this one. It lies far
# ahead, so that nobody who expires items by another clock takes any of these away.
NOW = datetime(2033, 1, 5, 9, 0, tzinfo=UTC)
LIFE = timedelta(days=14)
LARGE = "stora-salen"
RESTAURANTS = ("la-cantina", "la-cantina-2032", "la", "cantina", "å-ä-ö", "niagara", "niagara-2")
WEEKS = ((2032, 1), (2032, 9), (2032, 10), (2032, 52), (2032, 53), (2033, 1), (2033, 2), (2020, 32))

BLOCK_BYTES = 4096

Item = Mapping[str, Any]


def lunches(week: int, place: str, *, count: int = 2, words: int = 3) -> list[Lunch]:
    days: list[Weekday] = ["måndag", "tisdag", "onsdag", "torsdag", "fredag"]
    return [
        Lunch(
            name=f"Köttbullar nummer {number}",
            description=" ".join(["gräddsås"] * words),
            price=Decimal(95 + number),
            weekday=days[number % 5],
            week=week,
            place=place,
        )
        for number in range(count)
    ]


def make_menus() -> list[WeeklyMenu]:
    """Make up the menus: the same ones every time."""
    random = Random(4)
    zones = (UTC, ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York"), ZoneInfo("Europe/Stockholm"))
    same = NOW - timedelta(days=2)
    moments = [
        same,
        same,
        same + timedelta(milliseconds=1),
        NOW - LIFE,  # its time is over now
        NOW - LIFE + timedelta(seconds=1),
        NOW - LIFE - timedelta(days=3),
        NOW + timedelta(hours=1),
        NOW - timedelta(days=5, milliseconds=500),
    ]
    menus = []
    for restaurant in RESTAURANTS:
        random.shuffle(moments)
        for number, (year, week) in enumerate(WEEKS):
            menus.append(
                _menu(restaurant, year, week, moments[number].astimezone(random.choice(zones)), random)
            )
    for week in range(1, 54):
        cached_at = NOW - timedelta(hours=random.randrange(24 * 20))
        menus.append(_menu(LARGE, 2032, week, cached_at, random, count=40, words=90))
    return menus


def _menu(
    restaurant: str, year: int, week: int, cached_at: datetime, random: Random, **size: int
) -> WeeklyMenu:
    issues = [ValidationIssue(field="lunches[2].price", message="'dagspris' is no price")]
    return WeeklyMenu(
        restaurant=restaurant,
        year=year,
        week=week,
        lunches=lunches(week, restaurant.title(), **size),
        cached_at=cached_at,
        ttl=(cached_at + LIFE).replace(microsecond=0),
        validation_errors=issues if random.random() < 0.4 else None,
    )


# From before discriminators; and what others have left in the index.
OLD_MENU = WeeklyMenu(
    restaurant="niagara",
    year=2032,
    week=51,
    lunches=lunches(51, "Niagara"),
    cached_at=NOW - timedelta(days=3),
    ttl=NOW + timedelta(days=11),
)
STRANGER: Item = {
    "pk": {"S": "niagara-report"},
    "entityType": {"S": "Report"},
    "restaurant": {"S": "niagara"},
    "cachedAt": {"S": "2033-01-03T09:00:00.000Z"},
    "validationErrors": {"L": [{"S": "not ours"}]},
}


class BruteForce:
    """Answers the patterns from a list of all menus; each method has the name of the pattern that it answers."""

    def __init__(self, menus: Iterable[WeeklyMenu], now: datetime = NOW) -> None:
        self._menus = [menu for menu in menus if menu.ttl is not None and menu.ttl > now]

    def menu(self, restaurant: str, year: int, week: int) -> WeeklyMenu | None:
        wanted = (restaurant, year, week)
        return next((menu for menu in self._menus if (menu.restaurant, menu.year, menu.week) == wanted), None)

    def menus(self, restaurants: Sequence[str], year: int, week: int) -> list[WeeklyMenu | None]:
        return [self.menu(restaurant, year, week) for restaurant in restaurants]

    def menus_of(self, restaurant: str) -> list[WeeklyMenu]:
        """Those of one moment come in no defined order."""
        found = [menu for menu in self._menus if menu.restaurant == restaurant]
        return sorted(found, key=lambda menu: menu.cached_at)

    def history(self, restaurant: str) -> list[WeeklyMenu]:
        return self.menus_of(restaurant)[::-1]

    def flawed(self, restaurant: str) -> list[WeeklyMenu]:
        return [menu for menu in self.history(restaurant) if menu.validation_errors]


# --- costs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cost:
    """Units, and the number of items that were read."""

    units: float
    read: int


def block_units(read_bytes: int, *, consistent: bool = False) -> float:
    """Return the units of one request that reads so many bytes (AWS guide, "Read and write operations")."""
    return max(1, math.ceil(read_bytes / BLOCK_BYTES)) * (1.0 if consistent else 0.5)


class Costs:
    """Computes what requests must cost on a table of these items. No engine is asked.

    DynamoDB Local asks nothing for a page without items, nor for the missing keys of a batch, and a filter lets
    its pages grow beyond 1 MB.
    """

    def __init__(self, items: Iterable[Item], *, is_local: bool) -> None:
        self._items = {item["pk"]["S"]: item for item in items}
        self._bytes = {pk: item_bytes(item) for pk, item in self._items.items()}
        self._stored = {pk: stored_bytes(item, "cachedAt") for pk, item in self._items.items()}
        self._is_local = is_local

    def knows(self, restaurant: str) -> bool:
        """Tell whether the target cuts the pages of a restaurant as AWS does."""
        return not (self._is_local and restaurant == LARGE)

    def of(self, calls: Sequence[Call], ranks: Mapping[str, int]) -> Cost:
        """Add up calls. `ranks` tells the order of items that the index holds under one key."""
        costs = [self._of(each, ranks) for each in calls]
        return Cost(sum(cost.units for cost in costs), sum(cost.read for cost in costs))

    def _of(self, asked: Call, ranks: Mapping[str, int]) -> Cost:
        params = asked.params
        if asked.operation == "Query":
            return self._query(params, ranks)
        if asked.operation == "GetItem":
            keys, consistent = [params["Key"]], params.get("ConsistentRead", False)
        else:
            ((_, wanted),) = params["RequestItems"].items()
            keys, consistent = wanted["Keys"], wanted.get("ConsistentRead", False)
            keys = [key for key in keys if key["pk"]["S"] in self._items] if self._is_local else keys
        found = [self._items.get(key["pk"]["S"]) for key in keys]
        units = [block_units(item_bytes(item) if item else 0, consistent=consistent) for item in found]
        return Cost(sum(units), sum(item is not None for item in found))

    def _query(self, params: Item, ranks: Mapping[str, int]) -> Cost:
        page = self._page(params, ranks)
        if not page:
            return Cost(0.0 if self._is_local else 0.5, 0)
        return Cost(block_units(sum(self._bytes[row["pk"]["S"]] for row in page)), len(page))

    def _page(self, params: Item, ranks: Mapping[str, int]) -> list[Item]:
        """Return what a query of the index reads, whatever its filter makes of it."""
        assert (params["IndexName"], params["KeyConditionExpression"]) == ("RestaurantIndex", "#0 = :0")
        restaurant = params["ExpressionAttributeValues"][":0"]
        rows = [
            item
            for item in self._items.values()
            if item.get("restaurant") == restaurant and "cachedAt" in item
        ]
        rows.sort(key=lambda row: (row["cachedAt"]["S"], ranks.get(row["pk"]["S"], 0)))
        if not params.get("ScanIndexForward", True):
            rows.reverse()
        if "ExclusiveStartKey" in params:
            places = [row["pk"] for row in rows]
            rows = rows[places.index(params["ExclusiveStartKey"]["pk"]) + 1 :]
        page: list[Item] = []
        page_bytes = stored = 0
        for row in rows[: params.get("Limit")]:
            page.append(row)
            page_bytes += self._bytes[row["pk"]["S"]]
            stored += self._stored[row["pk"]["S"]]
            if is_full(len(page), page_bytes, stored, is_local=self._is_local):
                break
        return page


# --- a target with everything in it -----------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """An open Lunch Cache, who answers by brute force, and who writes the requests down."""

    db: LunchCache
    brute: BruteForce
    costs: Costs
    between: Between
    clock: ManualClock

    @contextmanager
    def recorded(self, *operations: str) -> Iterator[list[Call]]:
        """Write down the requests of a block. There are no others than these, and no scan."""
        calls = self.between.calls = []
        yield calls
        assert {each.operation for each in calls} <= set(operations)

    def ranks(self, restaurant: str) -> dict[str, int]:
        """Tell in which order the target has the items of a restaurant: of those that tie, nobody else knows."""
        found: list[Item] = []
        start: dict[str, Any] = {}
        while True:
            answer = call(
                self.db,
                "Query",
                IndexName="RestaurantIndex",
                KeyConditionExpression="restaurant = :restaurant",
                ExpressionAttributeValues={":restaurant": {"S": restaurant}},
                **start,
            )
            found += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return {item["pk"]["S"]: rank for rank, item in enumerate(found)}
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


@contextmanager
def opened_world(target: str) -> Iterator[World]:
    """Open a Lunch Cache on a fresh target, and fill it."""
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with opened(target, clock=clock) as client:
        between = Between(client)
        db = on_client(LunchCache, between, environment="test")
        menus = make_menus()
        db.batch(*map(Put, menus))
        old = db.store_menu(OLD_MENU).request()["Item"]
        store(db, {name: value for name, value in old.items() if name != "entityType"})
        store(db, dict(STRANGER))
        costs = Costs(stored_items(db), is_local=target == "aws-local")
        yield World(db, BruteForce([*menus, OLD_MENU]), costs, between, clock)
