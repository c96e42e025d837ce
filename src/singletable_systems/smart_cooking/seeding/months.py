"""How much was done in each month: what the consumer would have counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from singletable import Entity
from singletable_systems.smart_cooking.activity import Doing, month_of
from singletable_systems.smart_cooking.entities import (
    Comment,
    CommentReaction,
    CookingHistory,
    MonthlyActivity,
    Post,
    Reaction,
    Recipe,
    RecipeRating,
)


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
        """Return the totals of each month, or of those before one; what is returned is counted no more."""
        for month in list(self._months):
            if before is None or month < before:
                yield MonthlyActivity(month=month, **self._months.pop(month))
