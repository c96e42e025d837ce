"""CreateBackup, DescribeBackup, ListBackups, DeleteBackup, RestoreTableFromBackup as DynamoDB shapes.

The words are answers of Amazon DynamoDB that the "ack-api-quirks" laboratory recorded in October 2026
(DDB-BACKUP-001 to 029, DDB-TABLE-217, 219, 273, 275).
"""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from typing import Final, NamedTuple

from singletable import limits
from singletable.engine import backups
from singletable.engine.backups import ListBackups
from singletable.errors import INVALID, AccessDeniedError, BackupNotFoundError, ValidationError
from singletable.storage.backups.folder import SYSTEM_SUFFIX, BackupKey, BackupRecord, is_backup_id
from singletable.wire.arns import Arn, is_known_region, partition_of
from singletable.wire.descriptions import encryption, index_info, key_schema, on_demand, table_description
from singletable.wire.forms import Form
from singletable.wire.operations.recovery import parse_restored_table
from singletable.wire.parameters import Answer, OperationContext, Params, Run, table_name
from singletable.wire.validation.member_types import time_us
from singletable.wire.validation.violations import TABLE_NAME_LENGTH_MIN, TABLE_NAME_PATTERN


def create_backup(session: OperationContext, params: Params, form: Form) -> Answer:
    name = table_name(params["TableName"])
    record = backups.create_backup(session.store, table=name, name=params["BackupName"], suffix=new_suffix())
    return {"BackupDetails": {**_details(session, record, form), "BackupStatus": "CREATING"}}


def describe_backup(session: OperationContext, params: Params, form: Form) -> Answer:
    named = _named(session, params["BackupArn"])
    record = backups.describe_backup(session.store.backups, named.key, named.arn)
    return {"BackupDescription": _description(session, record, form, named.arn)}


def delete_backup(session: OperationContext, params: Params, form: Form) -> Answer:
    named = _named(session, params["BackupArn"])
    if named.key.type == "SYSTEM":
        record = backups.describe_backup(session.store.backups, named.key, named.arn)
        raise ValidationError(
            f"Invalid Request: User is not allowed to delete the system backup with arn {named.arn}. "
            f"It will automatically expire on {_iso_time(record.expires_us or 0)}"
        )
    record = backups.delete_backup(session.store, named.key, named.arn)
    description = _description(session, record, form, named.arn)
    description["BackupDetails"]["BackupStatus"] = "DELETED"
    return {"BackupDescription": description}


def list_backups(session: OperationContext, params: Params, form: Form) -> Answer:
    lower_us, upper_us = (
        None if bound is None else time_us(bound)
        for bound in (params.get("TimeRangeLowerBound"), params.get("TimeRangeUpperBound"))
    )
    if lower_us is not None and upper_us is not None and lower_us > upper_us:
        raise ValidationError(f"{INVALID}Time range lower bound must be less than or equal to upper bound")
    start, table = params.get("ExclusiveStartBackupArn"), params.get("TableName")
    page = backups.list_backups(
        session.store.backups,
        ListBackups(
            table=None if table is None else table_name(table),
            type=params.get("BackupType") or "USER",
            lower_us=lower_us,
            upper_us=upper_us,
            after=None if start is None else _start(session, start),
            limit=params.get("Limit") or limits.LIST_BACKUPS_MAX,
        ),
    )
    answer: Answer = {"BackupSummaries": [_summary(session, record, form) for record in page.records]}
    if page.has_more:
        answer["LastEvaluatedBackupArn"] = backup_arn(session, page.records[-1].key)
    return answer


def restore_table_from_backup(session: OperationContext, params: Params, form: Form) -> Answer:
    named = _named(session, params["BackupArn"])
    if Arn.parse(named.arn) != Arn.parse(backup_arn(session, named.key)) and not params.get(
        "SSESpecificationOverride"
    ):
        raise ValidationError(
            "Invalid Request: sseSpecificationOverride must be provided for cross-region restores"
        )
    description = backups.restore_from_backup(
        session.store, parse_restored_table(params), named.key, named.arn
    )
    return {"TableDescription": table_description(session, description, form)}


# --- ARNs -------------------------------------------------------------------------------------


def new_suffix() -> str:
    """Return the random end of a new backup's id."""
    while (suffix := secrets.token_hex(4)) == SYSTEM_SUFFIX:
        pass
    return suffix


def backup_arn(session: OperationContext, key: BackupKey) -> str:
    return f"{session.table_arn(key.table)}/backup/{key.id}"


class _Named(NamedTuple):
    """The ARN by which a request names a backup, and the backup's key."""

    arn: str
    key: BackupKey


def _named(session: OperationContext, text: str) -> _Named:
    """Return the backup that an ARN names. Its region is not looked at, save that there must be one."""
    arn = Arn.parse(text)
    parts = [] if arn is None else arn.resource.split("/")
    if arn is None or len(parts) != 4 or (parts[0], parts[2]) != ("table", "backup"):
        raise ValidationError("Invalid Backup ARN")
    if arn.region and (
        not is_known_region(arn.region)
        or (arn.partition, arn.service) != (partition_of(arn.region), "dynamodb")
    ):
        raise ValidationError("Invalid Request: BackupArn is not valid")
    if not arn.region or arn.account != session.account:
        raise AccessDeniedError("Access is denied")
    _, table, _, identity = parts
    is_name = len(table) >= TABLE_NAME_LENGTH_MIN and re.fullmatch(TABLE_NAME_PATTERN, table)
    if not is_name or not is_backup_id(identity):  # they become names of files
        raise BackupNotFoundError(f"Backup not found: {text}")
    return _Named(text, BackupKey(identity, table))


def _start(session: OperationContext, text: str) -> BackupKey:
    """Return the place that a page begins behind; no backup has to be there."""
    arn = Arn.parse(text)
    if arn is not None and arn.region != session.region and is_known_region(arn.region):
        raise ValidationError(
            "Invalid Request: The supplied ExclusiveStartBackupArn does not match the region"
        )
    try:
        return _named(session, text).key
    except BackupNotFoundError:
        raise ValidationError("Invalid Backup ARN") from None


# --- descriptions -----------------------------------------------------------------------------


def _details(session: OperationContext, record: BackupRecord, form: Form) -> Answer:
    answer: Answer = {
        "BackupArn": backup_arn(session, record.key),
        "BackupName": record.name,
        "BackupSizeBytes": record.item_bytes,
        "BackupStatus": "AVAILABLE" if record.is_made else "CREATING",
        "BackupType": record.key.type,
        "BackupCreationDateTime": form.time(record.created_us),
    }
    if record.expires_us is not None:
        answer["BackupExpiryDateTime"] = form.time(record.expires_us)
    return answer


def _summary(session: OperationContext, record: BackupRecord, form: Form) -> Answer:
    table = record.definition
    return {
        "TableName": table.name,
        "TableId": table.uuid,
        "TableArn": session.table_arn(table.name),
        **_details(session, record, form),
    }


def _description(session: OperationContext, record: BackupRecord, form: Form, arn: str) -> Answer:
    # The ARN is echoed as it was given, with any region (DDB-BACKUP-012).
    return {
        "BackupDetails": {**_details(session, record, form), "BackupArn": arn},
        "SourceTableDetails": _source(session, record, form),
        "SourceTableFeatureDetails": _features(session, record) if record.key.type == "USER" else {},
    }


def _source(session: OperationContext, record: BackupRecord, form: Form) -> Answer:
    table = record.definition
    return {
        "TableName": table.name,
        "TableId": table.uuid,
        "TableArn": session.table_arn(table.name),
        "TableSizeBytes": record.item_bytes,
        "KeySchema": key_schema(table.key),
        "TableCreationDateTime": form.time(table.created_us),
        "ProvisionedThroughput": _units(table.throughput.read_units, table.throughput.write_units),
        **on_demand(table.settings),
        "ItemCount": record.items,
        "BillingMode": table.billing,
    }


def _features(session: OperationContext, record: BackupRecord) -> Answer:
    """Describe the features a restored table may get again; absent ones are omitted (DDB-BACKUP-009, 021)."""
    table = record.definition
    answer: Answer = {}
    if local := [index_info(index) for index in table.indexes if not index.is_global]:
        answer["LocalSecondaryIndexes"] = local
    if shared := [
        {
            **index_info(index),
            "ProvisionedThroughput": _units(index.throughput.read_units, index.throughput.write_units),
            **on_demand(index.settings),
        }
        for index in table.indexes
        if index.is_global
    ]:
        answer["GlobalSecondaryIndexes"] = shared
    if table.stream is not None:
        answer["StreamDescription"] = {"StreamEnabled": True, "StreamViewType": table.stream.view}
    if table.ttl is not None:
        answer["TimeToLiveDescription"] = {
            "TimeToLiveStatus": "ENABLED",
            "AttributeName": table.ttl.attribute,
        }
    return {**answer, **encryption(session, table.settings)}


def _units(read_units: int, write_units: int) -> Answer:
    return {"ReadCapacityUnits": read_units, "WriteCapacityUnits": write_units}


def _iso_time(at_us: int) -> str:
    return datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


RUN: Final[dict[str, Run]] = {
    "CreateBackup": create_backup,
    "DeleteBackup": delete_backup,
    "DescribeBackup": describe_backup,
    "ListBackups": list_backups,
    "RestoreTableFromBackup": restore_table_from_backup,
}
