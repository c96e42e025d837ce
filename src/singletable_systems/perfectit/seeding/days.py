"""How much was done on each day: what the consumer would have counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Final

from singletable import Entity
from singletable_systems.perfectit.entities import (
    CardInCollection,
    Comment,
    DailyAnalytics,
    PerfectionCard,
    User,
    Vote,
)

COUNTED_DAYS: Final = 60


class Days:
    """Counts entities of the last days by the day on which they were made."""

    def __init__(self, until: date) -> None:
        days = (until - timedelta(days=back) for back in range(1, COUNTED_DAYS + 1))
        self._days: dict[str, Counter[str]] = {day.isoformat(): Counter() for day in days}

    def count(self, entity: Entity) -> None:
        """Count an entity, if it is one that is counted."""
        match entity:
            case User():
                self._add(entity.created_at, "users")
            case PerfectionCard(published_at=at) if at is not None:
                self._add(at, "cards")
            case Comment():
                self._add(entity.created_at, "comments")
            case Vote():
                self._add(entity.created_at, "up_votes" if entity.value == 1 else "down_votes")
            case CardInCollection():
                self._add(entity.added_at, "collected")
            case _:
                pass

    def _add(self, at: datetime, name: str) -> None:
        counts = self._days.get(at.date().isoformat())
        if counts is not None:
            counts[name] += 1

    def take(self, days: int | None = None) -> Iterator[DailyAnalytics]:
        """Return the totals of the last so many days, or of all; what is returned is counted no more."""
        for day in sorted(self._days, reverse=True)[:days]:
            yield DailyAnalytics(day=day, **self._days.pop(day))
