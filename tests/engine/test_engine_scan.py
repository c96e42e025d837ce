"""Scan: whole tables and indexes, parallel segments, filters; and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Database
from support.sample_tables import all_items, all_pages, attributes, index, invalid, key_schema, n, refusal, s

COUNT = 240


@pytest.fixture(scope="module")
def town(calm_db: Database) -> Database:
    """240 people in 80 streets, some of whom have a phone."""
    calm_db.create_table(
        TableName="town",
        KeySchema=key_schema("street", "house"),
        AttributeDefinitions=attributes(street="S", house="N", phone="S"),
        GlobalSecondaryIndexes=[
            index("by-phone", "phone"),
            index("by-house", "house", projection="KEYS_ONLY"),
        ],
        LocalSecondaryIndexes=[index("local", "street", "phone", projection="KEYS_ONLY")],
        BillingMode="PAY_PER_REQUEST",
    )
    for start in range(0, COUNT, 24):
        writes: list[Any] = [{"PutRequest": {"Item": person(number)}} for number in range(start, start + 24)]
        calm_db.batch_write_item(RequestItems={"town": writes})
    return calm_db


def person(number: int) -> dict[str, Any]:
    item = {"street": s(f"street {number % 80}"), "house": n(number // 80), "number": n(number)}
    return item if number % 4 else {**item, "phone": s(f"{number % 20}")}


def identity(item: Any) -> tuple[str, int]:
    return item["street"]["S"], int(item["house"]["N"])


EVERYONE = sorted(identity(person(number)) for number in range(COUNT))
CALLABLE = sorted(identity(person(number)) for number in range(0, COUNT, 4))


@pytest.mark.parametrize("limit", [None, 1, 13, COUNT, COUNT + 1])
@pytest.mark.parametrize(
    ("name", "wanted"),
    [(None, EVERYONE), ("by-phone", CALLABLE), ("by-house", EVERYONE), ("local", CALLABLE)],
    ids=["table", "sparse", "crowded", "local"],
)
def test_pages_of_any_size_give_every_item_once(
    town: Database, name: str | None, wanted: list[Any], limit: int | None
) -> None:
    request: dict[str, Any] = {"TableName": "town"}
    if name is not None:
        request["IndexName"] = name
    if limit is not None:
        request["Limit"] = limit
    pages = all_pages(town, "scan", **request)
    assert sorted(identity(item) for page in pages for item in page["Items"]) == wanted
    if limit is not None:
        assert all(page["ScannedCount"] == limit for page in pages[:-1])


@pytest.mark.parametrize("total", [1, 2, 3, 7, 64, 1_000_000])
@pytest.mark.parametrize("name", [None, "by-phone", "local"], ids=["table", "global", "local"])
def test_segments_cover_everything_once(town: Database, name: str | None, total: int) -> None:
    request: dict[str, Any] = {"TableName": "town", "TotalSegments": total, "Limit": 17}
    if name is not None:
        request["IndexName"] = name
    segments = range(total) if total < 100 else [*range(3), *range(total - 3, total)]
    parts = [all_items(town, "scan", **request, Segment=segment) for segment in segments]
    items = [identity(item) for part in parts for item in part]
    assert len(items) == len(set(items))
    if total < 100:
        assert sorted(items) == (EVERYONE if name is None else CALLABLE)
    if 1 < total < 10 and name is None:
        assert all(parts), "every segment has a share of 80 partitions"


def test_an_item_collection_is_never_split_between_segments(town: Database) -> None:
    streets: dict[str, int] = {}
    for segment in range(5):
        for item in all_items(town, "scan", TableName="town", TotalSegments=5, Segment=segment):
            assert streets.setdefault(item["street"]["S"], segment) == segment
    assert len(streets) == 80


def test_a_cursor_belongs_to_its_segment(town: Database) -> None:
    cursors = [
        town.scan(TableName="town", TotalSegments=2, Segment=segment, Limit=1)["LastEvaluatedKey"]
        for segment in range(2)
    ]
    town.scan(TableName="town", TotalSegments=2, Segment=0, ExclusiveStartKey=cursors[0])
    assert refusal(
        town, "scan", TableName="town", TotalSegments=2, Segment=0, ExclusiveStartKey=cursors[1]
    ) == invalid(
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
        "correct Segment. TotalSegments: 2 Segment: 0"
    )


def test_a_filter_may_use_any_attribute_also_keys(town: Database) -> None:
    answer = town.scan(
        TableName="town",
        FilterExpression="house = :h AND #n < :n",
        ExpressionAttributeNames={"#n": "number"},
        ExpressionAttributeValues={":h": n(1), ":n": n(100)},
    )
    assert sorted(int(item["number"]["N"]) for item in answer["Items"]) == list(range(80, 100))
    assert (answer["Count"], answer["ScannedCount"]) == (20, COUNT)


def test_a_filter_sees_only_what_an_index_projects(town: Database) -> None:
    # A scan finds nothing by what the index lacks, where a query is refused.
    answer = town.scan(
        TableName="town",
        IndexName="by-house",
        FilterExpression="attribute_exists(phone)",
    )
    assert (answer["Count"], answer["ScannedCount"]) == (0, COUNT)


def test_a_scan_projects_and_counts(town: Database) -> None:
    some = town.scan(TableName="town", ProjectionExpression="house", Limit=3)
    assert [set(item) for item in some["Items"]] == [{"house"}] * 3
    answer = town.scan(TableName="town", Select="COUNT", IndexName="by-phone")
    assert answer == {"Count": 60, "ScannedCount": 60}


def test_a_local_index_fetches_whole_items_when_asked(town: Database) -> None:
    items = all_items(town, "scan", TableName="town", IndexName="local", Select="ALL_ATTRIBUTES")
    assert all("number" in item for item in items)
    assert len(items) == 60


def test_an_empty_table_has_one_empty_page(db: Database) -> None:
    db.create_table(
        TableName="empty",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S"),
        BillingMode="PAY_PER_REQUEST",
    )
    assert db.scan(TableName="empty") == {"Items": [], "Count": 0, "ScannedCount": 0}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        pytest.param(
            {"Segment": 0},
            "The TotalSegments parameter is required but was not present in the request when Segment parameter is "
            "present",
            id="segment-alone",
        ),
        pytest.param(
            {"TotalSegments": 4},
            "The Segment parameter is required but was not present in the request when parameter TotalSegments is "
            "present",
            id="total-alone",
        ),
        pytest.param(
            {"Segment": 5, "TotalSegments": 5},
            "The Segment parameter is zero-based and must be less than parameter TotalSegments",
            id="segment-too-high",
        ),
        pytest.param(
            {"IndexName": "nope"}, "The table does not have the specified index: nope", id="no-such-index"
        ),
        pytest.param(
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "1 validation error detected: "
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
            id="projected-attributes-of-a-table",
        ),
        pytest.param(
            {"Select": "COUNT", "ProjectionExpression": "house"},
            "1 validation error detected: "
            "Cannot specify the ProjectionExpression when choosing to get only the Count",
            id="count-with-projection",
        ),
        pytest.param(
            {"IndexName": "by-house", "Select": "ALL_ATTRIBUTES"},
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global "
            "secondary index by-house because its projection type is not ALL",
            id="everything-of-an-index-of-keys",
        ),
        pytest.param(
            {"IndexName": "by-house", "ProjectionExpression": "phone"},
            "One or more parameter values were invalid: Global secondary index by-house does not project [phone]",
            id="projection-of-what-an-index-lacks",
        ),
        pytest.param(
            {"ExpressionAttributeValues": {":v": s("x")}},
            "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null",
            id="values-alone",
        ),
        pytest.param(
            {"Limit": 0},
            "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value "
            "greater than or equal to 1",
            id="limit-of-zero",
        ),
    ],
)
def test_a_wrong_scan_is_refused_in_the_words_of_aws(
    town: Database, request_: dict[str, Any], message: str
) -> None:
    assert refusal(town, "scan", TableName="town", **request_) == invalid(message)


def test_a_table_that_is_not_there_cannot_be_scanned(calm_db: Database) -> None:
    assert refusal(calm_db, "scan", TableName="nothing") == (
        "ResourceNotFoundException",
        "Requested resource not found",
    )
