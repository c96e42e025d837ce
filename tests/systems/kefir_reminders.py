"""Brewers with devices, batches and reminders, and push services that do what a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from singletable.client import EmbeddedClient
from singletable.clock import ManualClock
from singletable.database import Database
from singletable.design import Design
from singletable_systems.kefir.model.entities import Batch, Device, Preferences, Reminder, User
from singletable_systems.kefir.model.keys import BatchId, DeviceId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.push import Message, Ticket

USER = UserId("u1")
BATCH = BatchId("b1")


def brewer(
    db: Kefir,
    user_id: UserId = USER,
    batch_id: BatchId = BATCH,
    *,
    devices: int = 1,
    notifications: bool | None = None,
) -> None:
    """Make a user with a batch and devices; the token of device 1 of u1 is u1-1."""
    preferences = None
    if notifications is not None:
        preferences = Preferences(notifications_enabled=notifications, default_temperature_c=Decimal(22))
    db.create(User(user_id=user_id, email=f"{user_id}@example.com", preferences=preferences))
    db.create(batch(db, user_id, batch_id))
    for number in range(1, devices + 1):
        db.create(
            Device(
                device_id=DeviceId(f"d{number}"),
                user_id=user_id,
                platform="ios",
                push_token=f"{user_id}-{number}",
                last_seen_at=db.now(),
            )
        )


def batch(db: Kefir, user_id: UserId, batch_id: BatchId) -> Batch:
    """Return a batch that was started just now."""
    return Batch(
        batch_id=batch_id,
        user_id=user_id,
        name="Ginger",
        water_volume_ml=Decimal(1000),
        sugar_grams=Decimal("37.5"),
        temperature_c=Decimal(22),
        start_time=db.now(),
        target_hours_stage1=Decimal(48),
    )


def remind(
    db: Kefir,
    reminder_id: str,
    *,
    minutes: float = 0,
    due_at: datetime | None = None,
    user_id: UserId = USER,
    batch_id: BatchId = BATCH,
) -> Reminder:
    """Make a reminder that is due so many minutes from now; its message is its id."""
    return db.create(
        Reminder(
            reminder_id=ReminderId(reminder_id),
            batch_id=batch_id,
            user_id=user_id,
            message=reminder_id,
            due_at=db.now() + timedelta(minutes=minutes) if due_at is None else due_at,
        )
    ).entity


def stored(db: Kefir, reminder_id: str, batch_id: BatchId = BATCH) -> Reminder:
    """Return a reminder as it is now."""
    return db.reminder(batch_id, ReminderId(reminder_id)).one()


def queue(db: Kefir) -> list[str]:
    """Return the ids in the queue, of whatever moment."""
    return [reminder.reminder_id for reminder in db.due(db.now() + timedelta(days=10_000)).all()]


def minutes_pass(clock: ManualClock, minutes: float) -> None:
    clock.advance(60 * minutes)


def database(db: Design) -> Database:
    client = db.session.client
    assert isinstance(client, EmbeddedClient)
    return client.database


class ScriptedPush:
    """Remembers what it was given, answers as the test says for a token, and lets the test act meanwhile."""

    def __init__(self) -> None:
        self.calls: list[list[Message]] = []
        self.errors: dict[str, str] = {}
        self.meanwhile: Callable[[], object] = lambda: None

    def send(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        self.calls.append(list(messages))
        self.meanwhile()
        return [Ticket(self.errors.get(message.push_token), "as the test says") for message in messages]

    @property
    def bodies(self) -> list[str]:
        """The messages, in the order in which they were sent."""
        return [message.body for call in self.calls for message in call]

    @property
    def tokens(self) -> list[str]:
        return [message.push_token for call in self.calls for message in call]
