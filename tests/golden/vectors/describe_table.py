"""DescribeTable: names, counts and sizes. (What settings look like is in create_table.py and update_table.py.)"""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import anything, arn_of, including, matching
from golden.vectors.tables import GLOBAL, HASH, HASH_RANGE, LOCAL
from golden.vectors.vector import Refusal, Vector, validation
from support.sample_tables import attributes, key_schema

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
SIZES = "AWS guide, DynamoDB item sizes and formats"
LATER = "; AWS brings counts up to date about every six hours"
NO_NAME = "The parameter 'TableName' is required but was not present in the request"
FORMAT = (
    "Valid ARN format is 'arn:<awsPartition>:<vendor>:<region>:<subscriber>:resourceType/resourceName', where "
    "Resource name must have length less than or equal to 255, Resource name must have length greater than or "
    "equal to 3, Resource name must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
)


def broken(value: str, constraint: str) -> str:
    return f"Value '{value}' at 'tableName' failed to satisfy constraint: {constraint}"


def refused(name: str, table_name: Any, error: str | Refusal, evidence: str) -> Vector:
    return Vector(
        name,
        operation="DescribeTable",
        tables=[HASH],
        request={} if table_name is None else {"TableName": table_name},
        error=validation(error) if isinstance(error, str) else error,
        evidence=evidence,
    )


DESCRIBES = [
    Vector(
        "a_table_describes_itself",
        operation="DescribeTable",
        tables=[HASH],
        request={"TableName": "Hash"},
        answer={
            "Table": {
                "AttributeDefinitions": attributes(p="S"),
                "TableName": "Hash",
                "KeySchema": key_schema("p"),
                "TableStatus": "ACTIVE",
                "CreationDateTime": anything,
                "ProvisionedThroughput": {
                    "NumberOfDecreasesToday": 0,
                    "ReadCapacityUnits": 0,
                    "WriteCapacityUnits": 0,
                },
                "TableSizeBytes": 0,
                "ItemCount": 0,
                "TableArn": arn_of("table/Hash"),
                "TableId": matching(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
                "BillingModeSummary": {
                    "BillingMode": "PAY_PER_REQUEST",
                    "LastUpdateToPayPerRequestDateTime": anything,
                },
                "WarmThroughput": {
                    "ReadUnitsPerSecond": 12_000,
                    "WriteUnitsPerSecond": 4_000,
                    "Status": "ACTIVE",
                },
                "DeletionProtectionEnabled": False,
            }
        },
        evidence=f"{ACK}DDB-TABLE-013, 025, 028, 030, 133",
    ),
    Vector(
        "a_table_is_found_by_its_arn",
        operation="DescribeTable",
        tables=[HASH],
        request={"TableName": f"{ARN}Hash"},
        answer={"Table": including({"TableName": "Hash", "TableArn": f"{ARN}Hash"})},
        evidence=f"{ACK}DDB-TABLE-011: TableName stays the bare name",
    ),
    Vector(
        "counts_and_sizes_are_those_of_the_items",
        operation="DescribeTable",
        tables=[HASH_RANGE],
        given={
            "HashRange": [
                {"p": {"S": "a"}, "s": {"S": "b"}, "x": {"S": "12345"}},
                {"p": {"S": "a"}, "s": {"S": "c"}, "flag": {"BOOL": True}},
            ]
        },
        request={"TableName": "HashRange"},
        answer={"Table": including({"ItemCount": 2, "TableSizeBytes": 10 + 9})},
        evidence=f"{SIZES}{LATER}",
    ),
    Vector(
        "an_index_counts_what_it_holds",
        operation="DescribeTable",
        tables=[GLOBAL],
        given={
            "Global": [
                {"p": {"S": "1"}, "s": {"S": "1"}, "gp": {"S": "g"}, "gs": {"S": "h"}, "a": {"S": "x"}},
                {"p": {"S": "2"}, "s": {"S": "2"}, "gp": {"S": "g"}, "b": {"S": "yy"}},
                {"p": {"S": "3"}, "s": {"S": "3"}},
            ]
        },
        request={"TableName": "Global"},
        answer={
            "Table": including(
                {
                    "ItemCount": 3,
                    "TableSizeBytes": 12 + 10 + 4,
                    "GlobalSecondaryIndexes": [
                        including({"IndexName": "All", "ItemCount": 1, "IndexSizeBytes": 12}),
                        including({"IndexName": "KeysOnly", "ItemCount": 2, "IndexSizeBytes": 7 + 7}),
                        including({"IndexName": "Some", "ItemCount": 1, "IndexSizeBytes": 12}),
                    ],
                }
            )
        },
        evidence=f"{SIZES}; AWS guide, Global secondary indexes: only items with the key are in an index{LATER}",
    ),
    Vector(
        "a_local_index_counts_what_it_holds",
        operation="DescribeTable",
        tables=[LOCAL],
        given={
            "Local": [
                {"p": {"S": "1"}, "s": {"S": "1"}, "l": {"S": "l"}, "x": {"S": "x"}},
                {"p": {"S": "2"}, "s": {"S": "2"}},
            ]
        },
        request={"TableName": "Local"},
        answer={
            "Table": including(
                {
                    "ItemCount": 2,
                    "LocalSecondaryIndexes": [
                        {
                            "IndexName": "All",
                            "KeySchema": key_schema("p", "l"),
                            "Projection": {"ProjectionType": "ALL"},
                            "IndexSizeBytes": 8,
                            "ItemCount": 1,
                            "IndexArn": arn_of("table/Local/index/All"),
                        },
                        including({"IndexName": "KeysOnly", "IndexSizeBytes": 6, "ItemCount": 1}),
                    ],
                }
            )
        },
        evidence=f"{SIZES}; {ACK}DDB-TABLE-133: no throughput of a local index{LATER}",
    ),
]

REFUSES = [
    refused(
        "without_a_name", None, NO_NAME, "Answer of the service, recorded by dynalite (describeTable.js)"
    ),
    refused(
        "with_an_empty_name",
        "",
        "2 validation errors detected: "
        + broken("", "Member must have length greater than or equal to 3")
        + "; "
        + broken("", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
        f"{ACK}DDB-TABLE-457: describe_table_empty_name",
    ),
    refused(
        "with_a_name_of_wrong_characters",
        "abc;",
        "1 validation error detected: "
        + broken("abc;", "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
        "Answer of the service, recorded by dynalite (describeTable.js)",
    ),
    refused(
        "of_a_missing_table",
        "Missing",
        Refusal("ResourceNotFoundException", "Requested resource not found: Table: Missing not found"),
        f"{ACK}DDB-TABLE-446 (us-east-1 and us-west-2)",
    ),
    refused(
        "of_a_missing_table_named_by_its_arn",
        f"{ARN}Missing",
        Refusal("ResourceNotFoundException", "Requested resource not found: Table: Missing not found"),
        f"{ACK}DDB-TABLE-072: names the extracted name",
    ),
    refused(
        "by_the_id_of_a_table",
        "a225901b-431e-4a8a-a584-e9b8d88d010f",
        Refusal(
            "ResourceNotFoundException",
            "Requested resource not found: Table: a225901b-431e-4a8a-a584-e9b8d88d010f not found",
        ),
        f"{ACK}DDB-TABLE-011",
    ),
    refused(
        "of_a_table_in_another_region",
        "arn:aws:dynamodb:eu-west-1:000000000000:table/Hash",
        "1 validation error detected: Invalid AWS region in "
        "'arn:aws:dynamodb:eu-west-1:000000000000:table/Hash'",
        f"{ACK}DDB-TABLE-011, 442",
    ),
    refused(
        "of_a_table_in_another_partition",
        "arn:aws-cn:dynamodb:us-east-1:000000000000:table/Hash",
        "1 validation error detected: Invalid AWS partition in "
        "'arn:aws-cn:dynamodb:us-east-1:000000000000:table/Hash'",
        f"{ACK}DDB-TABLE-442",
    ),
    refused(
        "of_a_table_of_another_account",
        "arn:aws:dynamodb:us-east-1:123456789012:table/Hash",
        Refusal("AccessDeniedException", "Access is denied"),
        f"{ACK}DDB-TABLE-011",
    ),
    refused(
        "of_an_index",
        f"{ARN}Hash/index/gsi",
        f"1 validation error detected: {broken(f'{ARN}Hash/index/gsi', FORMAT)}",
        "github.com/ExtendDB/extenddb, crates/…/table_arn.rs, which gives the service's answers; ack-api-quirks, "
        "DDB-TABLE-011: a ValidationException",
    ),
]

VECTORS = [*DESCRIBES, *REFUSES]
