"""A PerfectIt of items whose sizes can be reckoned with: so many people, who have thirty of everything each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from singletable import Entity
from singletable.design.values.items import item_bytes
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardStats,
    Category,
    Collection,
    Comment,
    DailyAnalytics,
    Notification,
    PerfectionCard,
    User,
    Vote,
)
from singletable_systems.perfectit.model.keys import (
    CardId,
    CategoryId,
    CollectionId,
    CommentId,
    NotificationId,
    UserId,
)
from singletable_systems.perfectit.reactions.handlers import PerfectIt

NOW = datetime(2040, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
COUNT = 30  # of each, for who is asked about
CARD_BYTES, COMMENT_BYTES = 4_000, 1_000


def table_of(people: int) -> Iterator[Entity]:
    """Make what so many people have: all the same, under names of their own, the first of them the best."""
    for number in range(people):
        yield from things_of(f"p{number}", votes=COUNT if number else 5 * COUNT)
    yield DailyAnalytics(day="2040-03-01")


def things_of(name: str, votes: int) -> Iterator[Entity]:
    """Make thirty of everything. Of the cards, each has one vote less than the one before."""
    user_id, at = UserId(name), NOW if name == "p0" else NOW - timedelta(hours=1)
    yield User(user_id=user_id, username=name, created_at=at, updated_at=at)
    for number in range(COUNT):
        card_id, moment = CardId(f"{name}-c{number:02}"), at - number * MINUTE
        yield sized(
            PerfectionCard(
                card_id=card_id,
                title="Oak" if name == "p0" else "Elm",
                category=CategoryId(name),
                user_id=user_id,
                status="PUBLISHED",
                created_at=moment,
                updated_at=moment,
                published_at=moment,
            ),
            "description",
            CARD_BYTES,
        )
        stats = CardStats(card_id=card_id, user_id=user_id, published_at=moment)
        yield stats.model_copy(
            update={"up_votes": votes - min(number, votes), "down_votes": int(name == "p0")}
        )
        yield from around(name, number, moment)


def around(name: str, number: int, at: datetime) -> Iterator[Entity]:
    """Make what is not a card."""
    user_id, first, card_id = UserId(name), CardId(f"{name}-c00"), CardId(f"{name}-c{number:02}")
    both: dict[str, Any] = {"created_at": at, "updated_at": at}
    yield sized(
        Comment(comment_id=CommentId(f"{name}-k{number}"), card_id=first, user_id=user_id, text="x", **both),
        "text",
        COMMENT_BYTES,
    )
    fan = UserId(f"{name}-fan{number}")
    yield Vote(user_id=fan, target_id=first, target_type="card", value=1, card_id=first, **both)
    yield Vote(user_id=user_id, target_id=card_id, target_type="card", value=1, card_id=card_id, **both)
    yield Collection(user_id=user_id, collection_id=CollectionId(f"{name}-l{number:02}"), name="Best", **both)
    for collection, card in ((f"{name}-l00", card_id), (f"{name}-l{number:02}", first)):
        yield CardInCollection(
            collection_id=CollectionId(collection), card_id=card, user_id=user_id, added_at=at
        )
    for each, parent in (
        (f"{name}-{number}", "ROOT" if name == "p0" else name),
        (f"{name}.{number}", f"{name}."),
    ):
        yield Category(category_id=CategoryId(each), name="Wood", sort_order=number, parent_id=parent, **both)
    yield Notification(
        notification_id=NotificationId(f"n{number}"),
        user_id=user_id,
        type="vote",
        card_id=first,
        target_id=first,
        created_at=at,
    )


def sized(entity: Any, field: str, wanted: int) -> Any:
    """Return an entity whose item has so many bytes."""
    missing = wanted - item_bytes(PerfectIt.stored_item(entity.model_copy(update={"version": 1, field: ""})))
    return entity.model_copy(update={field: "x" * missing})
