"""`db.at(time)` and `db.history`: what they show, what they refuse, and how they bear others who write."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import (
    DatabaseClosedError,
    InvalidRestoreTimeError,
    RecoveryUnavailableError,
    ValidationError,
)
from singletable.past import PastView, to_datetime
from support.past_tables import DAY_S, turn_off, turn_on
from support.sample_tables import all_items, create_plain, create_single, item, n, s

KEY = item("user#1", "profile")


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def kept(db: Database) -> Database:
    """A table whose past is kept."""
    create_single(db)
    turn_on(db)
    return db


def put(db: Database, value: int, pk: str = "user#1", sk: str = "profile", **more: Any) -> None:
    db.put_item(TableName="single", Item=item(pk, sk, value=n(value), **more))


def value_at(view: PastView, key: dict[str, Any] = KEY) -> int | None:
    found = view.get_item(TableName="single", Key=key).get("Item")
    return None if found is None else int(found["value"]["N"])


def now(clock: ManualClock) -> datetime:
    return to_datetime(clock.now_us())


# --- the moment ------------------------------------------------------------------------------------


def test_view_shows_what_was_there_at_its_time(kept: Database, clock: ManualClock) -> None:
    moments = [now(clock)]
    for number in range(3):
        clock.advance(60)
        put(kept, number)
        moments.append(now(clock))
    clock.advance(60)
    kept.delete_item(TableName="single", Key=KEY)
    assert [value_at(kept.at(moment)) for moment in moments] == [None, 0, 1, 2]
    assert value_at(kept.at(now(clock))) is None


def test_change_counts_at_its_own_time_and_not_a_microsecond_before(
    kept: Database, clock: ManualClock
) -> None:
    clock.advance(60)
    put(kept, 1)
    assert value_at(kept.at(now(clock))) == 1
    assert value_at(kept.at(now(clock) - timedelta(microseconds=1))) is None


def test_all_changes_of_one_time_count_together(kept: Database, clock: ManualClock) -> None:
    clock.advance(60)
    for number in range(3):
        put(kept, number)
    assert value_at(kept.at(now(clock))) == 2
    assert value_at(kept.at(now(clock) - timedelta(microseconds=1))) is None


def test_time_may_be_seconds_or_a_datetime_of_any_zone(kept: Database, clock: ManualClock) -> None:
    clock.advance(1.5)
    put(kept, 1)
    for time in (clock.now_us() / 1_000_000, now(clock).astimezone(timezone(timedelta(hours=5)))):
        view = kept.at(time)
        assert value_at(view) == 1
        assert view.time == now(clock)
    assert repr(kept.at(now(clock))) == f"<PastView of {kept.path} at {now(clock).isoformat()}>"


def test_datetime_without_a_zone_is_refused_with_a_hint(kept: Database) -> None:
    with pytest.raises(ValueError, match=r"has no time zone: write datetime\(…, tzinfo=UTC\)"):
        kept.at(datetime(2026, 1, 1))  # noqa: DTZ001 - that is what is tested


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00Z", None, True, [1]])
def test_what_is_no_time_is_refused(kept: Database, time: Any) -> None:
    with pytest.raises(TypeError, match="a time is a datetime with a time zone, or seconds since 1970, not"):
        kept.at(time)


@pytest.mark.parametrize("time", [float("nan"), float("inf")])
def test_number_that_is_no_time_is_refused(kept: Database, time: float) -> None:
    with pytest.raises(ValueError, match="is no point in time"):
        kept.at(time)


def test_time_far_outside_of_all_calendars_is_refused_like_any_other(kept: Database) -> None:
    with pytest.raises(InvalidRestoreTimeError, match="not at 1e\\+20 seconds since 1970"):
        kept.at(1e20).scan(TableName="single")


def test_time_outside_of_the_window_is_refused_with_the_window(kept: Database, clock: ManualClock) -> None:
    clock.advance(10)
    window = "from 2023-11-14T22:13:20Z to 2023-11-14T22:13:30Z"
    for seconds, moment in ((-0.000001, "22:13:19.999999Z"), (10.5, "22:13:30.500000Z")):
        view = kept.at(datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC) + timedelta(seconds=seconds))
        for operation, request in (("scan", {}), ("get_item", {"Key": KEY})):
            with pytest.raises(InvalidRestoreTimeError) as caught:
                getattr(view, operation)(TableName="single", **request)
            assert caught.value.message == (
                f"The table single can be seen as it was {window}, not at 2023-11-14T{moment}"
            )


def test_without_recovery_it_says_what_to_enable(db: Database, clock: ManualClock) -> None:
    create_single(db)
    for read in (
        lambda: db.at(now(clock)).scan(TableName="single"),
        lambda: next(db.history("single", KEY)),
    ):
        with pytest.raises(RecoveryUnavailableError) as caught:
            read()
        assert caught.value.message == (
            "Point in time recovery is not enabled for table 'single'. Its past is kept from when you turn that on"
            ': update_continuous_backups(TableName="single", '
            'PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})'
        )


def test_view_that_time_has_left_behind_is_refused(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db, days=1)
    put(db, 1)
    view = db.at(now(clock))
    assert value_at(view) == 1
    clock.advance(DAY_S)
    assert value_at(view) == 1
    clock.advance(1)
    with pytest.raises(InvalidRestoreTimeError):
        value_at(view)


def test_off_and_on_again_forgets_what_was_before(kept: Database, clock: ManualClock) -> None:
    put(kept, 1)
    clock.advance(60)
    view = kept.at(now(clock))
    clock.advance(60)
    turn_off(kept)
    put(kept, 2)
    clock.advance(60)
    turn_on(kept)
    assert value_at(kept.at(now(clock))) == 2
    with pytest.raises(InvalidRestoreTimeError):
        value_at(view)


# --- the clock ---------------------------------------------------------------------------------------


def test_clock_that_is_put_back_loses_no_version(kept: Database, clock: ManualClock) -> None:
    clock.advance(7200)
    put(kept, 1)
    clock.jump(-3600)
    put(kept, 2)
    put(kept, 3)
    versions = list(kept.history("single", KEY))
    assert [version.after and version.after["value"] for version in versions] == [n(3), n(2), n(1)]
    assert [value_at(kept.at(version.at)) for version in versions] == [3, 2, 1]


def test_clock_that_was_ahead_does_not_bring_back_what_was_trimmed(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db, days=1)
    for number in range(3):
        clock.advance(3600)
        put(db, number)
    second = now(clock) - timedelta(hours=1)
    clock.jump(2 * DAY_S)
    clock.advance(1)  # seen for the first time
    clock.advance(3601)  # and believed
    put(db, 3)
    clock.jump(-2 * DAY_S)
    with pytest.raises(InvalidRestoreTimeError):
        value_at(db.at(second))
    assert value_at(db.at(next(db.history("single", KEY)).at)) == 3


def test_clock_that_jumps_ahead_takes_nothing_from_the_window(kept: Database, clock: ManualClock) -> None:
    put(kept, 1)
    before = now(clock)
    clock.jump(90 * DAY_S)
    put(kept, 2)
    assert value_at(kept.at(before)) == 1
    clock.jump(-90 * DAY_S)
    assert value_at(kept.at(before)) == 1


# --- reads ---------------------------------------------------------------------------------------------


def test_requests_are_those_of_the_database(kept: Database, clock: ManualClock) -> None:
    for number in range(5):
        put(kept, number, sk=f"order#{number}", GSI1PK="all", GSI1SK=f"{number}")
    view = kept.at(now(clock))
    clock.advance(1)
    for number in range(5):
        kept.delete_item(TableName="single", Key=item("user#1", f"order#{number}"))
    request: dict[str, Any] = {
        "TableName": "single",
        "KeyConditionExpression": "PK = :p AND begins_with(SK, :s)",
        "FilterExpression": "#v <> :v",
        "ExpressionAttributeNames": {"#v": "value"},
        "ExpressionAttributeValues": {":p": s("user#1"), ":s": s("order#"), ":v": n(3)},
        "ProjectionExpression": "#v",
        "ScanIndexForward": False,
        "Limit": 3,
        "ReturnConsumedCapacity": "TOTAL",
    }
    answer: Any = view.query(**request)
    assert answer["Items"] == [{"value": n(4)}, {"value": n(2)}]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 3)
    assert answer["ConsumedCapacity"] == {"TableName": "single", "CapacityUnits": 0.5}
    rest = view.query(**request, ExclusiveStartKey=answer["LastEvaluatedKey"])
    assert rest["Items"] == [{"value": n(1)}, {"value": n(0)}]
    for segment in range(2):
        page = view.scan(TableName="single", TotalSegments=2, Segment=segment)
        assert page["Count"] in (0, 5)
    keys = [item("user#1", "order#4"), item("user#1", "none")]
    batch = view.batch_get_item(RequestItems={"single": {"Keys": keys, "ProjectionExpression": "SK"}})
    assert batch["Responses"] == {"single": [{"SK": s("order#4")}]}
    assert kept.scan(TableName="single")["Count"] == 0
    assert kept.scan(TableName="single", IndexName="GSI1")["Count"] == 0
    assert view.scan(TableName="single", IndexName="GSI1", Select="COUNT")["Count"] == 5


def test_view_refuses_what_the_database_refuses(kept: Database, clock: ManualClock) -> None:
    with pytest.raises(ValidationError, match="The table does not have the specified index: none"):
        kept.at(now(clock)).scan(TableName="single", IndexName="none")


def test_view_has_no_methods_that_write() -> None:
    public = {name for name in dir(PastView) if not name.startswith("_")}
    assert public == {"batch_get_item", "close", "get_item", "query", "scan", "time"}


def test_reads_of_the_past_are_neither_counted_nor_throttled(clock: ManualClock) -> None:
    with Database.open(":memory:", throttling=True, clock=clock) as db:
        create_single(db)
        turn_on(db)
        put(db, 1)
        before = db.metrics()
        view = db.at(now(clock))
        for _ in range(100):
            view.scan(TableName="single", ConsistentRead=True)
        assert db.metrics() == before


def test_view_that_is_closed_has_let_go_of_its_temporary_databases(
    kept: Database, clock: ManualClock
) -> None:
    put(kept, 1, GSI1PK=s("g"), GSI1SK=s("1"))
    moment = now(clock)
    clock.advance(1)
    put(kept, 2)
    with kept.at(moment) as view:
        assert view.scan(TableName="single", IndexName="GSI1")["Count"] == 1
        (moved,) = view._past._indexes._moved.values()
    with pytest.raises(apsw.ConnectionClosedError):
        moved._connection.execute("SELECT 1")
    with pytest.raises(DatabaseClosedError, match="this view of the past was closed"):
        view.scan(TableName="single", IndexName="GSI1")
    with pytest.raises(DatabaseClosedError, match="this view of the past was closed"):
        view.get_item(TableName="single", Key=KEY)
    view.close()
    assert kept.at(moment).scan(TableName="single", IndexName="GSI1")["Count"] == 1


def test_reader_of_a_view_that_another_thread_closes_is_told(kept: Database, clock: ManualClock) -> None:
    put(kept, 1, GSI1PK=s("g"), GSI1SK=s("1"))
    moment = now(clock)
    clock.advance(1)
    put(kept, 2)
    view = kept.at(moment)
    store = view._past
    select_rows = store.select_rows

    def closed_meanwhile(execute: Any, wanted: Any) -> Any:
        rows = select_rows(execute, wanted)
        view.close()
        return rows

    store.select_rows = closed_meanwhile  # type: ignore[method-assign]
    with pytest.raises(DatabaseClosedError, match="this view of the past was closed"):
        view.scan(TableName="single", IndexName="GSI1")


def test_index_of_the_past_goes_on_with_what_changes_meanwhile(kept: Database, clock: ManualClock) -> None:
    for number in range(40):
        put(kept, number, sk=f"{number:03}", GSI1PK="old", GSI1SK=f"{number:03}")
    view = kept.at(now(clock))
    expected = all_items(kept, "scan", TableName="single", IndexName="GSI1")
    for number in range(40):
        clock.advance(1)
        put(kept, -1, sk=f"{number:03}", GSI1PK=f"new{number}", GSI1SK="x")
        pages: Any = view
        assert all_items(pages, "scan", TableName="single", IndexName="GSI1", Limit=7) == expected


def test_table_without_a_sort_key_has_a_past_too(db: Database, clock: ManualClock) -> None:
    create_plain(db)
    turn_on(db, "plain")
    for number in range(3):
        db.put_item(TableName="plain", Item={"id": s("a"), "value": n(number)})
        clock.advance(1)
    view = db.at(now(clock) - timedelta(seconds=2))
    assert view.scan(TableName="plain")["Items"] == [{"id": s("a"), "value": n(1)}]


def test_binary_values_of_the_past_are_bytes(kept: Database, clock: ManualClock) -> None:
    kept.put_item(TableName="single", Item={**KEY, "data": {"B": b"\0\xff"}})
    view = kept.at(now(clock))
    clock.advance(1)
    kept.delete_item(TableName="single", Key=KEY)
    assert view.get_item(TableName="single", Key=KEY)["Item"]["data"] == {"B": b"\0\xff"}
    removed, inserted = kept.history("single", KEY)
    assert removed.before == inserted.after == {**KEY, "data": {"B": b"\0\xff"}}


def test_large_pages_end_at_a_megabyte(kept: Database, clock: ManualClock) -> None:
    for number in range(30):
        put(kept, number, sk=f"{number:03}", body="x" * 100_000)
    view = kept.at(now(clock))
    before = kept.scan(TableName="single")
    clock.advance(1)
    for number in range(30):
        put(kept, -1, sk=f"{number:03}")
    page = view.scan(TableName="single")
    assert page == before
    assert "LastEvaluatedKey" in page


def test_file_of_a_past_is_the_same_after_a_restart(tmp_path: Path, clock: ManualClock) -> None:
    path = tmp_path / "past.db"
    with Database.open(path, durability="relaxed", clock=clock) as db:
        create_single(db)
        turn_on(db)
        put(db, 1, GSI1PK="g", GSI1SK="1")
        before = now(clock)
        clock.advance(1)
        put(db, 2)
    with Database.open(path, durability="relaxed", clock=clock) as db:
        assert value_at(db.at(before)) == 1
        assert db.at(before).scan(TableName="single", IndexName="GSI1")["Count"] == 1


# --- others who write --------------------------------------------------------------------------------


def write_until(stop: threading.Event, db: Database, number: int) -> None:
    while not stop.is_set():
        number = (number * 7 + 1) % 400
        if number % 3:
            put(db, -1, sk=f"{number:03}", GSI1PK=f"g{number % 5}", GSI1SK=f"{number}")
        else:
            db.delete_item(TableName="single", Key=item("user#1", f"{number:03}"))


@pytest.mark.parametrize("name", [":memory:", "busy.db"])
def test_view_stays_the_same_while_others_write_and_read(tmp_path: Path, name: str) -> None:
    path = name if name == ":memory:" else str(tmp_path / name)
    with Database.open(path, durability="relaxed") as db:
        create_single(db)
        turn_on(db)
        for number in range(200):
            put(db, number, sk=f"{number:03}", GSI1PK=f"g{number % 3}", GSI1SK=f"{number:03}")
        reads: dict[str, Callable[[Any], Any]] = {
            "table": lambda source: all_items(source, "scan", TableName="single", Limit=30),
            "index": lambda source: all_items(source, "scan", TableName="single", IndexName="GSI1", Limit=30),
            "partition": lambda source: all_items(
                source,
                "query",
                TableName="single",
                IndexName="GSI1",
                KeyConditionExpression="GSI1PK = :g",
                ExpressionAttributeValues={":g": s("g1")},
                ScanIndexForward=False,
                Limit=11,
            ),
        }
        expected = {name: read(db) for name, read in reads.items()}
        last = next(db.history("single", item("user#1", "199"))).at
        view = db.at(last)
        stop = threading.Event()
        with ThreadPoolExecutor(5) as pool:
            writers = [pool.submit(write_until, stop, db, number) for number in (1, 2)]
            try:
                readers = [
                    pool.submit(
                        lambda: [{name: read(view) for name, read in reads.items()} for _ in range(8)]
                    )
                    for _ in range(3)
                ]
                answers = [answer for reader in readers for answer in reader.result()]
            finally:
                stop.set()
            for writer in writers:
                writer.result()
        assert all(answer == expected for answer in answers)
        assert db.check() == []


# --- versions ------------------------------------------------------------------------------------------


def test_history_tells_each_change_newest_first(kept: Database, clock: ManualClock) -> None:
    began = now(clock)
    kept.put_item(TableName="single", Item={**KEY, "name": s("Ann"), "age": n(1)})
    clock.advance(60)
    kept.update_item(
        TableName="single",
        Key=KEY,
        UpdateExpression="SET #n = :n, mail = :m REMOVE age",
        ExpressionAttributeNames={"#n": "name"},
        ExpressionAttributeValues={":n": s("Anna"), ":m": s("a@b")},
    )
    clock.advance(60)
    kept.delete_item(TableName="single", Key=KEY)
    removed, modified, inserted = kept.history("single", KEY)
    assert [version.event for version in (inserted, modified, removed)] == ["INSERT", "MODIFY", "REMOVE"]
    assert [version.at - began for version in (inserted, modified, removed)] == [
        timedelta(seconds=seconds) for seconds in (0, 60, 120)
    ]
    assert modified.changes == {
        "age": (n(1), None),
        "mail": (None, s("a@b")),
        "name": (s("Ann"), s("Anna")),
    }
    assert inserted.before is None
    assert inserted.after == modified.before == {**KEY, "name": s("Ann"), "age": n(1)}
    assert removed.before == modified.after == {**KEY, "name": s("Anna"), "mail": s("a@b")}
    assert removed.after is None


def test_history_names_an_item_that_expired(kept: Database, clock: ManualClock) -> None:
    kept.update_time_to_live(
        TableName="single", TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True}
    )
    put(kept, 1, expires=n(clock.now_us() // 1_000_000 + 10))
    clock.advance(11)
    assert [version.event for version in kept.history("single", KEY)] == ["EXPIRE", "INSERT"]


def test_history_is_the_same_with_a_stream(db: Database, clock: ManualClock) -> None:
    for name, more in (
        ("single", {}),
        ("streamed", {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}),
    ):
        create_single(db, name, **more)
        turn_on(db, name)
    for number in range(3):
        for name in ("single", "streamed"):
            db.put_item(TableName=name, Item={**KEY, "value": n(number)})
        clock.advance(1)
    assert list(db.history("single", KEY)) == list(db.history("streamed", KEY))


def test_long_history_is_read_in_pieces_and_whole(kept: Database, clock: ManualClock) -> None:
    for number in range(200):
        put(kept, number)
        if number % 3 == 0:
            clock.advance(1)
    versions = list(kept.history("single", KEY))
    assert [version.after and version.after["value"] for version in versions] == [
        n(number) for number in reversed(range(200))
    ]
    assert all(newer.before == older.after for newer, older in pairwise(versions))


def test_item_without_changes_has_no_history(kept: Database) -> None:
    assert list(kept.history("single", KEY)) == []


def test_history_refuses_what_is_no_key(kept: Database) -> None:
    with pytest.raises(ValidationError, match="The provided key element does not match the schema"):
        next(kept.history("single", {"PK": s("a")}))
