"""Everything that is done with a Lunch Cache: its patterns and its services, each named, one menu being there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from singletable_systems.lunch_cache import LunchCache, Menus, check_health, statistics_of, this_week
from singletable_systems.lunch_cache.services.menus import menu_of
from systems.lunch_scrapes import scrape

Deed = Callable[[LunchCache], Any]
NIAGARA = "niagara"


def settle_in(db: LunchCache) -> None:
    """Store a menu of this week."""
    Menus(db).store(scrape(place="Niagara", at=db.now()))


def _week(db: LunchCache) -> tuple[int, int]:
    week = this_week(db.now())
    return week.year, week.number


def _store_twice(db: LunchCache) -> None:
    """Store a menu of another place, and one that is older than what is there."""
    menus = Menus(db)
    menus.store(scrape(at=db.now()))
    menus.store(scrape(at=db.now() - timedelta(hours=1)))


# What only reads; a reader is enough for it.
READING: Mapping[str, Deed] = {
    "menu": lambda db: db.menu(NIAGARA, *_week(db)).maybe(),
    "history": lambda db: list(db.history(NIAGARA).all()),
    "read_probe": lambda db: db.read_probe(1).maybe(),
    "flawed": lambda db: list(db.flawed(NIAGARA).all()),
    "menus_of": lambda db: list(db.menus_of(NIAGARA).all()),
    "menus": lambda db: db.menus([NIAGARA, "nobody"], *_week(db)).found(),
    "Menus.this_week": lambda db: Menus(db).this_week("Niagara"),
    "Menus.all_this_week": lambda db: Menus(db).all_this_week(["Niagara", "La Cantina"]),
    "Menus.all_of": lambda db: Menus(db).all_of(this_week(db.now()), ["Niagara"]),
    "Menus.history": lambda db: Menus(db).history("Niagara", page_size=5),
    "Menus.flawed": lambda db: Menus(db).flawed("Niagara", page_size=5),
    "statistics_of": lambda db: statistics_of(db, "Niagara"),
}
WRITING: Mapping[str, Deed] = {
    "store_menu": lambda db: db.store_menu(menu_of(scrape(at=db.now()))).run(),
    "write_probe": lambda db: db.write_probe(1).run(),
    "delete_probe": lambda db: db.delete_probe(1).run(),
    "Menus.store": _store_twice,
    "check_health": lambda db: check_health(db),
}
