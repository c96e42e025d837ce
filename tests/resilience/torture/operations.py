"""Valid bodies of every operation, with most of what each may hold. They are what the fuzzers start from."""

from __future__ import annotations

from typing import Any, Final

Body = dict[str, Any]

ARN: Final = "arn:aws:dynamodb:us-east-1:000000000000:table/things"
KEY: Final[Body] = {"PK": {"S": "a"}, "SK": {"N": "1"}}
ITEM: Final[Body] = {
    **KEY,
    "Group": {"S": "red"},
    "n": {"N": "-1.5E+10"},
    "b": {"B": "AP8="},
    "yes": {"BOOL": True},
    "none": {"NULL": True},
    "list": {"L": [{"S": "x"}, {"M": {"deep": {"L": [{"N": "0"}]}}}]},
    "m": {"M": {"k": {"S": "v"}}},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2.50"]},
    "bs": {"BS": ["AA==", "AQ=="]},
}
_CONDITION: Final[Body] = {
    "ConditionExpression": "attribute_not_exists(#n) OR #n <> :v AND size(#l[0]) < :s",
    "ExpressionAttributeNames": {"#n": "n", "#l": "list"},
    "ExpressionAttributeValues": {":v": {"N": "7"}, ":s": {"N": "100"}},
}
_UPDATE: Final[Body] = {
    "UpdateExpression": (
        "SET #n = if_not_exists(#n, :zero) + :one, #l[1] = :v REMOVE gone ADD ns :set DELETE ss :ss"
    ),
    "ConditionExpression": "attribute_type(#n, :type) OR attribute_not_exists(#n)",
    "ExpressionAttributeNames": {"#n": "n", "#l": "list"},
    "ExpressionAttributeValues": {
        ":zero": {"N": "0"},
        ":one": {"N": "1"},
        ":v": {"M": {"a": {"L": []}}},
        ":set": {"NS": ["3"]},
        ":ss": {"SS": ["a"]},
        ":type": {"S": "N"},
    },
}
_EXTRAS: Final[Body] = {"ReturnConsumedCapacity": "INDEXES", "ReturnItemCollectionMetrics": "SIZE"}
_THROUGHPUT: Final[Body] = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
_LEGACY: Final[Body] = {
    "n": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"N": "1"}, {"N": "9"}]}
}


def _index(name: str) -> Body:
    return {
        "IndexName": name,
        "KeySchema": [{"AttributeName": "x", "KeyType": "HASH"}, {"AttributeName": "y", "KeyType": "RANGE"}],
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b"]},
        "ProvisionedThroughput": _THROUGHPUT,
    }


# No table is deleted that the others use: what is refused because there is no table teaches nothing.
EXAMPLES: Final[tuple[tuple[str, Body], ...]] = (
    ("PutItem", {"TableName": "things", "Item": ITEM, "ReturnValues": "ALL_OLD", **_CONDITION, **_EXTRAS}),
    (
        "PutItem",
        {
            "TableName": ARN,
            "Item": ITEM,
            "Expected": {"n": {"Exists": False}, "m": {"ComparisonOperator": "NOT_NULL"}},
            "ConditionalOperator": "OR",
        },
    ),
    (
        "GetItem",
        {
            "TableName": "things",
            "Key": KEY,
            "ConsistentRead": True,
            "ProjectionExpression": "PK, #l[0], m.k",
            "ExpressionAttributeNames": {"#l": "list"},
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    ("GetItem", {"TableName": "things", "Key": KEY, "AttributesToGet": ["PK", "n"]}),
    ("UpdateItem", {"TableName": "things", "Key": KEY, "ReturnValues": "ALL_NEW", **_UPDATE, **_EXTRAS}),
    (
        "UpdateItem",
        {
            "TableName": "things",
            "Key": KEY,
            "AttributeUpdates": {
                "n": {"Action": "ADD", "Value": {"N": "1"}},
                "gone": {"Action": "DELETE"},
                "m": {"Action": "PUT", "Value": {"M": {}}},
            },
            "ReturnValues": "UPDATED_OLD",
        },
    ),
    (
        "DeleteItem",
        {
            "TableName": "things",
            "Key": KEY,
            "ReturnValues": "ALL_OLD",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            **_CONDITION,
        },
    ),
    (
        "Query",
        {
            "TableName": "things",
            "KeyConditionExpression": "PK = :p AND SK BETWEEN :a AND :b",
            "FilterExpression": "contains(ss, :x) OR begins_with(#g, :x) OR n IN (:a, :b)",
            "ProjectionExpression": "#g, n",
            "ExpressionAttributeNames": {"#g": "Group"},
            "ExpressionAttributeValues": {
                ":p": {"S": "a"},
                ":a": {"N": "0"},
                ":b": {"N": "9"},
                ":x": {"S": "r"},
            },
            "ScanIndexForward": False,
            "Limit": 10,
            "ExclusiveStartKey": KEY,
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    (
        "Query",
        {
            "TableName": "things",
            "IndexName": "ByGroup",
            "Select": "ALL_ATTRIBUTES",
            "KeyConditions": {
                "Group": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "red"}]},
            },
            "QueryFilter": _LEGACY,
            "ExclusiveStartKey": {**KEY, "Group": {"S": "red"}},
        },
    ),
    (
        "Scan",
        {
            "TableName": "things",
            "FilterExpression": "#m.k = :v AND NOT size(b) >= :n",
            "ExpressionAttributeNames": {"#m": "m"},
            "ExpressionAttributeValues": {":v": {"S": "v"}, ":n": {"N": "1"}},
            "Segment": 0,
            "TotalSegments": 4,
            "Limit": 5,
            "Select": "COUNT",
        },
    ),
    (
        "Scan",
        {"TableName": "things", "IndexName": "ByGroup", "ScanFilter": _LEGACY, "AttributesToGet": ["n"]},
    ),
    (
        "BatchGetItem",
        {
            "RequestItems": {
                "things": {
                    "Keys": [KEY, {"PK": {"S": "b"}, "SK": {"N": "2"}}],
                    "ProjectionExpression": "PK, #n",
                    "ExpressionAttributeNames": {"#n": "n"},
                    "ConsistentRead": True,
                }
            },
            "ReturnConsumedCapacity": "INDEXES",
        },
    ),
    (
        "BatchWriteItem",
        {
            "RequestItems": {
                "things": [
                    {"PutRequest": {"Item": ITEM}},
                    {"DeleteRequest": {"Key": {"PK": {"S": "b"}, "SK": {"N": "2"}}}},
                ]
            },
            **_EXTRAS,
        },
    ),
    (
        "TransactGetItems",
        {
            "TransactItems": [
                {
                    "Get": {
                        "TableName": "things",
                        "Key": KEY,
                        "ProjectionExpression": "#n",
                        "ExpressionAttributeNames": {"#n": "n"},
                    }
                },
                {"Get": {"TableName": ARN, "Key": {"PK": {"S": "b"}, "SK": {"N": "2"}}}},
            ],
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    (
        "TransactWriteItems",
        {
            "TransactItems": [
                {"Put": {"TableName": "things", "Item": ITEM, **_CONDITION}},
                {"Update": {"TableName": "things", "Key": {"PK": {"S": "t"}, "SK": {"N": "1"}}, **_UPDATE}},
                {"Delete": {"TableName": "things", "Key": {"PK": {"S": "t"}, "SK": {"N": "2"}}}},
                {
                    "ConditionCheck": {
                        "TableName": "things",
                        "Key": {"PK": {"S": "t"}, "SK": {"N": "3"}},
                        "ConditionExpression": "attribute_not_exists(PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                },
            ],
            "ClientRequestToken": "token",
            **_EXTRAS,
        },
    ),
    (
        "CreateTable",
        {
            "TableName": "made",
            "AttributeDefinitions": [
                {"AttributeName": "PK", "AttributeType": "S"},
                {"AttributeName": "SK", "AttributeType": "B"},
                {"AttributeName": "x", "AttributeType": "N"},
                {"AttributeName": "y", "AttributeType": "S"},
            ],
            "KeySchema": [
                {"AttributeName": "PK", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            "GlobalSecondaryIndexes": [_index("one"), _index("two")],
            "LocalSecondaryIndexes": [
                {
                    "IndexName": "local",
                    "KeySchema": [
                        {"AttributeName": "PK", "KeyType": "HASH"},
                        {"AttributeName": "y", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": _THROUGHPUT,
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
            "SSESpecification": {"Enabled": False},
            "Tags": [{"Key": "team", "Value": "red"}],
            "TableClass": "STANDARD",
            "DeletionProtectionEnabled": False,
        },
    ),
    (
        "UpdateTable",
        {
            "TableName": "made",
            "AttributeDefinitions": [{"AttributeName": "z", "AttributeType": "S"}],
            "GlobalSecondaryIndexUpdates": [
                {
                    "Create": {
                        "IndexName": "three",
                        "KeySchema": [{"AttributeName": "z", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                        "ProvisionedThroughput": _THROUGHPUT,
                    }
                }
            ],
        },
    ),
    (
        "UpdateTable",
        {
            "TableName": "made",
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": {"ReadCapacityUnits": 6, "WriteCapacityUnits": 6},
            "GlobalSecondaryIndexUpdates": [
                {
                    "Update": {
                        "IndexName": "one",
                        "ProvisionedThroughput": {"ReadCapacityUnits": 6, "WriteCapacityUnits": 6},
                    }
                }
            ],
        },
    ),
    (
        "UpdateTable",
        {"TableName": "made", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "two"}}]},
    ),
    ("UpdateTable", {"TableName": "made", "StreamSpecification": {"StreamEnabled": False}}),
    ("UpdateTable", {"TableName": "made", "DeletionProtectionEnabled": False}),
    ("DescribeTable", {"TableName": "things"}),
    ("ListTables", {"ExclusiveStartTableName": "aaa", "Limit": 3}),
    (
        "TagResource",
        {"ResourceArn": ARN, "Tags": [{"Key": "team", "Value": "red"}, {"Key": "k", "Value": ""}]},
    ),
    ("ListTagsOfResource", {"ResourceArn": ARN}),
    ("UntagResource", {"ResourceArn": ARN, "TagKeys": ["team", "k"]}),
    ("DescribeLimits", {}),
    ("DescribeEndpoints", {}),
    ("DeleteTable", {"TableName": "made"}),
)
