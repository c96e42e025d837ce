"""Requests and cases that the vectors of CreateTable share."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including
from golden.vectors.vector import Refusal, Vector, then, validation
from support.sample_tables import attributes, index, key_schema

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
DYNALITE = "Answer of the service, recorded in dynalite's tests (test/createTable.js)"
PARITY = "github.com/paritysuite/dynamodb-conformance, run against the service: "
INVALID = "One or more parameter values were invalid: "
GUIDE = "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
SEE = (
    "See: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html"
    "#on-demand-capacity-mode-initial"
)
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Made"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
NOTHING = {"NumberOfDecreasesToday": 0, "ReadCapacityUnits": 0, "WriteCapacityUnits": 0}


def request(**changes: Any) -> dict[str, Any]:
    """A right request for a table of pk and sk, with changes; None takes a parameter away."""
    base: dict[str, Any] = {
        "TableName": "Made",
        "KeySchema": key_schema("pk", "sk"),
        "AttributeDefinitions": attributes(pk="S", sk="S"),
        "BillingMode": "PAY_PER_REQUEST",
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def provisioned(**changes: Any) -> dict[str, Any]:
    return request(BillingMode="PROVISIONED", ProvisionedThroughput=UNITS, **changes)


def with_index(index_changes: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A request with a global index "by-g" over the attribute g."""
    by_g = {**index("by-g", "g"), **(index_changes or {})}
    defined = attributes(pk="S", sk="S", g="S")
    return request(**{"AttributeDefinitions": defined, "GlobalSecondaryIndexes": [by_g], **changes})


def elements(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in pairs]


def made(name: str, given: dict[str, Any], answer: dict[str, Any], evidence: str, *after: Any) -> Vector:
    return Vector(
        name,
        operation="CreateTable",
        request=given,
        answer={"TableDescription": including(answer)},
        makes=["Made"],
        after=after,
        evidence=evidence,
    )


def described(members: Any) -> Any:
    return then("DescribeTable", {"TableName": "Made"}, {"Table": members})


def refused(name: str, given: dict[str, Any], error: str | Refusal, evidence: str) -> Vector:
    return Vector(
        name,
        operation="CreateTable",
        request=given,
        error=validation(error) if isinstance(error, str) else error,
        makes=["Made"],
        evidence=evidence,
    )


def limit(message: str) -> Refusal:
    return Refusal("LimitExceededException", message)
