"""Global indexes with keys of several attributes: making them, and what they hold."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import anything, including, matching
from golden.vectors.multi_attribute_tables import (
    BY_PK,
    DYNOXIDE,
    ITEMS,
    LOCAL,
    ORDERS,
    PARITY,
    elements,
    wide_index,
)
from golden.vectors.vector import Refusal, Vector, Wire, then, validation
from support.sample_tables import attributes, key_schema

ACK = 'Answer of the service, recorded by the "ack-api-quirks" laboratory, DDB-TABLE-123 (October 2026)'
GUIDE = 'AWS developer guide, "Global secondary indexes", "Multi-attribute key schema"'
WRITES = 'AWS developer guide, "Global secondary indexes", "Write capacity units"'


def made(name: str, index: Wire, error: str | None, evidence: str) -> Vector:
    """A table with one global index; every attribute is a string."""
    names = dict.fromkeys(["pk", *(element["AttributeName"] for element in index["KeySchema"])])
    outcome: Any = {"error": validation(error)} if error else {"answer": anything}
    described = including({"KeySchema": index["KeySchema"], "IndexName": "gsi", "IndexStatus": "ACTIVE"})
    return Vector(
        name,
        operation="CreateTable",
        request={
            "TableName": "MultiMade",
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": key_schema("pk"),
            "AttributeDefinitions": attributes(**dict.fromkeys(names, "S")),
            "GlobalSecondaryIndexes": [index],
        },
        makes=["MultiMade"],
        after=[]
        if error
        else [
            then(
                "DescribeTable",
                {"TableName": "MultiMade"},
                including({"Table": including({"GlobalSecondaryIndexes": [described]})}),
            )
        ],
        evidence=evidence,
        **outcome,
    )


def schema(*keys: tuple[str, str]) -> Wire:
    return {"IndexName": "gsi", "KeySchema": elements(*keys), "Projection": {"ProjectionType": "ALL"}}


TOO_MANY = "One or more parameter values were invalid: The KeySchema exceeds the maximum allowed number of"
SAME_NAME = "The KeySchema contains multiple key attributes with the same name"
HASH_FIRST = (
    "One or more parameter values were invalid: All HASH key attributes must precede RANGE key attributes in the "
    "KeySchema"
)

CREATE = [
    made("index_over_four_and_four_attributes", wide_index("gsi", "h1 h2 h3 h4", "r1 r2 r3 r4"), None, ACK),
    made("index_over_two_partition_attributes_alone", wide_index("gsi", "h1 h2", ""), None, ACK),
    made("index_over_one_and_two_attributes", wide_index("gsi", "a", "b c"), None, ACK),
    made("index_that_shares_attributes_with_its_table", wide_index("gsi", "a pk", "b"), None, GUIDE),
    made(
        "index_over_five_partition_attributes",
        wide_index("gsi", "a b c d e", ""),
        f"{TOO_MANY} HASH key attributes",
        ACK,
    ),
    made(
        "index_over_five_sort_attributes",
        wide_index("gsi", "h", "a b c d e"),
        f"{TOO_MANY} RANGE key attributes",
        ACK,
    ),
    made(
        "index_with_a_sort_attribute_between",
        schema(("h", "HASH"), ("a", "RANGE"), ("g", "HASH")),
        HASH_FIRST,
        ACK,
    ),
    made(
        "index_with_a_sort_attribute_first",
        schema(("a", "RANGE"), ("h", "HASH")),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        f"{ACK[:-32]}, DDB-TABLE-124",
    ),
    made("index_over_one_partition_attribute_twice", wide_index("gsi", "h h", ""), SAME_NAME, DYNOXIDE),
    made("index_over_one_sort_attribute_twice", wide_index("gsi", "h", "a a"), SAME_NAME, DYNOXIDE),
    made("index_over_one_attribute_of_both_kinds", wide_index("gsi", "h g", "h"), SAME_NAME, DYNOXIDE),
    made(
        "index_over_one_attribute_as_its_whole_key",
        wide_index("gsi", "h", "h"),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        DYNOXIDE,
    ),
    Vector(
        "local_index_has_one_sort_attribute",
        operation="CreateTable",
        request={
            "TableName": "MultiMade",
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": key_schema("pk", "sk"),
            "AttributeDefinitions": attributes(pk="S", sk="S", l1="S", l2="S"),
            "LocalSecondaryIndexes": [wide_index("local", "pk", "l1 l2")],
        },
        makes=["MultiMade"],
        error=validation(matching(".*Member must have length less than or equal to 2")),
        evidence=ACK,
    ),
    Vector(
        "table_key_has_one_partition_attribute",
        operation="CreateTable",
        request={
            "TableName": "MultiMade",
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": elements(("pk", "HASH"), ("p2", "HASH")),
            "AttributeDefinitions": attributes(pk="S", p2="S"),
        },
        makes=["MultiMade"],
        error=validation("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"),
        evidence='Answer of the service, recorded by the "ack-api-quirks" laboratory, DDB-TABLE-124',
    ),
    Vector(
        "index_over_an_attribute_that_is_not_defined",
        operation="CreateTable",
        request={
            "TableName": "MultiMade",
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": key_schema("pk"),
            "AttributeDefinitions": attributes(pk="S", a="S", b="S"),
            "GlobalSecondaryIndexes": [wide_index("gsi", "a", "b c")],
        },
        makes=["MultiMade"],
        error=validation(
            "One or more parameter values were invalid: Some index key attributes are not defined in "
            "AttributeDefinitions. Keys: [a, b, c], AttributeDefinitions: [a, b, pk]"
        ),
        evidence="Answer of the service to other keys, dynoxide 3.2 (tests/attribute_definition_messages.rs)",
    ),
]


def added(name: str, index: Wire, error: str, evidence: str) -> Vector:
    names = dict.fromkeys(element["AttributeName"] for element in index["KeySchema"])
    return Vector(
        name,
        operation="UpdateTable",
        tables=[ORDERS],
        request={
            "TableName": "MultiOrders",
            "AttributeDefinitions": attributes(**dict.fromkeys(names, "S")),
            "GlobalSecondaryIndexUpdates": [{"Create": index}],
        },
        error=validation(error),
        evidence=evidence,
    )


UPDATE = [
    Vector(
        "index_over_several_attributes_is_filled_from_what_is_there",
        operation="Query",
        tables=[ORDERS],
        given={"MultiOrders": ITEMS},
        before=[
            (
                "UpdateTable",
                {
                    "TableName": "MultiOrders",
                    "AttributeDefinitions": attributes(h="S", b="S", d="S", pk="S"),
                    "GlobalSecondaryIndexUpdates": [{"Create": wide_index("byStatus", "h", "b d pk")}],
                },
            )
        ],
        request={
            "TableName": "MultiOrders",
            "IndexName": "byStatus",
            "KeyConditionExpression": "h = :h AND b = :b",
            "ExpressionAttributeValues": {":h": {"S": "o1"}, ":b": {"S": "live"}},
        },
        answer=including({"Items": [BY_PK[pk] for pk in ("p5", "p1", "p3", "p6", "p2")]}),
        evidence=f"{DYNOXIDE}; the order among equal keys is made certain by the last attribute",
    ),
    added(
        "index_with_a_name_twice_cannot_be_added",
        {**schema(("h", "HASH"), ("a", "RANGE"), ("h", "RANGE")), "IndexName": "added"},
        SAME_NAME,
        DYNOXIDE,
    ),
    added(
        "index_with_five_sort_attributes_cannot_be_added",
        {**wide_index("added", "h", "a b c d pk")},
        f"{TOO_MANY} RANGE key attributes",
        f"{DYNOXIDE}: CreateTable and UpdateTable alike",
    ),
]


# --- writes ---


def unfit(name: str, change: Wire, message: str, evidence: str) -> Vector:
    return Vector(
        name,
        operation="PutItem",
        tables=[ORDERS],
        request={"TableName": "MultiOrders", "Item": {**BY_PK["p1"], **change}},
        error=validation(message),
        evidence=evidence,
    )


def key_change(name: str, update: str, values: Wire, units: float, evidence: str) -> Vector:
    changed: Wire = {} if not values else {"ExpressionAttributeValues": values}
    return Vector(
        name,
        operation="UpdateItem",
        tables=[ORDERS],
        given={"MultiOrders": [BY_PK["p1"]]},
        request={
            "TableName": "MultiOrders",
            "Key": {"pk": {"S": "p1"}},
            "UpdateExpression": update,
            "ReturnConsumedCapacity": "INDEXES",
            **changed,
        },
        answer={
            "ConsumedCapacity": {
                "TableName": "MultiOrders",
                "CapacityUnits": 1 + units,
                "Table": {"CapacityUnits": 1.0},
                "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": units}},
            }
        },
        evidence=evidence,
    )


MISMATCH = "One or more parameter values were invalid: Type mismatch for Index Key"
EMPTY = (
    "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
    "The AttributeValue for a key attribute cannot contain an empty string value. IndexName: gsi, IndexKey: d"
)

WRITTEN = [
    unfit(
        "put_with_a_sort_attribute_of_another_type",
        {"c": {"N": "1"}},
        f"{MISMATCH} c Expected: S Actual: N IndexName: gsi",
        DYNOXIDE,
    ),
    unfit(
        "put_with_a_sort_attribute_that_is_null",
        {"d": {"NULL": True}},
        f"{MISMATCH} d Expected: S Actual: NULL IndexName: gsi",
        "Answer of the service for keys of one attribute, recorded in dynoxide (tests/index_key_validation.rs)",
    ),
    unfit(
        "put_with_an_empty_sort_attribute",
        {"d": {"S": ""}},
        EMPTY,
        "Answer of the service for keys of one attribute, github.com/architect/dynalite/issues/184",
    ),
    unfit(
        "put_with_one_sort_attribute_longer_than_any_key",
        {"d": {"S": "x" * 1025}},
        "One or more parameter values were invalid: Size limit exceeded for Index Key d Actual Size: 1025 bytes "
        "Max Size: 1024 bytes IndexName: gsi",
        "Answer of the service for keys of one attribute, github.com/architect/dynalite/issues/35",
    ),
    unfit(
        "put_with_sort_attributes_too_long_together",
        {"c": {"S": "x" * 512}, "d": {"S": "x" * 513}},
        "Aggregate size for RANGE key attributes a, b, c, d of index gsi has exceeded limit 1024 bytes, with "
        "actual size 1030 bytes",
        LOCAL,
    ),
    Vector(
        "put_without_a_key_attribute_is_not_in_the_index",
        operation="PutItem",
        tables=[ORDERS],
        request={"TableName": "MultiOrders", "Item": BY_PK["p6"]},
        answer={},
        after=[
            then(
                "Scan",
                {"TableName": "MultiOrders", "IndexName": "gsi"},
                {"Items": [], "Count": 0, "ScannedCount": 0},
            )
        ],
        evidence=PARITY,
    ),
    Vector(
        "put_with_a_wrong_attribute_cancels_a_transaction",
        operation="TransactWriteItems",
        tables=[ORDERS],
        request={
            "TransactItems": [{"Put": {"TableName": "MultiOrders", "Item": {**BY_PK["p1"], "c": {"N": "1"}}}}]
        },
        error=Refusal(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]",
            CancellationReasons=[
                {"Code": "ValidationError", "Message": f"{MISMATCH} c Expected: S Actual: N IndexName: gsi"}
            ],
        ),
        evidence="Answer of the service for keys of one attribute, dynoxide (tests/index_key_validation.rs)",
    ),
    key_change(
        "change_of_the_last_sort_attribute_is_two_writes", "SET d = :v", {":v": {"S": "z"}}, 2.0, WRITES
    ),
    key_change(
        "change_of_the_partition_attribute_is_two_writes", "SET h = :v", {":v": {"S": "z"}}, 2.0, WRITES
    ),
    key_change("removal_of_one_attribute_is_one_write", "REMOVE b", {}, 1.0, WRITES),
    key_change("change_of_another_attribute_is_one_write", "SET z = :v", {":v": {"S": "z"}}, 1.0, WRITES),
]

VECTORS = [*CREATE, *UPDATE, *WRITTEN]
