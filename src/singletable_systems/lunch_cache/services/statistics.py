"""Statistics of a restaurant, from the few menus that its history holds (LC-19).

Mean prices are rounded to two decimals, mean shares to four.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, get_args

from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import Lunch, Weekday, WeeklyMenu
from singletable_systems.lunch_cache.model.keys import slug

_ORE: Final = Decimal("0.01")
_SHARE: Final = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class Prices:
    """What lunches cost: how many there are, and their mean, least and greatest price."""

    lunches: int
    mean: Decimal
    least: Decimal
    greatest: Decimal


@dataclass(frozen=True, slots=True)
class Quality:
    """How good the menus are that say so: the mean of each share."""

    menus: int
    completeness: Decimal
    accuracy: Decimal


@dataclass(frozen=True, slots=True)
class Statistics:
    """Totals over the menus of a restaurant. A figure without data is None, or left out."""

    menus: int
    lunches: int
    flawed_menus: int
    oldest: datetime | None
    newest: datetime | None
    prices: Prices | None
    by_weekday: Mapping[Weekday, Prices]
    quality: Quality | None


def statistics_of(db: LunchCache, place: str) -> Statistics:
    """Read all menus of a restaurant, and sum them up."""
    return summed_up(db.menus_of(slug(place)).all())


def summed_up(menus: Iterable[WeeklyMenu]) -> Statistics:
    """Sum up menus."""
    known = list(menus)
    lunches = [lunch for menu in known for lunch in menu.lunches]
    by_weekday = {
        day: _prices([each for each in lunches if each.weekday == day]) for day in get_args(Weekday)
    }
    times = [menu.cached_at for menu in known]
    return Statistics(
        menus=len(known),
        lunches=len(lunches),
        flawed_menus=sum(menu.validation_errors is not None for menu in known),
        oldest=min(times, default=None),
        newest=max(times, default=None),
        prices=_prices(lunches),
        by_weekday={day: prices for day, prices in by_weekday.items() if prices is not None},
        quality=_quality(known),
    )


def _prices(lunches: list[Lunch]) -> Prices | None:
    prices = [lunch.price for lunch in lunches]
    return Prices(len(prices), _mean(prices, _ORE), min(prices), max(prices)) if prices else None


def _quality(menus: list[WeeklyMenu]) -> Quality | None:
    known = [menu.data_quality for menu in menus if menu.data_quality is not None]
    if not known:
        return None
    completeness = _mean([each.completeness for each in known], _SHARE)
    return Quality(len(known), completeness, _mean([each.accuracy for each in known], _SHARE))


def _mean(values: list[Decimal], step: Decimal) -> Decimal:
    return (sum(values, Decimal(0)) / len(values)).quantize(step)
