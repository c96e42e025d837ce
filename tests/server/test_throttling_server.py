"""`singletable serve --throttle`, as an SDK sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from support.serving import CommandProcess

ONCE = Config(retries={"total_max_attempts": 1, "mode": "standard"})


def client_of(ready: str) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=json.loads(ready)["url"],
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=ONCE,
    )


def fill(client: Any) -> None:
    """Write 50 units to a table that has one a second: the next write has to wait for most of a minute."""
    client.create_table(
        TableName="orders",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    )
    client.put_item(TableName="orders", Item={"id": {"S": "large"}, "data": {"S": "x" * 50_000}})


def test_server_throttles_where_it_was_asked_to(tmp_path: Path) -> None:
    with CommandProcess("serve", "--throttle", "--port", "0", "--json", cwd=tmp_path) as command:
        client = client_of(command.read_line())
        fill(client)
        with pytest.raises(client.exceptions.ProvisionedThroughputExceededException) as refused:
            client.put_item(TableName="orders", Item={"id": {"S": "small"}})
        assert [reason["reason"] for reason in refused.value.response["ThrottlingReasons"]] == [
            "TableWriteProvisionedThroughputExceeded"
        ]
        assert "Item" not in client.get_item(TableName="orders", Key={"id": {"S": "small"}})


def test_server_does_not_throttle_unless_it_was_asked_to(tmp_path: Path) -> None:
    with CommandProcess("serve", "--port", "0", "--json", cwd=tmp_path) as command:
        client = client_of(command.read_line())
        fill(client)
        client.put_item(TableName="orders", Item={"id": {"S": "small"}})
