"""Scan: all items of a table or index, whole or in parallel segments."""

from __future__ import annotations

from singletable.engine.charges import read_charge
from singletable.engine.keys import check_key_paths, require_table
from singletable.engine.pages import (
    INVALID_START,
    PageRows,
    Target,
    check_select,
    consumed_by_page,
    page_of,
    position_of,
    read_rows,
    target_of,
)
from singletable.engine.patience import Patience
from singletable.engine.requests import Scan
from singletable.engine.results import Page
from singletable.engine.throttling import Throttle
from singletable.errors import ValidationError
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.reading import SegmentRange, select_segment
from singletable.storage.store import Store
from singletable.values.keys import segment_range


def scan(
    store: Store, request: Scan, patience: Patience | None = None, throttle: Throttle | None = None
) -> Page:
    """Read a page of a table or index."""

    def work(execute: Execute, catalog: Catalog) -> PageRows:
        target = target_of(require_table(catalog, request.table), request)
        wanted = plan_scan(target, request)
        if throttle is not None:
            throttle.admit("Read", read_charge(target.table, target.index, None))
        lagging = store.propagation
        rows = select_segment(execute, wanted) if lagging is None else lagging.select(execute, wanted)
        found = read_rows(rows, target, request, patience)
        if throttle is not None:
            units = consumed_by_page(found, request).total
            throttle.charge("Read", [read_charge(target.table, target.index, None, units)])
        return found

    return page_of(store.read(work), request)


def plan_scan(target: Target, request: Scan) -> SegmentRange:
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
