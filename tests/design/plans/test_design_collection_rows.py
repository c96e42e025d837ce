"""Item collections read one by one: all kinds of items in the order of the partition, a request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from designs.changing_letters import Letter, Letters, OldLetter, OldLetters
from designs.kefir import BatchEvent, BatchId, EventId, Kefir, Reminder, ReminderId, UserId
from singletable import Database, Entity, Put
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.errors import DeclarationError
from support.design_clients import Between, on_client
from support.opened_designs import opened_design
from support.targets import TARGETS

NOW = datetime(2025, 3, 1, tzinfo=UTC)
BATCH = BatchId("b1")


@pytest.fixture(params=TARGETS)
def kefir(request: pytest.FixtureRequest) -> Iterator[Kefir]:
    with opened_design(Kefir, request.param, ManualClock(), stage="test") as db:
        yield db


def event(number: int, note: str = "") -> BatchEvent:
    created_at = NOW + timedelta(seconds=number)
    return BatchEvent(
        batch_id=BATCH, event_id=EventId(f"e{number}"), type="note", note=note, created_at=created_at
    )


def reminder(number: int) -> Reminder:
    return Reminder(
        batch_id=BATCH,
        reminder_id=ReminderId(f"r{number}"),
        user_id=UserId("u"),
        message="stir",
        due_at=NOW,
    )


def fill(db: Kefir) -> list[Entity]:
    """Store three megabytes of events, and some reminders; return all of them."""
    events = [event(number, "x" * 30_000) for number in range(100)]
    reminders = [reminder(number) for number in range(5)]
    db.batch(*map(Put, events), *map(Put, reminders))
    return [*events, *reminders]


def test_items_of_all_kinds_come_in_the_order_of_the_partition(kefir: Kefir) -> None:
    stored = fill(kefir)
    rows = kefir.batch_activity(BATCH).all()
    found = list(rows)
    assert [type(each) for each in found] == [type(each) for each in stored]
    assert found == [*kefir.events(BATCH).all(), *kefir.reminders(BATCH).all()]
    assert (rows.usage.read, rows.usage.thrown_away) == (105, 0)
    assert rows.usage.units == kefir.batch_activity(BATCH).found().units


def test_items_are_given_out_before_more_are_asked_for(kefir: Kefir) -> None:
    fill(kefir)
    between = Between(kefir.session.client)
    db = on_client(Kefir, between, makes_table=False, stage="test")
    rows = iter(db.batch_activity(BATCH).all())
    assert between.calls == []
    asked = [len(between.calls) for _ in rows]
    assert asked == sorted(asked)
    assert set(asked) == {1, 2, 3}


def test_async_rows_are_the_same(kefir: Kefir) -> None:
    fill(kefir)

    async def read() -> list[Entity]:
        return [each async for each in kefir.batch_activity(BATCH).aall()]

    assert asyncio.run(read()) == list(kefir.batch_activity(BATCH).all())


def test_empty_partition_has_no_rows(kefir: Kefir) -> None:
    assert list(kefir.batch_activity(BATCH).consistent().all()) == []


def test_rows_can_be_gone_through_again(kefir: Kefir) -> None:
    kefir.put(event(1))
    rows = kefir.batch_activity(BATCH).all()
    assert list(rows) == list(rows) == [event(1)]


def test_items_under_old_keys_come_too() -> None:
    with Database.open(":memory:", clock=ManualClock()) as database, open_client(database) as client:
        old, new = on_client(OldLetters, client), on_client(Letters, client, makes_table=False)
        for number in range(300):
            old.put(OldLetter(tenant="t", box="b", number=number, day="2026-01-01", subject=f"old {number}"))
        for number in range(300, 310):
            new.put(Letter(tenant="t", box="b", number=number, day="2026-01-02", subject="new"))
        found = [letter for letter in new.whole("t", "b").all() if isinstance(letter, Letter)]
        assert [letter.number for letter in found] == list(range(310))


def test_collection_that_is_gathered_has_no_rows(kefir: Kefir) -> None:
    with pytest.raises(DeclarationError, match="is gathered from several plans"):
        kefir.batch_view(BATCH).all()
    with pytest.raises(DeclarationError):
        kefir.batch_view(BATCH).aall()


def test_stored_item_is_what_is_stored(kefir: Kefir) -> None:
    kefir.put(reminder(1))
    read = kefir.reminders(BATCH).one()
    key = {"PK": {"S": "BATCH#b1"}, "SK": {"S": "REMINDER#r1"}}
    params = {"TableName": kefir.session.table, "Key": key, "ConsistentRead": True}
    assert Kefir.stored_item(read) == kefir.session.client.call("GetItem", params)["Item"]
    assert Kefir.stored_item(read)["dueAt"] == {"S": "2025-03-01T00:00:00.000Z"}
