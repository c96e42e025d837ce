"""The design of Lunch Cache: its access patterns, with the numbers of the design document.

The app does not run pattern 4, the clean-up of expired menus: the table's TTL does it, and where that is not
enough, `db.delete_expired()` (LC-05).
"""

from __future__ import annotations

from collections.abc import Sequence

from singletable import (
    BatchGet,
    Create,
    Delete,
    Design,
    Exists,
    Get,
    Le,
    Put,
    Query,
    Volume,
    pattern,
)
from singletable_systems.lunch_cache.model.entities import HealthProbe, WeeklyMenu
from singletable_systems.lunch_cache.model.keys import (
    HealthPK,
    IsoWeek,
    IsoYear,
    LunchTable,
    MenuPK,
    Restaurant,
    RestaurantPK,
)
from singletable_systems.lunch_cache.model.loads import LOADS
from singletable_systems.shared.model import rates_of

FRESH_S = 3600.0  # 004:225
_DAY_S = 86_400


class LunchCache(Design):
    """The weekly lunch menus of restaurants, cached for two weeks."""

    table = LunchTable
    entities = (WeeklyMenu, HealthProbe)
    # As items, LC-07: 520 are written in a year, and two weeks of them are stored at a time.
    volumes = {
        WeeklyMenu: Volume(
            20,
            2,
            hottest_share=0.1,
            because="004:137 10 restaurants with a menu a week of ~2 KB (004:138), kept for 14 days (004:124)",
        ),
        HealthProbe: Volume(1, 0.1, because="assumption: a probe is deleted as soon as it was read"),
    }
    loads = LOADS
    rates = rates_of(LOADS)

    @pattern(
        "1 Store weekly menu",
        documented='PutItem(pk: "niagara-2025-03", ...)',
        fixes="LC-18",
        rps=50 / (7 * _DAY_S),
    )
    def store_menu(self, menu: WeeklyMenu) -> Put[WeeklyMenu]:
        """Store a menu, unless a newer one is there."""
        return Put(menu, ~Exists("cached_at") | Le("cached_at", menu.cached_at))

    @pattern(
        "2 Retrieve current week's menu",
        documented='GetItem(pk: "niagara-2025-03")',
        fixes="LC-02, LC-10",
        rps=500 / _DAY_S,
        cached_s=FRESH_S,
    )
    def menu(self, restaurant: Restaurant, year: IsoYear, week: IsoWeek) -> Get[WeeklyMenu]:
        return WeeklyMenu.key.get(MenuPK(restaurant=restaurant, year=year, week=week))

    @pattern(
        "3 Get restaurant cache history",
        documented='Query(GSI: RestaurantIndex, restaurant: "niagara", ScanIndexForward: false)',
        fixes="LC-26",
    )
    def history(self, restaurant: Restaurant) -> Query[WeeklyMenu]:
        return WeeklyMenu.by_restaurant.query(RestaurantPK(restaurant=restaurant)).newest_first()

    @pattern("5 Health check: write a probe", documented="PutItem (test operation)", fixes="LC-13")
    def write_probe(self, probe: int) -> Create[HealthProbe]:
        return Create(HealthProbe(probe=probe))

    @pattern(
        "5b Health check: read it back",
        documented="GetItem (test operation)",
        fixes="LC-13",
        consistent=True,
    )
    def read_probe(self, probe: int) -> Get[HealthProbe]:
        return HealthProbe.key.get(HealthPK(probe=probe))

    @pattern("5c Health check: take it away", documented="DeleteItem (test operation)", fixes="LC-13")
    def delete_probe(self, probe: int) -> Delete[HealthProbe]:
        return Delete(HealthProbe.key.get(HealthPK(probe=probe)))

    @pattern(
        "6 Find data quality issues across weeks",
        documented="RestaurantIndex: find data quality issues across weeks",
        fixes="LC-19",
    )
    def flawed(self, restaurant: Restaurant) -> Query[WeeklyMenu]:
        """Menus of which something could not be read, newest first."""
        return self.history(restaurant).where(Exists("validation_errors"))

    @pattern(
        "7 Restaurant-specific cache statistics",
        documented="RestaurantIndex: restaurant-specific cache statistics",
        fixes="LC-19",
    )
    def menus_of(self, restaurant: Restaurant) -> Query[WeeklyMenu]:
        """All menus of a restaurant, oldest first: the few that its statistics are made from."""
        return WeeklyMenu.by_restaurant.query(RestaurantPK(restaurant=restaurant))

    @pattern("8 All restaurants of a week", fixes="LC-20", cached_s=FRESH_S)
    def menus(self, restaurants: Sequence[Restaurant], year: IsoYear, week: IsoWeek) -> BatchGet[WeeklyMenu]:
        return WeeklyMenu.key.batch_get(
            [MenuPK(restaurant=restaurant, year=year, week=week) for restaurant in restaurants]
        )
