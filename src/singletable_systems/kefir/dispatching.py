"""The dispatcher: it finds the due reminders of all users, without a scan, and sends each of them once.

Several dispatchers may be at work. Whoever wants to send a reminder claims it first, by a conditional write that
one of them wins, and afterwards marks it as sent, which takes it out of the queue. So a reminder is sent once; and
once more, after its claim has run out, if a dispatcher dies between the two, or the answer of the push service is
lost. Messages name their reminder, by which an app can tell that it was shown before.

Items that are not valid, whoever has stored them, stop nothing else: an invalid reminder is logged and left where
it is, and the reminders of an invalid user are put off.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from singletable import Eq, Exists, Le
from singletable.errors import (
    ConditionNotMetError,
    InvalidItemError,
    NotFoundError,
    VersionConflictError,
)
from singletable.systems import Worker
from singletable_systems.kefir.design import Kefir
from singletable_systems.kefir.entities import Device, Reminder
from singletable_systems.kefir.keys import BatchId, ReminderId, UserId
from singletable_systems.kefir.pushing import LocalPush, Message, Push, Ticket

logger = logging.getLogger("singletable.kefir")

# Longer than a page of reminders takes, and than the clocks of two machines differ.
CLAIM: Final = timedelta(minutes=5)
# After 5, 10, 20 and 40 minutes more; then it is given up.
RETRY_AFTER: Final = timedelta(minutes=5)
ATTEMPTS_MAX: Final = 5

PAGE_REMINDERS: Final = 50
STEP_REMINDERS_MAX: Final = 1000
EVERY_S: Final = 5.0

_TITLE: Final = "Kefir"
_FAILURE_LENGTH_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class _Recipient:
    """The devices of a user; or none, because nothing is to be sent, or nothing can be sent for now."""

    devices: Sequence[Device] = ()
    why_not: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class _Delivery:
    """A reminder that is ours, whom it goes to, and what became of the messages."""

    reminder: Reminder
    recipient: _Recipient
    tickets: Sequence[Ticket]


class Dispatcher:
    """Sends reminders that are due."""

    def __init__(self, db: Kefir, push: Push) -> None:
        self._db = db
        self._push = push
        self._known_invalid: set[str] = set()  # what the last sweep has set aside

    def send_due(self, now: datetime | None = None, *, limit: int = STEP_REMINDERS_MAX) -> int:
        """Send the reminders that are due now, a page at a time, so many at most; return how many were sent.

        Invalid ones are logged when they are first found, not by every sweep.
        """
        invalid: set[str] = set()

        def report(error: InvalidItemError) -> None:
            if error.message not in self._known_invalid and error.message not in invalid:
                _log_invalid(error)
            invalid.add(error.message)

        due = self._db.due(self._db.now() if now is None else now).setting_aside(report)
        sent = taken = 0
        cursor: str | None = None
        while taken < limit:
            page = due.page(min(PAGE_REMINDERS, limit - taken), cursor)
            claimed = self._claim_free(page.items)
            taken += len(claimed)
            sent += self._send(claimed)
            if page.cursor is None:
                break
            cursor = page.cursor
        self._known_invalid = invalid
        return sent

    def send_one(self, batch_id: BatchId, reminder_id: ReminderId) -> bool:
        """Send one reminder if it is due, and nobody else is sending it; tell whether it was sent."""
        claimed = self._claim(batch_id, reminder_id)
        return claimed is not None and self._send([claimed]) == 1

    def handle(self, event: Mapping[str, str], context: object) -> dict[str, bool]:
        """Send the reminder of a schedule that has run: the function that EventBridge Scheduler invokes."""
        return {"sent": self.send_one(BatchId(event["batchId"]), ReminderId(event["reminderId"]))}

    # --- claims ----------------------------------------------------------------------------------

    def _claim_free(self, found: Iterable[Reminder]) -> list[Reminder]:
        """Claim what was found and is not seen to be somebody else's."""
        claimed: list[Reminder] = []
        for reminder in found:
            if reminder.claimed_until is not None and reminder.claimed_until > self._db.now():
                continue  # a write that is refused costs as much as one that is not
            try:
                mine = self._claim(reminder.batch_id, reminder.reminder_id)
            except InvalidItemError as error:  # since it was found
                _log_invalid(error)
                continue
            if mine is not None:
                claimed.append(mine)
        return claimed

    def _claim(self, batch_id: BatchId, reminder_id: ReminderId) -> Reminder | None:
        """Claim a reminder as it is now; an index may tell of the past. None: it is not to be sent by us."""
        now = self._db.now()
        is_free = ~Exists("claimed_until") | Le("claimed_until", now)
        to_send = Eq("status", "pending") & Le("due_at", now) & is_free
        try:
            stored = self._db.reminder(batch_id, reminder_id)
            return self._db.update(stored, when=to_send, claimed_until=now + CLAIM).entity
        except (ConditionNotMetError, NotFoundError):
            return None

    # --- sending ---------------------------------------------------------------------------------

    def _send(self, claimed: Sequence[Reminder]) -> int:
        """Push reminders together, then write down what became of each; return how many were sent."""
        sent = 0
        errors: list[Exception] = []
        deliveries = self._deliver(claimed)
        for delivery in deliveries:
            try:
                sent += self._settle(delivery)
            except Exception as error:  # the others were pushed too, and would be pushed again
                errors.append(error)
        if errors:
            raise ExceptionGroup(
                f"{len(errors)} of {len(claimed)} reminders are left to be tried again", errors
            )
        self._forget_gone(deliveries)
        return sent

    def _deliver(self, claimed: Sequence[Reminder]) -> list[_Delivery]:
        recipients = {user_id: self._recipient(user_id) for user_id in {each.user_id for each in claimed}}
        messages = [
            _message(reminder, device)
            for reminder in claimed
            for device in recipients[reminder.user_id].devices
        ]
        tickets = iter(self._push_all(messages))
        deliveries: list[_Delivery] = []
        for reminder in claimed:
            recipient = recipients[reminder.user_id]
            got = [next(tickets) for _ in recipient.devices]
            deliveries.append(_Delivery(reminder, recipient, got))
        return deliveries

    def _recipient(self, user_id: UserId) -> _Recipient:
        """Return the devices of a user; or none, and why. Without a valid user nobody knows what they want."""
        try:
            user = self._db.user(user_id).maybe()
        except InvalidItemError as error:
            _log_invalid(error)
            return _Recipient(failure=error.message)
        if user is None:
            return _Recipient(why_not="the user is gone")
        if user.preferences is not None and not user.preferences.notifications_enabled:
            return _Recipient(why_not="notifications are turned off")
        invalid: list[InvalidItemError] = []
        devices = list(self._db.devices(user_id).consistent().setting_aside(invalid.append).all())
        for each in invalid:
            _log_invalid(each)
        if invalid:
            return _Recipient(devices, failure=invalid[0].message)
        return _Recipient(devices, why_not=None if devices else "there is no device")

    def _push_all(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        if not messages:
            return ()
        try:
            tickets = self._push.send(messages)
            if len(tickets) != len(messages):
                raise ValueError(f"{len(tickets)} tickets for {len(messages)} messages")
            return tickets
        except Exception as error:
            logger.exception("pushing %d messages failed", len(messages))
            return [Ticket(type(error).__name__, str(error))] * len(messages)

    # --- what became of it -----------------------------------------------------------------------

    def _settle(self, delivery: _Delivery) -> bool:
        """Write down what became of a reminder; tell whether it was sent. One device that took it is enough."""
        reminder, recipient, tickets = delivery.reminder, delivery.recipient, delivery.tickets
        if any(ticket.is_ok for ticket in tickets):
            return self._close(reminder, status="sent", sent_at=self._db.now(), failure=None)
        failed = [ticket for ticket in tickets if not ticket.is_device_gone]
        failure = str(failed[0]) if failed else recipient.failure
        if failure is not None:
            self._put_off(reminder, failure[:_FAILURE_LENGTH_MAX])
        else:
            self._cancel(reminder, recipient.why_not or "there is no device any more")
        return False

    def _put_off(self, reminder: Reminder, failure: str) -> None:
        """Let a reminder be tried again, ever later; or give it up."""
        attempts = reminder.attempts + 1
        if attempts >= ATTEMPTS_MAX:
            self._cancel(reminder, failure, attempts=attempts)
            return
        again_at = self._db.now() + RETRY_AFTER * 2 ** (attempts - 1)
        self._change(reminder, attempts=attempts, failure=failure, claimed_until=again_at)

    def _cancel(self, reminder: Reminder, failure: str, **changes: object) -> None:
        self._close(reminder, status="cancelled", cancelled_at=self._db.now(), failure=failure, **changes)

    def _close(self, reminder: Reminder, **changes: object) -> bool:
        return self._change(reminder, claimed_until=None, **changes)

    def _change(self, reminder: Reminder, **changes: object) -> bool:
        """Change a reminder while it is ours: not if it was cancelled or put off, or another has claimed it."""
        is_ours = Eq("status", "pending") & Eq("claimed_until", reminder.claimed_until)
        # The handler of the stream may have stored a schedulerArn since: another version, and ours all the same.
        for target in (reminder, self._db.reminder(reminder.batch_id, reminder.reminder_id)):
            try:
                self._db.update(target, when=is_ours, **changes)
            except VersionConflictError:
                continue
            except (ConditionNotMetError, NotFoundError):
                return False
            return True
        return False

    def _forget_gone(self, deliveries: Iterable[_Delivery]) -> None:
        """Delete devices to which nothing is to be sent again, unless they have another token by now."""
        gone = {
            device.push_token: device
            for delivery in deliveries
            for device, ticket in zip(delivery.recipient.devices, delivery.tickets, strict=True)
            if ticket.is_device_gone
        }
        for push_token, device in gone.items():
            with suppress(ConditionNotMetError, NotFoundError):
                self._db.delete(device, when=Eq("push_token", push_token))


def _log_invalid(error: InvalidItemError) -> None:
    logger.error("left out: %s", error.message)


def _message(reminder: Reminder, device: Device) -> Message:
    data = {"batchId": reminder.batch_id, "reminderId": reminder.reminder_id}
    return Message(device.push_token, _TITLE, reminder.message, data)


def workers(db: Kefir, push: Push | None = None) -> tuple[Worker, ...]:
    """Return what runs beside an open Kefir: a dispatcher, which looks for due reminders every few seconds."""
    dispatcher = Dispatcher(db, LocalPush() if push is None else push)
    return (Worker("kefir-dispatcher", EVERY_S, dispatcher.send_due),)
