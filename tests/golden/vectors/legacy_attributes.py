"""AttributesToGet, from before there were projection expressions, and what it selects together with Select."""

from __future__ import annotations

from typing import Any

from golden.vectors.legacy_conditions import DYNALITE, KEY, SCYLLADB, condition
from golden.vectors.matching import unordered
from golden.vectors.tables import GLOBAL, HASH, HASH_RANGE
from golden.vectors.vector import Vector, Wire, validation

CONFORMANCE = "Public DynamoDB conformance suite, legacy-api"
DYNOXIDE = (
    "Answer of the service in eu-west-2 and eu-central-1, 20 October 2026, recorded in dynoxide 3.2 "
    "(tests/scan_member_stages.rs)"
)
MOTO = "moto's test_dynamodb_select.py, verified against the service in us-east-1"
INVALID = "One or more parameter values were invalid: "

# --- AttributesToGet -------------------------------------------------------------------------

_ITEM: Wire = {**KEY, "x": {"N": "1"}, "y": {"S": "cat"}, "m": {"M": {"a": {"N": "1"}}}}


def _get(name: str, names: list[str], found: Wire, evidence: str) -> Vector:
    return Vector(
        name,
        operation="GetItem",
        tables=[HASH],
        given={"Hash": [_ITEM]},
        request={"TableName": "Hash", "Key": KEY, "AttributesToGet": names},
        answer={"Item": found},
        evidence=evidence,
    )


def refused(name: str, operation: str, message: str, evidence: str, **request: Any) -> Vector:
    """Return a request that is refused whatever is stored."""
    if operation != "BatchGetItem":
        request = {"TableName": "Hash", **request}
    return Vector(
        name,
        operation=operation,
        tables=[HASH, HASH_RANGE, GLOBAL],
        request=request,
        error=validation(message),
        evidence=evidence,
    )


_DUPLICATE = f"{INVALID}Duplicate value in attribute name: a"

ATTRIBUTES_TO_GET = [
    _get(
        "get_returns_the_attributes_asked_for_and_no_key",
        ["x", "m"],
        {"x": _ITEM["x"], "m": _ITEM["m"]},
        f"{CONFORMANCE}/attributesToGet",
    ),
    _get("get_returns_the_key_when_asked_for", ["p"], KEY, SCYLLADB),
    _get(
        "get_of_attributes_that_are_not_there_finds_an_empty_item",
        ["z"],
        {},
        f"{SCYLLADB} (test_getitem_attributes_to_get)",
    ),
    _get(
        "name_with_a_dot_leads_into_no_map",
        ["m.a"],
        {},
        "AWS API reference: AttributesToGet names top-level attributes",
    ),
    Vector(
        "get_of_a_missing_item_finds_none",
        operation="GetItem",
        tables=[HASH],
        request={"TableName": "Hash", "Key": KEY, "AttributesToGet": ["x"]},
        answer={},
        evidence="AWS API reference, GetItem: if there is no matching item, there will be no Item element",
    ),
    Vector(
        "batch_returns_the_attributes_asked_for_of_each_table",
        operation="BatchGetItem",
        tables=[HASH, HASH_RANGE],
        given={"Hash": [_ITEM], "HashRange": [{**KEY, "s": {"S": "b"}, "x": {"N": "2"}}]},
        request={
            "RequestItems": {
                "Hash": {"Keys": [KEY], "AttributesToGet": ["p", "x"]},
                "HashRange": {"Keys": [{**KEY, "s": {"S": "b"}}]},
            }
        },
        answer={
            "Responses": {
                "Hash": [{**KEY, "x": {"N": "1"}}],
                "HashRange": [{**KEY, "s": {"S": "b"}, "x": {"N": "2"}}],
            },
            "UnprocessedKeys": {},
        },
        evidence=f"{CONFORMANCE}/attributesToGet",
    ),
    Vector(
        "scan_returns_the_attributes_asked_for",
        operation="Scan",
        tables=[HASH],
        given={"Hash": [_ITEM, {"p": {"S": "b"}, "y": {"S": "dog"}}]},
        request={"TableName": "Hash", "AttributesToGet": ["x"], "Select": "SPECIFIC_ATTRIBUTES"},
        answer={"Items": unordered([{"x": {"N": "1"}}, {}]), "Count": 2, "ScannedCount": 2},
        evidence=f"{CONFORMANCE}/attributesToGet",
    ),
    refused(
        "get_of_a_name_twice",
        "GetItem",
        _DUPLICATE,
        f"{DYNALITE} (test/getItem.js)",
        Key=KEY,
        AttributesToGet=["a", "b", "a"],
    ),
    refused(
        "scan_for_a_name_twice",
        "Scan",
        _DUPLICATE,
        f"{DYNALITE} (test/scan.js)",
        AttributesToGet=["a", "a"],
        ScanFilter={"a": condition("EQ", {})},
    ),
    refused(
        "query_for_a_name_twice",
        "Query",
        _DUPLICATE,
        f"{DYNALITE} (test/query.js)",
        AttributesToGet=["a", "a"],
        QueryFilter={},
        ExclusiveStartKey={"a": {}},
    ),
    refused(
        "batch_for_a_name_twice_and_a_key_twice",
        "BatchGetItem",
        _DUPLICATE,
        f"{DYNALITE} (test/batchGetItem.js)",
        RequestItems={"Hash": {"Keys": [KEY, KEY], "AttributesToGet": ["a", "a"]}},
    ),
    refused(
        "get_of_no_names",
        "GetItem",
        "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy constraint: Member must "
        "have length greater than or equal to 1",
        f"{DYNALITE} (test/getItem.js)",
        Key=KEY,
        AttributesToGet=[],
    ),
    refused(
        "get_of_an_empty_name",
        "GetItem",
        "Empty attribute name",
        "DynamoDB Local 3.3",
        Key=KEY,
        AttributesToGet=[""],
    ),
    refused(
        "get_with_names_of_both_kinds",
        "GetItem",
        "Can not use both expression and non-expression parameters in the same request: Non-expression "
        "parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}",
        f"{DYNALITE} (test/getItem.js)",
        Key={"a": {}},
        AttributesToGet=["a", "a"],
        ProjectionExpression="",
    ),
    refused(
        "batch_with_names_of_both_kinds_in_two_tables",
        "BatchGetItem",
        "Can not use both expression and non-expression parameters in the same request: Non-expression "
        "parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}",
        "DynamoDB Local 3.3, which asks this across the tables",
        RequestItems={
            "Hash": {"Keys": [KEY], "AttributesToGet": ["a"]},
            "HashRange": {"Keys": [KEY], "ProjectionExpression": "a"},
        },
    ),
    refused(
        "get_with_placeholders_for_no_expression",
        "GetItem",
        "ExpressionAttributeNames can only be specified when using expressions",
        f"{DYNALITE} (test/getItem.js)",
        Key={"a": {}},
        AttributesToGet=["a", "a"],
        ExpressionAttributeNames={},
    ),
]


def _selecting(operation: str, select: str, words: str) -> Vector:
    request: Wire = {"TableName": "Global", "IndexName": "All", "AttributesToGet": ["gp"], "Select": select}
    if operation == "Query":
        request["KeyConditions"] = {"gp": condition("EQ", {"S": "value"})}
    message = f"1 validation error detected: Cannot specify the AttributesToGet when choosing to get {words}"
    evidence = MOTO if operation == "Query" else DYNOXIDE
    return refused(
        f"{operation.lower()}_of_names_and_{select.lower()}", operation, message, evidence, **request
    )


SELECTIONS = [
    _selecting("Query", "ALL_ATTRIBUTES", "ALL_ATTRIBUTES"),
    _selecting("Query", "ALL_PROJECTED_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),
    _selecting("Query", "COUNT", "only the Count"),
    _selecting("Scan", "ALL_ATTRIBUTES", "ALL_ATTRIBUTES"),
    _selecting("Scan", "COUNT", "only the Count"),
    refused(
        "query_of_specific_attributes_without_names",
        "Query",
        "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when choosing to "
        "get SPECIFIC_ATTRIBUTES",
        MOTO,
        KeyConditions={"p": condition("EQ", {"S": "a"})},
        Select="SPECIFIC_ATTRIBUTES",
    ),
    refused(
        "query_of_all_projected_attributes_of_a_table",
        "Query",
        "1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        MOTO,
        KeyConditions={"p": condition("EQ", {"S": "a"})},
        Select="ALL_PROJECTED_ATTRIBUTES",
    ),
]

VECTORS = [*ATTRIBUTES_TO_GET, *SELECTIONS]
