"""The older parameters as Python callers and the wire bring them. What they mean is in golden/vectors/legacy_*."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from singletable import Database
from singletable.expressions.key_conditions import KeyClause
from singletable.expressions.legacy_conditions import (
    LegacyClause,
    legacy_condition,
    legacy_key_condition,
)
from support.sample_tables import attributes, calls_of, key_schema

KEY = {"p": {"S": "a"}}
ONE = "1 validation error detected: "


@pytest.fixture
def table(db: Database) -> Database:
    db.create_table(
        TableName="table",
        KeySchema=key_schema("p"),
        AttributeDefinitions=attributes(p="S"),
        BillingMode="PAY_PER_REQUEST",
    )
    return db


def answered(database: Database, operation: str, **request: Any) -> Any:
    status, body = database.answer(operation, json.dumps({"TableName": "table", **request}).encode())
    assert status == 200, body
    return json.loads(body)


def refusal(database: Database, operation: str, **request: Any) -> str:
    status, body = database.answer(operation, json.dumps({"TableName": "table", **request}).encode())
    assert status == 400
    return str(json.loads(body)["message"])


# --- where they are read ---------------------------------------------------------------------


def test_parameters_that_are_null_count_as_absent(table: Database) -> None:
    nothing = dict.fromkeys(("Expected", "ConditionalOperator"))
    answered(
        table,
        "PutItem",
        Item={**KEY, "x": {"N": "1"}},
        ConditionExpression="attribute_not_exists(p)",
        **nothing,
    )
    assert answered(table, "GetItem", Key=KEY, ProjectionExpression="x", AttributesToGet=None) == {
        "Item": {"x": {"N": "1"}}
    }
    members = {"Exists": None, "Value": None, "ComparisonOperator": "NOT_NULL", "AttributeValueList": None}
    assert answered(table, "DeleteItem", Key=KEY, Expected={"x": members}) == {}


def test_parameters_of_other_operations_are_ignored_on_the_wire(table: Database) -> None:
    foreign = {"QueryFilter": {"x": {}}, "AttributesToGet": ["x"], "AttributeUpdates": {"x": {}}}
    assert (
        answered(table, "PutItem", Item=KEY, ConditionExpression="attribute_not_exists(p)", **foreign) == {}
    )


def test_actions_of_transactions_have_no_such_parameters(table: Database) -> None:
    put = {"TableName": "table", "Item": {**KEY, "x": {"N": "1"}}, "Expected": {"p": {"Exists": True}}}
    answered(table, "TransactWriteItems", TransactItems=[{"Put": put}])
    get = {"TableName": "table", "Key": KEY, "AttributesToGet": ["x"]}
    assert answered(table, "TransactGetItems", TransactItems=[{"Get": get}]) == {
        "Responses": [{"Item": {**KEY, "x": {"N": "1"}}}]
    }


def test_binary_values_of_python_callers_are_bytes(table: Database) -> None:
    key: Any = KEY
    table.update_item(
        TableName="table",
        Key=key,
        AttributeUpdates={
            "b": {"Action": "PUT", "Value": {"B": b"cat"}},
            "bs": {"Action": "ADD", "Value": {"BS": [b"cat", b"dog"]}},
        },
    )
    table.update_item(
        TableName="table",
        Key=key,
        AttributeUpdates={"bs": {"Action": "DELETE", "Value": {"BS": [b"dog"]}}},
        Expected={"b": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{"B": b"ca"}]}},
    )
    assert table.get_item(TableName="table", Key=key)["Item"] == {
        **KEY,
        "b": {"B": b"cat"},
        "bs": {"BS": [b"cat"]},
    }
    chosen: Any = {"b": {"ComparisonOperator": "EQ", "AttributeValueList": [{"B": b"cat"}]}}
    assert table.scan(TableName="table", ScanFilter=chosen)["Count"] == 1


def test_values_are_copied(table: Database) -> None:
    members = [{"N": "1"}]
    key: Any = KEY
    updates: Any = {"l": {"Action": "PUT", "Value": {"L": members}}}
    table.update_item(TableName="table", Key=key, AttributeUpdates=updates)
    members.append({"N": "2"})
    assert table.get_item(TableName="table", Key=key)["Item"]["l"] == {"L": [{"N": "1"}]}


def test_filter_of_thousands_of_attributes_is_evaluated(table: Database) -> None:
    answered(table, "PutItem", Item=KEY)
    chosen = {f"n{number}": {"ComparisonOperator": "NULL"} for number in range(2000)}
    assert answered(table, "Scan", ScanFilter=chosen)["Count"] == 1
    assert answered(table, "Scan", ScanFilter=chosen, ConditionalOperator="OR")["Count"] == 1


def _names(count: int) -> list[str]:
    return [*(f"a{number}" for number in range(count - 1)), "z"]


@pytest.mark.parametrize("any_of", [False, True], ids=["all", "any"])
@pytest.mark.parametrize(
    "clauses",
    [
        pytest.param(
            lambda n: [LegacyClause("z", "IN", tuple({"N": str(i)} for i in range(n)))], id="operands"
        ),
        pytest.param(lambda n: [LegacyClause(name, "NOT_NULL", ()) for name in _names(n)], id="present"),
        pytest.param(lambda n: [LegacyClause(name, "NULL", ()) for name in _names(n)], id="absent"),
        pytest.param(lambda n: [LegacyClause(name, "NE", ({"S": "x"},)) for name in _names(n)], id="unequal"),
    ],
)
def test_an_item_is_asked_no_more_the_more_a_filter_says(
    clauses: Callable[[int], list[LegacyClause]], *, any_of: bool
) -> None:
    item: Any = {"id": {"S": "k"}, "z": {"S": "x"}}
    few, many = (
        legacy_condition(clauses(count), any_of=any_of, parameter="ScanFilter") for count in (20, 20_000)
    )
    assert few.holds(item) is many.holds(item)
    assert calls_of(lambda: few.holds(item)) == calls_of(lambda: many.holds(item)) < 40


@pytest.mark.parametrize("any_of", [False, True], ids=["all", "any"])
@pytest.mark.parametrize("present", ["", "a", "b", "c", "ab", "ac", "bc", "abc"])
def test_several_clauses_hold_as_each_of_them_does(present: str, *, any_of: bool) -> None:
    clauses = [
        LegacyClause("a", "IN", ({"S": "a"}, {"S": "x"})),
        LegacyClause("b", "NULL", ()),
        LegacyClause("c", "NE", ({"S": "c"},)),
    ]
    item = {name: {"S": name} for name in present}
    single = [
        legacy_condition([clause], any_of=False, parameter="Expected").holds(item) for clause in clauses
    ]
    combined = legacy_condition(clauses, any_of=any_of, parameter="Expected")
    assert single == ["a" in present, "b" not in present, "c" not in present]
    assert combined.holds(item) is (any(single) if any_of else all(single))


def test_unprocessed_keys_keep_the_names_asked_for(table: Database) -> None:
    names = ["p", "x"]
    for number in range(60):
        answered(table, "PutItem", Item={"p": {"S": str(number)}, "x": {"S": "x" * 300_000}})
    keys: Any = [{"p": {"S": str(number)}} for number in range(60)]
    answer = table.batch_get_item(RequestItems={"table": {"Keys": keys, "AttributesToGet": names}})
    left: Any = answer["UnprocessedKeys"]["table"]
    assert left["Keys"]
    assert left["AttributesToGet"] == names
    assert left["AttributesToGet"] is not names


# --- in which order they are refused -----------------------------------------------------------

NO_TYPE = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
NO_OPERAND = (
    "One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator"
)
NO_VALUE = (
    "One or more parameter values were invalid: Value must be provided when Exists is null for Attribute: a"
)


@pytest.mark.parametrize(
    ("operation", "request_", "message"),
    [
        pytest.param(
            "PutItem",
            {"Item": {"p": {}}, "Expected": {"a": {}}},
            NO_TYPE,
            id="item-before-expected",
        ),
        pytest.param(
            "PutItem",
            {"Item": KEY, "Expected": {"a": {}}, "ReturnValues": "ALL_NEW"},
            f"{ONE}ReturnValues can only be ALL_OLD or NONE",
            id="return-values-before-expected",
        ),
        pytest.param(
            "UpdateItem",
            {"Key": {"p": {}}, "Expected": {"a": {}}, "AttributeUpdates": {"a": {}}},
            NO_TYPE,
            id="key-before-updates",
        ),
        pytest.param(
            "UpdateItem",
            {"Key": KEY, "Expected": {"a": {}, "b": {}}, "ConditionalOperator": "OR"},
            f"{ONE}{NO_VALUE}",
            id="expected-in-the-order-given",
        ),
        pytest.param(
            "DeleteItem",
            {"Key": {"p": {}}, "Expected": {"a": {}}, "ConditionalOperator": "OR"},
            NO_TYPE,
            id="key-before-operator",
        ),
        pytest.param(
            "DeleteItem",
            {"Key": KEY, "Expected": {"a": {}}, "ConditionalOperator": "OR"},
            f"{ONE}ConditionalOperator can only be used when Filter or Expected has two or more elements",
            id="operator-before-expected",
        ),
        pytest.param(
            "Scan",
            {"ScanFilter": {"a": {"ComparisonOperator": "EQ"}}, "ConditionalOperator": "OR"},
            "ConditionalOperator can only be used when Filter or Expected has two or more elements",
            id="operator-before-the-filter-of-a-scan",
        ),
        pytest.param(
            "Scan",
            {"ScanFilter": {"a": {"ComparisonOperator": "EQ"}}, "Segment": 1, "ExclusiveStartKey": {"p": {}}},
            NO_OPERAND,
            id="filter-before-start-and-segment",
        ),
        pytest.param(
            "Scan",
            {"Segment": 1, "ExclusiveStartKey": {"p": {}}, "FilterExpression": ""},
            f"The provided starting key is invalid: {NO_TYPE}",
            id="start-before-segment-and-expression",
        ),
        pytest.param(
            "Query",
            {
                "KeyConditions": {"p": {"ComparisonOperator": "EQ"}},
                "FilterExpression": "",
            },
            "Invalid FilterExpression: The expression can not be empty;",
            id="expression-before-key-conditions",
        ),
        pytest.param(
            "Query",
            {"KeyConditions": {"p": {"ComparisonOperator": "EQ"}}, "ExclusiveStartKey": {"p": {}}},
            f"The provided starting key is invalid: {NO_TYPE}",
            id="start-before-key-conditions",
        ),
    ],
)
def test_refusals_come_in_the_order_of_aws(
    calm_db: Database, operation: str, request_: dict[str, Any], message: str
) -> None:
    assert refusal(calm_db, operation, **request_) == message


# --- keys that no index could find --------------------------------------------------------------


def test_operator_that_no_index_knows_is_left_out_with_its_operands() -> None:
    condition = legacy_key_condition([LegacyClause("p", "NE", ({"N": "1"},))])
    assert condition.clauses == (KeyClause("p", None, ()),)
