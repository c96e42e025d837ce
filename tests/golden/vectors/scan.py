"""Scan: pages, segments, indexes, filters and projections, and what is refused."""

from __future__ import annotations

from golden.vectors.matching import including, unordered, without
from golden.vectors.tables import GLOBAL, HASH, HASH_RANGE, LOCAL
from golden.vectors.vector import Refusal, Vector, Wire, validation

CONFORMANCE = "Answer of the service, recorded by paritysuite/dynamodb-conformance"
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/scan.js)"
DYNOXIDE = (
    "Answer of the service in eu-west-2 and eu-central-1, 20 October 2026, recorded in dynoxide 3.2 "
    "(tests/scan_member_stages.rs); so in 20 of 33 regions"
)
REFERENCE = "AWS API reference, Scan"
GUIDE = "AWS developer guide, Scanning tables"

ENVELOPE = "1 validation error detected: "
ONE_PARTITION = [{"p": {"S": "a"}, "s": {"S": str(place)}, "v": {"N": str(place)}} for place in range(4)]
SPREAD = [{"p": {"S": f"p{place}"}, "v": {"N": str(place)}} for place in range(5)]
INDEXED: list[Wire] = [
    {
        "p": {"S": "a"},
        "s": {"S": "1"},
        "gp": {"S": "g"},
        "gs": {"S": "x"},
        "a": {"S": "kept"},
        "b": {"S": "left"},
    },
    {"p": {"S": "a"}, "s": {"S": "2"}, "gp": {"S": "g"}},
    {"p": {"S": "a"}, "s": {"S": "3"}},
]


def page(items: list[Wire], *, scanned: int | None = None, **more: object) -> Wire:
    return {
        "Items": items,
        "Count": len(items),
        "ScannedCount": len(items) if scanned is None else scanned,
        **more,
    }


def found(
    name: str, answer: object, *, evidence: str, table: Wire, items: list[Wire], **parameters: object
) -> Vector:
    return Vector(
        name,
        operation="Scan",
        tables=[table],
        given={table["TableName"]: items},
        request={"TableName": table["TableName"], **parameters},
        answer=answer,
        evidence=evidence,
    )


def refused(
    name: str, message: str, *, evidence: str = DYNALITE, table: Wire = HASH, **parameters: object
) -> Vector:
    return Vector(
        name,
        operation="Scan",
        tables=[table],
        request={"TableName": table["TableName"], **parameters},
        error=validation(message),
        evidence=evidence,
    )


ANSWERS = [
    found("scan_of_an_empty_table", page([]), table=HASH, items=[], evidence=DYNALITE),
    found(
        "scan_finds_every_item",
        {"Items": unordered(SPREAD), "Count": 5, "ScannedCount": 5},
        table=HASH,
        items=list(SPREAD),
        evidence=REFERENCE,
    ),
    found(
        "items_of_a_partition_come_in_order",
        page(ONE_PARTITION),
        table=HASH_RANGE,
        items=ONE_PARTITION[::-1],
        evidence="AWS developer guide, Partitions: items of one partition key stand in order of the sort key",
    ),
    found(
        "limit_ends_a_page_with_a_cursor",
        page(ONE_PARTITION[:2], LastEvaluatedKey={"p": {"S": "a"}, "s": {"S": "1"}}),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        Limit=2,
        evidence=f"{REFERENCE}, Limit and LastEvaluatedKey",
    ),
    found(
        "scan_goes_on_behind_the_cursor",
        page(ONE_PARTITION[2:]),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        ExclusiveStartKey={"p": {"S": "a"}, "s": {"S": "1"}},
        evidence=f"{REFERENCE}, ExclusiveStartKey",
    ),
    found(
        "cursor_may_name_an_item_that_is_gone",
        page(ONE_PARTITION[2:]),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        ExclusiveStartKey={"p": {"S": "a"}, "s": {"S": "10"}},
        evidence=f"{REFERENCE}, ExclusiveStartKey: a key, whether its item exists or not",
    ),
    found(
        "page_that_ends_with_the_last_item_has_a_cursor",
        page(ONE_PARTITION, LastEvaluatedKey={"p": {"S": "a"}, "s": {"S": "3"}}),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        Limit=4,
        evidence=f"{GUIDE}: a LastEvaluatedKey does not mean that there is more data",
    ),
    found(
        "filter_counts_what_it_looked_at",
        page(ONE_PARTITION[3:], scanned=4),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        FilterExpression="#v > :v",
        ExpressionAttributeNames={"#v": "v"},
        ExpressionAttributeValues={":v": {"N": "2"}},
        evidence=f"{GUIDE}, Counting the items in the results",
    ),
    found(
        "limit_counts_before_the_filter",
        page([], scanned=2, LastEvaluatedKey={"p": {"S": "a"}, "s": {"S": "1"}}),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        FilterExpression="v > :v",
        ExpressionAttributeValues={":v": {"N": "2"}},
        Limit=2,
        evidence=f"{REFERENCE}, Limit: the maximum number of items to evaluate, not necessarily of matching ones",
    ),
    found(
        "projection_of_a_scan",
        page([{"v": item["v"]} for item in ONE_PARTITION]),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        ProjectionExpression="v",
        ConsistentRead=True,
        evidence=f"{REFERENCE}, ProjectionExpression",
    ),
    found(
        "count_returns_no_items",
        {"Count": 4, "ScannedCount": 4},
        table=HASH_RANGE,
        items=ONE_PARTITION,
        Select="COUNT",
        evidence=f"{REFERENCE}, Select: COUNT returns the number of matching items",
    ),
    found(
        "specific_attributes_are_those_of_the_projection",
        page([{"s": item["s"]} for item in ONE_PARTITION]),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        Select="SPECIFIC_ATTRIBUTES",
        ProjectionExpression="s",
        evidence=f"{REFERENCE}, Select",
    ),
    found(
        "oldest_parameters_of_a_scan",
        page([{"s": item["s"]} for item in ONE_PARTITION[2:]], scanned=4),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        ScanFilter={
            "v": {"ComparisonOperator": "GE", "AttributeValueList": [{"N": "2"}]},
            "w": {"ComparisonOperator": "NOT_NULL"},
        },
        AttributesToGet=["s"],
        ConditionalOperator="OR",
        evidence="AWS developer guide, Legacy conditional parameters: ScanFilter, AttributesToGet",
    ),
    found(
        "scan_of_an_index_holds_the_items_that_have_its_keys",
        {"Items": unordered(INDEXED[:1]), "Count": 1, "ScannedCount": 1},
        table=GLOBAL,
        items=INDEXED,
        IndexName="All",
        evidence="AWS developer guide, Sparse indexes",
    ),
    found(
        "scan_of_an_index_of_keys",
        {
            "Items": unordered([{name: item[name] for name in ("p", "s", "gp")} for item in INDEXED[:2]]),
            "Count": 2,
            "ScannedCount": 2,
        },
        table=GLOBAL,
        items=INDEXED,
        IndexName="KeysOnly",
        Select="ALL_PROJECTED_ATTRIBUTES",
        evidence="AWS developer guide, Attribute projections: KEYS_ONLY",
    ),
    found(
        "scan_of_an_index_with_some_attributes",
        page([{name: INDEXED[0][name] for name in ("p", "s", "gp", "gs", "a")}]),
        table=GLOBAL,
        items=INDEXED,
        IndexName="Some",
        evidence="AWS developer guide, Attribute projections: INCLUDE",
    ),
    found(
        "cursor_of_an_index_holds_both_keys",
        including({"LastEvaluatedKey": {name: INDEXED[0][name] for name in ("p", "s", "gp", "gs")}}),
        table=GLOBAL,
        items=INDEXED,
        IndexName="All",
        Limit=1,
        evidence=CONFORMANCE,
    ),
    found(
        "one_segment_of_one_is_everything",
        page(ONE_PARTITION),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        Segment=0,
        TotalSegments=1,
        evidence=f"{GUIDE}, Parallel scan",
    ),
    found(
        "consistent_scan_costs_twice",
        including(
            {
                "ConsumedCapacity": {
                    "TableName": "HashRange",
                    "CapacityUnits": 1.0,
                    "Table": {"CapacityUnits": 1.0},
                }
            }
        ),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        ConsistentRead=True,
        ReturnConsumedCapacity="INDEXES",
        evidence="AWS developer guide, Read operations",
    ),
    found(
        "scan_without_a_report_has_no_units",
        without("ConsumedCapacity", "LastEvaluatedKey"),
        table=HASH_RANGE,
        items=ONE_PARTITION,
        ReturnConsumedCapacity="NONE",
        evidence=f"{REFERENCE}, ReturnConsumedCapacity",
    ),
    found(
        "consistent_scan_of_a_local_index",
        page([{"p": {"S": "a"}, "s": {"S": "b"}, "l": {"S": "c"}}]),
        table=LOCAL,
        items=[{"p": {"S": "a"}, "s": {"S": "b"}, "l": {"S": "c"}}],
        IndexName="All",
        ConsistentRead=True,
        evidence="AWS developer guide, Local secondary indexes: consistent reads are supported",
    ),
    found(
        "segment_of_an_empty_table",
        page([]),
        table=HASH,
        items=[],
        Segment=1,
        TotalSegments=2,
        evidence=f"{GUIDE}, Parallel scan",
    ),
]

START = "The provided starting key is invalid"
REFUSED = [
    Vector(
        "scan_of_a_missing_table",
        operation="Scan",
        request={"TableName": "Missing"},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence=DYNALITE,
    ),
    refused(
        "scan_of_a_missing_index",
        "The table does not have the specified index: nothing_here",
        IndexName="nothing_here",
    ),
    refused(
        "limit_of_zero",
        f"{ENVELOPE}Value at 'Limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1",
        evidence=DYNOXIDE,
        Limit=0,
    ),
    refused(
        "segment_without_a_total",
        "The TotalSegments parameter is required but was not present in the request when Segment "
        "parameter is present",
        Segment=0,
    ),
    refused(
        "total_without_a_segment",
        "The Segment parameter is required but was not present in the request when parameter "
        "TotalSegments is present",
        TotalSegments=2,
    ),
    refused(
        "segment_that_is_not_below_the_total",
        "The Segment parameter is zero-based and must be less than parameter TotalSegments",
        evidence=DYNOXIDE,
        Segment=2,
        TotalSegments=2,
    ),
    refused(
        "too_many_segments",
        f"{ENVELOPE}Value at 'TotalSegments' failed to satisfy constraint: "
        "Member must have value less than or equal to 1000000",
        evidence=DYNOXIDE,
        Segment=0,
        TotalSegments=1000001,
    ),
    refused(
        "negative_segment",
        f"{ENVELOPE}Value at 'Segment' failed to satisfy constraint: "
        "Member must have value greater than or equal to 0",
        evidence=DYNOXIDE,
        Segment=-1,
        TotalSegments=2,
    ),
    refused(
        "consistent_scan_of_a_global_index",
        "Consistent reads are not supported on global secondary indexes",
        table=GLOBAL,
        IndexName="All",
        ConsistentRead=True,
    ),
    refused(
        "all_attributes_of_an_index_that_lacks_some",
        "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global "
        "secondary index KeysOnly because its projection type is not ALL",
        table=GLOBAL,
        IndexName="KeysOnly",
        Select="ALL_ATTRIBUTES",
    ),
    refused(
        "projected_attributes_without_an_index",
        f"{ENVELOPE}ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        evidence=DYNOXIDE,
        Select="ALL_PROJECTED_ATTRIBUTES",
    ),
    refused(
        "projection_with_a_count",
        f"{ENVELOPE}Cannot specify the ProjectionExpression when choosing to get only the Count",
        evidence=DYNOXIDE,
        Select="COUNT",
        ProjectionExpression="p",
    ),
    refused(
        "projection_with_all_attributes",
        f"{ENVELOPE}Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        evidence=DYNOXIDE,
        Select="ALL_ATTRIBUTES",
        ProjectionExpression="p",
    ),
    refused(
        "specific_attributes_without_a_projection",
        f"{ENVELOPE}Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES",
        evidence=DYNOXIDE,
        Select="SPECIFIC_ATTRIBUTES",
    ),
    refused(
        "cursor_without_the_sort_key",
        START,
        table=HASH_RANGE,
        evidence="Answer of the service, recorded by dynoxide in October 2026 (src/actions/scan.rs)",
        ExclusiveStartKey={"p": {"S": "a"}},
    ),
    refused(
        "cursor_of_an_index_without_the_keys_of_the_table",
        START,
        table=GLOBAL,
        IndexName="All",
        ExclusiveStartKey={"gp": {"S": "a"}, "gs": {"S": "b"}},
    ),
    refused(
        "values_without_a_filter",
        "ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null",
        ExpressionAttributeValues={":v": {"S": "a"}},
    ),
    refused(
        "filter_of_both_kinds",
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {ScanFilter} Expression parameters: {FilterExpression}",
        FilterExpression="attribute_exists(p)",
        ScanFilter={"p": {"ComparisonOperator": "NOT_NULL"}},
    ),
    refused(
        "index_name_that_is_too_short",
        f"{ENVELOPE}Value 'ab' at 'indexName' failed to satisfy constraint: Member must have length greater than "
        "or equal to 3",
        IndexName="ab",
    ),
]

VECTORS = [*ANSWERS, *REFUSED]
