"""Query and Scan as DynamoDB shapes."""

from __future__ import annotations

from singletable.engine.query import query as run_query
from singletable.engine.requests import Query, Report, Scan, Select
from singletable.engine.results import Page
from singletable.engine.scan import scan as run_scan
from singletable.errors import ValidationError
from singletable.expressions.conditions import Condition
from singletable.expressions.projections import Projection
from singletable.expressions.scope import Scope
from singletable.wire.forms import Form, take_key
from singletable.wire.parameters import (
    Answer,
    Params,
    Session,
    consumed_capacity,
    refuse_legacy,
    report,
    scope,
    table_name,
)

_SCAN_EXPRESSIONS = ("ProjectionExpression", "FilterExpression")
_QUERY_EXPRESSIONS = (*_SCAN_EXPRESSIONS, "KeyConditionExpression")


def query(session: Session, params: Params, form: Form) -> Answer:
    request = parse_query(params, form)
    return _page_answer(run_query(session.store, request), request.report, form)


def scan(session: Session, params: Params, form: Form) -> Answer:
    request = parse_scan(params, form)
    return _page_answer(run_scan(session.store, request), request.report, form)


def _page_answer(page: Page, wanted: Report, form: Form) -> Answer:
    answer: Answer = {}
    if page.items is not None:
        answer["Items"] = form.items(page.items)
    answer["Count"] = page.count
    answer["ScannedCount"] = page.scanned
    if page.last is not None:
        is_shown = page.items is not None and page.items[-1:] == [page.last]
        shown = answer["Items"][-1] if is_shown else None
        answer["LastEvaluatedKey"] = form.cursor(page.last, page.key_names, shown)
    if page.consumed is not None:
        answer["ConsumedCapacity"] = consumed_capacity(page.consumed, wanted)
    return answer


def parse_query(params: Params, form: Form) -> Query:
    refuse_legacy(params)
    select = _select(params, prefix="1 validation error detected: ")
    key_text = params.get("KeyConditionExpression")
    if key_text is None:
        raise ValidationError(
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
        )
    placeholders = scope(params, form, _QUERY_EXPRESSIONS)
    condition = placeholders.key_condition(key_text)
    chosen, projection = _filter_and_projection(params, placeholders)
    start = params.get("ExclusiveStartKey")
    forward = params.get("ScanIndexForward")
    return Query(
        table=table_name(params["TableName"]),
        index=params.get("IndexName"),
        key_condition=condition,
        filter=chosen,
        projection=projection,
        select=select,
        limit=params.get("Limit"),
        start=None if start is None else take_key(start, form),
        forward=True if forward is None else bool(forward),
        consistent=bool(params.get("ConsistentRead")),
        report=report(params),
    )


def parse_scan(params: Params, form: Form) -> Scan:
    refuse_legacy(params)
    select = _select(params)
    segment, total_segments = _segments(params)
    placeholders = scope(params, form, _SCAN_EXPRESSIONS)
    chosen, projection = _filter_and_projection(params, placeholders)
    start = params.get("ExclusiveStartKey")
    return Scan(
        table=table_name(params["TableName"]),
        index=params.get("IndexName"),
        filter=chosen,
        projection=projection,
        select=select,
        limit=params.get("Limit"),
        start=None if start is None else take_key(start, form),
        segment=segment,
        total_segments=total_segments,
        consistent=bool(params.get("ConsistentRead")),
        report=report(params),
    )


def _filter_and_projection(params: Params, placeholders: Scope) -> tuple[Condition | None, Projection | None]:
    """Return the last two expressions of a request, after which no placeholder may be left over."""
    text = params.get("FilterExpression")
    chosen = None if text is None else placeholders.condition(text, parameter="FilterExpression")
    text = params.get("ProjectionExpression")
    projection = None if text is None else placeholders.projection(text)
    placeholders.finish()
    return chosen, projection


def _select(params: Params, *, prefix: str = "") -> Select | None:
    """Return what is selected. Query, but not Scan, counts one of its complaints (ExtendDB, us-east-1)."""
    select: Select | None = params.get("Select")
    projects = params.get("ProjectionExpression") is not None
    if projects and select is not None and select != "SPECIFIC_ATTRIBUTES":
        what = "only the Count" if select == "COUNT" else select
        raise ValidationError(f"{prefix}Cannot specify the ProjectionExpression when choosing to get {what}")
    if select == "SPECIFIC_ATTRIBUTES" and not projects:
        raise ValidationError(
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
        )
    return select


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
    if segment >= total:
        raise ValidationError(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: "
            f"{segment} is not less than TotalSegments: {total}"
        )
    return segment, total
