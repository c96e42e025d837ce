"""Functions that a migration calls for items: what they return is written, rehearsed and verified."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from designs import kefir, kefir_v1
from designs.kefir import Batch, BatchEvent, BatchId, EventId, Kefir
from singletable import Create, Update
from singletable.cli import main
from singletable.client import Client
from singletable.clock import ManualClock
from singletable.design.tables.create import create_table
from singletable.errors import CapabilityError, DeclarationError, IndexMissingError, MigrationError
from singletable.migrate import Migration, RunFunction, Runner, VerificationError, Verify, new_migration, plan
from singletable.migrate.functions import find_function
from singletable.migrate.steps import step_data, step_of
from support.design_clients import Between
from support.migrating import ADD_STATUS_INDEX, EVERYWHERE, drive, fresh_client, kefir_on, old_items, stored
from support.targets import TARGETS

HERE = __name__
COUNT = 6


def fill_in(db: Kefir, batch: Batch) -> Iterator[Update[Batch] | Create[BatchEvent]]:
    """Say in the note of each batch that it was imported; then write it down as an event."""
    for together in fill_in_together(db, batch):
        yield from together


def fill_in_together(db: Kefir, batch: Batch) -> Iterator[list[Any]]:
    """Do the same in a transaction."""
    event_id = EventId(f"imported-{batch.batch_id}")
    known = [each.event_id for each in db.events(batch.batch_id).consistent().all()]
    if event_id not in known:
        event = BatchEvent(
            batch_id=batch.batch_id, event_id=event_id, type="note", created_at=batch.created_at
        )
        yield [Update(batch, public_note="imported"), Create(event)]


def count_up(db: Kefir, batch: Batch) -> Iterator[Update[Batch]]:
    """Write always: a mistake, which a verify finds."""
    yield Update(batch, bottle_count=(batch.bottle_count or 0) + 1)


def refuse(db: Kefir, batch: Batch) -> Iterator[Update[Batch]]:
    if batch.batch_id == "b002" and batch.public_note is None:
        raise DeclarationError("this one is not for me")
    return iter(())


def lose_the_first_race(db: Kefir, batch: Batch) -> Iterator[Update[Batch]]:
    """Return a write of what somebody else has changed by then, once for each batch."""
    if batch.public_note is None:
        if batch.name != "Renamed":
            db.update(batch.model_copy(), name="Renamed")
        yield Update(batch, public_note="imported")


def overtaken(db: Kefir, batch: Batch) -> Iterator[Update[Batch]]:
    """Miss what somebody else writes a moment later."""
    if batch.public_note is None:
        db.update(batch.model_copy(), public_note="imported")
        yield Update(batch, public_note="imported")


def look_beside(db: Kefir, batch: Batch) -> Iterator[Update[Batch]]:
    """Read an index."""
    list(db.batches_by_status("active").all())
    return iter(())


def return_texts(db: Kefir, batch: Batch) -> list[str]:
    return ["done"]


def for_nobody(db: Kefir, thing: int) -> None:
    """Name something that is no entity."""


def for_anything(db: Kefir, thing) -> None:  # type: ignore[no-untyped-def]
    """Name nothing."""


def alone(db: Kefir) -> None:
    """Take no entity."""


def migration(function: str) -> Migration:
    name = f"{HERE}:{function}"
    return Migration("0003_fill_in", "Fill in", (RunFunction(name), Verify(functions=(name,))), None)


FILL_IN = migration("fill_in")


@contextmanager
def batches(target: str = "embedded", clock: ManualClock | None = None) -> Iterator[Client]:
    """Open a target with batches in the form of the design."""
    with fresh_client(target, clock) as client:
        db = kefir_on(client)
        client.run(create_table(db.session))
        for item in old_items(COUNT):
            client.call("PutItem", {"TableName": db.session.table, "Item": item})
        Runner(db).run([ADD_STATUS_INDEX])
        yield client


def imported(client: Client) -> list[str]:
    return sorted(sk for _, sk in stored(client) if "imported" in sk)


@pytest.mark.parametrize("target", EVERYWHERE)
def test_what_a_function_returns_is_written(target: str) -> None:
    with batches(target) as client:
        db = kefir_on(client)
        (report,) = Runner(db).run([FILL_IN])
        assert (report.state, report.steps[1].did) == ("done", "every item is as it should be")
        assert report.steps[0].counts is not None
        assert report.steps[0].counts.changed == COUNT
        assert len(imported(client)) == COUNT
        assert {batch.public_note for batch in db.batches_by_status("active").all()} == {"imported"}
        (again,) = Runner(db).run([FILL_IN])
        assert again.state == "was done"


@pytest.mark.parametrize("target", TARGETS)
def test_list_of_writes_is_a_transaction(target: str) -> None:
    with batches(target) as client:
        (report,) = Runner(kefir_on(client)).run([migration("fill_in_together")])
        assert report.state == "done"
        assert len(imported(client)) == COUNT


def test_transaction_where_there_are_none_stops_the_run() -> None:
    with batches("without transactions") as client, pytest.raises(CapabilityError, match="no transactions"):
        Runner(kefir_on(client)).run([migration("fill_in_together")])


def test_with_an_event_loop_it_is_the_same() -> None:
    with batches() as client:
        (report,) = asyncio.run(Runner(kefir_on(client)).arun([FILL_IN]))
        assert report.state == "done"
        assert len(imported(client)) == COUNT


def test_dry_run_counts_and_writes_nothing() -> None:
    with batches() as client:
        before = stored(client, records=True)
        (report,) = Runner(kefir_on(client)).run([FILL_IN], dry_run=True)
        assert stored(client, records=True) == before
        call, verify = report.steps
        assert call.did.startswith(f"would be: {COUNT} changed of")
        assert call.samples[0]["writes"] == ["Update Batch", "Create BatchEvent"]
        assert verify.did == "would be verified"


def test_dry_run_does_not_call_a_function_before_its_items_are_what_they_will_be() -> None:
    with fresh_client("embedded") as client:
        client.run(create_table(kefir_on(client).session))
        for item in old_items(COUNT):
            client.call("PutItem", {"TableName": kefir_on(client).session.table, "Item": item})
        _, report = Runner(kefir_on(client)).run([ADD_STATUS_INDEX, FILL_IN], dry_run=True)
        assert report.steps[0].did.startswith("is counted when this is done: Move the items of BatchEvent")


@pytest.mark.parametrize("calls", range(3, 60, 8))
def test_killed_function_goes_on(calls: int) -> None:
    clock = ManualClock()
    with batches(clock=clock) as client:
        steps = Runner(kefir_on(client), page_items=2, owner="killed").steps([FILL_IN])
        drive(client, steps, calls)
        clock.advance(120)  # until the lease is over
        Runner(kefir_on(client), page_items=2).run([FILL_IN])
        assert len(imported(client)) == COUNT


def test_function_that_never_ends_is_found_by_the_verify() -> None:
    with batches() as client, pytest.raises(VerificationError, match=f"{COUNT} items .* differ"):
        Runner(kefir_on(client)).run([migration("count_up")])


def test_item_that_a_function_refuses_is_named_and_the_next_run_goes_on() -> None:
    with batches() as client:
        db = kefir_on(client)
        with pytest.raises(VerificationError, match=r"refuse failed for 1 item.*BATCH#b002: .*not for me"):
            Runner(db).run([migration("refuse")])
        (batch,) = [each for each in db.batches_by_status("ready").all() if each.batch_id == "b002"]
        db.update(batch, public_note="mine")
        (report,) = Runner(db).run([migration("refuse")])
        assert report.state == "done"


def test_item_that_somebody_changes_meanwhile_is_handed_to_the_function_again() -> None:
    with batches() as client:
        db = kefir_on(client)
        (report,) = Runner(db).run([migration("lose_the_first_race")])
        assert report.state == "done"
        found = [(batch.name, batch.public_note) for batch in db.batches_by_status("active").all()]
        assert set(found) == {("Renamed", "imported")}


def test_verify_asks_a_function_again_before_an_item_differs() -> None:
    with batches() as client:
        verify = Verify(functions=(f"{HERE}:overtaken",))
        (report,) = Runner(kefir_on(client)).run([Migration("0003_verify", "Verify", (verify,), None)])
        assert (report.state, report.steps[0].did) == ("done", "every item is as it should be")


def test_item_that_cannot_be_read_is_counted_once() -> None:
    with batches() as client:
        unreadable = {**old_items(1)[3], "entityType": {"S": "Batch"}, "stage": {"S": "none"}}
        client.call("PutItem", {"TableName": kefir_on(client).session.table, "Item": unreadable})
        verify = Verify({"Batch": ()}, functions=(f"{HERE}:refuse",))
        only = Migration("0003_verify", "Verify", (verify,), None)
        with pytest.raises(VerificationError, match=r"0003_verify: 2 items .* differ") as raised:
            Runner(kefir_on(client)).run([only])
        assert [text.split(": ")[0] for text in raised.value.outcome.failures] == [
            "USER#u0 / BATCH#b000",
            "USER#u2 / BATCH#b002",
        ]


def test_index_that_is_gone_is_no_failure_of_an_item() -> None:
    with batches() as client:
        db = kefir_on(client)
        gone = [{"Delete": {"IndexName": "GSI2"}}]
        client.call("UpdateTable", {"TableName": db.session.table, "GlobalSecondaryIndexUpdates": gone})
        with pytest.raises(IndexMissingError, match="GSI2"):
            Runner(db).run([migration("look_beside")])


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("step", [RunFunction(f"{HERE}:nothing"), Verify(functions=(f"{HERE}:nothing",))])
def test_function_that_is_not_there_is_refused_before_anything_is_read_or_written(
    step: RunFunction | Verify, *, dry_run: bool
) -> None:
    with batches() as client:
        before = stored(client, records=True)
        between = Between(client)
        later = Migration("0004_typo", "Typo", (step,), None)
        with pytest.raises(MigrationError, match=f"the function {HERE}:nothing is not there"):
            Runner(kefir_on(between)).run([FILL_IN, later], dry_run=dry_run)
        assert not [call for call in between.calls if call.operation == "Scan"]
        assert stored(client, records=True) == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.at_all:fill_in", "the function nowhere.at_all:fill_in is not there"),
        (f"{HERE}:nothing", "is not there"),
        (HERE, f"{HERE} is no function"),
        (f"{HERE}:COUNT", "is no function"),
        (f"{HERE}:for_nobody", "it says int, which Kefir does not have"),
        (f"{HERE}:for_anything", "it says nothing"),
        (f"{HERE}:alone", "does not take the open design and an entity"),
    ],
)
def test_what_is_no_such_function_is_refused(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(MigrationError, match=message):
        find_function(name, Kefir)
    with pytest.raises(MigrationError, match=message):
        plan(kefir.Kefir, tmp_path, functions=[name])


def test_function_that_returns_something_else_is_refused() -> None:
    with batches() as client, pytest.raises(MigrationError, match="returned str: it returns writes"):
        Runner(kefir_on(client)).run([migration("return_texts")])


def test_step_is_kept_in_a_file_and_tells_migrations_apart() -> None:
    for step in FILL_IN.steps:
        assert step_of(json.loads(json.dumps(step_data(step)))) == step
    assert FILL_IN.steps[0].says() == (
        f"Call {HERE}:fill_in for the items that are there, and write what it returns."
    )
    assert FILL_IN.fingerprint() != replace(migration("count_up"), id=FILL_IN.id).fingerprint()


def test_new_migration_calls_a_function_before_it_verifies(tmp_path: Path) -> None:
    first = new_migration(kefir_v1.Kefir, "First version", tmp_path)
    assert first is not None
    steps = plan(kefir.Kefir, tmp_path, functions=[f"{HERE}:fill_in"]).steps
    kinds = [step.kind for step in steps]
    assert kinds.index("run_function") == kinds.index("verify") - 1 == kinds.index("backfill") + 1
    (verify,) = [step for step in steps if isinstance(step, Verify)]
    assert (verify.functions, "Batch" in verify.entities) == ((f"{HERE}:fill_in",), True)


def test_command_writes_a_migration_that_only_calls_a_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    design = "designs.kefir:Kefir"
    assert main(["migrate", "new", design, "First version"]) == 0
    assert main(["migrate", "new", design, "Fill in", "--function", f"{HERE}:fill_in", "--json"]) == 0
    written = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [step["kind"] for step in written["steps"]] == ["run_function", "verify"]
    assert "leads_to" not in json.loads(Path(written["file"]).read_text(encoding="utf-8"))
    assert main(["migrate", "plan", design]) == 0
    assert main(["migrate", "run", design, "kefir.db", "--env", "stage=dev"]) == 0
    with kefir.Kefir.open("kefir.db", stage="dev") as db:
        assert db.events(BatchId("b000")).first() is None
