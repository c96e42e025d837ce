"""Where requests are counted, as they end: by many threads, in less than a microsecond.

The number of series is bounded. Only a request that reached a table makes one for it, so names that clients
invent make none; and of more than TABLES_MAX tables, the quietest are forgotten.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from singletable.capacity.consumed import Consumed
from singletable.metrics import names
from singletable.metrics.failures import Failure
from singletable.metrics.latency import BOUNDS_S, Latency
from singletable.metrics.series import OperationSeries, TableSeries, ThroughputSeries
from singletable.metrics.snapshot import Dimensions, MetricsSnapshot, ReturnedItems

TABLES_MAX: Final = 1000
_FORGOTTEN_AT_ONCE: Final = TABLES_MAX // 4


class Metrics:
    """The metrics of one database in this process, from its opening on."""

    def __init__(self) -> None:
        self._begin()
        _all_metrics.add(self)

    def _begin(self) -> None:
        # One that may be taken twice: a signal handler, or a finalizer, may use the database in the middle.
        self._lock = threading.RLock()
        self._tables: dict[str | None, TableSeries] = {None: TableSeries(None)}
        self._user_errors = 0
        self._begun_s = time.monotonic()

    # --- counting ----------------------------------------------------------------------------

    def succeeded(
        self,
        operation: str,
        table: str | None,
        latency_s: float,
        consumed: Sequence[Consumed] = (),
        returned: int | None = None,
        *,
        is_read: bool | None = None,
    ) -> None:
        """Count a successful request, with its consumed units and the number of items of a page.

        A request for several tables has no `table`: it counts for each table in `consumed`. Its operation tells
        whether it read, except for a transaction that was repeated: that has only read.
        """
        if table is None:
            for part in consumed:
                self.succeeded(operation, part.table, latency_s, (part,), returned, is_read=is_read)
            return
        bucket = bisect_left(BOUNDS_S, latency_s)
        with self._lock:
            try:
                series = self._tables[table].operations[operation]
            except KeyError:
                if operation not in names.ITEM_OPERATIONS:
                    return
                series = self._table(table).operation(operation)
            series.buckets[bucket] += 1
            series.sum_s += latency_s
            if latency_s < series.min_s:
                series.min_s = latency_s
            if latency_s > series.max_s:
                series.max_s = latency_s
            if returned is not None:
                series.add_page(returned)
            if is_read is None:
                is_read = series.is_read
            for part in consumed:
                if part.table != table or part.local_units or part.global_units:
                    self._consume(part, is_read=is_read)
                elif is_read:
                    series.throughput.read_units += part.table_units
                else:
                    series.throughput.write_units += part.table_units

    def failed(self, operation: str, table: str | None, failure: Failure) -> None:
        """Count a request that was refused, or that broke. A name that may be no table's makes no series."""
        with self._lock:
            match failure:
                case Failure.USER_ERROR:  # of the account and the region, so no table is named
                    self._user_errors += 1
                case Failure.CONDITION_FAILED:
                    self._table(table).conditions_failed += 1
                case Failure.THROTTLED:
                    self._operation(self._table(table), operation).throttled += 1
                case Failure.SYSTEM_ERROR:
                    known = self._tables.get(table) or self._tables[None]
                    self._operation(known, operation).system_errors += 1

    def written(self, units: Mapping[str, float]) -> None:
        """Count units that a failed write has consumed, by table: a failed condition costs units too."""
        with self._lock:
            for table, consumed in units.items():
                self._table(table).throughput.consume(consumed, is_read=False)

    def refused(self, *, throttled: bool) -> None:
        """Count a request that was refused before its operation: it was not signed, or the server was full."""
        self.failed("", None, Failure.THROTTLED if throttled else Failure.USER_ERROR)

    def throttled(self, table: str, index: str | None, is_read: bool) -> None:
        """Count one event: a read or a write that was more than a table, or a global index, has units for."""
        with self._lock:
            series = self._table(table)
            (series.throughput if index is None else series.index(index)).throttle(is_read=is_read)

    def expired(self, table: str, items: int) -> None:
        """Count items that were deleted because they had expired."""
        with self._lock:
            self._table(table).expired += items

    def _consume(self, part: Consumed, *, is_read: bool) -> None:
        series = self._table(part.table)
        # Local indexes use the units of their table (guide, "Provisioned throughput considerations for local
        # secondary indexes"); CloudWatch has a dimension for global ones only.
        local_units = sum(part.local_units.values()) if part.local_units else 0.0
        series.throughput.consume(part.table_units + local_units, is_read=is_read)
        for name, units in part.global_units.items():
            series.index(name).consume(units, is_read=is_read)

    # --- series ------------------------------------------------------------------------------

    def _table(self, name: str | None) -> TableSeries:
        series = self._tables.get(name)
        if series is None:
            if len(self._tables) > TABLES_MAX:
                self._forget_the_quietest()
            series = self._tables[name] = TableSeries(name)
        return series

    def _operation(self, table: TableSeries, name: str) -> OperationSeries:
        return table.operation(name if name in names.ITEM_OPERATIONS else None)

    def _forget_the_quietest(self) -> None:
        named = [series for series in self._tables.values() if series.name is not None]
        named.sort(key=lambda series: series.activity - series.remembered)  # of equals, the oldest first
        for series in named[:_FORGOTTEN_AT_ONCE]:
            del self._tables[series.name]
        for series in named[_FORGOTTEN_AT_ONCE:]:
            series.remembered = series.activity

    # --- reading -----------------------------------------------------------------------------

    def snapshot(self) -> MetricsSnapshot:
        """Return the counters as they are now. Each table is read at one moment, one table after the other."""
        copy = _Copy()
        with self._lock:
            tables = list(self._tables.values())
            copy.count(names.USER_ERRORS, Dimensions(), self._user_errors)
        for series in tables:
            with self._lock:
                copy.add(series)
        return copy.finished(time.monotonic() - self._begun_s)


class _Copy:
    """A snapshot that is being put together."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[Dimensions, float]] = {name: {} for name in names.COUNTERS}
        self._latencies: dict[Dimensions, Latency] = {}
        self._returned: dict[Dimensions, ReturnedItems] = {}

    def count(self, name: str, dimensions: Dimensions, value: float) -> None:
        self._counts[name][dimensions] = value

    def add(self, series: TableSeries) -> None:
        table = series.name
        if table is not None:
            self._add_throughput(Dimensions(table), series.throughput)
            for index, throughput in series.indexes.items():
                self._add_throughput(Dimensions(table, index=index), throughput)
            self.count(names.EXPIRED_ITEMS, Dimensions(table), series.expired)
        if table is not None or series.conditions_failed:
            self.count(names.CONDITIONAL_CHECK_FAILED, Dimensions(table), series.conditions_failed)
        for name, operation in series.operations.items():
            self._add_operation(Dimensions(table, operation=name), operation)

    def _add_throughput(self, where: Dimensions, throughput: ThroughputSeries) -> None:
        self.count(names.CONSUMED_READ_UNITS, where, throughput.read_units)
        self.count(names.CONSUMED_WRITE_UNITS, where, throughput.write_units)
        self.count(names.READ_THROTTLE_EVENTS, where, throughput.read_throttles)
        self.count(names.WRITE_THROTTLE_EVENTS, where, throughput.write_throttles)

    def _add_operation(self, where: Dimensions, series: OperationSeries) -> None:
        self.count(names.THROTTLED_REQUESTS, where, series.throttled)
        self.count(names.SYSTEM_ERRORS, where, series.system_errors)
        if series.buckets:
            self._latencies[where] = Latency(
                count=sum(series.buckets.values()),
                sum_s=series.sum_s,
                min_s=series.min_s,
                max_s=series.max_s,
                buckets=MappingProxyType(dict(series.buckets)),
            )
        if series.pages:
            self._returned[where] = ReturnedItems(
                count=series.pages, sum=series.returned, min=series.returned_min, max=series.returned_max
            )

    def finished(self, counted_s: float) -> MetricsSnapshot:
        return MetricsSnapshot(
            counted_s=counted_s,
            counts=MappingProxyType(
                {name: MappingProxyType(values) for name, values in self._counts.items()}
            ),
            latencies=MappingProxyType(self._latencies),
            returned=MappingProxyType(self._returned),
        )


# --- forks -------------------------------------------------------------------------------------

_all_metrics: weakref.WeakSet[Metrics] = weakref.WeakSet()


def _begin_in_child() -> None:
    """A child counts its own requests. Its parent's lock may have been held by a thread that is not here."""
    for metrics in _all_metrics:
        metrics._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)
