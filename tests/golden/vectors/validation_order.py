"""Requests with several faults: which of them Amazon DynamoDB tells, and which it tells together.

In 2026 the service moves its operations, region by region, to a newer validation, which goes in steps and ends
with the first that finds something. What most regions answered in October 2026 is taken.
"""

from __future__ import annotations

from typing import Any

from golden.vectors.tables import HASH
from golden.vectors.vector import Refusal, Vector, validation

MEMBERS = "Recorded in seven regions, 9 October 2026: dynoxide, tests/request_member_validation.rs"
ORDER = "Recorded in eu-west-2 and us-east-1, October 2026: dynoxide, tests/request_member_error_order.rs"
SUITE = "github.com/paritysuite/dynamodb-conformance, tests/tier3/validation-ordering, October 2026"

FAILED = "failed to satisfy constraint"
KEY = {"p": {"S": "a"}}
HERE: dict[str, Any] = {"TableName": "Hash", "Key": KEY}
ABSENT: dict[str, Any] = {"TableName": "Absent", "Key": KEY}
PUT: dict[str, Any] = {"TableName": "Absent", "Item": KEY}
SET: dict[str, Any] = {"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"S": "x"}}}
TWO_EXPECTED: dict[str, Any] = {"Expected": {"a": {"Exists": False}, "b": {"Exists": False}}}

NO_TABLE = f"Value null at 'tableName' {FAILED}: Member must not be null"
NO_KEY = f"Value null at 'key' {FAILED}: Member must not be null"
EMPTY_NAME = f"Value at 'TableName' {FAILED}: Member must have length greater than or equal to 1"
EMPTY_NAME_OLDER = f"Value '' at 'tableName' {FAILED}: Member must have length greater than or equal to 1"
SHORT_NAME = f"Value 'ab' at 'tableName' {FAILED}: Member must have length greater than or equal to 3"
CAPACITY = (
    f"Value 'X' at 'returnConsumedCapacity' {FAILED}: Member must satisfy enum value set: "
    "[INDEXES, TOTAL, NONE]"
)
METRICS = (
    f"Value 'X' at 'returnItemCollectionMetrics' {FAILED}: Member must satisfy enum value set: [SIZE, NONE]"
)
ON_FAILURE = (
    f"Value 'X' at 'returnValuesOnConditionCheckFailure' {FAILED}: Member must satisfy enum value set: "
    "[ALL_OLD, NONE]"
)
RETURNS = (
    "Failed to satisfy constraint: Member must satisfy enum value set: "
    "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
)
RETURNS_OLDER = (
    f"Value 'X' at 'returnValues' {FAILED}: Member must satisfy enum value set: "
    "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
)
ONLY_OLD = "ReturnValues can only be ALL_OLD or NONE"
NO_FILTER = "ConditionalOperator cannot be used without Filter or Expected"
ONE_FILTER = "ConditionalOperator can only be used when Filter or Expected has two or more elements"
ALL_OR = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"


def joined(*texts: str) -> str:
    return f"{len(texts)} validation error{'' if len(texts) == 1 else 's'} detected: {'; '.join(texts)}"


def mixing(legacy: str, expression: str) -> str:
    return (
        "Can not use both expression and non-expression parameters in the same request: "
        f"Non-expression parameters: {{{legacy}}} Expression parameters: {{{expression}}}"
    )


def told(
    name: str, operation: str, request: dict[str, Any], message: str, *, evidence: str = MEMBERS, **more: Any
) -> Vector:
    return Vector(
        name, operation=operation, request=request, error=validation(message), evidence=evidence, **more
    )


# --- writes of one item -----------------------------------------------------------------------

JOINED = [
    told(
        f"{operation[:3].lower()}_{what}",
        operation,
        {**base, **extra},
        joined(*texts),
    )
    for operation, base in (("PutItem", PUT), ("DeleteItem", ABSENT))
    for what, extra, texts in (
        ("tells_an_empty_name_alone", {"TableName": "", "ReturnConsumedCapacity": "X"}, [EMPTY_NAME]),
        (
            "tells_a_short_name_and_an_enum",
            {"TableName": "ab", "ReturnConsumedCapacity": "X"},
            [SHORT_NAME, CAPACITY],
        ),
        (
            "tells_a_short_name_and_return_values",
            {"TableName": "ab", "ReturnValues": "X"},
            [SHORT_NAME, RETURNS],
        ),
        (
            "tells_one_thing_of_a_name",
            {"TableName": "a!"},
            [f"Value 'a!' at 'tableName' {FAILED}: Member must have length greater than or equal to 3"],
        ),
        (
            "tells_metrics_before_what_a_failure_returns",
            {"ReturnValuesOnConditionCheckFailure": "X", "ReturnItemCollectionMetrics": "X"},
            [METRICS, ON_FAILURE],
        ),
        (
            "tells_return_values_before_what_a_failure_returns",
            {"ReturnValuesOnConditionCheckFailure": "X", "ReturnValues": "X"},
            [RETURNS, ON_FAILURE],
        ),
        (
            "tells_three_enums_and_no_operator",
            {
                "ConditionalOperator": "XOR",
                "ReturnValues": "X",
                "ReturnConsumedCapacity": "X",
                "ReturnItemCollectionMetrics": "X",
            },
            [CAPACITY, RETURNS, METRICS],
        ),
        ("tells_that_an_operator_has_nothing_to_join", {"ConditionalOperator": "XOR"}, [NO_FILTER]),
        (
            "tells_that_an_operator_has_one_thing_to_join",
            {"Expected": {"a": {"Exists": False}}, "ConditionalOperator": "XOR"},
            [ONE_FILTER],
        ),
        ("tells_an_operator_last", {**TWO_EXPECTED, "ConditionalOperator": "XOR"}, [ALL_OR]),
        (
            "tells_two_languages_before_an_operator",
            {"ConditionExpression": "attribute_exists(p)", "ConditionalOperator": "XOR"},
            [mixing("ConditionalOperator", "ConditionExpression")],
        ),
    )
]

DELETES = [
    told(
        f"delete_that_returns_{returns.lower()}_{what}",
        "DeleteItem",
        {**HERE, "ReturnValues": returns, **extra},
        joined(*texts),
        evidence=ORDER,
        tables=[HASH],
    )
    for returns, what, extra, texts in (
        ("ALL_NEW", "tells_it_after_a_short_name", {"TableName": "ab"}, [SHORT_NAME, ONLY_OLD]),
        ("UPDATED_NEW", "tells_it_after_an_enum", {"ReturnConsumedCapacity": "X"}, [CAPACITY, ONLY_OLD]),
        ("UPDATED_OLD", "tells_it_before_a_condition", {"ConditionExpression": "a = = b"}, [ONLY_OLD]),
        (
            "ALL_NEW",
            "tells_it_before_placeholders",
            {"ExpressionAttributeValues": {":v": {"S": "x"}}},
            [ONLY_OLD],
        ),
        (
            "UPDATED_NEW",
            "tells_it_before_two_languages",
            {"ConditionExpression": "attribute_exists(a)", "Expected": {"a": {"Exists": True}}},
            [ONLY_OLD],
        ),
        ("ALL_NEW", "tells_it_before_a_missing_table", {"TableName": "Absent"}, [ONLY_OLD]),
        ("ALL_NEW", "tells_a_missing_key_alone", {"Key": None}, [NO_KEY]),
    )
]

UPDATES = [
    told("update_without_a_table_and_a_key", "UpdateItem", {**SET}, joined(NO_TABLE, NO_KEY), evidence=ORDER),
    told(
        "update_without_a_table_tells_return_values_after_it",
        "UpdateItem",
        {"ReturnValues": "X"},
        joined(NO_TABLE, RETURNS_OLDER, NO_KEY),
        evidence=ORDER,
    ),
    told(
        "update_without_a_table_tells_capacity_before_it",
        "UpdateItem",
        {"ReturnConsumedCapacity": "X"},
        joined(CAPACITY, NO_TABLE, NO_KEY),
        evidence=ORDER,
    ),
    told(
        "update_without_a_key_tells_what_a_failure_returns_first",
        "UpdateItem",
        {
            "TableName": "Absent",
            **SET,
            "ReturnValuesOnConditionCheckFailure": "X",
            "ReturnItemCollectionMetrics": "X",
        },
        joined(ON_FAILURE, METRICS, NO_KEY),
    ),
    told(
        "update_without_a_key_leaves_a_short_name_alone",
        "UpdateItem",
        {"TableName": "ab", **SET},
        joined(NO_KEY),
    ),
    told(
        "update_without_a_key_tells_all_in_the_order_of_members",
        "UpdateItem",
        {"TableName": "", **SET, "ReturnConsumedCapacity": "X", "ReturnValues": "X"},
        joined(CAPACITY, EMPTY_NAME_OLDER, RETURNS_OLDER, NO_KEY),
        evidence=SUITE,
    ),
    told(
        "update_without_a_key_tells_an_operator",
        "UpdateItem",
        {
            "TableName": "Absent",
            "AttributeUpdates": {"x": {"Action": "PUT", "Value": {"S": "1"}}},
            **TWO_EXPECTED,
            "ConditionalOperator": "XOR",
        },
        joined(
            f"Value 'XOR' at 'conditionalOperator' {FAILED}: Member must satisfy enum value set: [OR, AND]",
            NO_KEY,
        ),
        evidence=SUITE,
    ),
    told(
        "update_tells_both_things_of_a_name_pattern_first",
        "UpdateItem",
        {**ABSENT, **SET, "TableName": "a!", "ReturnConsumedCapacity": "X"},
        joined(
            f"Value 'a!' at 'tableName' {FAILED}: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
            f"Value 'a!' at 'tableName' {FAILED}: Member must have length greater than or equal to 3",
        ),
    ),
    told(
        "update_tells_capacity_without_a_count",
        "UpdateItem",
        {**ABSENT, **SET, "ReturnConsumedCapacity": "X"},
        CAPACITY,
    ),
    told(
        "update_tells_metrics_before_capacity",
        "UpdateItem",
        {**ABSENT, **SET, "ReturnConsumedCapacity": "X", "ReturnItemCollectionMetrics": "X"},
        joined(METRICS),
    ),
    told(
        "update_tells_what_a_failure_returns_before_metrics",
        "UpdateItem",
        {**ABSENT, **SET, "ReturnValuesOnConditionCheckFailure": "X", "ReturnItemCollectionMetrics": "X"},
        ON_FAILURE,
    ),
    told(
        "update_tells_return_values_before_what_a_failure_returns",
        "UpdateItem",
        {**ABSENT, **SET, "ReturnValuesOnConditionCheckFailure": "X", "ReturnValues": "X"},
        joined(RETURNS),
    ),
    told(
        "update_tells_two_languages_before_an_operator",
        "UpdateItem",
        {**ABSENT, **SET, "ConditionalOperator": "XOR"},
        joined(mixing("ConditionalOperator", "UpdateExpression")),
    ),
    told(
        "update_tells_an_empty_condition_before_an_empty_update",
        "UpdateItem",
        {**HERE, "UpdateExpression": "", "ConditionExpression": ""},
        joined("Invalid ConditionExpression: The expression can not be empty;"),
        evidence=ORDER,
        tables=[HASH],
    ),
    told(
        "update_tells_an_empty_update_before_a_missing_table",
        "UpdateItem",
        {**ABSENT, "UpdateExpression": ""},
        joined("Invalid UpdateExpression: The expression can not be empty;"),
        evidence=ORDER,
    ),
]

READS = [
    told(
        "get_tells_a_short_name_and_an_enum",
        "GetItem",
        {**ABSENT, "TableName": "ab", "ReturnConsumedCapacity": "X"},
        joined(SHORT_NAME, CAPACITY),
    ),
    told(
        "get_tells_an_empty_name_alone",
        "GetItem",
        {**ABSENT, "TableName": "", "ReturnConsumedCapacity": "X"},
        joined(EMPTY_NAME),
    ),
]

READING = "Recorded in eu-west-2 and us-east-1, 10 October 2026: dynoxide, tests/value_layers.rs"

# A value that cannot be read ends a request before anything else in it is looked at.
UNREADABLE = [
    Vector(
        f"value_that_cannot_be_read_is_told_before_{what}",
        operation=operation,
        tables=[HASH],
        request=request,
        error=Refusal("SerializationException", "Unexpected token received from parser"),
        wire_only=True,
        evidence=READING,
    )
    for maybe in ({"BOOL": "maybe"},)
    for what, operation, request in (
        ("a_number_in_it", "PutItem", {"TableName": "Hash", "Item": {**KEY, "v": {"N": "abc", **maybe}}}),
        (
            "a_number_before_it",
            "PutItem",
            {"TableName": "Hash", "Item": {**KEY, "n": {"N": "abc"}, "v": maybe}},
        ),
        ("an_enum", "PutItem", {"TableName": "Hash", "Item": {**KEY, "v": maybe}, "ReturnValues": "X"}),
        (
            "the_expression_that_uses_it",
            "UpdateItem",
            {**HERE, "UpdateExpression": "SET a =", "ExpressionAttributeValues": {":v": maybe}},
        ),
        (
            "the_name_of_its_placeholder",
            "UpdateItem",
            {**HERE, "UpdateExpression": "SET a = :v", "ExpressionAttributeValues": {"v": maybe}},
        ),
    )
]

VECTORS = [*JOINED, *DELETES, *UPDATES, *READS, *UNREADABLE]
