"""What people do with the cards of the tests' PerfectIt: they comment, vote and collect."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

from singletable import Entity
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    Collection,
    Comment,
    PerfectionCard,
    Vote,
)
from singletable_systems.perfectit.model.keys import CardId, CollectionId, CommentId, UserId
from systems.perfectit_traps import (
    CARD_IDS,
    COLLECTION_IDS,
    GONE,
    HATED_CARD,
    HEAVY_CARD,
    HEAVY_COLLECTION,
    HEAVY_USER,
    MILLISECOND,
    NEW_USER,
    NOW,
    USERS,
    VOTED_CARD,
    long_text,
    maybe,
    moment,
    somewhere,
)

MEMBERS = [user_id for user_id in USERS if user_id != NEW_USER]
# Votes for and against: equal scores, none, below zero, and of one mind or of two.
VOTES = [(0, 0), (1, 0), (0, 1), (2, 1), (1, 2), (9, 0), (10, 0), (0, 9), (0, 10), (11, 1), (5, 5), (6, 6)]
MANY_VOTES = {VOTED_CARD: (1105, 99), HATED_CARD: (1, 1006), CardId("c100"): (120, 119)}


def make_society(chance: random.Random, cards: Iterable[PerfectionCard]) -> Iterator[Entity]:
    """Make what is done with cards that were published at some time."""
    cards = list(cards)
    published = [card for card in cards if card.published_at is not None]
    comments = [*_comments(chance, published), *_heavy_comments(chance)]
    yield from comments
    yield from _votes(chance, published)
    yield from _votes_on_comments(chance, comments)
    yield from _collections(chance, [card.card_id for card in cards])


def _comment(chance: random.Random, card_id: CardId, number: int, **fields: Any) -> Comment:
    values: dict[str, Any] = {
        "user_id": chance.choice(MEMBERS),
        "text": f"Comment {number}",
        "created_at": somewhere(chance, NOW - MILLISECOND * (number // 3)),
    }
    at = values["created_at"]
    name = CommentId(f"k{10 ** (number % 3)}.{card_id}.{number // 3}")
    return Comment(comment_id=name, card_id=card_id, **{**values, **fields}, updated_at=at)


def _comments(chance: random.Random, cards: list[PerfectionCard]) -> Iterator[Comment]:
    """Make comments of which three share each millisecond."""
    for card in cards:
        if card.card_id != HEAVY_CARD:
            count = 31 if card.card_id == VOTED_CARD else chance.choice([0, 0, 1, 4])
            yield from (_comment(chance, card.card_id, number) for number in range(count))


def _heavy_comments(chance: random.Random) -> Iterator[Comment]:
    for number in range(190):
        text = long_text(chance, 7_900)
        yield _comment(chance, HEAVY_CARD, number, user_id=HEAVY_USER, text=text)


def _votes(chance: random.Random, cards: list[PerfectionCard]) -> Iterator[Vote]:
    for number, card in enumerate(cards):
        up, down = MANY_VOTES.get(card.card_id, VOTES[number % len(VOTES)])
        voters = [*MEMBERS, *(UserId(f"fan{each}") for each in range(up + down))][: up + down]
        for voter, value in zip(voters, [1] * up + [-1] * down, strict=True):
            yield _vote(chance, voter, card.card_id, target_type="card", value=value, card_id=card.card_id)


def _vote(chance: random.Random, user_id: UserId, target_id: str, **fields: Any) -> Vote:
    at = moment(chance)
    return Vote(user_id=user_id, target_id=target_id, created_at=at, updated_at=at, **fields)


def _votes_on_comments(chance: random.Random, comments: list[Comment]) -> Iterator[Vote]:
    for comment in comments[::4]:
        for voter in chance.sample(MEMBERS, chance.randint(0, 3)):
            yield _vote(
                chance,
                voter,
                comment.comment_id,
                target_type="comment",
                value=chance.choice([1, -1]),
                card_id=comment.card_id,
                commented_at=comment.created_at,
            )


def _collections(chance: random.Random, card_ids: list[CardId]) -> Iterator[Entity]:
    for number, collection_id in enumerate(COLLECTION_IDS):
        yield _collection(chance, MEMBERS[number % 3], collection_id)
        wanted = CARD_IDS if collection_id == "l1" else chance.sample(card_ids, 12)
        if collection_id == HEAVY_COLLECTION:
            wanted = card_ids
        if collection_id != "~":  # which is empty
            for card_id in (*wanted, GONE):
                yield CardInCollection(
                    collection_id=collection_id,
                    card_id=card_id,
                    user_id=MEMBERS[number % 3],
                    added_at=moment(chance),
                )
    for number in range(200):
        text = long_text(chance, 7_900)
        yield _collection(chance, HEAVY_USER, CollectionId(f"x{number}"), description=text)


def _collection(
    chance: random.Random, user_id: UserId, collection_id: CollectionId, **more: Any
) -> Collection:
    at = moment(chance)
    values = {"description": maybe(chance, "What I like"), "is_public": chance.random() < 0.5, **more}
    return Collection(
        user_id=user_id,
        collection_id=collection_id,
        name=f"Collection {collection_id}",
        created_at=at,
        updated_at=at,
        **values,
    )
