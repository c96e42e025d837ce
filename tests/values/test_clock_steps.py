"""A clock that is put back or jumps ahead, again and again, with restarts in between.

What holds whatever it does: changes keep their order, each transaction has a time of its own, every version that
is kept can be seen, nothing is expired or trimmed by a clock that is wrong for less than an hour, and what waits
for the clock goes on when it has come to the time that it waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from singletable import Database, limits
from singletable.clock import ManualClock
from singletable.errors import ExpiredIteratorError
from singletable.storage.check import check_file
from support.backed_up import names as backup_names
from support.expiring import enable, log_of
from support.past_tables import turn_on
from support.sample_tables import all_items, background, create_single, index, item, n, refusal
from support.streamed_tables import iterator_at, records_of

MINUTE_S = 60
HOUR_S = 3600
DAY_S = 24 * HOUR_S
YEAR_S = 365 * DAY_S
TABLE = "single"
STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Restarted:
    """A database that is closed and opened again as often as a test likes, on one clock."""

    path: Path
    clock: ManualClock
    db: Database = field(init=False)

    def __post_init__(self) -> None:
        self.db = Database.open(self.path, durability="relaxed", clock=self.clock)

    def restart(self) -> None:
        self.db.close()
        assert check_file(self.path) == []
        self.db = Database.open(self.path, durability="relaxed", clock=self.clock)

    def put(self, number: int, name: str = "a", **more: Any) -> None:
        self.db.put_item(TableName=TABLE, Item=item(name, "1", number=n(number), **more))

    def times_us(self) -> list[int]:
        return [entry.at_us for entry in log_of(self.db)]

    def seqs(self) -> list[int]:
        return [entry.seq for entry in log_of(self.db)]

    def now_s(self) -> int:
        return self.clock.time_us // 1_000_000

    def numbers_at(self, at_us: int) -> dict[str, str]:
        """Return the numbers of the items as they were."""
        view = self.db.at(EPOCH + timedelta(microseconds=at_us))
        return {found["PK"]["S"]: found["number"]["N"] for found in view.scan(TableName=TABLE)["Items"]}


@contextmanager
def _opened(path: Path) -> Iterator[Restarted]:
    opened = Restarted(path, ManualClock())
    create_single(opened.db, StreamSpecification=STREAM)
    try:
        yield opened
        assert opened.db.check() == []
    finally:
        opened.db.close()
    assert check_file(path) == []


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Restarted]:
    """A table with a stream, in a file."""
    with _opened(tmp_path / "test.db") as restarted:
        yield restarted


def _stay(opened: Restarted) -> None:
    """Nothing happens between two steps of the clock."""


MEANWHILE = pytest.mark.parametrize("meanwhile", [_stay, Restarted.restart], ids=["running", "started_anew"])
Meanwhile = Callable[[Restarted], None]


# --- order ------------------------------------------------------------------------------------------------


@MEANWHILE
@pytest.mark.parametrize("seed", range(4))
def test_changes_keep_their_order_and_can_all_be_seen(
    opened: Restarted, meanwhile: Meanwhile, seed: int
) -> None:
    """Of hours: days that are believed would let versions go that are older than the recovery reaches."""
    random = Random(seed)
    turn_on(opened.db)
    model: dict[str, str] = {}
    states: list[dict[str, str]] = []
    for number in range(60):
        name = random.choice("abc")
        if name in model and random.random() < 0.3:
            opened.db.delete_item(TableName=TABLE, Key=item(name, "1"))
            del model[name]
        else:
            opened.put(number, name)
            model[name] = str(number)
        states.append(dict(model))
        match random.randrange(4):
            case 0:
                opened.clock.jump(random.choice((-1, 1)) * random.choice((1, MINUTE_S, HOUR_S, 9 * HOUR_S)))
                meanwhile(opened)
            case 1:
                opened.clock.advance(random.choice((0.001, 1, MINUTE_S)))
    times_us = opened.times_us()
    assert opened.seqs() == list(range(1, 61))
    assert times_us == sorted(times_us)
    # The clock of tests may stand still: changes of one time count together.
    last_of_time = dict(zip(times_us, states, strict=True))
    assert len(last_of_time) > 40
    for at_us, state in last_of_time.items():
        assert opened.numbers_at(at_us) == state


@MEANWHILE
@pytest.mark.parametrize("back_s", [1, HOUR_S, DAY_S, YEAR_S, 20 * YEAR_S])
def test_each_write_behind_a_clock_that_was_put_back_has_a_time_of_its_own(
    opened: Restarted, meanwhile: Meanwhile, back_s: int
) -> None:
    opened.put(0)
    opened.clock.jump(-back_s)
    meanwhile(opened)
    for number in range(1, 4):
        opened.put(number)
    first, *later = opened.times_us()
    assert later == [first + 1, first + 2, first + 3]


@MEANWHILE
@pytest.mark.parametrize("step_s", [-YEAR_S, -DAY_S, -1, 1, DAY_S, YEAR_S])
def test_stream_shows_every_change_once_and_in_order(
    opened: Restarted, meanwhile: Meanwhile, step_s: int
) -> None:
    """For a day by the clock; it does not show less because the clock was wrong for a while."""
    (stream,) = opened.db.list_streams()["Streams"]
    for number in range(6):
        opened.put(number)
        opened.clock.jump(step_s if number % 2 else -step_s)
        if step_s < 0 or number % 2 == 0:
            meanwhile(opened)
    found = records_of(opened.db, stream["StreamArn"])
    numbers = [int(record["dynamodb"]["NewImage"]["number"]["N"]) for record in found]
    assert numbers == sorted(numbers)
    if meanwhile is _stay:
        assert numbers == list(range(6))
    assert numbers[-1] == 5


# --- recovery ---------------------------------------------------------------------------------------------


@MEANWHILE
@pytest.mark.parametrize("back_s", [1, DAY_S, 100 * DAY_S])
def test_recovery_that_was_just_turned_on_keeps_all_that_follows(
    opened: Restarted, meanwhile: Meanwhile, back_s: int
) -> None:
    """Its beginning is a moment that the clock has left again, and no change has marked it."""
    turn_on(opened.db)
    opened.clock.jump(-back_s)
    meanwhile(opened)
    for number in range(3):
        opened.clock.advance(MINUTE_S)
        opened.put(number)
    opened.clock.advance(2 * DAY_S)
    assert opened.seqs() == [1, 2, 3]
    assert [opened.numbers_at(at_us) for at_us in opened.times_us()] == [
        {"a": "0"},
        {"a": "1"},
        {"a": "2"},
    ]
    versions = opened.db.history(TABLE, item("a", "1"))
    assert [version.after and version.after["number"] for version in versions] == [n(2), n(1), n(0)]


@pytest.mark.parametrize("days", [1, 35])
def test_window_is_not_shorter_for_a_clock_that_was_wrong_for_a_while(opened: Restarted, days: int) -> None:
    turn_on(opened.db, days=days)
    opened.clock.advance(MINUTE_S)
    opened.put(0)
    first_us = opened.clock.time_us
    for jump_s in (YEAR_S, 10 * YEAR_S, 60 * DAY_S):
        opened.clock.jump(jump_s)
        opened.clock.advance(MINUTE_S)  # what is due is done
        assert opened.numbers_at(first_us) == {"a": "0"}
        opened.clock.jump(-jump_s)
        opened.clock.advance(MINUTE_S)
        opened.put(1, "b")
        opened.db.delete_item(TableName=TABLE, Key=item("b", "1"))
    assert opened.numbers_at(first_us) == {"a": "0"}
    assert opened.seqs()[0] == 1


@MEANWHILE
def test_restore_to_now_holds_nothing_that_was_written_after_it_began(
    opened: Restarted, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its moment lies ahead of a clock that was put back; changes to come lie behind it all the same."""
    turn_on(opened.db)
    for number in range(10):
        opened.put(number, f"{number}")
    opened.clock.advance(DAY_S)
    monkeypatch.setattr("singletable.storage.backups.restoring._ITEMS_A_STEP", 1)
    monkeypatch.setattr("singletable.storage.chores.background._STEPS_MAX", 1)
    monkeypatch.setattr("singletable.storage.chores.background.Background.wake", lambda self: None)
    opened.db.restore_table_to_point_in_time(
        SourceTableName=TABLE, TargetTableName="restored", UseLatestRestorableTime=True
    )
    opened.clock.jump(-HOUR_S)
    meanwhile(opened)
    for number in range(10):
        opened.put(100 + number, f"{number}")
    opened.put(0, "new")
    while not background(opened.db).piece():
        pass
    found = all_items(opened.db, "scan", TableName="restored")
    assert {one["PK"]["S"]: one["number"]["N"] for one in found} == {f"{k}": f"{k}" for k in range(10)}


@MEANWHILE
def test_table_made_by_a_clock_that_was_ahead_has_a_past(opened: Restarted, meanwhile: Meanwhile) -> None:
    opened.clock.jump(YEAR_S)
    create_single(opened.db, "second")
    turn_on(opened.db, "second")
    opened.clock.jump(-YEAR_S)
    meanwhile(opened)
    opened.db.put_item(TableName="second", Item=item("a", "1", number=n(1)))
    opened.clock.advance(MINUTE_S)
    opened.db.put_item(TableName="second", Item=item("a", "1", number=n(2)))
    opened.clock.advance(3 * DAY_S)
    versions = list(opened.db.history("second", item("a", "1")))
    assert [version.after and version.after["number"] for version in versions] == [n(2), n(1)]
    for version in versions:
        view = opened.db.at(version.at)
        assert view.get_item(TableName="second", Key=item("a", "1"))["Item"] == version.after


# --- expiry -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump_s", [-YEAR_S, -DAY_S, 2 * DAY_S, 3 * YEAR_S, 10 * YEAR_S])
def test_item_goes_when_the_right_clock_says_so_neither_sooner_nor_never(
    opened: Restarted, jump_s: int
) -> None:
    enable(opened.db)
    expires_s = opened.now_s() + DAY_S
    opened.put(0, "tomorrow", expires=n(expires_s))
    for _ in range(3):
        opened.clock.jump(jump_s)
        opened.clock.advance(HOUR_S / 2)
        assert len(opened.seqs()) == 1
        opened.clock.jump(-jump_s)
        opened.clock.advance(HOUR_S / 2)
        assert len(opened.seqs()) == 1
    opened.clock.advance(DAY_S)
    # A clock that was behind and is put right is a jump ahead: it is believed an hour later.
    opened.clock.advance(HOUR_S)
    assert all_items(opened.db, "scan", TableName=TABLE) == []


def test_item_whose_time_was_written_by_a_clock_that_was_ahead_waits_for_it(opened: Restarted) -> None:
    enable(opened.db)
    opened.clock.jump(40 * DAY_S)
    opened.put(0, "later", expires=n(opened.now_s() + HOUR_S))
    opened.clock.jump(-40 * DAY_S)
    opened.restart()
    opened.clock.advance(40 * DAY_S)
    assert len(all_items(opened.db, "scan", TableName=TABLE)) == 1
    opened.clock.advance(HOUR_S + 1)
    assert all_items(opened.db, "scan", TableName=TABLE) == []


@MEANWHILE
def test_time_to_live_can_be_changed_again_after_an_hour_or_after_a_step_of_one(
    opened: Restarted, meanwhile: Meanwhile
) -> None:
    enable(opened.db)
    opened.clock.jump(-YEAR_S)
    meanwhile(opened)
    opened.db.update_time_to_live(
        TableName=TABLE, TimeToLiveSpecification={"AttributeName": "expires", "Enabled": False}
    )


# --- trimming, iterators, leases, tokens, schedules -----------------------------------------------------------


def test_clock_that_is_wrong_for_a_while_trims_nothing(opened: Restarted) -> None:
    for number in range(5):
        opened.put(number)
    for jump_s in (2 * DAY_S, YEAR_S, -YEAR_S, 30 * YEAR_S, -2 * DAY_S):
        opened.clock.jump(jump_s)
        opened.clock.advance(MINUTE_S)
        opened.clock.jump(-jump_s)
        opened.clock.advance(MINUTE_S)
    assert opened.seqs() == [1, 2, 3, 4, 5]
    opened.put(5)
    assert opened.seqs() == [1, 2, 3, 4, 5, 6]


@MEANWHILE
def test_records_of_a_clock_that_was_ahead_stay_a_day_longer_than_it_was_wrong(
    opened: Restarted, meanwhile: Meanwhile
) -> None:
    """So do those behind them, whose times may not be earlier; then the log is trimmed as ever."""
    opened.clock.jump(10 * DAY_S)
    opened.put(0)
    opened.clock.jump(-10 * DAY_S)
    meanwhile(opened)
    opened.put(1)
    opened.clock.advance(11 * DAY_S)
    assert opened.seqs() == [1, 2]
    opened.put(2)
    assert opened.seqs() == [1, 2, 3]
    opened.clock.advance(1)
    assert opened.seqs() == [2, 3]
    opened.clock.advance(2 * DAY_S)
    assert opened.seqs() == [3]


@MEANWHILE
def test_shards_follow_each_other_again_when_the_clock_has_come_to_their_time(
    opened: Restarted, meanwhile: Meanwhile
) -> None:
    (stream,) = opened.db.list_streams()["Streams"]
    opened.clock.jump(10 * DAY_S)
    opened.clock.advance(1)
    opened.clock.advance(HOUR_S)  # it is believed: the shard is old, and another follows it
    opened.put(0)
    opened.clock.jump(-10 * DAY_S)
    meanwhile(opened)
    opened.put(1)
    opened.clock.advance(limits.SHARD_OPEN_S)
    opened.put(2)

    def shards() -> int:
        described = opened.db.describe_stream(StreamArn=stream["StreamArn"])
        return len(described["StreamDescription"]["Shards"])

    before = shards()
    found = records_of(opened.db, stream["StreamArn"])
    assert [record["dynamodb"]["NewImage"]["number"] for record in found] == [n(0), n(1), n(2)]
    assert before == 2
    opened.clock.advance(10 * DAY_S)
    opened.put(3)
    assert shards() == 3


@MEANWHILE
def test_iterator_works_across_steps_and_expires_by_the_right_clock(
    opened: Restarted, meanwhile: Meanwhile
) -> None:
    (stream,) = opened.db.list_streams()["Streams"]
    opened.put(0)
    iterator = iterator_at(opened.db, stream["StreamArn"])
    opened.clock.jump(-DAY_S)
    meanwhile(opened)
    (record,) = opened.db.get_records(ShardIterator=iterator)["Records"]
    assert record["dynamodb"]["NewImage"]["number"] == n(0)
    opened.clock.advance(DAY_S + limits.ITERATOR_KEPT_S)
    assert "NextShardIterator" in opened.db.get_records(ShardIterator=iterator)
    opened.clock.advance(1)
    with pytest.raises(ExpiredIteratorError):
        opened.db.get_records(ShardIterator=iterator)
    iterator_at(opened.db, stream["StreamArn"])  # another one is given at once


def test_iterator_does_not_expire_by_a_jump_ahead(opened: Restarted) -> None:
    (stream,) = opened.db.list_streams()["Streams"]
    opened.put(0)
    iterator = iterator_at(opened.db, stream["StreamArn"])
    opened.clock.jump(YEAR_S)
    assert len(opened.db.get_records(ShardIterator=iterator)["Records"]) == 1


@pytest.mark.parametrize("jump_s", [HOUR_S, YEAR_S])
def test_time_of_a_clock_that_was_put_forward_is_a_place_at_once(opened: Restarted, jump_s: int) -> None:
    (stream,) = opened.db.list_streams()["Streams"]
    opened.put(0)
    opened.clock.jump(jump_s)
    opened.put(1)
    now = EPOCH + timedelta(microseconds=opened.clock.time_us)
    iterator = iterator_at(opened.db, stream["StreamArn"], "AT_TIMESTAMP", Timestamp=now)
    (record,) = opened.db.get_records(ShardIterator=iterator)["Records"]
    assert record["dynamodb"]["NewImage"]["number"] == n(1)


@MEANWHILE
@pytest.mark.parametrize("step_s", [-3 * DAY_S, -HOUR_S, HOUR_S, 3 * DAY_S])
def test_consumer_misses_nothing_and_gets_nothing_twice(
    opened: Restarted, meanwhile: Meanwhile, step_s: int
) -> None:
    """Its lease is by another clock, its position a number. What the stream no longer shows, it is still given."""
    missed: list[Any] = []
    numbers: list[int] = []

    def handler(event: Any) -> None:
        numbers.extend(int(one["dynamodb"]["NewImage"]["number"]["N"]) for one in event["Records"])

    for number in range(8):
        with opened.db.consume(
            TABLE, handler, "follower", on_missed=missed.append, background=False
        ) as consumer:
            opened.put(number)
            opened.clock.jump(step_s if number % 3 else -step_s)
            if number % 2:
                consumer.drain()
        meanwhile(opened)
        opened.clock.advance(1)
    with opened.db.consume(TABLE, handler, "follower", background=False) as consumer:
        consumer.drain()
    assert numbers == list(range(8))
    assert missed == []


@MEANWHILE
def test_token_counts_for_ten_minutes_around_the_time_of_its_request(
    opened: Restarted, meanwhile: Meanwhile
) -> None:
    def count() -> str:
        update: Any = {
            "TableName": TABLE,
            "Key": item("a", "1"),
            "UpdateExpression": "ADD #number :one",
            "ExpressionAttributeNames": {"#number": "number"},
            "ExpressionAttributeValues": {":one": n(1)},
        }
        opened.db.transact_write_items(TransactItems=[{"Update": update}], ClientRequestToken="token")
        return str(opened.db.get_item(TableName=TABLE, Key=item("a", "1"))["Item"]["number"]["N"])

    assert count() == "1"
    opened.clock.jump(-limits.TRANSACTION_TOKEN_S / 2)
    meanwhile(opened)
    assert count() == "1"
    opened.clock.jump(-YEAR_S)
    meanwhile(opened)
    assert count() == "2"  # left by a clock that was wrong: it is not remembered for a year
    assert count() == "2"


@MEANWHILE
def test_schedule_goes_on_after_steps(opened: Restarted, meanwhile: Meanwhile) -> None:
    def made() -> int:
        return len(backup_names(opened.db))

    opened.db.backup_schedule(every="daily", keep="90d")
    assert made() == 1
    for jump_s in (30 * DAY_S, -30 * DAY_S, -2 * DAY_S, 2 * DAY_S):
        opened.clock.jump(jump_s)
        meanwhile(opened)
        if meanwhile is not _stay:
            opened.db.backup_schedule(every="daily", keep="90d")
        opened.clock.advance(MINUTE_S)
    before = made()
    for _ in range(3):
        opened.clock.advance(DAY_S)
    assert made() >= before + 2, "one or more of the days have none"


# --- tables and streams that are made and ended ------------------------------------------------------------


@MEANWHILE
def test_streams_that_are_turned_off_and_on_while_the_clock_steps_have_names_of_their_own(
    opened: Restarted, meanwhile: Meanwhile
) -> None:
    for step_s in (-DAY_S, DAY_S, -YEAR_S, -1, 1):
        opened.put(step_s)
        opened.db.update_table(TableName=TABLE, StreamSpecification={"StreamEnabled": False})
        opened.clock.jump(step_s)
        meanwhile(opened)
        opened.db.update_table(TableName=TABLE, StreamSpecification=STREAM)
        opened.clock.jump(-step_s / 2)
    streams = opened.db.list_streams()["Streams"]
    labels = [stream["StreamLabel"] for stream in streams]
    assert len(set(labels)) == len(labels)
    assert labels == sorted(labels, reverse=True)
    opened.put(0)
    newest = records_of(opened.db, streams[0]["StreamArn"])
    assert [record["dynamodb"]["NewImage"]["number"] for record in newest] == [n(0)]


@MEANWHILE
def test_deleted_table_goes_with_its_stream_when_the_clock_has_come_to_its_end(
    opened: Restarted, meanwhile: Meanwhile
) -> None:
    opened.put(0)
    opened.clock.jump(3 * DAY_S)
    opened.db.delete_table(TableName=TABLE)
    opened.clock.jump(-3 * DAY_S)
    meanwhile(opened)
    create_single(opened.db, StreamSpecification=STREAM)
    assert len(opened.db.list_streams()["Streams"]) == 2
    opened.clock.advance(4 * DAY_S + 1)
    assert len(opened.db.list_streams()["Streams"]) == 1


@MEANWHILE
def test_index_is_added_while_the_clock_is_wrong(opened: Restarted, meanwhile: Meanwhile) -> None:
    opened.put(0, other="x")
    opened.clock.jump(-YEAR_S)
    meanwhile(opened)
    opened.db.update_table(
        TableName=TABLE,
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"}
            for name in ("PK", "SK", "GSI1PK", "GSI1SK", "other")
        ],
        GlobalSecondaryIndexUpdates=[{"Create": index("Added", "other")}],
    )
    opened.clock.jump(2 * YEAR_S)
    meanwhile(opened)
    while not background(opened.db).piece():
        pass
    assert len(all_items(opened.db, "scan", TableName=TABLE, IndexName="Added")) == 1
    refused, _ = refusal(opened.db, "scan", TableName=TABLE, IndexName="None")
    assert refused == "ValidationException"
