"""Reminders are made for batches that are in use, put off and cancelled while they are pending."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from singletable.clock import ManualClock
from singletable_systems.kefir.errors import (
    BatchNotFoundError,
    InvalidInputError,
    KefirError,
    ReminderNotFoundError,
    ReminderRefusedError,
)
from singletable_systems.kefir.model.keys import BatchId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.reminders import Reminders
from support.opened_designs import opened_design, stored_item
from support.targets import TARGETS
from systems.kefir_reminders import BATCH, USER, brewer, minutes_pass, queue, stored


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    with opened_design(Kefir, request.param, clock, stage="test") as db:
        brewer(db)
        yield db


@pytest.fixture
def reminders(db: Kefir) -> Reminders:
    numbers = iter(range(1, 100))
    return Reminders(db, new_id=lambda: f"r{next(numbers)}")


R1 = ReminderId("r1")


def test_reminder_is_pending_in_its_batch_and_in_both_indexes(db: Kefir, reminders: Reminders) -> None:
    due_at = db.now() + timedelta(hours=48)
    made = reminders.remind(USER, BATCH, "Taste it", due_at)
    assert (made.status, made.due_at, made.message) == ("pending", due_at, "Taste it")
    assert made.next_try_at == due_at
    assert list(db.reminders(BATCH).all()) == [made]
    assert list(db.upcoming(USER, db.now()).all()) == [made]
    assert list(db.due(due_at + timedelta(milliseconds=1)).all()) == [made]
    item = stored_item(db, "BATCH#b1", "REMINDER#r1")
    assert item is not None
    assert "schedulerArn" not in item


def test_ids_are_made_up_in_the_order_of_the_reminders_when_nobody_gives_them(db: Kefir) -> None:
    reminders = Reminders(db)
    made = [reminders.remind(USER, BATCH, "Taste it", db.now()).reminder_id for _ in range(3)]
    assert len(set(made)) == 3
    assert [each.reminder_id for each in db.reminders(BATCH).all()] == made


def test_reminder_of_a_batch_that_is_not_there_or_of_somebody_else_is_refused(
    db: Kefir, reminders: Reminders
) -> None:
    for user_id, batch_id in ((USER, BatchId("b2")), (UserId("u2"), BATCH)):
        with pytest.raises(BatchNotFoundError, match=f"there is no batch {batch_id}"):
            reminders.remind(user_id, batch_id, "Taste it", db.now())
    assert queue(db) == []


def test_reminder_of_an_archived_batch_is_refused(db: Kefir, reminders: Reminders) -> None:
    db.update(db.own_batch(USER, BATCH), status="archived")
    with pytest.raises(ReminderRefusedError, match="batch b1 is archived"):
        reminders.remind(USER, BATCH, "Taste it", db.now())
    assert queue(db) == []


def test_reminder_says_something(db: Kefir, reminders: Reminders) -> None:
    with pytest.raises(InvalidInputError, match="says something"):
        reminders.remind(USER, BATCH, " ", db.now())


def test_rescheduled_reminder_is_due_at_the_new_moment_and_not_at_the_old_one(
    db: Kefir, reminders: Reminders
) -> None:
    now = db.now()
    reminders.remind(USER, BATCH, "Taste it", now + timedelta(hours=1))
    changed = reminders.reschedule(BATCH, R1, now + timedelta(hours=3))
    assert changed == stored(db, "r1")
    assert list(db.due(now + timedelta(hours=2)).all()) == []
    assert list(db.due(now + timedelta(hours=4)).all()) == [changed]
    assert list(db.upcoming(USER, now + timedelta(hours=2)).all()) == [changed]


def test_rescheduled_reminder_begins_anew(db: Kefir, reminders: Reminders) -> None:
    reminders.remind(USER, BATCH, "Taste it", db.now())
    db.update(
        db.reminder(BATCH, R1), next_try_at=db.now() + timedelta(hours=9), attempts=4, failure="no network"
    )
    later = db.now() + timedelta(hours=1)
    changed = reminders.reschedule(BATCH, R1, later)
    assert (changed.next_try_at, changed.attempts, changed.failure) == (later, 0, None)
    assert [each.reminder_id for each in db.due(later + timedelta(milliseconds=1)).all()] == [R1]


def test_cancelled_reminder_leaves_both_indexes_and_stays_in_its_batch(
    db: Kefir, clock: ManualClock, reminders: Reminders
) -> None:
    reminders.remind(USER, BATCH, "Taste it", db.now() + timedelta(hours=1))
    minutes_pass(clock, 5)
    cancelled = reminders.cancel(BATCH, R1)
    assert (cancelled.status, cancelled.cancelled_at) == ("cancelled", db.now())
    assert list(db.reminders(BATCH).all()) == [cancelled]
    assert list(db.upcoming(USER, db.now()).all()) == []
    assert queue(db) == []


def test_cancelling_twice_does_no_harm(db: Kefir, clock: ManualClock, reminders: Reminders) -> None:
    reminders.remind(USER, BATCH, "Taste it", db.now())
    first = reminders.cancel(BATCH, R1)
    minutes_pass(clock, 5)
    assert reminders.cancel(BATCH, R1) == first


def test_sent_reminder_is_neither_cancelled_nor_rescheduled(db: Kefir, reminders: Reminders) -> None:
    reminders.remind(USER, BATCH, "Taste it", db.now())
    db.update(db.reminder(BATCH, R1), status="sent", sent_at=db.now())
    before = stored(db, "r1")
    with pytest.raises(ReminderRefusedError, match="reminder r1 of batch b1 is sent"):
        reminders.cancel(BATCH, R1)
    with pytest.raises(ReminderRefusedError, match="is sent"):
        reminders.reschedule(BATCH, R1, db.now() + timedelta(hours=1))
    assert stored(db, "r1") == before


def test_cancelled_reminder_is_not_rescheduled(db: Kefir, reminders: Reminders) -> None:
    reminders.remind(USER, BATCH, "Taste it", db.now())
    reminders.cancel(BATCH, R1)
    with pytest.raises(ReminderRefusedError, match="is cancelled"):
        reminders.reschedule(BATCH, R1, db.now() + timedelta(hours=1))


def test_reminder_that_is_not_there_is_said_to_be_missing(reminders: Reminders, db: Kefir) -> None:
    with pytest.raises(ReminderNotFoundError, match="there is no reminder r1"):
        reminders.cancel(BATCH, R1)
    with pytest.raises(ReminderNotFoundError):
        reminders.reschedule(BATCH, R1, db.now())


def test_whoever_catches_what_kefir_refuses_catches_refused_reminders() -> None:
    assert issubclass(ReminderRefusedError, KefirError)
    assert issubclass(ReminderNotFoundError, KefirError)
