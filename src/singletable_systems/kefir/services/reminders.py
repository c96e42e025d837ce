"""Reminders: made, put off and cancelled, and the queue of all users, from which dispatchers claim them.

The queue is sorted by the time of the next try; the first try is when a reminder is due. A claim is a lease: a
conditional write that puts the next try off, and that one of several dispatchers wins. So the queue hides
reminders that another dispatcher is sending, or that are to be tried later. The reminders of a dispatcher that
died come back when their claims run out.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from singletable import Check, Create, Eq, Ne
from singletable.errors import ConditionNotMetError, InvalidItemError, NotFoundError, VersionConflictError
from singletable_systems.kefir.errors import (
    BatchNotFoundError,
    InvalidInputError,
    ReminderNotFoundError,
    ReminderRefusedError,
)
from singletable_systems.kefir.model.entities import Reminder
from singletable_systems.kefir.model.keys import BatchId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.shared.services import Service

logger = logging.getLogger("singletable.kefir")

# Longer than a page of reminders takes, and than the clocks of two machines differ.
CLAIM: Final = timedelta(minutes=5)


class Reminders(Service[Kefir]):
    """The things that the owner of a batch does with its reminders.

    All writes use keys and conditions, and not the optimistic lock on a version that was read: the handler of
    the stream and the dispatcher write to the same items.
    """

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
        """Cancel a pending reminder. Cancelling is idempotent; a reminder that was sent cannot be cancelled."""
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


# --- the queue ------------------------------------------------------------------------------------------


class Queue:
    """Reminders that are to be sent."""

    def __init__(self, db: Kefir) -> None:
        self._db = db
        self._known_invalid: set[str] = set()

    def sweep(self, now: datetime | None = None) -> Sweep:
        """Begin to walk through the reminders that are due. Invalid items are logged when they are first found."""
        return Sweep(self, self._db, self._db.now() if now is None else now, self._known_invalid)

    def claim(self, batch_id: BatchId, reminder_id: ReminderId) -> Reminder | None:
        """Claim a reminder as it is now. None: it is not due, or somebody else sends it."""
        stored = self._db.reminder(batch_id, reminder_id).maybe()
        with suppress(VersionConflictError):  # another was faster
            return None if stored is None else self._claim(stored)
        return None

    def claim_found(self, found: Reminder) -> Reminder | None:
        """Claim a reminder as it was found; or else as it is now, for an index may tell of the past."""
        try:
            return self._claim(found)
        except VersionConflictError:
            return self.claim(found.batch_id, found.reminder_id)

    def change(self, claimed: Reminder, **changes: object) -> bool:
        """Change a reminder while it is ours: not if it was cancelled or put off, or another has claimed it."""
        is_ours = Eq("status", "pending") & Eq("next_try_at", claimed.next_try_at)
        # The handler of the stream may have stored a schedulerArn since: another version, and ours all the same.
        for target in (claimed, self._db.reminder(claimed.batch_id, claimed.reminder_id)):
            try:
                self._db.update(target, when=is_ours, **changes)
            except VersionConflictError:
                continue
            except (ConditionNotMetError, NotFoundError):
                return False
            return True
        return False

    def _claim(self, reminder: Reminder) -> Reminder | None:
        """Claim a reminder unless it has changed since it was read."""
        now = self._db.now()
        if reminder.status != "pending" or reminder.next_try_at > now:
            return None
        try:
            return self._db.update(reminder, when=Eq("status", "pending"), next_try_at=now + CLAIM).entity
        except VersionConflictError:
            raise
        except (ConditionNotMetError, NotFoundError):
            return None


class Sweep:
    """A walk through the reminders that were due at a moment, a page at a time."""

    def __init__(self, queue: Queue, db: Kefir, now: datetime, known_invalid: set[str]) -> None:
        self._queue = queue
        self._due = db.due(now).setting_aside(self._set_aside)
        self._cursor: str | None = None
        self._known_invalid = known_invalid  # of the sweeps before
        self._invalid: set[str] = set()
        self.has_more = True

    def claim_page(self, size: int) -> list[Reminder]:
        """Claim the reminders of the next page, but for those that others have claimed meanwhile."""
        page = self._due.page(size, self._cursor)
        self._cursor = page.cursor
        self.has_more = page.cursor is not None
        if not self.has_more:
            self._known_invalid &= self._invalid  # the others were repaired
        claimed: list[Reminder] = []
        for found in page.items:
            try:
                mine = self._queue.claim_found(found)
            except InvalidItemError as error:  # since it was found
                log_invalid(error)
                continue
            if mine is not None:
                claimed.append(mine)
        return claimed

    def _set_aside(self, error: InvalidItemError) -> None:
        if error.message not in self._known_invalid:
            log_invalid(error)
        self._known_invalid.add(error.message)
        self._invalid.add(error.message)


def cancel_pending(db: Kefir, batch_id: BatchId, reminder_id: ReminderId) -> Reminder:
    """Take a reminder out of the queue by cancelling it. If it was sent or cancelled before, that is an error."""
    stored = db.reminder(batch_id, reminder_id)
    is_pending = Eq("status", "pending")
    return db.update(stored, when=is_pending, status="cancelled", cancelled_at=db.now()).entity


def log_invalid(error: InvalidItemError) -> None:
    """Log that an item is left out because it is not valid."""
    logger.error("left out: %s", error.message)
