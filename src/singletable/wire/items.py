"""PutItem, GetItem, UpdateItem, DeleteItem as DynamoDB shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from singletable.engine import items
from singletable.engine.requests import DeleteItem, GetItem, PutItem, ReturnValues, UpdateItem, Write
from singletable.engine.results import WriteResult
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
from singletable.wire.outcomes import Outcome, PendingWrite
from singletable.wire.parameters import (
    Answer,
    Params,
    Session,
    check_placeholders,
    collection_metrics,
    condition_only,
    consumed_capacity,
    projection_only,
    report,
    reports_collections,
    returns_on_failure,
    scope,
    table_name,
)
from singletable.wire.refusals import ONLY_OLD

R = TypeVar("R", PutItem, UpdateItem, DeleteItem)


def get_item(session: Session, params: Params, form: Form) -> Outcome:
    request = _get_request(params, form)
    result = items.get_item(session.reads, request, session.patience, session.throttle)
    answer: Answer = {}
    if result.item is not None:
        answer["Item"] = form.item(result.item)
    if request.report != "NONE":
        answer["ConsumedCapacity"] = consumed_capacity(result.consumed, request.report, params["TableName"])
    return Outcome(answer, (result.consumed,))


def put_item(session: Session, params: Params, form: Form) -> PendingWrite:
    return _pending(session, _enveloped(parse_put, WRITE, params, form), params, form)


def delete_item(session: Session, params: Params, form: Form) -> PendingWrite:
    _returns_old(params)  # before all else (dynoxide 3.2, captured in eu-west-2 and us-east-1)
    return _pending(session, _enveloped(parse_delete, WRITE, params, form), params, form)


def update_item(session: Session, params: Params, form: Form) -> PendingWrite:
    return _pending(session, _enveloped(parse_update, UPDATE, params, form), params, form)


def _pending(session: Session, request: Write, params: Params, form: Form) -> PendingWrite:
    return PendingWrite(
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
    """Parse a write; what single writes refuse in their values and expressions, AWS wraps once more."""
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
