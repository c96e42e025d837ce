"""Two change a batch at once, or one is interrupted: every change has its event, and every event its change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from singletable import Database
from singletable.client import Call, open_client
from singletable.clock import ManualClock
from singletable.errors import VersionConflictError
from singletable.systems.racing import TRIES_MAX
from singletable_systems.kefir.errors import BatchNotFoundError, ChangeRefusedError
from singletable_systems.kefir.model.keys import BatchId, Status, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.batches import Brewing
from support.design_clients import on_client
from support.failing_clients import FailingClient
from support.targets import TARGETS
from systems.kefir_timelines import BRING, is_chain, stored, timeline, told
from systems.kefir_users import ADA, opened_kefir, sign_up, start, watched


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


@pytest.mark.parametrize(
    ("first", "second"), [("in_fridge", "ready"), ("ready", "archived"), ("ready", "ready")]
)
def test_change_that_was_overtaken_decides_again(db: Kefir, first: Status, second: Status) -> None:
    batch = start(db, ADA)
    slow, between = watched(db)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            BRING[first](Brewing(db), ADA, batch.batch_id)

    between.before = overtake
    after = BRING[second](Brewing(slow), ADA, batch.batch_id)
    assert after == stored(db, batch)
    expected = [f"status_change None-None active-{first}", f"status_change None-None {first}-{second}"]
    assert told(db, batch) == expected[: len({first, second})]
    assert is_chain(db, batch)


def test_change_that_is_no_longer_allowed_is_refused_after_it_was_overtaken(memory: Kefir) -> None:
    batch = start(memory, ADA)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Brewing(memory).archive(ADA, batch.batch_id)

    between.before = overtake
    with pytest.raises(ChangeRefusedError, match="is archived, and cannot become ready"):
        Brewing(slow).ready(ADA, batch.batch_id)
    assert told(memory, batch) == ["status_change None-None active-archived"]


def write_late(brewing: Brewing, user_id: UserId, batch_id: BatchId) -> object:
    return brewing.note(user_id, batch_id, "too late")


@pytest.mark.parametrize("act", [Brewing.ready, write_late], ids=["change", "note"])
def test_batch_that_is_deleted_meanwhile_gets_no_event(
    memory: Kefir, act: Callable[[Brewing, UserId, BatchId], object]
) -> None:
    batch = start(memory, ADA)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Brewing(memory).delete(ADA, batch.batch_id)

    between.before = overtake
    with pytest.raises(BatchNotFoundError):
        act(Brewing(slow), ADA, batch.batch_id)
    assert between.operations()[-1] == "TransactWriteItems"
    assert timeline(memory, batch) == []


def test_change_that_is_overtaken_for_ever_is_given_up(memory: Kefir) -> None:
    batch = start(memory, ADA)
    slow, between = watched(memory)
    overtaken = []

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            overtaken.append(call)
            memory.update(memory.own_batch(ADA, batch.batch_id), name=f"name {len(overtaken)}")

    between.before = overtake
    with pytest.raises(VersionConflictError):
        Brewing(slow).ready(ADA, batch.batch_id)
    assert len(overtaken) == TRIES_MAX
    assert timeline(memory, batch) == []


def test_threads_that_change_one_batch_leave_a_whole_timeline(db: Kefir) -> None:
    batch = start(db, ADA)
    changes = [Brewing.to_fridge, Brewing.resume, Brewing.ready, Brewing.resume]

    def work(number: int) -> None:
        brewing = Brewing(db)
        for change in changes[number:] + changes[:number]:
            change(brewing, ADA, batch.batch_id)
            brewing.note(ADA, batch.batch_id, f"note {number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert is_chain(db, batch)
    assert sum(event.type == "note" for event in timeline(db, batch)) == 16


@pytest.mark.parametrize("loses_answer", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", [1, 2])
def test_change_that_fails_on_the_way_is_done_by_repeating_it(
    clock: ManualClock, number: int, loses_answer: bool
) -> None:
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        failing = FailingClient(client)
        db = on_client(Kefir, failing, stage="test")
        sign_up(db, ADA)
        batch = start(db, ADA)
        failing.fail_at(number, RuntimeError, loses_answer=loses_answer)
        with pytest.raises(RuntimeError):
            Brewing(db).ready(ADA, batch.batch_id)
        failing.stop_failing()
        assert is_chain(db, batch)
        Brewing(db).ready(ADA, batch.batch_id)
        assert told(db, batch) == ["status_change None-None active-ready"]
        assert is_chain(db, batch)
