"""A table with a global index over several attributes of a kind, and how tests build and read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from singletable import Database
from support.sample_tables import all_items, attributes, key_schema, n, s

Item = dict[str, Any]


def wide_key(partition: Sequence[str], sort: Sequence[str] = ()) -> list[Any]:
    return [
        *({"AttributeName": name, "KeyType": "HASH"} for name in partition),
        *({"AttributeName": name, "KeyType": "RANGE"} for name in sort),
    ]


def wide_index(name: str, partition: Sequence[str], sort: Sequence[str] = (), projection: str = "ALL") -> Any:
    return {
        "IndexName": name,
        "KeySchema": wide_key(partition, sort),
        "Projection": {"ProjectionType": projection},
    }


def create_matches(db: Database, **more: Any) -> None:
    """The table of the AWS guide: matches of tournaments, by region, round, bracket and match."""
    db.create_table(
        TableName="matches",
        KeySchema=key_schema("game"),
        AttributeDefinitions=attributes(game="S", cup="S", area="S", stage="N", bracket="S"),
        GlobalSecondaryIndexes=[
            wide_index("by-cup", ["cup", "area"], ["stage", "bracket", "game"], **more),
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def match(name: str, **more: Any) -> Item:
    item = {
        "game": s(name),
        "cup": s("winter"),
        "area": s("east"),
        "stage": n(1),
        "bracket": s("up"),
        **more,
    }
    return {name: value for name, value in item.items() if value is not None}


def found(db: Database, **request: Any) -> list[str]:
    """Return the names of the matches of one cup and area, in the order of the index."""
    request = {
        "TableName": "matches",
        "IndexName": "by-cup",
        "KeyConditionExpression": "cup = :c AND area = :a",
        "ExpressionAttributeValues": {":c": s("winter"), ":a": s("east")},
        **request,
    }
    return [item["game"]["S"] for item in all_items(db, "query", **request)]
