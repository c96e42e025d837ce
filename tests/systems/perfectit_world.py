"""A PerfectIt full of traps, from one seed.

Ids that begin alike; equal scores and scores below zero; equal moments, moments of other time zones, and cards of
the first and the last millisecond of a day, between days without any; drafts and notifications whose time is over;
archived cards in collections, and in lists that the stream has not followed yet; and places that hold more than a
page of 1 MB: a category, an author, a day, the comments of a card and of a user, the collections of a user.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, get_args

from singletable import Entity
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardScore,
    CardStatus,
    Category,
    DailyAnalytics,
    Difficulty,
    Instruction,
    Notification,
    NotificationType,
    PerfectionCard,
    SearchToken,
    User,
)
from singletable_systems.perfectit.model.keys import (
    CardId,
    CategoryId,
    CollectionId,
    NotificationId,
    ScoreKind,
)
from systems.perfectit_settling import settled
from systems.perfectit_society import make_society
from systems.perfectit_traps import (
    CARD_IDS,
    CATEGORIES,
    GONE,
    HEAVY_CATEGORY,
    HEAVY_DAY,
    HEAVY_USER,
    MILLISECOND,
    NEW_USER,
    NOW,
    SECOND,
    TITLES,
    USERS,
    WORDY_CARD,
    long_text,
    maybe,
    moment,
    somewhere,
)

DAY = timedelta(days=1)
# At midnight, a millisecond before it, later today, and at the edges of the last 30 days. There are days without.
PUBLISHED_BEFORE_NOW = [
    *(-5 * DAY / 24, -MILLISECOND, 0 * DAY, MILLISECOND, DAY / 2, DAY, DAY + MILLISECOND, 4 * DAY),
    *(29 * DAY, 30 * DAY - MILLISECOND, 30 * DAY, 30 * DAY + MILLISECOND, 31 * DAY, 60 * DAY, 366 * DAY),
]
# A draft is given up 30 days after it was last changed: a second before that, then, and after.
DRAFTED_BEFORE_NOW = [0 * DAY, 9 * DAY, 30 * DAY - SECOND, 30 * DAY, 30 * DAY + SECOND, 99 * DAY]
TOLD_BEFORE_NOW = [0 * DAY, MILLISECOND, DAY, 30 * DAY - SECOND, 30 * DAY, 30 * DAY + SECOND]
STATUSES: list[CardStatus] = ["PUBLISHED", "PUBLISHED", "PUBLISHED", "DRAFT", "ARCHIVED"]


@dataclass(frozen=True)
class World:
    """What is there, as it is read; what the stream has not taken away yet; and what is of nobody."""

    entities: tuple[Entity, ...]
    late: tuple[Entity, ...]
    strangers: tuple[dict[str, Any], ...]


def make_world(seed: int = 20400301) -> World:
    """Make the data of a seed."""
    chance = random.Random(seed)
    cards = [*_small_cards(chance), *_odd_cards(chance), *_heavy_cards(chance)]
    entities = [
        *_users(chance),
        *cards,
        *make_society(chance, cards),
        *_categories(chance),
        *_notifications(chance),
        *_analytics(chance),
    ]
    return World(tuple(settled(entities)), tuple(_late(cards)), _strangers())


# --- users and cards ----------------------------------------------------------------------------------------


def _users(chance: random.Random) -> Iterator[User]:
    names = ["Ada", "ada 2", "AD", "Straße", "ÅDA", "straß", "zoe"]
    for user_id, name in zip(USERS, names, strict=True):
        at = moment(chance)
        yield User(
            user_id=user_id,
            username=name,
            display_name=maybe(chance, f"{name} the maker"),
            bio=maybe(chance, "Sands, glues, waits."),
            created_at=at,
            updated_at=at,
        )


def _card(chance: random.Random, card_id: str, **fields: Any) -> PerfectionCard:
    status = fields.pop("status", chance.choice(STATUSES))
    published = None if status == "DRAFT" else somewhere(chance, NOW - chance.choice(PUBLISHED_BEFORE_NOW))
    changed = NOW - chance.choice(DRAFTED_BEFORE_NOW) if published is None else published
    values: dict[str, Any] = {
        "title": chance.choice(TITLES),
        "description": maybe(chance, "How it is done.") or "",
        "image_urls": [f"https://example.com/{card_id}.jpg"] if chance.random() < 0.3 else [],
        "instructions": [Instruction(text="Sand it", minutes=maybe(chance, 5)), Instruction(text="Oil it")],
        "materials": {"oil": {"ml": chance.choice([1, 10, 200])}, "wood": "oak"},
        "tools": ["brush"] if chance.random() < 0.5 else [],
        "category": chance.choice(CATEGORIES),
        "tags": chance.sample(["oak", "Möbel", "Finish!", "x"], chance.randint(0, 3)),
        "difficulty": chance.choice(get_args(Difficulty)),
        "estimated_time": maybe(chance, 120),
        "estimated_cost": maybe(chance, Decimal("49.50")),
        "user_id": chance.choice([user for user in USERS if user != NEW_USER]),
        "status": status,
        # When it was published, or a while before: few moments, so that many are equal.
        "created_at": somewhere(chance, changed - chance.choice([0 * DAY, 0 * DAY, MILLISECOND, 2 * DAY])),
        "updated_at": somewhere(chance, changed),
        "published_at": published,
    }
    return PerfectionCard(card_id=CardId(card_id), **{**values, **fields})


def _small_cards(chance: random.Random) -> Iterator[PerfectionCard]:
    yield from (_card(chance, card_id, user_id=USERS[0], status="PUBLISHED") for card_id in CARD_IDS)
    yield from (_card(chance, f"{card_id}.{number}") for number in range(1, 12) for card_id in CARD_IDS)


def _odd_cards(chance: random.Random) -> Iterator[PerfectionCard]:
    """Make drafts of every age, a card with too many words, and one from before scores began."""
    for number, age in enumerate(DRAFTED_BEFORE_NOW):
        at = NOW - age
        yield _card(chance, f"d{10**number}", user_id=USERS[0], status="DRAFT", created_at=at, updated_at=at)
    words = [f"w{number}a w{number}b w{number}c" for number in range(30)]
    yield _card(chance, WORDY_CARD, status="PUBLISHED", title="o" * 45 + " I oak", tags=words)
    old = datetime(2019, 5, 1, tzinfo=NOW.tzinfo)
    yield _card(
        chance, "old", status="PUBLISHED", created_at=old, updated_at=old, published_at=old, category="wood"
    )


def _heavy_cards(chance: random.Random) -> Iterator[PerfectionCard]:
    """Make cards of one author, one category and one day, of 25 to 40 KB each."""
    for number in range(44):
        at = HEAVY_DAY + timedelta(hours=number // 3)
        yield _card(
            chance,
            f"h{number}",
            status="PUBLISHED",
            user_id=HEAVY_USER,
            category=HEAVY_CATEGORY,
            description=long_text(chance, 7_900),
            image_urls=[f"https://example.com/{'i' * chance.randint(1500, 1900)}" for _ in range(10)],
            materials={"list": long_text(chance, 7_000)},
            created_at=at - MILLISECOND * (number % 2),
            updated_at=at,
            published_at=somewhere(chance, at),
        )


# --- categories, notifications, days ----------------------------------------------------------------------------


def _categories(chance: random.Random) -> Iterator[Category]:
    """Make a tree whose orders are not those of their texts, and some are equal."""
    for parent in ("ROOT", "wood", "wood2", "woo"):
        for number, order in enumerate([0, 2, 9, 10, 10, 100, 999_999]):
            below = parent if parent != "ROOT" else "top"
            yield Category(
                category_id=CategoryId(CATEGORIES[number] if below == "top" else f"{below}.{number}"),
                name=f"{below} {number}",
                description=maybe(chance, "All about it"),
                parent_id=parent,
                sort_order=order,
                created_at=NOW,
                updated_at=NOW,
            )


def _notifications(chance: random.Random) -> Iterator[Notification]:
    """Make notifications of which three share each moment."""
    for user_id in USERS:
        if user_id == NEW_USER:
            continue
        for number in range(3 * len(TOLD_BEFORE_NOW)):
            yield Notification(
                notification_id=NotificationId(f"n{10 ** (number % 3)}"),
                user_id=user_id,
                actor_id=maybe(chance, chance.choice(USERS)),
                type=chance.choice(get_args(NotificationType)),
                card_id=CardId("c1"),
                target_id="c1",
                is_read=chance.random() < 0.4,
                created_at=somewhere(chance, NOW - TOLD_BEFORE_NOW[number // 3]),
            )


def _analytics(chance: random.Random) -> Iterator[DailyAnalytics]:
    for day in ("2040-02-29", "2040-03-01", "2040-03-10", "2039-03-01"):
        yield DailyAnalytics(day=day, users=chance.randint(0, 9), cards=1, up_votes=20, collected=3)


# --- what is too late, and what is of nobody ---------------------------------------------------------------------


def _late(cards: list[PerfectionCard]) -> Iterator[Entity]:
    """Make scores and words of cards that are archived, drafted again or gone: the stream comes later."""
    hidden = [card.card_id for card in cards if card.status != "PUBLISHED"][::3]
    for number, card_id in enumerate([*hidden, GONE]):
        kinds: tuple[ScoreKind, ...] = get_args(ScoreKind)
        yield CardScore(card_id=card_id, kind=kinds[number % 3], score=10**number % 7919 - 50)
        yield SearchToken(card_id=card_id, token="oak")
    yield CardInCollection(
        collection_id=CollectionId("loose"), card_id=GONE, user_id=USERS[0], added_at=NOW
    )  # of a collection that is gone too


def _strangers() -> tuple[dict[str, Any], ...]:
    """Make items of entities that the design does not know, under the prefixes of those that it does."""
    keys = [
        ("CARD#c1", "COMMENT#2040-02-29T00:00:00.000Z#!"),
        ("CARD#c1", "SCORE#!"),
        ("USER#ada", "COLLECTION#l!"),
        ("USER#ada", "NOTIFICATION#2040-02-29T00:00:00.000Z#!"),
        ("COLLECTION#l1", "CARD#c!"),
    ]
    indexed = [
        ("USER#ada", "COMMENT#2040-01-01T00:00:00.000Z!", "USER#ada", "CREATED#2040-01-01T00:00:00.000Z!"),
        ("CAT#wood", "CREATED#2040-01-01T00:00:00.000Z!", "USER#ada", "VOTE#2040-01-01T00:00:00.000Z!"),
        ("PARENT#wood", "SORT#000009!", "USER#ad", "CREATED#2040-01-01T00:00:00.000Z!"),
        ("TARGET#c1", "VOTE#2040-01-01T00:00:00.000Z!", "USER#ad", "VOTE#2040-01-01T00:00:00.000Z!"),
        ("USER#ada#UNREAD", "NOTIFICATION#2040-03-01T00:00:00.000Z!", "USER#ad", "VOTE#!"),
    ]
    shared = {
        "GSI3PK": "DATE#2040-02-29",
        "GSI3SK": "CREATED#2040-02-29T12:00:00.000Z#!",
        "GSI4PK": "SEARCH#oak",
        "GSI4SK": "CARD#c!",
        "GSI5PK": "VOTETYPE#CARD",
        "GSI5SK": "SCORE#5000000000#c!",
    }
    items = [
        {"PK": pk, "SK": sk, "GSI1PK": more[0], "GSI1SK": more[1], "GSI2PK": more[2], "GSI2SK": more[3]}
        for (pk, sk), more in zip(keys, indexed, strict=True)
    ]
    items[0] |= shared
    named = [{**item, "entityType": "Stranger", "status": "PUBLISHED"} for item in items]
    return tuple({name: {"S": text} for name, text in item.items()} for item in named)
