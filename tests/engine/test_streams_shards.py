"""Shards: one follows another when it is old or full, and reading parents first is reading in order."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database, limits
from singletable.clock import ManualClock
from singletable.engine import streams
from support.sample_tables import refusal
from support.streamed_tables import (
    DAY_S,
    HOUR_S,
    create_streamed,
    divided,
    iterator_at,
    keys_of,
    pages_from,
    put,
    records_from,
    records_of,
    shards_of,
    turn_off,
)

NO_SHARD = ("ResourceNotFoundException", "Requested resource not found: Shard does not exist")


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards that are full with eight records."""
    monkeypatch.setattr(limits, "SHARD_RECORDS_MAX", 8)


def number_range(shard: Any) -> tuple[int, int | None]:
    numbers = shard["SequenceNumberRange"]
    ending = numbers.get("EndingSequenceNumber")
    return int(numbers["StartingSequenceNumber"]), None if ending is None else int(ending)


def is_open(shard: Any) -> bool:
    return number_range(shard)[1] is None


def test_a_shard_that_is_old_is_followed_by_another(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    put(db, "a")
    clock.advance(4 * HOUR_S)
    put(db, "b")
    parent, child = shards_of(db, arn)
    assert child["ParentShardId"] == parent["ShardId"]
    assert [is_open(parent), is_open(child)] == [False, True]
    assert number_range(child)[0] == number_range(parent)[1] + 1  # type: ignore[operator]
    assert [
        keys_of(records_from(db, iterator_at(db, arn, ShardId=shard["ShardId"]))) for shard in (parent, child)
    ] == [["a"], ["b"]]


@pytest.mark.usefixtures("small_shards")
def test_a_shard_that_is_full_is_followed_by_two(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    for number in range(8):
        put(db, f"k{number}")
    clock.advance(1)
    parent, *children = shards_of(db, arn)
    assert [child["ParentShardId"] for child in children] == [parent["ShardId"]] * 2
    for number in range(40):
        put(db, f"k{number}", n={"N": "1"})
    halves = [
        set(keys_of(records_from(db, iterator_at(db, arn, ShardId=child["ShardId"])))) for child in children
    ]
    assert halves[0] | halves[1] == {f"k{number}" for number in range(40)}
    assert not halves[0] & halves[1]
    assert all(halves)


@pytest.mark.usefixtures("small_shards")
def test_a_reader_of_the_parent_meets_no_record_of_its_children(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    (parent,) = shards_of(db, arn)
    for number in range(8):
        put(db, f"k{number}")
    iterator = iterator_at(db, arn, ShardId=parent["ShardId"])
    clock.advance(1)
    put(db, "k9")
    page: Any = db.get_records(ShardIterator=iterator)
    assert keys_of(page["Records"]) == [f"k{number}" for number in range(8)]
    assert "NextShardIterator" not in page


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("limit", [1, 3, 100])
def test_pages_of_shards_hold_each_once_in_the_order_of_their_names(
    db: Database, clock: ManualClock, limit: int
) -> None:
    arn = create_streamed(db)
    for number in range(60):
        put(db, f"k{number}")
        clock.advance(1)
    shards = shards_of(db, arn)
    assert shards_of(db, arn, Limit=limit) == shards
    names = [shard["ShardId"] for shard in shards]
    assert len(names) > 6
    assert names == sorted(set(names))
    for shard in shards[1:]:
        assert names.index(shard["ParentShardId"]) < names.index(shard["ShardId"])


@pytest.mark.usefixtures("small_shards")
def test_children_are_found_by_their_parent(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    for number in range(60):
        put(db, f"k{number}")
        clock.advance(1)
    shards = shards_of(db, arn)
    for parent in shards:
        children = shards_of(
            db, arn, Limit=1, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]}
        )
        assert children == [shard for shard in shards if shard.get("ParentShardId") == parent["ShardId"]]


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        pytest.param(
            {"Type": "CHILD_SHARDS"},
            "Value null at 'shardFilter.shardId' failed to satisfy constraint: Member must not be null",
            id="of no shard",
        ),
        pytest.param(
            {"Type": "CHILD_SHARDS", "ShardId": "short"},
            "Value 'short' at 'shardFilter.shardId' failed to satisfy constraint: Member must have length greater "
            "than or equal to 28",
            id="of a short name",
        ),
        pytest.param(
            {"ShardId": "shardId-00000001414576573621-f55eea83"},
            "Value 'null' at 'shardFilter.type' failed to satisfy constraint: Member must be CHILD_SHARDS",
            id="of no type",
        ),
    ],
)
def test_a_filter_names_its_type_and_the_parent(db: Database, chosen: dict[str, str], problem: str) -> None:
    # AWS refuses each (ScyllaDB's test_stream_shard_filtering_…, March 2026); DynamoDB Local misses no shard.
    arn = create_streamed(db)
    code, message = refusal(db, "describe_stream", StreamArn=arn, ShardFilter=chosen)
    assert (code, message) == ("ValidationException", f"1 validation error detected: {problem}")


def test_an_item_has_its_records_in_order_across_shards(
    db: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHARD_RECORDS_MAX", 8)
    arn = create_streamed(db)
    for number in range(100):
        put(db, f"k{number % 5}", n={"N": str(number)})
        clock.advance(0.1)
    assert len(shards_of(db, arn)) > 6
    read: dict[str, list[int]] = {}
    for record in records_of(db, arn):
        image = record["dynamodb"]["NewImage"]
        read.setdefault(image["id"]["S"], []).append(int(image["n"]["N"]))
    assert read == {f"k{item}": list(range(item, 100, 5)) for item in range(5)}


def test_a_shard_goes_a_day_after_it_has_ended_and_its_children_still_name_it(
    db: Database, clock: ManualClock
) -> None:
    arn = create_streamed(db)
    (first,) = shards_of(db, arn)
    clock.advance(4 * HOUR_S)
    clock.advance(DAY_S - 60)
    iterator = iterator_at(db, arn, ShardId=first["ShardId"])
    clock.advance(61)
    assert shards_of(db, arn)[0]["ParentShardId"] == first["ShardId"]
    request = {"StreamArn": arn, "ShardId": first["ShardId"], "ShardIteratorType": "LATEST"}
    assert refusal(db, "get_shard_iterator", **request) == NO_SHARD
    assert refusal(db, "get_records", ShardIterator=iterator) == NO_SHARD


def test_a_shard_that_ended_empty_ends_where_it_began(db: Database) -> None:
    arn = create_streamed(db)
    turn_off(db)
    (shard,) = shards_of(db, arn)
    first, last = number_range(shard)
    assert first == last


def test_a_page_without_records_moves_on_over_those_of_another_shard(
    db: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHARD_RECORDS_MAX", 8)
    arn, children = divided(db, clock, records=8)
    iterators = [iterator_at(db, arn, ShardId=child["ShardId"]) for child in children]
    monkeypatch.setattr(streams, "_LOOKED_AT_MAX", 100)
    for number in range(350):
        put(db, "hot", n={"N": str(number)})
    pages = [[len(page["Records"]) for page in pages_from(db, iterator)] for iterator in iterators]
    quiet, busy = sorted(pages, key=sum)
    assert (sum(quiet), sum(busy)) == (0, 350)
    # Behind three pages of nothing the reader of the quiet shard has arrived where the log is now.
    followed = iterators[pages.index(quiet)]
    for _ in range(4):
        page: Any = db.get_records(ShardIterator=followed)
        followed = page["NextShardIterator"]
    cold = {f"k{number}" for number in range(8)}
    for key in sorted(cold):
        put(db, key, n={"N": "1"})
    found = keys_of(db.get_records(ShardIterator=followed)["Records"])
    assert found
    assert set(found) < cold
