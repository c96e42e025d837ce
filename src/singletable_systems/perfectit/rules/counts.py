"""Counts that follow from changes: the activity of each day, and the figures that a card shows.

A card shows its votes exactly below a hundred, then to two figures; and that it was seen at least 1, 2, 5, 10, 20,
50, 100 times and so on. Only then is it written: three times for each tenfold of views.

A day's totals count activity, and not the items that are left of it: a comment that is deleted later still
counts, and a vote that is changed counts as one for and one against. Days are those of UTC, by the time of the
activity.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from singletable import Change
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardStats,
    Comment,
    PerfectionCard,
    User,
    Vote,
)
from singletable_systems.perfectit.model.scores import rounded

Total = Literal["users", "cards", "comments", "up_votes", "down_votes", "collected"]
_FIGURES: Final = 2


@dataclass(frozen=True, slots=True)
class Done:
    """One more of something on a day."""

    total: Total
    at: datetime

    @property
    def day(self) -> str:
        return self.at.astimezone(UTC).date().isoformat()


class Figures(NamedTuple):
    """The counts of a card as the card shows them, rounded."""

    view_count: int = 0
    vote_score: int = 0


def done_in(change: Change[Any]) -> Done | None:
    """Return the total of a day that a change adds to; None if it adds to none."""
    match change.old, change.new:
        case None, User(created_at=at):
            return Done("users", at)
        case None, Comment(created_at=at):
            return Done("comments", at)
        case None, CardInCollection(added_at=at):
            return Done("collected", at)
        case (old, PerfectionCard(published_at=datetime() as at)) if old is None or old.published_at != at:
            return Done("cards", at)
        case (old, Vote(value=value, updated_at=at)) if old is None or old.value != value:
            return Done("up_votes" if value == 1 else "down_votes", at)
        case _:
            return None


def shown_votes(votes: int) -> int:
    """Return votes as a card shows them: exact below a hundred, then to two figures, so 1,234 is 1,200."""
    return rounded(votes, _FIGURES)


def shown_views(views: int) -> int:
    """Return views as a card shows them: the last of 1, 2, 5, 10, 20, 50, ... that there were."""
    tens = 10 ** (len(str(views)) - 1)
    return max((step * tens for step in (1, 2, 5) if step * tens <= views), default=0)


def figures(stats: CardStats | None) -> Figures:
    """Return the figures that a card with these counts shows."""
    return Figures() if stats is None else Figures(shown_views(stats.views), shown_votes(stats.vote_score))
