"""The patterns of Kefir answered in plain Python, over the list of everything: slow, and plainly right.

Each method has the name and the parameters of the pattern that it answers. Texts are ordered by their bytes, and
moments by the millisecond.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

from singletable import Entity
from singletable_systems.kefir.model.design import BatchActivity, BatchView, UserData
from singletable_systems.kefir.model.entities import Batch, BatchEvent, Device, Reminder, User

E = TypeVar("E", bound=Entity)

NEWEST_EVENTS = 20


def milliseconds(moment: datetime) -> int:
    """Return a moment as a number; what is finer than a millisecond is cut off."""
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(milliseconds=1)


def in_order(rows: Iterable[E], *fields: str) -> list[E]:
    """Sort by fields, as their rendered keys are sorted."""
    return sorted(rows, key=lambda row: [_place(getattr(row, field)) for field in fields])


def _place(value: Any) -> Any:
    if isinstance(value, int | Decimal):
        return value
    return milliseconds(value) if isinstance(value, datetime) else str(value).encode()


class AnyBruteForce:
    """Finds entities in a list of all of them. What is over is not there."""

    def __init__(self, entities: Iterable[Entity], now: datetime) -> None:
        self._by_kind: defaultdict[type[Entity], list[Any]] = defaultdict(list)
        for entity in entities:
            self._by_kind[type(entity)].append(entity)
        self._now = now

    def _all(self, kind: type[E], /, **equal: Any) -> list[E]:
        return [
            entity
            for entity in self._by_kind[kind]
            if all(getattr(entity, name) == value for name, value in equal.items())
            and not self._is_over(entity)
        ]

    def _is_over(self, entity: Entity) -> bool:
        ttl = getattr(entity, "ttl", None)
        return ttl is not None and ttl <= self._now

    def _only(self, kind: type[E], /, **equal: Any) -> E | None:
        found = self._all(kind, **equal)
        assert len(found) <= 1
        return found[0] if found else None


class BruteForce(AnyBruteForce):
    """Answers the patterns of Kefir."""

    # --- users and devices -----------------------------------------------------------------------

    def user(self, user_id: str) -> User | None:
        return self._only(User, user_id=user_id)

    def user_by_email(self, email: str) -> User | None:
        found = [user for user in self._all(User) if user.email.casefold() == email.casefold()]
        return found[0] if found else None

    def devices(self, user_id: str) -> list[Device]:
        return in_order(self._all(Device, user_id=user_id), "device_id")

    def device(self, user_id: str, device_id: str) -> Device | None:
        return self._only(Device, user_id=user_id, device_id=device_id)

    def device_by_push_token(self, push_token: str) -> Device | None:
        return self._only(Device, push_token=push_token)

    # --- batches ---------------------------------------------------------------------------------

    def batches(self, user_id: str) -> list[Batch]:
        return in_order(self._all(Batch, user_id=user_id), "batch_id")

    def batches_in(self, user_id: str, status: str = "active") -> list[Batch]:
        return in_order(self._all(Batch, user_id=user_id, status=status), "batch_id")

    def batch_by_id(self, batch_id: str) -> list[Batch]:
        return self._all(Batch, batch_id=batch_id)

    def own_batch(self, user_id: str, batch_id: str) -> Batch | None:
        return self._only(Batch, user_id=user_id, batch_id=batch_id)

    def public_batch(self, batch_id: str) -> list[Batch]:
        return self._all(Batch, batch_id=batch_id, is_public=True)

    def batches_by_status(self, status: str) -> list[Batch]:
        return in_order(self._all(Batch, status=status), "created_at", "batch_id")

    # --- events and reminders --------------------------------------------------------------------

    def events(self, batch_id: str) -> list[BatchEvent]:
        return in_order(self._all(BatchEvent, batch_id=batch_id), "created_at", "event_id")

    def events_since(self, batch_id: str, since: datetime) -> list[BatchEvent]:
        known = milliseconds(since)
        return [event for event in self.events(batch_id) if milliseconds(event.created_at) > known]

    def reminders(self, batch_id: str) -> list[Reminder]:
        return in_order(self._all(Reminder, batch_id=batch_id), "reminder_id")

    def reminder(self, batch_id: str, reminder_id: str) -> Reminder | None:
        return self._only(Reminder, batch_id=batch_id, reminder_id=reminder_id)

    def upcoming(self, user_id: str, now: datetime, days: int | None = None) -> list[Reminder]:
        """Those of one moment come in no defined order."""
        pending = in_order(self._all(Reminder, user_id=user_id, status="pending"), "due_at")
        first = milliseconds(now)
        found = [reminder for reminder in pending if milliseconds(reminder.due_at) >= first]
        if days is None:
            return found
        last = milliseconds(now + timedelta(days=days))
        return [reminder for reminder in found if milliseconds(reminder.due_at) <= last]

    def due(self, now: datetime) -> list[Reminder]:
        """Those that are claimed or put off are not among them."""
        pending = in_order(self._all(Reminder, status="pending"), "next_try_at", "reminder_id")
        return [reminder for reminder in pending if milliseconds(reminder.next_try_at) < milliseconds(now)]

    # --- collections -----------------------------------------------------------------------------

    def batch_view(self, batch_id: str) -> BatchView | None:
        batch = self._only(Batch, batch_id=batch_id)
        if batch is None:
            return None
        newest = self.events(batch_id)[::-1][:NEWEST_EVENTS]
        return BatchView(batch=batch, events=newest, reminders=self.reminders(batch_id))

    def user_data(self, user_id: str) -> UserData | None:
        user = self.user(user_id)
        if user is None:
            return None
        return UserData(user=user, batches=self.batches(user_id), devices=self.devices(user_id))

    def batch_activity(self, batch_id: str) -> BatchActivity:
        return BatchActivity(events=self.events(batch_id), reminders=self.reminders(batch_id))
