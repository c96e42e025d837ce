"""Where a consumer stands, who runs it, what it has missed, and how it ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.consumers import Missed
from singletable.consumers.leases import LeaseKeeper
from singletable.errors import (
    ConditionFailedError,
    ConsumerBusyError,
    ConsumerEndedError,
    ConsumerError,
    ResourceNotFoundError,
)
from singletable.storage.consumers import Lease
from support.consuming import (
    TABLE,
    Choosy,
    Event,
    Seen,
    add_one,
    by_hand,
    count_of,
    create_counts,
    create_logged,
    dead_keys,
    delete,
    keys_of,
    put,
    set_stream,
)
from support.past_tables import turn_on

WAIT_S = 30.0
DAY_S = 24 * 3600


@pytest.fixture
def logged(db: Database) -> Database:
    create_logged(db)
    return db


class Gated(Seen):
    """A handler that waits, in each batch, until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.gate = threading.Event()

    def __call__(self, event: Event, context: Any) -> None:
        self.entered.set()
        assert self.gate.wait(WAIT_S)
        super().__call__(event, context)


# --- positions ----------------------------------------------------------------------------------------


def test_consumer_goes_on_after_the_database_was_closed(tmp_path: Path, clock: ManualClock) -> None:
    seen = Seen()
    for keys in (("a", "b"), ("c",), ()):
        with Database.open(tmp_path / "app.db", clock=clock) as db:
            if not db.list_tables()["TableNames"]:
                create_logged(db)
            put(db, *keys)
            by_hand(db, seen).drain()
    assert seen.batches == [["a", "b"], ["c"]]


def test_position_behind_filtered_records_is_kept(tmp_path: Path, clock: ManualClock) -> None:
    with Database.open(tmp_path / "app.db", clock=clock) as db:
        create_logged(db)
        put(db, "a", "b")
        with by_hand(db, Seen(), events=["REMOVE"]) as consumer:
            consumer.drain()
    with Database.open(tmp_path / "app.db", clock=clock) as db:
        (status,) = db.consumers()
        assert (status.records_behind, status.holder) == (0, None)


def test_status_tells_how_far_behind_a_consumer_is(logged: Database, clock: ManualClock) -> None:
    consumer = by_hand(logged, Seen(), batch_size=1)
    assert consumer.status().position is None
    put(logged, "a")
    clock.advance(4)
    put(logged, "b", "c")
    clock.advance(3)
    status = consumer.status()
    assert (status.records_behind, status.seconds_behind) == (3, 7.0)
    consumer.run_once()
    status = consumer.status()
    assert (status.records_behind, status.seconds_behind) == (2, 3.0)
    assert status.position is not None
    consumer.drain()
    assert logged.consumers(TABLE) == [consumer.status()]
    assert (consumer.status().records_behind, consumer.status().seconds_behind) == (0, 0.0)


def test_consumer_is_forgotten_in_pieces(logged: Database) -> None:
    """Each is a transaction of its own; who is interrupted between two of them can do it again."""
    keys = [f"{number:03}" for number in range(200)]
    put(logged, *keys)
    for name in ("follower", "other"):
        by_hand(logged, Choosy(keys), name, retries=0).drain()
    assert dead_keys(logged) == keys
    store = logged._session.store
    write, pieces = store.write, 0

    def interrupted(work: Any) -> Any:
        nonlocal pieces
        pieces += 1
        if pieces == 3:
            raise KeyboardInterrupt
        return write(work)

    store.write = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        logged.forget_consumer(TABLE, "follower")
    assert dead_keys(logged) == keys[128:]
    logged.forget_consumer(TABLE, "follower")
    assert [status.name for status in logged.consumers()] == ["other"]
    assert dead_keys(logged, "other") == keys
    assert logged.check() == []


def test_forgotten_consumer_begins_anew(logged: Database) -> None:
    choosy = Choosy(["a"])
    put(logged, "a", "b")
    consumer = by_hand(logged, choosy, retries=0)
    consumer.drain()
    logged.forget_consumer(TABLE, "follower")
    assert logged.consumers() == []
    with pytest.raises(ConsumerEndedError):
        consumer.drain()
    choosy.poison.clear()
    by_hand(logged, choosy).drain()
    assert choosy.keys == ["b", "a", "b"]
    assert dead_keys(logged) == []


# --- writes together with the position ---------------------------------------------------------------------


def test_writes_are_committed_together_with_the_position(logged: Database) -> None:
    create_counts(logged)

    def handler(event: Event, context: Any) -> None:
        for key in keys_of(event):
            context.transaction.update_item(**add_one(key))
        assert count_of(context.database, "a") == 0, "not before the handler has returned"

    consumer = by_hand(logged, handler)
    put(logged, "a", "b")
    consumer.drain()
    consumer.drain()
    assert (count_of(logged, "a"), count_of(logged, "b")) == (1, 1)


def test_writes_of_a_handler_that_fails_are_forgotten(logged: Database) -> None:
    create_counts(logged)
    calls: list[Event] = []

    def handler(event: Event, context: Any) -> None:
        calls.append(event)
        for key in keys_of(event):
            context.transaction.update_item(**add_one(key))
        if len(calls) < 3:
            raise ValueError("not yet")

    put(logged, "a")
    by_hand(logged, handler).drain()
    assert len(calls) == 3
    assert count_of(logged, "a") == 1


def test_condition_that_fails_undoes_all_writes_and_fails_the_batch(logged: Database) -> None:
    create_counts(logged)

    def handler(event: Event, context: Any) -> None:
        for key in keys_of(event):
            context.transaction.update_item(**add_one(key))
            context.transaction.put_item(
                TableName="counts",
                Item={"id": {"S": "last"}, "key": {"S": key}},
                ConditionExpression="attribute_not_exists(id) OR #key <> :bad",
                ExpressionAttributeNames={"#key": "key"},
                ExpressionAttributeValues={":bad": {"S": "b"}},
            )

    put(logged, "a", "b", "c")
    by_hand(logged, handler, retries=0).drain()
    assert [count_of(logged, key) for key in "abc"] == [1, 1, 0]
    (letter,) = logged.dead_letters(TABLE, "follower")
    assert letter.error == "ConditionFailedError: The conditional request failed"


def test_wrong_write_is_refused_inside_the_handler(logged: Database) -> None:
    refusals: list[str] = []

    def handler(event: Event, context: Any) -> None:
        try:
            context.transaction.put_item(TableName="counts", Item={"id": {"S": "a"}, "n": {"N": "one"}})
        except Exception as error:
            refusals.append(type(error).__name__)

    put(logged, "a")
    by_hand(logged, handler).drain()
    assert refusals == ["ValidationError"]


def test_partial_response_with_writes_keeps_them_exact(logged: Database) -> None:
    create_counts(logged)
    batches: list[list[str]] = []

    def handler(event: Event, context: Any) -> dict[str, Any]:
        batches.append(keys_of(event))
        for key in keys_of(event):
            context.transaction.update_item(**add_one(key))
        failed = [r["dynamodb"]["SequenceNumber"] for r in event["Records"] if len(batches) == 1]
        return {"batchItemFailures": [{"itemIdentifier": number} for number in failed[2:]]}

    put(logged, "a", "b", "c", "d")
    by_hand(logged, handler).drain()
    assert batches == [["a", "b", "c", "d"], ["a", "b"], ["c", "d"]]
    assert [count_of(logged, key) for key in "abcd"] == [1, 1, 1, 1]


def test_writes_cannot_be_added_when_the_handler_has_returned(logged: Database) -> None:
    contexts: list[Any] = []
    put(logged, "a")
    by_hand(logged, lambda event, context: contexts.append(context)).drain()
    with pytest.raises(ConsumerError, match="the handler has returned"):
        contexts[0].transaction.delete_item(TableName=TABLE, Key={"id": {"S": "a"}})


def test_redrive_commits_writes_with_the_removal(logged: Database) -> None:
    create_counts(logged)
    put(logged, "a", "b")
    by_hand(logged, Choosy(["a", "b"]), retries=0).drain()

    def handler(event: Event, context: Any) -> None:
        (key,) = keys_of(event)
        context.transaction.update_item(**add_one(key))
        if key == "b":
            raise ConditionFailedError

    assert logged.redrive(TABLE, "follower", handler) == (1, 1)
    assert (count_of(logged, "a"), count_of(logged, "b")) == (1, 0)
    assert dead_keys(logged) == ["b"]


# --- the lease ------------------------------------------------------------------------------------------


@pytest.fixture
def gated() -> Iterator[Gated]:
    handler = Gated()
    yield handler
    handler.gate.set()


def test_only_one_of_a_name_runs_at_a_time(logged: Database, gated: Gated) -> None:
    put(logged, "a")
    with logged.consume(TABLE, gated, "follower") as first:
        assert gated.entered.wait(WAIT_S)
        second = Seen()
        other = by_hand(logged, second)
        with pytest.raises(ConsumerBusyError, match="another process or thread runs"):
            other.drain()
        holder = other.status().holder
        gated.gate.set()
        first.drain(WAIT_S)
    assert holder is not None
    other.drain()
    assert (gated.keys, second.keys) == (["a"], [])


def test_lease_is_given_back_when_a_consumer_stops(logged: Database) -> None:
    first, second = Seen(), Seen()
    put(logged, "a")
    with logged.consume(TABLE, first, "follower") as consumer:
        consumer.drain(WAIT_S)
    put(logged, "b")
    by_hand(logged, second).drain()
    assert (first.keys, second.keys) == (["a"], ["b"])


def test_holder_that_has_lost_its_lease_commits_nothing(logged: Database, clock: ManualClock) -> None:
    create_counts(logged)
    gated = Gated()

    def handler(event: Event, context: Any) -> None:
        for key in keys_of(event):
            context.transaction.update_item(**add_one(key))
        gated(event, context)

    put(logged, "a")
    with logged.consume(TABLE, handler, "follower", lease_s=3600) as slow:
        assert gated.entered.wait(WAIT_S)
        clock.advance(3601)
        quick = Seen()
        by_hand(logged, quick).drain()
        gated.gate.set()
        slow.drain(WAIT_S)
        put(logged, "b")
        slow.drain(WAIT_S)
    assert quick.keys == ["a"]
    assert (count_of(logged, "a"), count_of(logged, "b")) == (0, 1)


def test_lease_that_is_over_can_be_gone_on_with_if_nobody_took_it(
    logged: Database, clock: ManualClock
) -> None:
    gated = Gated()
    put(logged, "a")
    with logged.consume(TABLE, gated, "follower", lease_s=3600) as slow:
        assert gated.entered.wait(WAIT_S)
        clock.advance(7200)
        gated.gate.set()
        slow.drain(WAIT_S)
    assert gated.batches == [["a"]]


def test_lease_is_renewed_while_a_handler_works(tmp_path: Path) -> None:
    with Database.open(tmp_path / "app.db", durability="relaxed") as db:
        create_logged(db)
        gated = Gated()
        put(db, "a")
        with db.consume(TABLE, gated, "follower", lease_s=0.3) as consumer:
            assert gated.entered.wait(WAIT_S)
            first = lease_end(db)
            while lease_end(db) < first + 1_000_000:  # three times its length
                assert consumer.status().holder is not None
            gated.gate.set()
            consumer.drain(WAIT_S)
    assert gated.batches == [["a"]]


def lease_end(db: Database) -> int:
    sql = "SELECT lease_until FROM consumer"
    return int(db._session.store.read(lambda execute, catalog: next(execute(sql))[0]))


def test_lease_from_before_a_restart_of_the_machine_is_void(tmp_path: Path) -> None:
    old = ManualClock()
    old.advance(DAY_S)
    with Database.open(tmp_path / "app.db", clock=old) as db:
        create_logged(db)
        put(db, "a")
        by_hand(db, Seen(), start="LATEST")
        lease = Lease(table_id=1, name="follower", owner="before", length_us=10_000_000)
        keeper = LeaseKeeper(db._session.store, lease)
        assert keeper.take() is not None
        keeper.drop()
        put(db, "b")
    with Database.open(tmp_path / "app.db", clock=ManualClock(old.now_us())) as db:
        seen = Seen()
        by_hand(db, seen).drain()
        assert seen.keys == ["b"]


def test_clock_that_is_put_back_or_forward_does_not_touch_leases(
    logged: Database, clock: ManualClock
) -> None:
    gated = Gated()
    put(logged, "a")
    with logged.consume(TABLE, gated, "follower") as first:
        assert gated.entered.wait(WAIT_S)
        for seconds in (3600.0, -7200.0):
            clock.jump(seconds)
            with pytest.raises(ConsumerBusyError):
                by_hand(logged, Seen()).drain()
        gated.gate.set()
        first.drain(WAIT_S)
        put(logged, "b")
        first.drain(WAIT_S)
    assert gated.keys == ["a", "b"]


# --- what was missed ------------------------------------------------------------------------------------


def test_consumer_that_is_behind_holds_back_the_log(logged: Database, clock: ManualClock) -> None:
    seen = Seen()
    consumer = by_hand(logged, seen)
    put(logged, "a", "b", "c")
    clock.advance(6 * DAY_S)
    consumer.drain()
    assert seen.keys == ["a", "b", "c"]
    assert consumer.status().missed == 0


def test_consumer_that_is_too_far_behind_is_told_what_it_missed(logged: Database, clock: ManualClock) -> None:
    seen = Seen()
    told: list[Missed] = []
    consumer = by_hand(logged, seen, on_missed=told.append)
    put(logged, "a")
    consumer.drain()
    last_us = clock.now_us()
    clock.advance(60)
    put(logged, "b", "c", "d")
    clock.advance(8 * DAY_S)
    put(logged, "e")
    clock.advance(1)
    consumer.drain()
    assert seen.keys == ["a", "d", "e"], "one entry before those that are needed stays"
    (missed,) = told
    assert (missed.table, missed.name, missed.reason) == (TABLE, "follower", "trimmed")
    assert missed.records == consumer.status().missed == 2
    assert (missed.first, missed.last) == ("100000000000000000002", "100000000000000000003")
    assert missed.after == datetime.fromtimestamp(last_us / 1_000_000, UTC)
    assert missed.before > missed.after


def test_hold_of_a_consumer_can_be_shorter(logged: Database, clock: ManualClock) -> None:
    seen = Seen()
    told: list[Missed] = []
    consumer = by_hand(logged, seen, on_missed=told.append, hold_s=2 * DAY_S)
    put(logged, "a", "b")
    clock.advance(1.5 * DAY_S)
    assert consumer.status().records_behind == 2
    clock.advance(DAY_S)
    consumer.drain()
    assert [missed.records for missed in told] == [1]
    assert seen.keys == ["b"], "the newest entry of a log always stays"


def test_missed_is_a_warning_by_default(
    logged: Database, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    consumer = by_hand(logged, Seen())
    put(logged, "a", "b", "c")
    clock.advance(8 * DAY_S)
    with caplog.at_level(logging.WARNING, "singletable.consumers"):
        consumer.drain()
    assert "has missed 2 changes (trimmed)" in caplog.text


def test_consumer_ends_with_what_on_missed_raises(logged: Database, clock: ManualClock) -> None:
    def refuse(missed: Missed) -> None:
        raise LookupError("the copy must be made anew")

    with logged.consume(TABLE, Seen(), "follower", hold_s=0, start="LATEST", background=False):
        put(logged, "a", "b")
    clock.advance(2 * DAY_S)
    with logged.consume(TABLE, Seen(), "follower", on_missed=refuse) as consumer:
        with pytest.raises(ConsumerEndedError, match="the copy must be made anew"):
            consumer.drain(WAIT_S)
        assert isinstance(consumer.failure, LookupError)


@pytest.mark.parametrize("reads_between", [True, False])
def test_changes_that_were_not_logged_are_told(
    logged: Database, clock: ManualClock, reads_between: bool
) -> None:
    seen: list[Any] = []
    consumer = by_hand(logged, lambda event: seen.extend(keys_of(event)), on_missed=seen.append)
    put(logged, "a")
    if reads_between:
        consumer.drain()
    clock.advance(1)
    set_stream(logged, on=False)
    put(logged, "b")
    clock.advance(1)
    set_stream(logged, on=True)
    on_us = clock.now_us()
    put(logged, "c")
    consumer.drain()
    first, missed, last = seen
    assert (first, last) == ("a", "c")
    assert (missed.reason, missed.records, missed.first) == ("not logged", None, None)
    assert missed.before == datetime.fromtimestamp(on_us / 1_000_000, UTC)
    put(logged, "d")
    consumer.drain()
    assert seen[3:] == ["d"]


def test_records_that_are_gone_do_not_hide_those_that_were_not_logged(
    logged: Database, clock: ManualClock
) -> None:
    told: list[Missed] = []
    seen = Seen()
    consumer = by_hand(logged, seen, on_missed=told.append)
    put(logged, "a", "b", "c")
    clock.advance(1)
    set_stream(logged, on=False)
    put(logged, "d")
    clock.advance(1)
    set_stream(logged, on=True)
    put(logged, "e")
    clock.advance(8 * DAY_S)
    put(logged, "f")
    clock.advance(1)
    consumer.drain()
    assert [(missed.reason, missed.records) for missed in told] == [("trimmed", 3), ("not logged", None)]
    assert seen.keys == ["e", "f"]


def test_table_with_recovery_alone_is_shown_in_full(db: Database) -> None:
    create_logged(db)
    set_stream(db, on=False)
    db.update_continuous_backups(
        TableName=TABLE, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    events: list[Event] = []
    put(db, "a", "b", colour="red")
    put(db, "a", colour="blue")
    delete(db, "b")
    by_hand(db, events.append).drain()
    shown = [
        (record["dynamodb"].get("OldImage"), record["dynamodb"].get("NewImage"))
        for record in events[0]["Records"]
    ]
    red_a, blue_a, red_b = (
        {"id": {"S": key}, "colour": {"S": colour}}
        for key, colour in (("a", "red"), ("a", "blue"), ("b", "red"))
    )
    assert shown == [(None, red_a), (None, red_b), (red_a, blue_a), (red_b, None)]


def test_new_consumer_has_missed_nothing(logged: Database, clock: ManualClock) -> None:
    put(logged, "a", "b")
    clock.advance(2 * DAY_S)
    told: list[Missed] = []
    consumer = by_hand(logged, Seen(), on_missed=told.append)
    consumer.drain()
    assert told == []


# --- threads ------------------------------------------------------------------------------------------


class Waiting(Seen):
    """A handler that tells when it was given a key."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key
        self.found = threading.Event()

    def __call__(self, event: Event, context: Any) -> None:
        super().__call__(event, context)
        if self._key in keys_of(event):
            self.found.set()


def test_commit_wakes_the_consumers_of_its_process(logged: Database) -> None:
    handler = Waiting("a")
    with logged.consume(TABLE, handler, "follower", poll_s=3600):
        put(logged, "a")
        assert handler.found.wait(WAIT_S)


def test_changes_by_others_are_found_by_looking(tmp_path: Path) -> None:
    handler = Waiting("a")
    with Database.open(tmp_path / "app.db") as db, Database.open(tmp_path / "app.db") as other:
        create_logged(db)
        with db.consume(TABLE, handler, "follower", poll_s=0.01):
            put(other, "a")
            assert handler.found.wait(WAIT_S)


def test_stop_lets_the_handler_finish_what_it_was_given(logged: Database, gated: Gated) -> None:
    put(logged, "a", "b")
    consumer = logged.consume(TABLE, gated, "follower", batch_size=1)
    assert gated.entered.wait(WAIT_S)
    stopping = threading.Thread(target=consumer.stop)
    stopping.start()
    while not consumer._stopping.is_set():
        pass
    gated.gate.set()
    stopping.join(WAIT_S)
    assert gated.keys == ["a"]
    assert consumer.status().records_behind == 1
    assert not consumer.is_running
    consumer.stop()
    with pytest.raises(ConsumerEndedError, match="is not running"):
        consumer.drain()


def test_stop_does_not_wait_until_a_failing_batch_is_tried_again(logged: Database) -> None:
    choosy = Choosy(["a"])
    put(logged, "a")
    consumer = logged.consume(TABLE, choosy, "follower", backoff_s=3600, backoff_s_max=3600)
    while not choosy.tried:
        pass
    consumer.stop()
    assert choosy.tried == [["a"]]
    assert consumer.status().records_behind == 1


def test_closing_the_database_stops_its_consumers(tmp_path: Path) -> None:
    gated = Gated()
    db = Database.open(tmp_path / "app.db")
    create_logged(db)
    put(db, "a", "b")
    consumer = db.consume(TABLE, gated, "follower", batch_size=1)
    assert gated.entered.wait(WAIT_S)
    closing = threading.Thread(target=db.close)
    closing.start()
    while not consumer._stopping.is_set():
        pass
    gated.gate.set()
    closing.join(WAIT_S)
    assert not closing.is_alive()
    with Database.open(tmp_path / "app.db") as db:
        assert [status.records_behind for status in db.consumers()] == [1]
        assert [status.holder for status in db.consumers()] == [None]


def test_handler_may_stop_its_consumer_and_close_its_database(tmp_path: Path) -> None:
    seen = Seen()
    db = Database.open(tmp_path / "app.db")
    create_logged(db)
    closed = threading.Event()

    def handler(event: Event, context: Any) -> None:
        seen(event, context)
        context.database.close()
        closed.set()

    consumer = db.consume(TABLE, handler, "follower", lease_s=0.1)
    put(db, "a")
    assert closed.wait(WAIT_S)
    consumer.stop()
    assert consumer.failure is None
    with Database.open(tmp_path / "app.db") as db, db.consume(TABLE, seen, "follower") as consumer:
        consumer.drain(WAIT_S)
    assert seen.keys == ["a", "a"], "what could not be stored is handed over again"


def test_handler_cannot_wait_for_itself(logged: Database) -> None:
    refused: list[type[Exception]] = []
    consumers: list[Any] = []

    def handler(event: Event, context: Any) -> None:
        try:
            consumers[0].drain()
        except ConsumerBusyError as error:
            refused.append(type(error))

    consumers.append(by_hand(logged, handler))
    put(logged, "a")
    consumers[0].drain()
    assert refused == [ConsumerBusyError]


def test_consumer_in_the_background_is_not_run_by_hand(logged: Database) -> None:
    consumer = logged.consume(TABLE, Seen(), "follower")
    with consumer, pytest.raises(ConsumerBusyError, match="a thread of its own"):
        consumer.run_once()


def test_drain_gives_up_after_its_time(logged: Database, gated: Gated) -> None:
    put(logged, "a")
    with logged.consume(TABLE, gated, "follower", poll_s=0.01) as consumer:
        with pytest.raises(ConsumerBusyError, match="is not done after"):
            consumer.drain(timeout_s=0.02)
        gated.gate.set()


def test_drain_counts_the_time_that_passes_and_not_how_often_it_looks(logged: Database) -> None:
    seen = Seen()
    put(logged, *(f"{number}" for number in range(50)))
    with logged.consume(TABLE, seen, "follower", batch_size=1, poll_s=2 * WAIT_S) as consumer:
        consumer.drain(WAIT_S)
    assert len(seen.keys) == 50


def test_batch_of_large_items_without_a_stream_is_cut(logged: Database) -> None:
    """The items are not in the log then, and count all the same."""
    turn_on(logged, TABLE)
    set_stream(logged, on=False)
    seen = Seen()
    consumer = by_hand(logged, seen, start="LATEST")
    put(logged, *(f"{number}" for number in range(20)), filler="x" * 390_000)
    consumer.drain()
    assert [len(batch) for batch in seen.batches] == [16, 4]


def test_deleted_table_is_read_to_its_end(logged: Database) -> None:
    seen = Seen()
    consumer = by_hand(logged, seen)
    put(logged, "a", "b")
    logged.delete_table(TableName=TABLE)
    consumer.drain()
    assert seen.keys == ["a", "b"]
    with pytest.raises(ConsumerEndedError):
        consumer.run_once()


def test_consumer_goes_on_with_a_table_that_was_deleted_while_it_did_not_run(logged: Database) -> None:
    first, rest = Seen(), Seen()
    consumer = by_hand(logged, first)
    put(logged, "a")
    consumer.drain()
    consumer.stop()
    put(logged, "b")
    logged.delete_table(TableName=TABLE)
    by_hand(logged, rest).drain()
    assert (first.keys, rest.keys) == (["a"], ["b"])
    with pytest.raises(ResourceNotFoundError):
        logged.consume(TABLE, rest, "another", background=False)


def test_table_that_was_made_again_has_new_consumers(logged: Database) -> None:
    old, new = Seen(), Seen()
    put(logged, "a")
    with logged.consume(TABLE, old, "follower") as consumer:
        consumer.drain(WAIT_S)
        logged.delete_table(TableName=TABLE)
        create_logged(logged)
        put(logged, "b")
        by_hand(logged, new).drain()
    assert (old.keys, new.keys) == (["a"], ["b"])
