"""DeleteTable."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import anything, arn_of, including, matching
from golden.vectors.tables import table
from golden.vectors.vector import Refusal, Vector, then, validation
from support.sample_tables import attributes, index, key_schema

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Doomed"

DOOMED = table("Doomed", "p", types={"p": "S"})
BOUGHT: dict[str, Any] = {
    "TableName": "Doomed",
    "KeySchema": key_schema("p"),
    "AttributeDefinitions": attributes(p="S", g="S"),
    "GlobalSecondaryIndexes": [
        {
            **index("by-g", "g"),
            "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        }
    ],
    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
}
PROTECTED = {**DOOMED, "DeletionProtectionEnabled": True}
GONE = Refusal("ResourceNotFoundException", "Requested resource not found: Table: Doomed not found")
PROTECTED_TEXT = (
    "Resource cannot be deleted as it is currently protected against deletion. "
    "Disable deletion protection first."
)


def refused(name: str, request: dict[str, Any], error: Refusal, evidence: str, **more: Any) -> Vector:
    return Vector(name, operation="DeleteTable", request=request, error=error, evidence=evidence, **more)


VECTORS = [
    Vector(
        "a_provisioned_table_says_little_of_itself_when_it_goes",
        operation="DeleteTable",
        tables=[BOUGHT],
        request={"TableName": "Doomed"},
        answer={
            "TableDescription": {
                "TableName": "Doomed",
                "TableStatus": "DELETING",
                "ProvisionedThroughput": {
                    "NumberOfDecreasesToday": 0,
                    "ReadCapacityUnits": 5,
                    "WriteCapacityUnits": 6,
                },
                "TableSizeBytes": 0,
                "ItemCount": 0,
                "TableArn": arn_of("table/Doomed"),
                "TableId": matching("[0-9a-f-]{36}"),
                "DeletionProtectionEnabled": False,
            }
        },
        after=[then("DescribeTable", {"TableName": "Doomed"}, GONE)],
        evidence="AWS CLI reference, delete-table: the output of an example has no definitions, keys, times or "
        "indexes",
    ),
    Vector(
        "a_table_paid_per_request_goes",
        operation="DeleteTable",
        tables=[DOOMED],
        request={"TableName": "Doomed"},
        answer={
            "TableDescription": {
                "TableName": "Doomed",
                "TableStatus": "DELETING",
                "ProvisionedThroughput": {
                    "NumberOfDecreasesToday": 0,
                    "ReadCapacityUnits": 0,
                    "WriteCapacityUnits": 0,
                },
                "TableSizeBytes": 0,
                "ItemCount": 0,
                "TableArn": arn_of("table/Doomed"),
                "TableId": matching("[0-9a-f-]{36}"),
                "BillingModeSummary": {
                    "BillingMode": "PAY_PER_REQUEST",
                    "LastUpdateToPayPerRequestDateTime": anything,
                },
                "DeletionProtectionEnabled": False,
            }
        },
        after=[
            then("DeleteTable", {"TableName": "Doomed"}, GONE),
            then(
                "GetItem",
                {"TableName": "Doomed", "Key": {"p": {"S": "a"}}},
                Refusal("ResourceNotFoundException", "Requested resource not found"),
            ),
        ],
        evidence="AWS documentation, Getting started with DynamoDB: the output of delete-table",
    ),
    Vector(
        "a_table_goes_with_its_items",
        operation="DeleteTable",
        tables=[DOOMED],
        given={"Doomed": [{"p": {"S": "a"}}, {"p": {"S": "b"}}]},
        request={"TableName": "Doomed"},
        answer={"TableDescription": including({"TableStatus": "DELETING"})},
        after=[
            then("CreateTable", DOOMED, {"TableDescription": including({"ItemCount": 0})}),
            then("Scan", {"TableName": "Doomed"}, including({"Count": 0})),
        ],
        evidence=f"{ACK}DDB-TABLE-009: the name is free again, and the new table has nothing of the old",
    ),
    Vector(
        "a_table_goes_by_its_arn",
        operation="DeleteTable",
        tables=[DOOMED],
        request={"TableName": ARN},
        answer={"TableDescription": including({"TableName": "Doomed", "TableStatus": "DELETING"})},
        evidence=f"{ACK}DDB-TABLE-011",
    ),
    Vector(
        "a_table_whose_protection_was_taken_away_goes",
        operation="DeleteTable",
        tables=[PROTECTED],
        before=[("UpdateTable", {"TableName": "Doomed", "DeletionProtectionEnabled": False})],
        request={"TableName": "Doomed"},
        answer={"TableDescription": including({"TableStatus": "DELETING"})},
        evidence=f"{ACK}DDB-TABLE-003: admitted in the same second",
    ),
    refused(
        "a_protected_table_stays",
        {"TableName": "Doomed"},
        validation(PROTECTED_TEXT),
        f"{ACK}DDB-TABLE-016, 442",
        tables=[PROTECTED],
        after=[
            then("DescribeTable", {"TableName": "Doomed"}, {"Table": including({"TableStatus": "ACTIVE"})})
        ],
    ),
    refused(
        "a_missing_table",
        {"TableName": "Doomed"},
        GONE,
        f"{ACK}DDB-TABLE-008; dynalite, test/deleteTable.js",
    ),
    refused(
        "no_name",
        {},
        validation("The parameter 'TableName' is required but was not present in the request"),
        "Answer of the service, recorded by dynalite (deleteTable.js)",
    ),
    refused(
        "a_short_name_of_a_wrong_character",
        {"TableName": "a;"},
        validation(
            "2 validation errors detected: Value 'a;' at 'tableName' failed to satisfy constraint: "
            "Member must have length greater than or equal to 3; Value 'a;' at 'tableName' failed to satisfy "
            "constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
        ),
        f"{ACK}DDB-TABLE-457 (of DescribeTable, and an empty name)",
    ),
    refused(
        "a_table_in_another_region",
        {"TableName": "arn:aws:dynamodb:eu-west-1:000000000000:table/Doomed"},
        validation(
            "1 validation error detected: Invalid AWS region in "
            "'arn:aws:dynamodb:eu-west-1:000000000000:table/Doomed'"
        ),
        f"{ACK}DDB-TABLE-011 (of DescribeTable)",
        tables=[DOOMED],
    ),
]
