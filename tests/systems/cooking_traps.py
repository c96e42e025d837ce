"""What the data of Smart Cooking's tests is made of: ids that begin alike, moments at the edges, long texts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import TypeVar

from singletable_systems.smart_cooking.model.keys import PostId, RecipeId, UserId

T = TypeVar("T")

# The very beginning of a month, after a February of 29 days: what was cooked lately lies in other months. It is
# far ahead, so that no target whose clock is the machine's takes what has expired by this clock away.
NOW = datetime(2040, 3, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
ZONES = [UTC, timezone(timedelta(hours=7)), timezone(timedelta(hours=-8))]

# Of texts that begin alike, also in other letters: their partitions and sort keys are neighbours.
USERS = [UserId(name) for name in ("ada", "ada2", "ad", "Ada", "åda", "PUBLI", "zoe")]
NEW_USER = UserId("zoe")  # has a profile, and nothing else
HEAVY_USER = UserId("ada2")  # has more of everything than a page of 1 MB holds
COOKS = [user_id for user_id in USERS if user_id != NEW_USER]
NOBODY = UserId("a")

RECIPE_IDS = [RecipeId(text) for text in ("r", "r1", "r10", "r100", "r2", "R1", "r1-b", "ré", "~", "0")]
POST_IDS = [PostId(text) for text in ("p", "p1", "p10", "p100", "p2", "P1", "p1-b", "pé", "~", "0")]
GONE = RecipeId("gone")

# Before now: exactly at the edges that patterns ask about, and a millisecond off.
AGES = [
    -MILLISECOND,
    timedelta(0),
    MILLISECOND,
    timedelta(hours=12),
    timedelta(days=1),
    timedelta(days=29),
    timedelta(days=29) + MILLISECOND,  # the last moment of January
    timedelta(days=30) - MILLISECOND,
    timedelta(days=30),
    timedelta(days=60) - MILLISECOND,
    timedelta(days=60),
    timedelta(days=60) + MILLISECOND,
    timedelta(days=365),
    timedelta(days=365) + MILLISECOND,
]


def moment(chance: random.Random, ages: Sequence[timedelta] = AGES) -> datetime:
    """Return a moment before now, on a clock that hangs somewhere."""
    return (NOW - chance.choice(ages)).astimezone(chance.choice(ZONES))


def maybe(chance: random.Random, value: T) -> T | None:
    return value if chance.random() < 0.5 else None


def long_text(chance: random.Random, most: int) -> str:
    """Return a text of somewhat less than so many bytes; some of its letters take three."""
    return ("thơm ngon, cay và giòn " * (most // 20))[: chance.randint(most // 2, most * 3 // 4)]
