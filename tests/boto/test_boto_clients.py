"""`db.client()`, `db.resource()`, `db.streams_client()`: boto3 as it always is, without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore.config import Config
from botocore.exceptions import ClientError, ParamValidationError

from singletable import Database
from singletable.errors import DatabaseClosedError
from support.serving import TIMEOUT_S

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


@pytest.fixture
def client(db: Database) -> Any:
    made = db.client()
    made.create_table(**TABLE)
    return made


def key(sort: int) -> dict[str, Any]:
    return {"PK": {"S": "a"}, "SK": {"N": str(sort)}}


# --- what boto3 gives to its users ----------------------------------------------------------------------


def test_answer_carries_the_metadata_of_a_response(client: Any) -> None:
    first, second = (client.list_tables()["ResponseMetadata"] for _ in range(2))
    assert (first["HTTPStatusCode"], first["RetryAttempts"]) == (200, 0)
    assert first["HTTPHeaders"]["x-amzn-requestid"] == first["RequestId"]
    assert len(first["RequestId"]) == 52
    assert first["RequestId"] != second["RequestId"]


def test_failed_condition_is_a_typed_exception_with_the_item(client: Any) -> None:
    client.put_item(TableName="music", Item={**key(1), "raw": {"B": b"\x00"}})
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as raised:
        client.put_item(
            TableName="music",
            Item=key(1),
            ConditionExpression="attribute_not_exists(PK)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert isinstance(raised.value, ClientError)
    assert raised.value.operation_name == "PutItem"
    assert raised.value.response["Item"] == {**key(1), "raw": {"B": b"\x00"}}
    assert raised.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert str(raised.value) == (
        "An error occurred (ConditionalCheckFailedException) when calling the PutItem operation: "
        "The conditional request failed"
    )


def test_cancelled_transaction_carries_its_reasons(client: Any) -> None:
    check = {"TableName": "music", "Key": key(9), "ConditionExpression": "attribute_exists(PK)"}
    with pytest.raises(client.exceptions.TransactionCanceledException) as raised:
        client.transact_write_items(
            TransactItems=[
                {"Put": {"TableName": "music", "Item": key(1)}},
                {"ConditionCheck": check},
            ]
        )
    assert [reason["Code"] for reason in raised.value.response["CancellationReasons"]] == [
        "None",
        "ConditionalCheckFailed",
    ]


def test_parameters_are_checked_as_usual(client: Any) -> None:
    with pytest.raises(ParamValidationError, match="Missing required parameter in input"):
        client.get_item(TableName="music")


def test_config_of_the_user_is_taken(db: Database) -> None:
    client = db.client(config=Config(parameter_validation=False, region_name="eu-north-1"))
    assert client.meta.region_name == "eu-north-1"
    with pytest.raises(ClientError) as raised:
        client.get_item(TableName="music", Key={"PK": {}})
    assert raised.value.response["Error"]["Code"] == "ValidationException"


def test_paginator_visits_every_item_once(client: Any) -> None:
    for sort in range(7):
        client.put_item(TableName="music", Item=key(sort))
    pages = client.get_paginator("scan").paginate(TableName="music", PaginationConfig={"PageSize": 3})
    assert [[int(item["SK"]["N"]) for item in page["Items"]] for page in pages] == [[0, 1, 2], [3, 4, 5], [6]]


def test_waiters_are_satisfied_by_the_first_look(client: Any) -> None:
    looks: list[str] = []
    client.meta.events.register(
        "before-call.dynamodb.DescribeTable", lambda model, **_: looks.append(model.name)
    )
    client.get_waiter("table_exists").wait(TableName="music")
    client.delete_table(TableName="music")
    client.get_waiter("table_not_exists").wait(TableName="music")
    assert looks == ["DescribeTable", "DescribeTable"]


def test_table_resource_speaks_python_values(db: Database, client: Any) -> None:
    table = db.resource().Table("music")
    item = {
        "PK": "a",
        "SK": Decimal("1.5"),
        "raw": b"\x00",
        "raws": {b"\x01"},
        "deep": {"list": [None, True, {"x"}, b"\x02"]},
    }
    table.put_item(Item=item)
    assert table.get_item(Key={"PK": "a", "SK": Decimal("1.5")})["Item"] == item
    found = table.query(KeyConditionExpression=Key("PK").eq("a"), FilterExpression=Attr("raw").exists())
    assert found["Items"] == [item]
    with table.batch_writer() as batch:
        for sort in range(30):
            batch.put_item(Item={"PK": "b", "SK": sort})
    assert table.scan(Select="COUNT")["Count"] == 31
    assert [made.name for made in db.resource().tables.all()] == ["music"]


def test_operation_that_is_not_served_is_refused_in_our_words(db: Database) -> None:
    with pytest.raises(ClientError) as raised:
        db.client().list_exports()
    assert raised.value.response["Error"] == {
        "Code": "UnknownOperationException",
        "Message": "ListExports is not supported in this release of singletable",
    }


def test_handler_of_the_user_may_answer_first(client: Any) -> None:
    class Throttled:
        status_code = 400

    def throttle(**_: Any) -> Any:
        return Throttled(), {"Error": {"Code": "ThrottlingException", "Message": "slow down"}}

    client.meta.events.register("before-call.dynamodb", throttle)
    with pytest.raises(ClientError, match="slow down"):
        client.list_tables()


def test_handlers_see_parameters_and_the_parsed_answer(client: Any) -> None:
    seen: list[Any] = []
    client.meta.events.register(
        "provide-client-params.dynamodb.ListTables", lambda params, **_: seen.append(params)
    )
    client.meta.events.register(
        "after-call.dynamodb.ListTables",
        lambda http_response, parsed, **_: seen.append((http_response.status_code, parsed["TableNames"])),
    )
    client.list_tables(Limit=1)
    assert seen == [{"Limit": 1}, (200, ["music"])]


# --- databases and clients --------------------------------------------------------------------------------


def test_client_has_the_region_of_its_database_unless_told(db: Database) -> None:
    assert db.client().meta.region_name == "us-east-1"
    assert db.client(region_name="eu-west-1").meta.region_name == "eu-west-1"
    assert db.streams_client(region_name="eu-west-1").meta.region_name == "eu-west-1"
    assert db.resource(region_name="eu-west-1").meta.client.meta.region_name == "eu-west-1"


def test_every_client_reads_its_own_database() -> None:
    databases = [Database.open(":memory:") for _ in range(3)]
    clients = [database.client() for database in databases]
    for number, client in enumerate(clients):
        client.create_table(**{**TABLE, "TableName": f"table-{number}"})
    assert [client.list_tables()["TableNames"] for client in clients] == [
        ["table-0"],
        ["table-1"],
        ["table-2"],
    ]
    for database in databases:
        database.close()


@pytest.mark.parametrize("call", ["client", "resource"])
def test_closed_database_says_so(call: str) -> None:
    database = Database.open(":memory:")
    made = getattr(database, call)()
    client = made if call == "client" else made.meta.client
    database.close()
    with pytest.raises(DatabaseClosedError):
        client.list_tables()


def test_changing_an_answer_changes_nothing_else(client: Any) -> None:
    item = {**key(1), "deep": {"M": {"list": {"L": [{"S": "x"}]}}}}
    client.put_item(TableName="music", Item=item)
    first = client.get_item(TableName="music", Key=key(1))
    first["Item"]["deep"]["M"]["list"]["L"].clear()
    assert client.get_item(TableName="music", Key=key(1))["Item"] == item


def test_many_threads_build_clients_and_count_without_losing_one(db: Database) -> None:
    db.create_table(**TABLE)

    def add(_: int) -> None:
        db.client().update_item(
            TableName="music",
            Key=key(1),
            UpdateExpression="ADD hits :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(40)))
    assert db.client().get_item(TableName="music", Key=key(1))["Item"]["hits"] == {"N": "40"}


# --- in processes of their own ----------------------------------------------------------------------------


def run(code: str, directory: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=directory,
        env={**os.environ, **environment},
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_client_goes_on_in_a_forked_child(tmp_path: Path) -> None:
    code = """
import os, singletable
db = singletable.Database.open("forked.db")
client = db.client()
client.create_table(TableName="music", KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
    AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
child = os.fork()
if child == 0:
    client.put_item(TableName="music", Item={"PK": {"S": "old client"}})
    db.client().put_item(TableName="music", Item={"PK": {"S": "new client"}})
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(client.scan(TableName="music")["Count"])
"""
    assert run(code, tmp_path) == "2\n"


HOSTILE = {
    "AWS_PROFILE": "missing",
    "AWS_DEFAULT_PROFILE": "missing",
    "AWS_CONFIG_FILE": "broken",
    "AWS_SHARED_CREDENTIALS_FILE": "broken",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
    "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1",
    "AWS_DEFAULTS_MODE": "auto",
    "AWS_RETRY_MODE": "never",
    "AWS_MAX_ATTEMPTS": "many",
    "AWS_USE_FIPS_ENDPOINT": "true",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "required",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1",
    "AWS_DEFAULT_REGION": "eu-south-9",
    "AWS_DATA_PATH": "broken",
}


def test_nothing_of_the_environment_matters(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("no [ini")
    code = """
import socket, singletable
def refuse(*_): raise AssertionError("the network was asked for")
socket.socket.connect = socket.getaddrinfo = refuse
db = singletable.Database.open(":memory:")
for client in (db.client(), db.resource().meta.client):
    print(client.meta.region_name, client.list_tables()["TableNames"])
"""
    assert run(code, tmp_path, HOME=str(tmp_path), **HOSTILE) == "us-east-1 []\n" * 2


WITHOUT_BOTO3 = """
import sys
sys.modules["boto3"] = sys.modules["botocore"] = None
import singletable
from singletable import *
db = singletable.Database.open(":memory:")
try:
    {call}
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "call", ["db.client()", "db.streams_client()", "db.resource()", "singletable.patch(db)"]
)
def test_without_boto3_it_is_said_what_to_install(tmp_path: Path, call: str) -> None:
    assert run(WITHOUT_BOTO3.format(call=call), tmp_path) == (
        "boto3 is not installed; run: pip install 'singletable[boto3]'\n"
    )
