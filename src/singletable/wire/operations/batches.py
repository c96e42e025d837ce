"""BatchGetItem and BatchWriteItem as DynamoDB shapes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

import orjson

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
from singletable.errors import INVALID, ValidationError
from singletable.values.types import Item
from singletable.wire.forms import Form, take_item, take_key
from singletable.wire.legacy import GET, attributes_to_get, refuse_mixing, uses_legacy
from singletable.wire.parameters import (
    Answer,
    OperationContext,
    Outcome,
    Params,
    Run,
    Waiting,
    as_given,
    check_placeholders,
    collection_metrics,
    consumed_capacity,
    projection_only,
    report,
    reports_collections,
    table_name,
)


def batch_get_item(session: OperationContext, params: Params, form: Form) -> Outcome:
    request = _get_request(params, form)
    result = batches.batch_get_item(session.reads, request, session.patience, session.throttle)
    tables = params["RequestItems"]
    answer: Answer = {
        # By the name or ARN in the request: "a map of table name or table ARN to a list of items" (API reference).
        "Responses": {
            name: form.items(items) for name, items in zip(tables, result.items.values(), strict=True)
        },
        "UnprocessedKeys": {
            name: _unprocessed(
                tables[name], [form.item(part.keys[i]) for i in result.unprocessed[part.table]]
            )
            for name, part in zip(tables, request.tables, strict=True)
            if part.table in result.unprocessed
        },
    }
    if request.report != "NONE":
        answer["ConsumedCapacity"] = [
            consumed_capacity(part, request.report, name)
            for name, part in zip(tables, result.consumed, strict=True)
        ]
    return Outcome(answer, result.consumed, returned=sum(map(len, result.items.values())))


def _unprocessed(part: Params, keys: list[Any]) -> Answer:
    """Return the unprocessed keys of one table, to be sent again. The request's objects are copied."""
    given = {name: value for name, value in part.items() if value is not None}
    if "ExpressionAttributeNames" in given:
        given["ExpressionAttributeNames"] = dict(given["ExpressionAttributeNames"])
    if "AttributesToGet" in given:
        given["AttributesToGet"] = list(given["AttributesToGet"])
    return {**given, "Keys": keys}


def _get_request(params: Params, form: Form) -> BatchGetItem:
    tables = params["RequestItems"]
    if len({table_name(name) for name in tables}) != len(tables):
        raise ValidationError(f"{INVALID}A table is named twice")
    if sum(len(part["Keys"]) for part in tables.values()) > limits.BATCH_GET_ITEMS_MAX:
        raise ValidationError("Too many items requested for the BatchGetItem call")
    legacy = _uses_legacy(tables.values())
    return BatchGetItem(
        tables=[_get_table(name, part, form, legacy=legacy) for name, part in tables.items()],
        report=report(params),
    )


def _uses_legacy(parts: Collection[Params]) -> bool:
    """Tell whether AttributesToGet is used; beside it no table has a ProjectionExpression (DynamoDB Local 3.3)."""
    used = [uses_legacy(part, GET) for part in parts]
    if not any(used):
        return False
    for part in parts:
        check_placeholders(part, GET.expressions)
    if any(part.get("ProjectionExpression") is not None for part in parts):
        refuse_mixing(["AttributesToGet"], ["ProjectionExpression"])
    return True


def _get_table(name: str, part: Params, form: Form, *, legacy: bool) -> BatchGetTable:
    # Attributes are looked at before the keys (dynalite's tests).
    projection = attributes_to_get(part) if legacy else projection_only(part, form)
    return BatchGetTable(
        table=table_name(name),
        keys=_read_keys(part["Keys"], form),
        projection=projection,
        consistent=bool(part.get("ConsistentRead")),
    )


def _read_keys(raw_keys: Iterable[Any], form: Form) -> list[Item]:
    """Read the keys one by one: each its values, and then whether it was there before.

    Whether the keys fit the table is asked later (dynalite's tests, DynamoDB Local).
    """
    keys: list[Item] = []
    seen: set[bytes] = set()
    for raw in raw_keys:
        key = take_key(raw, form)
        seen.add(orjson.dumps(key, option=orjson.OPT_SORT_KEYS))
        if len(seen) == len(keys):
            raise ValidationError("Provided list of item keys contains duplicates")
        keys.append(key)
    return keys


def batch_write_item(session: OperationContext, params: Params, form: Form) -> Waiting | Outcome:
    request = _write_request(params, form)
    names = as_given(params["RequestItems"])

    def render(result: WritesResult) -> Outcome:
        unprocessed: dict[str, list[Answer]] = {}
        for write in [request.writes[number] for number in result.unprocessed]:
            unprocessed.setdefault(names[write.table], []).append(_unprocessed_write(write, form))
        answer = {"UnprocessedItems": unprocessed, **writes_answer(result, request.report, names, form)}
        return Outcome(answer, result.consumed)

    if batches.is_large(request) and session.throttle is None and not request.reports_collections:
        return render(batches.write_in_pieces(session.store, request))
    return batches.batch_write(request, session.throttle), render


def _unprocessed_write(write: PutItem | DeleteItem, form: Form) -> Answer:
    """Return an unprocessed write, to be sent again."""
    if isinstance(write, PutItem):
        return {"PutRequest": {"Item": form.item(write.item)}}
    return {"DeleteRequest": {"Key": form.item(write.key)}}


def _write_request(params: Params, form: Form) -> BatchWriteItem:
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


def writes_answer(
    result: WritesResult, wanted: Report, names: Mapping[str, str], form: Form, *, split: str | None = None
) -> Answer:
    """Render the common part of batch and transaction writes; `names` are the tables as the request names them."""
    answer: Answer = {}
    if wanted != "NONE":
        answer["ConsumedCapacity"] = [
            consumed_capacity(part, wanted, names[part.table], split=split) for part in result.consumed
        ]
    if result.collections:
        answer["ItemCollectionMetrics"] = _metrics_by_table(result.collections, names, form)
    return answer


def _metrics_by_table(
    sizes: Iterable[CollectionSize], names: Mapping[str, str], form: Form
) -> dict[str, list[Any]]:
    tables: dict[str, list[Any]] = {}
    for size in sizes:
        tables.setdefault(names[size.table], []).append(collection_metrics(size, form))
    return tables


RUN: Final[dict[str, Run]] = {"BatchGetItem": batch_get_item, "BatchWriteItem": batch_write_item}
