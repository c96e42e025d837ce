"""Tables as DynamoDB shapes: describing, listing and deleting them, their time to live, the account's limits."""

from __future__ import annotations

from typing import Final

from singletable import limits
from singletable.engine import tables, time_to_live
from singletable.wire.descriptions import table_description
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, OperationContext, Params, Run, table_name

_ENDPOINT_CACHE_MINUTES: Final = 1440


def describe_table(session: OperationContext, params: Params, form: Form) -> Answer:
    description = tables.describe_table(session.store, table_name(params["TableName"]))
    return {"Table": table_description(session, description, form)}


def delete_table(session: OperationContext, params: Params, form: Form) -> Answer:
    description = tables.delete_table(session.store, table_name(params["TableName"]))
    return {"TableDescription": table_description(session, description, form)}


def list_tables(session: OperationContext, params: Params, form: Form) -> Answer:
    page = tables.list_tables(
        session.store,
        start=params.get("ExclusiveStartTableName"),
        limit=params.get("Limit") or limits.LIST_TABLES_MAX,
    )
    answer: Answer = {"TableNames": page.names}
    if page.last is not None:
        answer["LastEvaluatedTableName"] = page.last
    return answer


def update_time_to_live(session: OperationContext, params: Params, form: Form) -> Answer:
    wanted: Params = params["TimeToLiveSpecification"]
    attribute, enabled = wanted["AttributeName"], wanted["Enabled"]
    time_to_live.update_time_to_live(
        session.store, table_name(params["TableName"]), attribute=attribute, enabled=enabled
    )
    # It echoes the request; how far it is, only DescribeTimeToLive says (ack-api-quirks, DDB-TABLE-145).
    return {"TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": attribute}}


def describe_time_to_live(session: OperationContext, params: Params, form: Form) -> Answer:
    found = time_to_live.describe_time_to_live(session.store, table_name(params["TableName"]))
    description: Answer = {"TimeToLiveStatus": found.status}
    if found.attribute is not None:
        description["AttributeName"] = found.attribute
    return {"TimeToLiveDescription": description}


def describe_limits(session: OperationContext, params: Params, form: Form) -> Answer:
    # The defaults of every account (AWS guide, "Quotas"; ack-api-quirks, DDB-TABLE-131).
    return {
        "AccountMaxReadCapacityUnits": limits.ACCOUNT_UNITS_MAX,
        "AccountMaxWriteCapacityUnits": limits.ACCOUNT_UNITS_MAX,
        "TableMaxReadCapacityUnits": limits.TABLE_UNITS_MAX,
        "TableMaxWriteCapacityUnits": limits.TABLE_UNITS_MAX,
    }


def describe_endpoints(session: OperationContext, params: Params, form: Form) -> Answer:
    # AWS's own address of the region, as AWS answers. No SDK follows it that was told an endpoint: they turn
    # endpoint discovery off, or refuse to combine the two.
    suffix = ".cn" if session.region.startswith("cn-") else ""
    address = f"dynamodb.{session.region}.amazonaws.com{suffix}"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": _ENDPOINT_CACHE_MINUTES}]}


RUN: Final[dict[str, Run]] = {
    "DeleteTable": delete_table,
    "DescribeEndpoints": describe_endpoints,
    "DescribeLimits": describe_limits,
    "DescribeTable": describe_table,
    "DescribeTimeToLive": describe_time_to_live,
    "ListTables": list_tables,
    "UpdateTimeToLive": update_time_to_live,
}
