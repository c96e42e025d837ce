"""Made-up data: people who cook, with their recipes, what they think of them, and what they tell their friends.

All of it is a function of the size and the day, and nothing else. It is made as it is asked for, a circle of
people after the other: a large amount takes no more memory than a small one, and begins with the small one.

people.py       users, their preferences, privacy and sessions
ingredients.py  the catalogue, what people have at home, names that nobody knows
dishes.py       what is cooked
recipes.py      recipes with their ratings, what was cooked, the ranking
suggestions.py  what was suggested
society.py      friends, posts, comments, reactions, feeds
circles.py      twelve people with all of it
samples.py      what access patterns can be asked
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from singletable import Entity
from singletable.systems import Seed, Size
from singletable_systems.smart_cooking.model.entities import (
    Comment,
    CommentReaction,
    CookingHistory,
    MonthlyActivity,
    Post,
    Reaction,
    Recipe,
    RecipeRating,
)
from singletable_systems.smart_cooking.operating.seeding.circles import circle, entity_count
from singletable_systems.smart_cooking.operating.seeding.ingredients import catalogue
from singletable_systems.smart_cooking.operating.seeding.recipes import FIRST_DAYS_MAX, OTHERS_DAYS_MAX
from singletable_systems.smart_cooking.rules.activity import Doing, month_of

CIRCLE_COUNTS: Final[dict[Size, int]] = {"small": 1, "large": 244}


def seed(size: Size, day: date) -> Seed:
    """Make up data of a size, as of the beginning of a day."""
    now = datetime.combine(day, time(), UTC)
    circles = CIRCLE_COUNTS[size]
    return Seed(_count(circles, now), _entities(circles, now), is_settled=True)


def _count(circles: int, now: datetime) -> int:
    others = (circles - 1) * entity_count(1, now) if circles > 1 else 0
    return len(catalogue(now)) + len(_months(now)) + entity_count(0, now) + others


def _months(now: datetime) -> Months:
    return Months(now, FIRST_DAYS_MAX)


def _entities(circles: int, now: datetime) -> Iterator[Entity]:
    months = _months(now)
    yield from catalogue(now - timedelta(days=1300))
    for number in range(circles):
        for entity in circle(number, now):
            months.count(entity)
            yield entity
        if number == 0:  # in these months nobody else was there
            yield from months.take(before=month_of(now - timedelta(days=OTHERS_DAYS_MAX)))
    yield from months.take()


# --- how much was done in each month --------------------------------------------------------------------


class Months:
    """Counts entities of some days by the month in which they were made."""

    def __init__(self, now: datetime, days: int) -> None:
        since = (now - timedelta(days=back) for back in range(days, -1, -1))
        self._months: dict[str, Counter[str]] = {month_of(day): Counter() for day in since}

    def __len__(self) -> int:
        return len(self._months)

    def count(self, entity: Entity) -> None:
        """Count an entity, if it is one that is counted."""
        match entity:
            case CookingHistory(status="completed"):
                self._add("cookings", entity.cook_date)
            case RecipeRating():
                self._add("ratings", entity.created_at)
            case Recipe():
                self._add("recipes", entity.created_at)
            case Post():
                self._add("posts", entity.created_at)
            case Comment():
                self._add("comments", entity.created_at)
            case Reaction() | CommentReaction():
                self._add("reactions", entity.created_at)
            case _:
                pass

    def _add(self, doing: Doing, at: datetime) -> None:
        self._months[month_of(at)][doing] += 1

    def take(self, *, before: str | None = None) -> Iterator[MonthlyActivity]:
        """Return the totals of each month, or of those before one; each total is returned once."""
        for month in list(self._months):
            if before is None or month < before:
                yield MonthlyActivity(month=month, **self._months.pop(month))
