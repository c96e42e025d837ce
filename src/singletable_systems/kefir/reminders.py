"""Reminders: made, put off and cancelled. Who sends them is the dispatcher."""

from __future__ import annotations

from datetime import datetime

from singletable import Check, Create, Eq, Ne
from singletable.errors import ConditionNotMetError, NotFoundError
from singletable.systems import NewId, OrderedIds
from singletable_systems.kefir.design import Kefir
from singletable_systems.kefir.entities import Reminder
from singletable_systems.kefir.errors import (
    BatchNotFoundError,
    InvalidInputError,
    ReminderNotFoundError,
    ReminderRefusedError,
)
from singletable_systems.kefir.keys import BatchId, ReminderId, UserId
from singletable_systems.kefir.queueing import cancel_pending


class Reminders:
    """What the owner of a batch does with its reminders.

    All of it goes by keys and conditions, not by the version that somebody has read: the handler of the stream and
    the dispatcher write to the same items.
    """

    def __init__(self, db: Kefir, *, new_id: NewId | None = None) -> None:
        self._db = db
        self._new_id = OrderedIds(db.now) if new_id is None else new_id

    def remind(self, user_id: UserId, batch_id: BatchId, message: str, due_at: datetime) -> Reminder:
        """Make a reminder of a batch. One whose moment is over already is sent at once."""
        if not message.strip():
            raise InvalidInputError("a reminder says something")
        reminder = Reminder(
            reminder_id=ReminderId(self._new_id()),
            batch_id=batch_id,
            user_id=user_id,
            message=message,
            due_at=due_at,
        )
        is_in_use = Check(self._db.own_batch(user_id, batch_id), when=Ne("status", "archived"))
        try:
            self._db.transaction(is_in_use, Create(reminder))
        except NotFoundError as error:
            raise BatchNotFoundError(batch_id) from error
        except ConditionNotMetError as error:
            raise ReminderRefusedError(f"batch {batch_id} is archived") from error
        return reminder

    def reschedule(self, batch_id: BatchId, reminder_id: ReminderId, due_at: datetime) -> Reminder:
        """Give a pending reminder another moment. If it is just being sent, it is sent at the new one too."""
        stored = self._db.reminder(batch_id, reminder_id)
        anew = {"due_at": due_at, "next_try_at": due_at, "attempts": 0, "failure": None}
        try:
            return self._db.update(stored, when=Eq("status", "pending"), **anew).entity
        except NotFoundError as error:
            raise ReminderNotFoundError(reminder_id) from error
        except ConditionNotMetError as error:
            raise _closed(self._stored(batch_id, reminder_id)) from error

    def cancel(self, batch_id: BatchId, reminder_id: ReminderId) -> Reminder:
        """Cancel a pending reminder. To cancel it twice does no harm; what was sent cannot be cancelled."""
        try:
            return cancel_pending(self._db, batch_id, reminder_id)
        except NotFoundError as error:
            raise ReminderNotFoundError(reminder_id) from error
        except ConditionNotMetError as error:
            stored = self._stored(batch_id, reminder_id)
            if stored.status != "cancelled":
                raise _closed(stored) from error
            return stored

    def _stored(self, batch_id: BatchId, reminder_id: ReminderId) -> Reminder:
        stored = self._db.reminder(batch_id, reminder_id).maybe()
        if stored is None:
            raise ReminderNotFoundError(reminder_id)
        return stored


def _closed(stored: Reminder) -> ReminderRefusedError:
    return ReminderRefusedError(
        f"reminder {stored.reminder_id} of batch {stored.batch_id} is {stored.status}"
    )
