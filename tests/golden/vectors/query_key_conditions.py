"""Query: key conditions on one partition attribute and one sort attribute."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including
from golden.vectors.tables import BINARY_RANGE, GLOBAL, HASH, HASH_RANGE, NUMBER_RANGE
from golden.vectors.vector import Refusal, Vector, Wire, validation

REFERENCE = "AWS API reference, Query, KeyConditionExpression"
GUIDE = 'AWS developer guide, "Key condition expressions for the Query operation in DynamoDB"'
OPERANDS = (
    "Answer of the service, recorded by paritysuite/dynamodb-conformance "
    "(tests/tier3/error-messages/queryKeyConditionOperands.test.ts)"
)
ORDER = (
    "Answer of the service, recorded by paritysuite/dynamodb-conformance "
    "(tests/tier3/validation-ordering/queryKeyCondition.test.ts)"
)
MESSAGES = "Answer of the service, nubo-db/dynamodb-conformance (tests/tier3/error-messages/query.test.ts)"
SEMANTICS = (
    "Answer of the service, nubo-db/dynamodb-conformance (tests/tier1/query/keyConditionSemantics.test.ts)"
)
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/query.js)"
DYNOXIDE = (
    "Answer of the service, recorded in dynoxide 1.3 (tests/query_start_key_and_key_conditions.rs, four regions, "
    "October 2026)"
)

SCHEMA = "One or more parameter values were invalid: Condition parameter type does not match schema type"
WORDS = ["APP", "Apple", "a", "ap", "apple", "apricot", "b", "c", "d"]  # in the order of their bytes
NUMBERS = ["-100", "-2", "-1.5", "0", "0.5", "2", "10", "100"]
BINARIES = ["AA==", "AAE=", "AQ==", "AgE=", "gA==", "/w=="]  # 00, 00 01, 01, 02 01, 80, FF
ITEMS: dict[str, list[Wire]] = {
    "HashRange": [{"p": {"S": "a"}, "s": {"S": word}} for word in reversed(WORDS)],
    "NumberRange": [{"p": {"S": "a"}, "n": {"N": number}} for number in reversed(NUMBERS)],
    "BinaryRange": [{"p": {"S": "a"}, "b": {"B": data}} for data in reversed(BINARIES)],
}
TABLES = {"s": HASH_RANGE, "n": NUMBER_RANGE, "b": BINARY_RANGE}


def values(condition: str, **given: Wire) -> Wire:
    """Return the placeholders of a condition; `:p` is the partition unless given."""
    return {
        f":{name}": value for name, value in {"p": {"S": "a"}, **given}.items() if f":{name}" in condition
    }


def found(
    name: str, sort: str, condition: str, keys: list[str], *, evidence: str = REFERENCE, **given: Any
) -> Vector:
    table = TABLES[sort]
    kind = {"s": "S", "n": "N", "b": "B"}[sort]
    parameters = given.pop("parameters", {})
    return Vector(
        name,
        operation="Query",
        tables=[table],
        given={table["TableName"]: ITEMS[table["TableName"]]},
        request={
            "TableName": table["TableName"],
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values(condition, **given),
            **parameters,
        },
        answer=including(
            {"Items": [{"p": {"S": "a"}, sort: {kind: key}} for key in keys], "Count": len(keys)}
        ),
        evidence=evidence,
    )


def refused(
    name: str,
    condition: str,
    message: str,
    evidence: str,
    *,
    table: Wire = HASH_RANGE,
    parameters: Wire | None = None,
    **given: Wire,
) -> Vector:
    return Vector(
        name,
        operation="Query",
        tables=[table],
        request={
            "TableName": table["TableName"],
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values(condition, **given),
            **(parameters or {}),
        },
        error=validation(message),
        evidence=evidence,
    )


FOUND = [
    found("whole_partition_in_order", "s", "p = :p", WORDS),
    found("whole_partition_backwards", "s", "p = :p", WORDS[::-1], parameters={"ScanIndexForward": False}),
    found("sort_key_equal", "s", "p = :p AND s = :v", ["b"], v={"S": "b"}),
    found("sort_key_below", "s", "p = :p AND s < :v", WORDS[:6], v={"S": "b"}),
    found("sort_key_up_to", "s", "p = :p AND s <= :v", WORDS[:7], v={"S": "b"}),
    found("sort_key_above", "s", "p = :p AND s > :v", WORDS[7:], v={"S": "b"}),
    found("sort_key_from", "s", "p = :p AND s >= :v", WORDS[6:], v={"S": "b"}),
    found("sort_key_between", "s", "p = :p AND s BETWEEN :v AND :w", WORDS[3:7], v={"S": "ap"}, w={"S": "b"}),
    found(
        "sort_key_between_a_value_and_itself", "s", "p = :p AND s BETWEEN :v AND :v", ["ap"], v={"S": "ap"}
    ),
    found(
        "sort_key_that_begins_with_a_text",
        "s",
        "p = :p AND begins_with(s, :v)",
        ["ap", "apple", "apricot"],
        v={"S": "ap"},
        evidence=f"{GUIDE}: begins_with; case counts",
    ),
    found(
        "value_before_the_attribute",
        "s",
        ":v <= s AND p = :p",
        WORDS[6:],
        v={"S": "b"},
        evidence=SEMANTICS,
    ),
    found("sort_key_first", "s", "s = :v AND p = :p", ["b"], v={"S": "b"}),
    found("conditions_in_parentheses", "s", "(p = :p) AND (s > :v)", WORDS[7:], v={"S": "b"}),
    found("numbers_in_the_order_of_their_values", "n", "p = :p", NUMBERS),
    found("number_above_another", "n", "p = :p AND n > :v", ["0", "0.5", "2", "10", "100"], v={"N": "-1.50"}),
    found("number_spelled_otherwise", "n", "p = :p AND n = :v", ["10"], v={"N": "1e1"}),
    found(
        "numbers_between",
        "n",
        "p = :p AND n BETWEEN :v AND :w",
        ["-2", "-1.5", "0"],
        v={"N": "-2"},
        w={"N": "0"},
    ),
    found("bytes_in_the_order_of_their_values", "b", "p = :p", BINARIES),
    found("bytes_above_others", "b", "p = :p AND b > :v", ["gA==", "/w=="], v={"B": "AgE="}),
    found(
        "bytes_that_begin_with_a_zero",
        "b",
        "p = :p AND begins_with(b, :v)",
        ["AA==", "AAE="],
        v={"B": "AA=="},
    ),
    found(
        "bytes_that_begin_with_the_highest", "b", "p = :p AND begins_with(b, :v)", ["/w=="], v={"B": "/w=="}
    ),
    found("no_such_partition", "s", "p = :v", [], v={"S": "z"}),
    found("no_such_sort_key", "s", "p = :p AND s = :v", [], v={"S": "z"}),
]


def operand(operator: str, kind: str) -> str:
    return (
        "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: "
        f"{operator}, operand type: {kind}"
    )


REFUSED = [
    refused(
        "condition_without_the_partition_key",
        "s = :p",
        "Query condition missed key schema element: p",
        MESSAGES,
    ),
    refused(
        "condition_on_an_attribute_that_is_no_key",
        "z = :p",
        "Query condition missed key schema element: p",
        MESSAGES,
    ),
    refused(
        "condition_on_another_attribute_than_the_sort_key",
        "p = :p AND z = :p",
        "Query condition missed key schema element: s",
        DYNALITE,
    ),
    refused("range_of_the_partition_key", "p > :p", "Query key condition not supported", DYNALITE),
    refused(
        "three_conditions",
        "p = :p AND s > :p AND z = :p",
        "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)",
        OPERANDS,
    ),
    refused(
        "two_conditions_on_a_table_without_a_sort_key",
        "p = :p AND s = :p",
        "The number of query conditions (2) exceeds the number of key attributes defined in the schema (1)",
        f"{OPERANDS}, of three conditions",
        table=HASH,
    ),
    refused(
        "two_conditions_on_the_sort_key",
        "p = :p AND s > :v AND s < :w",
        "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        OPERANDS,
        v={"S": "a"},
        w={"S": "b"},
    ),
    refused(
        "path_into_a_key",
        "p = :p AND s.foo = :v",
        "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes",
        SEMANTICS,
        v={"S": "x"},
    ),
    refused("partition_key_of_another_type", "p = :v", SCHEMA, DYNOXIDE, v={"N": "1"}),
    refused("partition_key_equal_to_a_map", "p = :v", SCHEMA, DYNOXIDE, v={"M": {}}),
    refused(
        "sort_key_of_another_type", "p = :p AND n > :v", SCHEMA, DYNOXIDE, table=NUMBER_RANGE, v={"S": "x"}
    ),
    refused(
        "sort_key_equal_to_a_flag",
        "p = :p AND n = :v",
        SCHEMA,
        OPERANDS,
        table=NUMBER_RANGE,
        v={"BOOL": True},
    ),
    refused(
        "sort_key_below_a_flag",
        "p = :p AND n < :v",
        operand("<", "BOOL"),
        OPERANDS,
        table=NUMBER_RANGE,
        v={"BOOL": True},
    ),
    refused(
        "flag_before_the_sort_key",
        "p = :p AND :v >= n",
        operand(">=", "BOOL"),
        OPERANDS,
        table=NUMBER_RANGE,
        v={"BOOL": True},
    ),
    refused(
        "sort_key_between_flags",
        "p = :p AND n BETWEEN :v AND :w",
        operand("BETWEEN", "BOOL"),
        OPERANDS,
        table=NUMBER_RANGE,
        v={"BOOL": False},
        w={"BOOL": True},
    ),
    refused(
        "text_that_begins_with_a_number",
        "p = :p AND begins_with(s, :v)",
        operand("begins_with", "N"),
        OPERANDS,
        v={"N": "1"},
    ),
    refused(
        "number_that_begins_with_a_number",
        "p = :p AND begins_with(n, :v)",
        operand("begins_with", "N"),
        OPERANDS,
        table=NUMBER_RANGE,
        v={"N": "1"},
    ),
    refused(
        "number_that_begins_with_a_text",
        "p = :p AND begins_with(n, :v)",
        SCHEMA,
        OPERANDS,
        table=NUMBER_RANGE,
        v={"S": "a"},
    ),
    refused(
        "between_in_the_wrong_order",
        "s BETWEEN :v AND :w",
        "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or equal to "
        "lower bound; lower bound operand: AttributeValue: {S:b}, upper bound operand: AttributeValue: {S:a}",
        DYNALITE,
        v={"S": "b"},
        w={"S": "a"},
    ),
    refused(
        "wrong_operand_before_a_third_condition",
        "p = :p AND begins_with(s, :v) AND s > :w",
        operand("begins_with", "N"),
        ORDER,
        v={"N": "1"},
        w={"S": "a"},
    ),
    refused(
        "empty_partition_key",
        "p = :v",
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        "empty string value. Key: p",
        "DynamoDB Local 3.3.1, AWS's own, in the words that the service has for other empty keys",
        v={"S": ""},
    ),
    refused(
        "empty_key_of_an_index",
        "gp = :v",
        "One or more parameter values are not valid. A value specified for a secondary index key is not "
        "supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: All, "
        "IndexKey: gp",
        "Answer of the service, github.com/praetorian-inc/chariot-ui/issues/353",
        table=GLOBAL,
        parameters={"IndexName": "All"},
        v={"S": ""},
    ),
    refused(
        "partition_key_longer_than_any",
        "p = :v",
        "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 "
        "bytes",
        "Answer of the service to a Query, github.com/facebook/ThreatExchange/issues/1324",
        v={"S": "x" * 2049},
    ),
    refused(
        "sort_key_longer_than_any",
        "p = :p AND s < :v",
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit "
        "of 1024 bytes",
        "DynamoDB Local 3.3.1, AWS's own; not seen in the service",
        v={"S": "x" * 1025},
    ),
    Vector(
        "wrong_operand_before_a_missing_table",
        operation="Query",
        request={
            "TableName": "Missing",
            "KeyConditionExpression": "p = :p AND begins_with(s, :v)",
            "ExpressionAttributeValues": {":p": {"S": "q"}, ":v": {"N": "1"}},
        },
        error=validation(operand("begins_with", "N")),
        evidence=ORDER,
    ),
    Vector(
        "right_condition_on_a_missing_table",
        operation="Query",
        request={
            "TableName": "Missing",
            "KeyConditionExpression": "p = :p AND begins_with(s, :v)",
            "ExpressionAttributeValues": {":p": {"S": "q"}, ":v": {"S": "1"}},
        },
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence=ORDER,
    ),
]

VECTORS = [*FOUND, *REFUSED]
