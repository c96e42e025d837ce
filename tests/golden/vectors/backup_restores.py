"""RestoreTableFromBackup, DescribeBackup, ListBackups: what is answered, with every parameter."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import anything, including, without
from golden.vectors.tables import GLOBAL, HASH, LOCAL
from golden.vectors.vector import Vector, earlier, validation
from support.sample_tables import index, key_schema

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
OVERRIDES = 'botocore 1.44, RestoreTableFromBackup: the parameter, "of the restored table"'
RESTORE = "RestoreTableFromBackup"
MADE = earlier("CreateBackup", "BackupDetails", "BackupArn")
UNITS = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
UNMATCHED = (
    "Invalid Request: Index New does not match a secondary index that existed in the source table and cannot be "
    "created during the restore operation"
)
BOUNDS = {"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20}
# Backups outlive their tables, and those of one moment come in any order: no other case backs up this one.
SOME = index("Some", "gp", "gs", projection="INCLUDE", include=["a"])


def backed_up(table: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [("CreateBackup", {"TableName": table["TableName"], "BackupName": "first"})]


def restored(
    name: str, table: dict[str, Any], request: dict[str, Any], description: Any, evidence: str
) -> Vector:
    """A table is restored from a backup, and is described so."""
    return Vector(
        name,
        operation=RESTORE,
        tables=[table],
        before=backed_up(table),
        request={"BackupArn": MADE, "TargetTableName": "Restored", **request},
        answer={"TableDescription": description},
        makes=["Restored"],
        evidence=evidence,
    )


def refused(name: str, table: dict[str, Any], request: dict[str, Any], message: Any) -> Vector:
    return Vector(
        name,
        operation=RESTORE,
        tables=[table],
        before=backed_up(table),
        request={"BackupArn": MADE, "TargetTableName": "Restored", **request},
        error=validation(message),
        evidence=f"{ACK}DDB-TABLE-273",
    )


RESTORES = [
    restored(
        "a_backup_is_restored",
        HASH,
        {},
        including(
            {
                "TableName": "Restored",
                "TableStatus": "CREATING",
                "RestoreSummary": including({"RestoreInProgress": True}),
            }
        ),
        f"{ACK}DDB-TABLE-216",
    ),
    restored(
        "a_backup_is_restored_with_other_throughput",
        GLOBAL,
        {
            "BillingModeOverride": "PROVISIONED",
            "ProvisionedThroughputOverride": UNITS,
            "GlobalSecondaryIndexOverride": [{**SOME, "ProvisionedThroughput": UNITS}],
        },
        including(
            {
                "ProvisionedThroughput": including(UNITS),
                "GlobalSecondaryIndexes": [
                    including({"IndexName": "Some", "ProvisionedThroughput": including(UNITS)})
                ],
            }
        ),
        OVERRIDES,
    ),
    restored(
        "a_backup_is_restored_with_an_index_of_another_name",
        GLOBAL,
        {"GlobalSecondaryIndexOverride": [{**SOME, "IndexName": "Renamed", "OnDemandThroughput": BOUNDS}]},
        including(
            {
                "GlobalSecondaryIndexes": [
                    including({"IndexName": "Renamed", "OnDemandThroughput": BOUNDS}),
                ]
            }
        ),
        f"{ACK}DDB-TABLE-279: overrides match by keys and projection",
    ),
    restored(
        "a_backup_is_restored_with_some_local_indexes",
        LOCAL,
        {"LocalSecondaryIndexOverride": [index("All", "p", "l")]},
        including(
            {"LocalSecondaryIndexes": [including({"IndexName": "All", "KeySchema": key_schema("p", "l")})]}
        ),
        OVERRIDES,
    ),
    restored(
        "a_backup_is_restored_without_indexes",
        GLOBAL,
        {"GlobalSecondaryIndexOverride": []},
        without("GlobalSecondaryIndexes"),
        f"{ACK}DDB-TABLE-279",
    ),
    restored(
        "a_backup_is_restored_with_other_bounds_and_encryption",
        HASH,
        {
            "OnDemandThroughputOverride": BOUNDS,
            "SSESpecificationOverride": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/own"},
        },
        including({"OnDemandThroughput": BOUNDS}),
        OVERRIDES,
    ),
]

REFUSALS = [
    refused(
        "a_backup_of_a_table_on_demand_is_restored_with_units",
        HASH,
        {"ProvisionedThroughputOverride": UNITS},
        "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED",
    ),
    refused(
        "a_backup_of_a_table_on_demand_is_restored_as_provisioned_without_units",
        HASH,
        {"BillingModeOverride": "PROVISIONED"},
        "Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED",
    ),
    refused(
        "a_backup_is_restored_with_a_new_index",
        GLOBAL,
        {"GlobalSecondaryIndexOverride": [index("New", "gs", "gp")]},
        UNMATCHED,
    ),
    refused(
        "a_backup_is_restored_with_a_new_local_index",
        LOCAL,
        {"LocalSecondaryIndexOverride": [index("New", "p", "l", projection="INCLUDE", include=["zz"])]},
        UNMATCHED,
    ),
    refused(
        "a_backup_is_restored_with_a_warm_index",
        GLOBAL,
        {
            "GlobalSecondaryIndexOverride": [
                {**SOME, "WarmThroughput": {"ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000}}
            ]
        },
        anything,
    ),
]

READS = [
    Vector(
        "a_backup_is_described",
        operation="DescribeBackup",
        tables=[HASH],
        before=backed_up(HASH),
        request={"BackupArn": MADE},
        answer={
            "BackupDescription": including(
                {
                    "BackupDetails": including({"BackupName": "first", "BackupStatus": "AVAILABLE"}),
                    "SourceTableDetails": including({"TableName": "Hash", "ItemCount": 0}),
                }
            )
        },
        evidence=f"{ACK}DDB-BACKUP-003",
    ),
    Vector(
        "backups_are_listed_behind_the_last_one",
        operation="ListBackups",
        tables=[HASH],
        before=backed_up(HASH),
        request={
            "TableName": "Hash",
            "Limit": 1,
            "BackupType": "USER",
            "ExclusiveStartBackupArn": MADE,
            "TimeRangeUpperBound": 1,  # backups outlive their tables: those of other cases have the same time
        },
        answer={"BackupSummaries": []},
        evidence=f"{ACK}DDB-BACKUP-014",
    ),
]

VECTORS = [*RESTORES, *REFUSALS, *READS]
