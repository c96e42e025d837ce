"""Lunch Cache: the weekly lunch menus of restaurants, cached for two weeks.

    from singletable_systems.lunch_cache import LunchCache, Menus

    with LunchCache.open("lunch_cache.db", environment="dev") as db:
        Menus(db).this_week("Niagara")

keys, entities, design   the typed design: every key, attribute, index and access pattern of the document
weeks                    weeks as ISO 8601 counts them, in Stockholm
validation, menus        what parsers find, as menus; and menus as an app asks for them
statistics, health       of a restaurant; of the table
operations               who may do what, and what is watched
seeding, system          made-up data; the system as the command line runs it
"""

from __future__ import annotations

from singletable_systems.lunch_cache.design import LunchCache
from singletable_systems.lunch_cache.entities import DataQuality, Lunch, ValidationIssue, WeeklyMenu
from singletable_systems.lunch_cache.health import Health, check_health
from singletable_systems.lunch_cache.keys import slug
from singletable_systems.lunch_cache.menus import (
    FutureScrapeError,
    Kept,
    Menus,
    MenusOfWeek,
    Scrape,
    Stored,
)
from singletable_systems.lunch_cache.statistics import Prices, Quality, Statistics, statistics_of
from singletable_systems.lunch_cache.weeks import Week, this_week

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
