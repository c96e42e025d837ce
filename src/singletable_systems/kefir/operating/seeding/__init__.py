"""Made-up data: people who brew water kefir, with their batches, timelines, reminders and devices.

All of it is a function of the size and the day, and nothing else: another day moves every time, and changes
nothing more. It is made as it is asked for, user by user: a large amount takes no more memory than a small one.

people.py    users and their devices
recipes.py   what goes into a jar, and what people write about it
stories.py   batches from the jar to the end, with what happened on the way and what the owner is reminded of
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Final

from singletable import Entity
from singletable.systems import Samples, Seed, Size
from singletable_systems.kefir.model.keys import BatchId, ReminderId
from singletable_systems.kefir.operating.seeding.people import FIRST_USER, device_count, devices, user
from singletable_systems.kefir.operating.seeding.stories import Kind, entity_count, story

# With the locks of addresses and push tokens that makes 1,056 and 249,920 items.
USER_COUNTS: Final[dict[Size, int]] = {"small": 12, "large": 2840}

# What a usual user has, a keen one and one who has hardly begun; of four users, two are usual (003:324-331).
_USUAL: Final[tuple[Kind, ...]] = (
    *("drunk", "drunk", "spoiled", "drunk", "ready", "ready"),
    *("in_fridge", "in_bottles", "in_jar", "in_jar"),
)
_KEEN: Final[tuple[Kind, ...]] = ("drunk", "drunk", "ready", "in_jar", *_USUAL)
_NEW: Final[tuple[Kind, ...]] = ("drunk", "spoiled", "ready", "in_fridge", "in_bottles", "in_jar")
_BATCHES: Final = (_USUAL, _KEEN, _USUAL, _NEW)


def seed(size: Size, day: date) -> Seed:
    """Make up data of a size, as of the beginning of a day."""
    return Seed(_count(size), _entities(size, datetime.combine(day, time(), UTC)))


def _entities(size: Size, now: datetime) -> Iterator[Entity]:
    for number in range(USER_COUNTS[size]):
        chance = Random(f"kefir {number}")
        owner = user(number, chance, now)
        yield owner
        yield from devices(owner, number, chance, now)
        for place, kind in enumerate(_batches(number)):
            yield from story(owner, place, kind, chance, now)


def _batches(number: int) -> tuple[Kind, ...]:
    return _BATCHES[number % len(_BATCHES)]


def _count(size: Size) -> int:
    return sum(
        1 + device_count(number) + sum(map(entity_count, _batches(number)))
        for number in range(USER_COUNTS[size])
    )


# --- what can be asked ----------------------------------------------------------------------------------


_SHARED: Final = BatchId(f"{FIRST_USER}-01")  # with everybody, and long over
_IN_JAR: Final = BatchId(f"{FIRST_USER}-09")


def samples(day: date) -> Samples:
    """Return the arguments of each pattern."""
    now = datetime.combine(day, time(), UTC)
    chance = Random("kefir 0")
    owner = user(0, chance, now)
    device = next(devices(owner, 0, chance, now))
    return {
        "user": {"user_id": owner.user_id},
        "user_by_email": {"email": owner.email},
        "batches": {"user_id": owner.user_id},
        "batch_by_id": {"batch_id": _IN_JAR},
        "own_batch": {"user_id": owner.user_id, "batch_id": _IN_JAR},
        "batches_by_status": {"status": "ready"},
        "batches_in": {"user_id": owner.user_id, "status": "active"},
        "batch_view": {"batch_id": _IN_JAR},
        "public_batch": {"batch_id": _SHARED},
        "events": {"batch_id": _IN_JAR},
        "events_since": {"batch_id": _SHARED, "since": now - timedelta(days=500)},
        "reminders": {"batch_id": _IN_JAR},
        "reminder": {"batch_id": _IN_JAR, "reminder_id": ReminderId(f"{_IN_JAR}-r1")},
        "upcoming": {"user_id": owner.user_id, "now": now, "days": 7},
        "due": {"now": now + timedelta(minutes=1)},
        "devices": {"user_id": owner.user_id},
        "device": {"user_id": owner.user_id, "device_id": device.device_id},
        "device_by_push_token": {"push_token": device.push_token},
        "user_data": {"user_id": owner.user_id},
        "batch_activity": {"batch_id": _IN_JAR},
    }
