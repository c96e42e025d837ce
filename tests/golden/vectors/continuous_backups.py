"""UpdateContinuousBackups, DescribeContinuousBackups, and what RestoreTableToPointInTime refuses.

What a restored table holds is no matter of vectors: on AWS it takes minutes to make one.
"""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import anything, including, without
from golden.vectors.tables import GLOBAL, HASH, LOCAL
from golden.vectors.vector import Refusal, Vector, earlier, then, validation
from support.sample_tables import index, key_schema

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
BOTOCORE = "botocore: "
MODEL = "botocore's service model, in the words of AWS's other refusals"
ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/Hash"
NOT_FOUND = Refusal("TableNotFoundException", "Table not found: Nothing")


def wanted(*, enabled: bool = True, table: str = "Hash", **more: Any) -> dict[str, Any]:
    specification = {"PointInTimeRecoveryEnabled": enabled, **more}
    return {"TableName": table, "PointInTimeRecoverySpecification": specification}


def described(**recovery: Any) -> dict[str, Any]:
    return {
        "ContinuousBackupsDescription": {
            "ContinuousBackupsStatus": "ENABLED",
            "PointInTimeRecoveryDescription": recovery,
        }
    }


def on(days: int = 35) -> dict[str, Any]:
    return described(
        PointInTimeRecoveryStatus="ENABLED",
        RecoveryPeriodInDays=days,
        EarliestRestorableDateTime=anything,
        LatestRestorableDateTime=anything,
    )


OFF = described(PointInTimeRecoveryStatus="DISABLED")


def updated(
    name: str, request: dict[str, Any], answer: Any, evidence: str, *before: dict[str, Any]
) -> Vector:
    """A request is answered so, and so is the description that follows."""
    return Vector(
        name,
        operation="UpdateContinuousBackups",
        tables=[HASH],
        before=[("UpdateContinuousBackups", earlier) for earlier in before],
        request=request,
        answer=answer,
        after=[then("DescribeContinuousBackups", {"TableName": "Hash"}, answer)],
        evidence=evidence,
    )


def refused(
    name: str, operation: str, request: dict[str, Any], error: Refusal, evidence: str, **more: Any
) -> Vector:
    return Vector(
        name, operation=operation, tables=[HASH], request=request, error=error, evidence=evidence, **more
    )


def broken(value: str, member: str, constraint: str) -> Refusal:
    return validation(
        f"1 validation error detected: Value {value} at '{member}' failed to satisfy constraint: "
        f"Member must {constraint}"
    )


SPECIFICATION = "pointInTimeRecoverySpecification"
DAYS = f"{SPECIFICATION}.recoveryPeriodInDays"

UPDATES = [
    Vector(
        "a_new_table_has_continuous_backups_and_no_recovery",
        operation="DescribeContinuousBackups",
        tables=[HASH],
        request={"TableName": "Hash"},
        answer=OFF,
        evidence=f'{BOTOCORE}"Continuous backups are ENABLED on all tables at table creation"',
    ),
    updated("enabling_keeps_35_days", wanted(), on(), f'{BOTOCORE}"the value will default to 35"'),
    updated(
        "a_table_named_by_its_arn",
        wanted(table=ARN),
        on(),
        f'{BOTOCORE}TableName, "You can also provide the Amazon Resource Name (ARN) of the table"',
    ),
    updated(
        "a_day_can_be_enough", wanted(RecoveryPeriodInDays=1), on(1), f'{BOTOCORE}"between 1 and 35 days"'
    ),
    updated(
        "days_can_be_changed",
        wanted(RecoveryPeriodInDays=7),
        on(7),
        f'{BOTOCORE}"You can set the RecoveryPeriodInDays to any value between 1 and 35 days"',
        wanted(),
    ),
    updated("enabling_twice_is_no_error", wanted(), on(), "the operation has no error for it", wanted()),
    updated(
        "disabling",
        wanted(enabled=False),
        OFF,
        f"{ACK}DDB-TABLE-086",
        wanted(),
    ),
    updated("disabling_what_is_off", wanted(enabled=False), OFF, "the operation has no error for it"),
]

REFUSALS = [
    refused(
        "describing_a_table_that_there_is_none_of",
        "DescribeContinuousBackups",
        {"TableName": "Nothing"},
        NOT_FOUND,
        f"{ACK}DDB-TABLE-217",
    ),
    refused(
        "updating_a_table_that_there_is_none_of",
        "UpdateContinuousBackups",
        wanted(table="Nothing"),
        NOT_FOUND,
        f"{ACK}DDB-TABLE-217",
    ),
    refused(
        "no_specification",
        "UpdateContinuousBackups",
        {"TableName": "Hash"},
        broken("null", SPECIFICATION, "not be null"),
        MODEL,
    ),
    refused(
        "nothing_in_the_specification",
        "UpdateContinuousBackups",
        {"TableName": "Hash", "PointInTimeRecoverySpecification": {}},
        broken("null", f"{SPECIFICATION}.pointInTimeRecoveryEnabled", "not be null"),
        MODEL,
    ),
    refused(
        "no_days",
        "UpdateContinuousBackups",
        wanted(RecoveryPeriodInDays=0),
        broken("'0'", DAYS, "have value greater than or equal to 1"),
        MODEL,
    ),
    refused(
        "days_of_what_is_turned_off",
        "UpdateContinuousBackups",
        wanted(enabled=False, RecoveryPeriodInDays=7),
        validation(
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        ),
        f"{ACK}DDB-TABLE-084",
    ),
    refused(
        "too_many_days",
        "UpdateContinuousBackups",
        wanted(RecoveryPeriodInDays=36),
        broken("'36'", DAYS, "have value less than or equal to 35"),
        MODEL,
    ),
]


def restored(**more: Any) -> dict[str, Any]:
    return {"SourceTableName": "Hash", "TargetTableName": "Restored", **more}


RESTORE = "RestoreTableToPointInTime"
RESTORES = [
    refused(
        "restoring_a_table_that_there_is_none_of",
        RESTORE,
        restored(SourceTableName="Nothing", UseLatestRestorableTime=True),
        NOT_FOUND,
        f"{ACK}DDB-TABLE-100",
    ),
    refused(
        "restoring_without_recovery",
        RESTORE,
        restored(UseLatestRestorableTime=True),
        Refusal(
            "PointInTimeRecoveryUnavailableException",
            "Point in time recovery is not enabled for table 'Hash'",
        ),
        f"{ACK}DDB-TABLE-100",
    ),
    refused(
        "restoring_to_a_time_before_recovery_was_on",
        RESTORE,
        restored(RestoreDateTime=1),
        Refusal("InvalidRestoreTimeException", anything),
        f'{BOTOCORE}"RestoreDateTime must be between EarliestRestorableDateTime and LatestRestorableDateTime"',
        before=[("UpdateContinuousBackups", wanted())],
    ),
    refused(
        "restoring_into_a_table_that_exists",
        RESTORE,
        restored(TargetTableName="Hash", UseLatestRestorableTime=True),
        Refusal("TableAlreadyExistsException", "Table already exists: Hash"),
        f"{ACK}DDB-TABLE-100",
        before=[("UpdateContinuousBackups", wanted())],
    ),
    refused(
        "restoring_to_a_time_that_is_text",
        RESTORE,
        restored(RestoreDateTime="2026-01-01T00:00:00Z"),
        Refusal("SerializationException", "STRING_VALUE can not be converted to milliseconds since epoch"),
        "Said by AWS's services of this protocol (recorded of X-Ray in the tests of Paws, the SDK for Perl)",
        wire_only=True,
    ),
    refused(
        "restoring_with_an_index_that_is_warm",
        RESTORE,
        restored(
            UseLatestRestorableTime=True,
            GlobalSecondaryIndexOverride=[
                {
                    **index("All", "p"),
                    "WarmThroughput": {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000},
                    "OnDemandThroughput": {"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1},
                }
            ],
        ),
        validation(anything),
        f'{BOTOCORE}"including it in a GlobalSecondaryIndexOverride entry causes the request to fail with a '
        'validation error"',
        before=[("UpdateContinuousBackups", wanted())],
    ),
    refused(
        "restoring_with_a_local_index_that_the_source_has_not",
        RESTORE,
        restored(
            UseLatestRestorableTime=True,
            LocalSecondaryIndexOverride=[index("Some", "p", "l", projection="INCLUDE", include=["a"])],
        ),
        validation(anything),
        f"{ACK}DDB-TABLE-273 (of RestoreTableFromBackup)",
        before=[("UpdateContinuousBackups", wanted())],
    ),
    refused(
        "restoring_into_a_table_without_a_name",
        RESTORE,
        {"SourceTableName": "Hash", "UseLatestRestorableTime": True},
        broken("null", "targetTableName", "not be null"),
        MODEL,
    ),
]


def made(
    name: str, table: dict[str, Any], request: dict[str, Any], description: dict[str, Any], evidence: str
) -> Vector:
    """A table is restored to a moment, and is described so."""
    source = table["TableName"]
    return Vector(
        name,
        operation=RESTORE,
        tables=[table],
        before=[("UpdateContinuousBackups", wanted(table=source))],
        request={"SourceTableName": source, "TargetTableName": "Restored", **request},
        answer={
            "TableDescription": including(
                {
                    "TableName": "Restored",
                    "TableStatus": "CREATING",
                    "RestoreSummary": including({"RestoreInProgress": True}),
                    **description,
                }
            )
        },
        makes=["Restored"],
        evidence=evidence,
    )


UNITS = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
TOLD = earlier(
    *("UpdateContinuousBackups", "ContinuousBackupsDescription", "PointInTimeRecoveryDescription"),
    "EarliestRestorableDateTime",
)
OVERRIDES = f'{BOTOCORE}the parameter, "of the restored table"'
MADE = [
    made(
        "restoring_to_the_latest_time",
        HASH,
        {"UseLatestRestorableTime": True},
        {"TableSizeBytes": 0},
        f"{ACK}DDB-TABLE-086",
    ),
    made("restoring_to_the_earliest_time", HASH, {"RestoreDateTime": TOLD}, {}, f"{ACK}DDB-TABLE-272"),
    made(
        "restoring_with_other_throughput",
        GLOBAL,
        {
            "UseLatestRestorableTime": True,
            "BillingModeOverride": "PROVISIONED",
            "ProvisionedThroughputOverride": UNITS,
            "GlobalSecondaryIndexOverride": [
                {
                    **index("Some", "gp", "gs", projection="INCLUDE", include=["a"]),
                    "ProvisionedThroughput": UNITS,
                }
            ],
        },
        {
            "ProvisionedThroughput": including(UNITS),
            "GlobalSecondaryIndexes": [
                including({"IndexName": "Some", "ProvisionedThroughput": including(UNITS)})
            ],
        },
        OVERRIDES,
    ),
    made(
        "restoring_some_local_indexes",
        LOCAL,
        {"UseLatestRestorableTime": True, "LocalSecondaryIndexOverride": [index("All", "p", "l")]},
        {"LocalSecondaryIndexes": [including({"IndexName": "All", "KeySchema": key_schema("p", "l")})]},
        f'{BOTOCORE}LocalSecondaryIndexOverride, "You can choose to exclude some or all of the indexes"',
    ),
    made(
        "restoring_with_other_bounds_and_encryption",
        HASH,
        {
            "UseLatestRestorableTime": True,
            "OnDemandThroughputOverride": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20},
            "SSESpecificationOverride": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/own"},
        },
        {"OnDemandThroughput": {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20}},
        OVERRIDES,
    ),
    Vector(
        "restoring_a_table_named_by_its_arn_without_indexes",
        operation=RESTORE,
        tables=[GLOBAL],
        before=[("UpdateContinuousBackups", wanted(table="Global"))],
        request={
            "SourceTableArn": ARN.replace("Hash", "Global"),
            "TargetTableName": "Restored",
            "UseLatestRestorableTime": True,
            "GlobalSecondaryIndexOverride": [],
        },
        answer={"TableDescription": without("GlobalSecondaryIndexes")},
        makes=["Restored"],
        evidence=f"{ACK}DDB-TABLE-279",
    ),
]

VECTORS = [*UPDATES, *REFUSALS, *RESTORES, *MADE]
