"""What each access pattern can be asked in made-up data of any size: about the first restaurants."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Final

from singletable.systems import Samples
from singletable_systems.lunch_cache.keys import slug
from singletable_systems.lunch_cache.menus import menu_of
from singletable_systems.lunch_cache.seeding.restaurants import restaurants
from singletable_systems.lunch_cache.seeding.scrapes import scrape
from singletable_systems.lunch_cache.weeks import Week

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
