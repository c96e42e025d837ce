"""GetShardIterator: the places in a shard, for how long an iterator names one, and what is no iterator."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from support.sample_tables import invalid, refusal
from support.streamed_tables import (
    DAY_S,
    HOUR_S,
    create_streamed,
    iterator_at,
    keys_of,
    only_shard,
    put,
    records_from,
    shards_of,
    turn_off,
    turn_on,
)

EXPIRED = ("ExpiredIteratorException", "Shard iterator has expired")
TRIMMED = ("TrimmedDataAccessException", "The data you are trying to access has been trimmed")
NO_ITERATOR = invalid("Invalid ShardIterator")
NO_SHARD = ("ResourceNotFoundException", "Requested resource not found: Shard does not exist")
OUTSIDE = invalid("Invalid SequenceNumber for the shard")


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def number(seq: int) -> str:
    return str(10**20 + seq)


def iterator_refusal(db: Database, arn: str, kind: str, **more: Any) -> tuple[str, str]:
    shard = more.pop("ShardId", None) or shards_of(db, arn)[0]["ShardId"]
    return refusal(db, "get_shard_iterator", StreamArn=arn, ShardId=shard, ShardIteratorType=kind, **more)


@pytest.fixture
def arn(db: Database) -> str:
    """A stream with the changes of three items, numbers 1 to 3."""
    arn = create_streamed(db)
    for key in ("one", "two", "three"):
        put(db, key)
    return arn


# --- places -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "seq", "keys"),
    [
        ("TRIM_HORIZON", None, ["one", "two", "three"]),
        ("LATEST", None, []),
        ("AT_SEQUENCE_NUMBER", 1, ["one", "two", "three"]),
        ("AT_SEQUENCE_NUMBER", 3, ["three"]),
        ("AFTER_SEQUENCE_NUMBER", 1, ["two", "three"]),
        ("AFTER_SEQUENCE_NUMBER", 3, []),
    ],
)
def test_an_iterator_names_a_place(
    db: Database, arn: str, kind: str, seq: int | None, keys: list[str]
) -> None:
    more = {} if seq is None else {"SequenceNumber": number(seq)}
    assert keys_of(records_from(db, iterator_at(db, arn, kind, **more))) == keys


def test_the_latest_are_those_written_after_the_iterator_was_made(db: Database, arn: str) -> None:
    iterator = iterator_at(db, arn, "LATEST")
    put(db, "four")
    assert keys_of(records_from(db, iterator)) == ["four"]


def test_nothing_is_latest_in_a_shard_that_has_ended(db: Database, arn: str) -> None:
    turn_off(db)
    assert db.get_records(ShardIterator=iterator_at(db, arn, "LATEST")) == {"Records": []}


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
def test_the_first_number_of_an_empty_shard_is_a_place(db: Database, kind: str) -> None:
    arn = create_streamed(db)
    (shard,) = shards_of(db, arn)
    first = shard["SequenceNumberRange"]["StartingSequenceNumber"]
    iterator = iterator_at(db, arn, kind, SequenceNumber=first)
    put(db, "a")
    assert keys_of(records_from(db, iterator)) == ["a"]


def test_a_time_is_a_place(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    begun = datetime.fromtimestamp(clock.time_us / 1_000_000, UTC)
    for key in ("one", "two", "three"):
        put(db, key)
        clock.advance(10)

    def read_at(seconds: float) -> list[str]:
        at = begun + timedelta(seconds=seconds)
        return keys_of(records_from(db, iterator_at(db, arn, "AT_TIMESTAMP", Timestamp=at)))

    assert read_at(-60) == read_at(0) == ["one", "two", "three"]
    assert read_at(0.001) == read_at(10) == ["two", "three"]
    assert read_at(20) == ["three"]
    assert read_at(20.5) == read_at(30) == []
    assert iterator_refusal(db, arn, "AT_TIMESTAMP", Timestamp=begun + timedelta(seconds=31)) == invalid(
        "One or more parameter values were invalid: Timestamp cannot be in the future"
    )


# --- trimming ---------------------------------------------------------------------------------------


def test_a_record_is_shown_for_a_day(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    put(db, "old")
    clock.advance(HOUR_S)
    put(db, "young")
    clock.advance(DAY_S - HOUR_S)
    assert keys_of(records_from(db, iterator_at(db, arn, ShardId=shards_of(db, arn)[0]["ShardId"]))) == [
        "old",
        "young",
    ]
    clock.advance(1)
    first_shard = shards_of(db, arn)[0]["ShardId"]
    assert keys_of(records_from(db, iterator_at(db, arn, ShardId=first_shard))) == ["young"]


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
def test_a_number_that_is_trimmed_is_no_place(db: Database, clock: ManualClock, kind: str) -> None:
    arn = create_streamed(db)
    put(db, "old")
    clock.advance(HOUR_S)
    put(db, "young")
    clock.advance(DAY_S - HOUR_S + 1)
    assert iterator_refusal(db, arn, kind, SequenceNumber=number(1)) == TRIMMED
    iterator = iterator_at(db, arn, kind, ShardId=shards_of(db, arn)[0]["ShardId"], SequenceNumber=number(2))
    assert keys_of(records_from(db, iterator)) == (["young"] if kind == "AT_SEQUENCE_NUMBER" else [])


def test_an_iterator_whose_records_are_trimmed_meanwhile_says_so(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    for key in ("one", "two"):
        put(db, key)
    clock.advance(DAY_S - 60)
    shard = shards_of(db, arn)[0]["ShardId"]
    at_one = iterator_at(db, arn, "AT_SEQUENCE_NUMBER", ShardId=shard, SequenceNumber=number(1))
    oldest = iterator_at(db, arn, "TRIM_HORIZON", ShardId=shard)
    behind_one: Any = db.get_records(ShardIterator=at_one, Limit=1)["NextShardIterator"]
    clock.advance(61)
    assert refusal(db, "get_records", ShardIterator=at_one) == TRIMMED
    assert refusal(db, "get_records", ShardIterator=behind_one) == TRIMMED
    # What is oldest is found when it is asked for.
    assert db.get_records(ShardIterator=oldest)["Records"] == []


def test_an_idle_stream_is_read_on_after_its_last_record_is_trimmed(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    put(db, "old")
    clock.advance(3 * DAY_S)
    latest = shards_of(db, arn)[-1]["ShardId"]
    iterators = [iterator_at(db, arn, kind, ShardId=latest) for kind in ("TRIM_HORIZON", "LATEST")]
    put(db, "new")
    assert [keys_of(records_from(db, iterator)) for iterator in iterators] == [["new"], ["new"]]


# --- age --------------------------------------------------------------------------------------------


def test_an_iterator_expires_after_fifteen_minutes(db: Database, arn: str, clock: ManualClock) -> None:
    iterator = iterator_at(db, arn)
    clock.advance(15 * 60)
    page: Any = db.get_records(ShardIterator=iterator)
    clock.advance(1)
    assert refusal(db, "get_records", ShardIterator=iterator) == EXPIRED
    assert db.get_records(ShardIterator=page["NextShardIterator"])["Records"] == []  # which is younger


def test_an_iterator_survives_a_restart_and_works_in_any_process(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    with Database.open(path) as db:
        arn = create_streamed(db)
        put(db, "a")
        iterator = iterator_at(db, arn)
        with Database.open(path) as other:
            assert keys_of(records_from(other, iterator)) == ["a"]
    with Database.open(path) as db:
        assert keys_of(records_from(db, iterator)) == ["a"]


# --- what is no iterator ----------------------------------------------------------------------------

DAMAGE: dict[str, Callable[[str], str]] = {
    "another text": lambda iterator: "iterator",
    "a character less": lambda iterator: iterator[:-1],
    "a character more": lambda iterator: iterator + "A",
    "only its end": lambda iterator: iterator.rpartition("|")[2],
    "only its beginning": lambda iterator: iterator.rpartition("|")[0] + "|",
    "another version": lambda iterator: iterator.replace("|1|", "|2|"),
    "another table": lambda iterator: iterator.replace("table/streamed", "tab/streamed"),
    "another region": lambda iterator: iterator.replace("us-east-1", "us-east-2"),
    "no ASCII": lambda iterator: iterator[:-1] + "é",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_no_iterator_is_refused(db: Database, arn: str, damage: Callable[[str], str]) -> None:
    assert refusal(db, "get_records", ShardIterator=damage(iterator_at(db, arn))) == NO_ITERATOR


def test_an_iterator_changed_in_any_character_is_refused(db: Database, arn: str) -> None:
    start, _, payload = iterator_at(db, arn).rpartition("|")
    for place, character in enumerate(payload):
        changed = payload[:place] + ("A" if character != "A" else "B") + payload[place + 1 :]
        assert refusal(db, "get_records", ShardIterator=f"{start}|{changed}") == NO_ITERATOR


def test_an_iterator_of_one_stream_is_none_of_another(db: Database, arn: str) -> None:
    turn_off(db)
    other = turn_on(db)
    iterator = iterator_at(db, arn).replace(arn, other)
    assert refusal(db, "get_records", ShardIterator=iterator) == NO_ITERATOR


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
@pytest.mark.parametrize("given", [number(0), number(4), "9" * 21, "9" * 40, "x" * 21, f"{number(1)}0"])
def test_a_number_outside_of_the_shard_is_refused(db: Database, arn: str, kind: str, given: str) -> None:
    assert iterator_refusal(db, arn, kind, SequenceNumber=given) == OUTSIDE


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("AT_SEQUENCE_NUMBER", {}, "Invalid SequenceNumber"),
        ("AFTER_SEQUENCE_NUMBER", {}, "Invalid SequenceNumber"),
        ("AT_TIMESTAMP", {}, "Invalid Timestamp"),
        (
            "LATEST",
            {"SequenceNumber": number(1)},
            "SequenceNumber should not be passed for this iterator type",
        ),
        ("TRIM_HORIZON", {"Timestamp": 1}, "Timestamp should not be passed for this iterator type"),
    ],
)
def test_a_place_is_given_as_its_type_wants(
    db: Database, arn: str, kind: str, more: dict[str, Any], message: str
) -> None:
    expected = invalid(f"One or more parameter values were invalid: {message}")
    assert iterator_refusal(db, arn, kind, **more) == expected


def test_a_shard_of_another_stream_is_none_of_this(db: Database, arn: str) -> None:
    other = only_shard(db, create_streamed(db, "other"))
    assert iterator_refusal(db, arn, "LATEST", ShardId=other) == NO_SHARD
    assert iterator_refusal(db, arn, "LATEST", ShardId="x" * 28) == NO_SHARD


AT_LEAST_ONE = (
    "1 validation error detected: Value '{}' at 'limit' failed to satisfy constraint: "
    "Member must have value greater than or equal to 1"
)
AT_MOST_A_THOUSAND = "One or more parameter values were invalid: Limit should be less than or equal to 1000"


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (0, AT_LEAST_ONE.format(0)),
        (-1, AT_LEAST_ONE.format(-1)),
        (1001, AT_MOST_A_THOUSAND),
        (2**31, AT_MOST_A_THOUSAND),
    ],
)
def test_a_limit_is_one_to_a_thousand_records(db: Database, arn: str, limit: int, message: str) -> None:
    # All three are ValidationExceptions on AWS (ScyllaDB's test_get_records_too_high_limit, April 2025).
    iterator = iterator_at(db, arn)
    assert refusal(db, "get_records", ShardIterator=iterator, Limit=limit) == invalid(message)
    assert len(db.get_records(ShardIterator=iterator, Limit=1000)["Records"]) == 3
