"""BatchGetItem and BatchWriteItem: many keys and writes at once, and what is refused."""

from __future__ import annotations

from golden.vectors.matching import including, unordered
from golden.vectors.tables import BINARY_RANGE, HASH, HASH_RANGE, LOCAL
from golden.vectors.vector import Refusal, Vector, Wire, then, validation

CONFORMANCE = "Answer of the service, recorded by paritysuite/dynamodb-conformance"
DYNALITE = (
    "Answer of the service, recorded in dynalite's tests (test/batchGetItem.js, test/batchWriteItem.js)"
)
GETS = "AWS API reference, BatchGetItem"
WRITES = "AWS API reference, BatchWriteItem"

ENVELOPE = "1 validation error detected: "
NO_MATCH = "The provided key element does not match the schema"
DUPLICATES = "Provided list of item keys contains duplicates"
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
    "string value. Key: p"
)


def item(name: str, **more: Wire) -> Wire:
    return {"p": {"S": name}, **more}


def put(*items: Wire) -> list[Wire]:
    return [{"PutRequest": {"Item": each}} for each in items]


def delete(*keys: Wire) -> list[Wire]:
    return [{"DeleteRequest": {"Key": key}} for key in keys]


A, B, C = item("a", x={"N": "1"}), item("b", x={"B": "AQ=="}), item("c")


def got(name: str, part: Wire, items: list[Wire], *, evidence: str = GETS) -> Vector:
    return Vector(
        name,
        operation="BatchGetItem",
        tables=[HASH],
        given={"Hash": [A, B]},
        request={"RequestItems": {"Hash": part}},
        answer={"Responses": {"Hash": unordered(items)}, "UnprocessedKeys": {}},
        evidence=evidence,
    )


def get_refused(name: str, part: Wire, error: Refusal, *, evidence: str, table: Wire = HASH) -> Vector:
    return Vector(
        name,
        operation="BatchGetItem",
        tables=[table],
        request={"RequestItems": {table["TableName"]: part}},
        error=error,
        evidence=evidence,
    )


def write_refused(
    name: str,
    writes: list[Wire],
    error: Refusal,
    *,
    evidence: str,
    table: Wire = HASH,
    wire_only: bool = False,
) -> Vector:
    """A batch that is refused as a whole: nothing of it is written."""
    return Vector(
        name,
        operation="BatchWriteItem",
        tables=[table],
        request={"RequestItems": {table["TableName"]: writes}},
        error=error,
        after=[
            then(
                "Scan", {"TableName": table["TableName"], "Select": "COUNT"}, {"Count": 0, "ScannedCount": 0}
            )
        ],
        wire_only=wire_only,
        evidence=evidence,
    )


GET = [
    got("batch_get_finds_what_is_there", {"Keys": [item("a"), item("b"), item("none")]}, [A, B]),
    got("batch_get_of_nothing_there", {"Keys": [item("none")]}, []),
    got(
        "batch_get_with_a_projection",
        {
            "Keys": [item("a"), item("b")],
            "ProjectionExpression": "#x",
            "ExpressionAttributeNames": {"#x": "x"},
            "ConsistentRead": True,
        },
        [{"x": A["x"]}, {"x": B["x"]}],
    ),
    got(
        "batch_get_with_the_oldest_projection",
        {"Keys": [item("a")], "AttributesToGet": ["p"]},
        [item("a")],
        evidence="AWS developer guide, AttributesToGet (legacy)",
    ),
    Vector(
        "batch_get_from_two_tables_with_units",
        operation="BatchGetItem",
        tables=[HASH, HASH_RANGE],
        given={"Hash": [A], "HashRange": [item("a", s={"S": "1"})]},
        request={
            "RequestItems": {
                "Hash": {"Keys": [item("a")]},
                "HashRange": {
                    "Keys": [item("a", s={"S": "1"}), item("a", s={"S": "2"})],
                    "ConsistentRead": True,
                },
            },
            "ReturnConsumedCapacity": "TOTAL",
        },
        answer={
            "Responses": {"Hash": [A], "HashRange": [item("a", s={"S": "1"})]},
            "UnprocessedKeys": {},
            "ConsumedCapacity": unordered(
                [
                    {"TableName": "Hash", "CapacityUnits": 0.5},
                    {"TableName": "HashRange", "CapacityUnits": 2.0},
                ]
            ),
        },
        evidence=f"{GETS}: items that do not exist consume the minimum read units by the kind of read",
    ),
    Vector(
        "batch_get_leaves_what_does_not_fit_into_16_mb",
        operation="BatchGetItem",
        tables=[HASH],
        given={"Hash": [item(f"big{n}", v={"S": "x" * 380_000}) for n in range(46)]},
        request={"RequestItems": {"Hash": {"Keys": [item(f"big{n}") for n in range(46)]}}},
        answer=including({"UnprocessedKeys": including({"Hash": including({})})}),
        evidence=f"{GETS}: 16 MB; for 100 items of 300 KB, 52 come back and the rest is in UnprocessedKeys",
    ),
    Vector(
        "batch_get_from_a_missing_table",
        operation="BatchGetItem",
        tables=[HASH],
        request={"RequestItems": {"Hash": {"Keys": [item("a")]}, "Missing": {"Keys": [item("a")]}}},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        evidence=DYNALITE,
    ),
    get_refused(
        "batch_get_of_101_keys",
        {"Keys": [item(str(n)) for n in range(101)]},
        validation(
            f"{ENVELOPE}Value at 'RequestItems.Hash.member.Keys' failed to satisfy constraint: "
            "Member must have length less than or equal to 100"
        ),
        evidence=CONFORMANCE,
    ),
    Vector(
        "batch_get_of_101_keys_in_two_tables",
        operation="BatchGetItem",
        tables=[HASH, HASH_RANGE],
        request={
            "RequestItems": {
                "Hash": {"Keys": [item(str(n)) for n in range(60)]},
                "HashRange": {"Keys": [item("a", s={"S": str(n)}) for n in range(41)]},
            }
        },
        error=validation("Too many items requested for the BatchGetItem call"),
        evidence=CONFORMANCE,
    ),
    get_refused(
        "batch_get_of_one_key_twice",
        {"Keys": [item("a"), item("b"), item("a")]},
        validation(DUPLICATES),
        evidence=CONFORMANCE,
    ),
    *(
        get_refused(
            f"batch_get_of_one_key_twice_before_{name}",
            {"Keys": [item("a"), item("a"), {"p": value}]},
            validation(DUPLICATES),
            evidence="DynamoDB Local 3.3; dynalite's order of checks, which its tests compared with the service",
        )
        for name, value in (
            ("a_value_that_is_wrong", {"BS": []}),
            ("a_key_of_another_type", {"N": "1"}),
            ("a_key_that_is_too_long", {"S": "x" * 2049}),
        )
    ),
    get_refused(
        "batch_get_with_a_wrong_value_before_one_key_twice",
        {"Keys": [{"p": {"SS": []}}, item("a"), item("a")]},
        validation("One or more parameter values were invalid: An string set  may not be empty"),
        evidence=f"{DYNALITE}: the keys are read one by one",
    ),
    get_refused(
        "batch_get_with_a_key_of_another_type",
        {"Keys": [{"p": {"N": "1"}}]},
        validation(NO_MATCH),
        evidence=DYNALITE,
    ),
    get_refused(
        "batch_get_without_the_sort_key",
        {"Keys": [item("a")]},
        validation(NO_MATCH),
        evidence=DYNALITE,
        table=HASH_RANGE,
    ),
    get_refused(
        "batch_get_with_an_empty_key", {"Keys": [item("")]}, validation(EMPTY_KEY), evidence=CONFORMANCE
    ),
    get_refused(
        "batch_get_with_an_undefined_name",
        {"Keys": [item("a")], "ProjectionExpression": "#x"},
        validation(
            "Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; "
            "attribute name: #x"
        ),
        evidence=DYNALITE,
    ),
    get_refused(
        "batch_get_with_both_projections",
        {"Keys": [item("a")], "ProjectionExpression": "x", "AttributesToGet": ["x"]},
        validation(
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
        ),
        evidence=DYNALITE,
    ),
]

WRITE = [
    Vector(
        "batch_write_puts_and_deletes",
        operation="BatchWriteItem",
        tables=[HASH],
        given={"Hash": [A]},
        request={"RequestItems": {"Hash": [*put(B, C), *delete(item("a"), item("none"))]}},
        answer={"UnprocessedItems": {}},
        after=[then("Scan", {"TableName": "Hash"}, including({"Items": unordered([B, C])}))],
        evidence=WRITES,
    ),
    Vector(
        "batch_write_into_two_tables_with_units",
        operation="BatchWriteItem",
        tables=[HASH, LOCAL],
        request={
            "RequestItems": {
                "Hash": put(A, B),
                "Local": put(item("a", s={"S": "1"}, l={"S": "2"})),
            },
            "ReturnConsumedCapacity": "TOTAL",
            "ReturnItemCollectionMetrics": "SIZE",
        },
        answer={
            "UnprocessedItems": {},
            "ItemCollectionMetrics": {
                "Local": [{"ItemCollectionKey": item("a"), "SizeEstimateRangeGB": [0.0, 1.0]}]
            },
            "ConsumedCapacity": unordered(
                [{"TableName": "Hash", "CapacityUnits": 2.0}, {"TableName": "Local", "CapacityUnits": 3.0}]
            ),
        },
        evidence=f"{WRITES}, ConsumedCapacity and ItemCollectionMetrics; one unit for each local index",
    ),
    Vector(
        "batch_write_of_25_items",
        operation="BatchWriteItem",
        tables=[HASH],
        request={"RequestItems": {"Hash": put(*(item(str(n)) for n in range(25)))}},
        answer={"UnprocessedItems": {}},
        after=[then("Scan", {"TableName": "Hash", "Select": "COUNT"}, {"Count": 25, "ScannedCount": 25})],
        evidence=f"{WRITES}: up to 25 item put or delete operations",
    ),
    Vector(
        "batch_write_without_requests",
        operation="BatchWriteItem",
        request={"RequestItems": {}},
        error=validation("The requestItems parameter is required for BatchWriteItem"),
        evidence=f"{CONFORMANCE}, in most regions in October 2026",
    ),
    Vector(
        "batch_write_into_a_missing_table",
        operation="BatchWriteItem",
        tables=[HASH],
        request={"RequestItems": {"Hash": put(A), "Missing": put(A)}},
        error=Refusal("ResourceNotFoundException", "Requested resource not found"),
        after=[then("GetItem", {"TableName": "Hash", "Key": item("a")}, {})],
        evidence=DYNALITE,
    ),
    Vector(
        "batch_write_of_26_items_in_two_tables",
        operation="BatchWriteItem",
        tables=[HASH, BINARY_RANGE],
        request={
            "RequestItems": {
                "Hash": put(*(item(str(n)) for n in range(25))),
                "BinaryRange": put(item("a", b={"B": "AQ=="})),
            }
        },
        error=validation("Too many items requested for the BatchWriteItem call"),
        evidence="DynamoDB Local 3.3, in the words that the service has for BatchGetItem (dynalite's tests)",
    ),
    write_refused("batch_write_of_one_key_twice", put(A, A), validation(DUPLICATES), evidence=CONFORMANCE),
    write_refused(
        "batch_write_that_puts_and_deletes_one_key",
        [*put(A), *delete(item("a"))],
        validation(DUPLICATES),
        evidence=CONFORMANCE,
    ),
    write_refused(
        "batch_write_of_one_number_key_in_two_spellings",
        [
            {"PutRequest": {"Item": item("a", n={"N": "1"})}},
            {"DeleteRequest": {"Key": item("a", n={"N": "1.0"})}},
        ],
        validation(DUPLICATES),
        table={
            **HASH_RANGE,
            "TableName": "BatchNumbers",
            "KeySchema": [
                {"AttributeName": "p", "KeyType": "HASH"},
                {"AttributeName": "n", "KeyType": "RANGE"},
            ],
            "AttributeDefinitions": [
                {"AttributeName": "p", "AttributeType": "S"},
                {"AttributeName": "n", "AttributeType": "N"},
            ],
        },
        evidence="AWS developer guide, Number: leading and trailing zeroes are trimmed, so the keys are one",
    ),
    write_refused(
        "batch_write_with_one_wrong_item_writes_none",
        put(A, {"x": {"S": "no key"}}),
        validation(NO_MATCH),
        evidence=DYNALITE,
    ),
    write_refused(
        "batch_write_with_a_key_of_another_type",
        put({"p": {"N": "1"}}),
        validation(NO_MATCH),
        evidence=DYNALITE,
    ),
    write_refused(
        "batch_delete_with_an_attribute_too_many", delete(A), validation(NO_MATCH), evidence=DYNALITE
    ),
    write_refused(
        "batch_write_with_an_empty_key", put(item("")), validation(EMPTY_KEY), evidence=CONFORMANCE
    ),
    write_refused(
        "batch_write_of_an_item_that_is_too_large",
        put(item("a", v={"S": "x" * 410_000})),
        validation("Item size has exceeded the maximum allowed size"),
        evidence=DYNALITE,
    ),
    write_refused(
        "batch_write_of_an_empty_set",
        put(item("a", v={"SS": []})),
        validation("One or more parameter values were invalid: An string set  may not be empty"),
        evidence=f"{CONFORMANCE}: without the words around it that single writes have",
    ),
    write_refused(
        "batch_write_of_neither",
        [{}],
        validation(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
            "datatypes"
        ),
        wire_only=True,
        evidence=DYNALITE,
    ),
    write_refused(
        "batch_write_of_both",
        [{"PutRequest": {"Item": A}, "DeleteRequest": {"Key": item("b")}}],
        validation(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
            "datatypes"
        ),
        evidence=DYNALITE,
    ),
]

VECTORS = [*GET, *WRITE]
