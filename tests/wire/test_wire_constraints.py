"""Requests are refused in AWS's words and order. Messages marked with a source are answers of Amazon DynamoDB.

parity: captures and assertions of github.com/paritysuite/dynamodb-conformance, run against AWS, to October 2026.
ack: captures of "ack-api-quirks" against AWS (us-west-2), October 2026.
dynalite: tests of github.com/architect/dynalite, run against AWS until about 2020.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import Database
from singletable.errors import ApiError, SerializationError, ValidationError
from singletable.wire.validation.constraints import check
from singletable.wire.validation.live_shapes import Shape, live_shape
from singletable.wire.validation.refusals import refuse
from singletable.wire.validation.shapes import INPUTS

Params = dict[str, Any]

KEY: Params = {"pk": {"S": "a"}}
PUT: Params = {"TableName": "abc", "Item": KEY}
CREATE: Params = {
    "TableName": "abc",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
ARN = "arn:aws:dynamodb:us-east-1:123456789012:table/abc"

NULL = "Member must not be null"
PATTERN = "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
CAPACITIES = "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
METRICS = "Member must satisfy enum value set: [SIZE, NONE]"
RETURNS = "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
SELECTIONS = (
    "Member must satisfy enum value set: "
    "[SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]"
)
NEWER_RETURNS = (
    "Failed to satisfy constraint: Member must satisfy enum value set: "
    "[ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
)
TABLE_KEYS = (
    "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
    "Member must have length greater than or equal to 3, "
    "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
)
WRITES = (
    "Map value must satisfy constraint: [Member must have length less than or equal to 25, "
    "Member must have length greater than or equal to 1]"
)
NO_TABLE_NAME = "The parameter 'TableName' is required but was not present in the request"


def at_least(number: int, measure: str = "length") -> str:
    return f"Member must have {measure} greater than or equal to {number}"


def at_most(number: int, measure: str = "length") -> str:
    return f"Member must have {measure} less than or equal to {number}"


def broken(value: str | None, path: str, constraint: str) -> str:
    shown = "null" if value is None else f"'{value}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {constraint}"


def errors(*texts: str) -> str:
    return f"{len(texts)} validation error{'s' if len(texts) > 1 else ''} detected: {'; '.join(texts)}"


def newer_text(path: str, constraint: str) -> str:
    return f"Value at '{path}' failed to satisfy constraint: {constraint}"


def newer(path: str, constraint: str) -> str:
    return errors(newer_text(path, constraint))


def message(error: type[ApiError], operation: str, params: Params, *, native: bool = False) -> str:
    with pytest.raises(error) as caught:
        check(operation, params, native=native)
    return caught.value.message


# --- what is right ---------------------------------------------------------------------------------

ACCEPTED: dict[str, tuple[str, Params]] = {
    "get": ("GetItem", {"TableName": "abc", "Key": KEY}),
    "get with everything": (
        "GetItem",
        {
            "TableName": "a-b.c_1",
            "Key": KEY,
            "ConsistentRead": True,
            "ReturnConsumedCapacity": "TOTAL",
            "ProjectionExpression": "#a",
            "ExpressionAttributeNames": {"#a": "a"},
        },
    ),
    "null is absent": ("GetItem", {"TableName": "abc", "Key": KEY, "ConsistentRead": None}),
    "null inside a structure is absent": (
        "CreateTable",
        {
            **CREATE,
            "StreamSpecification": {"StreamEnabled": False, "StreamViewType": None},
        },
    ),
    "put": ("PutItem", PUT),
    "put of an empty item": ("PutItem", {"TableName": "abc", "Item": {}}),
    "table ARN": ("PutItem", {**PUT, "TableName": ARN}),
    "longest table name": ("PutItem", {**PUT, "TableName": "a" * 255}),
    "shortest table name": ("DescribeTable", {"TableName": "a.b"}),
    "table name that begins with a digit": ("DescribeTable", {"TableName": "123"}),
    "create table": ("CreateTable", CREATE),
    "create table with tags": ("CreateTable", {**CREATE, "Tags": [{"Key": "a", "Value": ""}]}),
    "global index with a key of many attributes": (
        "CreateTable",
        {
            **CREATE,
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "gsi",
                    "KeySchema": [{"AttributeName": name, "KeyType": "HASH"} for name in "abcd"],
                    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]},
                }
            ],
        },
    ),
    "list tables": ("ListTables", {}),
    "query": ("Query", {"TableName": "abc", "KeyConditionExpression": "pk = :a", "Limit": 1}),
    "scan segment": ("Scan", {"TableName": "abc", "Segment": 0, "TotalSegments": 1_000_000}),
    "batch get": ("BatchGetItem", {"RequestItems": {"abc": {"Keys": [KEY] * 100}, ARN: {"Keys": [KEY]}}}),
    "batch write": (
        "BatchWriteItem",
        {"RequestItems": {"abc": [{"PutRequest": {"Item": KEY}}, {"DeleteRequest": {"Key": KEY}}]}},
    ),
    "transact write": (
        "TransactWriteItems",
        {"TransactItems": [{"Put": PUT}] * 100, "ClientRequestToken": "x" * 36},
    ),
    "tag": ("TagResource", {"ResourceArn": ARN, "Tags": [{"Key": "a" * 128, "Value": "b" * 256}]}),
    "untag": ("UntagResource", {"ResourceArn": ARN, "TagKeys": ["a"]}),
    "no parameters at all": ("DescribeLimits", {}),
}


@pytest.mark.parametrize("native", [False, True], ids=["wire", "native"])
@pytest.mark.parametrize(("operation", "params"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_right_request_is_accepted(operation: str, params: Params, native: bool) -> None:
    check(operation, params, native=native)
    refuse(operation, params, native=native)  # the slow way finds nothing either


def test_tuples_mappings_and_string_enums_are_accepted_in_the_process() -> None:
    class Returns(StrEnum):
        OLD = "ALL_OLD"

    check("PutItem", {**PUT, "Item": MappingProxyType(KEY), "ReturnValues": Returns.OLD}, native=True)
    check("GetItem", {"TableName": "abc", "Key": KEY, "AttributesToGet": ("a", "b")}, native=True)
    check("CreateTable", {**CREATE, "KeySchema": tuple(CREATE["KeySchema"])}, native=True)


def test_attribute_values_are_not_looked_into() -> None:
    check("PutItem", {"TableName": "abc", "Item": {"a": {"S": 5}, "b": {}, "c": {"Q": []}}}, native=True)


LATER: dict[str, tuple[str, Params]] = {
    "select": ("Query", {"TableName": "abc", "Select": "BOGUS"}),
    "conditional operator": ("PutItem", {**PUT, "ConditionalOperator": "XOR"}),
    "comparison operator": ("Scan", {"TableName": "abc", "ScanFilter": {"a": {"ComparisonOperator": "eq"}}}),
    "action": ("UpdateItem", {"TableName": "abc", "Key": KEY, "AttributeUpdates": {"a": {"Action": "put"}}}),
    "number beyond 32 bits": ("Scan", {"TableName": "abc", "Limit": 1 << 70}),
    "number with a fraction": ("Scan", {"TableName": "abc", "Segment": -0.5, "TotalSegments": 1.5}),
}


@pytest.mark.parametrize(("operation", "params"), LATER.values(), ids=LATER.keys())
def test_what_is_asked_in_another_place_is_let_through(operation: str, params: Params) -> None:
    check(operation, params, native=False)


# --- wrong JSON types ------------------------------------------------------------------------------

NOT_A_MAP = "Start of structure or map found where not expected"
CANNOT_CAST = (
    "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class "
    "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of "
    "loader 'bootstrap')"
)
JAVA = "com.amazonaws.dynamodb.v20120810"

# All of them: dynalite (its table of types); those without "Unrecognized" and "sun.reflect" again in 2026, floci.
WRONG_TYPES: dict[str, tuple[str, Params, str]] = {
    "true for a string": ("GetItem", {"TableName": True}, "TRUE_VALUE cannot be converted to String"),
    "false for a string": ("GetItem", {"TableName": False}, "FALSE_VALUE cannot be converted to String"),
    "number for a string": ("GetItem", {"TableName": 23}, "NUMBER_VALUE cannot be converted to String"),
    "decimal for a string": ("GetItem", {"TableName": 34.56}, "DECIMAL_VALUE cannot be converted to String"),
    "map for a string": ("GetItem", {"TableName": {}}, NOT_A_MAP),
    "list for a string": (
        "GetItem",
        {"TableName": []},
        "Unrecognized collection type class java.lang.String",
    ),
    "string for an integer": ("Query", {"Limit": "23"}, "STRING_VALUE cannot be converted to Integer"),
    "true for an integer": ("Query", {"Limit": True}, "TRUE_VALUE cannot be converted to Integer"),
    "map for an integer": ("Query", {"Limit": {}}, NOT_A_MAP),
    "list for an integer": ("Query", {"Limit": []}, "Unrecognized collection type class java.lang.Integer"),
    "string for a long": (
        "CreateTable",
        {"ProvisionedThroughput": {"ReadCapacityUnits": "5"}},
        "STRING_VALUE cannot be converted to Long",
    ),
    "number for a boolean": (
        "GetItem",
        {"ConsistentRead": 0},
        "NUMBER_VALUE cannot be converted to Boolean",
    ),
    "decimal for a boolean": (
        "GetItem",
        {"ConsistentRead": 0.5},
        "DECIMAL_VALUE cannot be converted to Boolean",
    ),
    "text for a boolean": ("GetItem", {"ConsistentRead": "abc"}, "Unexpected token received from parser"),
    "map for a boolean": ("GetItem", {"ConsistentRead": {}}, NOT_A_MAP),
    "list for a boolean": (
        "GetItem",
        {"ConsistentRead": []},
        "Unrecognized collection type class java.lang.Boolean",
    ),
    "string for a time": (
        "RestoreTableToPointInTime",
        {"RestoreDateTime": "2026-01-01T00:00:00Z"},
        "STRING_VALUE can not be converted to milliseconds since epoch",
    ),
    "true for a time": (
        "RestoreTableToPointInTime",
        {"RestoreDateTime": True},
        "TRUE_VALUE can not be converted to milliseconds since epoch",
    ),
    "map for a time": ("RestoreTableToPointInTime", {"RestoreDateTime": {}}, NOT_A_MAP),
    "list for a time": (
        "RestoreTableToPointInTime",
        {"RestoreDateTime": []},
        "Unrecognized collection type class java.util.Date",
    ),
    "string for a list": ("GetItem", {"AttributesToGet": "a"}, "Unexpected field type"),
    "map for a list": ("GetItem", {"AttributesToGet": {}}, NOT_A_MAP),
    "number in a list of strings": (
        "GetItem",
        {"AttributesToGet": [5]},
        "NUMBER_VALUE cannot be converted to String",
    ),
    "string for a map": ("PutItem", {"Item": "a"}, "Unexpected field type"),
    "list for a map": (
        "PutItem",
        {"Item": []},
        f"Unrecognized collection type java.util.Map<java.lang.String, {JAVA}.AttributeValue>",
    ),
    "list for a map of strings": (
        "GetItem",
        {"ExpressionAttributeNames": []},
        "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>",
    ),
    "list for a map of lists": (
        "BatchWriteItem",
        {"RequestItems": []},
        f"Unrecognized collection type java.util.Map<java.lang.String, java.util.List<{JAVA}.WriteRequest>>",
    ),
    "number for a list in a map": ("BatchWriteItem", {"RequestItems": {"abc": 5}}, CANNOT_CAST),
    "number for a map in a list": ("BatchGetItem", {"RequestItems": {"abc": {"Keys": [5]}}}, CANNOT_CAST),
    "string for a structure": ("CreateTable", {"ProvisionedThroughput": "a"}, "Unexpected field type"),
    "list for a structure": (
        "CreateTable",
        {"ProvisionedThroughput": []},
        f"Unrecognized collection type class {JAVA}.ProvisionedThroughput",
    ),
    "string for a structure in a list": (
        "CreateTable",
        {"KeySchema": ["a"]},
        "Unexpected value type in payload",
    ),
    "list for a structure in a list": (
        "CreateTable",
        {"KeySchema": [[]]},
        f"Unrecognized collection type class {JAVA}.KeySchemaElement",
    ),
    "number for an attribute value": ("PutItem", {"Item": {"a": 5}}, "Unexpected value type in payload"),
    "list for an attribute value": (
        "PutItem",
        {"Item": {"a": []}},
        f"Unrecognized collection type class {JAVA}.AttributeValue",
    ),
}


@pytest.mark.parametrize(("operation", "params", "text"), WRONG_TYPES.values(), ids=WRONG_TYPES.keys())
def test_wrong_json_type_is_a_serialization_error(operation: str, params: Params, text: str) -> None:
    assert message(SerializationError, operation, params) == text


def test_first_member_of_a_wrong_type_in_the_order_of_the_body_is_told() -> None:
    assert message(SerializationError, "Scan", {"Limit": "5", "IndexName": 5}).startswith("STRING_VALUE")
    assert message(SerializationError, "Scan", {"IndexName": 5, "Limit": "5"}).startswith("NUMBER_VALUE")


def test_wrong_type_is_told_before_anything_else() -> None:
    assert message(SerializationError, "CreateTable", {"BillingMode": "X", "TableClass": 5}).startswith(
        "NUMBER_VALUE"
    )


def test_python_object_that_is_no_json_is_named_by_its_type() -> None:
    text = message(SerializationError, "GetItem", {"TableName": b"abc", "Key": KEY}, native=True)
    assert text == "bytes cannot be converted to String"


# --- broken constraints: sentences of the older validator ------------------------------------------

SHORT_GSI: Params = {
    "IndexName": "g1",
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "ALL"},
}
SHORT_LSI: Params = {**SHORT_GSI, "IndexName": "l1"}
THREE_KEYS = [
    {"AttributeName": "pk", "KeyType": "HASH"},
    {"AttributeName": "sk", "KeyType": "RANGE"},
    {"AttributeName": "extra", "KeyType": "RANGE"},
]
THREE_KEYS_ECHO = (
    "[KeySchemaElement(attributeName=pk, keyType=HASH), KeySchemaElement(attributeName=sk, keyType=RANGE), "
    "KeySchemaElement(attributeName=extra, keyType=RANGE)]"
)

COLLECTED: dict[str, tuple[str, Params, str]] = {
    # parity: createTable.test.ts, "more than 2 KeySchema elements"
    "list too long, echoed as Java prints it": (
        "CreateTable",
        {**CREATE, "KeySchema": THREE_KEYS},
        errors(broken(THREE_KEYS_ECHO, "keySchema", at_most(2))),
    ),
    # ack: ct_keyschema_empty
    "empty list": (
        "CreateTable",
        {**CREATE, "KeySchema": []},
        errors(broken("[]", "keySchema", at_least(1))),
    ),
    # ack: DDB-TABLE-042
    "no key schema": (
        "CreateTable",
        {name: value for name, value in CREATE.items() if name != "KeySchema"},
        errors(broken(None, "keySchema", NULL)),
    ),
    # ack: ct_keyschema_empty_entry
    "empty key schema element": (
        "CreateTable",
        {**CREATE, "KeySchema": [{}]},
        errors(
            broken(None, "keySchema.1.member.attributeName", NULL),
            broken(None, "keySchema.1.member.keyType", NULL),
        ),
    ),
    # ack: ct_attrdefs_empty_entry
    "empty attribute definition": (
        "CreateTable",
        {**CREATE, "AttributeDefinitions": [{}]},
        errors(
            broken(None, "attributeDefinitions.1.member.attributeType", NULL),
            broken(None, "attributeDefinitions.1.member.attributeName", NULL),
        ),
    ),
    # parity: createTable.test.ts, "invalid AttributeType"
    "unknown attribute type": (
        "CreateTable",
        {**CREATE, "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "INVALID"}]},
        errors(
            broken(
                "INVALID",
                "attributeDefinitions.1.member.attributeType",
                "Member must satisfy enum value set: [B, N, S]",
            )
        ),
    ),
    # parity: createTable.test.ts, "invalid KeyType"
    "unknown key type": (
        "CreateTable",
        {**CREATE, "KeySchema": [{"AttributeName": "pk", "KeyType": "INVALID"}]},
        errors(
            broken(
                "INVALID", "keySchema.1.member.keyType", "Member must satisfy enum value set: [HASH, RANGE]"
            )
        ),
    ),
    # ack: ct_billing_empty
    "unknown billing mode": (
        "CreateTable",
        {**CREATE, "BillingMode": ""},
        errors(
            broken("", "billingMode", "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]")
        ),
    ),
    # ack: DDB-TABLE-035
    "unknown stream view": (
        "CreateTable",
        {**CREATE, "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "new_image"}},
        errors(
            broken(
                "new_image",
                "streamSpecification.streamViewType",
                "Member must satisfy enum value set: [OLD_IMAGE, KEYS_ONLY, NEW_AND_OLD_IMAGES, NEW_IMAGE]",
            )
        ),
    ),
    # ack: DDB-TABLE-035
    "stream without its switch": (
        "CreateTable",
        {**CREATE, "StreamSpecification": {}},
        errors(broken(None, "streamSpecification.streamEnabled", NULL)),
    ),
    # ack: DDB-TABLE-036
    "first letter of an acronym is lowered": (
        "CreateTable",
        {**CREATE, "SSESpecification": {"SSEType": "kms"}},
        errors(
            broken("kms", "sSESpecification.sSEType", "Member must satisfy enum value set: [AES256, KMS]")
        ),
    ),
    # ack: ct_sse_kms_key_empty
    "empty key id": (
        "CreateTable",
        {**CREATE, "SSESpecification": {"KMSMasterKeyId": ""}},
        errors(broken("", "sSESpecification.kMSMasterKeyId", at_least(1))),
    ),
    # ack: "PAY_PER_REQUEST + ProvisionedThroughput 0/0"
    "zero throughput": (
        "CreateTable",
        {**CREATE, "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}},
        errors(
            broken("0", "provisionedThroughput.writeCapacityUnits", at_least(1, "value")),
            broken("0", "provisionedThroughput.readCapacityUnits", at_least(1, "value")),
        ),
    ),
    # ack: "PROVISIONED read-only"
    "half a throughput": (
        "CreateTable",
        {**CREATE, "ProvisionedThroughput": {"ReadCapacityUnits": 4}},
        errors(broken(None, "provisionedThroughput.writeCapacityUnits", NULL)),
    ),
    # parity: validation-ordering/createTable.test.ts
    "global index before local index": (
        "CreateTable",
        {**CREATE, "LocalSecondaryIndexes": [SHORT_LSI], "GlobalSecondaryIndexes": [SHORT_GSI]},
        errors(
            broken("g1", "globalSecondaryIndexes.1.member.indexName", at_least(3)),
            broken("l1", "localSecondaryIndexes.1.member.indexName", at_least(3)),
        ),
    ),
    # ack: ct_gsi_name_empty (cut off after "Member")
    "index name both short and no name": (
        "CreateTable",
        {**CREATE, "GlobalSecondaryIndexes": [{**SHORT_GSI, "IndexName": ""}]},
        errors(
            broken("", "globalSecondaryIndexes.1.member.indexName", at_least(3)),
            broken("", "globalSecondaryIndexes.1.member.indexName", PATTERN),
        ),
    ),
    # floci, "checked against real DynamoDB"
    "empty non-key attributes of the second index": (
        "CreateTable",
        {
            **CREATE,
            "GlobalSecondaryIndexes": [
                {**SHORT_GSI, "IndexName": "one"},
                {**SHORT_GSI, "IndexName": "two", "Projection": {"NonKeyAttributes": []}},
            ],
        },
        errors(broken("[]", "globalSecondaryIndexes.2.member.projection.nonKeyAttributes", at_least(1))),
    ),
    # ack: gsi_update_pt_empty_real
    "empty throughput of an index": (
        "UpdateTable",
        {
            "TableName": "abc",
            "GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "gsi", "ProvisionedThroughput": {}}}],
        },
        errors(
            broken(
                None,
                "globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.writeCapacityUnits",
                NULL,
            ),
            broken(
                None,
                "globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.readCapacityUnits",
                NULL,
            ),
        ),
    ),
    # ack: ttl_empty_struct
    "empty time to live": (
        "UpdateTimeToLive",
        {"TableName": "abc", "TimeToLiveSpecification": {}},
        errors(
            broken(None, "timeToLiveSpecification.attributeName", NULL),
            broken(None, "timeToLiveSpecification.enabled", NULL),
        ),
    ),
    # ack: list_tables_limit0
    "limit of zero": ("ListTables", {"Limit": 0}, errors(broken("0", "limit", at_least(1, "value")))),
    # dynalite: listTables, and the quotation in its index.js
    "limit too high": ("ListTables", {"Limit": 200}, errors(broken("200", "limit", at_most(100, "value")))),
    # ack: list_tables_start_empty
    "empty start table": (
        "ListTables",
        {"ExclusiveStartTableName": ""},
        errors(
            broken("", "exclusiveStartTableName", PATTERN), broken("", "exclusiveStartTableName", at_least(3))
        ),
    ),
    # dynoxide: scan_member_stages.rs
    "missing table brings back the older sentences of a scan": (
        "Scan",
        {"Select": "BOGUS", "Segment": -1, "TotalSegments": 0, "Limit": 0, "ConditionalOperator": "BOGUS"},
        errors(
            broken("BOGUS", "select", SELECTIONS),
            broken("0", "totalSegments", at_least(1, "value")),
            broken(None, "tableName", NULL),
            broken("BOGUS", "conditionalOperator", "Member must satisfy enum value set: [OR, AND]"),
            broken("-1", "segment", at_least(0, "value")),
            broken("0", "limit", at_least(1, "value")),
        ),
    ),
    # dynoxide: scan_member_stages.rs, query_member_checks.rs
    "so does a number that is cut to 32 bits": (
        "Scan",
        {"TableName": "", "Segment": 0, "TotalSegments": 4294967296},
        errors(
            broken("2147483647", "totalSegments", at_most(1_000_000, "value")),
            broken("", "tableName", at_least(1)),
        ),
    ),
    "so does a number that loses its fraction": (
        "Query",
        {"TableName": "abc", "Limit": 0.5, "Select": "BOGUS"},
        errors(broken("BOGUS", "select", SELECTIONS), broken("0", "limit", at_least(1, "value"))),
    ),
    "and the least of all numbers": (
        "Query",
        {"TableName": "abc", "Limit": -(1 << 31) - 1},
        errors(broken("-2147483648", "limit", at_least(1, "value"))),
    ),
    # dynalite: the paths of conditions in maps
    "condition without an operator": (
        "Scan",
        {"TableName": "abc", "ScanFilter": {"a.b": {}}},
        errors(broken(None, "scanFilter.a.b.member.comparisonOperator", NULL)),
    ),
    # dynalite: getItem, empty body
    "nothing at all": (
        "GetItem",
        {},
        errors(broken(None, "tableName", NULL), broken(None, "key", NULL)),
    ),
    # parity: s_put_table_null
    "put without a table": ("PutItem", {"Item": KEY}, errors(broken(None, "tableName", NULL))),
    # parity: validation-ordering/updateItem.test.ts
    "missing member brings back the older sentences": (
        "UpdateItem",
        {"TableName": "", "ReturnConsumedCapacity": "INVALID", "ReturnValues": "INVALID"},
        errors(
            broken("INVALID", "returnConsumedCapacity", CAPACITIES),
            broken("", "tableName", at_least(1)),
            broken("INVALID", "returnValues", RETURNS),
            broken(None, "key", NULL),
        ),
    ),
    # parity: validation-ordering/updateItem.test.ts
    "unknown conditional operator beside a missing key": (
        "UpdateItem",
        {"TableName": "abc", "ConditionalOperator": "XOR"},
        errors(
            broken("XOR", "conditionalOperator", "Member must satisfy enum value set: [OR, AND]"),
            broken(None, "key", NULL),
        ),
    ),
    # parity: validation-ordering/transactions.test.ts (us-east-1)
    "token before enum": (
        "TransactWriteItems",
        {"TransactItems": [{"Put": PUT}], "ClientRequestToken": "x" * 37, "ReturnConsumedCapacity": "BOGUS"},
        errors(
            broken("x" * 37, "clientRequestToken", at_most(36)),
            broken("BOGUS", "returnConsumedCapacity", CAPACITIES),
        ),
    ),
    # parity: validation-ordering/transactions.test.ts
    "two enums of a transaction": (
        "TransactWriteItems",
        {
            "TransactItems": [{"Put": PUT}],
            "ReturnItemCollectionMetrics": "BOGUS2",
            "ReturnConsumedCapacity": "BOGUS",
        },
        errors(
            broken("BOGUS", "returnConsumedCapacity", CAPACITIES),
            broken("BOGUS2", "returnItemCollectionMetrics", METRICS),
        ),
    ),
    # parity: captures/2026-10-08-transact-get-empty-transact-items.json (30 of 33 regions)
    "empty transaction": (
        "TransactGetItems",
        {"TransactItems": []},
        errors(broken("[]", "transactItems", at_least(1))),
    ),
    "action without its table": (
        "TransactWriteItems",
        {"TransactItems": [{"Put": PUT}, {"Delete": {"Key": KEY}}]},
        errors(broken(None, "transactItems.2.member.delete.tableName", NULL)),
    ),
    # dynalite: batchWriteItem
    "request without its key": (
        "BatchWriteItem",
        {"RequestItems": {"abc": [{"DeleteRequest": {}}]}},
        errors(broken(None, "requestItems.abc.member.1.member.deleteRequest.key", NULL)),
    ),
    # parity: batchWriteItem.test.ts, "empty request list for a table"
    "no requests for a table": (
        "BatchWriteItem",
        {"RequestItems": {"abc": []}},
        errors(broken("{abc=[]}", "requestItems", WRITES)),
    ),
    # Coral's sentence for what stands in a list; no capture of DynamoDB's.
    "empty name in a list": (
        "CreateTable",
        {
            **CREATE,
            "GlobalSecondaryIndexes": [
                {**SHORT_GSI, "IndexName": "gsi", "Projection": {"NonKeyAttributes": ["a", ""]}}
            ],
        },
        errors(
            broken(
                "[a, ]",
                "globalSecondaryIndexes.1.member.projection.nonKeyAttributes",
                f"Member must satisfy constraint: [{at_most(255)}, {at_least(1)}]",
            )
        ),
    ),
    "null in a list": (
        "CreateTable",
        {**CREATE, "KeySchema": [None]},
        errors(broken("[null]", "keySchema", f"Member must satisfy constraint: [{NULL}]")),
    ),
    "null in a map": (
        "BatchWriteItem",
        {"RequestItems": {"abc": None}},
        errors(
            broken(
                "{abc=null}",
                "requestItems",
                f"Map value must satisfy constraint: [{at_most(25)}, {at_least(1)}, {NULL}]",
            )
        ),
    ),
    "length is counted in UTF-16 units": (
        "TransactWriteItems",
        {"TransactItems": [{"Put": PUT}], "ClientRequestToken": "😀" * 19},
        errors(broken("😀" * 19, "clientRequestToken", at_most(36))),
    ),
}


@pytest.mark.parametrize(("operation", "params", "text"), COLLECTED.values(), ids=COLLECTED.keys())
def test_broken_constraints_are_collected_into_one_message(operation: str, params: Params, text: str) -> None:
    assert message(ValidationError, operation, params) == text


def test_no_more_than_ten_errors_are_listed() -> None:
    # dynalite: "10 validation errors detected" is the most
    text = message(
        ValidationError, "CreateTable", {**CREATE, "KeySchema": [{}, {}], "AttributeDefinitions": [{}] * 9}
    )
    assert text.startswith("10 validation errors detected: ")
    assert text.count("failed to satisfy constraint") == 10


def test_requests_of_a_batch_are_echoed_with_every_member_java_would_print() -> None:
    # parity: cross-region-latest.json, c_bw_over25 (eu-west-2, 2026-09-20)
    requests = [{"PutRequest": {"Item": {"pk": {"S": f"bw-{number}"}}}} for number in range(26)]
    text = message(ValidationError, "BatchWriteItem", {"RequestItems": {"abc": requests}})
    head, _, tail = text.partition("WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(s=bw-1, ")
    assert head == (
        "1 validation error detected: Value '{abc=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue("
        "s=bw-0, n=null, b=null, iNT=null, dECIMAL=null, dOUBLE=null, sS=null, nS=null, bS=null, iNTSET=null, "
        "dECIMALSET=null, dOUBLESET=null, m=null, l=null, nULL=null, bOOL=null)}, workloadProfileName=null), "
        "deleteRequest=null), "
    )
    assert tail.endswith(f"]}}' at 'requestItems' failed to satisfy constraint: {WRITES}")


def test_value_that_nests_too_deep_to_be_echoed_is_still_refused() -> None:
    value: Params = {"S": "leaf"}
    for _ in range(100_000):
        value = {"M": {"n": value}}
    requests = [{"PutRequest": {"Item": {"pk": value}}}] * 26
    assert message(ValidationError, "BatchWriteItem", {"RequestItems": {"abc": requests}}) == (
        errors(broken("…", "requestItems", WRITES))
    )
    assert "'…' at 'requestItems'" in message(
        ValidationError, "BatchGetItem", {"RequestItems": {"a!b": {"Keys": [{"pk": value}]}}}
    )


# --- broken constraints: sentences of the newer validator ------------------------------------------

TABLE_MIN = newer("TableName", at_least(1))

NEWER: dict[str, tuple[str, Params, str]] = {
    # parity: s_put_table_empty, o_del_empty_table, o_upd_empty_table
    "put into no table": ("PutItem", {**PUT, "TableName": ""}, TABLE_MIN),
    "delete from no table": ("DeleteItem", {"TableName": "", "Key": {}}, TABLE_MIN),
    "update of no table": ("UpdateItem", {"TableName": "", "Key": {}}, TABLE_MIN),
    # parity: o_put_empty_table_bad_rv
    "no table is told alone": ("PutItem", {**PUT, "TableName": "", "ReturnValues": "INVALID"}, TABLE_MIN),
    # parity: o_put_three_bad_enums
    "three enums of a put": (
        "PutItem",
        {
            **PUT,
            "ReturnItemCollectionMetrics": "INVALID",
            "ReturnValues": "INVALID",
            "ReturnConsumedCapacity": "INVALID",
        },
        errors(
            broken("INVALID", "returnConsumedCapacity", CAPACITIES),
            NEWER_RETURNS,
            broken("INVALID", "returnItemCollectionMetrics", METRICS),
        ),
    ),
    # parity: o_del_two_bad_enums
    "two enums of a delete": (
        "DeleteItem",
        {"TableName": "abc", "Key": KEY, "ReturnValues": "INVALID", "ReturnConsumedCapacity": "INVALID"},
        errors(broken("INVALID", "returnConsumedCapacity", CAPACITIES), NEWER_RETURNS),
    ),
    # parity: o_upd_two_bad_enums
    "update stops at its return values": (
        "UpdateItem",
        {"TableName": "abc", "Key": KEY, "ReturnValues": "INVALID", "ReturnConsumedCapacity": "INVALID"},
        errors(NEWER_RETURNS),
    ),
    # parity: query.test.ts, "Limit of 0"
    "query limit of zero": (
        "Query",
        {"TableName": "abc", "Limit": 0},
        newer("Limit", at_least(1, "value")),
    ),
    # dynoxide: request_member_validation.rs
    "limit and table of a query": (
        "Query",
        {"TableName": "", "Limit": 0, "ReturnConsumedCapacity": "BOGUS"},
        errors(newer_text("Limit", at_least(1, "value")), newer_text("TableName", at_least(1))),
    ),
    # dynoxide: scan_member_stages.rs
    "all numbers of a scan and its table": (
        "Scan",
        {"TableName": "", "TotalSegments": 0, "Segment": -1, "Limit": 0, "Select": "BOGUS"},
        errors(
            newer_text("Limit", at_least(1, "value")),
            newer_text("Segment", at_least(0, "value")),
            newer_text("TotalSegments", at_least(1, "value")),
            newer_text("TableName", at_least(1)),
        ),
    ),
    "one thing of a name, beside an enum": (
        "Scan",
        {"TableName": "a!", "ReturnConsumedCapacity": "BOGUS", "Select": "BOGUS"},
        errors(broken("a!", "tableName", at_least(3)), broken("BOGUS", "returnConsumedCapacity", CAPACITIES)),
    ),
    # dynoxide: request_member_validation.rs
    "name and enum of a put": (
        "PutItem",
        {**PUT, "TableName": "bad!name", "ReturnValues": "INVALID"},
        errors(broken("bad!name", "tableName", PATTERN), NEWER_RETURNS),
    ),
    "name and enum of a get": (
        "GetItem",
        {"TableName": "ab", "Key": KEY, "ReturnConsumedCapacity": "BOGUS"},
        errors(broken("ab", "tableName", at_least(3)), broken("BOGUS", "returnConsumedCapacity", CAPACITIES)),
    ),
    "name of an update is told alone, pattern first": (
        "UpdateItem",
        {"TableName": "a!", "Key": KEY, "ReturnConsumedCapacity": "BOGUS"},
        errors(broken("a!", "tableName", PATTERN), broken("a!", "tableName", at_least(3))),
    ),
    "one enum of an update": (
        "UpdateItem",
        {
            "TableName": "abc",
            "Key": KEY,
            "ReturnConsumedCapacity": "BOGUS",
            "ReturnItemCollectionMetrics": "BOGUS2",
        },
        errors(broken("BOGUS2", "returnItemCollectionMetrics", METRICS)),
    ),
    "capacity of an update is not counted": (
        "UpdateItem",
        {"TableName": "abc", "Key": KEY, "ReturnConsumedCapacity": "BOGUS"},
        broken("BOGUS", "returnConsumedCapacity", CAPACITIES),
    ),
    # parity: batchGetItem.test.ts, "empty RequestItems"
    "empty batch get": ("BatchGetItem", {"RequestItems": {}}, newer("RequestItems", at_least(1))),
    # parity: batchGetItem.test.ts, "> 100 keys across all tables"
    "too many keys": (
        "BatchGetItem",
        {"RequestItems": {"abc": {"Keys": [KEY] * 101}}},
        newer("RequestItems.abc.member.Keys", at_most(100)),
    ),
    # parity: batchGetItem.test.ts, "empty Keys list"
    "no keys": (
        "BatchGetItem",
        {"RequestItems": {"abc": {"Keys": []}}},
        newer("RequestItems.abc.member.Keys", at_least(1)),
    ),
    # parity: validation-ordering/batchOperations.test.ts
    "bad table name of a batch get, echoed as JSON, beside an enum": (
        "BatchGetItem",
        {"RequestItems": {"bad!name": {"Keys": [KEY]}}, "ReturnConsumedCapacity": "BOGUS"},
        errors(
            broken('{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}', "requestItems", TABLE_KEYS),
            broken("BOGUS", "returnConsumedCapacity", CAPACITIES),
        ),
    ),
}


@pytest.mark.parametrize(("operation", "params", "text"), NEWER.values(), ids=NEWER.keys())
def test_newer_validator_names_members_as_the_api_does(operation: str, params: Params, text: str) -> None:
    assert message(ValidationError, operation, params) == text


def test_binary_key_is_echoed_as_base64() -> None:
    text = message(
        ValidationError,
        "BatchGetItem",
        {"RequestItems": {"a!": {"Keys": [{"pk": {"B": b"\xff"}}]}}},
        native=True,
    )
    assert '{"a!":{"Keys":[{"pk":{"B":"/w=="}}]}}' in text


# --- names of tables -------------------------------------------------------------------------------

ARN_FORMAT = (
    "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', "
    "where Resource name must have length less than or equal to 255, "
    "Resource name must have length greater than or equal to 3, "
    "Resource name must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
)
INDEX_ARN = f"{ARN}/index/gsi"
STREAM_ARN = ARN.replace(":table/", ":stream/")
BARE_ARN = ARN.removesuffix("abc")
LONG_ARN = ARN.replace("us-east-1", "x" * 1024)

TABLE_NAMES: dict[str, tuple[str, Params, str]] = {
    # parity: s_put_table_long
    "too long": (
        "PutItem",
        {**PUT, "TableName": "a" * 256},
        errors(broken("a" * 256, "tableName", at_most(255))),
    ),
    # parity: s_put_table_badchars
    "no name": (
        "PutItem",
        {**PUT, "TableName": "bad table!@#"},
        errors(broken("bad table!@#", "tableName", PATTERN)),
    ),
    "line end": ("PutItem", {**PUT, "TableName": "abc\n"}, errors(broken("abc\n", "tableName", PATTERN))),
    "letters beyond ASCII": (
        "PutItem",
        {**PUT, "TableName": "äöü"},
        errors(broken("äöü", "tableName", PATTERN)),
    ),
    # parity: s_ct_table_short
    "too short to create": (
        "CreateTable",
        {**CREATE, "TableName": "ab"},
        errors(broken("ab", "tableName", at_least(3))),
    ),
    # ack: describe_table_empty_name
    "empty for the control plane": (
        "DescribeTable",
        {"TableName": ""},
        errors(broken("", "tableName", at_least(3)), broken("", "tableName", PATTERN)),
    ),
    # parity: validation-ordering/createTable.test.ts, "invalid table name pattern reports only tableName"
    "told alone by the control plane": (
        "CreateTable",
        {**CREATE, "TableName": "abc!", "KeySchema": []},
        errors(broken("abc!", "tableName", PATTERN)),
    ),
    # parity: transactWriteItems.test.ts
    "in an action": (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": PUT},
                {"Update": {"TableName": "bad!name", "Key": KEY, "UpdateExpression": "x"}},
            ]
        },
        errors(broken("bad!name", "transactItems.2.member.update.tableName", PATTERN)),
    ),
    # parity: transactGetItems.test.ts
    "in a get": (
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": "bad!name", "Key": KEY}}]},
        errors(broken("bad!name", "transactItems.1.member.get.tableName", PATTERN)),
    ),
    # parity: batchWriteItem.test.ts, "malformed table name"
    "as a key of a batch write": (
        "BatchWriteItem",
        {"RequestItems": {"bad!name": [{"DeleteRequest": {"Key": {}}}]}},
        errors(
            broken(
                "{bad!name=[WriteRequest(putRequest=null, deleteRequest=DeleteRequest(key={}))]}",
                "requestItems",
                TABLE_KEYS,
            )
        ),
    ),
    # parity: validation-ordering/batchOperations.test.ts
    "gives way to an enum in a batch write": (
        "BatchWriteItem",
        {"RequestItems": {"bad!name": [{"PutRequest": {"Item": KEY}}]}, "ReturnConsumedCapacity": "BOGUS"},
        errors(broken("BOGUS", "returnConsumedCapacity", CAPACITIES)),
    ),
    # extenddb, table_arn.rs: captured from Amazon DynamoDB
    "ARN of an index": (
        "PutItem",
        {**PUT, "TableName": INDEX_ARN},
        errors(broken(INDEX_ARN, "tableName", ARN_FORMAT)),
    ),
    "ARN of a stream": (
        "PutItem",
        {**PUT, "TableName": STREAM_ARN},
        errors(broken(STREAM_ARN, "tableName", "Invalid resource type")),
    ),
    "ARN of nothing": (
        "PutItem",
        {**PUT, "TableName": BARE_ARN},
        errors(
            broken(BARE_ARN, "tableName", "Table name of ARN must have length greater than or equal to 3")
        ),
    ),
    "ARN longer than the model allows": (
        "TransactGetItems",
        {"TransactItems": [{"Get": {"TableName": LONG_ARN, "Key": KEY}}]},
        errors(broken(LONG_ARN, "transactItems.1.member.get.tableName", at_most(1024))),
    ),
    "half an ARN": (
        "PutItem",
        {**PUT, "TableName": "arn:aws:dynamodb"},
        errors(broken("arn:aws:dynamodb", "tableName", ARN_FORMAT)),
    ),
}


@pytest.mark.parametrize(("operation", "params", "text"), TABLE_NAMES.values(), ids=TABLE_NAMES.keys())
def test_name_of_a_table_is_refused(operation: str, params: Params, text: str) -> None:
    assert message(ValidationError, operation, params) == text


# --- sentences written by hand ---------------------------------------------------------------------

BY_HAND: dict[str, tuple[str, Params, str]] = {
    # parity: createTable.test.ts, "missing TableName"
    "create without a name": ("CreateTable", {"KeySchema": []}, NO_TABLE_NAME),
    # dynalite
    "describe without a name": ("DescribeTable", {}, NO_TABLE_NAME),
    "update without a name": ("UpdateTable", {"BillingMode": "X"}, NO_TABLE_NAME),
    "delete without a name": ("DeleteTable", {"TableName": None}, NO_TABLE_NAME),
    "describe time to live without a name": ("DescribeTimeToLive", {}, NO_TABLE_NAME),
    "tag without a resource": ("TagResource", {"Tags": []}, "Invalid TableArn"),
    "tag without tags": ("TagResource", {"ResourceArn": ARN}, errors(broken(None, "tags", NULL))),
    # parity: captures/2026-10-07-batch-empty-request-items.json
    "empty batch write": (
        "BatchWriteItem",
        {"RequestItems": {}},
        "The requestItems parameter is required for BatchWriteItem",
    ),
}


@pytest.mark.parametrize(("operation", "params", "text"), BY_HAND.values(), ids=BY_HAND.keys())
def test_some_refusals_have_sentences_of_their_own(operation: str, params: Params, text: str) -> None:
    assert message(ValidationError, operation, params) == text


# --- unknown parameters ----------------------------------------------------------------------------


def test_unknown_parameters_are_ignored_on_the_wire() -> None:
    check("GetItem", {"TableName": "abc", "Key": KEY, "Unknown": 5}, native=False)
    check("CreateTable", {**CREATE, "KeySchema": [{**CREATE["KeySchema"][0], "Unknown": 5}]}, native=False)


def test_unknown_parameter_of_a_python_call_is_refused_with_the_name_it_resembles() -> None:
    assert message(ValidationError, "DeleteTable", {"TabelName": "abc"}, native=True) == (
        'Unknown parameter in input: "TabelName", must be one of: TableName. Did you mean "TableName"?'
    )


def test_unknown_parameter_that_resembles_nothing_has_no_hint() -> None:
    assert message(ValidationError, "DescribeLimits", {"Zzz": 1}, native=True) == (
        'Unknown parameter in input: "Zzz", must be one of: (none).'
    )


NESTED_UNKNOWNS: dict[str, tuple[str, Params, str]] = {
    "list": ("CreateTable", {**CREATE, "KeySchema": [{"AttributeNam": "a"}]}, "KeySchema[0]"),
    "structure": (
        "UpdateTimeToLive",
        {"TimeToLiveSpecification": {"Enabeld": True}},
        "TimeToLiveSpecification",
    ),
    "map": ("BatchGetItem", {"RequestItems": {"abc": {"Key": []}}}, "RequestItems.abc"),
    "list in a map": ("BatchWriteItem", {"RequestItems": {"abc": [{"Put": {}}]}}, "RequestItems.abc[0]"),
    "structure in a list": (
        "TransactWriteItems",
        {"TransactItems": [{"Put": {"Itm": {}}}]},
        "TransactItems[0].Put",
    ),
}


@pytest.mark.parametrize(
    ("operation", "params", "where"), NESTED_UNKNOWNS.values(), ids=NESTED_UNKNOWNS.keys()
)
def test_unknown_parameter_inside_another_is_placed(operation: str, params: Params, where: str) -> None:
    assert message(ValidationError, operation, params, native=True).startswith(
        f"Unknown parameter in {where}: "
    )


# --- properties ------------------------------------------------------------------------------------


def outcome(judge: Any, operation: str, params: Params, *, native: bool) -> tuple[str, str] | None:
    try:
        judge(operation, params, native=native)
    except (ValidationError, SerializationError) as refused:
        return type(refused).__name__, refused.message
    return None


def names_of_tables() -> st.SearchStrategy[str]:
    return st.sampled_from(["abc", "a-b.c", ARN]) | st.from_regex("[a-zA-Z0-9_.-]{3,20}", fullmatch=True)


@cache
def right_values(name: str) -> st.SearchStrategy[Any]:
    shape = live_shape(name)
    low, high = shape.minimum or 0, shape.maximum
    if shape.name == "AttributeValue":
        return st.just({"S": "x"})
    if shape.name == "TableArn":
        return names_of_tables()
    match shape.kind:
        case "structure":
            return right_members(shape)
        case "list":
            return st.lists(right_values(shape.element or ""), min_size=low, max_size=min(low + 1, high or 9))
        case "map":
            key = right_values(shape.key or "")
            return st.dictionaries(key, right_values(shape.element or ""), min_size=max(low, 1), max_size=2)
        case "string" if shape.enum:
            return st.sampled_from(shape.enum)
        case "string" if shape.pattern:
            return st.from_regex(f"{shape.pattern[:-1]}{{3,9}}", fullmatch=True)
        case "string":
            return st.text(min_size=max(low, 1), max_size=max(low, min(high or 9, 9)))
        case "integer" | "long":
            bits = 31 if shape.kind == "integer" else 63
            return st.integers(low, (1 << bits) - 1 if high is None else high)
        case "timestamp":
            return st.integers(0, 1 << 32) | st.floats(0, 1 << 32)
        case _:
            return st.booleans()


def right_members(shape: Shape) -> st.SearchStrategy[Params]:
    strategies = {name: right_values(target) for name, target in shape.members.items()}
    return st.fixed_dictionaries(
        {name: strategies[name] for name in strategies if name in shape.required},
        optional={name: strategies[name] for name in strategies if name not in shape.required},
    )


RIGHT = st.sampled_from(sorted(INPUTS)).flatmap(
    lambda operation: st.tuples(st.just(operation), right_values(INPUTS[operation]))
)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 3)
    | st.floats(0, 1)
    | st.sampled_from(["", "ab", "abc", "S", "NONE"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["", "abc", "S", "Key"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [path, *(spot for key, entry in entries for spot in spots(entry, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@settings(max_examples=40, deadline=None)
@given(request=RIGHT, native=st.booleans())
def test_every_request_made_by_its_shape_is_accepted(request: tuple[str, Params], native: bool) -> None:
    operation, params = request
    assert outcome(check, operation, params, native=native) is None
    assert outcome(refuse, operation, params, native=native) is None


@settings(max_examples=100, deadline=None)
@given(request=RIGHT, data=st.data(), native=st.booleans())
def test_a_glance_never_accepts_what_the_whole_walk_refuses(
    request: tuple[str, Params], data: st.DataObject, native: bool
) -> None:
    operation, params = request
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([spot for spot in spots(params) if spot] or [()]))
        if path:
            params = replaced(params, path, data.draw(ANYTHING))
    assert outcome(check, operation, params, native=native) == outcome(
        refuse, operation, params, native=native
    )


@settings(max_examples=60, deadline=None)
@given(operation=st.sampled_from(sorted(INPUTS)), data=st.data())
def test_any_json_is_answered_with_an_error_or_accepted(operation: str, data: st.DataObject) -> None:
    names = [*live_shape(INPUTS[operation]).members, "Unknown"]
    params = data.draw(st.dictionaries(st.sampled_from(names), ANYTHING))
    outcome(check, operation, params, native=data.draw(st.booleans()))  # any other exception fails


VALUE_OF_A_WRONG_TYPE: dict[str, Any] = {"S": 1}


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        pytest.param(
            "UpdateItem",
            {
                "TableName": "t!",
                "Key": {"a": {"SS": []}},
                "ExpressionAttributeValues": {":v": VALUE_OF_A_WRONG_TYPE},
            },
            id="behind a constraint and a value",
        ),
        pytest.param(
            "Scan",
            {"TableName": "abc", "FilterExpression": "", "ExclusiveStartKey": {"a": VALUE_OF_A_WRONG_TYPE}},
            id="behind an expression",
        ),
        pytest.param(
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Delete": {"TableName": "abc", "Key": {"a": {}}}},
                    {"Put": {"TableName": "abc", "Item": {"a": VALUE_OF_A_WRONG_TYPE}}},
                ]
            },
            id="behind an action",
        ),
    ],
)
def test_wrong_type_anywhere_is_told_before_anything_else(
    calm_db: Database, operation: str, params: dict[str, Any]
) -> None:
    status, body = calm_db.answer(operation, orjson.dumps(params))
    answer = orjson.loads(body)
    assert (status, answer["__type"]) == (400, "com.amazon.coral.service#SerializationException")
    assert answer["Message"] == "NUMBER_VALUE cannot be converted to String"


def test_null_among_the_actions_of_a_transaction_is_refused(calm_db: Database) -> None:
    status, body = calm_db.answer("TransactWriteItems", b'{"TransactItems": [null]}')
    assert status == 400
    assert "Member must not be null" in orjson.loads(body)["message"]
