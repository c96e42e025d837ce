"""Several dispatchers send each reminder once, a crash loses none, and the work grows with what is due alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest

from singletable.client import Client
from singletable.client.calls import Answer
from singletable.clock import ManualClock
from singletable.errors import TargetUnreachableError
from singletable_systems.kefir.errors import ReminderRefusedError
from singletable_systems.kefir.model.keys import BatchId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.dispatcher import Dispatcher
from singletable_systems.kefir.services.push import DEVICE_GONE
from singletable_systems.kefir.services.reminders import CLAIM, Reminders
from support.design_clients import Between, on_client
from support.failing_clients import FailingClient
from support.opened_designs import opened_design, stored_items
from support.targets import TARGETS
from systems.kefir_reminders import BATCH, ScriptedPush, brewer, minutes_pass, queue, remind, stored

NAMES = ["r1", "r2", "r3"]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    with opened_design(Kefir, request.param, clock, stage="dev") as db:
        yield db


@pytest.fixture
def push() -> ScriptedPush:
    return ScriptedPush()


class Crash(BaseException):
    """What nobody catches, as nobody catches the end of a process."""


class MeteredClient(Between):
    """Adds up what the calls cost, and the items that queries read."""

    def __init__(self, inner: Client) -> None:
        super().__init__(inner)
        self.units = 0.0
        self.items_read = 0

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        answer = super().call(operation, params)
        self.units += answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0)
        self.items_read += answer.get("ScannedCount", 0)
        return answer


def through(client: Between) -> Kefir:
    """Open Kefir by a client that the test holds, on a table that is there."""
    return on_client(Kefir, client, makes_table=False, stage="dev")


def claim_runs_out(clock: ManualClock) -> None:
    """Let a claim that was made just now be over."""
    clock.advance(CLAIM.total_seconds() + 0.001)


def some_reminders(db: Kefir) -> None:
    """Make reminders that are due, of a user with a device that is there and one that is not any more."""
    brewer(db, devices=2)
    for name in NAMES:
        remind(db, name, minutes=-1)


def calls_of_a_run() -> int:
    """Return how many calls it takes to send the reminders."""
    with Kefir.open(":memory:", clock=ManualClock()) as db:
        some_reminders(db)
        client = Between(db.session.client)
        assert Dispatcher(through(client), gone_device()).send_due() == 3
        return len(client.calls)


def gone_device() -> ScriptedPush:
    push = ScriptedPush()
    push.errors["u1-2"] = DEVICE_GONE
    return push


EVERY_CALL = range(1, calls_of_a_run() + 1)


# --- several at work --------------------------------------------------------------------------------


def test_dispatcher_that_works_while_another_pushes_sends_nothing_twice(
    db: Kefir, push: ScriptedPush
) -> None:
    brewer(db)
    for name in NAMES:
        remind(db, name, minutes=-1)
    other = Dispatcher(db, push)
    counts: list[int] = []

    def run_the_other() -> None:
        push.meanwhile = lambda: None
        remind(db, "new", minutes=-1)
        counts.append(other.send_due())

    push.meanwhile = run_the_other
    assert Dispatcher(db, push).send_due() == 3
    assert counts == [1], "only what nobody had claimed"
    assert sorted(push.bodies) == ["new", *NAMES]


@pytest.mark.parametrize("number", EVERY_CALL)
def test_dispatcher_that_runs_before_any_call_of_another_sends_nothing_twice(
    clock: ManualClock, number: int
) -> None:
    with Kefir.open(":memory:", clock=clock) as db:
        some_reminders(db)
        client = Between(db.session.client)
        push = gone_device()
        other = Dispatcher(db, push)
        counts: list[int] = []

        def run_the_other(call: object) -> None:
            if len(client.calls) == number:
                counts.append(other.send_due())

        client.before = run_the_other
        first = Dispatcher(through(client), push).send_due()
        assert first + sum(counts) == 3
        to_the_device = [
            message.body for call in push.calls for message in call if message.push_token == "u1-1"
        ]
        assert sorted(to_the_device) == NAMES
        assert {stored(db, name).status for name in NAMES} == {"sent"}
        assert queue(db) == []


@pytest.mark.parametrize("number", EVERY_CALL)
def test_dispatcher_that_claims_before_any_call_of_another_keeps_what_it_has_claimed(
    clock: ManualClock, number: int
) -> None:
    with Kefir.open(":memory:", clock=clock) as db:
        some_reminders(db)
        client = Between(db.session.client)
        first, second = gone_device(), gone_device()

        def hang() -> None:
            raise Crash  # as far as the first can tell, the second is still waiting for its push service

        def claim_the_rest(call: object) -> None:
            if len(client.calls) == number:
                second.meanwhile = hang
                with suppress(Crash):
                    Dispatcher(db, second).send_due()

        client.before = claim_the_rest
        sent = Dispatcher(through(client), first).send_due()
        assert sent == len(set(first.bodies))
        assert sorted([*set(first.bodies), *set(second.bodies)]) == NAMES


def test_threads_send_every_reminder_once(db: Kefir) -> None:
    brewer(db)
    names = [f"r{number}" for number in range(60)]
    for name in names:
        remind(db, name, minutes=-1)
    pushes = [ScriptedPush() for _ in range(4)]
    barrier = Barrier(len(pushes))
    counts: list[int] = []

    def run(push: ScriptedPush) -> None:
        dispatcher = Dispatcher(db, push)
        barrier.wait()
        counts.append(sum(dispatcher.send_due(limit=7) for _ in range(10)))

    threads = [Thread(target=run, args=(push,)) for push in pushes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(body for push in pushes for body in push.bodies) == Counter(names)
    assert sum(counts) == 60
    assert queue(db) == []


def test_reminder_that_has_changed_since_the_index_knows_it_is_sent_by_the_same_sweep(
    clock: ManualClock, push: ScriptedPush
) -> None:
    with Kefir.open(":memory:", clock=clock, engine={"index_delay_s": 10}) as db:
        brewer(db)
        made = remind(db, "r1", minutes=-1)
        clock.advance(10)
        db.update(made, message="new words")
        assert [each.message for each in db.due(db.now()).all()] == ["r1"]
        assert Dispatcher(db, push).send_due() == 1
        assert push.bodies == ["new words"]


def test_index_that_tells_of_the_past_leads_to_no_second_push(clock: ManualClock, push: ScriptedPush) -> None:
    with Kefir.open(":memory:", clock=clock, engine={"index_delay_s": 10}) as db:
        brewer(db)
        for name in NAMES:
            remind(db, name, minutes=-1)
        clock.advance(10)
        assert Dispatcher(db, push).send_due() == 3
        assert len(queue(db)) == 3, "the index does not know it yet"
        assert Dispatcher(db, push).send_due() == 0
        assert sorted(push.bodies) == NAMES


@pytest.mark.parametrize("number", EVERY_CALL)
def test_reminder_that_is_cancelled_at_any_moment_stays_cancelled_and_is_sent_only_if_it_was_claimed(
    clock: ManualClock, number: int
) -> None:
    with Kefir.open(":memory:", clock=clock) as db:
        some_reminders(db)
        client = Between(db.session.client)
        push = gone_device()
        was_claimed: list[bool] = []

        def cancel(call: object) -> None:
            if len(client.calls) != number:
                return
            was_claimed.append(stored(db, "r2").next_try_at > db.now())
            try:
                Reminders(db).cancel(BATCH, ReminderId("r2"))
            except ReminderRefusedError:
                assert stored(db, "r2").status == "sent"
                was_claimed[:] = [True]

        client.before = cancel
        sent = Dispatcher(through(client), push).send_due()
        end = stored(db, "r2")
        assert ("r2" in push.bodies) == was_claimed[0]
        assert sent == (3 if end.status == "sent" else 2)
        assert queue(db) == []


def test_reminder_that_is_cancelled_by_somebody_who_knows_of_no_claims_stays_cancelled(
    db: Kefir, push: ScriptedPush
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    push.meanwhile = lambda: db.update(db.reminder(BATCH, ReminderId("r1")), status="cancelled")
    assert Dispatcher(db, push).send_due() == 0
    assert stored(db, "r1").status == "cancelled"


def test_reminder_that_is_put_off_while_it_is_pushed_is_due_again(
    db: Kefir, clock: ManualClock, push: ScriptedPush
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    later = db.now() + timedelta(hours=1)

    def put_off() -> None:
        push.meanwhile = lambda: None
        Reminders(db).reschedule(BATCH, ReminderId("r1"), later)

    push.meanwhile = put_off
    assert Dispatcher(db, push).send_due() == 0
    assert (stored(db, "r1").status, stored(db, "r1").due_at) == ("pending", later)
    minutes_pass(clock, 61)
    assert Dispatcher(db, push).send_due() == 1


def test_arn_that_is_stored_while_a_reminder_is_pushed_does_not_keep_it_in_the_queue(
    db: Kefir, push: ScriptedPush
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    push.meanwhile = lambda: db.update(db.reminder(BATCH, ReminderId("r1")), scheduler_arn="arn:some")
    assert Dispatcher(db, push).send_due() == 1
    assert stored(db, "r1").status == "sent"


def test_dispatcher_that_was_away_for_longer_than_its_claim_changes_nothing_of_the_others(
    db: Kefir, clock: ManualClock, push: ScriptedPush
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)
    other = Dispatcher(db, push)

    def sleep_long() -> None:
        push.meanwhile = lambda: push.errors.update({"u1-1": "MessageRateExceeded"})
        claim_runs_out(clock)
        assert other.send_due() == 0

    push.meanwhile = sleep_long
    assert Dispatcher(db, push).send_due() == 0
    assert stored(db, "r1").attempts == 1, "as the other has left it"


# --- crashes ----------------------------------------------------------------------------------------


def unreachable() -> Exception:
    return TargetUnreachableError("nobody answers", hint="try again")


@pytest.mark.parametrize("loses_answer", [False, True], ids=["not carried out", "answer lost"])
@pytest.mark.parametrize("error", [Crash, unreachable], ids=["process dies", "call fails"])
@pytest.mark.parametrize("number", EVERY_CALL)
def test_failure_of_any_call_loses_no_reminder(
    clock: ManualClock, number: int, error: Callable[[], Any], loses_answer: bool
) -> None:
    with Kefir.open(":memory:", clock=clock) as db:
        some_reminders(db)
        client = FailingClient(db.session.client)
        push = gone_device()
        client.fail_at(number, error, loses_answer=loses_answer)
        with pytest.raises((Crash, TargetUnreachableError, ExceptionGroup)):
            Dispatcher(through(client), push).send_due()
        assert client.stop_failing()
        unsettled = {name for name in NAMES if stored(db, name).status == "pending"}
        pushed = set(push.bodies)
        assert set(NAMES) - unsettled <= pushed
        if error is unreachable and pushed:
            assert len(unsettled) <= 1, "a call that fails holds up one of those that were pushed"

        Dispatcher(db, push).send_due()
        claim_runs_out(clock)
        Dispatcher(db, push).send_due()
        assert {stored(db, name).status for name in NAMES} == {"sent"}
        times = Counter(
            message.body for call in push.calls for message in call if message.push_token == "u1-1"
        )
        assert times == {name: 2 if name in unsettled & pushed else 1 for name in NAMES}
        remind(db, "one more", minutes=-1)
        assert Dispatcher(db, push).send_due() == 1
        assert [device.push_token for device in db.devices(UserId("u1")).all()] == ["u1-1"]
        assert queue(db) == []
        assert not any(
            item.get("GSI2PK", {}).get("S", "").startswith("REMINDER#") for item in stored_items(db)
        )
        assert db.verify().is_clean


def test_crash_while_pushing_leads_to_a_second_push_after_the_claim_has_run_out(
    db: Kefir, clock: ManualClock, push: ScriptedPush
) -> None:
    brewer(db)
    remind(db, "r1", minutes=-1)

    def die() -> None:
        push.meanwhile = lambda: None
        raise Crash

    push.meanwhile = die
    with pytest.raises(Crash):
        Dispatcher(db, push).send_due()
    clock.advance(CLAIM.total_seconds())
    assert Dispatcher(db, push).send_due() == 0
    clock.advance(0.001)
    assert Dispatcher(db, push).send_due() == 1
    assert push.bodies == ["r1", "r1"]


# --- what it costs ----------------------------------------------------------------------------------


def cost_of_sending(db: Kefir) -> tuple[Counter[str], int, float]:
    client = MeteredClient(db.session.client)
    assert Dispatcher(through(client), ScriptedPush()).send_due() == 5
    return Counter(client.operations()), client.items_read, client.units


@pytest.fixture(params=TARGETS)
def crowded(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[tuple[Kefir, Kefir]]:
    """Two tables with five due reminders; in the second, many others are pending, sent or cancelled."""
    with (
        opened_design(Kefir, request.param, clock, stage="dev") as empty,
        opened_design(Kefir, request.param, clock, stage="dev") as full,
    ):
        for db in (empty, full):
            brewer(db)
            for number in range(5):
                remind(db, f"due{number}", minutes=-1)
        brewer(full, UserId("u2"), BatchId("b2"))
        for number in range(300):
            other = remind(full, f"r{number}", minutes=1, user_id=UserId("u2"), batch_id=BatchId("b2"))
            if number % 3:
                full.update(other, status="sent" if number % 3 == 1 else "cancelled")
        yield empty, full


def test_work_grows_with_the_due_reminders_and_not_with_the_others(crowded: tuple[Kefir, Kefir]) -> None:
    empty, full = crowded
    operations, items_read, units = cost_of_sending(full)
    assert (operations, items_read, units) == cost_of_sending(empty)
    assert operations.keys() == {"Query", "GetItem", "UpdateItem"}
    assert operations["UpdateItem"] == 2 * 5, "each is claimed and marked"
    assert operations["GetItem"] == 1, "the user"
    assert operations["Query"] == 4 + 1, "the shards of the queue, and the devices"
    assert items_read == 5 + 1


def test_looking_when_nothing_is_due_reads_no_item(crowded: tuple[Kefir, Kefir]) -> None:
    _, full = crowded
    cost_of_sending(full)
    client = MeteredClient(full.session.client)
    assert Dispatcher(through(client), ScriptedPush()).send_due() == 0
    assert client.operations() == ["Query"] * 4
    assert client.items_read == 0
    assert client.units <= 4 * 0.5, "DynamoDB Local counts nothing for an empty page"


def test_reminders_that_are_claimed_or_put_off_are_not_read(
    crowded: tuple[Kefir, Kefir], push: ScriptedPush
) -> None:
    _, db = crowded
    cost_of_sending(db)
    for number in range(40):
        made = remind(db, f"claimed{number}", minutes=-10)
        db.update(made, next_try_at=db.now() + CLAIM)
    push.errors["u1-1"] = "MessageRateExceeded"
    for number in range(40):
        remind(db, f"put off{number}", minutes=-10)
    assert Dispatcher(db, push).send_due() == 0
    assert {stored(db, f"put off{number}").attempts for number in range(40)} == {1}
    client = MeteredClient(db.session.client)
    assert Dispatcher(through(client), push).send_due() == 0
    assert client.operations() == ["Query"] * 4
    assert client.items_read == 0


def test_user_and_devices_are_read_as_they_are_now(clock: ManualClock, push: ScriptedPush) -> None:
    with Kefir.open(":memory:", clock=clock) as db:
        brewer(db)
        remind(db, "r1", minutes=-1)
        client = Between(db.session.client)
        assert Dispatcher(through(client), push).send_due() == 1
        reads = [call.params for call in client.calls if call.operation in ("GetItem", "Query")]
        assert [read.get("ConsistentRead") for read in reads if "IndexName" not in read] == [True, True]
