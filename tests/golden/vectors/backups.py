"""CreateBackup, DescribeBackup, ListBackups, DeleteBackup, RestoreTableFromBackup: refusals, and plain answers."""

from __future__ import annotations

from typing import Any

from golden.vectors.matching import including
from golden.vectors.tables import HASH
from golden.vectors.vector import Refusal, Vector, earlier, validation
from singletable.errors import INVALID

ACK = "Answers of the service that ack-api-quirks recorded in October 2026, "
BASE = "arn:aws:dynamodb:us-east-1:000000000000:table/Hash"
MISSING = f"{BASE}/backup/01489602797149-73d8d5bc"
ANOTHER_ACCOUNT = MISSING.replace("000000000000", "111122223333")
UNKNOWN_REGION = MISSING.replace("us-east-1", "xx-fake-1")
WRONG_PARTITION = MISSING.replace("arn:aws:", "arn:aws-cn:")
WRONG_SERVICE = MISSING.replace(":dynamodb:", ":dynamite:")
NO_REGION = MISSING.replace("us-east-1", "")
NO_ARN = "x" * 48
NOT_VALID = validation("Invalid Request: BackupArn is not valid")
NOT_FOUND = Refusal("BackupNotFoundException", f"Backup not found: {MISSING}")
MADE = earlier("CreateBackup", "BackupDetails", "BackupArn")


def refused(name: str, operation: str, request: dict[str, Any], error: Refusal, evidence: str) -> Vector:
    return Vector(
        name, operation=operation, tables=[HASH], request=request, error=error, evidence=f"{ACK}{evidence}"
    )


def by_arn(name: str, arn: str, error: Refusal, evidence: str) -> list[Vector]:
    """Each operation that names a backup refuses an ARN in the same words."""
    return [
        refused(f"describing_{name}", "DescribeBackup", {"BackupArn": arn}, error, evidence),
        refused(f"deleting_{name}", "DeleteBackup", {"BackupArn": arn}, error, evidence),
        refused(
            f"restoring_{name}",
            "RestoreTableFromBackup",
            {"BackupArn": arn, "TargetTableName": "Restored"},
            error,
            evidence,
        ),
    ]


VECTORS = [
    *by_arn("a_backup_that_is_not_there", MISSING, NOT_FOUND, "DDB-BACKUP-005, DDB-TABLE-273"),
    *by_arn(
        "the_arn_of_another_account",
        ANOTHER_ACCOUNT,
        Refusal("AccessDeniedException", "Access is denied"),
        "DDB-BACKUP-012",
    ),
    *by_arn("the_arn_of_a_table", BASE, validation("Invalid Backup ARN"), "DDB-BACKUP-012, DDB-TABLE-273"),
    *by_arn("what_is_no_arn", NO_ARN, validation("Invalid Backup ARN"), "DDB-BACKUP-012"),
    *by_arn(
        "an_unknown_region",
        UNKNOWN_REGION,
        NOT_VALID,
        "DDB-BACKUP-012",
    ),
    *by_arn(
        "a_wrong_partition",
        WRONG_PARTITION,
        NOT_VALID,
        "DDB-BACKUP-012",
    ),
    *by_arn(
        "a_wrong_service",
        WRONG_SERVICE,
        NOT_VALID,
        "DDB-BACKUP-012",
    ),
    *by_arn(
        "an_arn_without_region",
        NO_REGION,
        Refusal("AccessDeniedException", "Access is denied"),
        "DDB-BACKUP-012",
    ),
    refused(
        "backing_up_a_table_that_is_not_there",
        "CreateBackup",
        {"TableName": "Missing", "BackupName": "first"},
        Refusal("TableNotFoundException", "Table not found: Missing"),
        "DDB-BACKUP-001",
    ),
    refused(
        "listing_with_bounds_the_wrong_way_round",
        "ListBackups",
        {"TimeRangeLowerBound": 1_700_000_001, "TimeRangeUpperBound": 1_700_000_000},
        validation(f"{INVALID}Time range lower bound must be less than or equal to upper bound"),
        "DDB-BACKUP-014",
    ),
    Vector(
        "listing_of_a_table_that_is_not_there",
        operation="ListBackups",
        request={"TableName": "Missing"},
        answer={"BackupSummaries": []},
        evidence=f"{ACK}DDB-BACKUP-014",
    ),
    Vector(
        "a_backup_is_created",
        operation="CreateBackup",
        tables=[HASH],
        request={"TableName": "Hash", "BackupName": "first"},
        answer={
            "BackupDetails": including(
                {"BackupName": "first", "BackupStatus": "CREATING", "BackupType": "USER"}
            )
        },
        evidence=f"{ACK}DDB-BACKUP-003, 004",
    ),
    Vector(
        "a_backup_is_deleted",
        operation="DeleteBackup",
        tables=[HASH],
        before=[("CreateBackup", {"TableName": "Hash", "BackupName": "first"})],
        request={"BackupArn": MADE},
        answer={
            "BackupDescription": including(
                {"BackupDetails": including({"BackupName": "first", "BackupStatus": "DELETED"})}
            )
        },
        evidence=f"{ACK}DDB-BACKUP-005",
    ),
    Vector(
        "restoring_into_a_table_that_is_there",
        operation="RestoreTableFromBackup",
        tables=[HASH],
        before=[("CreateBackup", {"TableName": "Hash", "BackupName": "first"})],
        request={"BackupArn": MADE, "TargetTableName": "Hash"},
        error=Refusal("TableAlreadyExistsException", "Table already exists: Hash"),
        evidence=f"{ACK}DDB-TABLE-219",
    ),
]
