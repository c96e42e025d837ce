"""A parser that stores scrapes in a Lunch Cache over HTTP, newer and older ones, and knows what was stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from singletable_systems.lunch_cache import LunchCache, Menus, Scrape, Stored, slug, this_week

ENVIRONMENT = "dev"
PLACES = ["Load One", "Load Two"]


@dataclass
class Parser:
    """Stores scrapes of a few places, of any moment of the last hour."""

    seed: int
    newest: dict[str, datetime] = field(default_factory=dict)

    def work(self, url: str) -> Iterator[None]:
        """Store one scrape after the other."""
        random = Random(self.seed)
        with LunchCache.open(url, environment=ENVIRONMENT) as db:
            menus, week = Menus(db), this_week(db.now())
            while True:
                place = random.choice(PLACES)
                at = db.now() - timedelta(seconds=random.randrange(3600))
                lunch = {"name": f"Soppa {at}", "price": 105, "weekday": "torsdag"}
                answer = menus.store(Scrape(place, [lunch], scraped_at=at, week=week))
                known = self.newest.get(place)
                assert known is None or isinstance(answer, Stored) == (at >= known)
                self.newest[place] = answer.menu.cached_at
                yield

    def assert_kept(self, db: LunchCache) -> None:
        """Assert that no menu is older than the newest that was acknowledged, and each is a whole one."""
        for place, newest in self.newest.items():
            (menu,) = db.history(slug(place)).all()
            assert menu.cached_at >= newest
            assert [lunch.name for lunch in menu.lunches] == [f"Soppa {menu.cached_at}"]
            assert db.menu(menu.restaurant, menu.year, menu.week).one() == menu
            self.newest[place] = menu.cached_at
