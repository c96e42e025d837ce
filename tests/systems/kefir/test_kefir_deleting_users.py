"""Deleting a user: everything of theirs goes, without a scan, whatever interrupts it or is written meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from singletable import Cascade, Database
from singletable.client import Call, open_client
from singletable.clock import ManualClock
from singletable_systems.kefir.errors import UserNotFoundError
from singletable_systems.kefir.model.keys import DeviceId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.reactions.schedules import LocalScheduler
from singletable_systems.kefir.services.accounts import Accounts
from singletable_systems.kefir.services.batches import Brewing
from singletable_systems.kefir.services.devices import Devices
from support.design_clients import on_client
from support.failing_clients import FailingClient
from support.targets import TARGETS
from systems.kefir_users import ADA, BO, everything, nothing_but, opened_kefir, settle_in, start, watched

# Of each user who has settled in: two batches, each with a note, a change and two reminders; two devices.
ALL = {"BatchEvent": 4, "Reminder": 4, "Batch": 2, "Device": 2, "User": 1}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    with opened_kefir(request.param, clock) as db:
        settle_in(db, BO)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[Kefir]:
    with opened_kefir("embedded", clock) as db:
        settle_in(db, BO)
        yield db


def test_everything_of_a_user_goes_and_nothing_of_others(db: Kefir) -> None:
    others = everything(db)
    settle_in(db, ADA)
    asking, between = watched(db)
    assert Accounts(asking).delete_all_data(ADA).counts == ALL
    assert nothing_but(db, others)
    assert "Scan" not in between.operations()


def test_plan_counts_and_deletes_nothing(db: Kefir) -> None:
    settle_in(db, ADA)
    before = everything(db)
    asking, between = watched(db)
    assert Accounts(asking).deletion_plan(ADA).counts == ALL
    assert nothing_but(db, before)
    assert set(between.operations()) == {"GetItem", "Query"}


def test_progress_tells_how_much_of_the_plan_is_done(memory: Kefir) -> None:
    settle_in(memory, ADA)
    accounts = Accounts(memory)
    told: list[Cascade] = []
    planned = accounts.deletion_plan(ADA).total
    done = accounts.delete_all_data(ADA, progress=told.append)
    totals = [each.total for each in told]
    assert totals == sorted(totals)
    assert (totals[0], totals[-1]) == (2, planned)
    units = [each.units for each in told]
    assert units == sorted(units)
    assert told[-1] == done


def test_user_with_more_than_fits_a_request_goes_whole(memory: Kefir) -> None:
    others = everything(memory)
    [batch] = settle_in(memory, ADA, batches=1)
    brewing = Brewing(memory)
    for number in range(230):
        brewing.note(ADA, batch.batch_id, f"note {number}")
    for _ in range(30):
        start(memory, ADA)
    done = Accounts(memory).delete_all_data(ADA)
    assert (done.counts["BatchEvent"], done.counts["Batch"]) == (232, 31)
    assert nothing_but(memory, others)


def test_deleting_again_does_nothing(memory: Kefir) -> None:
    others = everything(memory)
    settle_in(memory, ADA)
    Accounts(memory).delete_all_data(ADA)
    assert Accounts(memory).delete_all_data(ADA).total == 0
    assert nothing_but(memory, others)


def test_email_and_push_token_are_free_afterwards(memory: Kefir) -> None:
    settle_in(memory, ADA)
    Accounts(memory).delete_all_data(ADA)
    settle_in(memory, ADA)
    assert Accounts(memory).deletion_plan(ADA).counts == ALL


def test_silent_device_that_is_not_swept_yet_goes_too(memory: Kefir, clock: ManualClock) -> None:
    others = everything(memory)
    settle_in(memory, ADA)
    clock.jump(300 * 86400)
    assert memory.devices(ADA).first() is None
    Accounts(memory).delete_all_data(ADA)
    assert nothing_but(memory, others)


@pytest.mark.parametrize("loses_answer", [False, True], ids=["before", "after"])
def test_deletion_that_was_interrupted_anywhere_is_gone_on_with(
    clock: ManualClock, loses_answer: bool
) -> None:
    number = 0
    is_over = False
    while not is_over:
        number += 1
        with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
            failing = FailingClient(client)
            db = on_client(Kefir, failing, stage="test")
            settle_in(db, BO, batches=1)
            others = everything(db)
            settle_in(db, ADA, batches=2)
            failing.fail_at(number, RuntimeError, loses_answer=loses_answer)
            accounts = Accounts(db)
            try:
                accounts.delete_all_data(ADA)
                is_over = True
            except RuntimeError:
                accounts.delete_all_data(ADA)
            failing.stop_failing()
            assert nothing_but(db, others), f"call {number}"
    assert number > 20


def test_what_is_written_meanwhile_goes_too(memory: Kefir) -> None:
    others = everything(memory)
    batches = settle_in(memory, ADA)
    asking, between = watched(memory)
    late = iter(range(100))

    def slip_in(call: Call) -> None:
        """Before everything is deleted that is not deleted in batches: a batch, a device, the user."""
        if call.operation not in ("DeleteItem", "TransactWriteItems"):
            return
        brewing, number = Brewing(memory), next(late)
        between.before = lambda call: None
        for batch in (*batches, start(memory, ADA, name=f"late {number}")):
            if memory.own_batch(ADA, batch.batch_id).maybe() is not None:
                brewing.note(ADA, batch.batch_id, f"late {number}")
        name = f"late-{number}"
        Devices(memory).register(ADA, DeviceId(name), platform="web", push_token=name)
        between.before = slip_in if number < 3 else slip_in_last

    def slip_in_last(call: Call) -> None:
        """Just before the account goes."""
        if call.operation == "TransactWriteItems" and "METADATA" in str(call.params):
            between.before = lambda call: None
            start(memory, ADA, name="last")

    between.before = slip_in
    done = Accounts(asking).delete_all_data(ADA)
    assert next(late) == 4
    assert done.counts["Batch"] == 2 + 4 + 1
    assert nothing_but(memory, others)


def test_schedules_go_with_what_they_were_made_for(memory: Kefir) -> None:
    """The consumer of the table's changes cancels them, after an archived batch and after a deleted user."""
    assert isinstance(memory.scheduler, LocalScheduler)
    consumer = memory.consume(background=False, wait=lambda seconds: None)
    archived, _ = settle_in(memory, ADA)
    consumer.drain()
    assert len(memory.scheduler.schedules) == 4
    Brewing(memory).archive(ADA, archived.batch_id)
    consumer.drain()
    assert len(memory.scheduler.schedules) == 3
    Accounts(memory).delete_all_data(ADA)
    consumer.drain()
    bos = {batch.batch_id for batch in memory.batches(BO).all()}
    assert {each.payload["batchId"] for each in memory.scheduler.schedules.values()} == bos


def test_nothing_can_be_added_to_an_account_that_is_gone(memory: Kefir) -> None:
    settle_in(memory, ADA)
    Accounts(memory).delete_all_data(ADA)
    with pytest.raises(UserNotFoundError):
        start(memory, ADA, temperature_c=Decimal(20))
    with pytest.raises(UserNotFoundError):
        Devices(memory).register(ADA, DeviceId("d"), platform="ios", push_token="t")
