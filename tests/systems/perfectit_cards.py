"""People, cards and what happens to them in a table of PerfectIt, and a consumer that a test runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from singletable import Create, Update
from singletable.client import EmbeddedClient
from singletable.clock import ManualClock
from singletable.consumers import Consumer
from singletable.database import Database
from singletable.design import Design
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardStats,
    Collection,
    Comment,
    PerfectionCard,
    User,
    Vote,
    VoteValue,
)
from singletable_systems.perfectit.model.keys import (
    CardId,
    CategoryId,
    CollectionId,
    CommentId,
    UserId,
)
from singletable_systems.perfectit.reactions.handlers import PerfectIt

ADA = UserId("ada")
BOB = UserId("bob")
CARD = CardId("c1")
OAK = CollectionId("oak")

DRAINS_MAX = 20


def database(db: Design) -> Database:
    client = db.session.client
    assert isinstance(client, EmbeddedClient)
    return client.database


@contextmanager
def opened(clock: ManualClock | None = None) -> Iterator[PerfectIt]:
    """Open a table in memory, where nothing is removed behind a test's back."""
    with PerfectIt.open(":memory:", clock=clock or ManualClock(), engine={"ttl_sweep_s": None}) as db:
        yield db


def sign_up(db: PerfectIt, *user_ids: UserId) -> None:
    for user_id in user_ids:
        db.create(User(user_id=user_id, username=user_id))


def draft(db: PerfectIt, card_id: str = CARD, *, author: UserId = ADA, **values: Any) -> PerfectionCard:
    values = {"title": f"Card {card_id}", "category": CategoryId("wood"), **values}
    return db.create(PerfectionCard(card_id=CardId(card_id), user_id=author, **values)).entity


def publish(db: PerfectIt, card_id: str = CARD, *, author: UserId = ADA, **values: Any) -> PerfectionCard:
    """Publish a new card, as authors do: with what is counted of it."""
    card = draft(db, card_id, author=author, **values)
    at = db.now()
    stats = CardStats(card_id=card.card_id, user_id=author, published_at=at)
    published: PerfectionCard = db.transaction(
        Update(card, status="PUBLISHED", published_at=at), Create(stats)
    ).entity[0]
    return published


def author(db: PerfectIt, card_id: CardId) -> UserId:
    return db.stats(card_id).one().user_id


def comment(db: PerfectIt, name: str, *, by: UserId = BOB, card_id: CardId = CARD) -> Comment:
    return db.create(
        Comment(
            comment_id=CommentId(name),
            card_id=card_id,
            user_id=by,
            text=name,
            recipient_id=author(db, card_id),
            created_at=db.now(),
        )
    ).entity


def vote(
    db: PerfectIt,
    value: VoteValue = 1,
    *,
    by: UserId = BOB,
    card_id: CardId = CARD,
    on: Comment | None = None,
) -> Vote:
    if on is None:
        cast = Vote(
            user_id=by,
            target_id=card_id,
            target_type="card",
            value=value,
            card_id=card_id,
            recipient_id=author(db, card_id),
        )
    else:
        cast = Vote(
            user_id=by,
            target_id=on.comment_id,
            target_type="comment",
            value=value,
            card_id=on.card_id,
            commented_at=on.created_at,
            recipient_id=on.user_id,
        )
    return db.create(cast).entity


def collect(
    db: PerfectIt, *, by: UserId = BOB, card_id: CardId = CARD, is_public: bool = True
) -> CardInCollection:
    """Put a card into a collection, which is made for it if it is not there."""
    if db.own_collection(by, OAK).maybe() is None:
        db.create(Collection(user_id=by, collection_id=OAK, name="Oak", is_public=is_public))
    link = CardInCollection(collection_id=OAK, card_id=card_id, user_id=by, recipient_id=author(db, card_id))
    return db.create(link).entity


@contextmanager
def consuming(db: PerfectIt, **options: Any) -> Iterator[Consumer]:
    """Run the handlers when the test says so; a change that fails is tried again at once."""
    with db.consume(background=False, wait=lambda seconds: None, **options) as consumer:
        yield consumer


def drain(consumer: Consumer) -> int:
    """Handle all changes, and those that handlers make; return how often that took. It comes to an end."""
    for number in range(1, DRAINS_MAX + 1):
        consumer.drain()
        if not consumer.status().records_behind:
            return number
    raise AssertionError("the handlers go round in circles")


def follow(db: PerfectIt, **options: Any) -> None:
    """Handle all changes that there are, and leave no dead letter."""
    with consuming(db, **options) as consumer:
        drain(consumer)
        name = consumer.name
    assert database(db).dead_letters(db.session.table, name) == []


def everything(db: PerfectIt) -> list[Any]:
    """Return all items of the table but those that remember what was done."""
    found = db.session.client.call("Scan", {"TableName": db.session.table})["Items"]
    kept = [item for item in found if not item["PK"]["S"].startswith("UPKEEP#")]
    return sorted(kept, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))
