"""Archiving a batch cancels its reminders; deleting it takes along all that is its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from singletable import Database
from singletable.client import Call, open_client
from singletable.clock import ManualClock
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.batches import Brewing
from support.design_clients import on_client
from support.failing_clients import FailingClient
from support.targets import TARGETS
from systems.kefir_timelines import stored, timeline
from systems.kefir_users import ADA, opened_kefir, remind, sign_up, start, watched


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    with opened_kefir(request.param, clock) as db:
        sign_up(db, ADA)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[Kefir]:
    with opened_kefir("embedded", clock) as db:
        sign_up(db, ADA)
        yield db


def test_archiving_cancels_pending_reminders_and_no_others(db: Kefir, clock: ManualClock) -> None:
    batch, other = start(db, ADA), start(db, ADA)
    remind(db, batch, "p1")
    remind(db, batch, "p2")
    remind(db, batch, "s", "sent")
    remind(db, batch, "c", "cancelled")
    remind(db, other, "o")
    clock.advance(60)
    Brewing(db).archive(ADA, batch.batch_id)
    reminders = {each.reminder_id: each for each in db.reminders(batch.batch_id).consistent().all()}
    assert {name: each.status for name, each in reminders.items()} == {
        "p1": "cancelled",
        "p2": "cancelled",
        "s": "sent",
        "c": "cancelled",
    }
    assert [reminders[name].cancelled_at for name in reminders if name != "p1"] == [None, db.now(), None]
    clock.advance(7200)
    assert [each.reminder_id for each in db.due(db.now()).all()] == ["o"]


def test_archiving_that_was_interrupted_is_gone_on_with(clock: ManualClock) -> None:
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        failing = FailingClient(client)
        db = on_client(Kefir, failing, stage="test")
        sign_up(db, ADA)
        batch = start(db, ADA)
        for name in ("r1", "r2"):
            remind(db, batch, name)
        brewing = Brewing(db)
        failing.calls.clear()
        failing.fail_at(4, RuntimeError, loses_answer=False)
        with pytest.raises(RuntimeError):
            brewing.archive(ADA, batch.batch_id)
        assert failing.stop_failing()
        assert stored(db, batch).status == "archived"
        brewing.archive(ADA, batch.batch_id)
        assert {each.status for each in db.reminders(batch.batch_id).all()} == {"cancelled"}
        assert len(timeline(db, batch)) == 1


def test_reminder_that_is_sent_while_its_batch_is_archived_stays_sent(memory: Kefir) -> None:
    batch = start(memory, ADA)
    reminder = remind(memory, batch, "r")
    slow, between = watched(memory)

    def send_first(call: Call) -> None:
        if call.operation == "UpdateItem":
            between.before = lambda call: None
            memory.update(memory.reminder(batch.batch_id, reminder.reminder_id), status="sent")

    between.before = send_first
    Brewing(slow).archive(ADA, batch.batch_id)
    assert memory.reminder(batch.batch_id, reminder.reminder_id).one().status == "sent"


def test_deleting_a_batch_takes_along_events_and_reminders(db: Kefir, clock: ManualClock) -> None:
    batch, other = start(db, ADA, note="a"), start(db, ADA, note="b")
    remind(db, batch, "r")
    remind(db, other, "o")
    told_so_far: list[int] = []
    done = Brewing(db).delete(ADA, batch.batch_id, progress=lambda done: told_so_far.append(done.total))
    assert done.counts == {"BatchEvent": 1, "Reminder": 1, "Batch": 1}
    assert told_so_far == [1, 2, 3]
    assert [each.batch_id for each in db.batches(ADA).all()] == [other.batch_id]
    assert timeline(db, batch) == []
    clock.advance(7200)
    assert [each.reminder_id for each in db.due(db.now()).all()] == ["o"]
    assert Brewing(db).delete(ADA, batch.batch_id).total == 0


def test_note_that_slips_in_while_its_batch_is_deleted_is_deleted_too(memory: Kefir) -> None:
    batch = start(memory, ADA, note="a")
    slow, between = watched(memory)

    def slip_in(call: Call) -> None:
        if call.operation == "DeleteItem":  # of the batch, after its events
            between.before = lambda call: None
            Brewing(memory).note(ADA, batch.batch_id, "late")

    between.before = slip_in
    done = Brewing(slow).delete(ADA, batch.batch_id)
    assert done.counts == {"BatchEvent": 2, "Batch": 1}
    assert timeline(memory, batch) == []
