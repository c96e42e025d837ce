"""Batches: split so that the target takes them, sent until all is processed, without what needs a condition."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import Field

from designs.accounts import Accounts, Invitation, Member, MemberPK, Note, NotePK, ProfileSK, User
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import (
    Create,
    Delete,
    Design,
    Entity,
    Eq,
    Key,
    Keys,
    Put,
    SortKey,
    Table,
)
from singletable.errors import InvalidWriteError, LargeItemWarning, TargetThrottledError
from singletable.limits import MIB
from support.design_clients import Between, on_client
from support.targets import EVERY_TARGET, opened
from support.unique_locks import items_of


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=EVERY_TARGET)
def between(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Between]:
    with opened(request.param, clock=clock, sleep=clock.advance, random=lambda: 1.0) as client:
        yield Between(client)


@pytest.fixture
def db(between: Between) -> Accounts:
    design = on_client(Accounts, between)
    between.calls.clear()
    return design


def notes(count: int) -> list[Put[Note]]:
    return [Put(Note(note_id=str(number), owner="o")) for number in range(count)]


def sent(between: Between) -> list[int]:
    """Return how many writes each request had."""
    return [len(call.params["RequestItems"]["accounts"]) for call in between.calls]


# --- what is sent -----------------------------------------------------------------------------------------


def test_batch_is_split_at_twenty_five(db: Accounts, between: Between) -> None:
    units = db.batch(*notes(60))
    assert sent(between) == [25, 25, 10]
    assert units == 120.0  # each is in the table and in an index
    assert len(items_of(db)) == 60


def test_puts_and_deletes_go_together(db: Accounts, between: Between) -> None:
    db.batch(*notes(3))
    gone = [Delete(Note.key.get(NotePK(note_id=str(number)), ProfileSK())) for number in range(2)]
    db.batch(*gone, Put(Note(note_id="9", owner="o")))
    assert sorted(item["noteId"]["S"] for item in items_of(db)) == ["2", "9"]
    assert len(between.calls) == 2 + 1  # with the scan


def test_empty_batch_asks_nothing(db: Accounts, between: Between) -> None:
    assert db.batch() == 0.0
    assert between.calls == []


def test_async_batch_is_the_same(db: Accounts, between: Between) -> None:
    asyncio.run(db.abatch(*notes(30)))
    assert sent(between) == [25, 5]


def test_large_batch_sends_each_write_once(db: Accounts, between: Between) -> None:
    between.before = lambda call: {"UnprocessedItems": {}}
    db.batch(*notes(2_000))
    assert sent(between) == [25] * 80


# --- what is left unprocessed ----------------------------------------------------------------------------


def leave(between: Between, *counts: int) -> None:
    """Let the target leave so many writes of each request unprocessed."""
    left = iter(counts)

    def before(call: Call) -> Any:
        count = next(left, 0)
        if call.operation != "BatchWriteItem" or not count:
            return None
        requests = call.params["RequestItems"]["accounts"]
        done, unprocessed = requests[count:], requests[:count]
        if done:
            between.inner.call("BatchWriteItem", {"RequestItems": {"accounts": done}})
        return {"UnprocessedItems": {"accounts": unprocessed}}

    between.before = before


def test_unprocessed_writes_are_sent_again_until_none_is_left(
    db: Accounts, between: Between, clock: ManualClock
) -> None:
    before_us = clock.now_us()
    leave(between, 20, 20, 5)
    db.batch(*notes(30))
    assert sent(between) == [25, 20, 20, 5, 5]
    assert clock.now_us() - before_us == (50 + 100 + 200) * 1000
    between.before = lambda call: None
    assert len(items_of(db)) == 30


def test_pause_begins_anew_after_a_request_that_is_processed(
    db: Accounts, between: Between, clock: ManualClock
) -> None:
    before_us = clock.now_us()
    leave(between, 1, 0, 1, 0)
    db.batch(*notes(50))
    assert clock.now_us() - before_us == (50 + 50) * 1000


def test_pause_is_never_longer_than_five_seconds(db: Accounts, between: Between, clock: ManualClock) -> None:
    before_us = clock.now_us()
    leave(between, *[1] * 20)
    db.batch(*notes(1))
    assert clock.now_us() - before_us == (50 + 100 + 200 + 400 + 800 + 1600 + 3200 + 13 * 5000) * 1000


def test_target_that_never_processes_is_given_up_on(db: Accounts, between: Between) -> None:
    leave(between, *[1] * 1000)
    with pytest.raises(TargetThrottledError) as caught:
        db.batch(*notes(1))
    assert caught.value.message == "the table accounts has left a part of a batch undone 81 times in a row"
    assert caught.value.hint.startswith("what it has done stays done; try again later")
    assert len(sent(between)) == 81


# --- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        Put(User(user_id="1", tenant_id="t", email="e")),
        Put(Invitation(code="1", mailbox="a@x", ttl=datetime(2030, 1, 1, tzinfo=UTC))),
        Put(Member(member_id="1")),
        Put(Note(note_id="1", owner="o"), when=Eq("owner", "x")),
        Delete(Note(note_id="1", owner="o"), when=Eq("owner", "x")),
        Delete(Member(member_id="1")),
    ],
    ids=["unique", "expiring-unique", "version", "put-when", "delete-when", "delete-version"],
)
def test_what_needs_a_condition_is_refused_before_anything_is_sent(
    db: Accounts, between: Between, write: Any
) -> None:
    with pytest.raises(InvalidWriteError, match="cannot be written in a batch") as caught:
        db.batch(*notes(30), write)
    assert caught.value.number == "ST208"
    assert between.calls == []


def test_other_writes_are_refused(db: Accounts) -> None:
    wrong: Any = Create(Note(note_id="1", owner="o"))
    with pytest.raises(InvalidWriteError, match="puts and deletes, and Create is neither"):
        db.batch(wrong)


def test_two_writes_of_one_item_are_refused(db: Accounts, between: Between) -> None:
    with pytest.raises(InvalidWriteError, match="about the same item, NOTE#7 / PROFILE"):
        db.batch(*notes(10), Put(Note(note_id="7", owner="other")))
    assert between.calls == []


def test_hint_of_a_versioned_delete_is_the_way(db: Accounts, between: Between) -> None:
    """An entity with unique values stays refused; Member has some."""
    with pytest.raises(InvalidWriteError, match="unique values"):
        db.batch(Delete(Member.key.get(MemberPK(member_id="1"), ProfileSK())))


# --- large items -------------------------------------------------------------------------------------------


class LargeTable(Table):
    name = "accounts"


class PagePK(Key, template="PAGE#{page_id}"):
    page_id: int


class PageSK(SortKey, template="PAGE"):
    pass


class LargePage(Entity):
    key = Keys(PagePK, PageSK)
    page_id: int
    flags: list[str] = Field(default_factory=list)
    text: str = ""


class Library(Design):
    table = LargeTable
    entities = (LargePage,)


@pytest.mark.parametrize(("text", "requests"), [("x", 1), ("\x01", 4)], ids=["plain", "control-characters"])
def test_request_is_never_longer_than_sixteen_megabytes(between: Between, text: str, requests: int) -> None:
    db = on_client(Library, between)
    between.calls.clear()
    with pytest.warns(LargeItemWarning):
        db.batch(*(Put(LargePage(page_id=number, text=text * 380_000)) for number in range(25)))
    assert [len(json.dumps(call.params)) <= 16 * MIB for call in between.calls] == [True] * requests
    assert sum(len(call.params["RequestItems"]["accounts"]) for call in between.calls) == 25


def test_item_that_is_longer_in_json_counts_as_it_is_sent() -> None:
    with opened("embedded") as client:
        between = Between(client)
        db = on_client(Library, between)
        between.calls.clear()
        between.before = lambda call: {"UnprocessedItems": {}}
        # Of one byte each, as DynamoDB counts them; in JSON eleven.
        db.batch(*(Put(LargePage(page_id=number, flags=[""] * 62_000)) for number in range(25)))
        assert [len(json.dumps(call.params)) <= 16 * MIB for call in between.calls] == [True, True]
