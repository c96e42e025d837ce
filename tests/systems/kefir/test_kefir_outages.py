"""A push service that is down costs no reminder: none is counted as tried or given up, all are sent afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from singletable.clock import ManualClock
from singletable.systems import Step
from singletable_systems.kefir.model.keys import BatchId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.dispatcher import PAGE_REMINDERS, Dispatcher, workers
from singletable_systems.kefir.services.push import DEVICE_GONE, Message, PushUnavailableError, Ticket
from support.opened_designs import opened_design
from support.targets import TARGETS
from systems.kefir_reminders import BATCH, USER, ScriptedPush, brewer, minutes_pass, queue, remind, stored

NAMES = ["r1", "r2", "r3"]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    with opened_design(Kefir, request.param, clock, stage="test") as db:
        yield db


class FailingPush(ScriptedPush):
    """Answers for so many messages of each call, and fails as a service then; for all, when it is up."""

    def __init__(self) -> None:
        super().__init__()
        self.is_up = False
        self.answered = 0
        self.failure: Exception | None = None

    def send(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        if self.is_up:
            return super().send(messages)
        if self.failure is not None:
            raise self.failure
        tickets = super().send(messages[: self.answered])
        raise PushUnavailableError("HTTP 503: Service Unavailable", tickets)


class ForgetfulPush:
    """Returns one ticket, however many messages there are."""

    def send(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        return [Ticket()]


@pytest.fixture
def push() -> FailingPush:
    return FailingPush()


@pytest.fixture
def dispatcher(db: Kefir, push: FailingPush) -> Dispatcher:
    return Dispatcher(db, push)


def some_reminders(db: Kefir) -> None:
    brewer(db)
    for number, name in enumerate(NAMES):
        remind(db, name, minutes=-10 + number)


def assert_untried(db: Kefir, *names: str) -> None:
    for name in names:
        each = stored(db, name)
        assert (each.status, each.attempts, each.failure) == ("pending", 0, None)


def test_outage_of_hours_gives_no_reminder_up(
    db: Kefir, clock: ManualClock, push: FailingPush, dispatcher: Dispatcher
) -> None:
    some_reminders(db)
    for _ in range(300):
        with pytest.raises(PushUnavailableError, match="HTTP 503"):
            dispatcher.send_due()
        minutes_pass(clock, 1)
    assert_untried(db, *NAMES)
    push.is_up = True
    assert dispatcher.send_due() == 3
    assert Counter(push.bodies) == Counter(NAMES)
    assert queue(db) == []


@pytest.mark.parametrize("failure", [ValueError("out of paper"), OSError("no route")])
def test_push_that_raises_anything_is_down(
    db: Kefir, clock: ManualClock, push: FailingPush, dispatcher: Dispatcher, failure: Exception
) -> None:
    some_reminders(db)
    push.failure = failure
    with pytest.raises(type(failure), match=str(failure)):
        dispatcher.send_due()
    assert_untried(db, *NAMES)
    push.is_up = True
    clock.advance(0.001)
    assert dispatcher.send_due() == 3


def test_push_that_forgets_tickets_is_down(db: Kefir) -> None:
    some_reminders(db)
    with pytest.raises(PushUnavailableError, match="1 tickets for 3 messages"):
        Dispatcher(db, ForgetfulPush()).send_due()
    assert_untried(db, *NAMES)


def test_reminders_that_were_answered_before_the_service_failed_are_sent_and_not_sent_again(
    db: Kefir, clock: ManualClock, push: FailingPush, dispatcher: Dispatcher
) -> None:
    some_reminders(db)
    push.answered = 2
    with pytest.raises(PushUnavailableError):
        dispatcher.send_due()
    assert [stored(db, name).status for name in NAMES] == ["sent", "sent", "pending"]
    assert_untried(db, "r3")
    push.is_up = True
    clock.advance(0.001)
    assert dispatcher.send_due() == 1
    assert push.bodies == NAMES


def test_error_of_a_message_counts_although_the_service_failed_behind_it(
    db: Kefir, push: FailingPush, dispatcher: Dispatcher
) -> None:
    some_reminders(db)
    push.answered, push.errors = 1, {"u1-1": "MessageTooBig"}
    with pytest.raises(PushUnavailableError):
        dispatcher.send_due()
    assert (stored(db, "r1").attempts, stored(db, "r1").status) == (1, "pending")
    assert_untried(db, "r2", "r3")


@pytest.mark.parametrize(("first", "status"), [(None, "sent"), ("MessageTooBig", "pending")])
def test_reminder_of_which_one_device_was_answered_is_sent_if_that_has_taken_it(
    db: Kefir, push: FailingPush, dispatcher: Dispatcher, first: str | None, status: str
) -> None:
    brewer(db, devices=2)
    remind(db, "r1", minutes=-1)
    push.answered = 1
    if first is not None:
        push.errors = {"u1-1": first}
    with pytest.raises(PushUnavailableError):
        dispatcher.send_due()
    assert (stored(db, "r1").status, stored(db, "r1").attempts) == (status, 0)


def test_device_that_is_gone_is_deleted_although_the_service_failed_behind_it(
    db: Kefir, push: FailingPush, dispatcher: Dispatcher
) -> None:
    brewer(db, devices=2)
    remind(db, "r1", minutes=-1)
    push.answered, push.errors = 1, {"u1-1": DEVICE_GONE}
    with pytest.raises(PushUnavailableError):
        dispatcher.send_due()
    assert [device.push_token for device in db.devices(USER).all()] == ["u1-2"]
    assert_untried(db, "r1")


def test_reminder_that_goes_to_nobody_is_cancelled_also_while_the_service_is_down(
    db: Kefir, dispatcher: Dispatcher
) -> None:
    some_reminders(db)
    brewer(db, UserId("u2"), BatchId("b2"), devices=0)
    remind(db, "lonely", minutes=-1, user_id=UserId("u2"), batch_id=BatchId("b2"))
    with pytest.raises(PushUnavailableError):
        dispatcher.send_due()
    assert stored(db, "lonely", BatchId("b2")).failure == "there is no device"
    assert_untried(db, *NAMES)


def test_reminders_that_are_let_go_stand_behind_those_that_were_not_tried(
    db: Kefir, clock: ManualClock, push: FailingPush, dispatcher: Dispatcher
) -> None:
    brewer(db)
    names = [f"r{number:03}" for number in range(PAGE_REMINDERS + 3)]
    for number, name in enumerate(names):
        remind(db, name, due_at=db.now() - timedelta(seconds=1000 - number))
    with pytest.raises(PushUnavailableError):
        dispatcher.send_due()
    push.is_up = True
    clock.advance(0.001)
    assert dispatcher.send_due(limit=3) == 3
    assert push.bodies == names[PAGE_REMINDERS:]
    assert dispatcher.send_due() == PAGE_REMINDERS


def test_schedule_that_runs_while_the_service_is_down_fails_and_can_run_again_at_once(
    db: Kefir, push: FailingPush, dispatcher: Dispatcher
) -> None:
    some_reminders(db)
    event = {"batchId": BATCH, "reminderId": ReminderId("r1")}
    with pytest.raises(PushUnavailableError):
        dispatcher.handle(event, None)
    push.is_up = True
    assert dispatcher.handle(event, None) == {"sent": True}


def test_worker_fails_while_the_service_is_down_and_begins_anew_afterwards(
    db: Kefir, clock: ManualClock, push: FailingPush
) -> None:
    brewer(db)
    for number in range(PAGE_REMINDERS + 3):
        remind(db, f"r{number:03}", minutes=-1)
    (worker,) = workers(db, push)
    push.is_up = True
    assert worker.run_step() == Step(PAGE_REMINDERS, more=True)
    push.is_up = False
    with pytest.raises(PushUnavailableError):
        worker.run_step()
    push.is_up = True
    clock.advance(0.001)
    assert worker.run_step() == Step(3)
    assert queue(db) == []
