"""Nothing that a caller gave or got shares state with the engine: changing it changes nothing."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from singletable import Database
from singletable.errors import ConditionFailedError, TransactionCanceledError
from support.sample_tables import attributes, create_plain, index, key_schema, n, s


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ruin(value: Any) -> None:
    """Change everything that can be changed in a value."""
    if isinstance(value, dict):
        for member in value.values():
            ruin(member)
        value.clear()
        value["ruined"] = {"S": "ruined"}
    elif isinstance(value, list):
        for member in value:
            ruin(member)
        value.clear()
        value.append("ruined")
    elif isinstance(value, bytearray):
        value[:] = b"ruined"


def rich(name: str = "a") -> dict[str, Any]:
    return {
        "id": s(name),
        "g": s("g"),
        "m": {"M": {"l": {"L": [s("x"), {"SS": ["p", "q"]}, {"B": b"\x01"}]}}},
        "bs": {"BS": [b"\x00", b"\xff"]},
        "ns": {"NS": ["1", "2"]},
    }


@pytest.fixture
def table(db: Database) -> Database:
    db.create_table(
        TableName="plain",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S", g="S"),
        GlobalSecondaryIndexes=[index("by-g", "g", projection="INCLUDE", include=["m"])],
        BillingMode="PAY_PER_REQUEST",
        OnDemandThroughput={"MaxReadRequestUnits": 7},
    )
    return db


def stored(db: Database, name: str = "a") -> Any:
    return db.get_item(TableName="plain", Key={"id": s(name)})["Item"]


def test_an_item_may_be_changed_after_it_was_put(table: Database) -> None:
    given = rich()
    given["data"] = {"B": bytearray(b"mine")}
    table.put_item(TableName="plain", Item=given)
    ruin(given)
    assert stored(table) == {**rich(), "data": {"B": b"mine"}}


def test_values_may_be_changed_after_an_update(table: Database) -> None:
    values: dict[str, Any] = {":m": rich()["m"], ":s": {"SS": ["p"]}}
    names = {"#m": "m"}
    key = {"id": s("a")}
    table.update_item(
        TableName="plain",
        Key=key,
        UpdateExpression="SET #m = :m, s = :s",
        ExpressionAttributeNames=names,
        ExpressionAttributeValues=values,
    )
    for given in (values, names, key):
        ruin(given)
    assert stored(table) == {"id": s("a"), "m": rich()["m"], "s": {"SS": ["p"]}}


def test_a_request_is_left_as_it_was(table: Database) -> None:
    """What the engine is given, it does not change."""
    request: dict[str, Any] = {
        "TransactItems": [
            {"Put": {"TableName": "plain", "Item": rich("a")}},
            {
                "Update": {
                    "TableName": "plain",
                    "Key": {"id": s("b")},
                    "UpdateExpression": "SET m = :m, c = if_not_exists(c, :n) + :n",
                    "ExpressionAttributeValues": {":m": rich()["m"], ":n": n(1)},
                }
            },
        ],
        "ClientRequestToken": "token",
    }
    before = deepcopy(request)
    table.transact_write_items(**request)
    assert request == before


@pytest.mark.parametrize("wanted", ["ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_returned_attributes_may_be_changed(table: Database, wanted: Any) -> None:
    table.put_item(TableName="plain", Item=rich())
    answer = table.update_item(
        TableName="plain",
        Key={"id": s("a")},
        UpdateExpression="SET m.l[0] = :v",
        ExpressionAttributeValues={":v": s("new")},
        ReturnValues=wanted,
    )
    ruin(answer)
    expected = rich()
    expected["m"]["M"]["l"]["L"][0] = s("new")
    assert stored(table) == expected


READS: dict[str, Any] = {
    "get_item": {"TableName": "plain", "Key": {"id": {"S": "a"}}},
    "projected get_item": {
        "TableName": "plain",
        "Key": {"id": {"S": "a"}},
        "ProjectionExpression": "m.l, bs, ns",
    },
    "query": {
        "TableName": "plain",
        "KeyConditionExpression": "id = :i",
        "ExpressionAttributeValues": {":i": {"S": "a"}},
        "Limit": 1,
    },
    "index query": {
        "TableName": "plain",
        "IndexName": "by-g",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": {"S": "g"}},
        "Limit": 1,
        "ReturnConsumedCapacity": "INDEXES",
    },
    "scan": {"TableName": "plain", "Limit": 1},
    "filtered scan": {"TableName": "plain", "FilterExpression": "attribute_exists(bs)"},
    "batch_get_item": {"RequestItems": {"plain": {"Keys": [{"id": {"S": "a"}}]}}},
    "transact_get_items": {"TransactItems": [{"Get": {"TableName": "plain", "Key": {"id": {"S": "a"}}}}]},
    "describe_table": {"TableName": "plain"},
    "list_tables": {},
}


@pytest.mark.parametrize("name", READS)
def test_what_was_read_may_be_changed(table: Database, name: str) -> None:
    table.put_item(TableName="plain", Item=rich())
    operation = getattr(table, name.split()[-1])
    request = deepcopy(READS[name])
    first = operation(**request)
    kept = deepcopy(first)
    ruin(first)
    ruin(request)
    assert operation(**deepcopy(READS[name])) == kept
    assert stored(table) == rich()


def test_two_answers_share_nothing(table: Database) -> None:
    table.put_item(TableName="plain", Item=rich())
    answers = [table.scan(TableName="plain") for _ in range(2)]
    kept = deepcopy(answers[1])
    ruin(answers[0])
    assert answers[1] == kept


def test_two_items_of_one_answer_share_nothing(table: Database) -> None:
    for name in "ab":
        table.put_item(TableName="plain", Item=rich(name))
    first, second = table.scan(TableName="plain")["Items"]
    kept = deepcopy(second)
    ruin(first)
    assert second == kept


def test_the_item_of_a_failed_condition_may_be_changed(table: Database) -> None:
    table.put_item(TableName="plain", Item=rich())
    with pytest.raises(ConditionFailedError) as failed:
        table.delete_item(
            TableName="plain",
            Key={"id": s("a")},
            ConditionExpression="attribute_not_exists(id)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    ruin(failed.value.item)
    with pytest.raises(TransactionCanceledError) as cancelled:
        table.transact_write_items(
            TransactItems=[
                {
                    "Delete": {
                        "TableName": "plain",
                        "Key": {"id": s("a")},
                        "ConditionExpression": "attribute_not_exists(id)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                }
            ]
        )
    ruin(cancelled.value.reasons[0].item)
    assert stored(table) == rich()


def test_unprocessed_keys_may_be_changed(db: Database) -> None:
    create_plain(db)
    for number in range(42):
        db.put_item(TableName="plain", Item={"id": s(f"{number:02}"), "x": s("x" * 409_000)})
    request: Any = {
        "plain": {
            "Keys": [{"id": s(f"{number:02}")} for number in range(42)],
            "ProjectionExpression": "#i",
            "ExpressionAttributeNames": {"#i": "id"},
        }
    }
    before = deepcopy(request)
    unprocessed: Any = db.batch_get_item(RequestItems=request)["UnprocessedKeys"]
    assert unprocessed
    ruin(unprocessed)
    assert request == before


def test_definitions_may_be_changed_after_a_table_was_made(db: Database) -> None:
    by_g = index("by-g", "g", projection="INCLUDE", include=["x"])
    request: dict[str, Any] = {
        "TableName": "things",
        "KeySchema": key_schema("id"),
        "AttributeDefinitions": attributes(id="S", g="S"),
        "GlobalSecondaryIndexes": [by_g],
        "BillingMode": "PAY_PER_REQUEST",
        "OnDemandThroughput": {"MaxReadRequestUnits": 7},
        "SSESpecification": {"Enabled": True, "SSEType": "KMS"},
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    }
    before = deepcopy(request)
    ruin(db.create_table(**request))
    assert request == before
    ruin(request)
    table = db.describe_table(TableName="things")["Table"]
    assert table["OnDemandThroughput"] == {"MaxReadRequestUnits": 7}
    assert ("SSEDescription" in table) == db.is_in_memory  # it would not be true of a plain file
    assert table["GlobalSecondaryIndexes"][0]["Projection"]["NonKeyAttributes"] == ["x"]
    bounds: Any = {"MaxWriteRequestUnits": 9}
    ruin(db.update_table(TableName="things", OnDemandThroughput=bounds))
    ruin(bounds)
    assert db.describe_table(TableName="things")["Table"]["OnDemandThroughput"] == {
        "MaxReadRequestUnits": 7,
        "MaxWriteRequestUnits": 9,
    }
