"""UpdateTimeToLive, DescribeTimeToLive. What expires, and when, is no matter of vectors: on AWS it takes days.

DynamoDB Local 3.3 lets the setting be changed again at once, where AWS makes it wait (botocore: an hour).
"""

from __future__ import annotations

from typing import Any

from golden.vectors.tables import HASH
from golden.vectors.vector import Refusal, Vector, then, validation

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Hash"
NOT_FOUND = Refusal("ResourceNotFoundException", "Requested resource not found: Table: Nothing not found")
NO_TABLE_NAME = "The parameter 'TableName' is required but was not present in the request"


def wanted(attribute: str = "ttl", *, enabled: bool = True, table: str = "Hash") -> dict[str, Any]:
    return {
        "TableName": table,
        "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute},
    }


def described(**description: str) -> Any:
    return then("DescribeTimeToLive", {"TableName": "Hash"}, {"TimeToLiveDescription": description})


ENABLED = described(TimeToLiveStatus="ENABLED", AttributeName="ttl")
DISABLED = described(TimeToLiveStatus="DISABLED")


def refused(
    name: str,
    specification: dict[str, Any],
    message: str,
    evidence: str,
    *,
    enabled_before: bool = False,
) -> Vector:
    """A request with this specification is refused, and changes nothing."""
    return Vector(
        name,
        operation="UpdateTimeToLive",
        tables=[HASH],
        before=[("UpdateTimeToLive", wanted())] if enabled_before else [],
        request={"TableName": "Hash", "TimeToLiveSpecification": specification},
        error=validation(message),
        after=[ENABLED if enabled_before else DISABLED],
        evidence=evidence,
    )


def broken(value: str | None, member: str, constraint: str) -> str:
    shown = "null" if value is None else f"'{value}'"
    place = f"timeToLiveSpecification.{member}"
    return f"Value {shown} at '{place}' failed to satisfy constraint: Member must {constraint}"


WORKS = [
    Vector(
        "a_new_table_has_it_disabled",
        operation="DescribeTimeToLive",
        tables=[HASH],
        request={"TableName": "Hash"},
        answer={"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}},
        evidence=f"{ACK}DDB-TABLE-144; dynalite, test/describeTimeToLive.js",
    ),
    Vector(
        "enabling_echoes_the_request_and_is_described",
        operation="UpdateTimeToLive",
        tables=[HASH],
        request=wanted(),
        answer={"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
        after=[ENABLED],
        evidence=f"{ACK}DDB-TABLE-145",
    ),
    Vector(
        "a_table_named_by_its_arn",
        operation="UpdateTimeToLive",
        tables=[HASH],
        request=wanted(table=ARN),
        answer={"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
        after=[ENABLED],
        evidence='botocore: TableName, "You can also provide the Amazon Resource Name (ARN) of the table"',
    ),
    Vector(
        "the_partition_key_may_be_the_attribute",
        operation="UpdateTimeToLive",
        tables=[HASH],
        request=wanted("p"),
        answer={"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "p"}},
        after=[described(TimeToLiveStatus="ENABLED", AttributeName="p")],
        evidence=f"{ACK}DDB-TABLE-146",
    ),
    Vector(
        "a_name_of_255_characters",
        operation="UpdateTimeToLive",
        tables=[HASH],
        request=wanted("x" * 255),
        answer={"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "x" * 255}},
        evidence="botocore: TimeToLiveAttributeName has a length of 1 to 255",
    ),
    Vector(
        "a_table_made_again_has_it_disabled",
        operation="DescribeTimeToLive",
        tables=[HASH],
        before=[
            ("UpdateTimeToLive", wanted()),
            ("DeleteTable", {"TableName": "Hash"}),
            ("CreateTable", HASH),
        ],
        request={"TableName": "Hash"},
        answer={"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}},
        evidence="It is a setting of the table, not of its name",
    ),
]

REFUSALS = [
    refused(
        "enabling_it_twice",
        {"Enabled": True, "AttributeName": "ttl"},
        "TimeToLive is already enabled",
        f"{ACK}DDB-TABLE-147: what is asked is looked at before how long ago the last change was",
        enabled_before=True,
    ),
    refused(
        "enabling_it_with_another_attribute",
        {"Enabled": True, "AttributeName": "other"},
        "TimeToLive is active on a different AttributeName: current AttributeName is ttl",
        f"{ACK}DDB-TABLE-147",
        enabled_before=True,
    ),
    refused(
        "disabling_it_with_another_attribute",
        {"Enabled": False, "AttributeName": "other"},
        "TimeToLive is active on a different AttributeName: current AttributeName is ttl",
        f"{ACK}DDB-TABLE-146",
        enabled_before=True,
    ),
    refused(
        "disabling_what_was_never_enabled",
        {"Enabled": False, "AttributeName": "ttl"},
        "TimeToLive is already disabled",
        f"{ACK}DDB-TABLE-146",
    ),
    refused(
        "disabling_it_too_soon",
        {"Enabled": False, "AttributeName": "ttl"},
        "Time to live has been modified multiple times within a fixed interval",
        f"{ACK}DDB-TABLE-143",
        enabled_before=True,
    ),
    refused(
        "an_empty_specification",
        {},
        "2 validation errors detected: "
        f"{broken(None, 'attributeName', 'not be null')}; {broken(None, 'enabled', 'not be null')}",
        f"{ACK}DDB-TABLE-146",
    ),
    refused(
        "a_specification_without_an_attribute",
        {"Enabled": False},
        f"1 validation error detected: {broken(None, 'attributeName', 'not be null')}",
        f"{ACK}DDB-TABLE-146",
    ),
    refused(
        "a_specification_that_does_not_say_whether",
        {"AttributeName": "ttl"},
        f"1 validation error detected: {broken(None, 'enabled', 'not be null')}",
        f"{ACK}DDB-TABLE-146",
    ),
    refused(
        "an_empty_name",
        {"Enabled": True, "AttributeName": ""},
        "1 validation error detected: "
        f"{broken('', 'attributeName', 'have length greater than or equal to 1')}",
        "botocore: TimeToLiveAttributeName has a length of 1 to 255; Alternator, test_update_ttl_errors",
    ),
    refused(
        "a_name_of_256_characters",
        {"Enabled": True, "AttributeName": "x" * 256},
        "1 validation error detected: "
        f"{broken('x' * 256, 'attributeName', 'have length less than or equal to 255')}",
        f"{ACK}DDB-TABLE-146",
    ),
    Vector(
        "enabling_it_for_a_table_that_is_not_there",
        operation="UpdateTimeToLive",
        request=wanted(table="Nothing"),
        error=NOT_FOUND,
        evidence=f"{ACK}DDB-TABLE-118",
    ),
    Vector(
        "describing_a_table_that_is_not_there",
        operation="DescribeTimeToLive",
        request={"TableName": "Nothing"},
        error=NOT_FOUND,
        evidence=f"{ACK}DDB-TABLE-118; dynalite, test/describeTimeToLive.js",
    ),
    Vector(
        "what_is_wrong_in_itself_comes_before_the_table",
        operation="UpdateTimeToLive",
        request=wanted("", table="Nothing"),
        error=validation(
            "1 validation error detected: "
            f"{broken('', 'attributeName', 'have length greater than or equal to 1')}"
        ),
        evidence="As with every operation: the request is validated before anything is looked up",
    ),
    Vector(
        "updating_no_table",
        operation="UpdateTimeToLive",
        request={"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}},
        error=validation(NO_TABLE_NAME),
        evidence="Taken to be as in DescribeTimeToLive",
    ),
    Vector(
        "describing_no_table",
        operation="DescribeTimeToLive",
        request={},
        error=validation(NO_TABLE_NAME),
        evidence="dynalite, test/describeTimeToLive.js",
    ),
]

VECTORS = [*WORKS, *REFUSALS]
