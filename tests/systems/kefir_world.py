"""A Kefir full of traps, from one seed.

Users, batches and devices whose ids begin alike; equal moments, moments of other time zones and of single
milliseconds; reminders of every status beside events in one partition; devices whose time is over; batches that
are private; fractions; and places that hold more than a page of 1 MB: a user's partition, two of batches, a shard
of a status and a shard of the queue of reminders.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, get_args

from singletable import Entity
from singletable_systems.kefir.model.entities import (
    Batch,
    BatchEvent,
    Device,
    DeviceInfo,
    EventType,
    Platform,
    Preferences,
    Reminder,
    ReminderStatus,
    User,
)
from singletable_systems.kefir.model.keys import BatchId, DeviceId, EventId, ReminderId, Stage, Status, UserId

# Far ahead, so that no target whose clock is the machine's takes what has expired by this clock away.
NOW = datetime(2040, 1, 15, 10, 30, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
DEVICE_LIFE = timedelta(days=270)

STATUSES: tuple[Status, ...] = get_args(Status)
ZONES = [UTC, timezone(timedelta(hours=5, minutes=45)), timezone(timedelta(hours=-8))]

# Of texts that begin alike, also in other letters: their partitions and sort keys are neighbours.
USERS = [UserId(name) for name in ("ada", "ada2", "ad", "Ada", "åda", "zoe")]
NEW_USER = UserId("zoe")  # has nothing yet
HEAVY_USER = UserId("ada2")
HEAVY_BATCH = BatchId("k10")
HEAVY_REMINDERS_BATCH = BatchId("k-1")  # of the heavy user
LONG_BATCH = BatchId("k1")  # has more events than a view shows
BATCH_IDS = ["k", "k1", "k10", "k100", "k2", "K1", "k1 b", "ké", "~", "0"]

# Around the moments that patterns ask for: exactly at them, and a millisecond off.
DUE_AFTER_NOW = [
    timedelta(days=-40),
    timedelta(hours=-1),
    -MILLISECOND,
    timedelta(0),
    MILLISECOND,
    timedelta(hours=12),
    timedelta(days=7) - MILLISECOND,
    timedelta(days=7),
    timedelta(days=7) + MILLISECOND,
    timedelta(days=400),
]


@dataclass(frozen=True)
class World:
    """Everything that is in the table, as it is read back."""

    entities: tuple[Entity, ...]
    strangers: tuple[dict[str, Any], ...]


def make_world(seed: int = 20400115) -> World:
    """Make the data of a seed."""
    chance = random.Random(seed)
    batches = [*_small_batches(chance), *_heavy_batches(chance)]
    entities = [
        *_users(chance),
        *batches,
        *_events(chance, batches),
        *_heavy_events(chance),
        *_reminders(chance, batches),
        *_heavy_reminders(chance),
        *_devices(chance),
    ]
    return World(tuple(entities), _strangers())


def as_stored(entity: Any) -> Any:
    """Return an entity as it is read after it was created by a clock that stands at `NOW`."""
    filled: dict[str, Any] = {}
    if "version" in type(entity).model_fields:
        filled["version"] = 1
    if "updated_at" in type(entity).model_fields:
        filled["updated_at"] = NOW
    if isinstance(entity, Device):
        filled["ttl"] = (entity.last_seen_at + DEVICE_LIFE).replace(microsecond=0)
    return entity.model_copy(update=filled)


# --- values -----------------------------------------------------------------------------------------------


def _moment(chance: random.Random, moment: datetime) -> datetime:
    """Return the same moment on a clock that hangs somewhere."""
    return moment.astimezone(chance.choice(ZONES))


def _amount(chance: random.Random) -> Decimal:
    return Decimal(chance.choice(["0", "9", "10", "37.5", "99.999", "100", "1000", "0.125", "22.25"]))


def _maybe(chance: random.Random, value: Any) -> Any:
    return value if chance.random() < 0.5 else None


def long_text(chance: random.Random) -> str:
    """Return a text of 25 to 40 KB; some of its letters take two bytes."""
    return ("sött, surt och kolsyrat " * 1600)[: chance.randint(25_000, 38_000)]


# --- users and devices --------------------------------------------------------------------------------------


def _users(chance: random.Random) -> Iterator[User]:
    for number, user_id in enumerate(USERS):
        yield User(
            user_id=user_id,
            email=f"{'Brewer' if number % 2 else 'brewer'}.{number}@Example.com",
            name=_maybe(chance, f"Brewer {number}"),
            created_at=_moment(chance, NOW - timedelta(days=number)),
            preferences=_maybe(
                chance,
                Preferences(notifications_enabled=number % 3 == 0, default_temperature_c=_amount(chance)),
            ),
        )


def _devices(chance: random.Random) -> Iterator[Device]:
    # Seen just now, within the time that a device lives, and at its very end: a second before, at it, after it.
    ages = [timedelta(0), timedelta(days=9), *(DEVICE_LIFE + timedelta(seconds=s) for s in (-1, 0, 1))]
    for user_id in USERS:
        if user_id == NEW_USER:
            continue
        for number, age in enumerate(ages):
            yield Device(
                device_id=DeviceId(f"d{10**number}"),
                user_id=user_id,
                platform=chance.choice(get_args(Platform)),
                push_token=f"ExponentPushToken[{user_id}-{number}]",
                device_info=_maybe(chance, DeviceInfo(model="Pixel 9", os_version=_maybe(chance, "16"))),
                created_at=_moment(chance, NOW - timedelta(days=300)),
                last_seen_at=_moment(chance, NOW - age),
            )


# --- batches ------------------------------------------------------------------------------------------------


def _batch(chance: random.Random, user_id: UserId, batch_id: str, **fields: Any) -> Batch:
    stage: Stage = chance.choice(get_args(Stage))
    values: dict[str, Any] = {
        "name": f"Batch {batch_id}",
        "stage": stage,
        "status": chance.choice(STATUSES),
        "water_volume_ml": _amount(chance),
        "sugar_grams": _amount(chance),
        "fruits": _maybe(chance, "ginger, lemon"),
        "temperature_c": _amount(chance),
        "start_time": _moment(chance, NOW - timedelta(hours=chance.randint(1, 99))),
        "target_hours_stage1": _amount(chance),
        # Few moments, so that many are equal, and some a millisecond apart.
        "created_at": _moment(chance, NOW - MILLISECOND * chance.choice([0, 1, 999, 1000, 86_400_000])),
        "is_public": chance.choice([None, False, True]),
    }
    if stage == 2:
        values |= {"bottle_count": chance.choice([2, 10, 12]), "bottle_volume_ml": _amount(chance)}
    return Batch(user_id=user_id, batch_id=BatchId(batch_id), **{**values, **fields})


def _small_batches(chance: random.Random) -> Iterator[Batch]:
    yield from (_batch(chance, USERS[0], batch_id) for batch_id in BATCH_IDS)
    for number, user_id in enumerate(USERS[1:-1], 1):
        yield from (_batch(chance, user_id, f"{batch_id}-{number}") for batch_id in BATCH_IDS)


def _heavy_batches(chance: random.Random) -> Iterator[Batch]:
    """Make batches of which the ready ones fill a shard of their status: all others of it are nearly empty."""
    number = shard_items = 0
    while shard_items < 36:
        batch = _batch(chance, HEAVY_USER, f"h{number}", status="ready", public_note=long_text(chance))
        number += 1
        if batch.by_status[0].shard == 2:
            shard_items += 1
            yield batch


# --- events -------------------------------------------------------------------------------------------------


def _event(chance: random.Random, batch_id: BatchId, number: int, **fields: Any) -> BatchEvent:
    kind: EventType = chance.choice(get_args(EventType))
    values: dict[str, Any] = {"type": kind, "created_at": _moment(chance, NOW - MILLISECOND * (number // 3))}
    match kind:
        case "photo":
            values |= {"photo_url": "https://example.com/p.jpg", "photo_key": f"{batch_id}/{number}"}
        case "note":
            values |= {"note": "smells of bread"}
        case "stage_transition":
            values |= {"from_stage": 1, "to_stage": 2}
        case "status_change":
            values |= {"from_status": "active", "to_status": chance.choice(STATUSES)}
    return BatchEvent(batch_id=batch_id, event_id=EventId(f"e{number}"), **{**values, **fields})


def _events(chance: random.Random, batches: list[Batch]) -> Iterator[BatchEvent]:
    """Make events of which three share each millisecond."""
    for batch in batches:
        if batch.batch_id.startswith("h") or batch.batch_id == HEAVY_BATCH:
            continue
        count = 31 if batch.batch_id == LONG_BATCH else chance.randint(0, 7)
        yield from (_event(chance, batch.batch_id, number) for number in range(count))


def _heavy_events(chance: random.Random) -> Iterator[BatchEvent]:
    for number in range(48):
        yield _event(chance, HEAVY_BATCH, number, type="note", note=long_text(chance))


# --- reminders ----------------------------------------------------------------------------------------------


def _reminder(chance: random.Random, batch: BatchId, user: UserId, name: str, **fields: Any) -> Reminder:
    values: dict[str, Any] = {
        "message": "taste it",
        "due_at": _moment(chance, NOW + chance.choice(DUE_AFTER_NOW)),
        "status": chance.choice(get_args(ReminderStatus)),
        "created_at": NOW,
    }
    return Reminder(reminder_id=ReminderId(name), batch_id=batch, user_id=user, **{**values, **fields})


def _reminders(chance: random.Random, batches: list[Batch]) -> Iterator[Reminder]:
    for batch in batches:
        if not batch.batch_id.startswith("h"):
            for number in range(chance.randint(0, 12)):
                made = _reminder(chance, batch.batch_id, batch.user_id, f"{batch.batch_id}-r{number}")
                # Every third was tried before, and is put off.
                later = timedelta(minutes=5 * number) if number % 3 == 2 else timedelta()
                yield made.model_copy(update={"next_try_at": made.next_try_at + later})


def _heavy_reminders(chance: random.Random) -> Iterator[Reminder]:
    """Make reminders of one user that fill a shard of the queue, and the partition of their batch."""
    number = shard_items = 0
    while shard_items < 40:
        reminder = _reminder(
            chance,
            HEAVY_REMINDERS_BATCH,
            HEAVY_USER,
            f"x{number}",
            status="pending",
            message=long_text(chance),
            due_at=_moment(chance, NOW + timedelta(minutes=chance.randint(-300, 100))),
        )
        number += 1
        if reminder.pending[0].shard == 1:
            shard_items += 1
            yield reminder


# --- what is of nobody --------------------------------------------------------------------------------------


def _strangers() -> tuple[dict[str, Any], ...]:
    """Make items of entities that the design does not know, under the prefixes of those that it does."""
    keys = [
        ("USER#ada", "BATCH#k1!"),
        ("USER#ada", "DEVICE#d1!"),
        ("USER#ada", "LIKE#1"),
        ("BATCH#k1", "EVENT#2040-01-15T10:30:00.000Z#!"),
        ("BATCH#k1", "REMINDER#!"),
    ]
    return tuple(
        {"PK": {"S": pk}, "SK": {"S": sk}, "entityType": {"S": "Stranger"}, "status": {"S": "active"}}
        for pk, sk in keys
    )
