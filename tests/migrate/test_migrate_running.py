"""Migrations on tables with old data: the result, interruptions, others who write meanwhile, dry runs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from designs import kefir
from designs.kefir import Batch, BatchId, Status, UserId
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.errors import (
    CancellationReason,
    TargetThrottledError,
    ThroughputExceededError,
    TransactionCanceledError,
)
from singletable.migrate import Migration, Runner, VerificationError
from support.design_clients import Between
from support.migrating import ADD_STATUS_INDEX, TABLE, drive, kefir_on, old_batch, old_table, stored, text
from support.targets import EVERY_TARGET

each_target = pytest.mark.parametrize("target", EVERY_TARGET)


@each_target
def test_old_items_get_the_keys_of_the_new_version(target: str) -> None:
    with old_table(target) as client:
        db = kefir_on(client)
        (report,) = Runner(db).run([ADD_STATUS_INDEX])
        assert report.state == "done"
        items = stored(client)
        batch = items["USER#u1", "BATCH#b001"]
        assert batch["GSI1SK"] == {"S": "STATUS#in_fridge#2024-01-15T10:00:01.000Z"}
        assert batch["GSI2PK"]["S"].startswith("STATUS#in_fridge#")
        assert batch["GSI2SK"] == {"S": "BATCH#2024-01-15T10:00:01.000Z#b001"}
        assert batch["entityType"] == {"S": "Batch"}
        assert batch["importedFrom"] == {"S": "paper"}
        assert ("BATCH#b001", "EVENT#2024-02-01T08:00:01.000Z#e1") in items
        assert ("BATCH#b001", "EVENT#2024-02-01T08:00:01Z#e1") not in items
        assert Runner(db).verify().is_right


@each_target
def test_patterns_of_the_new_version_find_old_items(target: str) -> None:
    with old_table(target) as client:
        db = kefir_on(client)
        Runner(db).run([ADD_STATUS_INDEX])
        assert [batch.batch_id for batch in db.batches_by_status("active").all()] == ["b000", "b004"]
        now = datetime(2025, 1, 1, tzinfo=UTC)
        assert [reminder.reminder_id for reminder in db.due(now).all()] == ["r0", "r2", "r4"]
        assert [event.event_id for event in db.events(BatchId("b002")).all()] == ["e2"]


@each_target
def test_sparse_keys_are_removed_where_the_condition_does_not_hold(target: str) -> None:
    with old_table(target) as client:
        assert "GSI1PK" in stored(client)["BATCH#b001", "REMINDER#r1"]
        Runner(kefir_on(client)).run([ADD_STATUS_INDEX])
        sent = stored(client)["BATCH#b001", "REMINDER#r1"]
        assert not {"GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"} & sent.keys()
        pending = stored(client)["BATCH#b002", "REMINDER#r2"]
        assert pending["GSI2PK"] == {"S": "REMINDER#PENDING"}


@each_target
def test_adding_an_index_names_the_attributes_of_all_keys(target: str) -> None:
    with old_table(target) as client:
        between = Between(client)
        Runner(kefir_on(between)).run([Migration("0001_index", "Index", ADD_STATUS_INDEX.steps[:1], None)])
        (update,) = [call.params for call in between.calls if call.operation == "UpdateTable"]
        definitions = {
            each["AttributeName"]: each["AttributeType"] for each in update["AttributeDefinitions"]
        }
        assert definitions == dict.fromkeys(("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"), "S")
        table = client.call("DescribeTable", {"TableName": TABLE})["Table"]
        assert {each["AttributeName"] for each in table["AttributeDefinitions"]} == definitions.keys()


@each_target
def test_run_is_recorded_and_the_second_run_does_nothing(target: str) -> None:
    with old_table(target) as client:
        runner = Runner(kefir_on(client))
        runner.run([ADD_STATUS_INDEX])
        before = stored(client, records=True)
        record = runner.status([ADD_STATUS_INDEX])["0002_add_status_index"]
        assert (record.state, record.title, record.owner) == ("done", "Add status index", "")
        assert (record.counts.moved, record.counts.failed) == (6, 0)
        assert record.finished_us >= record.started_us > 0
        (report,) = Runner(kefir_on(client)).run([ADD_STATUS_INDEX])
        assert report.state == "was done"
        assert stored(client, records=True) == before


@pytest.mark.parametrize("operation", ["UpdateItem", "TransactWriteItems"])
def test_run_that_is_throttled_for_long_stops_and_goes_on_later(operation: str) -> None:
    with old_table("embedded") as client:
        between = Between(client)

        def throttle(call: Call) -> None:
            if call.operation != operation or "MIGRATIONS" in repr(call.params):
                return
            if operation == "UpdateItem":
                raise ThroughputExceededError("too much", [])
            raise TransactionCanceledError([CancellationReason("ThrottlingError", "too much")])

        between.before = throttle
        with pytest.raises(TargetThrottledError, match=f"the table {TABLE} is throttled.*: too much"):
            Runner(kefir_on(between)).run([ADD_STATUS_INDEX])
        (report,) = Runner(kefir_on(client)).run([ADD_STATUS_INDEX])
        assert report.state == "done"
        assert [step.failures for step in report.steps if step.failures] == []


@each_target
def test_dry_run_counts_exactly_and_changes_nothing(target: str) -> None:
    with old_table(target) as client:
        db = kefir_on(client)
        before = stored(client, records=True)
        (rehearsed,) = Runner(db).run([ADD_STATUS_INDEX], dry_run=True)
        assert stored(client, records=True) == before
        description = client.call("DescribeTable", {"TableName": TABLE})["Table"]
        assert [index["IndexName"] for index in description["GlobalSecondaryIndexes"]] == ["GSI1"]
        (done,) = Runner(db).run([ADD_STATUS_INDEX])
        moved = [step.counts.moved for step in (rehearsed.steps[1], done.steps[1]) if step.counts]
        assert moved == [6, 6]
        changes = rehearsed.steps[2]
        assert changes.counts is not None
        assert changes.counts.changed == 3 + 6 + 6  # events are moved before, and are right then
        assert len(changes.samples) == 3


def test_killed_at_any_call_a_run_goes_on_where_it_stood() -> None:
    with old_table("embedded") as client:
        Runner(kefir_on(client)).run([ADD_STATUS_INDEX])
        wanted = stored(client)
    for kill_after in range(1, 60):
        clock = ManualClock()
        with old_table("embedded", clock=clock) as client:
            db = kefir_on(client)
            runs = 1
            while not drive(client, Runner(db).steps([ADD_STATUS_INDEX]), kill_after + runs - 1):
                clock.advance(61)  # the lease of the dead one
                runs += 1
            assert stored(client) == wanted, kill_after
            assert Runner(db).status([])["0002_add_status_index"].is_done


def test_pages_that_are_done_are_not_read_again() -> None:
    clock = ManualClock()
    with old_table("embedded", clock=clock) as client:
        db = kefir_on(client)
        drive(client, Runner(db, page_items=5).steps([ADD_STATUS_INDEX]), 14)
        record = Runner(db).status([])["0002_add_status_index"]
        assert record.segments[0].last is not None
        clock.advance(61)
        Runner(db).run([ADD_STATUS_INDEX])
        assert Runner(db).verify().is_right


def test_writers_between_the_calls_lose_nothing_and_leave_nothing_stale() -> None:
    states: tuple[Status, ...] = ("active", "ready", "in_fridge", "archived")
    with old_table("embedded", count=12) as client:
        db = kefir_on(client)
        turn = 0
        wanted: dict[str, str] = {}
        notes: dict[str, str] = {}

        def write() -> None:
            nonlocal turn
            turn += 1
            number = turn % 12
            key = Batch.key.get(
                kefir.UserPK(user_id=UserId(f"u{number % 3}")),
                kefir.BatchSK(batch_id=BatchId(f"b{number:03}")),
            )
            batch = db.plan(key).one()
            assert batch is not None
            wanted[batch.batch_id] = states[turn % 4]
            notes[batch.batch_id] = f"note {turn}"
            db.update(batch, status=states[turn % 4], public_note=notes[batch.batch_id])

        # The code of the new version writes to an index that must be there first.
        Runner(db).run([Migration("0001_index", "Add the index", ADD_STATUS_INDEX.steps[:1], None)])
        assert drive(client, Runner(db).steps([ADD_STATUS_INDEX]), 10_000, between=write)
        assert turn > 12
        for batch_id, status in wanted.items():
            (batch,) = db.batch_by_id(BatchId(batch_id)).all()
            assert (batch.status, batch.public_note) == (status, notes[batch_id])
        assert Runner(db).verify().is_right
        listed = {
            batch.batch_id: batch.status for state in states for batch in db.batches_by_status(state).all()
        }
        assert listed == wanted


def test_item_that_is_deleted_meanwhile_stays_deleted() -> None:
    with old_table("embedded") as client:
        db = kefir_on(client)
        keys = list(stored(client))

        def delete() -> None:
            if keys:
                pk, sk = keys.pop()
                client.call("DeleteItem", {"TableName": TABLE, "Key": text(PK=pk, SK=sk)})

        assert drive(client, Runner(db).steps([ADD_STATUS_INDEX]), 10_000, between=delete)
        assert {key[1][:6] for key in stored(client)} <= {"EVENT#"}  # those that had moved before


def test_verify_stops_the_run_and_the_next_one_writes_again() -> None:
    with old_table("embedded") as client:
        db = kefir_on(client)
        steps = Runner(db).steps([ADD_STATUS_INDEX])
        late = old_batch(7, "ready")
        scans = 0

        def old_code_writes() -> None:
            nonlocal scans
            scans += 1
            if scans == 28:
                client.call("PutItem", {"TableName": TABLE, "Item": late})

        with pytest.raises(VerificationError, match="1 item of kefir-app-test-table differ"):
            drive(client, steps, 10_000, old_code_writes)
        (report,) = Runner(db).run([ADD_STATUS_INDEX])
        assert report.state == "done"
        assert Runner(db).verify().is_right
