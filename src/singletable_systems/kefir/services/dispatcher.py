"""The dispatcher: it finds the due reminders of all users, without a scan, and sends each of them once.

Several dispatchers may be at work. A dispatcher claims a reminder, which is a lease of a few minutes, sends it,
and marks it as sent, which takes it out of the queue. So a reminder is sent once; and once more, after its
claim has run out, if a dispatcher dies between the two, or the answer of the push service is lost. Messages
name their reminder, by which an app can tell that it was shown before.

A reminder whose messages are refused is put off, ever longer (back-off), and given up at last. While the push
service fails as a whole, no reminder is put off: the claims are given back, and the caller gets the error.

An invalid item stops nothing else: an invalid reminder is logged and left where it is, and the reminders of an
invalid user are put off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from singletable import Eq
from singletable.errors import ConditionNotMetError, InvalidItemError, NotFoundError
from singletable.systems import Step, Worker
from singletable_systems.kefir.model.entities import Device, Reminder
from singletable_systems.kefir.model.keys import BatchId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.push import (
    LocalPush,
    Message,
    Push,
    PushUnavailableError,
    Ticket,
)
from singletable_systems.kefir.services.reminders import Queue, Sweep, log_invalid

# After 5, 10, 20 and 40 minutes more; then it is given up.
RETRY_AFTER: Final = timedelta(minutes=5)
ATTEMPTS_MAX: Final = 5

PAGE_REMINDERS: Final = 50
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
    """A claimed reminder, its recipient, and the tickets of its messages, as far as the push service answered."""

    reminder: Reminder
    recipient: _Recipient
    tickets: Sequence[Ticket]

    @property
    def is_cut_off(self) -> bool:
        return len(self.tickets) < len(self.recipient.devices)


class Dispatcher:
    """Sends reminders that are due."""

    def __init__(self, db: Kefir, push: Push) -> None:
        self._db = db
        self._push = push
        self._queue = Queue(db)
        self._sweep: Sweep | None = None  # which the next step goes on with

    def send_due(self, now: datetime | None = None, *, limit: int | None = None) -> int:
        """Send the reminders that are due now, all or so many of them; return how many were sent."""
        sweep = self._queue.sweep(now)
        sent = taken = 0
        while sweep.has_more and (limit is None or taken < limit):
            size = PAGE_REMINDERS if limit is None else min(PAGE_REMINDERS, limit - taken)
            claimed = sweep.claim_page(size)
            taken += len(claimed)
            sent += self._send(claimed)
        return sent

    def step(self) -> Step:
        """Send the next page of due reminders, behind that of the step before; return how many were sent."""
        sweep, self._sweep = self._sweep or self._queue.sweep(), None  # if this fails, the next begins anew
        sent = self._send(sweep.claim_page(PAGE_REMINDERS))
        if sweep.has_more:
            self._sweep = sweep
        return Step(sent, more=sweep.has_more)

    def send_one(self, batch_id: BatchId, reminder_id: ReminderId) -> bool:
        """Send one reminder if it is due, and nobody else is sending it; tell whether it was sent."""
        claimed = self._queue.claim(batch_id, reminder_id)
        return claimed is not None and self._send([claimed]) == 1

    def handle(self, event: Mapping[str, str], context: object) -> dict[str, bool]:
        """Send the reminder of a schedule that has run: the function that EventBridge Scheduler invokes."""
        return {"sent": self.send_one(BatchId(event["batchId"]), ReminderId(event["reminderId"]))}

    # --- sending ---------------------------------------------------------------------------------

    def _send(self, claimed: Sequence[Reminder]) -> int:
        """Push reminders together, then store the outcome of each; return how many were sent."""
        sent = 0
        errors: list[Exception] = []
        deliveries, trouble = self._deliver(claimed)
        for delivery in deliveries:
            try:
                sent += self._settle(delivery)
            except Exception as error:  # the others were pushed too, and would be pushed again
                errors.append(error)
        if errors:
            raise ExceptionGroup(
                f"{len(errors)} of {len(claimed)} reminders are left to be tried again", errors
            ) from trouble
        self._forget_gone(deliveries)
        if trouble is not None:
            raise trouble
        return sent

    def _deliver(self, claimed: Sequence[Reminder]) -> tuple[list[_Delivery], Exception | None]:
        """Push reminders to the devices of their users; return the deliveries, and the error of the service."""
        recipients = {user_id: self._recipient(user_id) for user_id in {each.user_id for each in claimed}}
        messages = [
            _message(reminder, device)
            for reminder in claimed
            for device in recipients[reminder.user_id].devices
        ]
        told, trouble = self._push_all(messages)
        tickets = iter(told)
        deliveries: list[_Delivery] = []
        for reminder in claimed:
            recipient = recipients[reminder.user_id]
            deliveries.append(_Delivery(reminder, recipient, tuple(islice(tickets, len(recipient.devices)))))
        return deliveries, trouble

    def _recipient(self, user_id: UserId) -> _Recipient:
        """Return the devices of a user; or none, and why. The settings of an invalid user are unknown."""
        try:
            user = self._db.user(user_id).maybe()
        except InvalidItemError as error:
            log_invalid(error)
            return _Recipient(failure=error.message)
        if user is None:
            return _Recipient(why_not="the user is gone")
        if user.preferences is not None and not user.preferences.notifications_enabled:
            return _Recipient(why_not="notifications are turned off")
        invalid: list[InvalidItemError] = []
        devices = list(self._db.devices(user_id).consistent().setting_aside(invalid.append).all())
        for each in invalid:
            log_invalid(each)
        if invalid:
            return _Recipient(devices, failure=invalid[0].message)
        return _Recipient(devices, why_not=None if devices else "there is no device")

    def _push_all(self, messages: Sequence[Message]) -> tuple[Sequence[Ticket], Exception | None]:
        if not messages:
            return (), None
        try:
            tickets = self._push.send(messages)
        except PushUnavailableError as error:
            return error.tickets, error
        except Exception as error:
            return (), error
        if len(tickets) != len(messages):
            return (), PushUnavailableError(f"{len(tickets)} tickets for {len(messages)} messages")
        return tickets, None

    # --- outcomes --------------------------------------------------------------------------------

    def _settle(self, delivery: _Delivery) -> bool:
        """Store the outcome of a reminder; tell whether it was sent. One device that took it is enough."""
        reminder, recipient, tickets = delivery.reminder, delivery.recipient, delivery.tickets
        if any(ticket.is_ok for ticket in tickets):
            return self._queue.change(reminder, status="sent", sent_at=self._db.now(), failure=None)
        if delivery.is_cut_off:
            # Behind those that nobody has tried yet, which may fare better.
            self._queue.change(reminder, next_try_at=self._db.now())
            return False
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
        self._queue.change(reminder, attempts=attempts, failure=failure, next_try_at=again_at)

    def _cancel(self, reminder: Reminder, failure: str, **changes: object) -> None:
        self._queue.change(
            reminder, status="cancelled", cancelled_at=self._db.now(), failure=failure, **changes
        )

    def _forget_gone(self, deliveries: Iterable[_Delivery]) -> None:
        """Delete devices to which nothing is to be sent again, unless they have another token by now."""
        gone = {
            device.push_token: device
            for delivery in deliveries
            for device, ticket in zip(delivery.recipient.devices, delivery.tickets, strict=False)
            if ticket.is_device_gone
        }
        for push_token, device in gone.items():
            with suppress(ConditionNotMetError, NotFoundError):
                self._db.delete(device, when=Eq("push_token", push_token))


def _message(reminder: Reminder, device: Device) -> Message:
    data = {"batchId": reminder.batch_id, "reminderId": reminder.reminder_id}
    return Message(device.push_token, _TITLE, reminder.message, data)


def workers(db: Kefir, push: Push | None = None) -> tuple[Worker, ...]:
    """Return what runs beside an open Kefir: a dispatcher, which looks for due reminders every few seconds."""
    dispatcher = Dispatcher(db, LocalPush() if push is None else push)
    return (Worker("kefir-dispatcher", EVERY_S, dispatcher.step),)
