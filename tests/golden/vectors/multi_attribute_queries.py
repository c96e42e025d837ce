"""Queries of global indexes with keys of several attributes."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including
from golden.vectors.multi_attribute_tables import BY_PK, DYNOXIDE, ITEMS, LOCAL, ORDERS, PARITY, wide_index
from golden.vectors.tables import table
from golden.vectors.vector import Vector, Wire, validation

MOTO = "moto's tests of multi-attribute keys, which are marked as verified against AWS"
GUIDE = 'AWS developer guide, "Global secondary indexes", "Multi-attribute key schema"'

TYPED = table(
    "MultiTyped",
    "pk",
    types={"pk": "S", "h1": "S", "h2": "N", "s": "N", "h": "S", "n1": "N", "bb": "B"},
    GlobalSecondaryIndexes=[
        wide_index("byPair", "h1 h2", "s"),
        wide_index("byNumberThenBytes", "h", "n1 bb", projection="KEYS_ONLY"),
    ],
)


VALUES: Wire = {
    **{
        f":{name}": {"S": value}
        for name, value in {"h": "o1", "a": "T", "b": "live", "c": "a", "d": "r"}.items()
    },
    ":x": {"S": "r1"},
    ":y": {"S": "r1"},
    ":n": {"N": "1"},
    ":empty": {"S": ""},
    ":long": {"S": "x" * 1025},
    ":flag": {"BOOL": True},
}


def used(condition: str) -> Wire:
    words = condition.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return {name: value for name, value in VALUES.items() if name in words}


def found(name: str, condition: str, pks: list[str], evidence: str, **more: Any) -> Vector:
    items = [BY_PK[pk] for pk in pks]
    return Vector(
        name,
        operation="Query",
        tables=[ORDERS],
        given={"MultiOrders": ITEMS},
        request={
            "TableName": "MultiOrders",
            "IndexName": "gsi",
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": used(condition),
            **more,
        },
        answer=including({"Items": items, "Count": len(items), "ScannedCount": len(items)}),
        evidence=evidence,
    )


def refused(name: str, condition: str, message: str, evidence: str, **more: Any) -> Vector:
    return Vector(
        name,
        operation="Query",
        tables=[ORDERS],
        request={
            "TableName": "MultiOrders",
            "IndexName": "gsi",
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": used(condition),
            **more,
        },
        error=validation(message),
        evidence=evidence,
    )


def gap(missing: str, present: str) -> str:
    return (
        f"RANGE key attributes {missing} must have equality conditions specified in the query because a condition "
        f"is present on key attribute {present}"
    )


def unequal(missing: str) -> str:
    return f"HASH key attributes {missing} must have equality conditions specified in the query"


QUERIES = [
    found(
        "partition_is_read_in_the_order_of_all_sort_attributes",
        "h = :h",
        ["p5", "p4", "p3", "p2", "p1"],
        PARITY,
    ),
    found("equality_with_the_first_sort_attribute", "h = :h AND a = :a", ["p4", "p3", "p2", "p1"], PARITY),
    found("backwards", "h = :h AND a = :a", ["p1", "p2", "p3", "p4"], PARITY, ScanIndexForward=False),
    found("equality_with_two_sort_attributes", "h = :h AND a = :a AND b = :b", ["p3", "p2", "p1"], PARITY),
    found(
        "equality_with_three_sort_attributes", "h = :h AND a = :a AND b = :b AND c = :c", ["p3", "p2"], PARITY
    ),
    found(
        "equality_with_all_sort_attributes",
        "h = :h AND a = :a AND b = :b AND c = :c AND d = :x",
        ["p3"],
        GUIDE,
    ),
    found("range_of_the_last_that_is_named", "h = :h AND a = :a AND b = :b AND c > :c", ["p1"], PARITY),
    found("range_of_the_second", "h = :h AND a = :a AND b < :b", ["p4"], PARITY),
    found("range_of_the_first", "h = :h AND a < :a", ["p5"], MOTO),
    found("range_with_its_end", "h = :h AND a = :a AND b <= :b", ["p4", "p3", "p2", "p1"], GUIDE),
    found("range_from_its_start", "h = :h AND a = :a AND b >= :b", ["p3", "p2", "p1"], GUIDE),
    found(
        "beginning_of_the_fourth",
        "h = :h AND a = :a AND b = :b AND c = :c AND begins_with(d, :d)",
        ["p3", "p2"],
        PARITY,
    ),
    found(
        "between_in_the_fourth",
        "h = :h AND a = :a AND b = :b AND c = :c AND d BETWEEN :x AND :y",
        ["p3"],
        PARITY,
    ),
    found("clauses_in_another_order", "b = :b AND h = :h AND a = :a", ["p3", "p2", "p1"], PARITY),
    found("values_before_their_attributes", ":h = h AND :a = a AND :b > b", ["p4"], PARITY),
    found("nothing_in_another_partition", "h = :x", [], GUIDE),
]

REFUSED = [
    refused("gap_between_sort_attributes", "h = :h AND a = :a AND c = :c", gap("b", "c"), PARITY),
    refused("range_before_the_last", "h = :h AND a = :a AND b > :b AND c = :c", gap("b", "c"), PARITY),
    refused("first_sort_attribute_left_out", "h = :h AND b = :b", gap("a", "b"), PARITY),
    refused("three_sort_attributes_left_out", "h = :h AND d = :d", gap("a, b, c", "d"), DYNOXIDE),
    refused("partition_attribute_left_out", "a = :a", unequal("h"), DYNOXIDE),
    refused("range_of_a_partition_attribute", "h > :h", unequal("h"), DYNOXIDE),
    refused(
        "attribute_that_is_no_key",
        "h = :h AND z = :x",
        "Query condition missed key schema element: a",
        DYNOXIDE,
    ),
    refused(
        "more_conditions_than_attributes",
        "h = :h AND a = :a AND b = :b AND c = :c AND d = :d AND pk = :h",
        "The number of query conditions (6) exceeds the number of key attributes defined in the schema (5)",
        DYNOXIDE,
    ),
    refused(
        "two_conditions_on_one_attribute",
        "h = :h AND a > :a AND a < :b",
        "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        "Answer of the service for a key of two attributes, paritysuite/dynamodb-conformance "
        "(tests/tier3/error-messages/queryKeyConditionOperands.test.ts)",
    ),
    refused(
        "sort_attribute_of_another_type",
        "h = :h AND a = :a AND b = :n",
        "One or more parameter values were invalid: Condition parameter type does not match schema type",
        DYNOXIDE,
    ),
    refused(
        "partition_attribute_compared_with_a_flag",
        "h = :flag",
        "One or more parameter values were invalid: Condition parameter type does not match schema type",
        DYNOXIDE,
    ),
    refused(
        "range_of_a_sort_attribute_and_a_flag",
        "h = :h AND a > :flag",
        "Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: "
        ">, operand type: BOOL",
        DYNOXIDE,
    ),
    refused(
        "empty_value_of_a_sort_attribute",
        "h = :h AND a = :a AND b = :empty",
        "One or more parameter values are not valid. A value specified for a secondary index key is not "
        "supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: gsi, "
        "IndexKey: b",
        "Answer of the service to a query of an index, github.com/praetorian-inc/chariot-ui/issues/353",
    ),
    refused(
        "sort_attribute_longer_than_any_key",
        "h = :h AND a = :a AND b = :long",
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit "
        "of 1024 bytes",
        LOCAL,
    ),
    refused(
        "consistent_read",
        "h = :h",
        "Consistent reads are not supported on global secondary indexes",
        "Answer of the service, paritysuite/dynamodb-conformance (tests/tier3/error-messages/indexReads.test.ts)",
        ConsistentRead=True,
    ),
    refused(
        "filter_of_a_later_sort_attribute",
        "h = :h AND a = :a",
        "Filter Expression can only contain non-primary key attributes: Primary key attribute: c",
        "AWS API reference, Query, FilterExpression: it does not allow key attributes",
        FilterExpression="attribute_exists(c)",
    ),
]

LEGACY = [
    Vector(
        "legacy_conditions_on_three_attributes",
        operation="Query",
        tables=[ORDERS],
        given={"MultiOrders": ITEMS},
        request={
            "TableName": "MultiOrders",
            "IndexName": "gsi",
            "KeyConditions": {
                "h": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "o1"}]},
                "a": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "T"}]},
                "b": {"ComparisonOperator": "LT", "AttributeValueList": [{"S": "live"}]},
            },
        },
        answer=including({"Items": [BY_PK["p4"]]}),
        evidence=MOTO,
    ),
    Vector(
        "legacy_conditions_with_a_gap",
        operation="Query",
        tables=[ORDERS],
        request={
            "TableName": "MultiOrders",
            "IndexName": "gsi",
            "KeyConditions": {
                "h": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "o1"}]},
                "b": {"ComparisonOperator": "LT", "AttributeValueList": [{"S": "live"}]},
            },
        },
        error=validation(gap("a", "b")),
        evidence=f"{MOTO}; the words are those of a key condition expression",
    ),
]


def typed(pk: str, **more: Wire) -> Wire:
    return {"pk": {"S": pk}, **more}


def pair(pk: str, h2: str, s: str) -> Wire:
    return typed(pk, h1={"S": "g"}, h2={"N": h2}, s={"N": s})


def blob(pk: str, n1: str, bb: str) -> Wire:
    return typed(pk, h={"S": "n"}, n1={"N": n1}, bb={"B": bb})


PAIRS = [
    *(pair("q1", "1", "-5"), pair("q2", "1", "10"), pair("q3", "1", "2.5"), pair("q4", "2", "7")),
    typed("q5", h1={"S": "g"}, s={"N": "1"}),
    pair("q6", "1.0", "100"),
]
BLOBS = [
    *(blob("r1", "-10", "AA=="), blob("r2", "2", "/w=="), blob("r3", "2", "AQ=="), blob("r4", "10", "AA==")),
    *(blob("r5", "0.5", "EA=="), typed("r6", h={"S": "n"}, n1={"N": "2"}), blob("r7", "2", "AAE=")),
]


def by_type(name: str, items: list[Wire], index: str, condition: str, values: Wire, pks: list[str]) -> Vector:
    return Vector(
        name,
        operation="Query",
        tables=[TYPED],
        given={"MultiTyped": items},
        request={
            "TableName": "MultiTyped",
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
        },
        answer=including({"Items": [including({"pk": {"S": pk}}) for pk in pks], "Count": len(pks)}),
        evidence=DYNOXIDE,
    )


G: Wire = {":g": {"S": "g"}, ":one": {"N": "1"}}
TYPES = [
    by_type("numbers_match_by_value", PAIRS, "byPair", "h1 = :g AND h2 = :one", G, ["q1", "q3", "q2", "q6"]),
    by_type(
        "sort_key_beside_two_partition_attributes",
        PAIRS,
        "byPair",
        "s > :z AND h2 = :one AND h1 = :g",
        {**G, ":z": {"N": "0"}},
        ["q3", "q2", "q6"],
    ),
    by_type(
        "numbers_and_bytes_keep_their_own_order",
        BLOBS,
        "byNumberThenBytes",
        "h = :h",
        {":h": {"S": "n"}},
        ["r1", "r5", "r7", "r3", "r2", "r4"],
    ),
    by_type(
        "bytes_behind_a_zero_byte",
        BLOBS,
        "byNumberThenBytes",
        "h = :h AND n1 = :two AND bb > :b",
        {":h": {"S": "n"}, ":two": {"N": "2.0"}, ":b": {"B": "AA=="}},
        ["r7", "r3", "r2"],
    ),
    by_type(
        "bytes_that_begin_with_a_zero_byte",
        BLOBS,
        "byNumberThenBytes",
        "h = :h AND n1 = :two AND begins_with(bb, :p)",
        {":h": {"S": "n"}, ":two": {"N": "2"}, ":p": {"B": "AA=="}},
        ["r7"],
    ),
    by_type(
        "numbers_between_two",
        BLOBS,
        "byNumberThenBytes",
        "h = :h AND n1 BETWEEN :lo AND :hi",
        {":h": {"S": "n"}, ":lo": {"N": "0"}, ":hi": {"N": "5"}},
        ["r5", "r7", "r3", "r2"],
    ),
    *(
        Vector(
            f"partition_of_two_attributes_queried_by_{name}",
            operation="Query",
            tables=[TYPED],
            request={
                "TableName": "MultiTyped",
                "IndexName": "byPair",
                "KeyConditionExpression": condition,
                "ExpressionAttributeValues": {mark: value for mark, value in G.items() if mark in condition},
            },
            error=validation(unequal(missing)),
            evidence=DYNOXIDE,
        )
        for name, condition, missing in (
            ("the_first_alone", "h1 = :g", "h2"),
            ("the_second_alone", "h2 = :one", "h1"),
            ("the_sort_key_alone", "s = :one", "h1, h2"),
            ("a_range_of_the_second", "h1 = :g AND h2 > :one", "h2"),
        )
    ),
    Vector(
        "index_of_keys_holds_all_of_them",
        operation="Query",
        tables=[TYPED],
        given={"MultiTyped": [{**blob("r1", "1", "AA=="), "z": {"S": "left out"}}]},
        request={
            "TableName": "MultiTyped",
            "IndexName": "byNumberThenBytes",
            "KeyConditionExpression": "h = :h",
            "ExpressionAttributeValues": {":h": {"S": "n"}},
        },
        answer={"Items": [blob("r1", "1", "AA==")], "Count": 1, "ScannedCount": 1},
        evidence='AWS developer guide, "Global secondary indexes", "Attribute projections": with the keys, always',
    ),
]


VECTORS = [*QUERIES, *REFUSED, *LEGACY, *TYPES]
