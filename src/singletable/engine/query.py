"""Query: the items of one partition, in the order of their sort keys."""

from __future__ import annotations

import operator

from singletable.engine.key_ranges import KeyRange, match_key
from singletable.engine.keys import check_key_paths
from singletable.engine.pages import ReadTarget, check_select, final_operand, position_of, read_page
from singletable.engine.patience import Patience
from singletable.engine.requests import Query
from singletable.engine.results import ResultPage
from singletable.engine.throttling import Throttle
from singletable.errors import INVALID, ValidationError
from singletable.expressions.conditions import Condition
from singletable.storage.reading import PartitionRange, Position, Reads
from singletable.values.types import Item


def query(
    store: Reads, request: Query, patience: Patience | None = None, throttle: Throttle | None = None
) -> ResultPage:
    """Read a page of one partition."""
    return read_page(store, request, lambda target: plan_query(target, request), patience, throttle)


def plan_query(target: ReadTarget, request: Query) -> PartitionRange:
    """Turn a query into the range of rows that answers it.

    The order of the complaints is that of dynalite's tests. Unlike Scan, Query complains of its start key before
    its Select from an index (dynoxide 3.2, captured in three regions, October 2026).
    """
    start = request.start
    after = None if start is None else position_of(target, request, start)
    wanted = match_key(request.key_condition, target.key, request.index)
    if start is not None and after is not None:
        _check_start(target, request, start, wanted, after)
    check_key_paths(target.table, request.projection)
    if request.filter is not None:
        _check_filter_keys(target, request.filter)
    check_select(target, request)
    if request.filter is not None:
        _check_filter_projected(target, request.filter)
        check_key_paths(target.table, request.filter)
    return PartitionRange(
        table=target.table,
        index=target.index,
        partition=wanted.partition,
        bounds=wanted.bounds,
        after=after,
        forward=request.forward,
        rows_max=request.limit,
    )


def _check_filter_keys(target: ReadTarget, chosen: Condition) -> None:
    for name in target.key.names:
        if name in chosen.attributes:
            called = "Filter Expression" if chosen.parameter == "FilterExpression" else chosen.parameter
            raise ValidationError(
                f"{called} can only contain non-primary key attributes: Primary key attribute: {name}"
            )


def _check_filter_projected(target: ReadTarget, chosen: Condition) -> None:
    # A query may not filter by attributes outside its index; a scan may, and finds nothing.
    index = target.index
    if index is None or index.projected_names is None:
        return
    missing = sorted(chosen.attributes - index.projected_names)
    if missing:
        raise ValidationError(
            f"{INVALID}Secondary index {index.name} does not project one or more filter attributes: "
            f"[{', '.join(missing)}]"
        )


def _check_start(target: ReadTarget, request: Query, start: Item, wanted: KeyRange, after: Position) -> None:
    """Refuse a start key at which no page of this query can have ended.

    The order and the words are AWS's of October 2026, recorded in the tests of dynoxide 1.3: the partition
    attributes but the last, the sort key, the last partition attribute. Of a table without a sort key a query has
    one page, and nothing to start from; the sentence is recorded of a key of another partition (9 October 2026,
    four regions).
    """
    schema = target.key
    if target.index is None and not schema.sort:
        raise ValidationError("The provided exclusive start key is invalid")
    at_partition, at_sort = after.index_key or (after.pk, after.sk)
    is_within = all(_COMPARISONS[comparator](at_sort, bound) for comparator, bound in wanted.bounds)
    if is_within and len(wanted.bounds) > 0:
        final = final_operand(target, request)
        is_within = final is None or start[schema.sort[0].name] != final
    if is_within and at_partition == wanted.partition:
        return
    values = {clause.attribute: clause.operands[0] for clause in request.key_condition.clauses}
    if any(start[attribute.name] != values[attribute.name] for attribute in schema.partition[:-1]):
        raise ValidationError(_CANNOT_RESTART)
    if not is_within:
        raise ValidationError("The provided starting key does not match the range key predicate")
    if wanted.bounds:
        raise ValidationError(_CANNOT_RESTART)
    raise ValidationError(
        "The provided starting key is outside query boundaries based on provided conditions"
    )


# AWS's words, for any operator on the sort key.
_CANNOT_RESTART = "The query can return at most one row and cannot be restarted"
_COMPARISONS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
