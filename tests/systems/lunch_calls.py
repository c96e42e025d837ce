"""Calls of every service of Lunch Cache on its made-up data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from singletable_systems.lunch_cache import Menus, Scrape, this_week
from singletable_systems.lunch_cache.services.health import check_health
from singletable_systems.lunch_cache.services.statistics import statistics_of
from systems.service_calls import ServiceCall

PLACES = [
    *("Niagara", "Gröna lunden", "Mormors kök", "La Cantina", "Åkanten"),
    *("Öster om ån", "Sjöhästen", "Bruket", "Kök Bar 8", "Spisa hos Helena"),
]
LUNCHES = [{"name": "Ärtsoppa", "price": 105, "weekday": "torsdag"}]


def calls(db: Any) -> Iterator[ServiceCall]:
    menus, now = Menus(db), db.now()
    yield "Menus.this_week", lambda: menus.this_week("Niagara")
    yield "Menus.this_week", lambda: menus.this_week("Nobody")
    yield "Menus.all_this_week", lambda: menus.all_this_week(PLACES)
    yield "Menus.all_of", lambda: menus.all_of(this_week(now), PLACES[:7])
    yield "Menus.history", lambda: menus.history("Niagara", page_size=2)
    yield "Menus.flawed", lambda: menus.flawed("Spisa hos Helena", page_size=2)
    yield "statistics_of", lambda: statistics_of(db, "Niagara")
    yield "Menus.store", lambda: menus.store(Scrape("Niagara", LUNCHES, scraped_at=now))
    yield "Menus.store", lambda: menus.store(Scrape("New place", LUNCHES, scraped_at=now))
    yield "check_health", lambda: check_health(db)
