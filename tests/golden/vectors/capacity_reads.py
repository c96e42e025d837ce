"""Read units of a table: GetItem, BatchGetItem, Query and Scan."""

from __future__ import annotations

from typing import Any

from golden.vectors.capacity import (
    AWS_CLI,
    GUIDE,
    MUSIC,
    SCYLLA,
    SUITE,
    consumed,
    item,
    key,
    sized,
    total,
)
from golden.vectors.matching import including, unordered
from golden.vectors.tables import HASH, HASH_RANGE, table
from golden.vectors.vector import Vector
from support.sample_tables import index

Wire = dict[str, Any]

READS = table(
    "UnitsRead",
    "pk",
    "sk",
    types={"pk": "S", "sk": "S", "g": "S", "l": "S"},
    GlobalSecondaryIndexes=[
        index("gsi", "g"),
        index("gsi-keys", "g", projection="KEYS_ONLY"),
    ],
    LocalSecondaryIndexes=[
        index("lsi", "pk", "l"),
        index("lsi-keys", "pk", "l", projection="KEYS_ONLY"),
        index("lsi-some", "pk", "l", projection="INCLUDE", include=["c"]),
    ],
)
MISSING = (
    f"{GUIDE}: a read of an item that does not exist consumes one read unit, or half a unit if it may be late"
)
WHOLE = (
    f"{GUIDE}: you can request a subset of attributes; doing so has no impact on the item size calculations"
)


def of(table_units: float, **indexes: float) -> Wire:
    """Return what INDEXES gives for a read: the table, and the indexes that were read."""
    answer: Wire = {
        "TableName": "UnitsRead",
        "CapacityUnits": table_units + sum(indexes.values()),
        "Table": {"CapacityUnits": table_units},
    }
    for kind, start in (("GlobalSecondaryIndexes", "gsi"), ("LocalSecondaryIndexes", "lsi")):
        read = {name.replace("_", "-"): units for name, units in indexes.items() if name.startswith(start)}
        if read:
            answer[kind] = {name: {"CapacityUnits": units} for name, units in read.items()}
    return answer


def get(name: str, stored: Wire | None, answer: Wire, evidence: str, **more: Any) -> Vector:
    return Vector(
        name,
        operation="GetItem",
        tables=[READS],
        given={} if stored is None else {"UnitsRead": [stored]},
        request={"TableName": "UnitsRead", "Key": key(), "ReturnConsumedCapacity": "INDEXES", **more},
        answer=answer,
        evidence=evidence,
    )


def page(
    name: str, given: list[Wire], answer: Wire, evidence: str, *, operation: str = "Query", **more: Any
) -> Vector:
    """A Query of the partition "a", or a Scan, of which only the units are looked at, and what else is given."""
    request: Wire = {"TableName": "UnitsRead", "ReturnConsumedCapacity": "INDEXES"}
    if operation == "Query":
        request["KeyConditionExpression"] = "pk = :p"
        request["ExpressionAttributeValues"] = {":p": {"S": "a"}}
    if "ExpressionAttributeValues" in more:
        values = more.pop("ExpressionAttributeValues")
        request["ExpressionAttributeValues"] = {**request.get("ExpressionAttributeValues", {}), **values}
    expected = {"ConsumedCapacity": answer, **more.pop("also", {})}
    return Vector(
        name,
        operation=operation,
        tables=[READS],
        given={"UnitsRead": given},
        request={**request, **more},
        answer=including(expected),
        evidence=evidence,
    )


def items(count: int, item_bytes: int, **texts: str) -> list[Wire]:
    """Return items of one size in the partition "a"."""
    return [sized(item(sk=f"{number:03}", **texts), item_bytes) for number in range(count)]


GETS = [
    get(
        "get_that_may_be_late_costs_half_a_unit",
        item(),
        {"Item": item(), "ConsumedCapacity": of(0.5)},
        f"{SUITE}: 0.5, and no split of reads and writes",
    ),
    get(
        "consistent_get_costs_a_unit",
        item(),
        {"Item": item(), "ConsumedCapacity": of(1)},
        f"{SUITE}: 1",
        ConsistentRead=True,
    ),
    get(
        "get_reports_the_total_alone",
        item(),
        {"Item": item(), "ConsumedCapacity": total(0.5, table="UnitsRead")},
        f"{SUITE}: TOTAL has no Table",
        ReturnConsumedCapacity="TOTAL",
    ),
    get(
        "get_reports_nothing_for_none",
        item(),
        {"Item": item()},
        "API reference, GetItem: NONE - No ConsumedCapacity details are included in the response",
        ReturnConsumedCapacity="NONE",
    ),
    get("get_of_nothing_costs_half_a_unit", None, {"ConsumedCapacity": of(0.5)}, f"{MISSING}. {SCYLLA}"),
    get(
        "consistent_get_of_nothing_costs_a_unit",
        None,
        {"ConsumedCapacity": of(1)},
        f"{MISSING}. {SCYLLA}",
        ConsistentRead=True,
    ),
    *(
        get(
            f"consistent_get_of_{size}_bytes_costs_{units}",
            sized(item(), size),
            {"Item": sized(item(), size), "ConsumedCapacity": of(units)},
            f"{SCYLLA} (test_long_get): 4 KB, names included, are 1 unit and one byte more is 2",
            ConsistentRead=True,
        )
        for size, units in ((4096, 1), (4097, 2), (10240, 3))
    ),
    get(
        "name_of_an_attribute_is_read_too",
        item(**{"a" * 4096: "v"}),
        {"Item": item(**{"a" * 4096: "v"}), "ConsumedCapacity": of(1)},
        f"{SCYLLA} (test_long_get): an attribute whose name has 4,096 bytes costs 2 consistent units",
    ),
    get(
        "get_of_one_attribute_costs_the_whole_item",
        sized(item(), 4097),
        {"Item": {"sk": {"S": "1"}}, "ConsumedCapacity": of(2)},
        f"{WHOLE}. {SCYLLA} (test_long_get)",
        ProjectionExpression="sk",
        ConsistentRead=True,
    ),
    get(
        "get_of_an_attribute_that_is_not_there_costs_the_whole_item",
        sized(item(), 4097),
        {"Item": {}, "ConsumedCapacity": of(1)},
        WHOLE,
        ProjectionExpression="nothing",
    ),
]

BATCHES = [
    Vector(
        "batch_of_gets_rounds_each_item_by_itself",
        operation="BatchGetItem",
        tables=[READS],
        given={"UnitsRead": [sized(item("a"), 1536), sized(item("b"), 6656)]},
        request={
            "RequestItems": {"UnitsRead": {"Keys": [key("a"), key("b")], "ConsistentRead": True}},
            "ReturnConsumedCapacity": "INDEXES",
        },
        answer=including({"ConsumedCapacity": [of(3)]}),
        evidence=f"{GUIDE}: if BatchGetItem reads a 1.5 KB item and a 6.5 KB item, the size is 12 KB, not 8 KB",
    ),
    Vector(
        "batch_of_gets_pays_for_what_is_missing",
        operation="BatchGetItem",
        tables=[READS],
        given={"UnitsRead": [item("a")]},
        request={
            "RequestItems": {"UnitsRead": {"Keys": [key("a"), key("b"), key("c")]}},
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={
            "Responses": {"UnitsRead": [item("a")]},
            "UnprocessedKeys": {},
            "ConsumedCapacity": [total(1.5, table="UnitsRead")],
        },
        evidence="dynalite's tests of the service (test/batchGetItem.js): a key without an item counts as a read",
    ),
    Vector(
        "batch_of_gets_reports_each_table",
        operation="BatchGetItem",
        tables=[HASH, HASH_RANGE],
        given={"Hash": [{"p": {"S": "a"}}]},
        request={
            "RequestItems": {
                "Hash": {"Keys": [{"p": {"S": "a"}}, {"p": {"S": "b"}}], "ConsistentRead": True},
                "HashRange": {"Keys": [{"p": {"S": "a"}, "s": {"S": str(n)}} for n in range(3)]},
            },
            "ReturnConsumedCapacity": "INDEXES",
        },
        answer=including(
            {"ConsumedCapacity": unordered([consumed(2, table="Hash"), consumed(1.5, table="HashRange")])}
        ),
        evidence=f"{SCYLLA} (test_multi_table_batch_get_items): each table has its own consistency",
    ),
    Vector(
        "batch_of_gets_names_a_table_as_the_request_does",
        operation="BatchGetItem",
        tables=[HASH],
        given={"Hash": [{"p": {"S": "a"}}]},
        request={
            "RequestItems": {
                "arn:aws:dynamodb:us-east-1:000000000000:table/Hash": {"Keys": [{"p": {"S": "a"}}]},
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={
            "Responses": {"arn:aws:dynamodb:us-east-1:000000000000:table/Hash": [{"p": {"S": "a"}}]},
            "UnprocessedKeys": {},
            "ConsumedCapacity": [
                {"TableName": "arn:aws:dynamodb:us-east-1:000000000000:table/Hash", "CapacityUnits": 0.5}
            ],
        },
        evidence="API reference, BatchGetItem: Responses is a map of table name or table ARN to a list of items",
    ),
    Vector(
        "batch_of_gets_of_the_reference_of_the_aws_cli",
        operation="BatchGetItem",
        tables=[MUSIC],
        given={
            "MusicCollection": [
                {"Artist": {"S": artist}, "SongTitle": {"S": song}, "AlbumTitle": {"S": album}}
                for artist, song, album in (
                    ("No One You Know", "Call Me Today", "Somewhat Famous"),
                    ("Acme Band", "Happy Day", "Louder Than Ever"),
                    ("No One You Know", "Scared of My Shadow", "Blue Sky Blues"),
                )
            ]
        },
        request={
            "RequestItems": {
                "MusicCollection": {
                    "Keys": [
                        {"Artist": {"S": "No One You Know"}, "SongTitle": {"S": "Call Me Today"}},
                        {"Artist": {"S": "Acme Band"}, "SongTitle": {"S": "Happy Day"}},
                        {"Artist": {"S": "No One You Know"}, "SongTitle": {"S": "Scared of My Shadow"}},
                    ],
                    "ProjectionExpression": "AlbumTitle",
                }
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={
            "Responses": {
                "MusicCollection": unordered(
                    [
                        {"AlbumTitle": {"S": album}}
                        for album in ("Somewhat Famous", "Blue Sky Blues", "Louder Than Ever")
                    ]
                )
            },
            "UnprocessedKeys": {},
            "ConsumedCapacity": [{"TableName": "MusicCollection", "CapacityUnits": 1.5}],
        },
        evidence=f"{AWS_CLI}, batch-get-item: the answer is quoted there",
    ),
]

TEN = items(10, 1000)
_QUERY_SUM = (
    f"{GUIDE}: Query computes the total size of all items and then rounds up to the next 4 KB boundary"
)
_BEFORE_FILTER = f"{SUITE}: a read is sized before the filter and the projection"
LEAST = (
    "API reference, Query: Queries that do not return results consume the minimum number of read capacity units "
    "for that type of read operation"
)
_FILTER: Wire = {"ExpressionAttributeValues": {":k": {"S": "yes"}}}

QUERIES = [
    page("query_rounds_the_sum_of_its_items", TEN, of(1.5), _QUERY_SUM),
    page("consistent_query_costs_twice", TEN, of(3), f"{GUIDE}, consistency", ConsistentRead=True),
    page("query_of_4_of_ten_items_costs_those", TEN, of(0.5), _QUERY_SUM, Limit=4, also={"Count": 4}),
    page("query_of_5_of_ten_items_costs_those", TEN, of(1), _QUERY_SUM, Limit=5, also={"Count": 5}),
    page(
        "query_reports_the_total_alone",
        TEN,
        total(1.5, table="UnitsRead"),
        f"{SUITE}: TOTAL has no Table",
        ReturnConsumedCapacity="TOTAL",
    ),
    page(
        "query_of_items_by_their_sort_key_costs_those",
        TEN,
        of(0.5),
        _QUERY_SUM,
        KeyConditionExpression="pk = :p AND sk < :s",
        ExpressionAttributeValues={":s": {"S": "002"}},
    ),
    page(
        "filter_of_a_query_saves_nothing",
        [{**stored, "keep": {"S": "yes" if number == 0 else "no"}} for number, stored in enumerate(TEN)],
        of(1.5),
        _BEFORE_FILTER,
        FilterExpression="keep = :k",
        also={"Count": 1, "ScannedCount": 10},
        **_FILTER,
    ),
    page(
        "filter_of_a_query_that_finds_nothing_saves_nothing",
        TEN,
        of(1.5),
        _BEFORE_FILTER,
        FilterExpression="keep = :k",
        also={"Count": 0, "ScannedCount": 10},
        **_FILTER,
    ),
    page("projection_of_a_query_saves_nothing", TEN, of(1.5), _BEFORE_FILTER, ProjectionExpression="sk"),
    page(
        "count_of_a_query_saves_nothing",
        TEN,
        of(1.5),
        f"{GUIDE}: getting the count of items uses the same quantity of read units",
        Select="COUNT",
    ),
    page(
        "query_that_finds_nothing_costs_half_a_unit",
        [],
        of(0.5),
        LEAST,
    ),
    page(
        "consistent_query_that_finds_nothing_costs_a_unit",
        [],
        of(1),
        LEAST,
        ConsistentRead=True,
    ),
    page(
        "query_behind_the_last_item_costs_half_a_unit",
        TEN,
        of(0.5),
        LEAST,
        ExclusiveStartKey=key("a", "999"),
    ),
    page(
        "page_of_a_megabyte_costs_128_units_and_a_half",
        items(251, 4_200),
        of(128.5),
        "F. Pachot, DynamoDB Scan (and why 128.5 RCU?): the item that reaches 1 MB is read with the page",
        also={"Count": 250},
    ),
]

_SCAN = f"{GUIDE}: Scan considers the size of the items that are evaluated, not of the items returned"

SCANS = [
    page("scan_rounds_the_sum_of_its_items", TEN, of(1.5), _SCAN, operation="Scan"),
    page("consistent_scan_costs_twice", TEN, of(3), _SCAN, operation="Scan", ConsistentRead=True),
    page("scan_of_4_of_ten_items_costs_those", TEN, of(0.5), _SCAN, operation="Scan", Limit=4),
    page(
        "filter_of_a_scan_saves_nothing",
        TEN,
        of(1.5),
        _BEFORE_FILTER,
        operation="Scan",
        FilterExpression="keep = :k",
        also={"Count": 0, "ScannedCount": 10},
        **_FILTER,
    ),
    page(
        "projection_of_a_scan_saves_nothing",
        TEN,
        of(1.5),
        _BEFORE_FILTER,
        operation="Scan",
        ProjectionExpression="pk",
    ),
    page("count_of_a_scan_saves_nothing", TEN, of(1.5), _SCAN, operation="Scan", Select="COUNT"),
]

VECTORS = [*GETS, *BATCHES, *QUERIES, *SCANS]
