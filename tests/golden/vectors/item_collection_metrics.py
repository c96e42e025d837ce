"""ReturnItemCollectionMetrics: the items under one partition key of a table with local indexes."""

from __future__ import annotations

from typing import Any

from golden.vectors.capacity import UNITS, item, key, total
from golden.vectors.matching import unordered
from golden.vectors.tables import GLOBAL, HASH, table
from golden.vectors.vector import Refusal, Vector
from support.sample_tables import index

Wire = dict[str, Any]

SUITE = "Measured in eu-west-2 and us-east-1, October 2026, by the public conformance suite: [0, 1]"
NO_LOCAL_INDEX = (
    "API reference: If the table does not have any local secondary indexes, this information is not returned in "
    "the response"
)
MODIFIED = (
    "API reference, ReturnItemCollectionMetrics: statistics about item collections, if any, that were modified "
    "during the operation"
)


def local(name: str, key_type: str) -> Wire:
    """A table with a local index whose partition key is not a text."""
    return table(
        name,
        "pk",
        "sk",
        types={"pk": key_type, "sk": "S", "l": "S"},
        LocalSecondaryIndexes=[index("lsi", "pk", "l", projection="KEYS_ONLY")],
    )


NUMBERS = local("CollectionsByNumber", "N")
BYTES = local("CollectionsByBytes", "B")


def collection(pk: str | Wire = "a") -> Wire:
    return {
        "ItemCollectionKey": {"pk": {"S": pk} if isinstance(pk, str) else pk},
        "SizeEstimateRangeGB": [0.0, 1.0],
    }


def single(name: str, operation: str, answer: Wire, evidence: str, **request: Any) -> Vector:
    """A write of one item of the table Units, in which the item ("a", "1") is stored."""
    return Vector(
        name,
        operation=operation,
        tables=[UNITS],
        given={"Units": [item()]},
        request={"TableName": "Units", "ReturnItemCollectionMetrics": "SIZE", **request},
        answer=answer,
        evidence=evidence,
    )


ONE: Wire = {"ItemCollectionMetrics": collection()}

SINGLE = [
    single("put_reports_its_collection", "PutItem", ONE, SUITE, Item=item(l="l")),
    single(
        "put_of_an_item_in_no_local_index_reports_its_collection",
        "PutItem",
        ONE,
        "API reference: the estimate includes the size of all the items in the table",
        Item=item(rest="o"),
    ),
    single(
        "update_reports_its_collection",
        "UpdateItem",
        ONE,
        SUITE,
        Key=key(),
        UpdateExpression="SET a = :v",
        ExpressionAttributeValues={":v": {"S": "1"}},
    ),
    single("delete_reports_its_collection", "DeleteItem", ONE, SUITE, Key=key()),
    single(
        "put_reports_no_collection_for_none",
        "PutItem",
        {},
        "API reference: If set to NONE (the default), no statistics are returned",
        Item=item(),
        ReturnItemCollectionMetrics="NONE",
    ),
    Vector(
        "put_reports_no_collection_unasked",
        operation="PutItem",
        tables=[UNITS],
        request={"TableName": "Units", "Item": item(l="l")},
        answer={},
        evidence="API reference: If set to NONE (the default), no statistics are returned",
    ),
    single("delete_of_nothing_modifies_no_collection", "DeleteItem", {}, MODIFIED, Key=key("b")),
    single(
        "update_that_makes_nothing_modifies_no_collection",
        "UpdateItem",
        {},
        MODIFIED,
        Key=key("b"),
        UpdateExpression="REMOVE a",
    ),
    single(
        "collection_stands_beside_units_and_attributes",
        "PutItem",
        {
            "Attributes": item(),
            "ConsumedCapacity": total(2),
            "ItemCollectionMetrics": collection(),
        },
        "Example in the reference of the AWS CLI, update-item: all three in one answer",
        Item=item(l="l"),
        ReturnValues="ALL_OLD",
        ReturnConsumedCapacity="TOTAL",
    ),
    Vector(
        "failed_condition_reports_no_collection",
        operation="PutItem",
        tables=[UNITS],
        given={"Units": [item()]},
        request={
            "TableName": "Units",
            "Item": item(),
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnItemCollectionMetrics": "SIZE",
        },
        error=Refusal("ConditionalCheckFailedException", "The conditional request failed"),
        evidence="botocore's model, ConditionalCheckFailedException: its members are message and Item",
    ),
    *(
        Vector(
            f"table_{words}_has_no_collections",
            operation="PutItem",
            tables=[plain],
            request={
                "TableName": plain["TableName"],
                "Item": new,
                "ReturnItemCollectionMetrics": "SIZE",
            },
            answer={},
            evidence=NO_LOCAL_INDEX,
        )
        for words, plain, new in (
            ("without_indexes", HASH, {"p": {"S": "a"}}),
            ("with_global_indexes_alone", GLOBAL, {"p": {"S": "a"}, "s": {"S": "1"}, "gp": {"S": "g"}}),
        )
    ),
    *(
        Vector(
            f"collection_of_a_{words}",
            operation="PutItem",
            tables=[typed],
            request={
                "TableName": typed["TableName"],
                "Item": {"pk": sent, "sk": {"S": "1"}},
                "ReturnItemCollectionMetrics": "SIZE",
            },
            answer={"ItemCollectionMetrics": collection(stored)},
            evidence="API reference: ItemCollectionKey is the partition key value of the item itself",
        )
        for words, typed, sent, stored in (
            ("number", NUMBERS, {"N": "1.50"}, {"N": "1.5"}),
            ("binary_value", BYTES, {"B": "AQI="}, {"B": "AQI="}),
        )
    ),
]


def put_request(new: Wire) -> Wire:
    return {"PutRequest": {"Item": new}}


def put_action(new: Wire) -> Wire:
    return {"Put": {"TableName": "Units", "Item": new}}


SEVERAL = [
    Vector(
        "batch_reports_each_collection_once",
        operation="BatchWriteItem",
        tables=[UNITS],
        given={"Units": [item("c")]},
        request={
            "RequestItems": {
                "Units": [
                    put_request(item("a", "1")),
                    put_request(item("b", "1")),
                    put_request(item("a", "2")),
                    {"DeleteRequest": {"Key": key("c")}},
                ]
            },
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "UnprocessedItems": {},
            "ItemCollectionMetrics": {"Units": unordered([collection(pk) for pk in "abc"])},
        },
        evidence="Example in the reference of the AWS CLI, batch-write-item: two items of one artist, one entry",
    ),
    Vector(
        "batch_reports_the_tables_that_have_collections",
        operation="BatchWriteItem",
        tables=[UNITS, HASH],
        request={
            "RequestItems": {"Units": [put_request(item())], "Hash": [put_request({"p": {"S": "a"}})]},
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={"UnprocessedItems": {}, "ItemCollectionMetrics": {"Units": [collection()]}},
        evidence=NO_LOCAL_INDEX,
    ),
    Vector(
        "batch_to_tables_without_local_indexes_reports_no_collections",
        operation="BatchWriteItem",
        tables=[HASH],
        request={
            "RequestItems": {"Hash": [put_request({"p": {"S": "a"}})]},
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={"UnprocessedItems": {}},
        evidence=NO_LOCAL_INDEX,
    ),
    Vector(
        "batch_that_deletes_nothing_modifies_no_collection",
        operation="BatchWriteItem",
        tables=[UNITS],
        request={
            "RequestItems": {"Units": [{"DeleteRequest": {"Key": key()}}]},
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={"UnprocessedItems": {}},
        evidence=MODIFIED,
    ),
    Vector(
        "transaction_reports_each_collection_once",
        operation="TransactWriteItems",
        tables=[UNITS],
        given={"Units": [item("c")]},
        request={
            "TransactItems": [
                put_action(item("a", "1")),
                put_action(item("a", "2")),
                {"Delete": {"TableName": "Units", "Key": key("c")}},
            ],
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={"ItemCollectionMetrics": {"Units": unordered([collection(pk) for pk in "ac"])}},
        evidence="Example in the reference of the AWS CLI, transact-write-items",
    ),
    Vector(
        "condition_check_modifies_no_collection",
        operation="TransactWriteItems",
        tables=[UNITS],
        given={"Units": [item("b")]},
        request={
            "TransactItems": [
                put_action(item()),
                {
                    "ConditionCheck": {
                        "TableName": "Units",
                        "Key": key("b"),
                        "ConditionExpression": "attribute_exists(pk)",
                    }
                },
            ],
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={"ItemCollectionMetrics": {"Units": [collection()]}},
        evidence="API reference, TransactWriteItems: item collections that were affected by individual "
        "UpdateItem, PutItem, or DeleteItem operations",
    ),
]

VECTORS = [*SINGLE, *SEVERAL]
