"""boto3 against the server, unmodified: what it sends is understood, what it gets it can read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

import singletable
from singletable.server import BackgroundServer

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE: dict[str, Any] = {
    "TableName": "music",
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "SK", "AttributeType": "N"},
    ],
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
CREDENTIALS = {
    "region_name": "us-east-1",
    "aws_access_key_id": "any",
    "aws_secret_access_key": "thing",
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with singletable.Database.open(":memory:") as database, BackgroundServer(database) as address:
        yield address.url


@pytest.fixture(scope="module")
def session() -> boto3.Session:
    return boto3.Session(**CREDENTIALS)


@pytest.fixture
def client(session: boto3.Session, url: str) -> Iterator[Any]:
    # One attempt: a test that passes only because it was tried again has not passed.
    settings = Config(retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=20)
    connected = session.client("dynamodb", endpoint_url=url, config=settings)
    connected.create_table(**TABLE)
    connected.get_waiter("table_exists").wait(TableName="music")
    yield connected
    connected.delete_table(TableName="music")
    connected.close()


@pytest.fixture
def table(client: Any, session: boto3.Session, url: str) -> Iterator[Any]:
    resource = session.resource("dynamodb", endpoint_url=url)
    yield resource.Table("music")
    resource.meta.client.close()


def key(partition: str, sort: int) -> dict[str, Any]:
    return {"PK": {"S": partition}, "SK": {"N": str(sort)}}


def test_table_is_described_as_it_was_created(client: Any) -> None:
    described = client.describe_table(TableName="music")["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["KeySchema"] == TABLE["KeySchema"]
    assert client.list_tables()["TableNames"] == ["music"]


def test_every_type_of_value_comes_back_as_it_was_sent(table: Any) -> None:
    item = {
        "PK": "types",
        "SK": 1,
        "text": "Größe 大 🎵",
        "number": Decimal("-12345678901234567890.123456789012345678"),
        "binary": b"\x00\xff\xfe binary",
        "yes": True,
        "nothing": None,
        "texts": {"a", "b"},
        "numbers": {Decimal(1), Decimal("2.5")},
        "binaries": {b"\x00", b"\x01"},
        "list": [1, "two", [b"three"]],
        "map": {"inner": {"deeper": b"\x80"}},
        "empty text": "",
    }
    table.put_item(Item=item)
    assert table.get_item(Key={"PK": "types", "SK": 1})["Item"] == item


def test_query_follows_the_sort_key(client: Any) -> None:
    for sort in (10, 9, -1, 2):
        client.put_item(TableName="music", Item=key("a", sort))
    found = client.query(
        TableName="music",
        KeyConditionExpression="PK = :pk AND SK > :low",
        ExpressionAttributeValues={":pk": {"S": "a"}, ":low": {"N": "0"}},
        ScanIndexForward=False,
    )
    assert [item["SK"]["N"] for item in found["Items"]] == ["10", "9", "2"]


def test_paginator_visits_every_item_once(client: Any) -> None:
    for sort in range(23):
        client.put_item(TableName="music", Item=key("a", sort))
    pages = client.get_paginator("query").paginate(
        TableName="music",
        KeyConditionExpression="PK = :pk",
        ExpressionAttributeValues={":pk": {"S": "a"}},
        PaginationConfig={"PageSize": 5},
    )
    sizes_and_sorts = [(page["Count"], [int(item["SK"]["N"]) for item in page["Items"]]) for page in pages]
    assert [sort for _, sorts in sizes_and_sorts for sort in sorts] == list(range(23))
    assert [size for size, _ in sizes_and_sorts] == [5, 5, 5, 5, 3]


def test_batch_writer_writes_all(table: Any) -> None:
    with table.batch_writer() as batch:
        for sort in range(60):
            batch.put_item(Item={"PK": "batch", "SK": sort, "payload": "x" * 1000})
    assert table.scan(Select="COUNT")["Count"] == 60


def test_missing_table_is_a_typed_exception(client: Any) -> None:
    with pytest.raises(client.exceptions.ResourceNotFoundException) as raised:
        client.get_item(TableName="missing", Key=key("a", 1))
    assert raised.value.response["Error"] == {
        "Code": "ResourceNotFoundException",
        "Message": "Requested resource not found",
    }
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_failed_condition_is_a_typed_exception_with_the_item(client: Any) -> None:
    client.put_item(TableName="music", Item={**key("a", 1), "title": {"S": "first"}, "raw": {"B": b"\x00"}})
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as raised:
        client.put_item(
            TableName="music",
            Item=key("a", 1),
            ConditionExpression="attribute_not_exists(PK)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert raised.value.response["Error"]["Message"] == "The conditional request failed"
    assert raised.value.response["Item"] == {**key("a", 1), "title": {"S": "first"}, "raw": {"B": b"\x00"}}


def test_cancelled_transaction_carries_its_reasons(client: Any) -> None:
    check = {
        "TableName": "music",
        "Key": key("missing", 1),
        "ConditionExpression": "attribute_exists(PK)",
    }
    put = {"TableName": "music", "Item": key("a", 1)}
    with pytest.raises(client.exceptions.TransactionCanceledException) as raised:
        client.transact_write_items(TransactItems=[{"Put": put}, {"ConditionCheck": check}])
    reasons = raised.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed"]
    assert "Item" not in client.get_item(TableName="music", Key=key("a", 1))


def test_invalid_request_is_a_validation_exception(client: Any) -> None:
    with pytest.raises(ClientError) as raised:
        client.put_item(TableName="music", Item={"PK": {"S": "a"}})
    assert raised.value.response["Error"] == {
        "Code": "ValidationException",
        "Message": "One or more parameter values were invalid: Missing the key SK in the item",
    }


def test_item_above_the_limit_is_refused_and_the_connection_goes_on(client: Any) -> None:
    with pytest.raises(ClientError, match="Item size has exceeded the maximum allowed size"):
        client.put_item(TableName="music", Item={**key("a", 1), "large": {"S": "x" * 500_000}})
    client.put_item(TableName="music", Item=key("a", 1))


def test_request_above_16_mb_is_refused_in_a_way_that_boto3_can_read(client: Any) -> None:
    with pytest.raises(ClientError) as raised:
        client.put_item(TableName="music", Item={**key("a", 1), "large": {"S": "x" * (17 << 20)}})
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 413
    assert raised.value.response["Error"]["Code"] == "RequestEntityTooLargeException"


def test_many_threads_count_without_losing_one(client: Any) -> None:
    def add(_: int) -> None:
        client.update_item(
            TableName="music",
            Key=key("counter", 1),
            UpdateExpression="ADD hits :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(200)))
    stored = client.get_item(TableName="music", Key=key("counter", 1), ConsistentRead=True)
    assert stored["Item"]["hits"] == {"N": "200"}
