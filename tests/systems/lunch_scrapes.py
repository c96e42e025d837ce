"""Scrapes as parsers bring them, and a process that stores many."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

from singletable.clock import ManualClock
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.services.menus import Menus, Scrape, Stored
from systems.lunch_world import NOW

LATER_US = int((NOW + timedelta(hours=2)).timestamp()) * 1_000_000


def lunch(name: str = "Ärtsoppa", **fields: Any) -> dict[str, Any]:
    return {"name": name, "price": 105, "weekday": "torsdag", **fields}


def scrape(name: str = "Ärtsoppa", *, at: datetime = NOW, place: str = "La Cantina", **more: Any) -> Scrape:
    return Scrape(**{"place": place, "lunches": [lunch(name)], "scraped_at": at, **more})


def store_all(path: str, seed: int) -> int:
    """Store the scrapes of an hour in an order of one's own; return how many were stored."""
    minutes = list(range(60))
    Random(seed).shuffle(minutes)
    with LunchCache.open(path, clock=ManualClock(LATER_US)) as db:
        menus = Menus(db)
        scrapes = [scrape(f"minute {minute}", at=NOW + timedelta(minutes=minute)) for minute in minutes]
        return sum(isinstance(menus.store(each), Stored) for each in scrapes)
