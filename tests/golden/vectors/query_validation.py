"""Query: what is refused first when several parameters are wrong, and what is told together."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including
from golden.vectors.scan_validation import (
    ABSENT_NAME,
    ALL_OR,
    BAD_CAPACITY,
    BAD_OPERATOR,
    BAD_SELECT,
    BAD_START,
    CAPACITY,
    EMPTY_NAME,
    EQ,
    INVALID,
    LIMIT,
    MEMBERS,
    NAMELESS,
    NO_NAME,
    NOT_ALL,
    OLDER_LIMIT,
    PATTERN,
    PROJECTED,
    SELECT,
    SHORT,
    SPECIFIC,
    START,
    TWO_OR_MORE,
    WITHOUT,
    chosen,
    errors,
    mixed,
    older,
)
from golden.vectors.vector import Vector, Wire, validation

CAPTURED = (
    "Answer of the service in eu-west-2, eu-central-1 and us-east-1, 20 October 2026, recorded in dynoxide 3.2 "
    "(tests/query_member_checks.rs)"
)
SEVEN = (
    "Answer of the service in most of seven regions, 2026-10-09, recorded in dynoxide 3.2 "
    "(tests/request_member_validation.rs)"
)
PARITY = (
    "Answer of the service in eu-west-2 and us-east-1, 2026-10-09, recorded by paritysuite/dynamodb-conformance "
    "(tests/tier3/validation-ordering/query.test.ts)"
)
START_VALUES = (
    "Answer of the service in four regions, 2026-10-09, recorded in dynoxide 3.2 "
    "(tests/query_start_key_and_key_conditions.rs)"
)
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/query.js)"
LIKE_SCAN = "Taken to be as captured for Scan in eu-west-2 and eu-central-1, 20 October 2026 (dynoxide 3.2)"

KEY: Wire = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}
LEGACY_KEY: Wire = {"KeyConditions": {"pk": EQ}}
INDEX_KEY: Wire = {
    "IndexName": "gsi",
    "KeyConditionExpression": "gk = :g",
    "ExpressionAttributeValues": {":g": {"S": "a"}},
}
TWO_FILTERS: Wire = {
    "QueryFilter": {"b": {"ComparisonOperator": "NULL"}, "c": {"ComparisonOperator": "NULL"}}
}
NO_CONDITION = (
    "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
)
NO_EXPRESSION = "can only be specified when using expressions"


def _request(*parts: Wire) -> Wire:
    request: Wire = {"TableName": "Members"}
    for part in parts:
        request.update(part)
    return {member: value for member, value in request.items() if value is not None}


def refused(name: str, message: str, evidence: str, *parts: Wire, **more: Any) -> Vector:
    return Vector(
        name,
        operation="Query",
        tables=[MEMBERS],
        request=_request(*parts, more),
        error=validation(message),
        evidence=evidence,
    )


def accepted(name: str, *parts: Wire, **more: Any) -> Vector:
    return Vector(
        name,
        operation="Query",
        tables=[MEMBERS],
        request=_request(*parts, more),
        answer=including({"Count": 0}),
        evidence=CAPTURED,
    )


STEPS = [
    refused("limit_of_zero", errors(LIMIT), CAPTURED, KEY, Limit=0),
    refused("limit_and_empty_name", errors(LIMIT, NO_NAME), SEVEN, KEY, BAD_CAPACITY, Limit=0, TableName=""),
    refused("limit_before_select", errors(LIMIT), SEVEN, KEY, BAD_SELECT, Limit=0),
    refused("limit_before_operator", errors(LIMIT), SEVEN, KEY, BAD_OPERATOR, Limit=0),
    refused("empty_name_before_capacity", errors(NO_NAME), SEVEN, KEY, BAD_CAPACITY, TableName=""),
    refused(
        "name_that_is_short_and_none", errors(older("a!", "tableName", SHORT)), SEVEN, KEY, TableName="a!"
    ),
    refused(
        "name_and_capacity",
        errors(older("bad!name", "tableName", PATTERN), CAPACITY),
        SEVEN,
        KEY,
        BAD_CAPACITY,
        TableName="bad!name",
    ),
    refused(
        "name_before_select", errors(older("ab", "tableName", SHORT)), SEVEN, KEY, BAD_SELECT, TableName="ab"
    ),
    refused("capacity_before_select", errors(CAPACITY), SEVEN, KEY, BAD_CAPACITY, BAD_SELECT),
    refused("capacity_before_operator", errors(CAPACITY), SEVEN, KEY, BAD_CAPACITY, BAD_OPERATOR),
    refused(
        "both_languages_before_select",
        mixed("ConditionalOperator", "KeyConditionExpression"),
        SEVEN,
        *(KEY, BAD_OPERATOR, BAD_SELECT),
    ),
    refused("operator_without_a_filter", WITHOUT, SEVEN, LEGACY_KEY, BAD_OPERATOR),
    refused(
        "operator_of_one_filter",
        TWO_OR_MORE,
        SEVEN,
        LEGACY_KEY,
        BAD_OPERATOR,
        QueryFilter={"b": {"ComparisonOperator": "NULL"}},
    ),
    refused(
        "operator_that_is_none_before_select",
        ALL_OR,
        PARITY,
        LEGACY_KEY,
        TWO_FILTERS,
        BAD_OPERATOR,
        BAD_SELECT,
    ),
    refused("select_that_is_none", errors(SELECT), CAPTURED, KEY, BAD_SELECT),
    refused(
        "select_that_is_none_beside_names",
        errors(SELECT),
        CAPTURED,
        LEGACY_KEY,
        BAD_SELECT,
        AttributesToGet=["a"],
    ),
    refused(
        "key_condition_before_select",
        'Invalid KeyConditionExpression: Syntax error; token: "=", near: "= = :p"',
        LIKE_SCAN,
        KEY,
        BAD_SELECT,
        KeyConditionExpression="pk = = :p",
    ),
]

OLDER_WORDS = [
    refused("no_name_and_capacity", errors(CAPACITY, ABSENT_NAME), CAPTURED, KEY, NAMELESS, BAD_CAPACITY),
    refused(
        "no_name_and_all_the_rest",
        errors(SELECT, CAPACITY, ABSENT_NAME, older(0, "limit", OLDER_LIMIT)),
        CAPTURED,
        *(KEY, NAMELESS, BAD_SELECT, BAD_CAPACITY),
        Limit=0,
    ),
    accepted("limit_beyond_32_bits", KEY, Limit=2147483648),
    accepted("limit_beyond_64_bits", KEY, Limit=9223372036854776000),
    accepted("limit_with_a_fraction", KEY, Limit=1.5),
    refused("limit_of_one_half", errors(older(0, "limit", OLDER_LIMIT)), CAPTURED, KEY, Limit=0.5),
    refused(
        "limit_far_below_zero",
        errors(older(-2147483648, "limit", OLDER_LIMIT)),
        CAPTURED,
        KEY,
        Limit=-2147483649,
    ),
    refused(
        "limit_of_one_half_and_two_enums",
        errors(SELECT, CAPACITY, older(0, "limit", OLDER_LIMIT)),
        CAPTURED,
        *(KEY, BAD_SELECT, BAD_CAPACITY),
        Limit=0.5,
    ),
    refused(
        "limit_beyond_32_bits_beside_empty_name",
        errors(EMPTY_NAME),
        CAPTURED,
        KEY,
        Limit=4294967296,
        TableName="",
    ),
    refused(
        "limit_with_a_fraction_beside_capacity", errors(CAPACITY), CAPTURED, KEY, BAD_CAPACITY, Limit=1.5
    ),
]

SELECTIONS = [
    refused(
        "projection_with_a_count",
        chosen("ProjectionExpression", "only the Count"),
        CAPTURED,
        KEY,
        Select="COUNT",
        ProjectionExpression="a",
    ),
    refused(
        "specific_attributes_without_a_projection", SPECIFIC, CAPTURED, KEY, Select="SPECIFIC_ATTRIBUTES"
    ),
    refused("projected_attributes_of_a_table", PROJECTED, CAPTURED, KEY, Select="ALL_PROJECTED_ATTRIBUTES"),
    accepted("projected_attributes_of_an_index", INDEX_KEY, Select="ALL_PROJECTED_ATTRIBUTES"),
    refused(
        "all_attributes_of_an_index_that_lacks_some", NOT_ALL, CAPTURED, INDEX_KEY, Select="ALL_ATTRIBUTES"
    ),
    refused(
        "start_key_before_all_attributes_of_an_index",
        START,
        CAPTURED,
        INDEX_KEY,
        BAD_START,
        Select="ALL_ATTRIBUTES",
    ),
]

NOTHING_TO_QUERY_BY = [
    refused("no_key_condition", NO_CONDITION, DYNALITE),
    refused(
        "names_before_the_missing_key_condition",
        f"ExpressionAttributeNames {NO_EXPRESSION}",
        DYNALITE,
        ExpressionAttributeNames={"#n": "g"},
        ExpressionAttributeValues={":v": {"S": "b"}},
    ),
    refused(
        "values_before_the_missing_key_condition",
        f"ExpressionAttributeValues {NO_EXPRESSION}: FilterExpression and KeyConditionExpression are null",
        DYNALITE,
        ExpressionAttributeValues={":v": {"S": "b"}},
    ),
    refused(
        "start_key_before_the_missing_key_condition",
        "The parameter cannot be converted to a numeric value: abc",
        DYNALITE,
        ExclusiveStartKey={"pk": {"N": "abc"}},
    ),
]

START_KEYS = [
    refused(
        "start_key_that_holds_nothing",
        f"{START}: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        START_VALUES,
        KEY,
        ExclusiveStartKey={"pk": {}},
    ),
    refused(
        "start_key_of_two_types",
        f"{START}: Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
        "supported datatypes",
        START_VALUES,
        KEY,
        ExclusiveStartKey={"pk": {"S": "a", "N": "1"}},
    ),
    refused(
        "start_key_that_is_a_false_null",
        f"{INVALID}Null attribute value types must have the value of true",
        START_VALUES,
        KEY,
        ExclusiveStartKey={"pk": {"NULL": False}},
    ),
    refused(
        "start_key_that_is_an_empty_set",
        f"{INVALID}An string set  may not be empty",
        START_VALUES,
        KEY,
        ExclusiveStartKey={"pk": {"SS": []}},
    ),
    refused("start_key_of_another_type", START, CAPTURED, KEY, ExclusiveStartKey={"pk": {"N": "1"}}),
    refused(
        "start_key_of_an_index_with_another_type",
        START,
        CAPTURED,
        INDEX_KEY,
        ExclusiveStartKey={"pk": {"S": "a"}, "gk": {"N": "1"}},
    ),
]

KEY_CONDITIONS = [
    refused(
        "type_of_the_partition_key_before_its_operator",
        f"{INVALID}Condition parameter type does not match schema type",
        DYNALITE,
        KeyConditions={"pk": {"ComparisonOperator": "LE", "AttributeValueList": [{"N": "1"}]}},
    ),
    refused(
        "operator_of_the_partition_key",
        "Query key condition not supported",
        DYNALITE,
        KeyConditions={"pk": {"ComparisonOperator": "LE", "AttributeValueList": [{"S": "a"}]}},
    ),
    refused(
        "operator_that_no_index_has_before_its_type",
        "Attempted conditional constraint is not an indexable operation",
        DYNALITE,
        KeyConditions={"pk": {"ComparisonOperator": "NE", "AttributeValueList": [{"N": "1"}]}},
    ),
]

VECTORS = [
    *STEPS,
    *OLDER_WORDS,
    *SELECTIONS,
    *NOTHING_TO_QUERY_BY,
    *START_KEYS,
    *KEY_CONDITIONS,
]
