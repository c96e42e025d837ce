"""The live counters of one table. Nothing here locks: the recorder does."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Final

from singletable.metrics.names import PAGE_OPERATIONS, READ_OPERATIONS

# A table has at most 20 global indexes at a time. Names of deleted ones are kept up to here, then the oldest go.
INDEXES_MAX: Final = 64


class ThroughputSeries:
    """Units and throttle events of a table, or of one global index."""

    __slots__ = ("read_throttles", "read_units", "write_throttles", "write_units")

    def __init__(self) -> None:
        self.read_units = 0.0
        self.write_units = 0.0
        self.read_throttles = 0
        self.write_throttles = 0

    def consume(self, units: float, *, is_read: bool) -> None:
        if is_read:
            self.read_units += units
        else:
            self.write_units += units

    def throttle(self, *, is_read: bool) -> None:
        if is_read:
            self.read_throttles += 1
        else:
            self.write_throttles += 1

    @property
    def total(self) -> float:
        return self.read_units + self.write_units + self.read_throttles + self.write_throttles


class OperationSeries:
    """One operation on one table."""

    __slots__ = (
        *("buckets", "is_read", "max_s", "min_s", "returns_pages", "sum_s", "system_errors", "throttled"),
        *("pages", "returned", "returned_max", "returned_min", "throughput"),
    )

    def __init__(self, operation: str | None, throughput: ThroughputSeries) -> None:
        self.is_read = operation in READ_OPERATIONS
        self.returns_pages = operation in PAGE_OPERATIONS
        self.throughput = throughput
        self.buckets: defaultdict[int, int] = defaultdict(int)
        self.sum_s = 0.0
        self.min_s = math.inf
        self.max_s = 0.0
        self.throttled = 0
        self.system_errors = 0
        self.pages = 0
        self.returned = 0
        self.returned_min = 0
        self.returned_max = 0

    def add_page(self, items: int) -> None:
        if not self.returns_pages:
            return
        if items < self.returned_min or not self.pages:
            self.returned_min = items
        if items > self.returned_max:
            self.returned_max = items
        self.returned += items
        self.pages += 1


class TableSeries:
    """All counters of one table. The series without a name counts requests that belong to no table."""

    __slots__ = ("conditions_failed", "expired", "indexes", "name", "operations", "remembered", "throughput")

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.throughput = ThroughputSeries()
        self.indexes: dict[str, ThroughputSeries] = {}
        self.operations: dict[str | None, OperationSeries] = {}
        self.conditions_failed = 0
        self.expired = 0
        self.remembered = 0.0

    def operation(self, name: str | None) -> OperationSeries:
        series = self.operations.get(name)
        if series is None:
            series = self.operations[name] = OperationSeries(name, self.throughput)
        return series

    def index(self, name: str) -> ThroughputSeries:
        throughput = self.indexes.get(name)
        if throughput is None:
            if len(self.indexes) >= INDEXES_MAX:
                del self.indexes[next(iter(self.indexes))]
            throughput = self.indexes[name] = ThroughputSeries()
        return throughput

    @property
    def activity(self) -> float:
        """A number that grows with everything that makes a series."""
        indexes = sum(throughput.total for throughput in self.indexes.values())
        throttled = sum(operation.throttled for operation in self.operations.values())
        return self.throughput.total + indexes + throttled + self.conditions_failed + self.expired
