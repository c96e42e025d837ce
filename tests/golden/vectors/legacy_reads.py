"""Query with KeyConditions and QueryFilter, from before there were expressions."""

from __future__ import annotations

from typing import Any

from golden.vectors.legacy_attributes import CONFORMANCE, INVALID, refused
from golden.vectors.legacy_conditions import DYNALITE, KEY, SCYLLADB, condition
from golden.vectors.tables import BINARY_RANGE, GLOBAL, HASH, HASH_RANGE, LOCAL, NUMBER_RANGE
from golden.vectors.vector import Refusal, Vector, Wire, validation

EXTENDDB = "ExtendDB's tests/test_conditional_operator.py, run against the service in us-east-1"

_LETTERS = [{**KEY, "s": {"S": letter}} for letter in ("a", "ab", "b", "c")]
_OTHER = {"p": {"S": "other"}, "s": {"S": "a"}}
_P = condition("EQ", {"S": "a"})


def _page(items: list[Wire]) -> Wire:
    return {"Items": items, "Count": len(items), "ScannedCount": len(items)}


def _ranged(
    name: str, operator: str, values: list[str], found: list[str], evidence: str = SCYLLADB
) -> Vector:
    return Vector(
        f"query_of_sort_keys_{name}",
        operation="Query",
        tables=[HASH_RANGE],
        given={"HashRange": [*_LETTERS, _OTHER]},
        request={
            "TableName": "HashRange",
            "KeyConditions": {"s": condition(operator, *({"S": value} for value in values)), "p": _P},
        },
        answer=_page([{**KEY, "s": {"S": letter}} for letter in found]),
        evidence=evidence,
    )


KEY_CONDITIONS = [
    Vector(
        "query_of_a_partition",
        operation="Query",
        tables=[HASH_RANGE],
        given={"HashRange": [*_LETTERS, _OTHER]},
        request={"TableName": "HashRange", "KeyConditions": {"p": _P}},
        answer=_page(_LETTERS),
        evidence=f"{CONFORMANCE}/queryFilter",
    ),
    Vector(
        "query_of_a_partition_backwards_with_a_limit",
        operation="Query",
        tables=[HASH_RANGE],
        given={"HashRange": _LETTERS},
        request={"TableName": "HashRange", "KeyConditions": {"p": _P}, "ScanIndexForward": False, "Limit": 2},
        answer={**_page(_LETTERS[:1:-1]), "LastEvaluatedKey": _LETTERS[2]},
        evidence=f"{CONFORMANCE}/queryFilter",
    ),
    Vector(
        "query_of_a_table_without_sort_key",
        operation="Query",
        tables=[HASH],
        given={"Hash": [{**KEY, "x": {"N": "1"}}]},
        request={"TableName": "Hash", "KeyConditions": {"p": _P}},
        answer=_page([{**KEY, "x": {"N": "1"}}]),
        evidence=SCYLLADB,
    ),
    _ranged("equal_to_one", "EQ", ["b"], ["b"]),
    _ranged("less_than_one", "LT", ["b"], ["a", "ab"]),
    _ranged("up_to_one", "LE", ["b"], ["a", "ab", "b"]),
    _ranged("greater_than_one", "GT", ["ab"], ["b", "c"]),
    _ranged("from_one_on", "GE", ["ab"], ["ab", "b", "c"]),
    _ranged("between_two", "BETWEEN", ["ab", "b"], ["ab", "b"]),
    _ranged("beginning_with_one", "BEGINS_WITH", ["a"], ["a", "ab"]),
    Vector(
        "query_of_numbers_compares_by_value",
        operation="Query",
        tables=[NUMBER_RANGE],
        given={"NumberRange": [{**KEY, "n": {"N": number}} for number in ("-1", "5", "10")]},
        request={"TableName": "NumberRange", "KeyConditions": {"p": _P, "n": condition("GE", {"N": "5.0"})}},
        answer=_page([{**KEY, "n": {"N": "5"}}, {**KEY, "n": {"N": "10"}}]),
        evidence=SCYLLADB,
    ),
    Vector(
        "query_of_binaries_that_begin_with_the_largest_byte",
        operation="Query",
        tables=[BINARY_RANGE],
        given={"BinaryRange": [{**KEY, "b": {"B": text}} for text in ("AQ==", "/wM=", "////")]},
        request={
            "TableName": "BinaryRange",
            "KeyConditions": {"p": _P, "b": condition("BEGINS_WITH", {"B": "/w=="})},
        },
        answer=_page([{**KEY, "b": {"B": "/wM="}}, {**KEY, "b": {"B": "////"}}]),
        evidence=f"{SCYLLADB} (test_key_conditions.py)",
    ),
    Vector(
        "query_of_a_global_index",
        operation="Query",
        tables=[GLOBAL],
        given={"Global": [{**_LETTERS[0], "gp": {"S": "g"}, "gs": {"S": "x"}}, _LETTERS[2]]},
        request={
            "TableName": "Global",
            "IndexName": "KeysOnly",
            "KeyConditions": {"gp": condition("EQ", {"S": "g"})},
        },
        answer=_page([{**_LETTERS[0], "gp": {"S": "g"}}]),
        evidence="AWS guide, LegacyConditionalParameters.KeyConditions: a query on a table or on an index",
    ),
    Vector(
        "query_of_a_local_index_fetches_the_names_asked_for",
        operation="Query",
        tables=[LOCAL],
        given={"Local": [{**_LETTERS[0], "l": {"S": "x"}, "z": {"N": "1"}}]},
        request={
            "TableName": "Local",
            "IndexName": "KeysOnly",
            "KeyConditions": {"p": _P, "l": condition("EQ", {"S": "x"})},
            "AttributesToGet": ["z"],
        },
        answer=_page([{"z": {"N": "1"}}]),
        evidence="AWS API reference, Query: what a local index does not project is fetched from the table",
    ),
    Vector(
        "query_with_an_expression_for_all_but_the_key",
        operation="Query",
        tables=[HASH_RANGE],
        given={"HashRange": [{**item, "z": {"N": str(n)}} for n, item in enumerate(_LETTERS)]},
        request={
            "TableName": "HashRange",
            "KeyConditions": {"p": _P},
            "FilterExpression": "z > :z",
            "ProjectionExpression": "s",
            "ExpressionAttributeValues": {":z": {"N": "2"}},
        },
        answer={"Items": [{"s": {"S": "c"}}], "Count": 1, "ScannedCount": 4},
        evidence=f"{EXTENDDB}: KeyConditions is exempt when KeyConditionExpression is absent",
    ),
]


def _of_keys(
    name: str, conditions: Wire, message: str, evidence: str, table: Wire = HASH_RANGE, **more: Any
) -> Vector:
    return Vector(
        f"query_{name}_is_refused",
        operation="Query",
        tables=[table],
        request={"TableName": table["TableName"], "KeyConditions": conditions, **more},
        error=validation(message),
        evidence=evidence,
    )


_UNINDEXABLE = "Attempted conditional constraint is not an indexable operation"
_QUERY_TESTS = f"{DYNALITE} (test/query.js)"

KEY_REFUSALS = [
    refused(
        "query_by_no_conditions",
        "Query",
        "Conditions must be at least length 1",
        "DynamoDB Local 3.3",
        KeyConditions={},
    ),
    refused(
        "query_by_nothing",
        "Query",
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
        _QUERY_TESTS,
        QueryFilter={"a": condition("EQ", {"S": "a"})},
    ),
    refused(
        "query_by_too_many_values",
        "Query",
        f"{INVALID}Invalid number of argument(s) for the EQ ComparisonOperator",
        _QUERY_TESTS,
        KeyConditions={"a": condition("EQ", {"S": "a"}, {"S": "a"})},
        QueryFilter={},
    ),
    refused(
        "query_by_values_of_two_types",
        "Query",
        f"{INVALID}AttributeValues inside AttributeValueList must be of same type",
        _QUERY_TESTS,
        KeyConditions={"a": condition("IN", {"S": "b"}, {"N": "1"})},
    ),
    refused(
        "query_by_bounds_in_the_wrong_order",
        "Query",
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
        _QUERY_TESTS,
        KeyConditions={"a": condition("BETWEEN", {"S": "b"}, {"S": "a"})},
    ),
    refused(
        "query_whose_filter_is_looked_at_before_its_key",
        "Query",
        f"{INVALID}Invalid number of argument(s) for the LT ComparisonOperator",
        _QUERY_TESTS,
        KeyConditions={"a": condition("EQ", {})},
        QueryFilter={"a": {"ComparisonOperator": "LT"}},
        AttributesToGet=["a", "a"],
        ExclusiveStartKey={"a": {}},
    ),
    _of_keys(
        "without_the_partition_key",
        {"s": condition("EQ", {"S": "a"})},
        "Query condition missed key schema element: p",
        _QUERY_TESTS,
    ),
    _of_keys(
        "by_an_attribute_that_is_no_key",
        {"p": _P, "z": condition("NULL")},
        "Query condition missed key schema element: s",
        _QUERY_TESTS,
    ),
    _of_keys(
        "by_an_inequality_of_the_partition_key",
        {"p": condition("NE", {"N": "1"})},
        _UNINDEXABLE,
        _QUERY_TESTS,
    ),
    _of_keys("by_the_absence_of_the_partition_key", {"p": condition("NULL")}, _UNINDEXABLE, _QUERY_TESTS),
    _of_keys(
        "by_a_part_of_the_sort_key",
        {"p": _P, "s": condition("CONTAINS", {"S": "a"})},
        _UNINDEXABLE,
        _QUERY_TESTS,
    ),
    _of_keys(
        "by_sort_keys_in_a_list", {"p": _P, "s": condition("IN", {"S": "a"})}, _UNINDEXABLE, _QUERY_TESTS
    ),
    _of_keys(
        "by_a_range_of_partition_keys",
        {"p": condition("GE", {"S": "a"})},
        "Query key condition not supported",
        _QUERY_TESTS,
    ),
    _of_keys(
        "by_a_beginning_of_partition_keys",
        {"p": condition("BEGINS_WITH", {"S": "a"})},
        "Query key condition not supported",
        _QUERY_TESTS,
    ),
    _of_keys(
        "by_a_partition_key_of_another_type",
        {"p": condition("EQ", {"N": "1"})},
        f"{INVALID}Condition parameter type does not match schema type",
        _QUERY_TESTS,
    ),
    _of_keys(
        "by_a_sort_key_of_another_type",
        {"p": _P, "s": condition("GT", {"N": "1"})},
        f"{INVALID}Condition parameter type does not match schema type",
        _QUERY_TESTS,
    ),
    _of_keys(
        "that_filters_by_the_partition_key",
        {"p": _P},
        "QueryFilter can only contain non-primary key attributes: Primary key attribute: p",
        _QUERY_TESTS,
        HASH,
        QueryFilter={"p": _P},
    ),
    _of_keys(
        "that_filters_by_the_sort_key",
        {"p": _P},
        "QueryFilter can only contain non-primary key attributes: Primary key attribute: s",
        _QUERY_TESTS,
        QueryFilter={"s": _P, "z": _P},
    ),
    Vector(
        "query_of_a_missing_table_by_a_wrong_operator",
        operation="Query",
        request={"TableName": "Missing", "KeyConditions": {"p": condition("NULL")}},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence="Whether an attribute is a key is known with its table alone",
    ),
]

# --- QueryFilter -----------------------------------------------------------------------------

_ANIMALS = [
    {**_LETTERS[0], "x": {"S": "cat"}, "n": {"N": "1"}},
    {**_LETTERS[1], "x": {"S": "dog"}, "n": {"N": "1"}},
    {**_LETTERS[2], "x": {"S": "cat"}, "n": {"N": "2"}},
    {**_LETTERS[3], "flag": {"BOOL": True}},
]


def _filtered(name: str, chosen: Wire, places: list[int], evidence: str, **more: Any) -> Vector:
    return Vector(
        f"query_filter_{name}",
        operation="Query",
        tables=[HASH_RANGE],
        given={"HashRange": _ANIMALS},
        request={"TableName": "HashRange", "KeyConditions": {"p": _P}, "QueryFilter": chosen, **more},
        answer={
            "Items": [_ANIMALS[place] for place in places],
            "Count": len(places),
            "ScannedCount": len(_ANIMALS),
        },
        evidence=evidence,
    )


_CAT, _ONE = condition("EQ", {"S": "cat"}), condition("EQ", {"N": "1"})

FILTERS = [
    _filtered("keeps_what_it_holds_for", {"x": _CAT}, [0, 2], f"{CONFORMANCE}/queryFilter"),
    _filtered("of_truth", {"flag": condition("EQ", {"BOOL": True})}, [3], f"{CONFORMANCE}/queryFilter"),
    _filtered("combines_conditions_with_and", {"x": _CAT, "n": _ONE}, [0], SCYLLADB),
    _filtered(
        "combines_conditions_with_and_when_asked",
        {"x": _CAT, "n": _ONE},
        [0],
        SCYLLADB,
        ConditionalOperator="AND",
    ),
    _filtered(
        "combines_conditions_with_or_when_asked",
        {"x": _CAT, "n": _ONE},
        [0, 1, 2],
        SCYLLADB,
        ConditionalOperator="OR",
    ),
    _filtered("that_is_empty_keeps_all", {}, [0, 1, 2, 3], SCYLLADB),
    _filtered("of_an_attribute_that_no_item_has", {"z": _ONE}, [], SCYLLADB),
    Vector(
        "query_filter_counts_what_it_keeps_within_a_limit",
        operation="Query",
        tables=[HASH_RANGE],
        given={"HashRange": _ANIMALS},
        request={
            "TableName": "HashRange",
            "KeyConditions": {"p": _P},
            "QueryFilter": {"x": _CAT},
            "Limit": 2,
            "Select": "COUNT",
        },
        answer={"Count": 1, "ScannedCount": 2, "LastEvaluatedKey": _LETTERS[1]},
        evidence=f"{SCYLLADB} (test_query_filter_paging)",
    ),
]

VECTORS = [*KEY_CONDITIONS, *KEY_REFUSALS, *FILTERS]
