"""Regions and accounts: what ARNs are made of, and whose tables are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.wire.arns import partition_of
from support.sample_tables import attributes, create_plain, index, key_schema, refusal, s

HERE = "arn:aws:dynamodb:us-east-1:000000000000:table/plain"
ELSEWHERE = "arn:aws:dynamodb:eu-west-1:000000000000:table/plain"
THEIRS = "arn:aws:dynamodb:us-east-1:123456789012:table/plain"
KEY = {"id": s("a")}


def test_arns_name_the_region_and_the_account_that_were_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    with Database.open(path, region="eu-central-1", account="123456789012") as db:
        db.create_table(
            TableName="plain",
            KeySchema=key_schema("id"),
            AttributeDefinitions=attributes(id="S"),
            GlobalSecondaryIndexes=[index("again", "id")],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
            BillingMode="PAY_PER_REQUEST",
        )
        table = db.describe_table(TableName="plain")["Table"]
        arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/plain"
        assert table["TableArn"] == arn
        assert table["GlobalSecondaryIndexes"][0]["IndexArn"] == f"{arn}/index/again"
        assert table["LatestStreamArn"] == f"{arn}/stream/{table['LatestStreamLabel']}"
        assert db.describe_table(TableName=arn)["Table"] == table
        (endpoint,) = db.describe_endpoints()["Endpoints"]
        assert endpoint["Address"] == "dynamodb.eu-central-1.amazonaws.com"
    # They belong to the database that is open, and not to the file.
    with Database.open(path) as db:
        assert db.describe_table(TableName="plain")["Table"]["TableArn"] == HERE
        assert refusal(db, "describe_table", TableName=arn) == (
            "ValidationException",
            f"1 validation error detected: Invalid AWS region in '{arn}'",
        )


@pytest.mark.parametrize(
    ("region", "partition"),
    [
        ("us-east-1", "aws"),
        ("ap-southeast-2", "aws"),
        ("us-gov-west-1", "aws-us-gov"),
        ("cn-north-1", "aws-cn"),
        ("eusc-de-east-1", "aws-eusc"),
    ],
)
def test_a_region_is_in_a_partition(region: str, partition: str) -> None:
    assert partition_of(region) == partition
    with Database.open(":memory:", region=region) as db:
        create_plain(db)
        arn = f"arn:{partition}:dynamodb:{region}:000000000000:table/plain"
        assert db.describe_table(TableName=arn)["Table"]["TableArn"] == arn


def test_the_endpoint_of_a_chinese_region_has_another_ending() -> None:
    with Database.open(":memory:", region="cn-north-1") as db:
        (endpoint,) = db.describe_endpoints()["Endpoints"]
    assert endpoint == {"Address": "dynamodb.cn-north-1.amazonaws.com.cn", "CachePeriodInMinutes": 1440}


@pytest.mark.parametrize(
    "region", ["", "us", "us-east", "US-EAST-1", "us_east_1", "us-east-1 ", "us-east-123"]
)
def test_what_is_no_region_is_refused(region: str) -> None:
    with pytest.raises(ValueError, match="is no region: it looks like us-east-1"):
        Database.open(":memory:", region=region)


@pytest.mark.parametrize("account", ["", "1", "12345678901", "1234567890123", "12345678901a", "١٢٣٤٥٦٧٨٩٠١٢"])
def test_what_is_no_account_is_refused(account: str) -> None:
    with pytest.raises(ValueError, match="is no account: it has 12 digits"):
        Database.open(":memory:", account=account)


# --- whose tables ----------------------------------------------------------------------------------


def requests(name: str) -> dict[str, tuple[str, dict[str, Any]]]:
    write = {"TableName": name, "Item": KEY}
    return {
        "put": ("put_item", write),
        "get": ("get_item", {"TableName": name, "Key": KEY}),
        "update": ("update_item", {"TableName": name, "Key": KEY}),
        "delete": ("delete_item", {"TableName": name, "Key": KEY}),
        "query": (
            "query",
            {
                "TableName": name,
                "KeyConditionExpression": "id = :a",
                "ExpressionAttributeValues": {":a": s("a")},
            },
        ),
        "scan": ("scan", {"TableName": name}),
        "batch-get": ("batch_get_item", {"RequestItems": {name: {"Keys": [KEY]}}}),
        "batch-write": ("batch_write_item", {"RequestItems": {name: [{"PutRequest": {"Item": KEY}}]}}),
        "transact-get": ("transact_get_items", {"TransactItems": [{"Get": {"TableName": name, "Key": KEY}}]}),
        "transact-write": ("transact_write_items", {"TransactItems": [{"Put": write}]}),
        "update-table": ("update_table", {"TableName": name, "DeletionProtectionEnabled": False}),
        "describe-table": ("describe_table", {"TableName": name}),
    }


@pytest.mark.parametrize("kind", requests(HERE))
def test_every_operation_takes_the_arn_of_a_table(db: Database, kind: str) -> None:
    create_plain(db)
    operation, request = requests(HERE)[kind]
    getattr(db, operation)(**request)


@pytest.mark.parametrize("kind", requests(HERE))
def test_no_operation_reaches_another_region_or_account(calm_db: Database, kind: str) -> None:
    operation, request = requests(ELSEWHERE)[kind]
    assert refusal(calm_db, operation, **request) == (
        "ValidationException",
        f"1 validation error detected: Invalid AWS region in '{ELSEWHERE}'",
    )
    operation, request = requests(THEIRS)[kind]
    assert refusal(calm_db, operation, **request) == ("AccessDeniedException", "Access is denied")


def test_members_that_an_operation_does_not_know_are_no_tables(calm_db: Database) -> None:
    body = b'{"TableName": 5, "RequestItems": 5, "TransactItems": [5]}'
    assert calm_db.answer("ListTables", body).status == 200


def test_access_that_is_denied_is_an_error_of_the_framework(calm_db: Database) -> None:
    # dynalite, test/helpers.js: assertAccessDenied
    answer = calm_db.answer("DescribeTable", f'{{"TableName": "{THEIRS}"}}'.encode())
    assert answer.status == 400
    assert answer.body == (
        b'{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"Access is denied"}'
    )
