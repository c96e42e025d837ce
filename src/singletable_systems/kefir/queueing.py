"""The queue of reminders that are to be sent, of all users: who takes one out of it, and for how long.

It has the order of the next tries, and the first is when a reminder is due. Whoever wants to send one claims it,
by putting its next try off: a conditional write, which one of several wins. So the queue shows nobody what another
is sending, or what is to be tried again later; and what a dispatcher has claimed that died comes back by itself.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from singletable import Eq
from singletable.errors import (
    ConditionNotMetError,
    InvalidItemError,
    NotFoundError,
    VersionConflictError,
)
from singletable_systems.kefir.design import Kefir
from singletable_systems.kefir.entities import Reminder
from singletable_systems.kefir.keys import BatchId, ReminderId

logger = logging.getLogger("singletable.kefir")

# Longer than a page of reminders takes, and than the clocks of two machines differ.
CLAIM: Final = timedelta(minutes=5)


class Queue:
    """Reminders that are to be sent."""

    def __init__(self, db: Kefir) -> None:
        self._db = db
        self._known_invalid: set[str] = set()

    def sweep(self, now: datetime | None = None) -> Sweep:
        """Begin to walk through what is due now. Invalid items are logged when they are first found."""
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
    """A walk through what was due at a moment, a page at a time."""

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
