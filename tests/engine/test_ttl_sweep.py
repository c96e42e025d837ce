"""Items whose time to live is over: which of them go, when, and what follows from it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock, SystemClock
from singletable.limits import TTL_AGE_S_MAX
from singletable.storage.chores import sweeping
from singletable.storage.log import EXPIRED, INSERTED, MODIFIED, REMOVED
from support.expiring import ATTRIBUTE, NOW_S, disable, enable, log_of, names, put
from support.sample_tables import background, create_plain, create_single, index, item, key_schema, n, s

HOUR_S = 3600
DAY_S = 24 * HOUR_S


@pytest.fixture
def expiring(db: Database) -> Database:
    """A table whose items expire."""
    create_single(db)
    enable(db)
    return db


@pytest.fixture(params=["memory", "file"])
def lazy(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    """A table whose items expire, and are deleted only when somebody says so."""
    path = ":memory:" if request.param == "memory" else str(tmp_path / "lazy.db")
    with Database.open(path, durability="relaxed", clock=clock, ttl_sweep_s=None) as database:
        create_single(database, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        enable(database)
        yield database
        assert database.check() == []


# --- which items go ---------------------------------------------------------------------------------


def test_an_item_goes_when_its_second_is_over(expiring: Database, clock: ManualClock) -> None:
    # "If the epoch time value stored in the attribute is less than the current time" (botocore).
    put(expiring, "first", NOW_S + 10)
    put(expiring, "second", NOW_S + 11)
    clock.advance(10)
    assert names(expiring) == ["first", "second"]
    clock.advance(1)
    assert names(expiring) == ["second"]
    clock.advance(1)
    assert names(expiring) == []


def test_items_that_were_there_before_it_was_enabled_go_too(db: Database, clock: ManualClock) -> None:
    create_single(db)
    put(db, "old", NOW_S - 60)
    put(db, "young", NOW_S + HOUR_S)
    enable(db)
    clock.advance(1)
    assert names(db) == ["young"]


def test_an_item_that_had_expired_when_it_was_written_goes(expiring: Database, clock: ManualClock) -> None:
    put(expiring, "late", NOW_S - DAY_S)
    assert names(expiring) == ["late"]
    clock.advance(0)
    assert names(expiring) == []


@pytest.mark.parametrize(
    "value",
    [
        s(str(NOW_S)),
        {"B": b"1700000000"},
        {"BOOL": True},
        {"NULL": True},
        {"NS": [str(NOW_S)]},
        {"L": [n(NOW_S)]},
        {"M": {ATTRIBUTE: n(NOW_S)}},
    ],
    ids=lambda value: next(iter(value)),
)
def test_a_time_that_is_no_number_is_none(expiring: Database, clock: ManualClock, value: Any) -> None:
    put(expiring, "kept", value)
    clock.advance(DAY_S)
    assert names(expiring) == ["kept"]


def test_an_item_without_the_attribute_stays(expiring: Database, clock: ManualClock) -> None:
    put(expiring, "kept", None, inside={"M": {ATTRIBUTE: n(NOW_S)}})
    clock.advance(DAY_S)
    assert names(expiring) == ["kept"]


@pytest.mark.parametrize(
    "number",
    [
        f"{NOW_S - 1}.9",
        "1.699999999E+9",
        f"{NOW_S - 1}.00000000000000000000000001",
        str(NOW_S + 1 - TTL_AGE_S_MAX),
    ],
)
def test_a_number_of_any_form_is_a_time(expiring: Database, clock: ManualClock, number: str) -> None:
    put(expiring, "gone", number)
    clock.advance(1)
    assert names(expiring) == []


@pytest.mark.parametrize(
    "number",
    [
        *("0", "-1", "1", "1E-130", "-9.9E+125"),
        *("9.9E+125", str(2**62), str(2**63), str(2**64), "99999999999999999999999999999999999999"),
        str(NOW_S * 1000),
    ],
)
def test_a_time_that_is_far_away_is_none(expiring: Database, clock: ManualClock, number: str) -> None:
    # Milliseconds are a common mistake: they are seconds of a far future.
    put(expiring, "kept", number)
    clock.advance(DAY_S)
    assert names(expiring) == ["kept"]


def test_a_time_of_more_than_five_years_ago_is_a_mistake(expiring: Database, clock: ManualClock) -> None:
    # AWS guide, "Using time to live": such items are not deleted.
    put(expiring, "mistaken", NOW_S - TTL_AGE_S_MAX - 1)
    put(expiring, "old", NOW_S - TTL_AGE_S_MAX + 10)
    clock.advance(1)
    assert names(expiring) == ["mistaken"]


def test_an_attribute_of_the_key_can_be_the_time(db: Database, clock: ManualClock) -> None:
    # AWS takes it (ack-api-quirks, DDB-TABLE-146).
    db.create_table(
        TableName="single",
        KeySchema=key_schema("PK", ATTRIBUTE),
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": ATTRIBUTE, "AttributeType": "N"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    enable(db)
    for seconds in (5, 15):
        db.put_item(TableName="single", Item={"PK": s("a"), ATTRIBUTE: n(NOW_S + seconds)})
    clock.advance(10)
    assert [found[ATTRIBUTE] for found in db.scan(TableName="single")["Items"]] == [n(NOW_S + 15)]


def test_nothing_goes_when_it_is_disabled_again(expiring: Database, clock: ManualClock) -> None:
    clock.advance(HOUR_S)
    put(expiring, "kept", NOW_S + HOUR_S + 10)
    disable(expiring)
    clock.advance(DAY_S)
    assert names(expiring) == ["kept"]
    enable(expiring)
    clock.advance(1)
    assert names(expiring) == []


def test_an_empty_table_has_nothing_to_sweep(expiring: Database, clock: ManualClock) -> None:
    clock.advance(DAY_S)
    assert expiring.sweep_expired() == 0


def test_every_table_is_swept(db: Database, clock: ManualClock) -> None:
    for name in ("one", "two", "three"):
        create_plain(db, name)
        db.put_item(TableName=name, Item={"id": s("a"), ATTRIBUTE: n(NOW_S + 1)})
    enable(db, "one")
    enable(db, "three")
    clock.advance(10)
    counts = [db.scan(TableName=name)["Count"] for name in ("one", "two", "three")]
    assert counts == [0, 1, 0]


def test_thousands_of_items_go_in_many_pieces(expiring: Database, clock: ManualClock) -> None:
    for first in range(0, 2_500, 25):
        requests: list[Any] = [
            {"PutRequest": {"Item": item(f"{number:04}", "1", **{ATTRIBUTE: n(NOW_S + number % 7)})}}
            for number in range(first, first + 25)
        ]
        expiring.batch_write_item(RequestItems={"single": requests})
    put(expiring, "kept", NOW_S + DAY_S)
    clock.advance(100)
    assert names(expiring) == ["kept"]
    assert expiring.metrics().time_to_live_deleted_items("single") == 2_500


def test_large_items_go_a_few_at_a_time(lazy: Database, clock: ManualClock) -> None:
    for number in range(6):
        put(lazy, str(number), NOW_S + 1, text=s("x" * 300_000))
    clock.advance(10)
    store = lazy._session.store
    now_us = clock.now_us()
    store.write(lambda transaction: sweeping.step(transaction, now_us))
    assert lazy.describe_table(TableName="single")["Table"]["ItemCount"] == 5
    assert lazy.sweep_expired() == 5


# --- the window before the sweep ----------------------------------------------------------------------


def test_a_lazy_database_keeps_what_has_expired_until_it_is_told(lazy: Database, clock: ManualClock) -> None:
    put(lazy, "a", NOW_S + 1, GSI1PK=s("g"), GSI1SK=s("1"))
    put(lazy, "b", NOW_S + DAY_S)
    clock.advance(60)
    assert names(lazy) == ["a", "b"]
    assert names(lazy, IndexName="GSI1") == ["a"]
    assert lazy.get_item(TableName="single", Key=item("a", "1"))["Item"][ATTRIBUTE] == n(NOW_S + 1)
    assert lazy.sweep_expired() == 1
    assert names(lazy) == ["b"]
    assert names(lazy, IndexName="GSI1") == []
    assert lazy.sweep_expired() == 0


def test_a_write_that_renews_the_time_keeps_an_expired_item(lazy: Database, clock: ManualClock) -> None:
    put(lazy, "renewed", NOW_S + 1)
    put(lazy, "freed", NOW_S + 1)
    put(lazy, "touched", NOW_S + 1)
    clock.advance(60)
    put(lazy, "renewed", NOW_S + DAY_S)
    lazy.update_item(TableName="single", Key=item("freed", "1"), UpdateExpression="REMOVE expires")
    lazy.update_item(
        TableName="single",
        Key=item("touched", "1"),
        UpdateExpression="SET seen = :yes",
        ExpressionAttributeValues={":yes": {"BOOL": True}},
    )
    assert lazy.sweep_expired() == 1
    assert names(lazy) == ["freed", "renewed"]


def test_a_sweep_looks_at_what_is_stored_when_it_deletes(lazy: Database, clock: ManualClock) -> None:
    """The renewal is carried out after the sweep was asked for, and before it, in the same transaction."""
    put(lazy, "renewed", NOW_S + 1)
    put(lazy, "gone", NOW_S + 1)
    clock.advance(60)
    store, now_us = lazy._session.store, clock.now_us()
    found_due = store.read(lambda execute, catalog: sweeping.is_due(execute, catalog, now_us))
    waits, renewed = threading.Event(), threading.Event()

    def hold(transaction: Any) -> None:
        waits.set()
        assert renewed.wait(30)

    holding = threading.Thread(target=store.write, args=(hold,))
    holding.start()
    assert waits.wait(30)
    writing = threading.Thread(target=put, args=(lazy, "renewed", NOW_S + DAY_S))
    writing.start()
    while len(store._waiting) < 2:  # until the renewal stands behind the one that holds the writer
        threading.Event().wait(0.001)
    counted: list[int] = []
    sweep = threading.Thread(target=lambda: counted.append(lazy.sweep_expired()))
    sweep.start()
    while len(store._waiting) < 3:
        threading.Event().wait(0.001)
    renewed.set()
    for thread in (holding, writing, sweep):
        thread.join()
    assert found_due
    assert counted == [1]
    assert names(lazy) == ["renewed"]


def test_conditions_see_an_expired_item_until_it_is_swept(lazy: Database, clock: ManualClock) -> None:
    put(lazy, "lock", NOW_S + 1)
    clock.advance(60)
    found = lazy.query(
        TableName="single",
        KeyConditionExpression="PK = :p",
        FilterExpression="expires > :now",
        ExpressionAttributeValues={":p": s("lock"), ":now": n(NOW_S + 60)},
    )
    assert (found["Count"], found["ScannedCount"]) == (0, 1)  # how AWS's guide tells to hide such items
    lazy.put_item(
        TableName="single",
        Item=item("lock", "1", expires=n(NOW_S + DAY_S)),
        ConditionExpression="attribute_not_exists(PK) OR expires < :now",
        ExpressionAttributeValues={":now": n(NOW_S + 60)},
    )
    assert lazy.sweep_expired() == 0


@pytest.mark.parametrize("seconds", [0, 0.001, -1, 48 * HOUR_S + 1, float("nan"), float("inf")])
def test_an_interval_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match=r"ttl_sweep_s is a number from 0\.01 to 172800, or None"):
        Database.open(":memory:", ttl_sweep_s=seconds)


# --- what follows from a deletion ------------------------------------------------------------------------


def test_indexes_and_counts_follow(db: Database, clock: ManualClock) -> None:
    db.create_table(
        TableName="single",
        KeySchema=key_schema("PK", "SK"),
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "LSK")
        ],
        GlobalSecondaryIndexes=[index("GSI1", "GSI1PK")],
        LocalSecondaryIndexes=[index("LSI1", "PK", "LSK")],
        BillingMode="PAY_PER_REQUEST",
    )
    enable(db)
    for number in range(40):
        put(db, f"{number:02}", NOW_S + (1 if number % 2 else DAY_S), GSI1PK=s("g"), LSK=s("l"))
    clock.advance(10)
    table = db.describe_table(TableName="single")["Table"]
    assert table["ItemCount"] == 20
    assert [found["ItemCount"] for found in table["GlobalSecondaryIndexes"]] == [20]
    assert [found["ItemCount"] for found in table["LocalSecondaryIndexes"]] == [20]
    assert names(db, IndexName="GSI1") == names(db, IndexName="LSI1") == names(db)


def test_the_deletion_is_logged_as_one_that_nobody_asked_for(lazy: Database, clock: ManualClock) -> None:
    put(lazy, "gone", NOW_S + 1)
    put(lazy, "gone", NOW_S + 2)
    put(lazy, "deleted", NOW_S + 2)
    lazy.delete_item(TableName="single", Key=item("deleted", "1"))
    clock.advance(60)
    lazy.sweep_expired()
    entries = log_of(lazy)
    assert [entry.event for entry in entries] == [INSERTED, MODIFIED, INSERTED, REMOVED, EXPIRED]
    assert entries[-1].at_us == clock.now_us()
    assert entries[-1].before is not None
    assert b'"gone"' in entries[-1].before
    assert entries[-1].after is None


def test_the_stream_tells_who_deleted_it(db: Database, clock: ManualClock) -> None:
    # AWS guide, "Working with expired items": "Records[<index>].userIdentity.type: "Service"" and its principal.
    create_single(db, StreamSpecification={"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"})
    enable(db)
    put(db, "gone", NOW_S + 1)
    put(db, "deleted", NOW_S + DAY_S)
    db.delete_item(TableName="single", Key=item("deleted", "1"))
    clock.advance(60)
    *_, deletion, expiry = records(db)
    assert "userIdentity" not in deletion
    assert (deletion["eventName"], expiry["eventName"]) == ("REMOVE", "REMOVE")
    assert expiry["userIdentity"] == {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}
    assert expiry["dynamodb"]["Keys"] == item("gone", "1")
    assert expiry["dynamodb"]["OldImage"] == item("gone", "1", expires=n(NOW_S + 1))


def records(db: Database) -> list[Any]:
    """Return the records of the only stream, which has one shard."""
    (stream,) = db.list_streams()["Streams"]
    arn = stream["StreamArn"]
    (shard,) = db.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
    iterator = db.get_shard_iterator(
        StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
    )["ShardIterator"]
    found: list[Any] = db.get_records(ShardIterator=iterator)["Records"]
    return found


def test_it_consumes_nothing_and_is_counted(expiring: Database, clock: ManualClock) -> None:
    put(expiring, "gone", NOW_S + 1, GSI1PK=s("g"), GSI1SK=s("1"))
    before = expiring.metrics()
    clock.advance(60)
    metrics = expiring.metrics().since(before)
    assert metrics.time_to_live_deleted_items("single") == metrics.time_to_live_deleted_items() == 1
    assert metrics.consumed_write_units("single") == metrics.consumed_write_units("single", "GSI1") == 0
    assert metrics.latency().count == 0


def test_a_throttled_table_is_swept_without_units(clock: ManualClock) -> None:
    with Database.open(":memory:", clock=clock, throttling=True) as db:
        units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
        by_group: Any = {**index("GSI1", "GSI1PK"), "ProvisionedThroughput": units}
        db.create_table(
            TableName="single",
            KeySchema=key_schema("PK", "SK"),
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK")
            ],
            GlobalSecondaryIndexes=[by_group],
            ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        )
        enable(db)
        for number in range(200):
            put(db, f"{number:03}", NOW_S + 300, GSI1PK=s("g"))
            clock.advance(1)
        clock.advance(200)
        assert names(db) == []
        assert db.check() == []


def test_a_lagging_index_shows_what_was_swept_for_its_delay(clock: ManualClock) -> None:
    with Database.open(":memory:", clock=clock, index_delay_s=5, ttl_sweep_s=None) as db:
        create_single(db)
        enable(db)
        put(db, "gone", NOW_S + 1, GSI1PK=s("g"), GSI1SK=s("1"))
        clock.advance(10)
        assert db.sweep_expired() == 1
        assert names(db) == []
        assert names(db, IndexName="GSI1") == ["gone"]
        clock.advance(5)
        assert names(db, IndexName="GSI1") == []
        assert db.check() == []


# --- time ---------------------------------------------------------------------------------------------


def test_a_clock_that_jumps_ahead_deletes_nothing_early(expiring: Database, clock: ManualClock) -> None:
    put(expiring, "tomorrow", NOW_S + DAY_S)
    clock.jump(2 * DAY_S)
    clock.advance(HOUR_S / 2)
    assert expiring.sweep_expired() == 0
    assert names(expiring) == ["tomorrow"]
    clock.jump(-2 * DAY_S)
    clock.advance(DAY_S / 2)
    assert names(expiring) == ["tomorrow"]
    clock.advance(DAY_S / 2)
    assert names(expiring) == []


def test_a_jump_that_lasts_is_believed_in_the_end(expiring: Database, clock: ManualClock) -> None:
    put(expiring, "tomorrow", NOW_S + DAY_S)
    clock.jump(2 * DAY_S)
    clock.advance(1)
    assert names(expiring) == ["tomorrow"]
    clock.advance(HOUR_S)
    assert names(expiring) == []


def test_a_clock_that_steps_back_deletes_nothing_early(expiring: Database, clock: ManualClock) -> None:
    put(expiring, "soon", NOW_S + 100)
    clock.jump(-DAY_S)
    clock.advance(200)
    assert names(expiring) == ["soon"]
    clock.advance(DAY_S)
    assert names(expiring) == []


def test_the_log_keeps_its_order_when_the_clock_steps_back(lazy: Database, clock: ManualClock) -> None:
    put(lazy, "first", NOW_S - 100)
    put(lazy, "second", NOW_S - 50)
    clock.jump(-10)
    assert lazy.sweep_expired() == 2
    entries = log_of(lazy)
    assert [entry.event for entry in entries] == [INSERTED, INSERTED, EXPIRED, EXPIRED]
    assert sorted(entry.at_us for entry in entries) == [entry.at_us for entry in entries]


# --- by itself -------------------------------------------------------------------------------------------


class SettableClock(SystemClock):
    """A clock that goes as the machine's does, and is told how far ahead of it."""

    ahead_us = 0

    def now_us(self) -> int:
        return super().now_us() + self.ahead_us

    def elapsed_us(self) -> int:
        return super().elapsed_us() + self.ahead_us


def test_expired_items_go_by_themselves(tmp_path: Path) -> None:
    clock = SettableClock()
    with Database.open(tmp_path / "test.db", clock=clock, ttl_sweep_s=0.01) as db:
        create_single(db)
        enable(db)
        put(db, "gone", clock.now_us() // 1_000_000 + 100)
        put(db, "kept", clock.now_us() // 1_000_000 + DAY_S)
        clock.ahead_us = 200 * 1_000_000
        wait_until_swept(db, ["kept"])
        put(db, "again", clock.now_us() // 1_000_000 - 10)
        wait_until_swept(db, ["kept"])
        assert db.metrics().time_to_live_deleted_items() == 2
        assert db.check() == []


def test_what_expired_while_the_file_was_closed_goes_with_the_next_open(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    with Database.open(path, ttl_sweep_s=None) as db:
        create_single(db)
        enable(db)
        put(db, "gone", SystemClock().now_us() // 1_000_000 - 10)
    with Database.open(path) as db:
        wait_until_swept(db, [])


def test_a_long_interval_does_not_delay_other_work(tmp_path: Path) -> None:
    """An index is filled at once, by the thread that sweeps once in two days."""
    with Database.open(tmp_path / "test.db", durability="relaxed", ttl_sweep_s=48 * HOUR_S) as db:
        create_plain(db)
        enable(db, "plain")
        chores = background(db)
        chores.wake()
        wait_for(lambda: sweeping not in chores._chores_of_this_look())
        assert len(chores._chores_of_this_look()) == len(chores._all) - 1


def wait_until_swept(db: Database, left: list[str]) -> None:
    wait_for(lambda: names(db) == left)


def wait_for(holds: Any) -> None:
    never = threading.Event()
    for _ in range(6000):
        if holds():
            return
        never.wait(0.01)
    raise AssertionError("it never came to be")
