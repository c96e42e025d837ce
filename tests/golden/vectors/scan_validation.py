"""Scan: what is refused first when several parameters are wrong, and what is told together.

AWS looks at a scan in steps, each of which ends the matter: the numbers and an empty name of a table; the name of
the table and ReturnConsumedCapacity; the two languages; AttributesToGet; ConditionalOperator; the filter; the
expressions; Select; the segments; the table; the start key. Where a required member is missing, or a number does
not fit into 32 bits, all that a constraint forbids is told at once, in older words.
"""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including
from golden.vectors.tables import table
from golden.vectors.vector import Vector, Wire, validation
from support.sample_tables import index

CAPTURED = (
    "Answer of the service in eu-west-2 and eu-central-1, 20 October 2026, recorded in dynoxide 3.2 "
    "(tests/scan_member_stages.rs); so in 20 of 33 regions"
)

MEMBERS = table(
    "Members",
    "pk",
    types={"pk": "S", "gk": "S", "gk2": "S"},
    GlobalSecondaryIndexes=[index("gsi", "gk", projection="KEYS_ONLY"), index("gsi2", "gk2")],
)


# --- the words ------------------------------------------------------------------------------------


def errors(*texts: str) -> str:
    return f"{len(texts)} validation error{'s' if len(texts) > 1 else ''} detected: {'; '.join(texts)}"


def newer(member: str, constraint: str) -> str:
    return f"Value at '{member}' failed to satisfy constraint: Member must have {constraint}"


def older(value: Any, member: str, constraint: str) -> str:
    shown = "null" if value is None else f"'{value}'"
    return f"Value {shown} at '{member}' failed to satisfy constraint: Member must {constraint}"


LIMIT = newer("Limit", "value greater than or equal to 1")
SEGMENT = newer("Segment", "value greater than or equal to 0")
SEGMENT_MAX = newer("Segment", "value less than or equal to 999999")
TOTAL = newer("TotalSegments", "value greater than or equal to 1")
TOTAL_MAX = newer("TotalSegments", "value less than or equal to 1000000")
NO_NAME = newer("TableName", "length greater than or equal to 1")

SHORT = "have length greater than or equal to 3"
PATTERN = "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
CAPACITY = older("BOGUS", "returnConsumedCapacity", "satisfy enum value set: [INDEXES, TOTAL, NONE]")
SELECT = older(
    "BOGUS",
    "select",
    "satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
)
OPERATOR = older("BOGUS", "conditionalOperator", "satisfy enum value set: [OR, AND]")
ABSENT_NAME = older(None, "tableName", "not be null")
EMPTY_NAME = older("", "tableName", "have length greater than or equal to 1")
NO_COMPARISON = older(None, "scanFilter.a.member.comparisonOperator", "not be null")
OLDER_LIMIT = "have value greater than or equal to 1"
OLDER_SEGMENT = "have value greater than or equal to 0"
OLDER_SEGMENT_MAX = "have value less than or equal to 999999"
OLDER_TOTAL = "have value greater than or equal to 1"
OLDER_TOTAL_MAX = "have value less than or equal to 1000000"

INVALID = "One or more parameter values were invalid: "
WITHOUT = "ConditionalOperator cannot be used without Filter or Expected"
TWO_OR_MORE = "ConditionalOperator can only be used when Filter or Expected has two or more elements"
ALL_OR = "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
BAD_COMPARISON = f"{INVALID}Invalid comparison operator"
SPECIFIC = errors(
    "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
)
PROJECTED = errors("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
NO_TOTAL = (
    "The TotalSegments parameter is required but was not present in the request when Segment parameter is "
    "present"
)
TOO_HIGH = "The Segment parameter is zero-based and must be less than parameter TotalSegments"
START = "The provided starting key is invalid"
NOT_ALL = (
    f"{INVALID}Select type ALL_ATTRIBUTES is not supported for global secondary index gsi because its projection "
    "type is not ALL"
)


def mixed(legacy: str, expression: str) -> str:
    return (
        "Can not use both expression and non-expression parameters in the same request: Non-expression "
        f"parameters: {{{legacy}}} Expression parameters: {{{expression}}}"
    )


def chosen(member: str, what: str) -> str:
    return errors(f"Cannot specify the {member} when choosing to get {what}")


def mismatch(name: str, index_name: str) -> str:
    return f"{INVALID}Type mismatch for Index Key {name} Expected: S Actual: N IndexName: {index_name}"


# --- the parts of requests ------------------------------------------------------------------------

EQ: Wire = {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}
NO_OPERATOR: Wire = {"ScanFilter": {"a": {"AttributeValueList": [{"S": "x"}]}}}
BAD_FILTER: Wire = {"ScanFilter": {"a": {**EQ, "ComparisonOperator": "BOGUS"}}}
ONE_FILTER: Wire = {"ScanFilter": {"a": EQ}}
TWO_FILTERS: Wire = {"ScanFilter": {"a": EQ, "b": EQ}}
FILTER: Wire = {"FilterExpression": "a = :v", "ExpressionAttributeValues": {":v": {"S": "x"}}}
BAD_SYNTAX: Wire = {**FILTER, "FilterExpression": "a = = :v"}
SYNTAX = 'Invalid FilterExpression: Syntax error; token: "=", near: "= = :v"'
BAD_OPERATOR: Wire = {"ConditionalOperator": "BOGUS"}
BAD_SELECT: Wire = {"Select": "BOGUS"}
BAD_CAPACITY: Wire = {"ReturnConsumedCapacity": "BOGUS"}
BAD_START: Wire = {"ExclusiveStartKey": {"bad": {"S": "p"}}}
HIGH: Wire = {"Segment": 5, "TotalSegments": 5}
NEGATIVE: Wire = {"Segment": -1, "TotalSegments": 4}
NAMELESS: Wire = {"TableName": None}


def refused(name: str, message: str, *parts: Wire, **more: Any) -> Vector:
    request: Wire = {"TableName": "Members"}
    for part in (*parts, more):
        request.update(part)
    return Vector(
        name,
        operation="Scan",
        tables=[MEMBERS],
        request={member: value for member, value in request.items() if value is not None},
        error=validation(message),
        evidence=CAPTURED,
    )


def accepted(name: str, **more: Any) -> Vector:
    return Vector(
        name,
        operation="Scan",
        tables=[MEMBERS],
        request={"TableName": "Members", **more},
        answer=including({"Count": 0}),
        evidence=CAPTURED,
    )


NUMBERS_AND_AN_EMPTY_NAME = [
    refused("limit_and_segment", errors(LIMIT, SEGMENT), NEGATIVE, Limit=0),
    refused("limit_and_total", errors(LIMIT, TOTAL), Limit=0, Segment=0, TotalSegments=0),
    refused("limit_and_total_too_high", errors(LIMIT, TOTAL_MAX), Limit=0, Segment=0, TotalSegments=1000001),
    refused("segment_and_total", errors(SEGMENT, TOTAL), Segment=-1, TotalSegments=0),
    refused("total_without_a_segment_below_one", errors(TOTAL), TotalSegments=0),
    refused("negative_total", errors(TOTAL), Segment=0, TotalSegments=-1),
    refused("segment_without_a_total_below_zero", errors(SEGMENT), Segment=-1),
    refused("segment_too_high_for_any_total", errors(SEGMENT_MAX), Segment=1000000, TotalSegments=1000000),
    refused("empty_name_of_a_table", errors(NO_NAME), TableName=""),
    refused("limit_and_empty_name", errors(LIMIT, NO_NAME), Limit=0, TableName=""),
    refused("segment_and_empty_name", errors(SEGMENT, NO_NAME), NEGATIVE, TableName=""),
    refused("limit_before_short_name", errors(LIMIT), Limit=0, TableName="a!"),
    refused("limit_before_capacity", errors(LIMIT), BAD_CAPACITY, Limit=0),
    refused("limit_before_select", errors(LIMIT), BAD_SELECT, Limit=0),
    refused("limit_before_the_operator_of_a_filter", errors(LIMIT), BAD_FILTER, Limit=0),
    refused("limit_before_segment_that_is_not_below_the_total", errors(LIMIT), HIGH, Limit=0),
    refused("empty_name_before_select", errors(NO_NAME), BAD_SELECT, TableName=""),
    refused(
        "limit_and_segment_before_three_enums",
        errors(LIMIT, SEGMENT),
        NEGATIVE,
        BAD_SELECT,
        BAD_CAPACITY,
        BAD_OPERATOR,
        Limit=0,
    ),
]

NAME_AND_CAPACITY = [
    refused("short_name", errors(older("ab", "tableName", SHORT)), TableName="ab"),
    refused("name_that_is_short_and_none", errors(older("a!", "tableName", SHORT)), TableName="a!"),
    refused("name_that_is_none", errors(older("abc!", "tableName", PATTERN)), TableName="abc!"),
    refused(
        "name_and_capacity",
        errors(older("abc!", "tableName", PATTERN), CAPACITY),
        BAD_CAPACITY,
        TableName="abc!",
    ),
    refused("name_before_select", errors(older("ab", "tableName", SHORT)), BAD_SELECT, TableName="ab"),
    refused("name_before_operator", errors(older("ab", "tableName", SHORT)), BAD_OPERATOR, TableName="ab"),
    refused("capacity_before_select", errors(CAPACITY), BAD_CAPACITY, BAD_SELECT),
    refused("capacity_before_operator", errors(CAPACITY), BAD_CAPACITY, BAD_OPERATOR, ONE_FILTER),
    refused("capacity_before_the_operator_of_a_filter", errors(CAPACITY), BAD_CAPACITY, BAD_FILTER),
    refused("capacity_before_segments", errors(CAPACITY), BAD_CAPACITY, Segment=0),
]

OLDER_WORDS = [
    refused("no_name", errors(ABSENT_NAME), NAMELESS),
    refused(
        "no_name_and_limit",
        errors(ABSENT_NAME, older(0, "limit", OLDER_LIMIT)),
        NAMELESS,
        Limit=0,
    ),
    refused(
        "no_name_and_all_the_rest",
        errors(
            SELECT,
            older(0, "totalSegments", OLDER_TOTAL),
            CAPACITY,
            ABSENT_NAME,
            OPERATOR,
            older(-1, "segment", OLDER_SEGMENT),
            older(0, "limit", OLDER_LIMIT),
        ),
        *(NAMELESS, BAD_SELECT, BAD_CAPACITY, BAD_OPERATOR),
        Segment=-1,
        TotalSegments=0,
        Limit=0,
    ),
    refused("no_name_and_no_operator", errors(ABSENT_NAME, NO_COMPARISON), NAMELESS, NO_OPERATOR),
    refused(
        "no_operator_and_limit", errors(NO_COMPARISON, older(0, "limit", OLDER_LIMIT)), NO_OPERATOR, Limit=0
    ),
    refused("no_operator_and_empty_name", errors(EMPTY_NAME, NO_COMPARISON), NO_OPERATOR, TableName=""),
    refused("no_operator_before_short_name", errors(NO_COMPARISON), NO_OPERATOR, TableName="ab"),
    refused(
        "operator_that_is_none_and_no_operator", errors(OPERATOR, NO_COMPARISON), NO_OPERATOR, BAD_OPERATOR
    ),
]

CUT_NUMBERS = [
    accepted("limit_beyond_32_bits", Limit=4294967296),
    accepted("limit_beyond_64_bits", Limit=9223372036854776000),
    accepted("limit_with_a_fraction", Limit=1.5),
    accepted("segment_with_a_fraction", Segment=1.5, TotalSegments=5),
    accepted("segment_that_is_almost_zero", Segment=-0.5, TotalSegments=5),
    accepted("total_with_a_fraction", Segment=0, TotalSegments=1.5),
    refused("limit_of_one_half", errors(older(0, "limit", OLDER_LIMIT)), Limit=0.5),
    refused("limit_far_below_zero", errors(older(-2147483648, "limit", OLDER_LIMIT)), Limit=-2147483649),
    refused(
        "segment_beyond_32_bits",
        errors(older(2147483647, "segment", OLDER_SEGMENT_MAX)),
        Segment=2147483648,
        TotalSegments=5,
    ),
    refused(
        "total_beyond_32_bits_and_limit",
        errors(older(2147483647, "totalSegments", OLDER_TOTAL_MAX), older(-1, "limit", OLDER_LIMIT)),
        Limit=-1,
        Segment=0,
        TotalSegments=4294967296,
    ),
    refused(
        "limit_beyond_32_bits_beside_segment",
        errors(older(-1, "segment", OLDER_SEGMENT)),
        NEGATIVE,
        Limit=4294967296,
    ),
    refused("limit_beyond_32_bits_beside_empty_name", errors(EMPTY_NAME), Limit=4294967296, TableName=""),
]

LANGUAGES_AND_FILTERS = [
    refused(
        "both_languages_before_select",
        mixed("ScanFilter", "FilterExpression"),
        ONE_FILTER,
        FILTER,
        BAD_SELECT,
    ),
    refused(
        "operator_beside_an_expression",
        mixed("ConditionalOperator", "FilterExpression"),
        BAD_OPERATOR,
        FILTER,
    ),
    refused("operator_without_a_filter_before_select", WITHOUT, BAD_OPERATOR, BAD_SELECT),
    refused("operator_without_a_filter_before_segments", WITHOUT, HIGH, ConditionalOperator="AND"),
    refused("operator_of_one_filter_before_select", TWO_OR_MORE, BAD_OPERATOR, ONE_FILTER, BAD_SELECT),
    refused("operator_of_one_filter_before_its_operator", TWO_OR_MORE, BAD_FILTER, ConditionalOperator="AND"),
    refused("operator_that_is_none_of_two_filters", ALL_OR, BAD_OPERATOR, TWO_FILTERS),
    refused("operator_that_is_none_before_select", ALL_OR, BAD_OPERATOR, TWO_FILTERS, BAD_SELECT),
    refused("operator_of_a_filter_before_select", BAD_COMPARISON, BAD_FILTER, BAD_SELECT),
    refused("operator_of_a_filter_before_segments", BAD_COMPARISON, BAD_FILTER, HIGH),
    refused("empty_name_to_get_before_operator", "Empty attribute name", BAD_OPERATOR, AttributesToGet=[""]),
    refused(
        "name_to_get_twice_before_select",
        f"{INVALID}Duplicate value in attribute name: a",
        BAD_SELECT,
        AttributesToGet=["a", "a"],
    ),
    refused("empty_name_in_a_start_key", "Empty attribute name", ExclusiveStartKey={"": {"S": "a"}}),
    refused(
        "empty_name_in_a_value",
        "Empty attribute name",
        FilterExpression="a = :v",
        ExpressionAttributeValues={":v": {"M": {"": {"S": "x"}}}},
    ),
]

EXPRESSIONS_SELECT_SEGMENTS = [
    refused("filter_before_select", SYNTAX, BAD_SYNTAX, BAD_SELECT),
    refused("filter_before_specific_attributes", SYNTAX, BAD_SYNTAX, Select="SPECIFIC_ATTRIBUTES"),
    refused("filter_before_segments", SYNTAX, BAD_SYNTAX, HIGH),
    refused(
        "projection_before_select",
        "Invalid ProjectionExpression: The expression can not be empty;",
        BAD_SELECT,
        ProjectionExpression="",
    ),
    refused("select_that_is_none", errors(SELECT), BAD_SELECT),
    refused("select_before_segments", errors(SELECT), BAD_SELECT, HIGH),
    refused("select_before_start_key", errors(SELECT), BAD_SELECT, BAD_START),
    refused("specific_attributes_before_segments", SPECIFIC, HIGH, Select="SPECIFIC_ATTRIBUTES"),
    refused("specific_attributes_before_start_key", SPECIFIC, BAD_START, Select="SPECIFIC_ATTRIBUTES"),
    refused("projected_attributes_before_segments", PROJECTED, HIGH, Select="ALL_PROJECTED_ATTRIBUTES"),
    refused(
        "projected_attributes_beside_names",
        chosen("AttributesToGet", "ALL_PROJECTED_ATTRIBUTES"),
        Select="ALL_PROJECTED_ATTRIBUTES",
        AttributesToGet=["a"],
    ),
    refused(
        "projected_attributes_of_an_index_beside_a_projection",
        chosen("ProjectionExpression", "ALL_PROJECTED_ATTRIBUTES"),
        IndexName="gsi",
        Select="ALL_PROJECTED_ATTRIBUTES",
        ProjectionExpression="a",
    ),
    accepted("projected_attributes_of_an_index", IndexName="gsi", Select="ALL_PROJECTED_ATTRIBUTES"),
    refused("segments_before_start_key", TOO_HIGH, HIGH, BAD_START),
    refused("no_total_before_start_key", NO_TOTAL, BAD_START, Segment=0),
    refused(
        "all_attributes_of_an_index_before_start_key",
        NOT_ALL,
        BAD_START,
        IndexName="gsi",
        Select="ALL_ATTRIBUTES",
    ),
]

START_KEYS = [
    refused("start_key_of_another_name", START, BAD_START),
    refused("empty_start_key", START, ExclusiveStartKey={}),
    refused("start_key_of_the_table_alone", START, IndexName="gsi", ExclusiveStartKey={"pk": {"S": "a"}}),
    refused("start_key_of_another_type", mismatch("pk", "gsi"), ExclusiveStartKey={"pk": {"N": "1"}}),
    refused(
        "start_key_of_an_index_with_another_type",
        mismatch("gk2", "gsi2"),
        IndexName="gsi2",
        ExclusiveStartKey={"pk": {"S": "a"}, "gk2": {"N": "1"}},
    ),
    refused(
        "start_key_of_another_index_and_another_type",
        mismatch("gk", "gsi"),
        ExclusiveStartKey={"gk": {"N": "1"}},
    ),
]

VECTORS = [
    *NUMBERS_AND_AN_EMPTY_NAME,
    *NAME_AND_CAPACITY,
    *OLDER_WORDS,
    *CUT_NUMBERS,
    *LANGUAGES_AND_FILTERS,
    *EXPRESSIONS_SELECT_SEGMENTS,
    *START_KEYS,
]
