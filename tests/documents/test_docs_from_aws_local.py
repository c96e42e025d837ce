"""What docs/clients/README.md says of DynamoDB Local beside us: each row of the table is tried, here and there."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from documents.blocks import CLIENT_PAGES, rows_of, section_of
from singletable import Database
from singletable.server import BackgroundServer
from support.targets import AWS_LOCAL_URL, TARGETS

ON_DEMAND: Final = {
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
UNITS: Final = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
TIMEOUT_S: Final = 10.0


@contextmanager
def endpoint(target: str) -> Iterator[str]:
    if target == "aws-local":
        assert AWS_LOCAL_URL is not None
        yield AWS_LOCAL_URL
    else:
        with Database.open(":memory:") as database, BackgroundServer(database) as address:
            yield address.url


def client_of(url: str, *, access_key: str = "", region: str = "us-east-1") -> Any:
    # DynamoDB Local keeps a database for each access key, so a fresh key is a fresh database.
    return boto3.client(
        "dynamodb",
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=access_key or uuid.uuid4().hex,
        aws_secret_access_key="unused",
        config=Config(retries={"total_max_attempts": 1}),
    )


def answer_to(call: Callable[..., Any], **request: Any) -> str:
    try:
        call(**request)
    except ClientError:
        return "refused"
    return "accepted"


def keys(*names: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)
    ]


def define_more_than_keys(url: str) -> str:
    client = client_of(url)
    name = {"TableName": f"t{uuid.uuid4().hex}"}
    defined = ["pk", "sk", "both", "unused"]
    every = {"ProjectionType": "ALL"}
    table = {
        **ON_DEMAND,
        "KeySchema": keys("pk", "sk"),
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in defined],
    }
    index = {"IndexName": "global", "KeySchema": keys("both"), "Projection": every}
    local = {"IndexName": "local", "KeySchema": keys("pk", "both"), "Projection": every}
    of_one = answer_to(client.create_table, **name, **table, GlobalSecondaryIndexes=[index])
    of_both = answer_to(
        client.create_table, **name, **table, GlobalSecondaryIndexes=[index], LocalSecondaryIndexes=[local]
    )
    assert of_one == "refused"
    return of_both if of_both == of_one else "accepted, at times"


def give_units_to_a_table_on_demand(url: str) -> str:
    client = client_of(url)
    name = {"TableName": f"t{uuid.uuid4().hex}"}
    created = answer_to(client.create_table, **name, **ON_DEMAND, ProvisionedThroughput=UNITS)
    name = {"TableName": f"t{uuid.uuid4().hex}"}
    client.create_table(**name, **ON_DEMAND)
    client.get_waiter("table_exists").wait(**name, WaiterConfig={"Delay": 1})
    updated = answer_to(client.update_table, **name, ProvisionedThroughput=UNITS)
    assert created == updated
    return created


def look_with_another_key_and_region(url: str) -> str:
    access_key = uuid.uuid4().hex
    name = {"TableName": f"t{uuid.uuid4().hex}"}
    client_of(url, access_key=access_key).create_table(**name, **ON_DEMAND)
    seen = {
        answer_to(client_of(url).describe_table, **name),
        answer_to(client_of(url, access_key=access_key, region="eu-west-1").describe_table, **name),
    }
    assert len(seen) == 1
    return "the same tables" if seen == {"accepted"} else "other tables"


def sign_with_a_hyphen(url: str) -> str:
    return answer_to(client_of(url, access_key="my-key").list_tables)


def status_of(url: str, method: str, body: bytes | None = None, **headers: str) -> int:
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT_S)) as connection:
        connection.request(method, "/", body, headers)
        return connection.getresponse().status


def send_without_a_signature(url: str) -> str:
    headers = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    return "accepted" if status_of(url, "POST", b"{}", **headers) == 200 else "refused"


def get_the_root(url: str) -> str:
    return str(status_of(url, "GET"))


def tag_a_table(url: str) -> str:
    client = client_of(url)
    table = client.create_table(TableName=f"t{uuid.uuid4().hex}", **ON_DEMAND)["TableDescription"]
    client.get_waiter("table_exists").wait(TableName=table["TableName"], WaiterConfig={"Delay": 1})
    tags = [{"Key": "team", "Value": "test"}]
    return answer_to(client.tag_resource, ResourceArn=table["TableArn"], Tags=tags)


def ask_in_partiql(url: str) -> str:
    client = client_of(url)
    name = f"t{uuid.uuid4().hex}"
    client.create_table(TableName=name, **ON_DEMAND)
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
    return answer_to(client.execute_statement, Statement=f'SELECT * FROM "{name}"')


ROWS: Final = {
    "`CreateTable` defines an attribute that no key uses": define_more_than_keys,
    "an on-demand table is given `ProvisionedThroughput`": give_units_to_a_table_on_demand,
    "another access key, or another region": look_with_another_key_and_region,
    "an access key with a hyphen": sign_with_a_hyphen,
    "a request without a signature": send_without_a_signature,
    "`GET /`": get_the_root,
    "tags of a table": tag_a_table,
    "PartiQL": ask_in_partiql,
}


@pytest.mark.parametrize("target", TARGETS[1:])
def test_what_clients_meet_is_what_the_table_says(target: str) -> None:
    rows = rows_of(section_of(CLIENT_PAGES / "README.md", "## From DynamoDB Local"))
    column = 1 if target == "aws-local" else 2
    with endpoint(target) as url:
        assert {row[0]: row[column] for row in rows} == {name: tried(url) for name, tried in ROWS.items()}
