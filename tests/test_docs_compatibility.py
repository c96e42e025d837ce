"""docs/reference/compatibility.md names every operation and parameter, and says of each what is true."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any, Final

import botocore
import pytest

from docs.blocks import ROOT, rows_of, section_of
from singletable import Database, errors
from singletable.wire.operations import OPERATIONS

DOCUMENT: Final = ROOT / "docs" / "reference" / "compatibility.md"
MODELS: Final = Path(botocore.__file__).parent / "data"
KEY: Final = {"p": {"S": "a"}}


def model_operations(service: str) -> list[str]:
    (path,) = (MODELS / service).glob("*/service-2.json.gz")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        return sorted(json.load(stream)["operations"])


@pytest.mark.parametrize("service", ["dynamodb", "dynamodbstreams"])
def test_every_operation_of_the_model_has_one_row(service: str) -> None:
    assert [row[0] for row in operations(service)] == model_operations(service)


def operations(service: str) -> list[list[str]]:
    """The rows of the operations of a service."""
    own, _, streams = section_of(DOCUMENT, "## Operations").partition("DynamoDB Streams has an API")
    return rows_of(own if service == "dynamodb" else streams)


def test_served_operations_are_those_of_the_engine() -> None:
    assert {row[0] for row in operations("dynamodb") if row[1] == "served"} == set(OPERATIONS)
    assert {row[1] for row in (*operations("dynamodb"), *operations("dynamodbstreams"))} == {
        "served",
        "later",
        "no",
    }


@pytest.mark.parametrize("operation", [row[0] for row in operations("dynamodb") if row[1] != "served"])
def test_operation_that_is_not_served_says_so(operation: str) -> None:
    with Database.open(":memory:") as database:
        status, body = database.answer(operation, b"{}")
    answer = json.loads(body)
    assert status == 400
    assert answer["__type"].endswith("#UnknownOperationException")
    assert answer["message"] == f"{operation} is not supported in this release of singletable"


# --- parameters -----------------------------------------------------------------------------------------

LEGACY_REQUESTS: Final[dict[str, tuple[str, Any]]] = {
    "AttributesToGet": ("GetItem", ["p"]),
    "AttributeUpdates": ("UpdateItem", {"x": {"Value": {"S": "a"}, "Action": "PUT"}}),
    "ConditionalOperator": ("DeleteItem", "AND"),
    "Expected": ("DeleteItem", {"x": {"Exists": False}}),
    "KeyConditions": ("Query", {"p": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}}),
    "QueryFilter": ("Query", {"x": {"ComparisonOperator": "NULL"}}),
    "ScanFilter": ("Scan", {"x": {"ComparisonOperator": "NULL"}}),
}


def make_table(database: Database, **more: Any) -> None:
    database.create_table(
        TableName="table",
        KeySchema=[{"AttributeName": "p", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        **{"BillingMode": "PAY_PER_REQUEST", **more},
    )


def test_legacy_parameters_are_refused_with_what_replaced_them() -> None:
    shown = {old.strip("`"): new.strip("`") for old, new in rows_of(section_of(DOCUMENT, "## Parameters"))}
    assert shown.keys() == LEGACY_REQUESTS.keys()
    with Database.open(":memory:") as database:
        make_table(database)
        for name, (operation, value) in LEGACY_REQUESTS.items():
            key = {} if operation in ("Query", "Scan") else {"Key": KEY}
            request = {"TableName": "table", **key, name: value}
            status, body = database.answer(operation, json.dumps(request).encode())
            assert status == 400
            message = json.loads(body)["message"]
            assert (
                message == f"The legacy parameter {name} is not supported in this release; use {shown[name]}"
            )


def test_multi_attribute_keys_are_refused_in_the_words_shown() -> None:
    index = {
        "IndexName": "index",
        "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in ("a", "b")],
        "Projection": {"ProjectionType": "ALL"},
    }
    with Database.open(":memory:") as database, pytest.raises(errors.ValidationError) as caught:
        database.create_table(
            TableName="table",
            KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("a", "b")],
            GlobalSecondaryIndexes=[index],  # type: ignore[list-item]
            BillingMode="PAY_PER_REQUEST",
        )
    shown = " ".join(section_of(DOCUMENT, "## Parameters").split())
    assert f'"{caught.value.message}"' in shown


SETTINGS: Final[dict[str, Any]] = {
    "SSESpecification": {"Enabled": True},
    "TableClass": "STANDARD_INFREQUENT_ACCESS",
    "OnDemandThroughput": {"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1},
    "WarmThroughput": {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000},
    "ResourcePolicy": "{}",
    "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
    "Tags": [{"Key": "a", "Value": "b"}],
}


def test_settings_without_effect_are_those_named() -> None:
    sentence = re.search(
        r"kept and described, and change nothing.*?:\n(.*?)\n\n",
        section_of(DOCUMENT, "## Parameters"),
        re.DOTALL,
    )
    assert sentence is not None
    assert re.findall(r"`(\w+)`", sentence[1]) == list(SETTINGS)


@pytest.mark.parametrize("name", SETTINGS)
def test_setting_without_effect_is_accepted(name: str) -> None:
    billing = "PROVISIONED" if name == "ProvisionedThroughput" else "PAY_PER_REQUEST"
    with Database.open(":memory:") as database:
        make_table(database, **{name: SETTINGS[name], "BillingMode": billing})
        for _ in range(20):  # far beyond one unit a second
            database.put_item(TableName="table", Item=KEY)
