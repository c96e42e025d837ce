"""Limits, one byte below and one above: items by the way they are written, expressions, numbers, transactions."""

from __future__ import annotations

from typing import Any

from golden.vectors.tables import HASH
from golden.vectors.vector import Refusal, Vector, Wire, then, validation

CHARGES = (
    "Measured in eu-west-2 by bisection, 9 October 2026: dynoxide, tests/update_item_size_captures.rs; "
    "github.com/paritysuite/dynamodb-conformance, itemSizeBySurface.test.ts: 22 of 33 regions"
)
SURFACES = "github.com/paritysuite/dynamodb-conformance, limits/itemSizeBySurface.test.ts: eu-west-2, 2026"
SIZES = (
    "Recorded in us-east-1 and eu-west-2, 9 October 2026 (dynoxide, src/expressions/mod.rs; paritysuite, "
    "deepRequests.test.ts): no figure but for the condition of a transaction, there not in two of twelve regions"
)
EXPONENTS = (
    "github.com/paritysuite/dynamodb-conformance, tests/tier3/limits/numberExponent.test.ts: eu-west-2, 2026"
)
NAMES = "Measured on the service, 16 September 2026: github.com/ExtendDB/extenddb/issues/365"

ENVELOPE = "1 validation error detected: "
ITEM_BYTES_MAX = 409_600
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"
PUT_TOO_LARGE = "Item size has exceeded the maximum allowed size"
KEY: Wire = {"p": {"S": "a"}}  # 2 bytes
OVERFLOW = "Number overflow. Attempting to store a number with magnitude larger than supported range"
UNDERFLOW = "Number underflow. Attempting to store a number with magnitude smaller than supported range"


def text(size: int) -> Wire:
    return {"S": "x" * size}


# --- updates ------------------------------------------------------------------------------------------

# What a statement costs besides its padding: 3 for the update, 19 for a SET with its target, and its operands.
STATEMENTS: list[tuple[str, str, int, Wire, Wire]] = [
    ("of_one_attribute", "SET b = :pad", 23, {}, {}),
    ("beside_an_attribute_that_stays", "SET b = :pad", 23, {}, {"u": text(10)}),
    ("of_two_attributes", "SET b = :pad, c = :v", 23 + 20 + 10, {":v": text(10)}, {}),
    ("with_a_remove", "SET b = :pad REMOVE r", 23 + 2, {}, {"r": text(1)}),
    ("with_a_nested_remove", "SET b = :pad REMOVE m.y", 23 + 7, {}, {"m": {"M": {"y": text(1)}}}),
    ("with_a_copy", "SET b = :pad, c = big", 23 + 20 + 18, {}, {"big": text(10)}),
    (
        "with_a_sum",
        "SET b = :pad, n = n + :one",
        23 + 20 + 34 + 16 + 2,
        {":one": {"N": "1"}},
        {"n": {"N": "1"}},
    ),
    (
        "with_a_difference",
        "SET b = :pad, n = n - :one",
        23 + 20 + 37 + 16 + 2,
        {":one": {"N": "1"}},
        {"n": {"N": "1"}},
    ),
    (
        "with_a_fallback",
        "SET b = :pad, c = if_not_exists(c, :v)",
        23 + 20 + 39 + 16 + 10,
        {":v": text(10)},
        {"c": text(1)},
    ),
    (
        "with_an_element",
        "SET b = :pad, l[0] = :v",
        23 + 19 + 6 + 10,
        {":v": text(10)},
        {"l": {"L": [text(1)]}},
    ),
    ("with_an_addition", "SET b = :pad ADD n :one", 23 + 20 + 2, {":one": {"N": "1"}}, {"n": {"N": "1"}}),
]


def padded(expression: str, padding: int, values: Wire) -> Wire:
    return {
        "TableName": "Hash",
        "Key": KEY,
        "UpdateExpression": expression,
        "ExpressionAttributeValues": {":pad": text(padding), **values},
    }


def charged(what: str, expression: str, cost: int, values: Wire, stored: Wire) -> list[Vector]:
    """The largest padding that an update takes, and one byte more."""
    padding = ITEM_BYTES_MAX - cost
    state: dict[str, Any] = {"operation": "UpdateItem", "tables": [HASH], "evidence": CHARGES}
    if stored:
        state["given"] = {"Hash": [{**KEY, **stored}]}
    return [
        Vector(f"largest_update_{what}", request=padded(expression, padding, values), answer={}, **state),
        Vector(
            f"update_{what}_of_one_byte_more",
            request=padded(expression, padding + 1, values),
            error=validation(UPDATE_TOO_LARGE),
            **state,
        ),
    ]


UPDATES = [vector for statement in STATEMENTS for vector in charged(*statement)]

UPDATE_RULES = [
    Vector(
        "update_that_carries_too_much_is_told_before_its_condition",
        operation="UpdateItem",
        tables=[HASH],
        request={
            **padded("SET b = :pad", ITEM_BYTES_MAX, {}),
            "ConditionExpression": "attribute_exists(absent)",
        },
        error=validation(UPDATE_TOO_LARGE),
        evidence=CHARGES,
    ),
    Vector(
        "update_whose_fallback_is_not_used_carries_it_all_the_same",
        operation="UpdateItem",
        tables=[HASH],
        given={"Hash": [{**KEY, "c": text(1)}]},
        request={
            "TableName": "Hash",
            "Key": KEY,
            "UpdateExpression": "SET c = if_not_exists(c, :v)",
            "ExpressionAttributeValues": {":v": text(ITEM_BYTES_MAX)},
        },
        error=validation(UPDATE_TOO_LARGE),
        evidence=CHARGES,
    ),
    Vector(
        "update_by_attribute_updates_is_measured_by_the_item_alone",
        operation="UpdateItem",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "Key": KEY,
            "AttributeUpdates": {"b": {"Action": "PUT", "Value": text(ITEM_BYTES_MAX - 3)}},
        },
        answer={},
        evidence=f"{CHARGES}: the legacy parameter carries no charge of its own",
    ),
]

# --- items by the way they are written --------------------------------------------------------------


def sized(bytes_: int) -> Wire:
    return {**KEY, "b": text(bytes_ - 3)}


def transacted(bytes_: int) -> Wire:
    update = padded("SET b = :pad", bytes_ - 3, {})
    return {"TransactItems": [{"Update": update}]}


WRITES = [
    Vector(
        "batch_writes_an_item_of_400_kilobytes",
        operation="BatchWriteItem",
        tables=[HASH],
        request={"RequestItems": {"Hash": [{"PutRequest": {"Item": sized(ITEM_BYTES_MAX)}}]}},
        answer={"UnprocessedItems": {}},
        evidence=SURFACES,
    ),
    Vector(
        "batch_refuses_an_item_of_one_byte_more",
        operation="BatchWriteItem",
        tables=[HASH],
        request={"RequestItems": {"Hash": [{"PutRequest": {"Item": sized(ITEM_BYTES_MAX + 1)}}]}},
        error=validation(PUT_TOO_LARGE),
        evidence=SURFACES,
    ),
    Vector(
        "transaction_refuses_a_put_of_one_byte_more_outright",
        operation="TransactWriteItems",
        tables=[HASH],
        request={"TransactItems": [{"Put": {"TableName": "Hash", "Item": sized(ITEM_BYTES_MAX + 1)}}]},
        error=validation(PUT_TOO_LARGE),
        evidence=SURFACES,
    ),
    Vector(
        "transaction_updates_an_item_to_400_kilobytes",
        operation="TransactWriteItems",
        tables=[HASH],
        request=transacted(ITEM_BYTES_MAX),
        answer={},
        evidence=f"{SURFACES}: an update in a transaction is measured by the item alone",
    ),
    Vector(
        "transaction_is_cancelled_by_an_update_of_one_byte_more",
        operation="TransactWriteItems",
        tables=[HASH],
        request=transacted(ITEM_BYTES_MAX + 1),
        error=Refusal(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]",
            CancellationReasons=[{"Code": "ValidationError", "Message": UPDATE_TOO_LARGE}],
        ),
        evidence=SURFACES,
    ),
    Vector(
        "transaction_of_more_than_four_megabytes",
        operation="TransactWriteItems",
        tables=[HASH],
        request={
            "TransactItems": [
                {"Put": {"TableName": "Hash", "Item": {"p": {"S": f"{number:02}"}, "b": text(390_000)}}}
                for number in range(11)
            ]
        },
        # 11 * (390,000 + 3 + 1) bytes
        error=validation(
            "Transaction payload size cannot exceed 4MB. Payload Size: : "
            "Transaction payload size cannot exceed 4MB. Payload Size: 4290044"
        ),
        evidence=(
            "A client's record of the service (tests of the driver of @movogo-io/docs): 'Transaction payload size "
            "cannot exceed 4MB. Payload Size: : Transaction payload size cannot exceed 4MB. Payload Size: "
            "4306456'; DynamoDB Local says it once, and counts the same"
        ),
    ),
]

# --- expressions ------------------------------------------------------------------------------------


def chain(size: int) -> str:
    """Return a condition of so many bytes: "a = :v AND a = :v …", the last name stretched."""
    count = (size - 6) // 11
    rest = size - 6 - 11 * count
    return "a = :v" + " AND a = :v" * (count - 1) + f" AND a{'a' * rest} = :v"


V: Wire = {"ExpressionAttributeValues": {":v": {"S": "x"}}}
LONG = "Expression size has exceeded the maximum allowed size;"

EXPRESSIONS = [
    Vector(
        f"{what}_of_4097_bytes",
        operation=operation,
        tables=[HASH],
        request=request,
        error=validation(message),
        evidence=SIZES,
    )
    for what, operation, request, message in (
        (
            "condition_of_a_put",
            "PutItem",
            {"TableName": "Hash", "Item": KEY, "ConditionExpression": chain(4097), **V},
            f"{ENVELOPE}Invalid ConditionExpression: {LONG}",
        ),
        (
            "filter_of_a_scan",
            "Scan",
            {"TableName": "Hash", "FilterExpression": chain(4097), **V},
            f"Invalid FilterExpression: {LONG}",
        ),
        (
            "projection",
            "GetItem",
            {"TableName": "Hash", "Key": KEY, "ProjectionExpression": "a" * 4097},
            f"Invalid ProjectionExpression: {LONG}",
        ),
        (
            "condition_of_a_transaction",
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Delete": {"TableName": "Hash", "Key": KEY, "ConditionExpression": chain(4097), **V}}
                ]
            },
            f"Invalid ConditionExpression: {LONG} expression size: 4097",
        ),
        (
            "update_of_a_transaction",
            "TransactWriteItems",
            {
                "TransactItems": [
                    {
                        "Update": {
                            "TableName": "Hash",
                            "Key": KEY,
                            "UpdateExpression": f"SET {'a' * 4088} = :v",
                            **V,
                        }
                    }
                ]
            },
            f"Invalid UpdateExpression: {LONG}",
        ),
    )
]

# --- numbers and names ----------------------------------------------------------------------------------

NUMBERS = [
    Vector(
        f"number_{what}",
        operation="PutItem",
        tables=[HASH],
        request={"TableName": "Hash", "Item": {**KEY, "n": {"N": number}}},
        error=validation(f"{ENVELOPE}{message}"),
        evidence=EXPONENTS,
    )
    for what, number, message in (
        ("with_an_exponent_above_32_bits", "1e99999999999", OVERFLOW),
        ("with_an_exponent_below_32_bits", "1e-99999999999", UNDERFLOW),
        ("with_an_exponent_one_above_32_bits", "1e2147483648", OVERFLOW),
        (
            "with_an_exponent_above_64_bits",
            "1e9223372036854775808",
            "The parameter cannot be converted to a numeric value: 1e9223372036854775808",
        ),
        ("zero_with_an_exponent_that_is_too_large", "0e126", OVERFLOW),
        ("zero_with_a_much_larger_exponent", "0e500", OVERFLOW),
        ("zero_with_an_exponent_that_is_too_small", "0e-131", UNDERFLOW),
    )
]

ZERO = Vector(
    "number_zero_with_the_largest_exponent",
    operation="PutItem",
    tables=[HASH],
    request={"TableName": "Hash", "Item": {**KEY, "n": {"N": "0e125"}}},
    answer={},
    after=[then("GetItem", {"TableName": "Hash", "Key": KEY}, {"Item": {**KEY, "n": {"N": "0"}}})],
    evidence=EXPONENTS,
)

LONG_NAMES = [
    Vector(
        f"name_of_65536_bytes_{what}",
        operation=operation,
        tables=[HASH],
        request=request,
        error=validation(f"{ENVELOPE}Attribute name is too large, must be less than 65536 bytes"),
        evidence=NAMES,
    )
    for name in ("n" * 65_536,)
    for what, operation, request in (
        ("of_an_attribute", "PutItem", {"TableName": "Hash", "Item": {**KEY, name: {"S": "x"}}}),
        ("inside_a_map", "PutItem", {"TableName": "Hash", "Item": {**KEY, "m": {"M": {name: {"S": "x"}}}}}),
        (
            "in_the_value_of_an_update",
            "UpdateItem",
            {
                "TableName": "Hash",
                "Key": KEY,
                "UpdateExpression": "SET m = :v",
                "ExpressionAttributeValues": {":v": {"M": {name: {"S": "x"}}}},
            },
        ),
    )
]

VECTORS = [*UPDATES, *UPDATE_RULES, *WRITES, *EXPRESSIONS, *NUMBERS, ZERO, *LONG_NAMES]
