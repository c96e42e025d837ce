"""CreateTable, DescribeTable, ListTables, UpdateTable, DeleteTable as DynamoDB shapes."""

from __future__ import annotations

from singletable import limits
from singletable.engine import table_updates, tables
from singletable.wire.descriptions import table_description
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, Params, Session, table_name
from singletable.wire.table_requests import parse_create_table
from singletable.wire.table_updates import parse_update_table


def create_table(session: Session, params: Params, form: Form) -> Answer:
    description = tables.create_table(session.store, parse_create_table(params), region=session.region)
    return {"TableDescription": table_description(session, description, form)}


def describe_table(session: Session, params: Params, form: Form) -> Answer:
    description = tables.describe_table(session.store, table_name(params["TableName"]))
    return {"Table": table_description(session, description, form)}


def update_table(session: Session, params: Params, form: Form) -> Answer:
    request = parse_update_table(params)
    description = table_updates.update_table(
        session.store, request, region=session.region, throttle=session.throttle
    )
    return {"TableDescription": table_description(session, description, form)}


def delete_table(session: Session, params: Params, form: Form) -> Answer:
    description = tables.delete_table(session.store, table_name(params["TableName"]))
    return {"TableDescription": table_description(session, description, form)}


def list_tables(session: Session, params: Params, form: Form) -> Answer:
    page = tables.list_tables(
        session.store,
        start=params.get("ExclusiveStartTableName"),
        limit=params.get("Limit") or limits.LIST_TABLES_MAX,
    )
    answer: Answer = {"TableNames": page.names}
    if page.last is not None:
        answer["LastEvaluatedTableName"] = page.last
    return answer
