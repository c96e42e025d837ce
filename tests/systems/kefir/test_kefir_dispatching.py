"""The dispatcher sends due reminders to the devices of their users, and writes down what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable.errors import InvalidItemError
from singletable.systems import Step, Workers
from singletable_systems.kefir.model.keys import BatchId, DeviceId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.dispatcher import (
    ATTEMPTS_MAX,
    PAGE_REMINDERS,
    RETRY_AFTER,
    Dispatcher,
    workers,
)
from singletable_systems.kefir.services.push import DEVICE_GONE, LocalPush, Message
from singletable_systems.kefir.services.reminders import CLAIM, Reminders
from support.design_clients import Between, on_client
from support.opened_designs import opened_design, store, stored_item
from support.targets import TARGETS
from systems.kefir_reminders import BATCH, USER, ScriptedPush, brewer, minutes_pass, queue, remind, stored


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    with opened_design(Kefir, request.param, clock, stage="test") as db:
        yield db


@pytest.fixture
def push() -> ScriptedPush:
    return ScriptedPush()


@pytest.fixture
def dispatcher(db: Kefir, push: ScriptedPush) -> Dispatcher:
    return Dispatcher(db, push)


def devices(db: Kefir, user_id: UserId = USER) -> list[str]:
    return [device.push_token for device in db.devices(user_id).all()]


# --- when -----------------------------------------------------------------------------------------


def test_reminder_is_sent_when_its_moment_is_over_and_not_before(
    db: Kefir, clock: ManualClock, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    remind(db, "r1", minutes=10)
    assert dispatcher.send_due() == 0
    minutes_pass(clock, 10)
    assert dispatcher.send_due() == 0, "at the very moment it is not over"
    assert push.calls == []
    clock.advance(0.001)
    assert dispatcher.send_due() == 1
    assert push.calls == [[Message("u1-1", "Kefir", "r1", {"batchId": "b1", "reminderId": "r1"})]]


def test_sent_reminder_leaves_the_queue_and_is_not_sent_again(
    db: Kefir, clock: ManualClock, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    dispatcher.send_due()
    sent = stored(db, "r1")
    assert (sent.status, sent.sent_at, sent.failure) == ("sent", db.now(), None)
    assert queue(db) == []
    assert list(db.upcoming(USER, sent.due_at).all()) == []
    minutes_pass(clock, 100)
    assert dispatcher.send_due() == 0
    assert push.bodies == ["r1"]


def test_reminders_of_all_users_are_sent_the_oldest_first(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    for number in range(12):
        user_id, batch_id = UserId(f"u{number}"), BatchId(f"b{number}")
        brewer(db, user_id, batch_id)
        remind(db, f"r{number:02}", minutes=-1 - number, user_id=user_id, batch_id=batch_id)
        remind(db, f"later{number}", minutes=1 + number, user_id=user_id, batch_id=batch_id)
    assert dispatcher.send_due() == 12
    assert push.bodies == [f"r{number:02}" for number in reversed(range(12))]
    assert push.tokens == [f"u{number}-1" for number in reversed(range(12))]
    assert len(queue(db)) == 12


def test_only_what_was_due_at_a_given_moment_is_sent(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    for minutes in (-30, -20, -10):
        remind(db, f"r{minutes}", minutes=minutes)
    assert dispatcher.send_due(db.now() - timedelta(minutes=15)) == 2
    assert push.bodies == ["r-30", "r-20"]


def test_cancelled_reminder_is_never_sent(
    db: Kefir, clock: ManualClock, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    remind(db, "r1", minutes=10)
    Reminders(db).cancel(BATCH, ReminderId("r1"))
    minutes_pass(clock, 60)
    assert dispatcher.send_due() == 0
    assert dispatcher.send_one(BATCH, ReminderId("r1")) is False
    assert push.calls == []


# --- to whom --------------------------------------------------------------------------------------


def test_reminder_goes_to_all_devices_of_its_user_and_to_nobody_else(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db, devices=3, notifications=True)
    brewer(db, UserId("u2"), BatchId("b2"), devices=2)
    remind(db, "r1", minutes=-1)
    assert dispatcher.send_due() == 1
    assert push.tokens == ["u1-1", "u1-2", "u1-3"]


@pytest.mark.parametrize(
    ("has_devices", "notifications", "why"),
    [(False, None, "there is no device"), (True, False, "notifications are turned off")],
)
def test_reminder_that_goes_to_nobody_is_cancelled(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher, has_devices: bool, notifications: bool, why: str
) -> None:
    brewer(db, devices=int(has_devices), notifications=notifications)
    remind(db, "r1", minutes=-1)
    assert dispatcher.send_due() == 0
    assert push.calls == []
    cancelled = stored(db, "r1")
    assert (cancelled.status, cancelled.cancelled_at, cancelled.failure) == ("cancelled", db.now(), why)
    assert queue(db) == []


def test_reminder_of_a_user_who_is_gone_is_cancelled(db: Kefir, dispatcher: Dispatcher) -> None:
    remind(db, "r1", minutes=-1)
    assert dispatcher.send_due() == 0
    assert stored(db, "r1").failure == "the user is gone"


def test_devices_that_were_not_seen_for_long_are_not_told(
    db: Kefir, clock: ManualClock, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db, devices=2)
    minutes_pass(clock, 60 * 24 * 200)
    db.update(db.device(USER, DeviceId("d1")), last_seen_at=db.now())
    minutes_pass(clock, 60 * 24 * 100)
    remind(db, "r1", minutes=-1)
    assert dispatcher.send_due() == 1
    assert push.tokens == ["u1-1"]


def test_device_that_is_no_longer_registered_is_deleted_with_its_token(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db, devices=2)
    remind(db, "r1", minutes=-1)
    push.errors["u1-1"] = DEVICE_GONE
    assert dispatcher.send_due() == 1, "the other device has it"
    assert devices(db) == ["u1-2"]
    assert stored_item(db, "PUSHTOKEN#u1-1", "UNIQUE") is None
    assert db.verify().is_clean


def test_reminder_whose_last_device_is_gone_is_cancelled(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    for name in ("r1", "r2"):
        remind(db, name, minutes=-1)
    push.errors["u1-1"] = DEVICE_GONE
    assert dispatcher.send_due() == 0
    assert devices(db) == []
    assert {stored(db, name).failure for name in ("r1", "r2")} == {"there is no device any more"}
    assert queue(db) == []


def test_device_that_has_another_token_by_now_is_kept(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    push.errors["u1-1"] = DEVICE_GONE
    push.meanwhile = lambda: db.update(db.device(USER, DeviceId("d1")), push_token="fresh")
    dispatcher.send_due()
    assert devices(db) == ["fresh"]


# --- failures -------------------------------------------------------------------------------------


def test_reminder_that_one_device_has_taken_is_sent(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db, devices=2)
    remind(db, "r1", minutes=-1)
    push.errors["u1-2"] = "MessageRateExceeded"
    assert dispatcher.send_due() == 1
    assert stored(db, "r1").status == "sent"
    assert devices(db) == ["u1-1", "u1-2"]


def test_failed_push_is_tried_again_ever_later_and_then_given_up(
    db: Kefir, clock: ManualClock, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    push.errors["u1-1"] = "MessageRateExceeded"
    for attempt in range(1, ATTEMPTS_MAX):
        assert dispatcher.send_due() == 0
        failed = stored(db, "r1")
        assert (failed.status, failed.attempts) == ("pending", attempt)
        assert failed.failure == "MessageRateExceeded: as the test says"
        wait = RETRY_AFTER * 2 ** (attempt - 1)
        assert failed.next_try_at == db.now() + wait
        clock.advance(wait.total_seconds())
        dispatcher.send_due()
        assert len(push.calls) == attempt, "not before its time"
        clock.advance(0.001)
    assert dispatcher.send_due() == 0
    given_up = stored(db, "r1")
    assert (given_up.status, given_up.attempts, given_up.cancelled_at) == (
        "cancelled",
        ATTEMPTS_MAX,
        db.now(),
    )
    assert given_up.failure == "MessageRateExceeded: as the test says"
    assert queue(db) == []
    minutes_pass(clock, 10_000)
    dispatcher.send_due()
    assert len(push.calls) == ATTEMPTS_MAX


def test_failed_push_that_works_the_next_time_leaves_no_failure(
    db: Kefir, clock: ManualClock, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    push.errors["u1-1"] = "MessageRateExceeded"
    dispatcher.send_due()
    push.errors.clear()
    clock.advance(RETRY_AFTER.total_seconds() + 0.001)
    assert dispatcher.send_due() == 1
    sent = stored(db, "r1")
    assert (sent.status, sent.attempts, sent.failure) == ("sent", 1, None)


# --- one by one, and many ---------------------------------------------------------------------------


def test_schedule_that_runs_sends_its_reminder_alone_and_once(
    db: Kefir, clock: ManualClock, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    remind(db, "r1", minutes=10)
    remind(db, "r2", minutes=10)
    event = {"batchId": "b1", "reminderId": "r1"}
    assert dispatcher.handle(event, None) == {"sent": False}, "it is not due"
    minutes_pass(clock, 10)
    assert dispatcher.handle(event, None) == {"sent": True}
    assert dispatcher.handle(event, None) == {"sent": False}
    assert push.bodies == ["r1"]
    assert queue(db) == ["r2"]
    assert dispatcher.handle({"batchId": "b1", "reminderId": "none"}, None) == {"sent": False}


def test_a_thousand_due_reminders_are_sent_in_bounded_steps(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    names = [f"r{number:04}" for number in range(1000)]
    for number, name in enumerate(names):
        remind(db, name, due_at=db.now() - timedelta(seconds=1000 - number))
    assert dispatcher.send_due(limit=120) == 120
    assert [len(call) for call in push.calls] == [PAGE_REMINDERS, PAGE_REMINDERS, 20]
    assert dispatcher.send_due() == 880
    assert push.bodies == names
    assert max(len(call) for call in push.calls) == PAGE_REMINDERS
    assert queue(db) == []


def test_reminders_that_others_have_claimed_do_not_hide_those_behind_them(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    for number in range(2 * PAGE_REMINDERS):
        made = remind(db, f"claimed{number}", minutes=-10)
        db.update(made, next_try_at=db.now() + CLAIM)
    for number in range(3):
        remind(db, f"free{number}", minutes=-1)
    assert dispatcher.send_due(limit=2) == 2
    assert dispatcher.send_due(limit=2) == 1
    assert sorted(push.bodies) == ["free0", "free1", "free2"]


# --- items that are not valid -------------------------------------------------------------------------


def spoil(db: Kefir, pk: str, sk: str, **attributes: dict[str, Any]) -> None:
    """Change an item as somebody does who does not know the design."""
    item = stored_item(db, pk, sk)
    assert item is not None
    store(db, {**item, **attributes})


def spoiled_reminder(db: Kefir, reminder_id: str, *, minutes: float) -> None:
    remind(db, reminder_id, minutes=minutes)
    spoil(db, "BATCH#b1", f"REMINDER#{reminder_id}", message={"N": "7"})


def test_invalid_reminder_is_logged_with_its_key_and_the_others_are_sent(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    brewer(db)
    spoiled_reminder(db, "bad", minutes=-30)
    remind(db, "r1", minutes=-20)
    spoiled_reminder(db, "worse", minutes=-10)
    before = stored_item(db, "BATCH#b1", "REMINDER#bad")
    assert dispatcher.send_due() == 1
    assert push.bodies == ["r1"]
    assert caplog.messages == [
        f"left out: the item BATCH#b1 / REMINDER#{name} is no Reminder: message: Input should be a valid string"
        for name in ("bad", "worse")
    ]
    assert stored_item(db, "BATCH#b1", "REMINDER#bad") == before


def test_pages_of_invalid_reminders_do_not_hide_those_behind_them(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    brewer(db)
    for number in range(2 * PAGE_REMINDERS + 3):
        spoiled_reminder(db, f"bad{number}", minutes=-10 - number)
    for number in range(3):
        remind(db, f"r{number}", minutes=-1)
    assert dispatcher.send_due(limit=2) == 2
    assert dispatcher.send_due(limit=2) == 1
    assert sorted(push.bodies) == ["r0", "r1", "r2"]
    assert len(caplog.messages) == 2 * PAGE_REMINDERS + 3, "each of them once"


def test_invalid_reminder_is_logged_by_the_first_sweep_and_when_it_was_repaired_in_vain(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    brewer(db)
    spoiled_reminder(db, "bad", minutes=-10)
    for _ in range(3):
        assert dispatcher.send_due() == 0
    assert len(caplog.messages) == 1
    spoil(db, "BATCH#b1", "REMINDER#bad", message={"N": "7"}, version={"S": "new"})
    dispatcher.send_due()
    assert len(caplog.messages) == 2, "it is invalid in another way"
    spoil(db, "BATCH#b1", "REMINDER#bad", message={"N": "7"}, version={"N": "1"})
    dispatcher.send_due()
    assert len(caplog.messages) == 3, "what was seen to be gone is new"
    spoil(db, "BATCH#b1", "REMINDER#bad", message={"S": "Taste it"}, version={"N": "1"})
    assert dispatcher.send_due() == 1
    assert push.bodies == ["Taste it"]


def test_reminder_that_turns_invalid_before_it_is_claimed_stops_no_other(
    db: Kefir, push: ScriptedPush, caplog: pytest.LogCaptureFixture
) -> None:
    brewer(db)
    for name in ("bad", "r1"):
        remind(db, name, minutes=-1)
    watched = Between(db.session.client)

    def meddle(call: Call) -> None:
        if call.operation != "Query":
            watched.before = lambda call: None
            spoil(db, "BATCH#b1", "REMINDER#bad", message={"N": "7"})

    watched.before = meddle
    assert Dispatcher(on_client(Kefir, watched, makes_table=False, stage="test"), push).send_due() == 1
    assert push.bodies == ["r1"]
    assert "REMINDER#bad is no Reminder" in caplog.text


def test_schedule_of_an_invalid_reminder_fails(db: Kefir, dispatcher: Dispatcher) -> None:
    brewer(db)
    spoiled_reminder(db, "bad", minutes=-1)
    with pytest.raises(InvalidItemError, match="REMINDER#bad"):
        dispatcher.handle({"batchId": "b1", "reminderId": "bad"}, None)


def test_reminders_of_an_invalid_user_are_put_off_and_those_of_others_sent(
    db: Kefir,
    clock: ManualClock,
    push: ScriptedPush,
    dispatcher: Dispatcher,
    caplog: pytest.LogCaptureFixture,
) -> None:
    brewer(db)
    brewer(db, UserId("u2"), BatchId("b2"))
    for number in range(2):
        remind(db, f"r{number}", minutes=-1)
    remind(db, "other", minutes=-1, user_id=UserId("u2"), batch_id=BatchId("b2"))
    spoil(db, "USER#u1", "METADATA", email={"N": "7"})
    assert dispatcher.send_due() == 1
    assert push.bodies == ["other"]
    failure = "the item USER#u1 / METADATA is no User: email: Input should be a valid string"
    assert caplog.messages == [f"left out: {failure}"]
    for number in range(2):
        failed = stored(db, f"r{number}")
        assert (failed.status, failed.attempts, failed.failure) == ("pending", 1, failure)
        assert failed.next_try_at == db.now() + RETRY_AFTER
    spoil(db, "USER#u1", "METADATA", email={"S": "u1@example.com"})
    clock.advance(RETRY_AFTER.total_seconds() + 0.001)
    assert dispatcher.send_due() == 2


def test_reminder_of_a_user_who_stays_invalid_is_given_up(
    db: Kefir, clock: ManualClock, push: ScriptedPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    spoil(db, "USER#u1", "METADATA", email={"N": "7"})
    for _ in range(ATTEMPTS_MAX):
        assert dispatcher.send_due() == 0
        minutes_pass(clock, 100)
    assert (stored(db, "r1").status, stored(db, "r1").attempts) == ("cancelled", ATTEMPTS_MAX)
    assert push.calls == []


def test_invalid_device_does_not_keep_a_reminder_from_the_others(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    brewer(db, devices=3)
    remind(db, "r1", minutes=-1)
    spoil(db, "USER#u1", "DEVICE#d2", platform={"S": "fax"})
    assert dispatcher.send_due() == 1
    assert push.tokens == ["u1-1", "u1-3"]
    assert "DEVICE#d2 is no Device: platform" in caplog.text


@pytest.mark.parametrize("is_other_gone", [False, True])
def test_reminder_whose_only_device_is_invalid_is_put_off(
    db: Kefir, push: ScriptedPush, dispatcher: Dispatcher, is_other_gone: bool
) -> None:
    brewer(db, devices=2 if is_other_gone else 1)
    push.errors["u1-2"] = DEVICE_GONE
    remind(db, "r1", minutes=-1)
    spoil(db, "USER#u1", "DEVICE#d1", platform={"S": "fax"})
    assert dispatcher.send_due() == 0
    failed = stored(db, "r1")
    assert (failed.status, failed.attempts) == ("pending", 1)
    assert failed.failure is not None
    assert failed.failure.startswith("the item USER#u1 / DEVICE#d1 is no Device: platform")


# --- as a worker --------------------------------------------------------------------------------------


def test_worker_sends_what_is_due(db: Kefir) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    push = LocalPush()
    (worker,) = workers(db, push)
    assert worker.run_step() == Step(1)
    assert [message.body for message in push.messages] == ["r1"]
    with Workers(workers(db)):
        pass


def test_worker_sends_a_page_in_a_step_and_goes_on_while_there_are_more(
    db: Kefir, push: ScriptedPush
) -> None:
    brewer(db)
    names = [f"r{number:04}" for number in range(2 * PAGE_REMINDERS + 10)]
    for number, name in enumerate(names):
        remind(db, name, due_at=db.now() - timedelta(seconds=1000 - number))
    (worker,) = workers(db, push)
    steps = [worker.run_step() for _ in range(4)]
    assert steps == [Step(PAGE_REMINDERS, more=True)] * 2 + [Step(10), Step(0)]
    assert push.bodies == names


def test_step_that_follows_on_another_reads_no_invalid_reminder_again(
    db: Kefir, push: ScriptedPush, caplog: pytest.LogCaptureFixture
) -> None:
    brewer(db)
    for number in range(10):
        spoiled_reminder(db, f"bad{number}", minutes=-60)
    for number in range(2 * PAGE_REMINDERS):
        remind(db, f"r{number}", minutes=-1)
    watched = Between(db.session.client)
    (worker,) = workers(on_client(Kefir, watched, makes_table=False, stage="test"), push)
    assert worker.run_step() == Step(PAGE_REMINDERS, more=True)
    watched.calls = []
    assert worker.run_step().done == PAGE_REMINDERS
    starts = [call.params.get("ExclusiveStartKey") for call in watched.calls if "IndexName" in call.params]
    assert all(starts), "each shard is read behind what was read of it before"
    assert len(caplog.messages) == 10
