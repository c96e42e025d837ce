"""The JSON way in: a body of the DynamoDB protocol, answered with a status and a body."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from singletable import Database
from singletable.clock import ManualClock
from support.sample_tables import create_plain, create_single, item, n, s

DYNAMODB = "com.amazonaws.dynamodb.v20120810#"
CORAL = "com.amazon.coral.service#"
VALIDATE = "com.amazon.coral.validate#"


def ask(db: Database, operation: str, **request: Any) -> tuple[int, Any]:
    answer = db.answer(operation, orjson.dumps(request))
    return answer.status, orjson.loads(answer.body)


@pytest.fixture
def plain(db: Database) -> Database:
    create_plain(db)
    return db


# --- success -------------------------------------------------------------------------------------


def test_binary_values_are_base64_text(plain: Database) -> None:
    data = base64.b64encode(b"\x00\xff\x10").decode()
    thing = {"id": s("a"), "b": {"B": data}, "bs": {"BS": [data]}, "m": {"M": {"b": {"B": data}}}}
    assert ask(plain, "PutItem", TableName="plain", Item=thing) == (200, {})
    assert ask(plain, "GetItem", TableName="plain", Key={"id": s("a")}) == (200, {"Item": thing})
    found = plain.get_item(TableName="plain", Key={"id": s("a")})["Item"]
    assert found["b"] == {"B": b"\x00\xff\x10"}
    assert found["m"] == {"M": {"b": {"B": b"\x00\xff\x10"}}}


def test_items_put_as_bytes_are_read_as_base64(plain: Database) -> None:
    plain.put_item(
        TableName="plain", Item={"id": s("a"), "b": {"B": b"\x01\x02"}, "l": {"L": [{"BS": [b"z"]}]}}
    )
    wanted = {"id": s("a"), "b": {"B": "AQI="}, "l": {"L": [{"BS": ["eg=="]}]}}
    _, scanned = ask(plain, "Scan", TableName="plain")
    assert scanned == {"Items": [wanted], "Count": 1, "ScannedCount": 1}
    _, projected = ask(plain, "GetItem", TableName="plain", Key={"id": s("a")}, ProjectionExpression="b")
    assert projected == {"Item": {"b": {"B": "AQI="}}}
    _, old = ask(plain, "DeleteItem", TableName="plain", Key={"id": s("a")}, ReturnValues="ALL_OLD")
    assert old == {"Attributes": wanted}


def test_times_are_seconds(db: Database, clock: ManualClock) -> None:
    clock.time_us = 1_700_000_000_123_456
    create_plain(db)
    status, answer = ask(db, "DescribeTable", TableName="plain")
    assert status == 200
    assert answer["Table"]["CreationDateTime"] == 1_700_000_000.123
    assert answer["Table"]["BillingModeSummary"]["LastUpdateToPayPerRequestDateTime"] == 1_700_000_000.123


def test_every_operation_answers_json(db: Database) -> None:
    keys = [{"AttributeName": "id", "KeyType": "HASH"}]
    definitions = [{"AttributeName": "id", "AttributeType": "S"}]
    thing = {"id": s("a"), "x": n(1)}
    key = {"id": s("a")}
    table = {"TableName": "plain"}
    steps: list[tuple[str, dict[str, Any], Any]] = [
        (
            "CreateTable",
            {
                **table,
                "KeySchema": keys,
                "AttributeDefinitions": definitions,
                "BillingMode": "PAY_PER_REQUEST",
            },
            None,
        ),
        ("ListTables", {}, {"TableNames": ["plain"]}),
        ("UpdateTable", {**table, "DeletionProtectionEnabled": False}, None),
        ("PutItem", {**table, "Item": thing}, {}),
        (
            "UpdateItem",
            {
                **table,
                "Key": key,
                "UpdateExpression": "ADD x :x",
                "ExpressionAttributeValues": {":x": n(1)},
                "ReturnValues": "ALL_NEW",
            },
            {"Attributes": {**thing, "x": n(2)}},
        ),
        ("GetItem", {**table, "Key": key}, {"Item": {**thing, "x": n(2)}}),
        (
            "Query",
            {
                **table,
                "KeyConditionExpression": "id = :i",
                "ExpressionAttributeValues": {":i": s("a")},
                "Limit": 1,
            },
            {"Items": [{**thing, "x": n(2)}], "Count": 1, "ScannedCount": 1},
        ),
        ("Scan", {**table, "Select": "COUNT"}, {"Count": 1, "ScannedCount": 1}),
        (
            "Scan",
            {**table, "Limit": 1, "Select": "COUNT"},
            {"Count": 1, "ScannedCount": 1, "LastEvaluatedKey": key},
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"plain": [{"PutRequest": {"Item": {"id": s("b")}}}]}},
            {"UnprocessedItems": {}},
        ),
        (
            "BatchGetItem",
            {"RequestItems": {"plain": {"Keys": [{"id": s("b")}]}}},
            {"Responses": {"plain": [{"id": s("b")}]}, "UnprocessedKeys": {}},
        ),
        (
            "TransactWriteItems",
            {"TransactItems": [{"Delete": {**table, "Key": {"id": s("b")}}}]},
            {},
        ),
        (
            "TransactGetItems",
            {"TransactItems": [{"Get": {**table, "Key": key}}, {"Get": {**table, "Key": {"id": s("b")}}}]},
            {"Responses": [{"Item": {**thing, "x": n(2)}}, {}]},
        ),
        (
            "DeleteItem",
            {**table, "Key": key, "ReturnValues": "ALL_OLD"},
            {"Attributes": {**thing, "x": n(2)}},
        ),
        ("DescribeTable", table, None),
        ("DeleteTable", table, None),
    ]
    for operation, request, wanted in steps:
        status, answer = ask(db, operation, **request)
        assert status == 200, (operation, answer)
        if wanted is not None:
            assert answer == wanted, operation


def test_unknown_members_of_a_request_are_ignored(plain: Database) -> None:
    assert ask(plain, "PutItem", TableName="plain", Item={"id": s("a")}, Surprise=1) == (200, {})


def test_null_members_count_as_absent(plain: Database) -> None:
    status, _ = ask(
        plain,
        "PutItem",
        TableName="plain",
        Item={"id": s("a")},
        ConditionExpression=None,
        ExpressionAttributeNames=None,
        ExpressionAttributeValues=None,
        ReturnValues=None,
    )
    assert status == 200


# --- errors --------------------------------------------------------------------------------------


def test_a_wrong_request_has_the_type_of_the_framework(plain: Database) -> None:
    assert ask(plain, "GetItem", TableName="plain", Key={}) == (
        400,
        {
            "__type": f"{VALIDATE}ValidationException",
            "message": "The provided key element does not match the schema",
        },
    )


def test_a_missing_table_has_the_type_of_the_service(plain: Database) -> None:
    assert ask(plain, "GetItem", TableName="nothing", Key={"id": s("a")}) == (
        400,
        {"__type": f"{DYNAMODB}ResourceNotFoundException", "message": "Requested resource not found"},
    )


def test_a_table_in_use_has_the_type_of_the_service(plain: Database) -> None:
    status, answer = ask(
        plain,
        "CreateTable",
        TableName="plain",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    assert status == 400
    assert answer == {
        "__type": f"{DYNAMODB}ResourceInUseException",
        "message": "Table already exists: plain",
    }


def test_an_exceeded_limit_has_the_type_of_the_service(plain: Database) -> None:
    create = {
        "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    status, answer = ask(
        plain,
        "UpdateTable",
        TableName="plain",
        AttributeDefinitions=[{"AttributeName": "x", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[
            {"Create": {"IndexName": "one", **create}},
            {"Create": {"IndexName": "two", **create}},
        ],
    )
    assert (status, answer["__type"]) == (400, f"{DYNAMODB}LimitExceededException")


@pytest.mark.parametrize("is_wanted", [True, False])
def test_a_failed_condition_carries_the_item_when_asked(plain: Database, is_wanted: bool) -> None:
    plain.put_item(TableName="plain", Item={"id": s("a"), "b": {"B": b"\x01\x02"}})
    wanted = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"} if is_wanted else {}
    status, answer = ask(
        plain,
        "PutItem",
        TableName="plain",
        Item={"id": s("a")},
        ConditionExpression="attribute_not_exists(id)",
        **wanted,
    )
    assert status == 400
    assert answer == {
        "__type": f"{DYNAMODB}ConditionalCheckFailedException",
        "message": "The conditional request failed",
        **({"Item": {"id": s("a"), "b": {"B": "AQI="}}} if is_wanted else {}),
    }


def test_a_cancelled_transaction_carries_its_reasons(db: Database) -> None:
    create_single(db)
    db.put_item(TableName="single", Item=item("a", "b", x={"B": b"\x01\x02"}))
    never = {
        "ConditionExpression": "attribute_not_exists(PK)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    status, answer = ask(
        db,
        "TransactWriteItems",
        TransactItems=[
            {"Put": {"TableName": "single", "Item": item("c", "d")}},
            {"Delete": {"TableName": "single", "Key": item("a", "b"), **never}},
            {"Put": {"TableName": "single", "Item": item("e", "f", GSI1PK=n(1))}},
        ],
    )
    assert status == 400
    # Alone among the service's errors, this one spells Message with a capital letter.
    assert answer == {
        "__type": f"{DYNAMODB}TransactionCanceledException",
        "Message": "Transaction cancelled, please refer cancellation reasons for specific reasons "
        "[None, ConditionalCheckFailed, ValidationError]",
        "CancellationReasons": [
            {"Code": "None"},
            {
                "Code": "ConditionalCheckFailed",
                "Message": "The conditional request failed",
                "Item": item("a", "b", x={"B": "AQI="}),
            },
            {
                "Code": "ValidationError",
                "Message": "One or more parameter values were invalid: Type mismatch for Index Key GSI1PK "
                "Expected: S Actual: N IndexName: GSI1",
            },
        ],
    }


def test_a_token_used_for_two_requests_has_the_type_of_the_service(plain: Database) -> None:
    def send(name: str) -> tuple[int, Any]:
        put = {"Put": {"TableName": "plain", "Item": {"id": s(name)}}}
        return ask(plain, "TransactWriteItems", TransactItems=[put], ClientRequestToken="one")

    assert send("a") == (200, {})
    assert send("a") == (200, {})
    status, answer = send("b")
    assert (status, answer["__type"]) == (400, f"{DYNAMODB}IdempotentParameterMismatchException")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"{]}"],
    ids=["empty", "cut", "list", "null", "text", "bytes", "mixed"],
)
def test_a_body_that_is_no_request_is_a_serialization_exception(db: Database, body: bytes) -> None:
    answer = db.answer("ListTables", body)
    assert answer.status == 400
    assert orjson.loads(answer.body)["__type"] == f"{CORAL}SerializationException"


def test_a_member_of_the_wrong_type_is_a_serialization_exception(plain: Database) -> None:
    status, answer = ask(plain, "GetItem", TableName="plain", Key=[1])
    assert status == 400
    assert answer["__type"] == f"{CORAL}SerializationException"
    assert answer["Message"].startswith("Unrecognized collection type")


def test_text_that_is_no_base64_is_a_serialization_exception(plain: Database) -> None:
    status, answer = ask(plain, "PutItem", TableName="plain", Item={"id": s("a"), "b": {"B": "***"}})
    assert (status, answer["__type"]) == (400, f"{CORAL}SerializationException")


@pytest.mark.parametrize("operation", ["Nonsense", "", "ExecuteStatement", "putItem"])
def test_an_operation_that_is_not_served_is_unknown(db: Database, operation: str) -> None:
    answer = db.answer(operation, b"{}")
    assert answer.status == 400
    assert orjson.loads(answer.body)["__type"] == f"{CORAL}UnknownOperationException"


def test_trouble_below_is_an_internal_server_error() -> None:
    db = Database.open(":memory:")
    db.close()
    status, answer = ask(db, "ListTables")
    assert status == 500
    assert answer["__type"] == f"{DYNAMODB}InternalServerError"
    assert answer["message"]


# --- both ways in ---------------------------------------------------------------------------------


def test_the_native_way_gives_the_same_errors(plain: Database) -> None:
    from singletable.errors import ApiError

    request: dict[str, Any] = {"TableName": "plain", "Key": {"id": n(1)}}
    with pytest.raises(ApiError) as caught:
        plain.get_item(**request)
    _, answer = ask(plain, "GetItem", **request)
    assert answer["__type"].partition("#")[2] == caught.value.code
    assert answer["message"] == caught.value.message
    assert caught.value.status == 400
