"""What a parser finds on the page of a restaurant, mistakes included."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from singletable_systems.lunch_cache.keys import slug
from singletable_systems.lunch_cache.menus import Scrape
from singletable_systems.lunch_cache.seeding.dishes import FISH, GREEN, MEAT, THURSDAY
from singletable_systems.lunch_cache.weeks import Week

_WEEKDAYS: Final = ("måndag", "tisdag", "onsdag", "torsdag", "fredag")
_PRICES: Final = ("{}", "{} kr", "{}:-", "{},00")
# What goes wrong: of a dish so many dishes into the week, this is found instead.
_FLAWS: Final[tuple[tuple[int, dict[str, Any]], ...]] = (
    (4, {"price": "Fråga i kassan"}),
    (7, {"name": ""}),
    (10, {"weekday": "imorgon", "price": None}),
)
_FLAWED_EVERY: Final = 5  # of so many restaurants, one has a page that is hard to read


def scrape(place: str, number: int, week: Week, day: datetime) -> Scrape:
    """Make up the scrape of a restaurant's week, made on the morning of a day."""
    name = slug(place)
    chance = Random(f"{name} {week}")
    morning = day + timedelta(hours=5, minutes=number % 180, seconds=chance.randrange(60))
    found = list(_lunches(place, week, Random(name).randrange(100, 161, 5), chance))
    if number % _FLAWED_EVERY == _FLAWED_EVERY - 1:
        at, flaw = chance.choice(_FLAWS)
        found[at] |= flaw
    return Scrape(
        place,
        found,
        scraped_at=morning,
        week=week,
        source=f"{name}-parser",
        last_updated=morning - timedelta(hours=chance.randrange(1, 48)),
    )


def _lunches(place: str, week: Week, price: int, chance: Random) -> Iterator[dict[str, Any]]:
    """Return the lunches of a week: every day meat, fish and greens; on Thursdays what all Sweden eats."""
    written = chance.choice(_PRICES)
    of_week = [chance.sample(dishes, len(_WEEKDAYS)) for dishes in (MEAT, FISH, GREEN)]
    for weekday, *dishes in zip(_WEEKDAYS, *of_week, strict=True):
        for more, dish in zip((0, 5, -5), dishes, strict=True):
            name, description = THURSDAY if weekday == "torsdag" and not more else dish
            yield {
                "name": name,
                "description": description,
                "price": written.format(price + more),
                "weekday": weekday,
                "week": f"v. {week.number}",
                "place": place,
            }
