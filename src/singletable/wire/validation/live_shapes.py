"""The input shapes as the live service enforces them: botocore's model, corrected where AWS differs.

Everything here is data, with the answer of Amazon DynamoDB that it rests on. Sources:

- parity: the captures of github.com/paritysuite/dynamodb-conformance, June to October 2026, 33 regions.
  AWS moves its validation to a new wording region by region; we take the last answer of most regions.
- ack: the captures of "ack-api-quirks" (us-west-2, October 2026), CreateTable and UpdateTable above all.
- dynoxide: the captures in the tests of the crate dynoxide-rs 3.2, October 2026 (two to seven regions).
- dynalite: github.com/architect/dynalite 4.0, whose tests ran against the live service until about 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from singletable.wire.validation.shapes import SHAPES

if TYPE_CHECKING:
    from collections.abc import Mapping

# --- tables of differences from the model -----------------------------------------------------

# AWS prints an enum's values in an order of its own. Captured: all but AttributeAction (the model's order).
ENUM_ORDER: Final = {
    "BillingMode": ("PROVISIONED", "PAY_PER_REQUEST"),  # ack
    "ComparisonOperator": (  # dynalite
        *("IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH"),
        *("GE", "CONTAINS"),
    ),
    "ConditionalOperator": ("OR", "AND"),  # parity
    "KeyType": ("HASH", "RANGE"),  # parity
    "ProjectionType": ("ALL", "INCLUDE", "KEYS_ONLY"),  # dynalite
    "ReturnConsumedCapacity": ("INDEXES", "TOTAL", "NONE"),  # parity
    "ReturnItemCollectionMetrics": ("SIZE", "NONE"),  # parity
    "ReturnValue": ("ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"),  # parity
    "SSEType": ("AES256", "KMS"),  # ack
    "ScalarAttributeType": ("B", "N", "S"),  # parity, ack
    "Select": ("SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"),  # parity
    "StreamViewType": ("OLD_IMAGE", "KEYS_ONLY", "NEW_AND_OLD_IMAGES", "NEW_IMAGE"),  # ack
    "AttributeAction": ("ADD", "PUT", "DELETE"),
}

# Any text is taken where its own operation refuses a wrong one, in a sentence of its own: table_parts.py.
TAKEN_AS_TEXT: Final = frozenset(("TableClass",))

# Members are reported in this order; those not named follow in the model's order.
MEMBER_ORDER: Final = {
    # ack: "Value null at 'attributeDefinitions.1.member.attributeType' …; … attributeName …"
    "AttributeDefinition": ("AttributeType", "AttributeName"),
    # parity: "2 validation errors detected: Value '{"bad!name":…}' at 'requestItems' …; … 'BOGUS' …"
    "BatchGetItemInput": ("RequestItems", "ReturnConsumedCapacity"),
    # dynoxide: "3 validation errors detected: Value '{t=[]}' at 'requestItems' …; … 'returnConsumedCapacity' …; …
    # 'returnItemCollectionMetrics' …" (ten of twelve regions, October 2026)
    "BatchWriteItemInput": ("RequestItems", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics"),
    # parity: the error of a global index comes before that of a local one; the rest from dynalite
    "CreateTableInput": (
        *("AttributeDefinitions", "TableName", "BillingMode", "ProvisionedThroughput", "KeySchema"),
        *("GlobalSecondaryIndexes", "LocalSecondaryIndexes"),
    ),
    # parity: returnConsumedCapacity before returnValues; the rest from dynalite
    "DeleteItemInput": (
        *("ReturnConsumedCapacity", "TableName", "ReturnValues", "ReturnItemCollectionMetrics"),
        *("ConditionalOperator", "Key", "Expected"),
    ),
    "GetItemInput": ("ReturnConsumedCapacity", "AttributesToGet", "TableName", "Key"),  # dynalite
    "ListTablesInput": ("Limit", "ExclusiveStartTableName"),  # dynalite
    # ack: "… 'provisionedThroughput.writeCapacityUnits' …; … 'provisionedThroughput.readCapacityUnits' …"
    "ProvisionedThroughput": ("WriteCapacityUnits", "ReadCapacityUnits"),
    # parity: returnConsumedCapacity, returnValues, returnItemCollectionMetrics; tableName after returnValues
    "PutItemInput": (
        *("ReturnConsumedCapacity", "ReturnValues", "ReturnItemCollectionMetrics", "TableName", "Item"),
        *("ConditionalOperator", "Expected"),
    ),
    "QueryInput": (  # dynalite, dynoxide
        *("Select", "IndexName", "ReturnConsumedCapacity", "QueryFilter", "TableName"),
        *("ConditionalOperator", "AttributesToGet", "Limit", "KeyConditions", "ExclusiveStartKey"),
    ),
    "ScanInput": (  # dynalite, dynoxide
        *("Select", "IndexName", "TotalSegments", "ReturnConsumedCapacity", "TableName"),
        *("ConditionalOperator", "ScanFilter", "Segment", "Limit", "AttributesToGet", "ExclusiveStartKey"),
    ),
    # ack: "Value null at 'timeToLiveSpecification.attributeName' …; Value null at '….enabled' …"
    "TimeToLiveSpecification": ("AttributeName", "Enabled"),
    # parity: clientRequestToken, then the two enums; dynoxide: the contents of the actions before them (ten of
    # twelve regions, October 2026)
    "TransactWriteItemsInput": (
        *("TransactItems", "ClientRequestToken", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics"),
    ),
    # parity: "4 validation errors detected: … returnConsumedCapacity …; … tableName …; … returnValues …;
    # … key …", and conditionalOperator before key; dynoxide: "… returnValuesOnConditionCheckFailure …; …
    # returnItemCollectionMetrics …; … key …"
    "UpdateItemInput": (
        *("ReturnConsumedCapacity", "TableName", "ReturnValuesOnConditionCheckFailure"),
        *("ReturnItemCollectionMetrics", "ReturnValues", "ConditionalOperator", "Key", "Expected"),
        "AttributeUpdates",
    ),
    "UpdateTableInput": ("TableName", "ProvisionedThroughput", "BillingMode", "GlobalSecondaryIndexUpdates"),
}

REQUIRED: Final[dict[str, frozenset[str]]] = {
    # ack: without KeySchema -> "Value null at 'keySchema' …", without AttributeDefinitions likewise. (The
    # model lets both go for a table that is copied from GlobalTableSourceArn, which there is none of here.)
    "CreateTableInput": frozenset(("TableName", "AttributeDefinitions", "KeySchema")),
    # ack: Tags=[{}] -> "The Tag Key provided is invalid, Key: null": see tags.py.
    "Tag": frozenset(),
}

# (min, max) where they are not the model's.
LENGTHS: Final[dict[str, tuple[int | None, int | None]]] = {
    "AttributeNameList": (1, 255),  # dynalite: AttributesToGet has at most 255 names
    "BatchWriteItemRequestMap": (None, 25),  # empty has a sentence of its own: see refusals.py
    "KMSMasterKeyId": (1, None),  # ack: "Value '' at 'sSESpecification.kMSMasterKeyId' …"
    # Answered in words of its own: "Invalid StreamArn", also for one that is too short (aws-sdk-js, its tests
    # against the service); see streams.py.
    "StreamArn": (None, None),
    "ResourceArnString": (None, None),  # these three are answered in words of their own: see tags.py
    "TagKeyString": (None, None),
    "TagValueString": (None, None),
    # parity: 3 elements -> "… at 'keySchema' … less than or equal to 2". A global index may have more (the
    # model has no maximum since multi-attribute keys), so the shape is split.
    "TableKeySchema": (1, 2),
}

# A member that has another shape than in the model.
MEMBER_SHAPES: Final = {
    ("CreateTableInput", "KeySchema"): "TableKeySchema",
    ("LocalSecondaryIndex", "KeySchema"): "TableKeySchema",
}
COPIES: Final = {"TableKeySchema": "KeySchema"}

# AWS cuts these numbers to 32 bits, and drops a fraction; the captures (dynoxide) are of Query and Scan alone.
CUT_NUMBERS: Final = frozenset(("PositiveIntegerObject", "ScanSegment", "ScanTotalSegments"))

# Where both fail, length is told before pattern (ack: indexName, tableName); not so for the shape of
# exclusiveStartTableName (ack, dynalite).
PATTERN_FIRST: Final = frozenset(("TableName",))

# Hidden members that AWS prints when it echoes a structure (parity: BatchWriteItem with 26 requests).
ECHOED_MEMBERS: Final = {
    "AttributeValue": (
        *("S", "N", "B", "INT", "DECIMAL", "DOUBLE", "SS", "NS", "BS", "INTSET", "DECIMALSET", "DOUBLESET"),
        *("M", "L", "NULL", "BOOL"),
    ),
    "PutRequest": ("Item", "WorkloadProfileName"),
}

# --- the shapes ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One shape. `members` stand in the order in which AWS reports them, `echoed` in the one it prints."""

    name: str
    kind: str
    members: Mapping[str, str]
    required: frozenset[str]
    echoed: tuple[str, ...]
    element: str | None
    key: str | None
    minimum: int | None
    maximum: int | None
    pattern: str | None
    enum: tuple[str, ...]


@cache
def live_shape(name: str) -> Shape:
    """Return a shape of the model with the corrections above."""
    model = SHAPES[COPIES.get(name, name)]
    members: dict[str, str] = model.get("members", {})
    order = dict.fromkeys((*MEMBER_ORDER.get(name, ()), *members))
    minimum, maximum = LENGTHS.get(name, (model.get("min"), model.get("max")))
    return Shape(
        name=name,
        kind=model["type"],
        members=MappingProxyType(
            {member: MEMBER_SHAPES.get((name, member), members[member]) for member in order}
        ),
        required=REQUIRED.get(name, frozenset(model.get("required", ()))),
        echoed=ECHOED_MEMBERS.get(name, tuple(members)),
        element=model.get("member", model.get("value")),
        key=model.get("key"),
        minimum=minimum,
        maximum=maximum,
        pattern=model.get("pattern"),
        enum=() if name in TAKEN_AS_TEXT else ENUM_ORDER.get(name, model.get("enum", ())),
    )
