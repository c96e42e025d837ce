"""Tables and cases that the vectors of UpdateTable share."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including
from golden.vectors.vector import Refusal, Vector, then, validation
from support.sample_tables import attributes, index, key_schema

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
INVALID = "One or more parameter values were invalid: "
GUIDE = "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
STREAM = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
AT_LEAST_ONE = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
    "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
    "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
)


def units(read: int, write: int) -> dict[str, int]:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def capacity(read: int, write: int, *, decreases: int = 0, **times: Any) -> dict[str, Any]:
    return {**times, "NumberOfDecreasesToday": decreases, **units(read, write)}


def warm(read: int, write: int, status: str = "ACTIVE") -> dict[str, Any]:
    return {"ReadUnitsPerSecond": read, "WriteUnitsPerSecond": write, "Status": status}


# Tables of their own, since most vectors here change them.
PAID: dict[str, Any] = {
    "TableName": "Paid",
    "KeySchema": key_schema("pk", "sk"),
    "AttributeDefinitions": attributes(pk="S", sk="S", g="S"),
    "GlobalSecondaryIndexes": [index("by-g", "g")],
    "BillingMode": "PAY_PER_REQUEST",
}
BOUGHT: dict[str, Any] = {
    "TableName": "Bought",
    "KeySchema": key_schema("pk", "sk"),
    "AttributeDefinitions": attributes(pk="S", sk="S", g="S", l="N"),
    "GlobalSecondaryIndexes": [{**index("by-g", "g"), "ProvisionedThroughput": units(1, 2)}],
    "LocalSecondaryIndexes": [index("by-l", "pk", "l")],
    "ProvisionedThroughput": units(5, 6),
}
BARE: dict[str, Any] = {
    "TableName": "Bare",
    "KeySchema": key_schema("pk"),
    "AttributeDefinitions": attributes(pk="S"),
    "BillingMode": "PAY_PER_REQUEST",
}
STREAMED: dict[str, Any] = {**BARE, "TableName": "Streamed", "StreamSpecification": STREAM}
KEY_ARN = "arn:aws:kms:us-east-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab"
KEYED: dict[str, Any] = {
    **BARE,
    "TableName": "Keyed",
    "SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY_ARN},
}
FULL: dict[str, Any] = {
    **BARE,
    "TableName": "Full",
    "AttributeDefinitions": attributes(pk="S", x="S"),
    "GlobalSecondaryIndexes": [index(f"by-{number}", "x") for number in range(20)],
}


def changed(
    name: str,
    table: dict[str, Any],
    change: dict[str, Any],
    answer: Any,
    later: Any,
    evidence: str,
    **more: Any,
) -> Vector:
    """The answer, and what DescribeTable says afterwards."""
    return Vector(
        name,
        operation="UpdateTable",
        tables=[table],
        request={"TableName": table["TableName"], **change},
        answer={"TableDescription": answer if not isinstance(answer, dict) else including(answer)},
        after=[
            then(
                "DescribeTable",
                {"TableName": table["TableName"]},
                {"Table": later if not isinstance(later, dict) else including(later)},
            )
        ],
        evidence=evidence,
        **more,
    )


def refused(
    name: str, table: dict[str, Any], change: dict[str, Any], error: str | Refusal, evidence: str, **more: Any
) -> Vector:
    return Vector(
        name,
        operation="UpdateTable",
        tables=[table],
        request={"TableName": table["TableName"], **change},
        error=validation(error) if isinstance(error, str) else error,
        evidence=evidence,
        **more,
    )


def combined(name: str, change: dict[str, Any], message: str, evidence: str) -> Vector:
    """A request that is wrong in itself is told so before its table is looked up."""
    return Vector(
        name,
        operation="UpdateTable",
        request={"TableName": "Missing", **change},
        error=validation(message),
        evidence=evidence,
    )


def index_update(name: str = "by-g", **action: Any) -> dict[str, Any]:
    return {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": name, **action}}]}


def new_index(*names: str, **more: Any) -> dict[str, Any]:
    return {
        "AttributeDefinitions": attributes(x="S"),
        "GlobalSecondaryIndexUpdates": [{"Create": {**index(name, "x"), **more}} for name in names],
    }


def limit(message: str) -> Refusal:
    return Refusal("LimitExceededException", message)
