"""The handler of the stream gives pending reminders their schedules, and takes those of the others away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable.consumers import Consumer
from singletable_systems.kefir.model.keys import ReminderId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.reactions.schedules import (
    EventBridgeScheduler,
    LocalScheduler,
    Schedule,
    schedule_name,
)
from singletable_systems.kefir.services.dispatcher import Dispatcher
from singletable_systems.kefir.services.reminders import Reminders
from systems.kefir_reminders import (
    BATCH,
    USER,
    ScriptedPush,
    brewer,
    database,
    minutes_pass,
    queue,
    remind,
    stored,
)
from systems.moto_services import schedules

R1 = ReminderId("r1")
NAME = schedule_name(BATCH, R1)
PAYLOAD = {"batchId": "b1", "reminderId": "r1"}


class WatchedScheduler(LocalScheduler):
    """Remembers what it was asked, and fails as often as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.failures = 0
        self.meanwhile: Callable[[], object] = lambda: None

    def schedule(self, name: str, at: datetime, payload: Mapping[str, str]) -> str:
        self._ask("schedule")
        return super().schedule(name, at, payload)

    def cancel(self, name: str) -> None:
        self._ask("cancel")
        super().cancel(name)

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        self.meanwhile()
        if self.failures:
            self.failures -= 1
            raise ConnectionError("no scheduler")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def scheduler() -> WatchedScheduler:
    return WatchedScheduler()


@pytest.fixture
def db(clock: ManualClock, scheduler: WatchedScheduler) -> Iterator[Kefir]:
    with Kefir.open(":memory:", clock=clock) as db:
        db.scheduler = scheduler
        brewer(db)
        yield db


@pytest.fixture
def consumer(db: Kefir) -> Iterator[Consumer]:
    with consuming(db) as consumer:
        yield consumer
    assert database(db).dead_letters(db.session.table, "Kefir") == []


def consuming(db: Kefir, **options: Any) -> Consumer:
    return db.consume(background=False, wait=lambda seconds: None, **options)


def drain(consumer: Consumer) -> None:
    """Handle everything that was written, and what was written for it."""
    for _ in range(3):
        consumer.drain()


# --- schedules follow reminders ---------------------------------------------------------------------------


def test_design_keeps_its_schedules_in_this_process_unless_told_otherwise() -> None:
    with Kefir.open(":memory:") as first, Kefir.open(":memory:") as second:
        assert isinstance(first.scheduler, LocalScheduler)
        assert first.scheduler is not second.scheduler


def test_new_reminder_gets_a_schedule_and_its_arn(
    db: Kefir, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    made = remind(db, "r1", minutes=60)
    drain(consumer)
    assert scheduler.schedules == {NAME: Schedule(made.due_at, PAYLOAD)}
    assert stored(db, "r1").scheduler_arn == f"arn:aws:scheduler:local:000000000000:schedule/kefir/{NAME}"


def test_arn_that_is_stored_does_not_call_the_handler_again(
    db: Kefir, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    made = remind(db, "r1", minutes=60)
    drain(consumer)
    assert scheduler.asked == ["schedule"]
    assert stored(db, "r1").version == made.version + 1
    db.update(db.reminder(BATCH, R1), message="Taste it now", attempts=1)
    drain(consumer)
    assert scheduler.asked == ["schedule"]


def test_rescheduled_reminder_has_its_schedule_moved(
    db: Kefir, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    remind(db, "r1", minutes=60)
    drain(consumer)
    later = db.now() + timedelta(hours=5)
    Reminders(db).reschedule(BATCH, R1, later)
    drain(consumer)
    assert scheduler.schedules == {NAME: Schedule(later, PAYLOAD)}
    assert stored(db, "r1").version == 3, "made, given its arn, rescheduled: the arn is the same"


@pytest.mark.parametrize(
    "end", ["cancelled", "sent", "deleted", "batch deleted", "all data deleted", "put into the past"]
)
def test_reminder_that_is_no_longer_waited_for_loses_its_schedule(
    db: Kefir, clock: ManualClock, consumer: Consumer, scheduler: WatchedScheduler, end: str
) -> None:
    remind(db, "r1", minutes=60)
    drain(consumer)
    assert list(scheduler.schedules) == [NAME]
    match end:
        case "cancelled":
            Reminders(db).cancel(BATCH, R1)
        case "sent":
            minutes_pass(clock, 61)
            assert Dispatcher(db, ScriptedPush()).send_due() == 1
        case "deleted":
            db.delete(db.reminder(BATCH, R1))
        case "batch deleted":
            db.delete(db.own_batch(USER, BATCH).one())
        case "all data deleted":
            db.delete(db.user(USER).one())
        case "put into the past":
            Reminders(db).reschedule(BATCH, R1, db.now())
    drain(consumer)
    assert scheduler.schedules == {}
    left = db.reminder(BATCH, R1).maybe()
    assert left is None or left.scheduler_arn is None


def test_reminder_whose_moment_is_over_gets_no_schedule_and_is_sent_all_the_same(
    db: Kefir, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    remind(db, "r1", minutes=-1)
    remind(db, "r2", minutes=0)
    drain(consumer)
    assert "schedule" not in scheduler.asked
    assert stored(db, "r1").scheduler_arn is None
    assert Dispatcher(db, ScriptedPush()).send_due() == 1


def test_schedule_that_runs_sends_the_reminder_and_is_gone(
    db: Kefir, clock: ManualClock, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    remind(db, "r1", minutes=60)
    drain(consumer)
    minutes_pass(clock, 60)
    push = ScriptedPush()
    assert Dispatcher(db, push).handle(scheduler.schedules[NAME].payload, None) == {"sent": True}
    drain(consumer)
    assert push.bodies == ["r1"]
    assert scheduler.schedules == {}


# --- records that come late, twice, or in vain ---------------------------------------------------------------


def test_reminders_that_are_gone_meanwhile_leave_no_schedule_and_no_dead_letter(
    db: Kefir, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    remind(db, "r1", minutes=60)
    db.delete(db.reminder(BATCH, R1))
    remind(db, "r2", minutes=60)
    Reminders(db).cancel(BATCH, ReminderId("r2"))
    drain(consumer)
    assert scheduler.schedules == {}
    assert scheduler.asked == ["cancel"] * 4


@pytest.mark.parametrize("what", ["deleted", "cancelled", "rescheduled"])
def test_reminder_that_changes_while_its_record_is_handled_ends_with_the_right_schedule(
    db: Kefir, consumer: Consumer, scheduler: WatchedScheduler, what: str
) -> None:
    remind(db, "r1", minutes=60)
    later = db.now() + timedelta(hours=9)

    def meddle() -> None:
        scheduler.meanwhile = lambda: None
        if what == "deleted":
            db.delete(db.reminder(BATCH, R1))
        elif what == "cancelled":
            Reminders(db).cancel(BATCH, R1)
        else:
            Reminders(db).reschedule(BATCH, R1, later)

    scheduler.meanwhile = meddle
    drain(consumer)
    expected = {NAME: Schedule(later, PAYLOAD)} if what == "rescheduled" else {}
    assert scheduler.schedules == expected
    left = db.reminder(BATCH, R1).maybe()
    assert (left is not None and left.scheduler_arn is not None) == bool(expected)


def test_replay_of_all_records_changes_nothing(
    db: Kefir, clock: ManualClock, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    for name in ("waits", "moved", "cancelled", "sent", "gone"):
        remind(db, name, minutes=1 if name == "sent" else 60)
    Reminders(db).reschedule(BATCH, ReminderId("moved"), db.now() + timedelta(hours=3))
    Reminders(db).cancel(BATCH, ReminderId("cancelled"))
    db.delete(db.reminder(BATCH, ReminderId("gone")))
    drain(consumer)
    minutes_pass(clock, 2)
    Dispatcher(db, ScriptedPush()).send_due()
    drain(consumer)
    schedules = dict(scheduler.schedules)
    reminders = list(db.reminders(BATCH).all())
    assert {schedule.payload["reminderId"] for schedule in schedules.values()} == {"waits", "moved"}
    for replay in range(2):
        with consuming(db, name=f"replay{replay}") as again:
            drain(again)
        assert scheduler.schedules == schedules
        assert list(db.reminders(BATCH).all()) == reminders


def test_schedules_that_were_lost_come_back_with_a_replay(
    db: Kefir, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    remind(db, "r1", minutes=60)
    drain(consumer)
    schedules = dict(scheduler.schedules)
    scheduler.schedules.clear()
    with consuming(db, name="replay") as again:
        drain(again)
    assert scheduler.schedules == schedules


def test_scheduler_that_fails_for_a_while_is_asked_again(
    db: Kefir, consumer: Consumer, scheduler: WatchedScheduler
) -> None:
    remind(db, "r1", minutes=60)
    scheduler.failures = 3
    drain(consumer)
    assert scheduler.asked == ["schedule"] * 4
    assert list(scheduler.schedules) == [NAME]


def test_reminder_that_no_scheduler_has_taken_is_sent_all_the_same(
    clock: ManualClock, scheduler: WatchedScheduler
) -> None:
    with Kefir.open(":memory:", clock=clock) as db:
        db.scheduler = scheduler
        brewer(db)
        scheduler.failures = 1000
        remind(db, "r1", minutes=60)
        with consuming(db, retries=1) as consumer:
            drain(consumer)
        (letter,) = database(db).dead_letters(db.session.table, "Kefir")
        assert letter.error == "ConnectionError: no scheduler"
        minutes_pass(clock, 61)
        push = ScriptedPush()
        assert Dispatcher(db, push).send_due() == 1
        assert push.bodies == ["r1"]
        assert queue(db) == []


def test_function_of_aws_lambda_has_the_scheduler_that_its_design_is_prepared_with(
    db: Kefir, scheduler: WatchedScheduler
) -> None:
    def prepare(opened: Kefir) -> None:
        opened.scheduler = scheduler

    remind(db, "r1", minutes=60)
    events: list[Any] = []
    with database(db).consume(db.session.table, events.append, name="lambda", background=False) as records:
        records.drain()
    handler = Kefir.lambda_handler(database(db), prepare=prepare)
    for event in events * 2:
        assert handler(event, None) == {"batchItemFailures": []}
    assert list(scheduler.schedules) == [NAME]
    assert stored(db, "r1").scheduler_arn is not None


def test_event_bridge_keeps_the_schedules_of_a_design(db: Kefir, consumer: Consumer) -> None:
    with schedules() as kept:
        db.scheduler = EventBridgeScheduler(
            kept.client,
            group="kefir-test",
            target_arn="arn:aws:lambda:eu-north-1:123456789012:function:kefir-reminders",
            role_arn="arn:aws:iam::123456789012:role/kefir-scheduler",
        )
        remind(db, "r1", minutes=60)
        remind(db, "r2", minutes=60)
        drain(consumer)
        assert (
            stored(db, "r1").scheduler_arn
            == f"arn:aws:scheduler:eu-north-1:123456789012:schedule/kefir-test/{NAME}"
        )
        Reminders(db).cancel(BATCH, ReminderId("r2"))
        drain(consumer)
        assert kept.names() == [NAME]
        assert stored(db, "r2").scheduler_arn is None
