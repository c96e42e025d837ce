"""Query and Scan as DynamoDB shapes; the fast way of Query."""

from __future__ import annotations

from typing import Any, Final

from singletable.engine.pages import INVALID_START
from singletable.engine.query import query as run_query
from singletable.engine.requests import Query, Report, Scan, Select
from singletable.engine.results import ResultPage
from singletable.engine.scan import scan as run_scan
from singletable.errors import ONE_ERROR, ValidationError
from singletable.expressions.conditions import Condition
from singletable.expressions.key_conditions import plain_key_condition
from singletable.expressions.projections import Projection
from singletable.expressions.scope import Scope
from singletable.limits import EXPRESSION_BYTES_MAX, PARTITION_KEY_BYTES_MAX
from singletable.storage.catalog import Catalog
from singletable.values.refused import ValueRefusedError
from singletable.values.types import Item
from singletable.wire.forms import JSON, Form, take_key
from singletable.wire.legacy import (
    QUERY,
    SCAN,
    attributes_to_get,
    check_conditional_operator,
    filter_conditions,
    key_conditions,
    uses_legacy,
)
from singletable.wire.parameters import (
    Answer,
    OperationContext,
    Outcome,
    Params,
    PlainRun,
    Run,
    check_placeholders,
    consumed_capacity,
    plain_text,
    read_placeholders,
    report,
    table_name,
)
from singletable.wire.validation.live_shapes import live_shape
from singletable.wire.validation.member_types import cut_number


def query(session: OperationContext, params: Params, form: Form) -> Outcome:
    request = _query_request(params, form)
    page = run_query(session.reads, request, session.patience, session.throttle)
    return _outcome(page, request.report, params, form)


def scan(session: OperationContext, params: Params, form: Form) -> Outcome:
    request = _scan_request(params, form)
    page = run_scan(session.reads, request, session.patience, session.throttle)
    return _outcome(page, request.report, params, form)


def _outcome(page: ResultPage, wanted: Report, params: Params, form: Form) -> Outcome:
    answer: Answer = {}
    if page.items is not None:
        answer["Items"] = form.items(page.items)
    answer["Count"] = page.count
    answer["ScannedCount"] = page.scanned
    if page.last is not None:
        is_shown = page.items is not None and page.items[-1:] == [page.last]
        shown = answer["Items"] if is_shown else None
        answer["LastEvaluatedKey"] = form.cursor(page.last, page.key_names, shown)
    if wanted != "NONE":
        answer["ConsumedCapacity"] = consumed_capacity(page.consumed, wanted, params["TableName"])
    return Outcome(answer, (page.consumed,), returned=page.count)


# --- the fast way, of values of text and nothing unusual -----------------------------------------------------
# The answers are the same; what is not plain, or wrong, is left to the general way.

_PLAIN_MEMBERS: Final = {
    *("TableName", "IndexName", "KeyConditionExpression", "ExpressionAttributeValues"),
    *("Limit", "ScanIndexForward"),
}
_PLAIN_LIMIT_MAX: Final = 10_000


def plain_query(session: OperationContext, params: Params) -> Outcome | None:
    """Answer a plain Query of the JSON protocol; None sends it to the general way."""
    request = _plain_request(session.store.catalog, params)
    if request is None:
        return None
    page = run_query(session.reads, request, session.patience, session.throttle)
    return _outcome(page, "NONE", params, JSON)


def _plain_request(catalog: Catalog, params: Params) -> Query | None:
    if not params.keys() <= _PLAIN_MEMBERS:
        return None
    text = params.get("KeyConditionExpression")
    values = params.get("ExpressionAttributeValues")
    limit = params.get("Limit")
    forward = params.get("ScanIndexForward", True)
    if type(text) is not str or "#" in text or not 0 < len(text) <= EXPRESSION_BYTES_MAX // 4:
        return None
    if type(values) is not dict or not values or type(forward) is not bool:
        return None
    if limit is not None and (type(limit) is not int or not 0 < limit <= _PLAIN_LIMIT_MAX):
        return None
    if not _names_something(catalog, params.get("TableName"), params.get("IndexName")):
        return None
    for value in values.values():
        if plain_text(value, "S", PARTITION_KEY_BYTES_MAX) is None:
            return None
    condition = plain_key_condition(text, values)
    if condition is None:
        return None
    return Query(
        table=params["TableName"],
        key_condition=condition,
        index=params.get("IndexName"),
        limit=limit,
        forward=forward,
    )


def _names_something(catalog: Catalog, table_name: Any, index_name: Any) -> bool:
    if type(table_name) is not str:
        return False
    table = catalog.get(table_name)
    return table is not None and (index_name is None or table.has_index(index_name))


# --- the general way ----------------------------------------------------------------------------------------
# The order of the checks is AWS's: that of dynalite's tests and, for Select and the segments, of the captures in
# the tests of dynoxide 3.2 (Scan in eu-west-2 and eu-central-1, October 2026; Query is taken to do the same).


def _query_request(params: Params, form: Form) -> Query:
    legacy = uses_legacy(params, QUERY)
    check_placeholders(params, QUERY.expressions)
    chosen: Condition | None = None
    projection: Projection | None = None
    if legacy:
        check_conditional_operator(params, "QueryFilter")
        chosen = filter_conditions(params, "QueryFilter", form)
        projection = attributes_to_get(params)
    start = _start(params, form)
    key_text = params.get("KeyConditionExpression")
    if key_text is None and params.get("KeyConditions") is None:
        raise ValidationError(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    placeholders = read_placeholders(params, form)
    condition = None if key_text is None else placeholders.key_condition(key_text)
    chosen, projection = _filter_and_projection(params, placeholders, chosen, projection)
    if condition is None:
        condition = key_conditions(params, form)
    forward = params.get("ScanIndexForward")
    return Query(
        table=table_name(params["TableName"]),
        index=params.get("IndexName"),
        key_condition=condition,
        filter=chosen,
        projection=projection,
        select=_select(params),
        limit=_limit(params),
        start=start,
        forward=True if forward is None else bool(forward),
        consistent=bool(params.get("ConsistentRead")),
        report=report(params),
    )


def _scan_request(params: Params, form: Form) -> Scan:
    legacy = uses_legacy(params, SCAN)
    check_placeholders(params, SCAN.expressions)
    chosen: Condition | None = None
    projection: Projection | None = None
    if legacy:
        projection = attributes_to_get(params)
        check_conditional_operator(params, "ScanFilter")
        chosen = filter_conditions(params, "ScanFilter", form)
    start = _start(params, form)
    placeholders = read_placeholders(params, form)
    chosen, projection = _filter_and_projection(params, placeholders, chosen, projection)
    select = _select(params)
    segment, total_segments = _segments(params)
    return Scan(
        table=table_name(params["TableName"]),
        index=params.get("IndexName"),
        filter=chosen,
        projection=projection,
        select=select,
        limit=_limit(params),
        start=start,
        segment=segment,
        total_segments=total_segments,
        consistent=bool(params.get("ConsistentRead")),
        report=report(params),
    )


def _start(params: Params, form: Form) -> Item | None:
    start = params.get("ExclusiveStartKey")
    if start is None:
        return None
    try:
        return take_key(start, form)
    except ValueRefusedError:
        raise
    except ValidationError as error:
        # Used only for a value without a valid type (dynoxide 3.2, captured for Query in four regions, October
        # 2026).
        raise ValidationError(f"{INVALID_START}: {error.message}") from None


def _limit(params: Params) -> int | None:
    limit = params.get("Limit")
    return None if limit is None else cut_number(limit)


def _filter_and_projection(
    params: Params, placeholders: Scope, chosen: Condition | None, projection: Projection | None
) -> tuple[Condition | None, Projection | None]:
    """Return the last two expressions of a request, after which no placeholder may be left over.

    A filter or projection in the older language is given, and stays.
    """
    text = params.get("FilterExpression")
    if text is not None:
        chosen = placeholders.condition(text, parameter="FilterExpression")
    text = params.get("ProjectionExpression")
    if text is not None:
        projection = placeholders.projection(text)
    placeholders.finish()
    return chosen, projection


_SELECTIONS: Final = live_shape("Select").enum


def _select(params: Params) -> Select | None:
    select: Select | None = params.get("Select")
    if select is None:
        return None
    if select not in _SELECTIONS:
        raise ValidationError(
            f"{ONE_ERROR}Value '{select}' at 'select' failed to satisfy constraint: "
            f"Member must satisfy enum value set: [{', '.join(_SELECTIONS)}]"
        )
    projecting = _projecting(params)
    if projecting is not None and select != "SPECIFIC_ATTRIBUTES":
        what = "only the Count" if select == "COUNT" else select
        raise ValidationError(f"{ONE_ERROR}Cannot specify the {projecting} when choosing to get {what}")
    if projecting is None and select == "SPECIFIC_ATTRIBUTES":
        raise ValidationError(
            f"{ONE_ERROR}Must specify the AttributesToGet or ProjectionExpression when choosing to get "
            "SPECIFIC_ATTRIBUTES"
        )
    if select == "ALL_PROJECTED_ATTRIBUTES" and params.get("IndexName") is None:
        raise ValidationError(
            f"{ONE_ERROR}ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
        )
    return select


def _projecting(params: Params) -> str | None:
    for name in ("ProjectionExpression", "AttributesToGet"):
        if params.get(name) is not None:
            return name
    return None


def _segments(params: Params) -> tuple[int, int]:
    segment = params.get("Segment")
    total = params.get("TotalSegments")
    if segment is None and total is None:
        return 0, 1
    if total is None:
        raise ValidationError(
            "The TotalSegments parameter is required but was not present in the request when Segment parameter "
            "is present"
        )
    if segment is None:
        raise ValidationError(
            "The Segment parameter is required but was not present in the request when parameter TotalSegments "
            "is present"
        )
    segment, total = cut_number(segment), cut_number(total)
    if segment >= total:
        raise ValidationError(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments"
        )
    return segment, total


RUN: Final[dict[str, Run]] = {"Query": query, "Scan": scan}
PLAIN: Final[dict[str, PlainRun]] = {"Query": plain_query}
