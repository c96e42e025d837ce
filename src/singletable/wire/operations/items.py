"""PutItem, GetItem, UpdateItem, DeleteItem as DynamoDB shapes; the fast way of GetItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import orjson

from singletable.capacity.consumed import Consumed
from singletable.capacity.units import read_units
from singletable.engine import items
from singletable.engine.requests import DeleteItem, GetItem, PutItem, ReturnValues, UpdateItem, Write
from singletable.engine.results import WriteResult
from singletable.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.tables import Table
from singletable.values.keys import partition_bytes
from singletable.values.refused import ValueRefusedError
from singletable.wire.forms import Form, take_item, take_key
from singletable.wire.legacy import (
    GET,
    UPDATE,
    WRITE,
    Vocabulary,
    add_legacy,
    attributes_to_get,
    check_conditional_operator,
    uses_legacy,
)
from singletable.wire.parameters import (
    Answer,
    OperationContext,
    Outcome,
    Params,
    PlainRun,
    Run,
    Waiting,
    check_placeholders,
    collection_metrics,
    condition_only,
    consumed_capacity,
    plain_text,
    projection_only,
    report,
    reports_collections,
    returns_on_failure,
    scope,
    table_name,
)
from singletable.wire.validation.refusals import ONLY_OLD

R = TypeVar("R", PutItem, UpdateItem, DeleteItem)


def get_item(session: OperationContext, params: Params, form: Form) -> Outcome:
    request = _get_request(params, form)
    result = items.get_item(session.reads, request, session.patience, session.throttle)
    answer: Answer = {}
    if result.item is not None:
        answer["Item"] = form.item(result.item)
    if request.report != "NONE":
        answer["ConsumedCapacity"] = consumed_capacity(result.consumed, request.report, params["TableName"])
    return Outcome(answer, (result.consumed,))


# The fast way of most requests, with a key of text and nothing else, costs half as much as the general way. The
# answers are the same; what is not plain, or wrong, is left to the general way.
_PLAIN_MEMBERS: Final = {"TableName", "Key"}


def plain_get_item(session: OperationContext, params: Params) -> Outcome | None:
    """Answer a plain GetItem of the JSON protocol; None sends it to the general way."""
    if params.keys() != _PLAIN_MEMBERS or session.throttle is not None:
        return None
    name = params["TableName"]
    raw_key = params["Key"]
    if type(name) is not str or type(raw_key) is not dict:
        return None

    table = session.store.catalog.get(name)
    key = None if table is None else _plain_key(table, raw_key)
    if table is None or key is None:
        return None
    reads = session.past or session.store

    def work(execute: Execute, catalog: Catalog) -> Outcome | None:
        if catalog.get(name) is not table:
            return None  # it has been changed, or made anew
        row = reads.select_item(execute, table, key)
        if row is None:
            return Outcome({}, (Consumed(name, read_units(0, consistent=False)),))
        item_bytes, raw = row
        consumed = Consumed(name, read_units(item_bytes, consistent=False))
        return Outcome({"Item": orjson.Fragment(raw)}, (consumed,))

    return reads.read(work)


def _plain_key(table: Table, raw: dict[str, Any]) -> PrimaryKey | None:
    if len(raw) != len(table.key_names):
        return None
    partition = plain_text(raw.get(table.partition_name), table.partition_type, PARTITION_KEY_BYTES_MAX)
    if partition is None:
        return None
    if table.sort_name is None:
        return PrimaryKey(partition_bytes(partition), b"")
    sort = plain_text(raw.get(table.sort_name), table.sort_type, SORT_KEY_BYTES_MAX)
    return None if sort is None else PrimaryKey(partition_bytes(partition), sort)


def put_item(session: OperationContext, params: Params, form: Form) -> Waiting:
    return _waiting(session, _enveloped(parse_put, WRITE, params, form), params, form)


def delete_item(session: OperationContext, params: Params, form: Form) -> Waiting:
    _returns_old(params)  # before all else (dynoxide 3.2, captured in eu-west-2 and us-east-1)
    return _waiting(session, _enveloped(parse_delete, WRITE, params, form), params, form)


def update_item(session: OperationContext, params: Params, form: Form) -> Waiting:
    return _waiting(session, _enveloped(parse_update, UPDATE, params, form), params, form)


def _waiting(session: OperationContext, request: Write, params: Params, form: Form) -> Waiting:
    return (
        items.item_write(request, session.throttle),
        lambda result: _write_outcome(result, request, params, form),
    )


def _get_request(params: Params, form: Form) -> GetItem:
    if not uses_legacy(params, GET):
        return parse_get(params, form)
    check_placeholders(params, GET.expressions)
    request = parse_get(params, form)
    request.projection = attributes_to_get(params)
    return request


def _enveloped(parse: Callable[[Params, Form], R], vocabulary: Vocabulary, params: Params, form: Form) -> R:
    """Parse a write; AWS wraps the refusals of values and expressions of single writes in an envelope."""
    try:
        legacy = uses_legacy(params, vocabulary)
        if params.get("ConditionExpression") is None and params.get("UpdateExpression") is None:
            _check_no_placeholders(params)
        request = parse(params, form)
        if legacy:
            check_conditional_operator(params, "Expected")
            add_legacy(request, params, form)
        return request
    except ValueRefusedError as error:
        raise error.enveloped() from None


def _check_no_placeholders(params: Params) -> None:
    # Other operations go on with the names of the expressions that are missing; these do not (captured by the
    # public conformance suite, October 2026).
    for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        if params.get(name) is not None:
            raise ValueRefusedError(f"{name} can only be specified when using expressions")


def _returns_old(params: Params) -> ReturnValues:
    wanted: ReturnValues = params.get("ReturnValues") or "NONE"
    if wanted not in ("NONE", "ALL_OLD"):
        raise ValueRefusedError(ONLY_OLD).enveloped()
    return wanted


def _write_outcome(result: WriteResult, request: Write, params: Params, form: Form) -> Outcome:
    answer: Answer = {}
    if result.attributes is not None:
        answer["Attributes"] = form.item(result.attributes)
    if request.report != "NONE":
        answer["ConsumedCapacity"] = consumed_capacity(result.consumed, request.report, params["TableName"])
    if result.collection is not None:
        answer["ItemCollectionMetrics"] = collection_metrics(result.collection, form)
    return Outcome(answer, (result.consumed,))


# --- parsing, also of the actions of a transaction -----------------------------------------


def parse_get(params: Params, form: Form, *, older: bool = False) -> GetItem:
    return GetItem(
        table=table_name(params["TableName"]),
        key=take_key(params["Key"], form, older=older),
        projection=projection_only(params, form, older=older),
        consistent=bool(params.get("ConsistentRead")),
        report=report(params),
    )


def parse_put(params: Params, form: Form, *, older: bool = False) -> PutItem:
    item, item_bytes = take_item(params["Item"], form, older=older)
    return PutItem(
        table=table_name(params["TableName"]),
        item=item,
        item_bytes=item_bytes,
        returns="NONE" if older else _returns_old(params),  # before the condition (dynalite's tests)
        condition=condition_only(params, form, older=older),
        returns_on_failure=returns_on_failure(params),
        report=report(params),
        reports_collections=reports_collections(params),
    )


def parse_delete(params: Params, form: Form, *, older: bool = False) -> DeleteItem:
    return DeleteItem(
        table=table_name(params["TableName"]),
        key=take_key(params["Key"], form, older=older),
        condition=condition_only(params, form, older=older),
        returns="NONE" if older else _returns_old(params),
        returns_on_failure=returns_on_failure(params),
        report=report(params),
        reports_collections=reports_collections(params),
    )


def parse_update(params: Params, form: Form, *, older: bool = False) -> UpdateItem:
    key = take_key(params["Key"], form, older=older)  # before the expressions (dynalite's tests)
    placeholders = scope(params, form, ("UpdateExpression", "ConditionExpression"), older=older)
    update_text = params.get("UpdateExpression")
    condition_text = params.get("ConditionExpression")
    if condition_text == "":
        # Where both are empty, AWS speaks of the condition (dynoxide, October 2026).
        placeholders.condition(condition_text, parameter="ConditionExpression")
    update = None if update_text is None else placeholders.update(update_text)
    condition = (
        None
        if condition_text is None
        else placeholders.condition(condition_text, parameter="ConditionExpression")
    )
    placeholders.finish()
    return UpdateItem(
        table=table_name(params["TableName"]),
        key=key,
        update=update,
        condition=condition,
        returns="NONE" if older else params.get("ReturnValues") or "NONE",
        returns_on_failure=returns_on_failure(params),
        report=report(params),
        reports_collections=reports_collections(params),
    )


RUN: Final[dict[str, Run]] = {
    "DeleteItem": delete_item,
    "GetItem": get_item,
    "PutItem": put_item,
    "UpdateItem": update_item,
}
PLAIN: Final[dict[str, PlainRun]] = {"GetItem": plain_get_item}
