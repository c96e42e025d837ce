"""Made-up data: people who share how to do things perfectly, with their cards, votes, comments and collections.

All of it is a function of the size and the day, and nothing else. It is made as it is asked for, a circle of users
after the other: a large amount takes no more memory than a small one, and begins with the small one.

subjects.py   what cards are about, and the categories
circles.py    twelve users with all that they have done
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from singletable import Entity
from singletable.systems import Samples, Seed, Size
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    Comment,
    DailyAnalytics,
    Notification,
    PerfectionCard,
    User,
    Vote,
)
from singletable_systems.perfectit.model.keys import CardId, CategoryId, CollectionId
from singletable_systems.perfectit.operating.seeding.circles import (
    FIRST_DAYS,
    cards_by_category,
    circle,
    entity_count,
)
from singletable_systems.perfectit.operating.seeding.subjects import categories

CIRCLE_COUNTS: Final[dict[Size, int]] = {"small": 1, "large": 321}


def seed(size: Size, day: date) -> Seed:
    """Make up data of a size, as of the beginning of a day."""
    now = datetime.combine(day, time(), UTC)
    circles = CIRCLE_COUNTS[size]
    count = len(categories(now, {})) + sum(map(entity_count, range(circles))) + COUNTED_DAYS
    return Seed(count, _entities(circles, now), is_settled=True)


def _entities(circles: int, now: datetime) -> Iterator[Entity]:
    days = Days(now.date())
    cards = {category: circles * count for category, count in cards_by_category().items()}
    for number in range(circles):
        for entity in circle(number, now):
            days.count(entity)
            yield entity
        if number == 0:
            yield from categories(now - timedelta(days=1200), cards)
            yield from days.take(FIRST_DAYS)
    yield from days.take()


# --- how much was done on each day ----------------------------------------------------------------------


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
        """Return the totals of the last so many days, or of all; each total is returned once."""
        for day in sorted(self._days, reverse=True)[:days]:
            yield DailyAnalytics(day=day, **self._days.pop(day))


# --- what can be asked ----------------------------------------------------------------------------------


def samples(day: date) -> Samples:
    """Return the arguments of each pattern."""
    now = datetime.combine(day, time(), UTC)
    made = list(circle(0, now))
    user = next(each for each in made if isinstance(each, User))
    card = next(each for each in made if isinstance(each, PerfectionCard))
    comment = next(each for each in made if isinstance(each, Comment))
    vote = next(each for each in made if isinstance(each, Vote))
    told = next(each for each in made if isinstance(each, Notification))
    collection = CollectionId("s000000")
    its_card = {"card_id": card.card_id}
    its_user = {"user_id": user.user_id}
    its_collection = {"collection_id": collection}
    return {
        "user": its_user,
        "user_by_username": {"username": user.username},
        "user_named": {"username": user.username},
        "cards_by_category": {"category": CategoryId("woodworking")},
        "cards_by_author": its_user,
        "own_cards": its_user,
        "card": its_card,
        "card_view": its_card,
        "stats": its_card,
        "cards": {"card_ids": [card.card_id, comment.card_id]},
        "comments": its_card,
        "comment": {
            "card_id": comment.card_id,
            "created_at": comment.created_at,
            "comment_id": comment.comment_id,
        },
        "comments_by": its_user,
        "collections": its_user,
        "own_collection": {**its_user, **its_collection},
        "collection_cards": its_collection,
        "collection_links": its_collection,
        "collection_link": {**its_collection, "card_id": _card_at(made, 1)},
        "collection": its_collection,
        "collections_with": {"card_id": _card_at(made, 1)},
        "vote": {"user_id": vote.user_id, "target_id": vote.target_id},
        "voters": {"target_id": vote.target_id},
        "votes_by": its_user,
        "trending": {},
        "top_voted": {},
        "controversial": {},
        "ranking": {"kind": "CARD"},
        "recent": {"now": now},
        "cards_with_word": {"word": "oak"},
        "cards_of_word": {"word": "oak"},
        "categories_below": {"parent_id": CategoryId("crafts")},
        "root_categories": {},
        "category": {"category_id": CategoryId("woodworking")},
        "analytics": {"day": (day - timedelta(days=1)).isoformat()},
        "notifications": {"user_id": told.user_id},
        "unread": {"user_id": told.user_id},
        "notification": {
            "user_id": told.user_id,
            "created_at": told.created_at,
            "notification_id": told.notification_id,
        },
    }


def _card_at(made: list[Entity], place: int) -> CardId:
    """Return the id of the card at a place."""
    cards = [each.card_id for each in made if isinstance(each, PerfectionCard)]
    return cards[place]
