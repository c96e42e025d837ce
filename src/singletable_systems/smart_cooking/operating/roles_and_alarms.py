"""How Smart Cooking is operated on AWS: who may do what, what wakes somebody up, what is kept and for how long."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from singletable.blueprint import BackupBlueprint, Blueprint
from singletable.stack import (
    Alarm,
    Deployment,
    Policy,
    Roles,
    Statement,
    roles_of,
    standard_alarms,
    with_roles_and_alarms,
)
from singletable.systems import bucket_name
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking

ARCHIVE: Final = "archive"
BACKUP_KEPT_DAYS: Final = 90  # three months, 002:637
_BACKUP_AT: Final = "cron(0 3 ? * SUN *)"  # weekly, 002:636; SC-52: and one by hand before a migration


def roles(deployment: Deployment) -> Roles:
    """Return who may do what: the app reads or writes, the function follows the stream, a person maintains."""
    return roles_of(SmartCooking.blueprint(), deployment)


def alarms(deployment: Deployment) -> tuple[Alarm, ...]:
    """Return the alarms of the table; the documents only name CloudWatch (000:87)."""
    return standard_alarms(SmartCooking.blueprint(), deployment)


def weekly_backups(deployment: Deployment, *, vault: str) -> dict[str, Any]:
    """Return the plan that AWS Backup follows: the arguments of CreateBackupPlan."""
    rule = {
        "RuleName": "weekly",
        "TargetBackupVaultName": vault,
        "ScheduleExpression": _BACKUP_AT,
        "Lifecycle": {"DeleteAfterDays": BACKUP_KEPT_DAYS},
    }
    return {"BackupPlan": {"BackupPlanName": f"{_table(deployment)}-weekly", "Rules": [rule]}}


def backed_up(deployment: Deployment, *, plan_id: str, role_arn: str) -> dict[str, Any]:
    """Return what such a plan backs up, the table and nothing else: the arguments of CreateBackupSelection."""
    table = _table(deployment)
    return {
        "BackupPlanId": plan_id,
        "BackupSelection": {
            "SelectionName": table,
            "IamRoleArn": role_arn,
            "Resources": [deployment.table_arn(table)],
        },
    }


def archiving(deployment: Deployment, *, bucket: str, prefix: str = "") -> Policy:
    """Return the policy for the archive in S3, which the function behind the stream needs too (SC-29)."""
    objects = f"arn:{deployment.partition}:s3:::{bucket}/{prefix}*"
    return Policy(
        f"{_table(deployment)}-archiving", (Statement("ArchiveHistory", ("s3:PutObject",), (objects,)),)
    )


def policies(deployment: Deployment) -> tuple[Policy, ...]:
    """Return all policies, with that for the archive in the bucket of the stack."""
    place = {"table": _table(deployment), "account": deployment.account, "region": deployment.region}
    return (*roles(deployment).all(), archiving(deployment, bucket=bucket_name(ARCHIVE, **place)))


def surroundings(blueprint: Blueprint) -> Blueprint:
    """Return a blueprint with what stands around the table: weekly backups, roles and alarms."""
    weekly = BackupBlueprint("aws-backup", keep_days=BACKUP_KEPT_DAYS, every_days=7)
    table = replace(blueprint.table, backups=(weekly,))
    return with_roles_and_alarms(replace(blueprint, table=table), policies=policies, alarms=alarms)


def _table(deployment: Deployment) -> str:
    return deployment.table_name(SmartCooking.table.name)
