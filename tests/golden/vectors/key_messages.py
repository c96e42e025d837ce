"""Keys that do not fit: of indexes in puts and in updates, of tables, and in transactions."""

from __future__ import annotations

from typing import Any

from golden.vectors.tables import BINARY_RANGE, GLOBAL, HASH, table
from golden.vectors.vector import Refusal, Vector, Wire, then, validation
from support.sample_tables import index

INDEXES = "Recorded on the service: dynoxide, tests/index_key_validation.rs"
TRANSACTIONS = (
    "github.com/paritysuite/dynamodb-conformance, error-messages/transactWriteItems.test.ts, four regions"
)
LITERALS = (
    "dynalite, db.validateUpdates: a value of the request is looked at before the item is read, and in the words "
    "of a put"
)
UNSEEN = "no answer of the service to this is known, and DynamoDB Local does otherwise"
RESULTS = (
    "API reference, TransactionCanceledException: 'The update expression attempted to update the secondary index "
    "key to unsupported type', '… beyond allowed size limits'; dynalite, actions/updateItem.js, of what an update "
    "works out"
)
VIOLATIONS = (
    'AWS guide, "Detecting and correcting index key violations": "After the backfill phase completes, all writes '
    "to items that violate the new index's key schema will be rejected\"; DynamoDB Local refuses the update too"
)

INVALID = "One or more parameter values were invalid: "
NO_MATCH = "The provided key element does not match the schema"
UNSUPPORTED = "The update expression attempted to update the secondary index key to unsupported type"
TOO_LONG = "The update expression attempted to update the secondary index key beyond allowed size limits"
EMPTY_RESULT = (
    "One or more parameter values are not valid. The update expression attempted to update a secondary index key "
    "to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string "
    "value."
)
EMPTY_BINARY_INDEX_KEY = (
    "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
    "The AttributeValue for a key attribute cannot contain an empty binary value. IndexName: by-b, IndexKey: b"
)
KEY: Wire = {"p": {"S": "a"}, "s": {"S": "b"}}
OLD: Wire = {**KEY, "n": {"N": "1"}, "w": {"S": "x" * 2049}, "e": {"S": ""}}

INDEXED = table(
    "Indexed",
    "p",
    types={"p": "S", "g": "S", "h": "N", "b": "B"},
    GlobalSecondaryIndexes=[
        index("z-by-g", "g"),
        index("a-by-g", "g"),
        index("m-by-h", "h"),
        index("by-b", "b"),
    ],
)


def empty(kind: str, name: str) -> str:
    return (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        f"empty {kind} value. Key: {name}"
    )


def update(expression: str, **more: Any) -> Wire:
    request: Wire = {"TableName": "Global", "Key": KEY, "UpdateExpression": expression}
    condition = more.pop("condition", None)
    if condition is not None:
        request["ConditionExpression"] = condition
    if more:
        request["ExpressionAttributeValues"] = {f":{name}": value for name, value in more.items()}
    return request


# --- keys of indexes ------------------------------------------------------------------------------

UPDATED = [
    Vector(
        f"update_of_an_index_key_{what}",
        operation="UpdateItem",
        tables=[GLOBAL],
        given={"Global": [OLD]},
        request=request,
        error=validation(message),
        after=[then("GetItem", {"TableName": "Global", "Key": KEY}, {"Item": OLD})],
        evidence=evidence,
    )
    for mismatch in (f"{INVALID}Type mismatch for Index Key gp Expected: S Actual: ",)
    for what, request, message, evidence in (
        (
            "to_a_number_is_told_before_the_condition",
            update("SET gp = :v", condition="attribute_exists(absent)", v={"N": "1"}),
            f"{mismatch}N IndexName: All",
            f"{LITERALS}; {UNSEEN}",
        ),
        ("by_add_of_a_number", update("ADD gp :v", v={"N": "1"}), f"{mismatch}N IndexName: All", LITERALS),
        (
            "by_delete_of_a_set",
            update("DELETE gp :v", v={"SS": ["a"]}),
            f"{mismatch}SS IndexName: All",
            f"{LITERALS}; {UNSEEN}",
        ),
        ("to_a_list", update("SET gp = :v", v={"L": []}), f"{mismatch}L IndexName: All", LITERALS),
        ("to_a_sum", update("SET gp = n + :v", v={"N": "1"}), f"{mismatch}N IndexName: All", LITERALS),
        (
            "to_a_fallback_of_another_type",
            update("SET gp = if_not_exists(absent, :v)", v={"N": "1"}),
            f"{mismatch}N IndexName: All",
            LITERALS,
        ),
        ("to_a_stored_value_that_is_too_long", update("SET gp = w"), TOO_LONG, RESULTS),
        ("to_a_value_that_is_too_long", update("SET gp = :v", v={"S": "x" * 2049}), TOO_LONG, RESULTS),
        ("to_a_sort_key_that_is_too_long", update("SET gs = :v", v={"S": "x" * 1025}), TOO_LONG, RESULTS),
        (
            "to_a_stored_empty_string",
            update("SET gp = e"),
            EMPTY_RESULT,
            INDEXES,
        ),
    )
]

CONDITION_FIRST = Vector(
    "update_of_an_index_key_to_a_stored_value_is_told_after_the_condition",
    operation="UpdateItem",
    tables=[GLOBAL],
    given={"Global": [OLD]},
    request=update("SET gp = n", condition="attribute_exists(absent)"),
    error=Refusal("ConditionalCheckFailedException", "The conditional request failed"),
    evidence=f"{RESULTS}; DynamoDB Local answers so",
)

PUTS = [
    Vector(
        f"put_of_{what}",
        operation="PutItem",
        tables=[INDEXED],
        request={"TableName": "Indexed", "Item": {"p": {"S": "a"}, **more}},
        error=validation(message),
        evidence=INDEXES,
    )
    for what, more, message in (
        (
            "an_index_key_names_the_first_index_by_name",
            {"g": {"N": "5"}},
            f"{INVALID}Type mismatch for Index Key g Expected: S Actual: N IndexName: a-by-g",
        ),
        (
            "two_index_keys_names_the_first_index_by_name",
            {"g": {"L": []}, "h": {"S": "x"}},
            f"{INVALID}Type mismatch for Index Key g Expected: S Actual: L IndexName: a-by-g",
        ),
        (
            "a_set_as_an_index_key",
            {"h": {"NS": ["1"]}},
            f"{INVALID}Type mismatch for Index Key h Expected: N Actual: NS IndexName: m-by-h",
        ),
        (
            "an_empty_binary_index_key",
            {"b": {"B": ""}},
            EMPTY_BINARY_INDEX_KEY,
        ),
        ("an_empty_key_is_told_before_an_index_key", {"p": {"S": ""}, "g": {"N": "5"}}, empty("string", "p")),
    )
]

LEFT_OUT = Vector(
    "item_that_does_not_fit_a_new_index_cannot_be_updated_elsewhere",
    operation="UpdateItem",
    before=[
        ("CreateTable", table("Violated", "p", types={"p": "S"})),
        ("PutItem", {"TableName": "Violated", "Item": {"p": {"S": "a"}, "g": {"NULL": True}}}),
        (
            "UpdateTable",
            {
                "TableName": "Violated",
                "AttributeDefinitions": [{"AttributeName": "g", "AttributeType": "S"}],
                "GlobalSecondaryIndexUpdates": [{"Create": index("by-g", "g")}],
            },
        ),
    ],
    makes=["Violated"],
    request={
        "TableName": "Violated",
        "Key": {"p": {"S": "a"}},
        "UpdateExpression": "SET x = :v",
        "ExpressionAttributeValues": {":v": {"S": "x"}},
    },
    error=validation(UNSUPPORTED),
    after=[
        then(
            "UpdateItem",
            {"TableName": "Violated", "Key": {"p": {"S": "a"}}, "UpdateExpression": "REMOVE g"},
            {},
        ),
    ],
    evidence=VIOLATIONS,
)

# --- keys of tables, in transactions ------------------------------------------------------------------


def keyed(action: str, key: Wire) -> Wire:
    parameters: Wire = {"TableName": "Hash", "Key": key}
    if action == "Update":
        parameters |= {"UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {":v": {"S": "x"}}}
    if action == "ConditionCheck":
        parameters |= {"ConditionExpression": "attribute_not_exists(p)"}
    return {"TransactItems": [{action: parameters}]}


EMPTY_KEYS = [
    Vector(
        f"transaction_with_an_empty_key_in_a_{action.lower()}_is_refused_outright",
        operation="TransactWriteItems",
        tables=[HASH],
        request=keyed(action, {"p": {"S": ""}}),
        error=validation(empty("string", "p")),
        evidence=TRANSACTIONS,
    )
    for action in ("Update", "Delete", "ConditionCheck")
]

WRONG_KEYS = [
    Vector(
        f"transaction_with_a_{what}_key_in_a_{action.lower()}_is_cancelled",
        operation="TransactWriteItems",
        tables=[HASH],
        request=keyed(action, {"p": value}),
        error=Refusal(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]",
            CancellationReasons=[{"Code": "ValidationError", "Message": NO_MATCH}],
        ),
        evidence=TRANSACTIONS,
    )
    for action in ("Update", "Delete", "ConditionCheck")
    for what, value in (("number", {"N": "5"}), ("list", {"L": [{"S": "x"}]}))
]

EMPTY_BINARY = Vector(
    "update_of_an_empty_binary_key",
    operation="UpdateItem",
    tables=[BINARY_RANGE],
    request={
        "TableName": "BinaryRange",
        "Key": {"p": {"S": "a"}, "b": {"B": ""}},
        "UpdateExpression": "SET a = :v",
        "ExpressionAttributeValues": {":v": {"S": "x"}},
    },
    error=validation(empty("binary", "b")),
    evidence="github.com/paritysuite/dynamodb-conformance, error-messages/updateItem.test.ts",
)

VECTORS = [
    *UPDATED,
    CONDITION_FIRST,
    *PUTS,
    LEFT_OUT,
    *EMPTY_KEYS,
    *WRONG_KEYS,
    EMPTY_BINARY,
]
