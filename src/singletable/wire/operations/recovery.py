"""DescribeContinuousBackups, UpdateContinuousBackups, RestoreTableToPointInTime; the table of any restore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from singletable.engine import recovery
from singletable.engine.recovery import Recovery
from singletable.engine.restores import RestoreTable
from singletable.engine.tables import NewIndex
from singletable.errors import INVALID, ValidationError
from singletable.wire.arns import Arn, check_place
from singletable.wire.descriptions import table_description
from singletable.wire.forms import Form
from singletable.wire.operations.create_table import new_uuid
from singletable.wire.parameters import Answer, OperationContext, Params, Run, refuse_unsupported, table_name
from singletable.wire.table_parts import new_index, table_settings, throughput
from singletable.wire.validation.member_types import time_us


def describe_continuous_backups(session: OperationContext, params: Params, form: Form) -> Answer:
    found = recovery.describe_recovery(session.store, table_name(params["TableName"]))
    return {"ContinuousBackupsDescription": _description(found, form)}


def update_continuous_backups(session: OperationContext, params: Params, form: Form) -> Answer:
    wanted: Params = params["PointInTimeRecoverySpecification"]
    enabled, days = wanted["PointInTimeRecoveryEnabled"], wanted.get("RecoveryPeriodInDays")
    if days is not None and not enabled:  # ack-api-quirks, DDB-TABLE-084
        raise ValidationError(
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        )
    found = recovery.update_recovery(
        session.store, table_name(params["TableName"]), enabled=enabled, days=days
    )
    return {"ContinuousBackupsDescription": _description(found, form)}


def restore_table_to_point_in_time(session: OperationContext, params: Params, form: Form) -> Answer:
    at_us, source = _moment(params), _source(session, params)
    description = recovery.restore_to_point_in_time(
        session.store, source, parse_restored_table(params), at_us=at_us
    )
    return {"TableDescription": table_description(session, description, form)}


def _description(found: Recovery | None, form: Form) -> Answer:
    if found is None:
        described: Answer = {"PointInTimeRecoveryStatus": "DISABLED"}
    else:
        earliest_us, latest_us = found.window
        described = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": found.days,
            # Times are told in milliseconds: rounded up, so that a client can restore to the time it was told.
            "EarliestRestorableDateTime": form.time(earliest_us + 999),
            "LatestRestorableDateTime": form.time(max(latest_us, earliest_us + 999)),
        }
    # "Continuous backups are ENABLED on all tables at table creation" (botocore).
    return {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": described}


# The words are those of the "ack-api-quirks" laboratory (DDB-TABLE-100, 272, 274).


def _source(session: OperationContext, params: Params) -> str:
    """Return the name of the table that is to be restored."""
    name, arn_text = params.get("SourceTableName"), params.get("SourceTableArn")
    if name is not None and arn_text is not None:
        raise ValidationError("Must provide exactly one of: sourceTableArn, sourceTableName")
    if arn_text is None:
        if name is None:
            raise ValidationError("The parameter 'TableName' is required but was not present in the request")
        return str(name)
    arn = Arn.parse(arn_text)
    if arn is None or not arn.resource.startswith("table/"):
        raise ValidationError("sourceTableArn is not a valid ARN")
    if arn.account != session.account:
        raise ValidationError(
            "This action is only supported by accounts that match the resource owner's account"
        )
    if arn.region != session.region and params.get("SSESpecificationOverride") is None:
        raise ValidationError(
            "Invalid Request: sseSpecificationOverride must be provided for cross-region restores"
        )
    check_place(arn, arn_text, session.region, session.account)
    return table_name(arn_text)


def _moment(params: Params) -> int | None:
    """Return the moment to which the table is to be restored; None for the latest."""
    at, latest = params.get("RestoreDateTime"), params.get("UseLatestRestorableTime")
    if at is not None and latest:
        raise ValidationError(
            "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time "
            "restore request. Please set only one of them"  # how it goes on behind "Pleas" was not recorded
        )
    if at is None and not latest:
        raise ValidationError(
            "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not "
            "both"
        )
    return None if at is None else time_us(at)


# --- the table that is restored into ---------------------------------------------------------------------


def parse_restored_table(params: Params) -> RestoreTable:
    """Return the new table of a restore: its name, and the settings that override its source's."""
    refuse_unsupported(params)
    _check_not_warm(params)
    units = params.get("ProvisionedThroughputOverride")
    return RestoreTable(
        name=table_name(params["TargetTableName"]),
        uuid=new_uuid(),
        billing=params.get("BillingModeOverride"),
        throughput=None if units is None else throughput(units),
        local_indexes=_indexes(params.get("LocalSecondaryIndexOverride"), is_global=False),
        global_indexes=_indexes(params.get("GlobalSecondaryIndexOverride"), is_global=True),
        settings=_settings(params),
    )


def _check_not_warm(params: Params) -> None:
    for index in params.get("GlobalSecondaryIndexOverride") or ():
        if index.get("WarmThroughput") is not None:
            # "causes the request to fail with a validation error" (botocore). Nobody has recorded its words.
            raise ValidationError(
                f"{INVALID}WarmThroughput is not supported for index: {index['IndexName']} of a restored table"
            )


def _indexes(given: Sequence[Params] | None, *, is_global: bool) -> tuple[NewIndex, ...] | None:
    return None if given is None else tuple(new_index(index, is_global=is_global) for index in given)


def _settings(params: Params) -> dict[str, Any]:
    """Return the settings that are overridden, by the names that they have in other requests."""
    return table_settings(
        {
            "SSESpecification": params.get("SSESpecificationOverride"),
            "OnDemandThroughput": params.get("OnDemandThroughputOverride"),
        }
    )


RUN: Final[dict[str, Run]] = {
    "DescribeContinuousBackups": describe_continuous_backups,
    "RestoreTableToPointInTime": restore_table_to_point_in_time,
    "UpdateContinuousBackups": update_continuous_backups,
}
