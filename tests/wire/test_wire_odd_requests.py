"""Requests that nobody should send: each is refused as a request, and none is taken for damage to the file."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Any

import orjson
import pytest

from singletable import Database
from singletable.errors import SerializationError, ValidationError
from singletable.wire.validation.violations import ECHOED_VALUES_MAX

KEY = {"id": {"S": "ada"}}
TABLE: dict[str, Any] = {
    "TableName": "users",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@pytest.fixture
def users(db: Database) -> Database:
    db.create_table(**TABLE)
    return db


# --- JSON ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "items"),
    [
        pytest.param(
            "TransactWriteItems",
            [{"Put": {"TableName": "arn:", "Item": KEY}, "Delete": {"TableName": "arn:", "Key": KEY}}],
            id="two_actions_and_half_an_arn",
        ),
        pytest.param(
            "TransactWriteItems", [{}, {"Delete": {"TableName": "arn:", "Key": KEY}}], id="no_action"
        ),
        pytest.param("TransactWriteItems", [{"Get": {}}], id="action_of_the_other_operation"),
        pytest.param("TransactWriteItems", [{"Get": []}], id="unknown_member_of_any_type"),
    ],
)
def test_transaction_with_odd_actions_is_refused(users: Database, operation: str, items: Any) -> None:
    answer = users.answer(operation, orjson.dumps({"TransactItems": items}))
    assert answer.status == 400
    assert b"ValidationException" in answer.body


def test_unknown_member_beside_a_get_is_ignored(users: Database) -> None:
    items = [{"Put": {}, "Get": {"TableName": "users", "Key": KEY}}]
    answer = users.answer("TransactGetItems", orjson.dumps({"TransactItems": items}))
    assert answer == (200, b'{"Responses":[{}]}')


def test_echo_of_a_very_long_list_is_left_out(users: Database) -> None:
    item = {**KEY, "list": {"L": [{"N": "1"}] * (ECHOED_VALUES_MAX // 26)}}
    request = {"RequestItems": {"users": [{"PutRequest": {"Item": item}}] * 26}}
    answer = users.answer("BatchWriteItem", orjson.dumps(request))
    assert "Value '…' at 'requestItems'" in orjson.loads(answer.body)["message"]


# --- Python values ------------------------------------------------------------------------------------


class Name(str, Enum):  # noqa: UP042 - unlike StrEnum, it prints as Name.users
    users = "users"
    id = "id"
    hash = "HASH"
    string = "S"
    null = "NULL"
    by_id = "by-id"
    all = "ALL"


class Tag(StrEnum):
    team = "team"


def test_members_of_enums_are_taken_for_their_texts(db: Database) -> None:
    key = ({"AttributeName": Name.id, "KeyType": Name.hash},)
    index = {"IndexName": Name.by_id, "KeySchema": key, "Projection": {"ProjectionType": Name.all}}
    request: Any = {
        "TableName": Name.users,
        "KeySchema": key,
        "AttributeDefinitions": ({"AttributeName": Name.id, "AttributeType": Name.string},),
        "GlobalSecondaryIndexes": [index],
        "BillingMode": "PAY_PER_REQUEST",
        "Tags": [{"Key": Tag.team, "Value": Tag.team}],
    }
    db.create_table(**request)
    table = db.describe_table(TableName=Name.users)["Table"]
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/users"
    assert (table["TableArn"], type(table["TableName"])) == (arn, str)
    assert table["GlobalSecondaryIndexes"][0]["IndexArn"] == f"{arn}/index/by-id"
    assert db.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "team"}]


def test_members_of_enums_may_name_attributes_and_types(users: Database) -> None:
    item: Any = {Name.id: {Name.string: "ada"}, "none": {Name.null: True}}
    users.transact_write_items(
        TransactItems=[{"Put": {"TableName": Name.users, "Item": item}}], ClientRequestToken="token"
    )
    assert users.scan(TableName=Name.users)["Items"] == [{"id": {"S": "ada"}, "none": {"NULL": True}}]


@pytest.mark.parametrize("name", [1, b":v", None])
def test_placeholder_that_is_no_text_is_refused(users: Database, name: Any) -> None:
    with pytest.raises(SerializationError, match="cannot be converted to String"):
        users.put_item(
            TableName="users",
            Item=KEY,
            ConditionExpression="id = :v",
            ExpressionAttributeValues={name: {"S": "x"}},
        )


LONELY = "\ud83d"  # half of a surrogate pair


def test_half_of_a_surrogate_pair_is_refused_everywhere(users: Database) -> None:
    put: Any = {"Put": {"TableName": "users", "Item": {**KEY, "odd": {"S": "x", "X": LONELY}}}}
    with pytest.raises(SerializationError, match="surrogate"):
        users.update_table(TableName="users", SSESpecification={"SSEType": "KMS", "KMSMasterKeyId": LONELY})
    with pytest.raises(SerializationError, match="surrogate"):
        users.transact_write_items(TransactItems=[put], ClientRequestToken="token")
    with pytest.raises(SerializationError, match="surrogate"):
        users.transact_write_items(
            TransactItems=[{"Delete": {"TableName": "users", "Key": KEY}}], ClientRequestToken=LONELY
        )
    with pytest.raises(SerializationError, match="surrogate"):
        users.put_item(TableName="users", Item={**KEY, "odd": {"SS": [LONELY, LONELY]}})
    assert users.scan(TableName="users")["Count"] == 0


@pytest.mark.parametrize("count", [1, 101])
def test_value_that_holds_itself_is_refused(users: Database, count: int) -> None:
    endless: Any = {}
    endless["M"] = {"inside": endless}
    keys: Any = [{"id": endless}] * count
    with pytest.raises(ValidationError):
        users.batch_get_item(RequestItems={"users": {"Keys": keys}})
    with pytest.raises(ValidationError):
        users.transact_get_items(TransactItems=[{"Get": {"TableName": "users", "Key": key}} for key in keys])
