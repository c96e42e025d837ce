"""Write units of a table: PutItem, UpdateItem, DeleteItem, BatchWriteItem."""

from __future__ import annotations

from typing import Any

from golden.vectors.capacity import (
    AWS_CLI,
    DYNOXIDE,
    GUIDE,
    MEMBER,
    MUSIC,
    SCYLLA,
    SUITE,
    UNITS,
    consumed,
    delete,
    item,
    key,
    put,
    sized,
    total,
    update,
)
from golden.vectors.matching import unordered
from golden.vectors.tables import HASH, HASH_RANGE
from golden.vectors.vector import Refusal, Vector

Wire = dict[str, Any]

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Hash"
_ARN_RULE = (
    "API reference, ConsumedCapacity: If you had specified the Amazon Resource Name (ARN) of a table in the "
    "input, you'll see the table ARN in the response"
)


def batch(name: str, tables: list[Wire], given: Wire, writes: Wire, answer: Any, evidence: str) -> Vector:
    return Vector(
        name,
        operation="BatchWriteItem",
        tables=tables,
        given=given,
        request={"RequestItems": writes, "ReturnConsumedCapacity": "INDEXES"},
        answer={"UnprocessedItems": {}, "ConsumedCapacity": answer},
        evidence=evidence,
    )


def put_request(new: Wire) -> Wire:
    return {"PutRequest": {"Item": new}}


_HASH_KEY: Wire = {"p": {"S": "a"}}

REPORTS = [
    Vector(
        "put_reports_the_total_alone_when_asked_for_it",
        operation="PutItem",
        tables=[HASH],
        request={"TableName": "Hash", "Item": _HASH_KEY, "ReturnConsumedCapacity": "TOTAL"},
        answer={"ConsumedCapacity": {"TableName": "Hash", "CapacityUnits": 1}},
        evidence=f"{SUITE}: PutItem reports 1 CapacityUnit and neither ReadCapacityUnits nor WriteCapacityUnits",
    ),
    Vector(
        "put_reports_the_table_beside_the_total",
        operation="PutItem",
        tables=[HASH],
        request={"TableName": "Hash", "Item": _HASH_KEY, "ReturnConsumedCapacity": "INDEXES"},
        answer={
            "ConsumedCapacity": {"TableName": "Hash", "CapacityUnits": 1, "Table": {"CapacityUnits": 1}},
        },
        evidence=f"{SUITE}: no split at the top level nor on Table",
    ),
    *(
        Vector(
            f"put_reports_nothing_{words}",
            operation="PutItem",
            tables=[UNITS],
            request={"TableName": "Units", "Item": MEMBER, **asked},
            answer={},
            evidence="API reference, PutItem: NONE - No ConsumedCapacity details are included in the response",
        )
        for words, asked in (("for_none", {"ReturnConsumedCapacity": "NONE"}), ("unasked", {}))
    ),
    Vector(
        "units_of_a_table_that_was_named_by_its_arn",
        operation="PutItem",
        tables=[HASH],
        request={"TableName": ARN, "Item": _HASH_KEY, "ReturnConsumedCapacity": "TOTAL"},
        answer={"ConsumedCapacity": {"TableName": ARN, "CapacityUnits": 1}},
        evidence=_ARN_RULE,
    ),
    Vector(
        "units_of_a_batch_to_a_table_that_was_named_by_its_arn",
        operation="BatchWriteItem",
        tables=[HASH],
        request={"RequestItems": {ARN: [put_request(_HASH_KEY)]}, "ReturnConsumedCapacity": "TOTAL"},
        answer={"UnprocessedItems": {}, "ConsumedCapacity": [{"TableName": ARN, "CapacityUnits": 1}]},
        evidence=_ARN_RULE,
    ),
    Vector(
        "failed_condition_reports_no_units",
        operation="PutItem",
        tables=[UNITS],
        given={"Units": [MEMBER]},
        request={
            "TableName": "Units",
            "Item": MEMBER,
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnConsumedCapacity": "INDEXES",
        },
        error=Refusal("ConditionalCheckFailedException", "The conditional request failed"),
        evidence="botocore's model, ConditionalCheckFailedException: its members are message and Item",
    ),
    put(
        "condition_that_holds_costs_nothing_more",
        MEMBER,
        MEMBER,
        consumed(1),
        f"{GUIDE}: a conditional write consumes the units of a write; {SUITE} for transactions",
        ConditionExpression="attribute_exists(pk)",
    ),
    Vector(
        "returned_old_item_costs_nothing",
        operation="PutItem",
        tables=[UNITS],
        given={"Units": [item(rest="x" * 2048)]},
        request={
            "TableName": "Units",
            "Item": item(),
            "ReturnValues": "ALL_OLD",
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={"Attributes": item(rest="x" * 2048), "ConsumedCapacity": total(3)},
        evidence="API reference, PutItem: There is no additional cost associated with requesting a return value "
        f"aside from the small network and processing overhead. {SCYLLA}: 3 for a short item over one of 2 KB",
    ),
]

TABLE_UNITS = [
    *(
        put(
            f"put_of_{size}_bytes_costs_{units}",
            None,
            sized(item(), size),
            consumed(units),
            f"{SCYLLA} (test_long_put): a kilobyte, names included, is 1 unit and one byte more is 2",
        )
        for size, units in ((1024, 1), (1025, 2), (2048, 2), (10240, 10))
    ),
    put(
        "name_of_an_attribute_counts",
        None,
        item(**{"a" * 1024: "v"}),
        consumed(2),
        f"{SCYLLA} (test_long_put): an attribute whose name has 1,024 bytes costs 2",
    ),
    put(
        "put_over_a_larger_item_costs_what_was_there",
        item(rest="x" * 3000),
        item(),
        consumed(3),
        f"{GUIDE}: the item size that matters is the larger of the two. {DYNOXIDE}: table 3 for 3 KB to nothing",
    ),
    put(
        "put_over_a_smaller_item_costs_what_is_there_now",
        item(),
        item(rest="x" * 3000),
        consumed(3),
        f"{GUIDE}: the item size that matters is the larger of the two",
    ),
    put(
        "put_of_the_same_large_item_costs_its_size",
        item(rest="x" * 3000),
        item(rest="x" * 3000),
        consumed(3),
        f"{DYNOXIDE}: an identical overwrite of 3 KB costs its table in full",
    ),
    update("update_of_a_small_item_costs_1", item(a="1"), "SET a = :v", {"v": "2"}, consumed(1), f"{SCYLLA}"),
    update(
        "update_that_makes_an_item_costs_1",
        None,
        "SET a = :v",
        {"v": "2"},
        consumed(1),
        f"{SCYLLA} (test_simple_update_missing_item)",
    ),
    update(
        "update_that_grows_an_item_costs_what_it_becomes",
        item(a="1"),
        "SET a = :v",
        {"v": "x" * 2048},
        consumed(3),
        f"{SCYLLA} (test_update_item_long_attr)",
    ),
    update(
        "update_that_shrinks_an_item_costs_what_it_was",
        item(a="x" * 2048),
        "SET a = :v",
        {"v": "2"},
        consumed(3),
        f"{SCYLLA} (test_long_update). {GUIDE}: the larger of the before and after item sizes",
    ),
    update(
        "update_of_one_small_attribute_costs_the_whole_item",
        item(a="1", rest="x" * 5000),
        "SET a = :v",
        {"v": "2"},
        consumed(5),
        f"{GUIDE}: Even if you update just a subset of the item's attributes, UpdateItem will still consume the "
        "full amount",
    ),
    update(
        "update_that_changes_nothing_costs_the_item",
        item(a="1", rest="x" * 2000),
        "SET a = :v",
        {"v": "1"},
        consumed(2),
        f"{GUIDE}: the larger of the before and after item sizes",
    ),
    update(
        "update_without_an_expression_costs_the_item",
        item(rest="x" * 2000),
        None,
        {},
        consumed(2),
        f"{GUIDE}: the larger of the before and after item sizes",
    ),
    update(
        "update_that_only_removes_from_nothing_costs_1",
        None,
        "REMOVE a",
        {},
        consumed(1),
        "DynamoDB Local. No write is free: the least that the guide knows is one unit",
    ),
    delete("delete_of_a_small_item_costs_1", item(), consumed(1), f"{SCYLLA} (test_simple_delete_item)"),
    delete(
        "delete_of_a_large_item_costs_its_size",
        sized(item(), 2049),
        consumed(3),
        f"{SCYLLA} (test_long_delete): 2 KB and a byte are 3",
    ),
    delete("delete_of_nothing_costs_1", None, consumed(1), f"{SCYLLA} (test_delete_missing_item)"),
]

BATCHES = [
    batch(
        "batch_adds_up_its_writes",
        [UNITS],
        {},
        {"Units": [put_request(item("a")), put_request(item("b"))]},
        [consumed(2)],
        f"{SCYLLA} (test_simple_batch_write_item)",
    ),
    batch(
        "batch_rounds_each_write_by_itself",
        [UNITS],
        {},
        {"Units": [put_request(sized(item("a"), 500)), put_request(sized(item("b"), 3584))]},
        [consumed(5)],
        f"{GUIDE}: if BatchWriteItem writes a 500 byte item and a 3.5 KB item, DynamoDB calculates the size "
        "as 5 KB",
    ),
    batch(
        "batch_reports_each_table",
        [HASH, HASH_RANGE],
        {"HashRange": [{"p": {"S": "a"}, "s": {"S": "1"}}]},
        {
            "Hash": [put_request({"p": {"S": "a"}}), put_request({"p": {"S": "b"}, "x": {"S": "x" * 1024}})],
            "HashRange": [{"DeleteRequest": {"Key": {"p": {"S": "a"}, "s": {"S": "1"}}}}],
        },
        unordered([consumed(3, table="Hash"), consumed(1, table="HashRange")]),
        f"{SCYLLA} (test_multi_table_batch_write_item)",
    ),
    batch(
        "batch_pays_for_what_it_replaces_and_deletes",
        [UNITS],
        {"Units": [item("a", rest="x" * 1024), item("b", rest="x" * 1024)]},
        {"Units": [put_request(item("a")), {"DeleteRequest": {"Key": key("b")}}]},
        [consumed(4)],
        f"{SCYLLA} (test_batch_write_item_with_true_values): 2 for each",
    ),
    batch(
        "batch_names_the_indexes_it_touched",
        [UNITS],
        {},
        {"Units": [put_request(item("a", g="g", proj="p")), put_request(item("b", rest="o"))]},
        [consumed(2, gsi=1)],
        f"{SUITE}: total 3, table 2, gsi 1",
    ),
    Vector(
        "batch_of_the_reference_of_the_aws_cli",
        operation="BatchWriteItem",
        tables=[MUSIC],
        request={
            "RequestItems": {
                "MusicCollection": [
                    put_request(
                        {"Artist": {"S": artist}, "SongTitle": {"S": song}, "AlbumTitle": {"S": album}}
                    )
                    for artist, song, album in (
                        ("No One You Know", "Call Me Today", "Somewhat Famous"),
                        ("Acme Band", "Happy Day", "Songs About Life"),
                        ("No One You Know", "Scared of My Shadow", "Blue Sky Blues"),
                    )
                ]
            },
            "ReturnConsumedCapacity": "INDEXES",
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "UnprocessedItems": {},
            "ItemCollectionMetrics": {
                "MusicCollection": unordered(
                    [
                        {"ItemCollectionKey": {"Artist": {"S": artist}}, "SizeEstimateRangeGB": [0.0, 1.0]}
                        for artist in ("No One You Know", "Acme Band")
                    ]
                )
            },
            "ConsumedCapacity": [
                {
                    "TableName": "MusicCollection",
                    "CapacityUnits": 6.0,
                    "Table": {"CapacityUnits": 3.0},
                    "LocalSecondaryIndexes": {"AlbumTitleIndex": {"CapacityUnits": 3.0}},
                }
            ],
        },
        evidence=f"{AWS_CLI}, batch-write-item: the answer is quoted there",
    ),
    Vector(
        "update_of_the_reference_of_the_aws_cli",
        operation="UpdateItem",
        tables=[MUSIC],
        given={
            "MusicCollection": [
                {
                    "Artist": {"S": "Acme Band"},
                    "SongTitle": {"S": "Happy Day"},
                    "AlbumTitle": {"S": "Songs About Life"},
                    "Awards": {"N": "10"},
                }
            ]
        },
        request={
            "TableName": "MusicCollection",
            "Key": {"Artist": {"S": "Acme Band"}, "SongTitle": {"S": "Happy Day"}},
            "UpdateExpression": "SET #Y = :y, #AT = :t",
            "ExpressionAttributeNames": {"#Y": "Year", "#AT": "AlbumTitle"},
            "ExpressionAttributeValues": {":y": {"N": "2015"}, ":t": {"S": "Louder Than Ever"}},
            "ReturnValues": "ALL_NEW",
            "ReturnConsumedCapacity": "TOTAL",
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "Attributes": {
                "AlbumTitle": {"S": "Louder Than Ever"},
                "Awards": {"N": "10"},
                "Artist": {"S": "Acme Band"},
                "Year": {"N": "2015"},
                "SongTitle": {"S": "Happy Day"},
            },
            "ConsumedCapacity": {"TableName": "MusicCollection", "CapacityUnits": 3.0},
            "ItemCollectionMetrics": {
                "ItemCollectionKey": {"Artist": {"S": "Acme Band"}},
                "SizeEstimateRangeGB": [0.0, 1.0],
            },
        },
        evidence=f"{AWS_CLI}, update-item: 3 units, of which 2 move the entry of AlbumTitleIndex",
    ),
]

VECTORS = [*REPORTS, *TABLE_UNITS, *BATCHES]
