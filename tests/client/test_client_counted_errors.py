"""Errors of requests as lines in CloudWatch's embedded metric format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.session import Session

from singletable import Database
from singletable.client.counted_errors import count_errors, error_line
from singletable.clock import ManualClock
from singletable.server import BackgroundServer

KEY = {"id": {"S": "1"}}


def boto_client(url: str) -> Any:
    return Session().create_client(
        "dynamodb",
        region_name="eu-north-1",
        endpoint_url=url,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"max_attempts": 0}),
    )


@pytest.fixture
def client() -> Iterator[Any]:
    with Database.open(":memory:") as database, BackgroundServer(database) as address:
        database.create_table(
            TableName="shop",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        made = boto_client(address.url)
        yield made
        made.close()


def test_refused_request_is_counted_by_table_operation_and_error(client: Any) -> None:
    lines: list[str] = []
    count_errors(client, "shop", write=lines.append, clock=ManualClock())
    client.get_item(TableName="shop", Key=KEY)
    with pytest.raises(ClientError):
        client.get_item(TableName="shop", Key={"other": {"S": "1"}})
    (line,) = map(json.loads, lines)
    assert (line["TableName"], line["Operation"], line["Error"]) == ("shop", "GetItem", "ValidationException")
    assert line["RequestErrors"] == 1


def test_failed_condition_is_no_error(client: Any) -> None:
    lines: list[str] = []
    count_errors(client, "shop", write=lines.append)
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        client.delete_item(TableName="shop", Key=KEY, ConditionExpression="attribute_exists(id)")
    assert lines == []


def test_client_that_is_opened_twice_counts_once(client: Any) -> None:
    lines: list[str] = []
    for _ in range(2):
        count_errors(client, "shop", write=lines.append)
    with pytest.raises(ClientError):
        client.get_item(TableName="other", Key=KEY)
    assert len(lines) == 1


def test_request_without_an_answer_is_counted() -> None:
    lines: list[str] = []
    client = boto_client("http://127.0.0.1:9")
    count_errors(client, "shop", write=lines.append)
    with pytest.raises(EndpointConnectionError):
        client.list_tables()
    (line,) = map(json.loads, lines)
    assert (line["Operation"], line["Error"]) == ("ListTables", "NoAnswer")


def test_line_is_what_the_specification_asks_for() -> None:
    line = json.loads(error_line("shop", "Query", "ValidationException", at_ms=1_700_000_000_123))
    assert line["_aws"]["Timestamp"] == 1_700_000_000_123
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert set(directive) == {"Namespace", "Dimensions", "Metrics"}
    # "A DimensionSet MUST NOT have more than 30 dimension keys"; each is a member of the root node, and a text.
    for dimensions in directive["Dimensions"]:
        assert all(isinstance(line[name], str) for name in dimensions)
    for metric in directive["Metrics"]:
        assert isinstance(line[metric["Name"]], int)
