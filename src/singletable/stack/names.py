"""Names of resources, cut to AWS's limits: the same name every time, and no two texts under one.

A name that is too long keeps its beginning, and ends in a digest of the whole.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

# Each as the reference of its service has it.
LENGTH_MAX: Final = {
    "function": 64,  # Lambda, CreateFunction, "FunctionName"
    "role": 64,  # IAM, CreateRole, "RoleName"
    "queue": 80,  # SQS, CreateQueue, "QueueName"
    "topic": 256,  # SNS, CreateTopic, "Name"
    "schedule-group": 64,  # EventBridge Scheduler, CreateScheduleGroup, "Name"
    "schedule": 64,  # EventBridge Scheduler, CreateSchedule, "Name"
    "alarm": 255,  # CloudWatch, PutMetricAlarm, "AlarmName"
    "dashboard": 255,  # CloudWatch, PutDashboard, "DashboardName"
    "bucket": 63,  # S3, "General purpose bucket naming rules"
    "log-group": 512,  # CloudWatch Logs, CreateLogGroup, "logGroupName"
    "backup-plan": 50,  # AWS Backup, CreateBackupPlan, "BackupPlanName"
    "backup-vault": 50,  # AWS Backup, CreateBackupVault, "BackupVaultName"
    "backup-rule": 50,  # AWS Backup, BackupRuleInput, "RuleName"
    "logical-id": 255,  # CloudFormation, "Template format", Resources
}
_DIGEST_LENGTH: Final = 8
_NOT_IN_NAMES: Final = re.compile(r"[^0-9A-Za-z_-]+")
_NOT_IN_LOG_GROUPS: Final = re.compile(r"[^0-9A-Za-z_/.#-]+")
_WORD: Final = re.compile(r"[0-9A-Za-z]+")


def resource_name(kind: str, name: str) -> str:
    """Return a name that a kind of resource takes: letters, digits, - and _, and not too long."""
    allowed = _NOT_IN_LOG_GROUPS if kind == "log-group" else _NOT_IN_NAMES
    return _cut(name, allowed.sub("-", name), LENGTH_MAX[kind])


def logical_id(*parts: str) -> str:
    """Return a logical id of CloudFormation, which is letters and digits, for some words."""
    words = [word for part in parts for word in _WORD.findall(part)]
    plain = "".join(word[0].upper() + word[1:] for word in words)
    # Joined without a separator, other words may give the same text: those that lose something get a digest.
    has_lost = any(not _WORD.fullmatch(part) for part in parts)
    return _cut("\0".join(parts), plain, LENGTH_MAX["logical-id"], has_lost=has_lost, separator="")


def _cut(
    given: str, plain: str, length_max: int, *, has_lost: bool | None = None, separator: str = "-"
) -> str:
    """Return the plain form of a name if it says all of it; otherwise its beginning, and a digest of the whole.

    A name that UTF-8 cannot say has a digest too; the template, which cannot be written, says what is wrong.
    """
    is_changed = plain != given if has_lost is None else has_lost
    if not is_changed and 0 < len(plain) <= length_max:
        return plain
    digest = sha256(given.encode(errors="surrogatepass")).hexdigest()[:_DIGEST_LENGTH]
    kept = plain[: length_max - _DIGEST_LENGTH - len(separator)].rstrip(separator or None)
    return f"{kept}{separator}{digest}" if kept else f"N{digest}"
