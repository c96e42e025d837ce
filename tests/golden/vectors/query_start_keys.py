"""Query: pages, the cursors that they end with, and start keys at which no page ends."""

from __future__ import annotations

from typing import Any

from golden.vectors.query_key_conditions import DYNOXIDE, ITEMS, WORDS, refused
from golden.vectors.tables import GLOBAL, HASH, HASH_RANGE, LOCAL, NUMBER_RANGE
from golden.vectors.vector import Vector, Wire, then

PAGING = 'AWS developer guide, "Paginating table query results in DynamoDB"'
INVALID = "The provided starting key is invalid"
OUTSIDE = "The provided starting key is outside query boundaries based on provided conditions"
PREDICATE = "The provided starting key does not match the range key predicate"
ONE_ROW = "The query can return at most one row and cannot be restarted"


def text(**members: str) -> Wire:
    return {name: {"S": value} for name, value in members.items()}


def page(
    name: str, words: list[str], *, last: str | None, evidence: str = PAGING, **parameters: Any
) -> Vector:
    items = [text(p="a", s=word) for word in words]
    answer: Wire = {"Items": items, "Count": len(items), "ScannedCount": len(items)}
    if last is not None:
        answer["LastEvaluatedKey"] = text(p="a", s=last)
    return Vector(
        name,
        operation="Query",
        tables=[HASH_RANGE],
        given={"HashRange": ITEMS["HashRange"]},
        request={
            "TableName": "HashRange",
            "KeyConditionExpression": "p = :p",
            "ExpressionAttributeValues": {":p": {"S": "a"}},
            **parameters,
        },
        answer=answer,
        evidence=evidence,
    )


def start(
    name: str, condition: str, key: Wire, message: str, *, table: Wire = NUMBER_RANGE, **more: Any
) -> Vector:
    given = more.pop("given", {"v": {"N": "2"}})
    return refused(
        name,
        condition,
        message,
        DYNOXIDE,
        table=table,
        parameters={"ExclusiveStartKey": key, **more},
        **given,
    )


INDEX_START = text(p="a", s="1", gp="a", gs="m")
PAGES = [
    page("limit_ends_a_page", WORDS[:3], last="a", Limit=3),
    page(
        "page_goes_on_behind_its_start",
        WORDS[3:6],
        last="apricot",
        Limit=3,
        ExclusiveStartKey=text(p="a", s="a"),
    ),
    page("page_that_ends_with_the_partition_has_a_cursor", WORDS, last="d", Limit=9),
    page("page_that_is_not_full_has_none", WORDS, last=None, Limit=10),
    page("page_behind_the_last_item", [], last=None, Limit=3, ExclusiveStartKey=text(p="a", s="d")),
    page("start_at_an_item_that_is_not_there", WORDS[7:], last=None, ExclusiveStartKey=text(p="a", s="bb")),
    page(
        "page_backwards",
        ["c", "b"],
        last="b",
        Limit=2,
        ScanIndexForward=False,
        ExclusiveStartKey=text(p="a", s="d"),
    ),
    page(
        "page_within_a_range",
        ["apple", "apricot"],
        last="apricot",
        Limit=2,
        ExclusiveStartKey=text(p="a", s="ap"),
        KeyConditionExpression="p = :p AND begins_with(s, :v)",
        ExpressionAttributeValues={":p": {"S": "a"}, ":v": {"S": "ap"}},
        evidence=DYNOXIDE,
    ),
    Vector(
        "cursor_of_a_global_index_holds_both_keys",
        operation="Query",
        tables=[GLOBAL],
        given={"Global": [INDEX_START]},
        request={
            "TableName": "Global",
            "IndexName": "All",
            "KeyConditionExpression": "gp = :g",
            "ExpressionAttributeValues": {":g": {"S": "a"}},
            "Limit": 1,
        },
        answer={"Items": [INDEX_START], "Count": 1, "ScannedCount": 1, "LastEvaluatedKey": INDEX_START},
        after=[
            then(
                "Query",
                {
                    "TableName": "Global",
                    "IndexName": "All",
                    "KeyConditionExpression": "gp = :g",
                    "ExpressionAttributeValues": {":g": {"S": "a"}},
                    "ExclusiveStartKey": INDEX_START,
                },
                {"Items": [], "Count": 0, "ScannedCount": 0},
            )
        ],
        evidence=PAGING,
    ),
    start("start_key_without_attributes", "p = :p", {}, INVALID),
    start("start_key_without_the_sort_key", "p = :p", text(p="a"), INVALID),
    start("start_key_without_the_partition_key", "p = :p", {"n": {"N": "1"}}, INVALID),
    start("start_key_with_one_more", "p = :p", {**text(p="a", z="z"), "n": {"N": "1"}}, INVALID),
    start("start_key_with_a_sort_key_of_another_type", "p = :p", text(p="a", n="1"), INVALID),
    start("start_key_with_a_null", "p = :p", {"p": {"NULL": True}, "n": {"N": "1"}}, INVALID),
    start("start_key_with_a_set", "p = :p", {"p": {"SS": ["a"]}, "n": {"N": "1"}}, INVALID),
    start("start_key_with_a_map", "p = :p", {"p": {"M": {}}, "n": {"N": "1"}}, INVALID),
    start(
        "start_key_that_is_empty_text",
        "p = :p",
        {"p": {"S": ""}, "n": {"N": "1"}},
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
        "empty string value. Key: p",
    ),
    start("start_key_with_one_more_than_a_partition_key", "p = :p", text(p="a", z="z"), INVALID, table=HASH),
    start(
        "start_key_of_another_type_than_the_partition_key", "p = :p", {"p": {"N": "1"}}, INVALID, table=HASH
    ),
    start(
        "start_in_another_partition_without_a_sort_key",
        "p = :p",
        text(p="b"),
        "The provided exclusive start key is invalid",
        table=HASH,
    ),
    start("start_in_another_partition", "p = :p", {"p": {"S": "b"}, "n": {"N": "1"}}, OUTSIDE),
    start("start_beside_a_range", "p = :p AND n < :v", {"p": {"S": "a"}, "n": {"N": "5"}}, PREDICATE),
    start(
        "start_beside_a_range_in_another_partition",
        "p = :p AND n < :v",
        {"p": {"S": "b"}, "n": {"N": "5"}},
        PREDICATE,
    ),
    start(
        "start_within_a_range_in_another_partition",
        "p = :p AND n > :v",
        {"p": {"S": "b"}, "n": {"N": "5"}},
        ONE_ROW,
    ),
    start(
        "start_of_an_index_with_keys_of_the_table",
        "gp = :p",
        text(p="a", s="1"),
        INVALID,
        table=GLOBAL,
        IndexName="All",
    ),
    start(
        "start_of_an_index_with_its_own_keys",
        "gp = :p",
        text(gp="a", gs="m"),
        INVALID,
        table=GLOBAL,
        IndexName="All",
    ),
    start(
        "start_in_another_partition_of_an_index",
        "gp = :p",
        {**INDEX_START, **text(gp="b")},
        OUTSIDE,
        table=GLOBAL,
        IndexName="All",
    ),
    start(
        "start_in_another_partition_of_an_index_without_a_sort_key",
        "gp = :p",
        text(p="a", s="1", gp="b"),
        OUTSIDE,
        table=GLOBAL,
        IndexName="KeysOnly",
    ),
    start(
        "start_beside_a_range_of_an_index",
        "gp = :p AND begins_with(gs, :v)",
        INDEX_START,
        PREDICATE,
        table=GLOBAL,
        IndexName="All",
        given={"v": {"S": "ab"}},
    ),
    start(
        "start_in_another_partition_of_a_local_index",
        "p = :p",
        text(p="b", s="1", l="m"),
        OUTSIDE,
        table=LOCAL,
        IndexName="All",
    ),
    start(
        "start_beside_a_range_of_a_local_index",
        "p = :p AND l > :v",
        text(p="b", s="1", l="a"),
        PREDICATE,
        table=LOCAL,
        IndexName="All",
        given={"v": {"S": "m"}},
    ),
]

VECTORS = PAGES
