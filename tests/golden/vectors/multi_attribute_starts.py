"""Pages of global indexes with keys of several attributes, and start keys at which none of them ends."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including
from golden.vectors.multi_attribute_tables import BY_PK, ITEMS, ORDERS, PARITY, wide_index
from golden.vectors.tables import table
from golden.vectors.vector import Vector, Wire, validation

DYNOXIDE = (
    "Answer of the service, recorded in dynoxide 1.3 (tests/query_start_key_and_key_conditions.rs, eu-west-2 and "
    "us-east-1, October 2026)"
)
WIDE = table(
    "MultiWide",
    "pk",
    "sk",
    types=dict.fromkeys(("pk", "sk", "h1", "h2", "a", "b"), "S"),
    GlobalSecondaryIndexes=[wide_index("multi", "h1 h2", "a b")],
)

INVALID = "The provided starting key is invalid"
ONE_ROW = "The query can return at most one row and cannot be restarted"
OUTSIDE = "The provided starting key is outside query boundaries based on provided conditions"
PREDICATE = "The provided starting key does not match the range key predicate"
EMPTY: Wire = {"Items": [], "Count": 0, "ScannedCount": 0}
VALUES = {":h1": "x", ":h2": "y", ":a": "T", ":b": "m", ":m": "M"}


def start(h1: str, h2: str, a: str, b: str, /, **more: Wire | None) -> Wire:
    key = {"pk": "p1", "sk": "s1", "h1": h1, "h2": h2, "a": a, "b": b}
    given: dict[str, Any] = {**{name: {"S": value} for name, value in key.items()}, **more}
    return {name: value for name, value in given.items() if value is not None}


def query(name: str, condition: str, key: Wire, error: str | None, *, evidence: str = DYNOXIDE) -> Vector:
    words = condition.replace("(", " ").replace(")", " ").replace(",", " ").split()
    outcome: Any = {"answer": EMPTY} if error is None else {"error": validation(error)}
    return Vector(
        name,
        operation="Query",
        tables=[WIDE],
        request={
            "TableName": "MultiWide",
            "IndexName": "multi",
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": {
                mark: {"S": value} for mark, value in VALUES.items() if mark in words
            },
            "ExclusiveStartKey": key,
        },
        evidence=evidence,
        **outcome,
    )


HASHES = "h1 = :h1 AND h2 = :h2"
FIRST = f"{HASHES} AND a = :a"

STARTS = [
    query("start_in_another_first_partition_attribute", HASHES, start("q", "y", "T", "m"), ONE_ROW),
    query(
        "start_in_another_first_partition_attribute_and_sort_key", FIRST, start("q", "y", "F", "m"), ONE_ROW
    ),
    query("start_in_another_last_partition_attribute", HASHES, start("x", "q", "T", "m"), OUTSIDE),
    query(
        "start_in_another_last_partition_attribute_and_sort_key", FIRST, start("x", "q", "F", "m"), PREDICATE
    ),
    query(
        "start_in_another_last_partition_attribute_within_the_sort_key",
        FIRST,
        start("x", "q", "T", "m"),
        ONE_ROW,
        evidence=f"{DYNOXIDE}: a last partition attribute that differs, where a sort key condition follows it",
    ),
    query("start_beside_the_sort_attribute", FIRST, start("x", "y", "F", "m"), PREDICATE),
    query(
        "start_before_the_second_sort_attribute", f"{FIRST} AND b > :b", start("x", "y", "T", "a"), PREDICATE
    ),
    query(
        "start_before_the_first_sort_attribute", f"{HASHES} AND a > :m", start("x", "y", "A", "m"), PREDICATE
    ),
    query("start_at_the_open_end", f"{FIRST} AND b > :b", start("x", "y", "T", "m"), PREDICATE),
    query(
        "start_that_begins_otherwise", f"{FIRST} AND begins_with(b, :b)", start("x", "y", "T", "n"), PREDICATE
    ),
    query("start_within_the_condition", FIRST, start("x", "y", "T", "m"), None),
    query("start_within_the_second_sort_attribute", f"{FIRST} AND b >= :b", start("x", "y", "T", "m"), None),
    query("start_anywhere_in_the_partition", HASHES, start("x", "y", "Z", "z"), None),
    query("start_without_a_sort_attribute", HASHES, start("x", "y", "T", "m", b=None), INVALID),
    query("start_without_the_key_of_the_table", HASHES, start("x", "y", "T", "m", sk=None), INVALID),
    query("start_with_one_more", HASHES, start("x", "y", "T", "m", z={"S": "z"}), INVALID),
    query("start_with_another_name", HASHES, start("x", "y", "T", "m", b=None, z={"S": "z"}), INVALID),
    query(
        "start_with_a_sort_attribute_of_another_type",
        HASHES,
        start("x", "y", "T", "m", b={"N": "1"}),
        INVALID,
    ),
    query(
        "start_with_a_partition_attribute_of_another_type",
        HASHES,
        start("x", "y", "T", "m", h2={"N": "1"}),
        INVALID,
    ),
]


def page(
    name: str, pks: list[str], last: str | None, *, limit: int, after: str | None, **more: Any
) -> Vector:
    answer: Wire = {"Items": [BY_PK[pk] for pk in pks], "Count": len(pks), "ScannedCount": len(pks)}
    if last is not None:
        answer["LastEvaluatedKey"] = BY_PK[last]
    begin = {} if after is None else {"ExclusiveStartKey": BY_PK[after]}
    return Vector(
        name,
        operation="Query",
        tables=[ORDERS],
        given={"MultiOrders": ITEMS},
        request={
            "TableName": "MultiOrders",
            "IndexName": "gsi",
            "KeyConditionExpression": "h = :h AND a = :a",
            "ExpressionAttributeValues": {":h": {"S": "o1"}, ":a": {"S": "T"}},
            "Limit": limit,
            **begin,
            **more,
        },
        answer=answer,
        evidence=f"{PARITY}: the cursor holds the key of the table and all attributes of the index",
    )


PAGES = [
    page("first_page", ["p4", "p3"], "p3", limit=2, after=None),
    page("second_page", ["p2", "p1"], "p1", limit=2, after="p3"),
    page("page_behind_the_last", [], None, limit=2, after="p1"),
    page("page_that_is_not_full", ["p2", "p1"], None, limit=3, after="p3"),
    page("first_page_backwards", ["p1", "p2", "p3"], "p3", limit=3, after=None, ScanIndexForward=False),
    page("last_page_backwards", ["p4"], None, limit=3, after="p3", ScanIndexForward=False),
    Vector(
        "scan_of_the_index_goes_on_behind_a_cursor",
        operation="Scan",
        tables=[ORDERS],
        given={"MultiOrders": ITEMS},
        request={"TableName": "MultiOrders", "IndexName": "gsi", "ExclusiveStartKey": BY_PK["p2"]},
        answer=including({"Items": [BY_PK["p1"]], "Count": 1}),
        evidence="Answer of the service, recorded in dynoxide 1.3: a scan sees the order of the index",
    ),
]

VECTORS = [*STARTS, *PAGES]
