"""Scan: all items of a table or index, whole or in parallel segments."""

from __future__ import annotations

from singletable.engine.keys import check_key_paths
from singletable.engine.pages import INVALID_START, ReadTarget, check_select, position_of, read_page
from singletable.engine.patience import Patience
from singletable.engine.requests import Scan
from singletable.engine.results import ResultPage
from singletable.engine.throttling import Throttle
from singletable.errors import ValidationError
from singletable.storage.reading import Reads, SegmentRange
from singletable.values.keys import segment_range


def scan(
    store: Reads, request: Scan, patience: Patience | None = None, throttle: Throttle | None = None
) -> ResultPage:
    """Read a page of a table or index."""
    return read_page(store, request, lambda target: plan_scan(target, request), patience, throttle)


def plan_scan(target: ReadTarget, request: Scan) -> SegmentRange:
    """Turn a scan into the range of rows that answers it."""
    check_select(target, request)
    low, high = segment_range(request.segment, request.total_segments)
    check_key_paths(target.table, request.projection, request.filter)
    after = None
    if request.start is not None:
        after = position_of(target, request, request.start)
        at = after.pk if after.index_key is None else after.index_key[0]
        if at < low or (high is not None and at >= high):
            raise ValidationError(
                f"{INVALID_START}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. "
                f"TotalSegments: {request.total_segments} Segment: {request.segment}"
            )
    return SegmentRange(
        table=target.table, index=target.index, low=low, high=high, after=after, rows_max=request.limit
    )
