"""A circle: twelve users who write cards, vote for them, talk about them and collect them, among themselves.

The first circle is the newest and the liveliest, so that it leads every list: a small table is asked the same
questions as a large one, and gives the same answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final, get_args

from singletable import Entity
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardStats,
    Collection,
    Comment,
    Difficulty,
    Instruction,
    PerfectionCard,
    User,
    Vote,
    VoteValue,
)
from singletable_systems.perfectit.model.keys import CardId, CategoryId, CollectionId, CommentId, UserId
from singletable_systems.perfectit.operating.seeding.subjects import SUBJECTS, Subject
from singletable_systems.perfectit.rules.counts import shown_views, shown_votes
from singletable_systems.perfectit.rules.notifications import notification_of

CIRCLE: Final = 12
CARDS_EACH: Final = 4
CARDS: Final = CIRCLE * CARDS_EACH
_COMMENTS_EACH: Final = 2
_COLLECTED: Final = 4
FIRST_DAYS: Final = 10  # in which the first circle has done everything; the others were done before
_OTHER_DAYS: Final = 700
_DIFFICULTIES: Final[tuple[Difficulty, ...]] = get_args(Difficulty)
_REMARKS: Final = (
    "Worked at the second try, thank you.",
    "Which grain of paper do you end with?",
    "I would wait a day longer between the coats.",
    "The last step made all the difference.",
    "Does it hold outdoors, too?",
    "Cheaper tools do as well, if they are sharp.",
)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many votes a card has."""

    up: int
    down: int

    def votes(self) -> Iterator[VoteValue]:
        """Return the votes one by one."""
        for _ in range(self.up):
            yield 1
        for _ in range(self.down):
            yield -1


def entity_count(number: int) -> int:
    """Return how many entities a circle has."""
    votes = sum(tally.up + tally.down for tally in (_tally(number, place) for place in range(CARDS)))
    cards = CARDS * (2 + 2 * _COMMENTS_EACH)
    told = sum(map(_is_public, range(CIRCLE))) * _COLLECTED
    return CIRCLE * (3 + _COLLECTED) + told + cards + votes


def cards_by_category() -> Counter[CategoryId]:
    """Count the published cards that each circle has in each category."""
    return Counter(SUBJECTS[place % len(SUBJECTS)].category for place in range(CARDS))


def circle(number: int, now: datetime) -> Iterator[Entity]:
    """Make up a circle: its users, and all that they have done until now, or until the first one began."""
    chance = Random(f"perfectit {number}")
    now -= timedelta(days=FIRST_DAYS if number else 0)
    members = [number * CIRCLE + place for place in range(CIRCLE)]
    for member in members:
        yield user(member, chance, now)
    cards = [_card(number, place, members, chance, now) for place in range(CARDS)]
    for place, card in enumerate(cards):
        yield from _life(card, place, _tally(number, place), members, chance, now)
    for place, member in enumerate(members):
        yield _draft(member, chance, now)
        yield from _collection(member, place, cards, now)


# --- cards -----------------------------------------------------------------------------------------------------


def _card(number: int, place: int, members: list[int], chance: Random, now: datetime) -> PerfectionCard:
    author = members[place % CIRCLE]
    subject = SUBJECTS[place % len(SUBJECTS)]
    at = _published_at(number, place, chance, now)
    tally = _tally(number, place)
    return PerfectionCard(
        card_id=CardId(f"c{number * CARDS + place:06}"),
        user_id=user_id(author),
        status="PUBLISHED",
        created_at=at,
        updated_at=at,
        published_at=at,
        view_count=shown_views(chance.randrange(20, 100)),
        vote_score=shown_votes(tally.up - tally.down),
        **_contents(subject, chance),
    )


def _contents(subject: Subject, chance: Random) -> dict[str, Any]:
    return {
        "title": subject.title,
        "description": f"{subject.title}, the way I have done it for years. {subject.steps[0]}",
        "image_urls": [f"https://images.example.com/cards/{chance.randrange(1000):03}.jpg"],
        "instructions": [Instruction(text=step, minutes=chance.randrange(5, 60)) for step in subject.steps],
        "materials": {name: chance.randrange(1, 9) for name in subject.materials},
        "tools": list(subject.tools),
        "category": subject.category,
        "tags": list(subject.tags),
        "difficulty": chance.choice(_DIFFICULTIES),
        "estimated_time": chance.randrange(2, 48) * 10,
        "estimated_cost": Decimal(chance.randrange(500, 9000)) / 100,
    }


def _published_at(number: int, place: int, chance: Random, now: datetime) -> datetime:
    days = place * (FIRST_DAYS - 2) / CARDS if number == 0 else chance.randrange(_OTHER_DAYS * 100) / 100
    moment = now - timedelta(days=1 + days)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _tally(number: int, place: int) -> Tally:
    """Decide the votes of a card: in the first circle, more than anywhere else; every sixth is below zero."""
    if number > 0:
        return Tally(place % 4, (0, 0, 1, 3)[place // 4 % 4] if place % 4 < 2 else place % 3)
    if place % 4 == 3:
        return Tally(5 + place // 4 % 2, 5)
    if place % 6 == 4:
        return Tally(0, 1 + place % 4)
    return Tally(11 - place % 5, 0)


def _draft(member: int, chance: Random, now: datetime) -> PerfectionCard:
    subject = SUBJECTS[member % len(SUBJECTS)]
    at = now - timedelta(days=1 + member % 10)
    return PerfectionCard(
        card_id=CardId(f"d{member:06}"),
        user_id=user_id(member),
        created_at=at,
        updated_at=at,
        **_contents(subject, chance),
    )


# --- what others do with them ----------------------------------------------------------------------------------


def _life(
    card: PerfectionCard, place: int, tally: Tally, members: list[int], chance: Random, now: datetime
) -> Iterator[Entity]:
    """Make up what is counted of a card, its votes and its comments."""
    assert card.published_at is not None
    others = [user_id(member) for member in members if user_id(member) != card.user_id]
    yield card
    yield CardStats(
        card_id=card.card_id,
        user_id=card.user_id,
        published_at=card.published_at,
        up_votes=tally.up,
        down_votes=tally.down,
        comments=_COMMENTS_EACH,
        views=card.view_count + place % 10,
    )
    for voter, value in zip(others, tally.votes(), strict=False):
        at = _later(card.published_at, chance, now)
        yield Vote(
            user_id=voter,
            target_id=card.card_id,
            target_type="card",
            value=value,
            card_id=card.card_id,
            recipient_id=card.user_id,
            created_at=at,
            updated_at=at,
        )
    for turn in range(_COMMENTS_EACH):
        writer, voter = others[(place + turn) % len(others)], others[(place + turn + 1) % len(others)]
        yield from _comment(card, turn, writer, voter, chance, now)


def _comment(
    card: PerfectionCard, turn: int, writer: UserId, voter: UserId, chance: Random, now: datetime
) -> Iterator[Entity]:
    assert card.published_at is not None
    at = _later(card.published_at, chance, now)
    comment = Comment(
        comment_id=CommentId(f"k{card.card_id[1:]}-{turn}"),
        card_id=card.card_id,
        user_id=writer,
        text=chance.choice(_REMARKS),
        recipient_id=card.user_id,
        created_at=at,
        updated_at=at,
        up_votes=1,
    )
    yield comment
    yield Vote(
        user_id=voter,
        target_id=comment.comment_id,
        target_type="comment",
        value=1,
        card_id=card.card_id,
        commented_at=at,
        recipient_id=writer,
        created_at=at,
        updated_at=at,
    )


def _collection(member: int, place: int, cards: list[PerfectionCard], now: datetime) -> Iterator[Entity]:
    owner, at = user_id(member), now - timedelta(days=1, hours=place)
    identity = CollectionId(f"s{member:06}")
    yield Collection(
        user_id=owner,
        collection_id=identity,
        name="Next winter" if place % 2 else "Favourites",
        is_public=_is_public(place),
        cards_count=_COLLECTED,
        created_at=at,
        updated_at=at,
    )
    for turn in range(_COLLECTED):
        card = cards[(place + turn * CIRCLE + 1) % CARDS]
        link = CardInCollection(
            collection_id=identity,
            card_id=card.card_id,
            user_id=owner,
            recipient_id=card.user_id,
            added_at=at,
        )
        yield link
        told = notification_of(link) if _is_public(place) else None
        if told is not None:
            yield told.model_copy(update={"is_read": turn % 2 == 0})


def _is_public(place: int) -> bool:
    return place % 3 != 1


def _later(since: datetime, chance: Random, now: datetime) -> datetime:
    """Return a moment after another one, and before now; sooner rather than later."""
    span = min(now - since, timedelta(days=20))
    moment = since + span * (chance.random() ** 2) * 0.99
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


# --- users ----------------------------------------------------------------------------------------------


_FIRST: Final = ("ada", "bo", "cleo", "dev", "elin", "femi", "greta", "hana", "ivo", "jana", "kofi", "lena")
_NAMES: Final = (
    "Ada Ekström",
    "Bo Carver",
    "Cleo Marin",
    "Dev Anand",
    "Elin Vik",
    "Femi Ade",
    "Greta Holz",
    "Hana Sato",
    "Ivo Novak",
    "Jana Kral",
    "Kofi Mensah",
    "Lena Roth",
)
_TRADES: Final = ("Joiner", "Home cook", "Potter", "Gardener", "Bike mechanic", "Tailor", "Baker", "Painter")


def user_id(number: int) -> UserId:
    """Return the id of a user: a name for the first ones, u00042 for the others."""
    return UserId(_FIRST[number] if number < CIRCLE else f"u{number:05}")


def user(number: int, chance: Random, now: datetime) -> User:
    """Make up the user of a number."""
    identity = user_id(number)
    created_at = now - timedelta(days=800 + number % 200, minutes=chance.randrange(1440))
    return User(
        user_id=identity,
        username=identity if number < CIRCLE else f"{_FIRST[number % CIRCLE]}.{number}",
        display_name=_NAMES[number % CIRCLE],
        bio=f"{chance.choice(_TRADES)} for {chance.randrange(2, 30)} years.",
        avatar_url=f"https://images.example.com/people/{identity}.jpg",
        created_at=created_at,
        updated_at=created_at,
    )
