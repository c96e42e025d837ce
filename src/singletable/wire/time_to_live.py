"""UpdateTimeToLive, DescribeTimeToLive as DynamoDB shapes."""

from __future__ import annotations

from singletable.engine import time_to_live
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, Params, Session, table_name


def update_time_to_live(session: Session, params: Params, form: Form) -> Answer:
    wanted: Params = params["TimeToLiveSpecification"]
    attribute, enabled = wanted["AttributeName"], wanted["Enabled"]
    time_to_live.update_time_to_live(
        session.store, table_name(params["TableName"]), attribute=attribute, enabled=enabled
    )
    # It echoes the request; how far it is, only DescribeTimeToLive says (ack-api-quirks, DDB-TABLE-145).
    return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}}


def describe_time_to_live(session: Session, params: Params, form: Form) -> Answer:
    found = time_to_live.describe_time_to_live(session.store, table_name(params["TableName"]))
    description: Answer = {"TimeToLiveStatus": found.status}
    if found.attribute is not None:
        description["AttributeName"] = found.attribute
    return {"TimeToLiveDescription": description}
