"""A Kefir at a moment: every item, and the answer of every pattern to all that could be asked, by brute force."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_args

from singletable import Entity, Get, Lookup, Merged, Query
from singletable.design import Collect
from singletable_systems.kefir import Batch, Device, Kefir, Reminder, Status, User
from support.opened_designs import stored_items
from systems.brute_force import BruteForce
from systems.kefir_users import everything

STATUSES: tuple[Status, ...] = get_args(Status)
Question = tuple[str, tuple[Any, ...]]


class KefirPast:
    """What is stored at this moment; to be found again in a table that is restored."""

    def __init__(self, db: Kefir) -> None:
        self.now = db.now()
        self.indexes = everything(db)
        self.entities = list(_entities(db))
        self.questions = list(self._questions())

    def assert_found_in(self, db: Kefir) -> None:
        """Assert that a table is the one of the moment, in every way in which it can be looked at."""
        assert list(db.drift()) == []
        assert db.verify().is_clean
        assert everything(db) == self.indexes
        brute = BruteForce(self.entities, self.now)
        for pattern, arguments in self.questions:
            found = _answer(getattr(db, pattern)(*arguments))
            assert found == _answer(getattr(brute, pattern)(*arguments)), (pattern, arguments)

    def is_found_in(self, db: Kefir) -> bool:
        return everything(db) == self.indexes

    def patterns(self) -> set[str]:
        """Return the patterns that are asked something."""
        return {pattern for pattern, _ in self.questions}

    def all(self, kind: type[Any]) -> list[Any]:
        return [entity for entity in self.entities if isinstance(entity, kind)]

    def _questions(self) -> Iterator[Question]:
        yield "due", (self.now,)
        yield from (("batches_by_status", (status,)) for status in STATUSES)
        for user in self.all(User):
            yield "user_by_email", (user.email.upper(),)
            yield from ((name, (user.user_id,)) for name in ("user", "batches", "devices", "user_data"))
            yield from (("batches_in", (user.user_id, status)) for status in STATUSES)
            yield "upcoming", (user.user_id, self.now, 7)
        for batch in self.all(Batch):
            for name in ("batch_by_id", "batch_view", "public_batch", "batch_activity"):
                yield name, (batch.batch_id,)
            yield from ((name, (batch.batch_id,)) for name in ("events", "reminders"))
            yield "own_batch", (batch.user_id, batch.batch_id)
            yield "events_since", (batch.batch_id, self.now - timedelta(days=5))
        yield from (("reminder", (each.batch_id, each.reminder_id)) for each in self.all(Reminder))
        for device in self.all(Device):
            yield "device", (device.user_id, device.device_id)
            yield "device_by_push_token", (device.push_token,)


def _entities(db: Kefir) -> Iterator[Entity]:
    for item in stored_items(db):
        schema = Kefir.catalog.schema_of(item)
        if schema is not None:
            yield schema.to_entity(item)


def _answer(found: Any) -> Any:
    if isinstance(found, Get | Lookup | Collect):
        return found.maybe()
    if isinstance(found, Query | Merged):
        found = list(found.all())
    # Reminders of one moment come in no defined order.
    if isinstance(found, list) and any(isinstance(each, Reminder) for each in found):
        return sorted(found, key=lambda reminder: (reminder.due_at, reminder.reminder_id))
    return found
