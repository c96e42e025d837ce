"""Made-up data: what restaurants in Swedish towns serve for lunch, as it was scraped in the last weeks.

All of it is a function of the size and the day, and nothing else. Every menu goes through the validation that
scrapes go through. None expires on the day: from Monday to Thursday there are the menus of three weeks, on Friday
and Saturday those of two, since the oldest go; on Sunday those of the next week are there already.

restaurants.py   their names
scrapes.py       what a parser finds of that, mistakes included
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Final

from singletable import Entity
from singletable.systems import Samples, Seed, Size, Worker
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.keys import slug
from singletable_systems.lunch_cache.model.weeks import Week, this_week
from singletable_systems.lunch_cache.operating.seeding.restaurants import restaurants
from singletable_systems.lunch_cache.operating.seeding.scrapes import scrape
from singletable_systems.lunch_cache.services.menus import RETENTION, Menus, menu_of

# An item for each restaurant and week, of about 3 KB: 30 and 6,000 of them where there are three weeks.
RESTAURANT_COUNTS: Final[dict[Size, int]] = {"small": 10, "large": 2000}
_WEEKS_BACK: Final = 2
_LAST_SCRAPE: Final = timedelta(days=4)  # of a week: on its Friday
_SCRAPED_EVERY_S: Final = 60.0


def seed(size: Size, day: date) -> Seed:
    """Make up data of a size, as of the beginning of a day."""
    scraped = list(_scraped(day))
    return Seed(RESTAURANT_COUNTS[size] * len(scraped), _menus(RESTAURANT_COUNTS[size], scraped))


def _menus(count: int, scraped: list[tuple[Week, date]]) -> Iterator[Entity]:
    for number, place in enumerate(islice(restaurants(), count)):
        for week, day in scraped:
            yield menu_of(scrape(place, number, week, datetime.combine(day, time(), UTC)))


def _scraped(day: date) -> Iterator[tuple[Week, date]]:
    """Return the weeks that are there on a day, and when each was scraped last: the day before, or its Friday."""
    this = Week.of_day(day)
    is_next_there = day.isoweekday() == 7
    for weeks in range(-_WEEKS_BACK, 2 if is_next_there else 1):
        week = this.after(weeks)
        last = min(week.monday + _LAST_SCRAPE, day - timedelta(days=1))
        # It was scraped in the morning, so it expires in the morning of another day.
        if last + RETENTION > day:
            yield week, last


def workers(db: LunchCache) -> tuple[Worker, ...]:
    """Return what runs beside an open Lunch Cache: a scraper of made-up pages, for weeks that begin meanwhile."""
    return (Worker("lunch-cache-scraper", _SCRAPED_EVERY_S, lambda: scrape_this_week(db)),)


def scrape_this_week(db: LunchCache) -> int:
    """Store the menus of this week that are missing, of the restaurants that `small` has; return how many."""
    places = list(islice(restaurants(), RESTAURANT_COUNTS["small"]))
    menus, week = Menus(db), this_week(db.now())
    missing = set(menus.all_of(week, places).missing)
    yesterday = datetime.combine(db.now().date() - timedelta(days=1), time(), UTC)
    for number, place in enumerate(places):
        if slug(place) in missing:
            menus.store(scrape(place, number, week, yesterday))
    return len(missing)


# --- what can be asked ----------------------------------------------------------------------------------


_RESTAURANTS: Final = 10  # which all sizes have
_PROBE: Final = 1


def samples(day: date) -> Samples:
    """Return the arguments of each pattern."""
    places = [slug(place) for place in islice(restaurants(), _RESTAURANTS)]
    week = Week.of_day(day)
    first, flawed = places[0], places[-1]
    of_week = {"year": week.year, "week": week.number}
    yesterday = datetime.combine(day - timedelta(days=1), time(), UTC)
    return {
        "store_menu": {"menu": menu_of(scrape(next(restaurants()), 0, week, yesterday))},
        "menu": {"restaurant": first, **of_week},
        "history": {"restaurant": first},
        "write_probe": {"probe": _PROBE},
        "read_probe": {"probe": _PROBE},
        "delete_probe": {"probe": _PROBE},
        "flawed": {"restaurant": flawed},
        "menus_of": {"restaurant": first},
        "menus": {"restaurants": places, **of_week},
    }
