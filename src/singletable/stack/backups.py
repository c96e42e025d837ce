"""The AWS Backup plan of a table, with its vault and role, from what a blueprint says of backups.

Point-in-time recovery is a setting of the table. Backups on demand are a person's, before a migration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from singletable.blueprint import BackupBlueprint, Blueprint
from singletable.errors import StackError
from singletable.stack.names import logical_id, resource_name
from singletable.stack.resources import Attribute, BackupPlan, BackupRule, Resource, Role, Sub, Trust

_KIND: Final = "aws-backup"
_HOUR: Final = 3  # UTC: few write at night
_WEEK_DAYS: Final = 7
_MONTH_DAYS: Final = 28
_BACKUP_POLICY: Final = "service-role/AWSBackupServiceRolePolicyForBackup"
_RESTORE_POLICY: Final = "service-role/AWSBackupServiceRolePolicyForRestores"


@dataclass(frozen=True, slots=True)
class Backups:
    """A plan and its role."""

    plan: BackupPlan
    role: Role

    def resources(self) -> tuple[Resource, ...]:
        """Return both."""
        return (self.role, self.plan)


def backups_of(
    blueprint: Blueprint,
    *,
    table: str,
    table_id: str,
    region: str,
    environment: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> Backups | None:
    """Make the plan of a table, by its logical id; None if AWS Backup does not back it up in this environment."""
    stages = set((environment or {}).values())
    tags = tags or {}
    wanted = [
        each
        for each in blueprint.table.backups
        if each.kind == _KIND and (not each.environments or stages & set(each.environments))
    ]
    if not wanted:
        return None
    role = Role(
        logical_id("BackupRole"),
        resource_name("role", f"{table}-backups-{region}"),
        Trust(services=("backup.amazonaws.com",)),
        managed=tuple(
            Sub(f"arn:${{AWS::Partition}}:iam::aws:policy/{each}")
            for each in (_BACKUP_POLICY, _RESTORE_POLICY)
        ),
        says=f"AWS Backup copies and restores {table}",
        tags=tags,
    )
    plan = BackupPlan(
        logical_id("Backups"),
        resource_name("backup-plan", f"{table}-backups"),
        resource_name("backup-vault", f"{table}-backups"),
        tuple(_rule(each) for each in wanted),
        (Attribute(table_id, "Arn"),),
        Attribute(role.logical_id, "Arn"),
        tags=tags,
    )
    return Backups(plan, role)


def _rule(backup: BackupBlueprint) -> BackupRule:
    every_days = 1.0 if backup.every_days is None else backup.every_days
    keep_days = None if backup.keep_days is None else math.ceil(backup.keep_days)
    if every_days <= 0 or (keep_days is not None and keep_days < 1):
        raise StackError(
            f"a backup every {every_days:g} days that is kept for {keep_days} days is asked for",
            hint="both are more than none",
        )
    kept = "" if keep_days is None else f"-kept-{keep_days}-days"
    return BackupRule(
        resource_name("backup-rule", f"every-{every_days:g}-days{kept}".replace(".", "_")),
        schedule(every_days),
        keep_days,
    )


def schedule(every_days: float) -> str:
    """Return a cron expression that is due about every so many days, from hours to the first of a month."""
    hours = round(every_days * 24)
    if hours < 24:
        # Hours of a day: those that divide it, so that the night is no shorter.
        step = max(each for each in (1, 2, 3, 4, 6, 8, 12) if each <= max(1, hours))
        return f"cron(0 0/{step} * * ? *)"
    days = round(every_days)
    if days == 1:
        return f"cron(0 {_HOUR} * * ? *)"
    if days == _WEEK_DAYS:
        return f"cron(0 {_HOUR} ? * SUN *)"
    if days < _MONTH_DAYS:
        return f"cron(0 {_HOUR} 1/{days} * ? *)"
    months = max(1, round(days / 30))
    step = max(each for each in (1, 2, 3, 4, 6, 12) if each <= months)
    return f"cron(0 {_HOUR} 1 {'*' if step == 1 else f'1/{step}'} ? *)"
