"""BatchGetItem and BatchWriteItem as DynamoDB shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from singletable import limits
from singletable.engine import batches
from singletable.engine.requests import (
    BatchGetItem,
    BatchGetTable,
    BatchWriteItem,
    DeleteItem,
    PutItem,
    Report,
)
from singletable.engine.results import CollectionSize, WritesResult
from singletable.errors import ValidationError
from singletable.wire.forms import Form, take_item, take_key
from singletable.wire.parameters import (
    Answer,
    Params,
    Session,
    collection_metrics,
    consumed_capacity,
    projection_only,
    refuse_legacy,
    report,
    reports_collections,
    table_name,
)


def batch_get_item(session: Session, params: Params, form: Form) -> Answer:
    request = parse_batch_get(params, form)
    result = batches.batch_get_item(session.store, request)
    tables = params["RequestItems"]
    answer: Answer = {
        "Responses": {table: form.items(items) for table, items in result.items.items()},
        "UnprocessedKeys": {
            name: _unprocessed(
                tables[name], [form.item(part.keys[i]) for i in result.unprocessed[part.table]]
            )
            for name, part in zip(tables, request.tables, strict=True)
            if part.table in result.unprocessed
        },
    }
    if result.consumed:
        answer["ConsumedCapacity"] = [consumed_capacity(part, request.report) for part in result.consumed]
    return answer


def _unprocessed(part: Params, keys: list[Any]) -> Answer:
    """Return what is to be sent again for one table. It shares nothing with the request."""
    given = {name: value for name, value in part.items() if value is not None}
    if "ExpressionAttributeNames" in given:
        given["ExpressionAttributeNames"] = dict(given["ExpressionAttributeNames"])
    return {**given, "Keys": keys}


def parse_batch_get(params: Params, form: Form) -> BatchGetItem:
    tables = params["RequestItems"]
    if len({table_name(name) for name in tables}) != len(tables):
        raise ValidationError("One or more parameter values were invalid: A table is named twice")
    if sum(len(part["Keys"]) for part in tables.values()) > limits.BATCH_GET_ITEMS_MAX:
        raise ValidationError("Too many items requested for the BatchGetItem call")
    return BatchGetItem(
        tables=[_get_table(name, part, form) for name, part in tables.items()], report=report(params)
    )


def _get_table(name: str, part: Params, form: Form) -> BatchGetTable:
    refuse_legacy(part)
    return BatchGetTable(
        table=table_name(name),
        keys=[take_key(key, form) for key in part["Keys"]],
        projection=projection_only(part, form),
        consistent=bool(part.get("ConsistentRead")),
    )


def batch_write_item(session: Session, params: Params, form: Form) -> Answer:
    request = parse_batch_write(params, form)
    result = batches.batch_write_item(session.store, request)
    return {"UnprocessedItems": {}, **writes_answer(result, request.report, form)}


def parse_batch_write(params: Params, form: Form) -> BatchWriteItem:
    entries = [(name, entry) for name, part in params["RequestItems"].items() for entry in part]
    if len(entries) > limits.BATCH_WRITE_ITEMS_MAX:
        raise ValidationError("Too many items requested for the BatchWriteItem call")
    return BatchWriteItem(
        writes=[_write(name, entry, form) for name, entry in entries],
        report=report(params),
        reports_collections=reports_collections(params),
    )


def _write(name: str, entry: Params, form: Form) -> PutItem | DeleteItem:
    put, delete = entry.get("PutRequest"), entry.get("DeleteRequest")
    if (put is None) == (delete is None):
        # AWS says the same of none as of two (dynalite).
        raise ValidationError(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
            "datatypes"
        )
    if put is None:
        assert delete is not None
        return DeleteItem(table=table_name(name), key=take_key(delete["Key"], form, older=True))
    item, item_bytes = take_item(put["Item"], form, older=True)
    return PutItem(table=table_name(name), item=item, item_bytes=item_bytes)


def writes_answer(result: WritesResult, wanted: Report, form: Form, *, split: str | None = None) -> Answer:
    """Render what batches and transactions of writes have in common."""
    answer: Answer = {}
    if result.consumed:
        answer["ConsumedCapacity"] = [
            consumed_capacity(part, wanted, split=split) for part in result.consumed
        ]
    if result.collections:
        answer["ItemCollectionMetrics"] = _metrics_by_table(result.collections, form)
    return answer


def _metrics_by_table(sizes: Iterable[CollectionSize], form: Form) -> dict[str, list[Any]]:
    tables: dict[str, list[Any]] = {}
    for size in sizes:
        metrics = collection_metrics(size, form)
        if metrics not in tables.setdefault(size.table, []):
            tables[size.table].append(metrics)
    return tables
