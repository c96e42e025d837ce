"""How a table describes itself (TableDescription)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from singletable.engine.tables import TableDescription
from singletable.engine.throughput import decreases_today, warm_setting, warm_units
from singletable.storage.definitions import (
    BillingMode,
    IndexDefinition,
    KeySchema,
    TableDefinition,
    Throughput,
)
from singletable.storage.reading import Counts
from singletable.wire.arns import partition_of
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, OperationContext

# AWS leaves these out for a table that is being deleted (AWS CLI reference, delete-table: the example).
_NOT_OF_DELETED: Final = (
    *("AttributeDefinitions", "CreationDateTime", "GlobalSecondaryIndexes", "KeySchema"),
    *("LocalSecondaryIndexes", "WarmThroughput"),
)


def table_description(session: OperationContext, described: TableDescription, form: Form) -> Answer:
    table = described.definition
    counts = described.counts[table.id]
    arn = session.table_arn(table.name)
    answer: Answer = {
        # Sorted, not in the order of the request (ack-api-quirks, DDB-TABLE-125).
        "AttributeDefinitions": [
            {"AttributeName": attribute.name, "AttributeType": attribute.type}
            for attribute in sorted(table.attributes, key=lambda attribute: attribute.name)
        ],
        "TableName": table.name,
        "KeySchema": key_schema(table.key),
        "TableStatus": described.status,
        "CreationDateTime": form.time(table.created_us),
        "ProvisionedThroughput": provisioned(table.throughput, table.settings, described.now_us, form),
        "TableSizeBytes": counts.item_bytes,
        "ItemCount": counts.items,
        "TableArn": arn,
        "TableId": table.uuid,
        "DeletionProtectionEnabled": table.deletion_protected,
        **billing_summary(described, form),
    }
    for name, is_global in (("LocalSecondaryIndexes", False), ("GlobalSecondaryIndexes", True)):
        indexes = [_index(described, i, arn, form) for i in table.indexes if i.is_global is is_global]
        if indexes:
            answer[name] = indexes
    answer.update(_stream(table, arn))
    answer.update(_restore(session, table, form))
    answer.update(_settings(session, described, form))
    if described.status == "DELETING":
        return {name: value for name, value in answer.items() if name not in _NOT_OF_DELETED}
    return answer


def key_schema(key: KeySchema) -> list[Answer]:
    return [
        *({"AttributeName": attribute.name, "KeyType": "HASH"} for attribute in key.partition),
        *({"AttributeName": attribute.name, "KeyType": "RANGE"} for attribute in key.sort),
    ]


def index_info(index: IndexDefinition) -> Answer:
    """Describe the definition of an index, without its counts."""
    projection: Answer = {"ProjectionType": index.projection.kind}
    if index.projection.attributes:
        projection["NonKeyAttributes"] = sorted(index.projection.attributes)
    return {"IndexName": index.name, "KeySchema": key_schema(index.key), "Projection": projection}


def _index(described: TableDescription, index: IndexDefinition, table_arn: str, form: Form) -> Answer:
    counts = described.counts.get(index.id, Counts(0, 0))
    answer: Answer = {
        **index_info(index),
        "IndexSizeBytes": counts.item_bytes,
        "ItemCount": counts.items,
        "IndexArn": f"{table_arn}/index/{index.name}",
    }
    if not index.is_global:
        return answer
    status = described.index_statuses.get(index.name, index.status)
    answer["IndexStatus"] = status
    if index.status == "CREATING" == status:
        # The answer to UpdateTable says that the index has its place, but nothing in it yet.
        answer["Backfilling"] = index.name not in described.index_statuses
    answer["ProvisionedThroughput"] = provisioned(index.throughput, index.settings, described.now_us, form)
    if described.status != "CREATING":  # the answer to CreateTable has none (DDB-TABLE-138)
        updating = index.name in described.updating_indexes
        answer.update(warm(index.settings, described.definition.billing, index.throughput, updating=updating))
    answer.update(on_demand(index.settings))
    return answer


def _stream(table: TableDefinition, table_arn: str) -> Answer:
    answer: Answer = {}
    if table.stream is not None:
        answer["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream.view}
    if table.stream_label is not None:
        # The label of the newest stream stays in the description when streams are turned off.
        answer["LatestStreamLabel"] = table.stream_label
        answer["LatestStreamArn"] = f"{table_arn}/stream/{table.stream_label}"
    return answer


def _restore(session: OperationContext, table: TableDefinition, form: Form) -> Answer:
    restore = table.restore
    if restore is None or not restore.in_progress:  # it is told only so long (ack-api-quirks, DDB-TABLE-216)
        return {}
    answer: Answer = {
        "SourceTableArn": session.table_arn(restore.source_table),
        "RestoreDateTime": form.time(restore.at_us),
        "RestoreInProgress": restore.in_progress,
    }
    if restore.backup_arn is not None:
        answer["SourceBackupArn"] = restore.backup_arn
    return {"RestoreSummary": answer}


def _settings(session: OperationContext, described: TableDescription, form: Form) -> Answer:
    table, settings = described.definition, described.definition.settings
    is_updating = "SSESpecification" in described.updating
    answer: Answer = {**encryption(session, settings, updating=is_updating), **on_demand(settings)}
    if "TableClass" in settings:
        answer["TableClassSummary"] = {"TableClass": settings["TableClass"]}
        if "TableClassLastUpdateDateTime" in settings:
            changed = form.time(settings["TableClassLastUpdateDateTime"])
            answer["TableClassSummary"]["LastUpdateDateTime"] = changed
    is_new = described.status == "CREATING"
    if not is_new or "WarmThroughput" in settings:  # AWS does not tell the default of a new table yet
        updating = is_new or "WarmThroughput" in described.updating
        answer.update(warm(settings, table.billing, table.throughput, updating=updating))
    return answer


def encryption(session: OperationContext, settings: Mapping[str, Any], *, updating: bool = False) -> Answer:
    if not session.store.may_say_encrypted:
        return {}  # as of a table with the key that AWS owns: of a plain file, ENABLED would not be true
    given = settings.get("SSESpecification")
    if given is None:
        return {"SSEDescription": {"Status": "UPDATING"}} if updating else {}
    answer: Answer = {"Status": "UPDATING" if updating else "ENABLED", "SSEType": "KMS"}
    if "KMSMasterKeyId" in given:
        answer["KMSMasterKeyArn"] = _key_arn(session, given["KMSMasterKeyId"])
    return {"SSEDescription": answer}


def _key_arn(session: OperationContext, key: str) -> str:
    """Return the ARN of a key. An alias is not resolved to its key: there are no keys here."""
    if key.startswith("arn:"):
        return key
    resource = key if key.startswith("alias/") else f"key/{key}"
    return f"arn:{partition_of(session.region)}:kms:{session.region}:{session.account}:{resource}"


# --- throughput ------------------------------------------------------------------------------------------


def provisioned(units: Throughput, settings: Mapping[str, Any], now_us: int, form: Form) -> Answer:
    changes = settings.get("ThroughputChanges", {})
    answer: Answer = {
        name: form.time(changes[name])
        for name in ("LastIncreaseDateTime", "LastDecreaseDateTime")
        if name in changes
    }
    return {
        **answer,
        "NumberOfDecreasesToday": decreases_today(settings, now_us),
        "ReadCapacityUnits": units.read_units,
        "WriteCapacityUnits": units.write_units,
    }


def billing_summary(described: TableDescription, form: Form) -> Answer:
    table = described.definition
    if table.billing == "PROVISIONED" and table.billing_changed_us is None:
        return {}
    summary: Answer = {"BillingMode": table.billing}
    # The answer to CreateTable does not have the time yet (ack-api-quirks, DDB-TABLE-033).
    if table.billing_changed_us is not None and described.status != "CREATING":
        summary["LastUpdateToPayPerRequestDateTime"] = form.time(table.billing_changed_us)
    return {"BillingModeSummary": summary}


def warm(settings: Mapping[str, Any], billing: BillingMode, units: Throughput, *, updating: bool) -> Answer:
    ready = warm_setting(warm_units(settings, billing, units))
    return {"WarmThroughput": {**ready, "Status": "UPDATING" if updating else "ACTIVE"}}


def on_demand(settings: Mapping[str, Any]) -> Answer:
    limited = settings.get("OnDemandThroughput")
    return {"OnDemandThroughput": dict(limited)} if limited else {}
