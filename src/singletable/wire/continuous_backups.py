"""DescribeContinuousBackups, UpdateContinuousBackups, RestoreTableToPointInTime as DynamoDB shapes."""

from __future__ import annotations

from singletable.engine import recovery
from singletable.engine.recovery import Recovery
from singletable.errors import ValidationError
from singletable.wire.arns import Arn, check_place
from singletable.wire.descriptions import table_description
from singletable.wire.forms import Form
from singletable.wire.member_types import time_us
from singletable.wire.parameters import Answer, Params, Session, table_name
from singletable.wire.restore_requests import parse_restored_table


def describe_continuous_backups(session: Session, params: Params, form: Form) -> Answer:
    found = recovery.describe_recovery(session.store, table_name(params["TableName"]))
    return {"ContinuousBackupsDescription": _description(found, form)}


def update_continuous_backups(session: Session, params: Params, form: Form) -> Answer:
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


def restore_table_to_point_in_time(session: Session, params: Params, form: Form) -> Answer:
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
            # Times are told in milliseconds: the next one, so that what is told can be asked for.
            "EarliestRestorableDateTime": form.time(earliest_us + 999),
            "LatestRestorableDateTime": form.time(max(latest_us, earliest_us + 999)),
        }
    # "Continuous backups are ENABLED on all tables at table creation" (botocore).
    return {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": described}


# The words are those of the "ack-api-quirks" laboratory (DDB-TABLE-100, 272, 274).


def _source(session: Session, params: Params) -> str:
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
