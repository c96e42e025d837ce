"""ListStreams and DescribeStream: which streams there are, for how long, and how they are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from support.sample_tables import create_plain, create_single, invalid, refusal
from support.streamed_tables import (
    DAY_S,
    HOUR_S,
    create_streamed,
    events_of,
    put,
    records_of,
    shards_of,
    turn_off,
    turn_on,
)

BASE = "arn:aws:dynamodb:us-east-1:000000000000:table"
LABEL = "2023-11-14T22:13:20.000"
INVALID_ARN = invalid("Invalid StreamArn")


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def listed(db: Database, **request: Any) -> list[str]:
    """Return the ARNs of all streams, page by page."""
    found: list[str] = []
    while True:
        page: Any = db.list_streams(**request)
        found += [stream["StreamArn"] for stream in page["Streams"]]
        if "LastEvaluatedStreamArn" not in page:
            return found
        assert found[-1] == page["LastEvaluatedStreamArn"]
        request = {**request, "ExclusiveStartStreamArn": page["LastEvaluatedStreamArn"]}


def status(db: Database, arn: str) -> Any:
    return db.describe_stream(StreamArn=arn)["StreamDescription"]["StreamStatus"]


def not_found(arn: str) -> tuple[str, str]:
    return "ResourceNotFoundException", f"Requested resource not found: Stream: {arn} not found"


# --- ListStreams ------------------------------------------------------------------------------------


def test_streams_are_listed_by_table_and_those_of_one_newest_first(db: Database, clock: ManualClock) -> None:
    older = create_streamed(db, "beta")
    turn_off(db, "beta")
    clock.advance(1)
    newer = turn_on(db, "beta")
    alpha = create_streamed(db, "alpha")
    create_plain(db)
    assert listed(db) == [alpha, newer, older]
    assert listed(db, TableName="beta") == [newer, older]
    assert listed(db, TableName="plain") == []
    assert listed(db, TableName="nowhere") == []


def test_a_stream_is_listed_with_its_table_and_label(db: Database) -> None:
    arn = create_streamed(db)
    assert db.list_streams() == {
        "Streams": [{"StreamArn": arn, "TableName": "streamed", "StreamLabel": arn.rpartition("/")[2]}]
    }


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_pages_of_streams_hold_each_once(db: Database, limit: int) -> None:
    arns = [create_streamed(db, f"table{number}") for number in range(3)]
    assert listed(db, Limit=limit) == arns


def test_a_list_goes_on_behind_a_stream_that_is_gone(db: Database, clock: ManualClock) -> None:
    arns = [create_streamed(db, name) for name in ("one", "two", "zoo")]
    db.delete_table(TableName="two")
    clock.advance(DAY_S + 1)
    assert listed(db, ExclusiveStartStreamArn=arns[1]) == [arns[2]]


# --- DescribeStream ---------------------------------------------------------------------------------


def test_a_stream_describes_itself(db: Database, clock: ManualClock) -> None:
    specification: Any = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    create_single(db, StreamSpecification=specification)
    arn = f"{BASE}/single/stream/{LABEL}"
    description: Any = db.describe_stream(StreamArn=arn)["StreamDescription"]
    assert description.pop("CreationRequestDateTime").timestamp() == clock.time_us / 1_000_000
    (shard,) = description.pop("Shards")
    assert shard["SequenceNumberRange"] == {"StartingSequenceNumber": "100000000000000000001"}
    assert "ParentShardId" not in shard
    assert description == {
        "StreamArn": arn,
        "StreamLabel": LABEL,
        "StreamStatus": "ENABLED",
        "StreamViewType": "KEYS_ONLY",
        "TableName": "single",
        "KeySchema": [
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
    }


def test_names_are_those_of_the_region_and_the_account() -> None:
    with Database.open(":memory:", region="eu-west-1", account="123456789012") as db:
        arn = create_streamed(db)
        assert arn.startswith("arn:aws:dynamodb:eu-west-1:123456789012:table/streamed/stream/")
        assert listed(db) == [arn]
        put(db, "a")
        assert [record["awsRegion"] for record in records_of(db, arn)] == ["eu-west-1"]


# --- from a stream's beginning to its end -----------------------------------------------------------


@pytest.mark.parametrize("end", ["turned off", "table deleted"])
def test_a_stream_that_has_ended_is_readable_for_a_day(db: Database, clock: ManualClock, end: str) -> None:
    arn = create_streamed(db)
    clock.advance(HOUR_S)
    put(db, "a")
    if end == "turned off":
        turn_off(db)
        put(db, "unseen")
    else:
        db.delete_table(TableName="streamed")
    clock.advance(DAY_S - 1)
    assert status(db, arn) == "DISABLED"
    assert events_of(records_of(db, arn)) == [("INSERT", "a")]
    assert all("EndingSequenceNumber" in shard["SequenceNumberRange"] for shard in shards_of(db, arn))
    clock.advance(2)
    assert listed(db) == []
    assert refusal(db, "describe_stream", StreamArn=arn) == not_found(arn)


def test_a_table_made_again_has_a_stream_of_its_own(db: Database) -> None:
    first = create_streamed(db)
    put(db, "old")
    db.delete_table(TableName="streamed")
    second = create_streamed(db)
    put(db, "new")
    assert first != second
    assert listed(db, TableName="streamed") == [second, first]
    assert events_of(records_of(db, first)) == [("INSERT", "old")]
    assert events_of(records_of(db, second)) == [("INSERT", "new")]


def test_a_stream_turned_on_again_begins_anew(db: Database, clock: ManualClock) -> None:
    first = create_streamed(db, view="KEYS_ONLY")
    put(db, "a", n={"N": "1"})
    turn_off(db)
    put(db, "a", n={"N": "2"})
    clock.advance(1)
    second = turn_on(db, view="NEW_IMAGE")
    put(db, "a", n={"N": "3"})
    assert [status(db, arn) for arn in (first, second)] == ["DISABLED", "ENABLED"]
    (record,) = records_of(db, first)
    assert record["dynamodb"]["StreamViewType"] == "KEYS_ONLY"
    (record,) = records_of(db, second)
    assert record["dynamodb"]["NewImage"]["n"] == {"N": "3"}


def test_what_is_older_than_a_day_is_not_shown_before_it_is_taken_away(tmp_path: Path) -> None:
    path, clock = tmp_path / "test.db", ManualClock()
    with Database.open(path, clock=clock) as db:
        ended, live = create_streamed(db, "ended"), create_streamed(db, "live")
        put(db, "old", "ended")
        put(db, "old", "live")
        turn_off(db, "ended")
    clock.jump(DAY_S + 1)  # while nobody has it open: nothing has been taken away yet
    with Database.open(path, clock=clock) as db:
        put(db, "new", "live")
        assert listed(db) == [live]
        assert refusal(db, "describe_stream", StreamArn=ended) == not_found(ended)
        assert events_of(records_of(db, live)) == [("INSERT", "new")]


def test_a_clock_that_jumps_ahead_hides_nothing(db: Database, clock: ManualClock) -> None:
    arn = create_streamed(db)
    put(db, "a")
    clock.jump(30 * DAY_S)
    put(db, "b")
    assert events_of(records_of(db, arn)) == [("INSERT", "a"), ("INSERT", "b")]
    clock.jump(-30 * DAY_S)
    put(db, "c")
    assert events_of(records_of(db, arn)) == [("INSERT", "a"), ("INSERT", "b"), ("INSERT", "c")]


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "streamed",
        "x" * 40,
        f"{BASE}/streamed",
        f"{BASE}/streamed/stream/",
        f"{BASE}/streamed/stream/today",
        f"{BASE}/streamed/stream/2023-02-31T22:13:20.000",
        f"{BASE}/streamed/index/{LABEL}",
        f"{BASE}/streamed/stream/{LABEL}/more",
        f"{BASE}/s!/stream/{LABEL}",
        f"arn:aws:kinesis:us-east-1:000000000000:table/streamed/stream/{LABEL}",
    ],
)
def test_what_is_no_arn_of_a_stream_is_refused(calm_db: Database, arn: str) -> None:
    assert refusal(calm_db, "describe_stream", StreamArn=arn) == INVALID_ARN
    assert refusal(calm_db, "list_streams", ExclusiveStartStreamArn=arn) == INVALID_ARN
    request: dict[str, Any] = {"StreamArn": arn, "ShardId": "s" * 28, "ShardIteratorType": "LATEST"}
    assert refusal(calm_db, "get_shard_iterator", **request) == INVALID_ARN


def test_streams_of_other_places_are_refused_as_their_tables_are(calm_db: Database) -> None:
    arn = f"{BASE}/streamed/stream/{LABEL}"
    elsewhere = arn.replace("us-east-1", "eu-west-1")
    assert refusal(calm_db, "describe_stream", StreamArn=elsewhere) == invalid(
        f"1 validation error detected: Invalid AWS region in '{elsewhere}'"
    )
    stranger = arn.replace("000000000000", "111111111111")
    assert refusal(calm_db, "describe_stream", StreamArn=stranger) == (
        "AccessDeniedException",
        "Access is denied",
    )
    assert refusal(calm_db, "describe_stream", StreamArn=arn) == not_found(arn)


def test_a_table_is_named_by_its_name(calm_db: Database) -> None:
    code, message = refusal(calm_db, "list_streams", TableName=f"{BASE}/streamed")
    assert code == "ValidationException"
    assert message.endswith("Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+")
