"""What the data of PerfectIt's tests is made of: ids that begin alike, moments at the edges, long texts."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from typing import TypeVar

from singletable_systems.perfectit.model.keys import CardId, CategoryId, CollectionId, UserId

T = TypeVar("T")

# Midnight, and the beginning of a month: what was published a moment ago is of another day. It is far ahead, so
# that no target whose clock is the machine's takes what has expired by this clock away.
NOW = datetime(2040, 3, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
ZONES = [UTC, timezone(timedelta(hours=5, minutes=45)), timezone(timedelta(hours=-8))]

# Of texts that begin alike, also in other letters: their partitions and sort keys are neighbours.
USERS = [UserId(name) for name in ("ada", "ada2", "ad", "Ada", "åda", "UNREAD", "zoe")]
NEW_USER = UserId("zoe")  # has nothing yet
HEAVY_USER = UserId("ada2")  # has more of everything than a page of 1 MB holds
NOBODY = UserId("a")

CARD_IDS = [CardId(text) for text in ("c", "c1", "c10", "c100", "c2", "C1", "c1-b", "cé", "~", "0")]
HEAVY_CARD = CardId("c10")  # has more comments than a page of 1 MB holds
VOTED_CARD = CardId("c1")  # has more than a thousand votes
HATED_CARD = CardId("c2")
WORDY_CARD = CardId("wordy")
GONE = CardId("gone")

CATEGORIES = [CategoryId(text) for text in ("wood", "wood2", "woo", "Wood", "métal", "metal", "glue")]
HEAVY_CATEGORY = CategoryId("metal")
HEAVY_DAY = datetime(2040, 2, 20, 3, tzinfo=UTC)
COLLECTION_IDS = [CollectionId(text) for text in ("l", "l1", "l10", "l2", "L1", "l1-b", "~")]
HEAVY_COLLECTION = CollectionId("l10")  # holds more cards than one batch gets
TITLES = ["Perfect Oak Finish", "Öl für die Möbel", "OAK-BARK", "Finish what is oaken", "An oak"]


def moment(chance: random.Random) -> datetime:
    """Return one of few moments before now, so that many are equal, on a clock that hangs somewhere."""
    return somewhere(chance, NOW - MILLISECOND * chance.choice([0, 1, 2, 999, 1000, 86_400_000]))


def somewhere(chance: random.Random, at: datetime) -> datetime:
    """Return the same moment on a clock that hangs somewhere."""
    return at.astimezone(chance.choice(ZONES))


def maybe(chance: random.Random, value: T) -> T | None:
    return value if chance.random() < 0.5 else None


def long_text(chance: random.Random, most: int) -> str:
    """Return a text of nearly so many bytes; some of its letters take two."""
    return ("größer, glatter, schöner " * (most // 24))[: chance.randint(most * 3 // 4, most * 5 // 6)]
