"""Menus as an app asks for them, and as parsers bring them.

    menus = Menus(db)
    menus.store(Scrape("La Cantina", found, scraped_at=now, source="la-cantina-parser"))
    menus.this_week("La Cantina")

Restaurants are named in any spelling; their slugs are stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from singletable import Page
from singletable.errors import ConditionNotMetError, SingleTableError
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import WeeklyMenu
from singletable_systems.lunch_cache.model.keys import slug
from singletable_systems.lunch_cache.model.weeks import Week, this_week
from singletable_systems.lunch_cache.rules.validation import validate

RETENTION: Final = timedelta(days=14)  # 004:124
MENU_VERSION: Final = "1.0"  # 004:46
CLOCKS_DIFFER_MAX: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Scrape:
    """The lunches that a parser has found on the page of a restaurant, at a moment."""

    place: str  # the restaurant as its sign says: La Cantina
    lunches: Sequence[object]
    scraped_at: datetime
    week: Week | None = None  # the one that it was in Stockholm, unless the page says another
    source: str | None = None
    last_updated: datetime | None = None  # of the page itself


class FutureScrapeError(SingleTableError, ValueError):
    """A scrape is of a time that is still to come: the clock of the scraper is wrong."""

    def __init__(self, scrape: Scrape) -> None:
        super().__init__(f"the scrape of {scrape.place} is of {scrape.scraped_at}, which is still to come")


@dataclass(frozen=True, slots=True)
class Stored:
    """A scrape was stored as this menu."""

    menu: WeeklyMenu


@dataclass(frozen=True, slots=True)
class Kept:
    """A newer menu was there, and still is."""

    menu: WeeklyMenu


@dataclass(frozen=True, slots=True)
class MenusOfWeek:
    """The menus of a week, in the order that was asked for, and the restaurants of which there is none."""

    week: Week
    menus: list[WeeklyMenu]
    missing: list[str]


def menu_of(scrape: Scrape, *, retention: timedelta = RETENTION) -> WeeklyMenu:
    """Return the menu that a scrape makes."""
    week = scrape.week or this_week(scrape.scraped_at)
    valid = validate(scrape.lunches, place=scrape.place, week=week)
    return WeeklyMenu(
        restaurant=slug(scrape.place),
        year=week.year,
        week=week.number,
        lunches=valid.lunches,
        cached_at=scrape.scraped_at,
        ttl=scrape.scraped_at + retention,
        metadata=None if scrape.source is None else {"version": MENU_VERSION, "source": scrape.source},
        validation_errors=valid.issues,
        data_quality=valid.quality,
        last_updated=scrape.last_updated,
    )


class Menus:
    """The menus of restaurants, week by week."""

    def __init__(self, db: LunchCache, *, retention: timedelta = RETENTION) -> None:
        self._db = db
        self._retention = retention

    # --- writing ---------------------------------------------------------------------------------

    def store(self, scrape: Scrape) -> Stored | Kept:
        """Store a scrape, errors and all, unless a newer one of the same week is there (LC-18).

        The same scrape can be stored any number of times. One of the future is refused: nothing could replace it.
        """
        menu = menu_of(scrape, retention=self._retention)
        if menu.cached_at > self._db.now() + CLOCKS_DIFFER_MAX:
            raise FutureScrapeError(scrape)
        try:
            return Stored(self._db.store_menu(menu).run().entity)
        except ConditionNotMetError as error:
            if error.stored is None:
                raise  # the stored item is no valid menu
            return Kept(error.stored)

    # --- reading ---------------------------------------------------------------------------------

    def this_week(self, place: str) -> WeeklyMenu | None:
        """Return the menu of the week that it is in Stockholm, at most an hour old; None if there is none."""
        week = self._week()
        return self._db.menu(slug(place), week.year, week.number).maybe()

    def all_this_week(self, places: Iterable[str]) -> MenusOfWeek:
        """Return the menus of many restaurants in the week that it is, each once, at most an hour old."""
        return self.all_of(self._week(), places)

    def all_of(self, week: Week, places: Iterable[str]) -> MenusOfWeek:
        """Return the menus of many restaurants in a week, each once, at most an hour old (LC-20)."""
        wanted = list(dict.fromkeys(map(slug, places)))
        found = self._db.menus(wanted, week.year, week.number).found().item if wanted else []
        missing = [restaurant for restaurant, menu in zip(wanted, found, strict=True) if menu is None]
        return MenusOfWeek(week, [menu for menu in found if menu is not None], missing)

    def history(self, place: str, *, page_size: int, cursor: str | None = None) -> Page[WeeklyMenu]:
        """Return a page of a restaurant's menus, the newest scrape first (LC-26)."""
        return self._db.history(slug(place)).page(page_size, cursor)

    def flawed(self, place: str, *, page_size: int, cursor: str | None = None) -> Page[WeeklyMenu]:
        """Return a page of the menus of which something was wrong, the newest scrape first."""
        return self._db.flawed(slug(place)).page(page_size, cursor)

    def _week(self) -> Week:
        return this_week(self._db.now())
