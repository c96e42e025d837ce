"""How a table describes itself (TableDescription)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from singletable.engine.tables import TableDescription
from singletable.storage.definitions import IndexDefinition, KeySchema, TableDefinition, Throughput
from singletable.storage.reading import Counts
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, Session


def table_description(session: Session, described: TableDescription, form: Form) -> Answer:
    table = described.definition
    arn = session.table_arn(table.name)
    answer: Answer = {
        "AttributeDefinitions": [
            {"AttributeName": attribute.name, "AttributeType": attribute.type}
            for attribute in table.attributes
        ],
        "TableName": table.name,
        "KeySchema": _key_schema(table.key),
        "TableStatus": described.status,
        "CreationDateTime": form.time(table.created_us),
        "ProvisionedThroughput": _throughput(table.throughput),
        "TableSizeBytes": described.counts.item_bytes,
        "ItemCount": described.counts.items,
        "TableArn": arn,
        "TableId": table.uuid,
        "DeletionProtectionEnabled": table.deletion_protected,
    }
    if table.billing == "PAY_PER_REQUEST" or table.billing_changed_us is not None:
        answer["BillingModeSummary"] = _billing(described, form)
    for name, is_global in (("LocalSecondaryIndexes", False), ("GlobalSecondaryIndexes", True)):
        indexes = [_index(described, index, arn) for index in table.indexes if index.is_global is is_global]
        if is_global and described.deleted_index is not None:
            indexes.append(_index(described, described.deleted_index, arn))
        if indexes:
            answer[name] = indexes
    answer.update(_stream(table, arn))
    answer.update(_settings(table))
    return answer


def _key_schema(key: KeySchema) -> list[Answer]:
    return [
        *({"AttributeName": attribute.name, "KeyType": "HASH"} for attribute in key.partition),
        *({"AttributeName": attribute.name, "KeyType": "RANGE"} for attribute in key.sort),
    ]


def _throughput(throughput: Throughput) -> Answer:
    return {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": throughput.read_units,
        "WriteCapacityUnits": throughput.write_units,
    }


def _billing(described: TableDescription, form: Form) -> Answer:
    table = described.definition
    answer: Answer = {"BillingMode": table.billing}
    # The answer to CreateTable does not have the time yet (ack-api-quirks, DDB-TABLE-033).
    if table.billing_changed_us is not None and described.status != "CREATING":
        answer["LastUpdateToPayPerRequestDateTime"] = form.time(table.billing_changed_us)
    return answer


def _index(described: TableDescription, index: IndexDefinition, table_arn: str) -> Answer:
    counts = described.index_counts.get(index.name, Counts(0, 0))
    projection: Answer = {"ProjectionType": index.projection.kind}
    if index.projection.attributes:
        projection["NonKeyAttributes"] = list(index.projection.attributes)
    answer: Answer = {
        "IndexName": index.name,
        "KeySchema": _key_schema(index.key),
        "Projection": projection,
        "IndexSizeBytes": counts.item_bytes,
        "ItemCount": counts.items,
        "IndexArn": f"{table_arn}/index/{index.name}",
    }
    if index.is_global:
        answer["IndexStatus"] = described.index_statuses.get(index.name, index.status)
        if index.status == "CREATING" == answer["IndexStatus"]:
            # The answer to UpdateTable says that the index has its place, but nothing in it yet.
            answer["Backfilling"] = index.name not in described.index_statuses
        answer["ProvisionedThroughput"] = _throughput(index.throughput)
        answer.update(_on_demand(index.settings))
    return answer


def _stream(table: TableDefinition, table_arn: str) -> Answer:
    answer: Answer = {}
    if table.stream is not None:
        answer["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream.view}
    if table.stream_label_us is not None:
        # The label of the newest stream stays in the description when streams are turned off.
        at = datetime.fromtimestamp(table.stream_label_us / 1_000_000, UTC)
        label = at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}"
        answer["LatestStreamLabel"] = label
        answer["LatestStreamArn"] = f"{table_arn}/stream/{label}"
    return answer


def _settings(table: TableDefinition) -> Answer:
    answer: Answer = {}
    encryption = table.settings.get("SSESpecification")
    if encryption and encryption.get("Enabled"):
        answer["SSEDescription"] = {
            "Status": "ENABLED",
            "SSEType": encryption.get("SSEType") or "KMS",
            **({"KMSMasterKeyArn": encryption["KMSMasterKeyId"]} if encryption.get("KMSMasterKeyId") else {}),
        }
    table_class = table.settings.get("TableClass")
    if table_class:
        answer["TableClassSummary"] = {"TableClass": table_class}
    answer.update(_on_demand(table.settings))
    return answer


def _on_demand(settings: Mapping[str, Any]) -> Answer:
    limited = settings.get("OnDemandThroughput")
    return {"OnDemandThroughput": dict(limited)} if limited else {}
