"""What Expected, the filters and ConditionalOperator are refused for, and how they mix with expressions."""

from __future__ import annotations

from typing import Any

from golden.vectors.legacy_conditions import DYNALITE, KEY, SCYLLADB, condition
from golden.vectors.tables import HASH
from golden.vectors.vector import Vector, Wire, validation

EXTENDDB = "ExtendDB's tests/test_conditional_operator.py, run against the service in us-east-1"
CONFORMANCE = "Captured by the public DynamoDB conformance suite in eu-west-2 and us-east-1, 2026-10-09"

OPERATORS_CAPTURED = (
    "Answer of the service in eu-west-2, ap-southeast-2 and eu-central-1, 2026-10-10, recorded in dynoxide 3.2 "
    "(tests/legacy_comparison_operators.rs)"
)

ONE = "1 validation error detected: "
INVALID = "One or more parameter values were invalid: "

MALFORMED: list[tuple[str, Wire, str, str]] = [
    ("nothing", {}, f"{INVALID}Value must be provided when Exists is null for Attribute: a", DYNALITE),
    (
        "existence_alone",
        {"Exists": True},
        f"{INVALID}Value must be provided when Exists is true for Attribute: a",
        CONFORMANCE,
    ),
    (
        "a_value_that_must_not_exist",
        {"Exists": False, "Value": {"S": "x"}},
        f"{INVALID}Value cannot be used when Exists is false for Attribute: a",
        CONFORMANCE,
    ),
    (
        "a_value_and_a_list",
        {"Value": {"S": "x"}, **condition("EQ", {"S": "x"})},
        f"{INVALID}Value and AttributeValueList cannot be used together for Attribute: a",
        CONFORMANCE,
    ),
    (
        "an_operator_alone",
        {"ComparisonOperator": "EQ"},
        f"{INVALID}Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a",
        CONFORMANCE,
    ),
    (
        "existence_and_an_operator",
        {"Exists": True, "ComparisonOperator": "LT"},
        f"{INVALID}Exists and ComparisonOperator cannot be used together for Attribute: a",
        DYNALITE,
    ),
    (
        "a_list_without_an_operator",
        {"Exists": True, "AttributeValueList": []},
        f"{INVALID}AttributeValueList can only be used with a ComparisonOperator for Attribute: a",
        DYNALITE,
    ),
    (
        "one_value_for_between",
        condition("BETWEEN", {"S": "x"}),
        f"{INVALID}Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        CONFORMANCE,
    ),
    (
        "a_value_for_null",
        {"Value": {"S": "a"}, "ComparisonOperator": "NULL"},
        f"{INVALID}Invalid number of argument(s) for the NULL ComparisonOperator",
        DYNALITE,
    ),
    (
        "no_values_for_in",
        condition("IN"),
        f"{INVALID}Invalid number of argument(s) for the IN ComparisonOperator",
        DYNALITE,
    ),
    (
        "values_of_two_types",
        condition("IN", {"S": "b"}, {"N": "1"}),
        f"{INVALID}AttributeValues inside AttributeValueList must be of same type",
        DYNALITE,
    ),
    (
        "bounds_in_the_wrong_order",
        condition("BETWEEN", {"S": "b"}, {"S": "a"}),
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
        DYNALITE,
    ),
    (
        "a_number_for_begins_with",
        condition("BEGINS_WITH", {"N": "3"}),
        f"{INVALID}ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type",
        f"{SCYLLADB} (test_update_expected_1_begins_with_false); the words as for filters",
    ),
    (
        "an_empty_set",
        {"Value": {"SS": []}},
        f"{INVALID}An string set  may not be empty",
        "The words of the service for a value, in the envelope of its validation in October 2026",
    ),
]


def _malformed(name: str, entry: Wire, message: str, evidence: str) -> Vector:
    return Vector(
        f"expecting_{name}_is_refused",
        operation="DeleteItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": KEY, "Expected": {"a": entry}},
        error=validation(f"{ONE}{message}"),
        evidence=evidence,
    )


def _filtering(operator: str, values: list[Wire], message: str, name: str) -> Vector:
    return Vector(
        f"filter_with_{name}_is_refused",
        operation="Scan",
        tables=[HASH],
        request={"TableName": "Hash", "ScanFilter": {"a": condition(operator, *values)}},
        error=validation(f"{INVALID}{message}"),
        evidence=f"{DYNALITE} (test/scan.js)",
    )


def _wrong_type(operator: str, value: Wire, count: int = 1) -> Vector:
    tag = next(iter(value))
    message = f"ComparisonOperator {operator} is not valid for {tag} AttributeValue type"
    return _filtering(operator, [value] * count, message, f"{operator.lower()}_of_type_{tag.lower()}")


FILTER_REFUSALS = [
    _filtering("EQ", [], "Invalid number of argument(s) for the EQ ComparisonOperator", "no_value_to_equal"),
    _filtering(
        "NE",
        [{"S": "a"}] * 2,
        "Invalid number of argument(s) for the NE ComparisonOperator",
        "two_values_to_differ_from",
    ),
    _filtering(
        "NOT_NULL",
        [{"S": "a"}],
        "Invalid number of argument(s) for the NOT_NULL ComparisonOperator",
        "a_value_for_not_null",
    ),
    _filtering(
        "BETWEEN",
        [{"S": "a"}] * 3,
        "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
        "three_bounds",
    ),
    _filtering(
        "EQ", [{"N": "1"}, {"SS": []}], "An string set  may not be empty", "a_wrong_value_among_too_many"
    ),
    _wrong_type("LT", {"BOOL": True}),
    _wrong_type("GE", {"SS": ["a"]}),
    _wrong_type("IN", {"L": []}),
    _wrong_type("BETWEEN", {"NULL": True}, 2),
    _wrong_type("BEGINS_WITH", {"M": {}}),
    _wrong_type("CONTAINS", {"NS": ["1"]}),
    _wrong_type("NOT_CONTAINS", {"L": []}),
    Vector(
        "filter_with_an_unknown_operator_is_refused",
        operation="Scan",
        tables=[HASH],
        request={"TableName": "Hash", "ScanFilter": {"a": condition("eq", {"S": "a"})}},
        error=validation(f"{INVALID}Invalid comparison operator"),
        evidence=f"{OPERATORS_CAPTURED}; us-east-1 lists the operators that there are",
    ),
    Vector(
        "query_filter_with_an_unknown_operator_is_refused",
        operation="Query",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "KeyConditions": {"p": condition("EQ", {"S": "a"})},
            "QueryFilter": {"a": condition("FOO", {"N": "5"})},
        },
        error=validation(f"{INVALID}Invalid comparison operator"),
        evidence=OPERATORS_CAPTURED,
    ),
    *(
        Vector(
            f"{operation.lower()}_that_expects_by_an_unknown_operator_is_refused",
            operation=operation,
            tables=[HASH],
            request={
                "TableName": "Hash",
                "Item" if operation == "PutItem" else "Key": KEY,
                "Expected": {"a": condition("BOGUS", {"S": "x"})},
            },
            error=validation(f"{ONE}{INVALID}Invalid comparison operator"),
            evidence="Answer of the service in eu-west-2 and us-east-1, 2026-10-10, recorded in dynoxide 3.2 "
            "(tests/single_item_write_envelopes.rs)",
        )
        for operation in ("PutItem", "UpdateItem", "DeleteItem")
    ),
    Vector(
        "expecting_by_an_operator_without_a_name_is_refused",
        operation="DeleteItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": KEY, "Expected": {"a": condition("", {"S": "x"})}},
        error=validation(f"{ONE}{INVALID}Invalid comparison operator"),
        evidence="As for any other name that no operator has; DynamoDB Local and dynoxide 3.2 refuse it too",
    ),
    Vector(
        "filter_without_an_operator_is_refused",
        operation="Scan",
        tables=[HASH],
        request={"TableName": "Hash", "ScanFilter": {"a": {}}},
        error=validation(
            f"{ONE}Value null at 'scanFilter.a.member.comparisonOperator' failed to satisfy constraint: Member "
            "must not be null"
        ),
        evidence=f"{DYNALITE} (test/scan.js)",
    ),
]

WITHOUT = "ConditionalOperator cannot be used without Filter or Expected"
TWO_OR_MORE = "ConditionalOperator can only be used when Filter or Expected has two or more elements"
_ONE_CONDITION = {"a": condition("EQ", {"S": "x"})}


def _operator(name: str, operation: str, message: str, **more: Any) -> Vector:
    return Vector(
        f"conditional_operator_{name}_is_refused",
        operation=operation,
        tables=[HASH],
        request={"TableName": "Hash", "ConditionalOperator": "AND", **more},
        error=validation(message),
        evidence=EXTENDDB if operation in ("Scan", "Query") else f"{EXTENDDB}; enveloped as {CONFORMANCE}",
    )


OPERATORS = [
    _operator("of_a_scan_without_a_filter", "Scan", WITHOUT),
    _operator("of_a_scan_with_an_empty_filter", "Scan", WITHOUT, ScanFilter={}),
    _operator("of_a_scan_with_one_condition", "Scan", TWO_OR_MORE, ScanFilter=_ONE_CONDITION),
    _operator("of_a_scan_with_names_to_get", "Scan", WITHOUT, AttributesToGet=["a", "b"]),
    _operator("of_a_query_without_anything_else", "Query", WITHOUT),
    _operator("of_a_query_with_one_condition", "Query", TWO_OR_MORE, QueryFilter=_ONE_CONDITION),
    _operator("of_a_put_without_expected", "PutItem", f"{ONE}{WITHOUT}", Item=KEY),
    _operator(
        "of_a_put_with_one_condition", "PutItem", f"{ONE}{TWO_OR_MORE}", Item=KEY, Expected=_ONE_CONDITION
    ),
    _operator("of_a_delete_without_expected", "DeleteItem", f"{ONE}{WITHOUT}", Key=KEY),
    _operator("of_an_update_without_anything_else", "UpdateItem", f"{ONE}{WITHOUT}", Key=KEY),
    Vector(
        "conditional_operator_of_another_name_is_refused",
        operation="Scan",
        tables=[HASH],
        request={"TableName": "Hash", "ConditionalOperator": "and"},
        error=validation(WITHOUT),
        evidence="Answer of the service in eu-west-2 and eu-central-1, 20 October 2026, recorded in dynoxide 3.2 "
        "(tests/scan_member_stages.rs)",
    ),
]

MIXED = "Can not use both expression and non-expression parameters in the same request: "


def _mixed(
    name: str, operation: str, legacy: str, expressions: str, envelope: str = "", **more: Any
) -> Vector:
    return Vector(
        f"{name}_is_refused",
        operation=operation,
        tables=[HASH],
        request={"TableName": "Hash", **more},
        error=validation(
            f"{envelope}{MIXED}Non-expression parameters: {{{legacy}}} Expression parameters: {{{expressions}}}"
        ),
        evidence=f"{EXTENDDB}; dynalite's tests" + (f"; enveloped as {CONFORMANCE}" if envelope else ""),
    )


MIXTURES = [
    _mixed(
        "put_with_conditions_of_both_kinds",
        "PutItem",
        "Expected",
        "ConditionExpression",
        ONE,
        Item=KEY,
        Expected={"p": {"Exists": False}},
        ConditionExpression="attribute_not_exists(p)",
    ),
    _mixed(
        "delete_with_an_operator_beside_an_expression",
        "DeleteItem",
        "ConditionalOperator",
        "ConditionExpression",
        ONE,
        Key=KEY,
        ConditionalOperator="AND",
        ConditionExpression="attribute_exists(p)",
    ),
    _mixed(
        "update_with_everything_of_both_kinds_even_empty",
        "UpdateItem",
        "AttributeUpdates, Expected, ConditionalOperator",
        "UpdateExpression, ConditionExpression",
        ONE,
        Key={"p": {}},
        AttributeUpdates={},
        Expected={"a": {}},
        ConditionalOperator="AND",
        UpdateExpression="",
        ConditionExpression="",
        ExpressionAttributeValues={},
    ),
    _mixed(
        "update_expression_with_expected",
        "UpdateItem",
        "Expected",
        "UpdateExpression",
        ONE,
        Key=KEY,
        Expected={"a": {"Exists": False}},
        UpdateExpression="REMOVE c",
    ),
    _mixed(
        "scan_with_everything_of_both_kinds",
        "Scan",
        "AttributesToGet, ScanFilter, ConditionalOperator",
        "ProjectionExpression, FilterExpression",
        Segment=1,
        ScanFilter={"a": condition("EQ", {})},
        AttributesToGet=["a", "a"],
        ExclusiveStartKey={"a": {}},
        ConditionalOperator="OR",
        Select="SPECIFIC_ATTRIBUTES",
        FilterExpression="",
        ProjectionExpression="",
        ExpressionAttributeNames={},
        ExpressionAttributeValues={},
    ),
    _mixed(
        "query_with_everything_of_both_kinds",
        "Query",
        "AttributesToGet, QueryFilter, ConditionalOperator, KeyConditions",
        "ProjectionExpression, FilterExpression, KeyConditionExpression",
        QueryFilter={"a": condition("EQ", {})},
        AttributesToGet=["a", "a"],
        KeyConditions={"a": condition("EQ", {})},
        ConditionalOperator="OR",
        FilterExpression="",
        ProjectionExpression="",
        KeyConditionExpression="",
    ),
    _mixed(
        "query_with_expressions_for_all_but_the_key",
        "Query",
        "AttributesToGet, QueryFilter, ConditionalOperator",
        "ProjectionExpression, FilterExpression",
        QueryFilter={"a": condition("EQ", {})},
        AttributesToGet=["a", "a"],
        KeyConditions={"a": condition("EQ", {})},
        ConditionalOperator="OR",
        FilterExpression="",
        ProjectionExpression="",
    ),
]

MISSING_TABLES = [
    Vector(
        "expected_is_looked_at_before_the_table",
        operation="PutItem",
        request={"TableName": "Missing", "Item": KEY, "Expected": {"a": {"ComparisonOperator": "EQ"}}},
        error=validation(
            f"{ONE}{INVALID}Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a"
        ),
        evidence="ExtendDB's tests/test_validation_precedence.py, run against the service in us-east-1",
    ),
    Vector(
        "filter_is_looked_at_before_the_table",
        operation="Scan",
        request={"TableName": "Missing", "ScanFilter": {"a": condition("EQ")}},
        error=validation(f"{INVALID}Invalid number of argument(s) for the EQ ComparisonOperator"),
        evidence=f"{DYNALITE} (test/scan.js)",
    ),
]

PLACEHOLDERS = [
    Vector(
        "names_beside_expected_are_refused",
        operation="DeleteItem",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "Key": KEY,
            "Expected": {"a": {"Exists": False}},
            "ExpressionAttributeNames": {"#a": "a"},
        },
        error=validation(f"{ONE}ExpressionAttributeNames can only be specified when using expressions"),
        evidence=CONFORMANCE,
    ),
    Vector(
        "names_beside_a_scan_filter_are_refused_before_all_else",
        operation="Scan",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "ScanFilter": {"a": condition("EQ", {})},
            "ConditionalOperator": "OR",
            "AttributesToGet": ["a", "a"],
            "ExpressionAttributeNames": {},
        },
        error=validation("ExpressionAttributeNames can only be specified when using expressions"),
        evidence=f"{DYNALITE} (test/scan.js)",
    ),
    Vector(
        "values_beside_a_query_filter_are_refused_before_all_else",
        operation="Query",
        tables=[HASH],
        request={
            "TableName": "Hash",
            "QueryFilter": {"a": condition("EQ", {})},
            "ConditionalOperator": "OR",
            "AttributesToGet": ["a", "a"],
            "ExpressionAttributeValues": {},
        },
        error=validation(
            "ExpressionAttributeValues can only be specified when using expressions: FilterExpression and "
            "KeyConditionExpression are null"
        ),
        evidence=f"{DYNALITE} (test/query.js)",
    ),
]

VECTORS = [
    *(_malformed(*case) for case in MALFORMED),
    *FILTER_REFUSALS,
    *OPERATORS,
    *MIXTURES,
    *MISSING_TABLES,
    *PLACEHOLDERS,
]
