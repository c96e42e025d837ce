"""DeleteItem: what goes, what comes back, and what is refused."""

from __future__ import annotations

from golden.vectors.tables import HASH, HASH_RANGE, LOCAL
from golden.vectors.vector import Refusal, Vector, Wire, then, validation

CONFORMANCE = "Answer of the service, recorded by paritysuite/dynamodb-conformance"
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/deleteItem.js)"
REFERENCE = "AWS API reference, DeleteItem"

KEY: Wire = {"p": {"S": "a"}}
ITEM: Wire = {**KEY, "x": {"N": "1"}, "b": {"B": "AQ=="}}
ENVELOPE = "1 validation error detected: "
FAILED = "The conditional request failed"
NO_MATCH = "The provided key element does not match the schema"

GONE = then("GetItem", {"TableName": "Hash", "Key": KEY}, {})
THERE = then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": ITEM})


def deleted(name: str, answer: Wire, *, evidence: str, **parameters: object) -> Vector:
    return Vector(
        name,
        operation="DeleteItem",
        tables=[HASH],
        given={"Hash": [ITEM]},
        request={"TableName": "Hash", "Key": KEY, **parameters},
        answer=answer,
        after=[GONE],
        evidence=evidence,
    )


def refused(name: str, error: Refusal, *, evidence: str, table: Wire = HASH, **parameters: object) -> Vector:
    """A request that is refused; the item stays."""
    return Vector(
        name,
        operation="DeleteItem",
        tables=[table],
        given={"Hash": [ITEM]} if table is HASH else {},
        request={"TableName": table["TableName"], "Key": KEY, **parameters},
        error=error,
        after=[THERE] if table is HASH else [],
        evidence=evidence,
    )


VECTORS = [
    deleted("delete_answers_nothing", {}, evidence=REFERENCE),
    deleted(
        "delete_returns_the_old_item",
        {"Attributes": ITEM},
        ReturnValues="ALL_OLD",
        evidence=f"{REFERENCE}, ReturnValues: the content of the old item is returned",
    ),
    deleted("delete_returns_nothing_when_told_so", {}, ReturnValues="NONE", evidence=REFERENCE),
    deleted(
        "delete_with_true_condition",
        {},
        ConditionExpression="#x < :two AND size(b) = :one",
        ExpressionAttributeNames={"#x": "x"},
        ExpressionAttributeValues={":two": {"N": "2"}, ":one": {"N": "1"}},
        evidence=f"{REFERENCE}, ConditionExpression",
    ),
    deleted(
        "delete_with_the_oldest_condition",
        {},
        Expected={"x": {"Value": {"N": "1.0"}}, "y": {"Exists": False}},
        ConditionalOperator="AND",
        evidence="AWS developer guide, Legacy conditional parameters: Expected",
    ),
    deleted(
        "delete_counts_the_deleted_item",
        {"ConsumedCapacity": {"TableName": "Hash", "CapacityUnits": 1.0, "Table": {"CapacityUnits": 1.0}}},
        ReturnConsumedCapacity="INDEXES",
        evidence="AWS developer guide, Write operations: DeleteItem consumes by the size of the deleted item",
    ),
    Vector(
        "delete_of_a_missing_item_succeeds",
        operation="DeleteItem",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "Key": KEY,
            "ReturnValues": "ALL_OLD",
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={"ConsumedCapacity": {"TableName": "Hash", "CapacityUnits": 1.0}},
        evidence=f"{REFERENCE}: idempotent; running it multiple times does not result in an error response",
    ),
    Vector(
        "delete_from_a_table_with_a_local_index_has_metrics",
        operation="DeleteItem",
        tables=[LOCAL],
        given={"Local": [{**KEY, "s": {"S": "b"}, "l": {"S": "c"}}]},
        request={
            "TableName": "Local",
            "Key": {**KEY, "s": {"S": "b"}},
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={"ItemCollectionMetrics": {"ItemCollectionKey": KEY, "SizeEstimateRangeGB": [0.0, 1.0]}},
        evidence=f"{REFERENCE}, ReturnItemCollectionMetrics; {CONFORMANCE}",
    ),
    refused(
        "delete_with_false_condition",
        Refusal("ConditionalCheckFailedException", FAILED),
        ConditionExpression="x = :two",
        ExpressionAttributeValues={":two": {"N": "2"}},
        evidence=CONFORMANCE,
    ),
    refused(
        "delete_with_false_condition_returns_the_item_when_asked",
        Refusal("ConditionalCheckFailedException", FAILED, Item=ITEM),
        ConditionExpression="attribute_not_exists(p)",
        ReturnValuesOnConditionCheckFailure="ALL_OLD",
        evidence=f"{REFERENCE}, ReturnValuesOnConditionCheckFailure",
    ),
    refused(
        "delete_that_asks_for_new_values",
        validation(f"{ENVELOPE}ReturnValues can only be ALL_OLD or NONE"),
        ReturnValues="UPDATED_NEW",
        evidence=CONFORMANCE,
    ),
    refused(
        "delete_that_asks_for_new_values_and_has_two_languages",
        validation(f"{ENVELOPE}ReturnValues can only be ALL_OLD or NONE"),
        ReturnValues="ALL_NEW",
        ConditionExpression="attribute_exists(a)",
        Expected={"a": {"Exists": True}},
        evidence="Answer of the service in eu-west-2 and us-east-1, October 2026, recorded in dynoxide 3.2 "
        "(tests/request_member_error_order.rs)",
    ),
    refused(
        "delete_with_a_value_of_no_expression",
        validation(f"{ENVELOPE}ExpressionAttributeValues can only be specified when using expressions"),
        ExpressionAttributeValues={":v": {"S": "a"}},
        evidence=CONFORMANCE,
    ),
    refused(
        "delete_with_an_unused_value",
        validation(
            f"{ENVELOPE}Value provided in ExpressionAttributeValues unused in expressions: keys: {{:v}}"
        ),
        ConditionExpression="attribute_exists(p)",
        ExpressionAttributeValues={":v": {"S": "a"}},
        evidence=CONFORMANCE,
    ),
    refused(
        "delete_with_an_undefined_value",
        validation(
            f"{ENVELOPE}Invalid ConditionExpression: An expression attribute value used in expression is not "
            "defined; attribute value: :v"
        ),
        ConditionExpression="x = :v",
        evidence=CONFORMANCE,
    ),
    refused(
        "delete_with_an_empty_condition",
        validation(f"{ENVELOPE}Invalid ConditionExpression: The expression can not be empty;"),
        ConditionExpression="",
        evidence=DYNALITE,
    ),
    refused(
        "delete_with_a_condition_that_does_not_parse",
        validation(f'{ENVELOPE}Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "="'),
        ConditionExpression="x =",
        evidence=DYNALITE,
    ),
    refused(
        "delete_with_both_old_and_new_conditions",
        validation(
            f"{ENVELOPE}Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}"
        ),
        Expected={"p": {"Exists": False}},
        ConditionExpression="attribute_not_exists(p)",
        evidence=CONFORMANCE,
    ),
    refused(
        "delete_with_a_key_of_another_type", validation(NO_MATCH), Key={"p": {"N": "1"}}, evidence=DYNALITE
    ),
    refused("delete_with_an_attribute_too_many", validation(NO_MATCH), Key=ITEM, evidence=DYNALITE),
    refused("delete_without_the_sort_key", validation(NO_MATCH), table=HASH_RANGE, evidence=CONFORMANCE),
    refused(
        "delete_with_an_empty_key_value",
        validation(
            "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
            "empty string value. Key: p"
        ),
        Key={"p": {"S": ""}},
        evidence=CONFORMANCE,
    ),
    refused(
        "delete_without_a_key",
        validation(f"{ENVELOPE}Value null at 'key' failed to satisfy constraint: Member must not be null"),
        Key=None,
        evidence=DYNALITE,
    ),
    Vector(
        "delete_from_a_missing_table",
        operation="DeleteItem",
        request={"TableName": "Missing", "Key": KEY},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence=CONFORMANCE,
    ),
]
