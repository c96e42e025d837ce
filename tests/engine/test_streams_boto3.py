"""DynamoDB Streams through real boto3 clients: in the process, patched, over HTTP; and as the AWS CLI reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.parsers import create_parser

import singletable
from singletable import Database
from singletable.clock import ManualClock
from singletable.server import BackgroundServer
from support.serving import HttpSocket, call
from support.streamed_tables import (
    create_streamed,
    delete,
    events_of,
    iterator_at,
    keys_of,
    put,
    records_of,
    shards_of,
)

CREDENTIALS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "any",
    "aws_secret_access_key": "thing",
}


@pytest.fixture(params=["in the process", "patched", "http"])
def clients(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[tuple[Any, Any]]:
    """A client for DynamoDB, and one for its streams."""
    # One attempt: a test that passes only because it was tried again has not passed.
    more: Any = {**CREDENTIALS, "config": Config(retries={"total_max_attempts": 1})}
    with Database.open(":memory:", clock=clock) as db:
        match request.param:
            case "in the process":
                yield db.client(), db.streams_client()
            case "patched":
                with singletable.patch(db):
                    yield boto3.client("dynamodb", **more), boto3.client("dynamodbstreams", **more)
            case _:
                with BackgroundServer(db) as address:
                    more["endpoint_url"] = address.url
                    yield boto3.client("dynamodb", **more), boto3.client("dynamodbstreams", **more)
        assert db.check() == []


def test_a_stream_is_found_and_read_to_its_end(clients: tuple[Any, Any]) -> None:
    client, streams = clients
    arn = create_streamed(client)
    client.get_waiter("table_exists").wait(TableName="streamed")
    put(client, "a", photo={"B": b"\x00\xff"})
    put(client, "a", n={"N": "1"})
    delete(client, "a")
    assert [stream["StreamArn"] for stream in streams.list_streams(TableName="streamed")["Streams"]] == [arn]
    client.update_table(TableName="streamed", StreamSpecification={"StreamEnabled": False})
    records = records_of(streams, arn, Limit=2)
    assert events_of(records) == [("INSERT", "a"), ("MODIFY", "a"), ("REMOVE", "a")]
    first = records[0]["dynamodb"]
    assert first["NewImage"] == {"id": {"S": "a"}, "photo": {"B": b"\x00\xff"}}
    assert isinstance(first["ApproximateCreationDateTime"], datetime)
    description = streams.describe_stream(StreamArn=arn)["StreamDescription"]
    assert isinstance(description["CreationRequestDateTime"], datetime)
    assert description["StreamStatus"] == "DISABLED"


def test_a_place_is_named_by_a_time(clients: tuple[Any, Any], clock: ManualClock) -> None:
    client, streams = clients
    arn = create_streamed(client)
    put(client, "before")
    clock.advance(5)
    put(client, "behind")
    iterator = iterator_at(streams, arn, "AT_TIMESTAMP", Timestamp=clock.time_us // 1_000_000)
    assert keys_of(streams.get_records(ShardIterator=iterator)["Records"]) == ["behind"]


def test_errors_have_the_types_of_the_client(clients: tuple[Any, Any], clock: ManualClock) -> None:
    client, streams = clients
    arn = create_streamed(client)
    put(client, "a")
    number = streams.get_records(ShardIterator=iterator_at(streams, arn))["Records"][0]["dynamodb"][
        "SequenceNumber"
    ]
    shard = shards_of(streams, arn)[0]["ShardId"]
    iterator = iterator_at(streams, arn)
    with pytest.raises(streams.exceptions.ResourceNotFoundException, match="Shard does not exist"):
        iterator_at(streams, arn, ShardId=shard[:-8] + "00000000")
    with pytest.raises(
        ClientError, match=r"\(ValidationException\).*Limit should be less than or equal to 1000"
    ):
        streams.get_records(ShardIterator=iterator, Limit=1001)
    with pytest.raises(ClientError, match="Invalid ShardIterator"):
        streams.get_records(ShardIterator="iterator")
    clock.advance(16 * 60)
    with pytest.raises(streams.exceptions.ExpiredIteratorException, match="Shard iterator has expired"):
        streams.get_records(ShardIterator=iterator)
    clock.advance(24 * 3600)
    with pytest.raises(streams.exceptions.TrimmedDataAccessException, match="has been trimmed"):
        iterator_at(
            streams,
            arn,
            "AT_SEQUENCE_NUMBER",
            ShardId=shards_of(streams, arn)[0]["ShardId"],
            SequenceNumber=number,
        )


# --- as the command line of AWS reads it -----------------------------------------------------------


@pytest.fixture
def socket(db: Database) -> Iterator[HttpSocket]:
    with BackgroundServer(db) as address, HttpSocket(address) as connected:
        yield connected


def ask(socket: HttpSocket, operation: str, **request: Any) -> Any:
    """Send a request as the wire has it, and read the answer by AWS's model of the service."""
    response = socket.ask(call(operation, request, target="DynamoDBStreams_20120810"))
    model = ServiceModel(Loader().load_service_model("dynamodbstreams", "service-2"))
    shape = model.operation_model(operation).output_shape
    parsed = create_parser("json").parse(
        {"status_code": response.status, "headers": response.headers, "body": response.body}, shape
    )
    parsed.pop("ResponseMetadata", None)
    return parsed


def test_answers_on_the_wire_are_those_of_the_model(db: Database, socket: HttpSocket) -> None:
    arn = create_streamed(db)
    put(db, "a", photo={"B": b"\x00\xff"})
    assert [stream["StreamArn"] for stream in ask(socket, "ListStreams")["Streams"]] == [arn]
    description = ask(socket, "DescribeStream", StreamArn=arn)["StreamDescription"]
    shard = description["Shards"][0]["ShardId"]
    place = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
    iterator = ask(socket, "GetShardIterator", **place)["ShardIterator"]
    (record,) = ask(socket, "GetRecords", ShardIterator=iterator)["Records"]
    assert record["dynamodb"]["NewImage"]["photo"] == {"B": b"\x00\xff"}
    # The same as a caller in the process gets, so nothing is there that the model does not know.
    (native,) = db.get_records(ShardIterator=iterator)["Records"]
    assert record == native


def test_times_and_binary_values_on_the_wire_are_those_of_json(db: Database, socket: HttpSocket) -> None:
    arn = create_streamed(db)
    put(db, "a", photo={"B": b"\x00\xff"})
    request = {"ShardIterator": iterator_at(db, arn)}
    answer = socket.ask(call("GetRecords", request, target="DynamoDBStreams_20120810"))
    body = json.loads(answer.body)["Records"][0]["dynamodb"]
    assert body["ApproximateCreationDateTime"] == 1_700_000_000
    assert body["NewImage"]["photo"] == {"B": "AP8="}


def test_a_large_page_is_answered_over_http(db: Database, socket: HttpSocket) -> None:
    arn = create_streamed(db)
    for start in range(0, 1_000, 25):
        db.batch_write_item(
            RequestItems={
                "streamed": [
                    {"PutRequest": {"Item": {"id": {"S": f"{start + n}"}, "text": {"S": "x" * 500}}}}
                    for n in range(25)
                ]
            }
        )
    records = ask(socket, "GetRecords", ShardIterator=iterator_at(db, arn))["Records"]
    assert keys_of(records) == [str(number) for number in range(1_000)]


def test_operations_of_streams_are_asked_for_by_their_own_target(socket: HttpSocket) -> None:
    answer = socket.ask(call("ListStreams", {}))
    assert answer.json["__type"].endswith("#UnknownOperationException")
