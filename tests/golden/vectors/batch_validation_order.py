"""Batches and transactions with several faults: which of them Amazon DynamoDB tells, and which it tells together.

Most regions still have the older validation here; what they answered in October 2026 is taken.
"""

from __future__ import annotations

from typing import Any

from golden.vectors.tables import HASH
from golden.vectors.validation_order import CAPACITY, FAILED, METRICS, joined
from golden.vectors.vector import Vector, Wire, validation

BATCHES = "Recorded in twelve regions, 9 October 2026: dynoxide, tests/batch_transaction_validation.rs"
SUITE = "github.com/paritysuite/dynamodb-conformance, tests/tier3/validation-ordering, October 2026"
NAMES = "Recorded in eu-west-2 and us-east-1, 9 October 2026: dynoxide, tests/set_order_and_empty_names.rs"

KEY: Wire = {"p": {"S": "a"}}
TOKEN = "x" * 37
LONG_TOKEN = (
    f"Value '{TOKEN}' at 'clientRequestToken' {FAILED}: Member must have length less than or equal to 36"
)
BOTH: Wire = {"ReturnConsumedCapacity": "X", "ReturnItemCollectionMetrics": "X"}
NO_ACTION = "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"
NO_GET = f"Value null at 'transactItems.1.member.get' {FAILED}: Member must not be null"
SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("'
UNUSED = "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}"
NESTED = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
EMPTY_NAME = "Empty attribute name"
MAP_VALUES = (
    "Map value must satisfy constraint: [Member must have length less than or equal to 25, "
    "Member must have length greater than or equal to 1]"
)
MAP_KEYS = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
    "Member must have length greater than or equal to 3, "
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
)
NO_KEYS = (
    f"Value at 'RequestItems.bad!name.member.Keys' {FAILED}: "
    "Member must have length greater than or equal to 1"
)


def echoed(requests: str) -> str:
    return f"Value '{requests}' at 'requestItems' {FAILED}: {MAP_KEYS}"


def deep(levels: int) -> Wire:
    value: Wire = {"S": "leaf"}
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


def put(table: str, **more: Any) -> Wire:
    return {"Put": {"TableName": table, "Item": KEY, **more}}


def check(condition: str, **more: Any) -> Wire:
    parameters = {"TableName": "Hash", "Key": {"p": {"S": "c"}}, "ConditionExpression": condition, **more}
    return {"ConditionCheck": parameters}


def misnamed(place: str) -> str:
    return (
        f"Value 'bad!name' at 'transactItems.{place}.tableName' {FAILED}: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
    )


def unreturned(place: str) -> str:
    return (
        f"Value 'X' at 'transactItems.{place}.returnValuesOnConditionCheckFailure' {FAILED}: "
        "Member must satisfy enum value set: [ALL_OLD, NONE]"
    )


def told(
    name: str, operation: str, request: Wire, message: str, *, evidence: str = BATCHES, **more: Any
) -> Vector:
    return Vector(
        name, operation=operation, request=request, error=validation(message), evidence=evidence, **more
    )


# --- batches ------------------------------------------------------------------------------------------

WRITES = [
    told(
        f"batch_of_writes_{what}",
        "BatchWriteItem",
        {"RequestItems": {table: requests}, **more},
        message,
        evidence=evidence,
        tables=[HASH],
    )
    for one in ([{"PutRequest": {"Item": KEY}}],)
    for what, table, requests, more, message, evidence in (
        ("tells_both_enums", "Hash", one, BOTH, joined(CAPACITY, METRICS), SUITE),
        (
            "tells_an_empty_list_before_both_enums",
            "Hash",
            [],
            BOTH,
            joined(f"Value '{{Hash=[]}}' at 'requestItems' {FAILED}: {MAP_VALUES}", CAPACITY, METRICS),
            BATCHES,
        ),
        (
            "tells_an_empty_list_before_a_wrong_name",
            "bad!name",
            [],
            {},
            joined(f"Value '{{bad!name=[]}}' at 'requestItems' {FAILED}: {MAP_VALUES}"),
            BATCHES,
        ),
        (
            "tells_an_enum_before_a_wrong_name",
            "bad!name",
            one,
            {"ReturnConsumedCapacity": "X"},
            joined(CAPACITY),
            SUITE,
        ),
        (
            "tells_an_enum_before_a_missing_table",
            "Absent",
            one,
            {"ReturnConsumedCapacity": "X"},
            joined(CAPACITY),
            SUITE,
        ),
        (
            "tells_an_empty_name_before_a_missing_table",
            "Absent",
            [{"PutRequest": {"Item": {**KEY, "m": {"M": {"": {"S": "x"}}}}}}],
            {},
            EMPTY_NAME,
            NAMES,
        ),
    )
]

READS = [
    told(
        f"batch_of_reads_{what}",
        "BatchGetItem",
        {"RequestItems": requests, **more},
        joined(*texts),
        evidence=evidence,
    )
    for what, requests, more, texts, evidence in (
        (
            "tells_a_wrong_name_and_an_enum",
            {"bad!name": {"Keys": [KEY]}},
            {"ReturnConsumedCapacity": "X"},
            [
                echoed('{"bad!name":{"Keys":[{"p":{"S":"a"}}]}}'),
                CAPACITY,
            ],
            SUITE,
        ),
        (
            "tells_no_keys_before_a_wrong_name",
            {"bad!name": {"Keys": []}},
            {},
            [NO_KEYS],
            BATCHES,
        ),
        (
            "shows_tables_and_members_by_name",
            {
                "bad!name": {"Keys": [KEY], "ProjectionExpression": "p", "ConsistentRead": True},
                "Table": {"Keys": [KEY]},
            },
            {},
            [
                echoed(
                    '{"Table":{"Keys":[{"p":{"S":"a"}}]},'
                    '"bad!name":{"ConsistentRead":true,"Keys":[{"p":{"S":"a"}}],"ProjectionExpression":"p"}}'
                )
            ],
            BATCHES,
        ),
        (
            "tells_an_enum_before_a_missing_table",
            {"Absent": {"Keys": [KEY]}},
            {"ReturnConsumedCapacity": "X"},
            [CAPACITY],
            SUITE,
        ),
    )
]

# --- transactions -----------------------------------------------------------------------------------

TRANSACTIONS = [
    told(
        f"transaction_{what}",
        "TransactWriteItems",
        {"TransactItems": items, **more},
        message,
        evidence=evidence,
        tables=[HASH],
    )
    for what, items, more, message, evidence in (
        (
            "tells_a_token_before_both_enums",
            [put("Hash")],
            {"ClientRequestToken": TOKEN, **BOTH},
            joined(LONG_TOKEN, CAPACITY, METRICS),
            BATCHES,
        ),
        (
            "tells_its_actions_before_a_token_and_enums",
            [put("Hash", ReturnValuesOnConditionCheckFailure="X")],
            {"ClientRequestToken": TOKEN, **BOTH},
            joined(unreturned("1.member.put"), LONG_TOKEN, CAPACITY, METRICS),
            BATCHES,
        ),
        (
            "tells_what_a_failure_returns_before_a_wrong_name",
            [put("bad!name", ReturnValuesOnConditionCheckFailure="X")],
            {},
            joined(unreturned("1.member.put")),
            BATCHES,
        ),
        (
            "tells_what_a_failure_returns_before_an_empty_action",
            [{}, put("Hash", ReturnValuesOnConditionCheckFailure="X")],
            {},
            joined(unreturned("2.member.put")),
            BATCHES,
        ),
        (
            "tells_an_enum_before_a_wrong_name",
            [put("bad!name")],
            {"ReturnConsumedCapacity": "X"},
            joined(CAPACITY),
            BATCHES,
        ),
        (
            "tells_a_token_before_a_wrong_name",
            [put("bad!name")],
            {"ClientRequestToken": TOKEN},
            joined(LONG_TOKEN),
            BATCHES,
        ),
        (
            "tells_an_enum_before_an_empty_action",
            [{}],
            {"ReturnItemCollectionMetrics": "X"},
            joined(METRICS),
            BATCHES,
        ),
        ("tells_an_empty_action_before_a_wrong_name", [{}, put("bad!name")], {}, NO_ACTION, BATCHES),
        (
            "tells_every_wrong_name",
            [put("bad!name"), {"Delete": {"TableName": "bad!name", "Key": KEY}}],
            {},
            joined(misnamed("1.member.put"), misnamed("2.member.delete")),
            BATCHES,
        ),
        (
            "tells_an_enum_before_a_missing_table",
            [put("Absent")],
            {"ReturnConsumedCapacity": "X"},
            joined(CAPACITY),
            SUITE,
        ),
        (
            "tells_an_enum_before_two_actions_on_one_item",
            [put("Hash"), {"Delete": {"TableName": "Hash", "Key": KEY}}],
            {"ReturnConsumedCapacity": "X"},
            joined(CAPACITY),
            SUITE,
        ),
        (
            "tells_a_later_condition_before_a_missing_table",
            [put("Absent"), check("attribute_not_exists(")],
            {},
            SYNTAX,
            SUITE,
        ),
        (
            "tells_a_condition_before_a_later_deep_item",
            [check("attribute_not_exists("), put("Hash", Item={**KEY, "d": deep(32)})],
            {},
            SYNTAX,
            SUITE,
        ),
        (
            "tells_a_deep_item_before_a_later_condition",
            [put("Hash", Item={**KEY, "d": deep(32)}), check("attribute_not_exists(")],
            {},
            NESTED,
            SUITE,
        ),
        (
            "tells_an_unused_value_before_a_missing_table",
            [put("Absent"), check("attribute_not_exists(p)", ExpressionAttributeValues={":v": {"S": "x"}})],
            {},
            UNUSED,
            SUITE,
        ),
        (
            "tells_an_unused_value_before_two_actions_on_one_item",
            [
                put("Hash", Item={"p": {"S": "c"}}),
                check("attribute_not_exists(p)", ExpressionAttributeValues={":v": {"S": "x"}}),
            ],
            {},
            UNUSED,
            SUITE,
        ),
        (
            "tells_a_deep_item_before_a_later_empty_name",
            [put("Absent", Item={**KEY, "d": deep(40)}), put("Absent", Item={**KEY, "": {"S": "x"}})],
            {},
            NESTED,
            SUITE,
        ),
        (
            "tells_an_empty_name_before_a_later_deep_value",
            [
                put("Absent", Item={**KEY, "": {"S": "x"}}),
                check("d = :d", ExpressionAttributeValues={":d": deep(100)}),
            ],
            {},
            EMPTY_NAME,
            SUITE,
        ),
        (
            "tells_a_deep_value_with_its_placeholder",
            [
                check("d = :d", ExpressionAttributeValues={":d": deep(40)}),
                put("Absent", Item={**KEY, "": {"S": "x"}}),
            ],
            {},
            f"ExpressionAttributeValues contains invalid value: {NESTED} for key :d",
            f"{SUITE}: eight of ten regions",
        ),
    )
]

GETS = [
    told("transaction_of_reads_without_a_get", "TransactGetItems", {"TransactItems": [{}]}, joined(NO_GET)),
    told(
        "transaction_of_reads_tells_a_missing_get_before_an_enum",
        "TransactGetItems",
        {"TransactItems": [{}], "ReturnConsumedCapacity": "X"},
        joined(NO_GET, CAPACITY),
    ),
    told(
        "transaction_of_reads_tells_an_enum_before_a_wrong_name",
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": "bad!name", "Key": KEY}}], "ReturnConsumedCapacity": "X"},
        joined(CAPACITY),
    ),
    told(
        "transaction_of_reads_tells_a_wrong_name",
        "TransactGetItems",
        {
            "TransactItems": [
                {"Get": {"TableName": "Hash", "Key": KEY}},
                {"Get": {"TableName": "bad!name", "Key": KEY}},
            ]
        },
        joined(misnamed("2.member.get")),
        tables=[HASH],
    ),
]

VECTORS = [*WRITES, *READS, *TRANSACTIONS, *GETS]
