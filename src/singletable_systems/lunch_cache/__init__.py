"""Lunch Cache: the weekly lunch menus of restaurants, cached for two weeks.

    from singletable_systems.lunch_cache import LunchCache, Menus

    with LunchCache.open("lunch_cache.db", environment="dev") as db:
        Menus(db).this_week("Niagara")

model       the typed design: every key, attribute, index and access pattern of the document; weeks in Stockholm
rules       what parsers find, as lunches
services    menus as an app asks for them, the statistics of a restaurant, the health of the table
operating   the system as the command line runs it: made-up data, roles and alarms
"""

from __future__ import annotations

from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import DataQuality, Lunch, ValidationIssue, WeeklyMenu
from singletable_systems.lunch_cache.model.keys import slug
from singletable_systems.lunch_cache.model.weeks import Week, this_week
from singletable_systems.lunch_cache.services.health import Health, check_health
from singletable_systems.lunch_cache.services.menus import (
    FutureScrapeError,
    Kept,
    Menus,
    MenusOfWeek,
    Scrape,
    Stored,
)
from singletable_systems.lunch_cache.services.statistics import Prices, Quality, Statistics, statistics_of

__all__ = [
    "DataQuality",
    "FutureScrapeError",
    "Health",
    "Kept",
    "Lunch",
    "LunchCache",
    "Menus",
    "MenusOfWeek",
    "Prices",
    "Quality",
    "Scrape",
    "Statistics",
    "Stored",
    "ValidationIssue",
    "Week",
    "WeeklyMenu",
    "check_health",
    "slug",
    "statistics_of",
    "this_week",
]
