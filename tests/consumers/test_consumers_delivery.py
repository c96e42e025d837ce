"""What a handler is given, and what happens when it fails: order, batches, filters, retries, poison records."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable import Database
from singletable.clock import ManualClock
from singletable.consumers import ConsumerOptions
from singletable.consumers.options import ConsumerKeywords
from singletable.errors import NotLoggedError, ResourceNotFoundError
from singletable.values.change_records import ChangeRecord, TakesChanges
from support.consuming import (
    TABLE,
    Choosy,
    Event,
    Seen,
    by_hand,
    create_logged,
    dead_keys,
    delete,
    keys_of,
    put,
)


@pytest.fixture
def logged(db: Database) -> Database:
    create_logged(db)
    return db


# --- order and batches ----------------------------------------------------------------------------


def test_records_come_in_the_order_of_their_commits(logged: Database) -> None:
    seen = Seen()
    consumer = by_hand(logged, seen)
    put(logged, "b", "a", "c")
    put(logged, "a", colour="red")
    consumer.drain()
    assert seen.batches == [["b", "a", "c", "a"]]


def test_write_that_changes_nothing_is_no_record(logged: Database) -> None:
    seen = Seen()
    put(logged, "a", "a")
    by_hand(logged, seen).drain()
    assert seen.keys == ["a"]


def test_batches_are_as_large_as_asked_for(logged: Database) -> None:
    seen = Seen()
    consumer = by_hand(logged, seen, batch_size=2)
    put(logged, "a", "b", "c", "d", "e")
    consumer.drain()
    assert seen.batches == [["a", "b"], ["c", "d"], ["e"]]


def test_batch_of_large_items_ends_at_the_size_of_an_event(logged: Database) -> None:
    seen = Seen()
    consumer = by_hand(logged, seen)
    put(logged, *[str(number) for number in range(20)], text="x" * 390_000)
    consumer.drain()
    assert seen.keys == [str(number) for number in range(20)]
    assert len(seen.batches) == 2


def test_run_once_hands_over_one_batch(logged: Database) -> None:
    seen = Seen()
    consumer = by_hand(logged, seen, batch_size=2)
    put(logged, "a", "b", "c")
    assert [consumer.run_once(), consumer.run_once(), consumer.run_once()] == [2, 1, 0]
    assert seen.batches == [["a", "b"], ["c"]]


def test_new_consumer_begins_with_the_oldest_record(logged: Database) -> None:
    put(logged, "a")
    seen = Seen()
    by_hand(logged, seen).drain()
    assert seen.keys == ["a"]


def test_new_consumer_can_begin_with_what_comes(logged: Database) -> None:
    put(logged, "a")
    seen = Seen()
    consumer = by_hand(logged, seen, start="LATEST")
    put(logged, "b")
    consumer.drain()
    assert seen.keys == ["b"]


def test_start_of_a_known_consumer_is_its_position(logged: Database) -> None:
    seen = Seen()
    by_hand(logged, seen).drain()
    put(logged, "a")
    by_hand(logged, seen, start="LATEST").drain()
    assert seen.keys == ["a"]


def test_consumers_of_different_names_do_not_know_each_other(logged: Database) -> None:
    first, second = Seen(), Seen()
    put(logged, "a", "b")
    by_hand(logged, first, "first").drain()
    by_hand(logged, second, "second").drain()
    assert first.keys == second.keys == ["a", "b"]


def test_handler_that_changes_its_event_is_given_it_unchanged_when_it_is_tried_again(
    logged: Database,
) -> None:
    seen: list[list[str]] = []

    def handler(event: Event, context: Any) -> None:
        seen.append(keys_of(event))
        for record in event["Records"]:
            record["dynamodb"]["Keys"].clear()
        if len(seen) == 1:
            raise ValueError("once")

    consumer = by_hand(logged, handler)
    put(logged, "a")
    consumer.drain()
    assert seen == [["a"], ["a"]]


def test_handler_may_take_the_event_alone(logged: Database) -> None:
    events: list[Event] = []
    put(logged, "a")
    by_hand(logged, events.append).drain()
    assert [keys_of(event) for event in events] == [["a"]]


def test_handler_that_writes_into_its_own_table_sees_that_as_new_records(logged: Database) -> None:
    seen: list[str] = []

    def handler(event: Event, context: Any) -> None:
        seen.extend(keys_of(event))
        if "echo" not in seen:
            put(context.database, "echo")

    consumer = by_hand(logged, handler)
    put(logged, "a")
    consumer.drain()
    consumer.drain()
    assert seen == ["a", "echo"]


# --- filters ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"events": ["INSERT"]}, ["INSERT a", "INSERT b"]),
        ({"events": ["MODIFY", "REMOVE"]}, ["MODIFY a", "MODIFY a", "REMOVE b"]),
        ({"changed": ["colour"]}, ["INSERT a", "MODIFY a", "INSERT b", "REMOVE b"]),
        ({"changed": ["size"]}, ["MODIFY a"]),
        ({"changed": ["size", "colour"], "events": ["MODIFY"]}, ["MODIFY a", "MODIFY a"]),
        ({"changed": ["nothing"]}, []),
    ],
    ids=str,
)
def test_filters(logged: Database, filters: dict[str, Any], expected: list[str]) -> None:
    seen: list[str] = []

    def handler(event: Event, context: Any) -> None:
        seen.extend(
            f"{record['eventName']} {key}"
            for record, key in zip(event["Records"], keys_of(event), strict=True)
        )

    put(logged, "a", colour="red")
    put(logged, "a", colour="blue")
    put(logged, "a", colour="blue", size="2")
    put(logged, "b", colour="red")
    delete(logged, "b")
    consumer = by_hand(logged, handler, **filters)
    consumer.drain()
    assert seen == expected
    assert consumer.status().records_behind == 0


def test_filter_by_attribute_knows_both_images_whatever_the_stream_shows(db: Database) -> None:
    create_logged(db, view="KEYS_ONLY")
    events: list[Event] = []
    put(db, "a", colour="red")
    put(db, "a", colour="red", size="2")
    by_hand(db, events.append, changed=["colour"]).drain()
    assert [list(record["dynamodb"]) for event in events for record in event["Records"]] == [
        ["ApproximateCreationDateTime", "Keys", "SequenceNumber", "SizeBytes", "StreamViewType"]
    ]


def test_filtered_batches_are_full_all_the_same(logged: Database) -> None:
    for number in range(20):
        put(logged, f"new{number}")
        put(logged, "same", count=str(number))
    seen = Seen()
    by_hand(logged, seen, events=["MODIFY"], batch_size=5).drain()
    assert [len(batch) for batch in seen.batches] == [5, 5, 5, 4]


# --- handlers that take changes -------------------------------------------------------------------------


class Direct(Choosy, TakesChanges):
    """A handler that is given changes and no events, as a design is."""

    def __init__(self, poison: Iterable[str]) -> None:
        super().__init__(poison)
        self.changes: list[ChangeRecord] = []

    def take_changes(self, changes: Sequence[ChangeRecord]) -> None:
        keys = [(change.new or change.old or {})["id"]["S"] for change in changes]
        self.tried.append(keys)
        if self.poison & set(keys):
            raise ValueError(f"cannot take {min(self.poison & set(keys))}")
        self.changes += changes


def test_handler_that_takes_changes_is_given_no_event(db: Database, clock: ManualClock) -> None:
    create_logged(db)
    direct, events = Direct([]), list[Event]()
    db.put_item(TableName=TABLE, Item={"id": {"S": "a"}, "b": {"M": {"c": {"BS": [b"\x00", b"\xff"]}}}})
    put(db, "a", text="x")
    delete(db, "a")
    by_hand(db, direct).drain()
    by_hand(db, events.append, "events").drain()
    shown = [record["dynamodb"] for record in events[0]["Records"]]
    assert direct.batches == []
    assert [change.sequence_number for change in direct.changes] == [each["SequenceNumber"] for each in shown]
    assert [change.event_id for change in direct.changes] == [
        each["eventID"] for each in events[0]["Records"]
    ]
    created, updated, deleted = direct.changes
    assert (created.old, updated.old, deleted.new) == (None, created.new, None)
    assert created.new == {"id": {"S": "a"}, "b": {"M": {"c": {"BS": [b"\x00", b"\xff"]}}}}
    assert deleted.old == updated.new == {"id": {"S": "a"}, "text": {"S": "x"}}
    assert (created.table, created.view) == (TABLE, "NEW_AND_OLD_IMAGES")
    assert created.at == datetime.fromtimestamp(shown[0]["ApproximateCreationDateTime"], UTC)


def test_handler_that_takes_changes_is_tried_again_and_halved_like_any_other(logged: Database) -> None:
    direct, choosy = Direct(["c"]), Choosy(["c"])
    put(logged, "a", "b", "c", "d")
    by_hand(logged, direct, retries=1).drain()
    by_hand(logged, choosy, "choosy", retries=1).drain()
    assert direct.tried == choosy.tried
    assert [(change.new or {})["id"]["S"] for change in direct.changes] == ["a", "b", "d"]
    assert logged.dead_letters(TABLE, "follower") == logged.dead_letters(TABLE, "choosy")
    direct.poison.clear()
    assert logged.redrive(TABLE, "follower") == (1, 0)
    assert direct.batches == [["c"]], "what was put aside is kept as an event"


def test_handler_of_somebody_else_is_called_with_an_event_whatever_methods_it_has(logged: Database) -> None:
    handler = Mock(return_value=None)  # has a method of any name
    put(logged, "a")
    by_hand(logged, handler).drain()
    (call,) = handler.mock_calls
    assert keys_of(call.args[0]) == ["a"]


# --- trying again ---------------------------------------------------------------------------------------


def test_failing_batch_is_tried_again_after_growing_waits(logged: Database) -> None:
    waits: list[float] = []
    choosy = Choosy(["a"])

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 4:
            choosy.poison.clear()

    consumer = by_hand(logged, choosy, retries=5, backoff_s=1.0, backoff_s_max=5.0, wait=wait)
    put(logged, "a", "b")
    consumer.drain()
    assert choosy.tried == [["a", "b"]] * 5
    assert choosy.batches == [["a", "b"]]
    for waited_s, longest_s in zip(waits, (1.0, 2.0, 4.0, 5.0), strict=True):
        assert longest_s / 2 <= waited_s <= longest_s
    assert dead_keys(logged) == []


@pytest.mark.parametrize(("part", "waited_s"), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
def test_jitter_is_drawn_from_what_is_given(logged: Database, part: float, waited_s: float) -> None:
    waits: list[float] = []
    consumer = by_hand(
        logged, Choosy(["a"]), retries=1, backoff_s=2.0, wait=waits.append, random=lambda: part
    )
    put(logged, "a")
    consumer.drain()
    assert waits[0] == waited_s


def test_without_a_number_of_retries_a_batch_is_tried_for_ever(logged: Database) -> None:
    choosy = Choosy(["a"])
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 100:
            choosy.poison.clear()

    consumer = by_hand(logged, choosy, retries=None, wait=wait)
    put(logged, "a", "b")
    consumer.drain()
    assert len(choosy.tried) == 101
    assert max(waits) <= 30.0
    assert dead_keys(logged) == []


def test_poison_record_is_put_aside_and_the_rest_goes_on(
    logged: Database, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    choosy = Choosy(["c"])
    consumer = by_hand(logged, choosy, retries=1)
    put(logged, "a", "b", "c", "d")
    clock.advance(7)
    with caplog.at_level(logging.WARNING, "singletable.consumers"):
        consumer.drain()
    assert choosy.keys == ["a", "b", "d"]
    (letter,) = logged.dead_letters(TABLE, "follower")
    assert letter.record["dynamodb"]["NewImage"] == {"id": {"S": "c"}}
    assert letter.record["dynamodb"]["SequenceNumber"] == letter.sequence_number
    assert letter.error == "ValueError: cannot take c"
    assert letter.tries == sum("c" in batch for batch in choosy.tried) == 5
    assert letter.put_aside.timestamp() * 1_000_000 == clock.now_us()
    assert consumer.status().dead_letters == 1
    assert "put record" in caplog.text


@given(
    poison=st.sets(st.integers(0, 29)),
    batch_size=st.integers(1, 30),
    retries=st.integers(0, 2),
)
def test_halving_finds_exactly_the_poison_records(poison: set[int], batch_size: int, retries: int) -> None:
    keys = [str(number) for number in range(30)]
    with Database.open(":memory:", clock=ManualClock()) as db:
        create_logged(db)
        put(db, *keys)
        choosy = Choosy([str(number) for number in poison])
        by_hand(db, choosy, batch_size=batch_size, retries=retries).drain()
        assert choosy.keys == [key for key in keys if key not in choosy.poison]
        assert dead_keys(db) == [key for key in keys if key in choosy.poison]
        assert all(letter.tries >= retries + 1 for letter in db.dead_letters(TABLE, "follower"))


# --- partial batch responses, as AWS Lambda takes them -----------------------------------------------------


def number_of(record: dict[str, Any]) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def test_records_before_the_one_that_a_handler_names_are_done(logged: Database) -> None:
    batches: list[list[str]] = []

    def handler(event: Event, context: Any) -> dict[str, Any]:
        batches.append(keys_of(event))
        failed = [{"itemIdentifier": number_of(record)} for record in event["Records"][2:]]
        return {"batchItemFailures": failed if len(batches) == 1 else []}

    consumer = by_hand(logged, handler)
    put(logged, "a", "b", "c", "d")
    consumer.drain()
    assert batches == [["a", "b", "c", "d"], ["c", "d"]]
    assert dead_keys(logged) == []


@given(poison=st.sets(st.integers(0, 19)), batch_size=st.integers(1, 20), retries=st.integers(0, 2))
def test_named_records_are_put_aside_without_halving(poison: set[int], batch_size: int, retries: int) -> None:
    keys = [str(number) for number in range(20)]
    bad = {str(number) for number in poison}
    taken: list[str] = []

    def handler(event: Event, context: Any) -> dict[str, Any]:
        for record, key in zip(event["Records"], keys_of(event), strict=True):
            if key in bad:
                return {"batchItemFailures": [{"itemIdentifier": number_of(record)}]}
            taken.append(key)
        return {"batchItemFailures": []}

    with Database.open(":memory:", clock=ManualClock()) as db:
        create_logged(db)
        put(db, *keys)
        by_hand(db, handler, batch_size=batch_size, retries=retries).drain()
        assert taken == [key for key in keys if key not in bad]
        assert dead_keys(db) == [key for key in keys if key in bad]
        letters = db.dead_letters(TABLE, "follower")
        assert {letter.error for letter in letters} <= {"the handler named it in batchItemFailures"}


@pytest.mark.parametrize(
    "response", [None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}, "fine", 7], ids=str
)
def test_other_responses_mean_that_all_is_done(logged: Database, response: Any) -> None:
    put(logged, "a")
    calls: list[Event] = []

    def handler(event: Event) -> Any:
        calls.append(event)
        return response

    by_hand(logged, handler).drain()
    assert len(calls) == 1
    assert dead_keys(logged) == []


@pytest.mark.parametrize(
    "failure", [{"itemIdentifier": ""}, {"itemIdentifier": None}, {"identifier": "1"}, "1"], ids=str
)
def test_response_that_names_no_record_of_the_batch_fails_the_batch(logged: Database, failure: Any) -> None:
    put(logged, "a", "b")
    by_hand(logged, lambda event: {"batchItemFailures": [failure]}, retries=0).drain()
    assert dead_keys(logged) == ["a", "b"]
    assert "itemIdentifier" in logged.dead_letters(TABLE, "follower")[0].error


# --- dead letters ----------------------------------------------------------------------------------------


def test_redrive_removes_what_the_handler_takes_now(logged: Database) -> None:
    choosy = Choosy(["a", "c", "d"])
    consumer = by_hand(logged, choosy, retries=0)
    put(logged, "a", "b", "c", "d")
    consumer.drain()
    tries = [letter.tries for letter in logged.dead_letters(TABLE, "follower")]
    choosy.poison = {"c"}
    assert logged.redrive(TABLE, "follower") == (2, 1)
    assert choosy.keys == ["b", "a", "d"]
    (letter,) = logged.dead_letters(TABLE, "follower")
    assert letter.tries == tries[1] + 1
    assert logged.redrive(TABLE, "follower", lambda event: None) == (1, 0)
    assert dead_keys(logged) == []


def test_redrive_needs_a_handler(logged: Database) -> None:
    with pytest.raises(Exception, match="its handler is not known") as caught:
        logged.redrive(TABLE, "stranger")
    assert "db.redrive(table, name, handler)" in caught.value.hint  # type: ignore[attr-defined]


def test_dead_letters_of_an_unknown_consumer(logged: Database) -> None:
    with pytest.raises(Exception, match="has no consumer 'stranger'"):
        logged.dead_letters(TABLE, "stranger")


# --- what is refused -----------------------------------------------------------------------------------


def test_table_without_a_log_cannot_be_consumed(db: Database) -> None:
    create_logged(db)
    db.update_table(TableName=TABLE, StreamSpecification={"StreamEnabled": False})
    enable = (
        f'turn its stream on: db.update_table(TableName="{TABLE}", StreamSpecification='
        '{"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})'
    )
    with pytest.raises(NotLoggedError, match="are not logged") as caught:
        by_hand(db, Seen())
    assert enable in str(caught.value)
    assert caught.value.hint == enable


def test_table_that_does_not_exist(db: Database) -> None:
    with pytest.raises(ResourceNotFoundError):
        by_hand(db, Seen())


async def asynchronous(event: Event, context: Any) -> None:
    raise AssertionError


class AsynchronousObject:
    async def __call__(self, event: Event, context: Any) -> None:
        raise AssertionError


@pytest.mark.parametrize("handler", [asynchronous, AsynchronousObject()], ids=["function", "object"])
def test_asynchronous_handler_is_refused(logged: Database, handler: Any) -> None:
    with pytest.raises(TypeError, match=r"asyncio\.run"):
        by_hand(logged, handler)
    assert logged.consumers() == []


def test_handler_that_returns_a_coroutine_fails(logged: Database) -> None:
    put(logged, "a")
    by_hand(logged, lambda event: asynchronous(event, None), retries=0).drain()
    assert "coroutine" in logged.dead_letters(TABLE, "follower")[0].error


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"handler": 7}, "a handler is a function"),
        ({"handler": lambda: None}, "a handler takes an event"),
        ({"handler": lambda a, b, c: None}, "a handler takes an event"),
        ({"name": ""}, "a name of 1 to 255"),
        ({"batch_size": 0}, "batch_size is a number from 1"),
        ({"batch_size": 10_001}, "batch_size is a number from 1"),
        ({"start": "YESTERDAY"}, "'TRIM_HORIZON' or 'LATEST'"),
        ({"events": ["UPDATE"]}, "'UPDATE' is no event"),
        ({"events": []}, "one or more names"),
        ({"changed": []}, "one or more names"),
        ({"retries": -1}, "retries is a number from 0"),
        ({"backoff_s": -1}, "backoff_s is a number"),
        ({"hold_s": 8 * 24 * 3600}, "hold_s is a number"),
        ({"lease_s": 0}, "lease_s is a number"),
        ({"poll_s": 0}, "poll_s is a number"),
    ],
)
def test_wrong_settings_are_refused(logged: Database, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        by_hand(logged, **{"handler": Seen(), **wrong})
    assert logged.consumers() == []


def test_options_are_one_value_that_keywords_change(logged: Database) -> None:
    options = ConsumerOptions(events=iter(["INSERT"]), batch_size=2, background=False)
    put(logged, "a", "b", "c")
    delete(logged, "a")
    first, second = Seen(), Seen()
    logged.consume(TABLE, first, "first", options).drain()
    logged.consume(TABLE, second, "second", options, batch_size=100).drain()
    assert first.batches == [["a", "b"], ["c"]]
    assert second.batches == [["a", "b", "c"]]


def test_options_of_another_type_are_refused(logged: Database) -> None:
    wrong: Any = {"batch_size": 5}
    with pytest.raises(TypeError, match=r"options of a consumer are ConsumerOptions, or keywords, not \{"):
        logged.consume(TABLE, Seen(), "first", wrong)


def test_every_option_is_a_keyword_of_its_type() -> None:
    keywords = {name: each.__forward_arg__ for name, each in ConsumerKeywords.__annotations__.items()}
    assert keywords == {field.name: field.type for field in fields(ConsumerOptions)}


def test_unknown_option_is_refused(logged: Database) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'batchsize'"):
        by_hand(logged, Seen(), batchsize=3)
    assert logged.consumers() == []
