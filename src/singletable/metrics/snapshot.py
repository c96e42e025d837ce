"""The counters at one moment: immutable, read by table, index and operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from singletable.metrics import names
from singletable.metrics.latency import Latency, merged

Json = dict[str, Any]

_PERCENTILES: Final = (50, 90, 99, 99.9)


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The dimensions of a value. None does not mean "all": a table's own units have no index."""

    table: str | None = None
    index: str | None = None
    operation: str | None = None

    def to_json(self) -> list[Json]:
        named = (
            ("TableName", self.table),
            ("GlobalSecondaryIndexName", self.index),
            ("Operation", self.operation),
        )
        return [{"Name": name, "Value": value} for name, value in named if value is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnedItems:
    """Statistics of ReturnedItemCount: `count` pages with `sum` items. Without a page, all of them are 0."""

    count: int = 0
    sum: int = 0
    min: int = 0
    max: int = 0

    @property
    def average(self) -> float:
        return self.sum / self.count if self.count else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSnapshot:
    """The metrics of a database in this process, from its opening up to one moment.

    A table, index or operation that had no request has the value 0.
    """

    counts: Mapping[str, Mapping[Dimensions, float]]  # by CloudWatch's name
    latencies: Mapping[Dimensions, Latency]
    returned: Mapping[Dimensions, ReturnedItems]
    is_clock_held: bool = False
    """Whether the clock is so far ahead of the file that nothing expires or is trimmed until it is confirmed."""
    damaged_reads: int = 0
    """How many requests were refused because a page that they needed is damaged."""
    damaged_pages: int = 0
    """How many pages the scrub has found damaged, by its last look at each."""
    scrubbed_pages: int = 0
    """How many pages the scrub has looked at; it begins again when it has seen all."""
    counted_s: float = field(default=0.0, compare=False)
    """For how long was counted: since the database was opened here, or of a difference, in between."""

    # --- units and throttling: of a table by itself, or of one global index ------------------

    def consumed_read_units(self, table: str, index: str | None = None) -> float:
        """ConsumedReadCapacityUnits. Local indexes count with their table, global ones by themselves."""
        return self._count(names.CONSUMED_READ_UNITS, table, index)

    def consumed_write_units(self, table: str, index: str | None = None) -> float:
        """ConsumedWriteCapacityUnits. Local indexes count with their table, global ones by themselves."""
        return self._count(names.CONSUMED_WRITE_UNITS, table, index)

    def read_throttle_events(self, table: str, index: str | None = None) -> int:
        """ReadThrottleEvents: a request may have several."""
        return int(self._count(names.READ_THROTTLE_EVENTS, table, index))

    def write_throttle_events(self, table: str, index: str | None = None) -> int:
        """WriteThrottleEvents: a request may have several."""
        return int(self._count(names.WRITE_THROTTLE_EVENTS, table, index))

    # --- requests: of one table or operation, or of all ---------------------------------------

    def latency(self, table: str | None = None, operation: str | None = None) -> Latency:
        """SuccessfulRequestLatency, of all tables or operations that are not named."""
        return merged(self.latencies[where] for where in _matching(self.latencies, table, operation))

    def returned_items(self, table: str | None = None, operation: str | None = None) -> ReturnedItems:
        """ReturnedItemCount of Query and Scan."""
        parts = [self.returned[where] for where in _matching(self.returned, table, operation)]
        return ReturnedItems(
            count=sum(part.count for part in parts),
            sum=sum(part.sum for part in parts),
            min=min((part.min for part in parts), default=0),
            max=max((part.max for part in parts), default=0),
        )

    def throttled_requests(self, table: str | None = None, operation: str | None = None) -> int:
        """ThrottledRequests."""
        return self._sum(names.THROTTLED_REQUESTS, table, operation)

    def system_errors(self, table: str | None = None, operation: str | None = None) -> int:
        """SystemErrors: HTTP 500."""
        return self._sum(names.SYSTEM_ERRORS, table, operation)

    def conditional_check_failed_requests(self, table: str | None = None) -> int:
        """ConditionalCheckFailedRequests of PutItem, UpdateItem and DeleteItem."""
        return self._sum(names.CONDITIONAL_CHECK_FAILED, table, None)

    def time_to_live_deleted_items(self, table: str | None = None) -> int:
        """TimeToLiveDeletedItemCount: items that were deleted because they had expired."""
        return self._sum(names.EXPIRED_ITEMS, table, None)

    def user_errors(self) -> int:
        """UserErrors: HTTP 400, but for throttled requests and failed conditions; of all tables together."""
        return self._sum(names.USER_ERRORS, None, None)

    # --- the whole -----------------------------------------------------------------------------

    def since(self, earlier: MetricsSnapshot) -> MetricsSnapshot:
        """Return the difference of two snapshots, as CloudWatch has it for a period."""
        # Less than before: another process counts, or this one anew.
        counted_s = self.counted_s - earlier.counted_s
        return MetricsSnapshot(
            counted_s=counted_s if counted_s >= 0 else self.counted_s,
            counts=MappingProxyType(
                {
                    name: MappingProxyType(_differences(values, earlier.counts[name]))
                    for name, values in self.counts.items()
                }
            ),
            latencies=MappingProxyType(
                {
                    where: latency
                    for where, total in self.latencies.items()
                    if (latency := total.since(earlier.latencies.get(where, Latency()))).count
                }
            ),
            returned=MappingProxyType(
                {
                    where: items
                    for where, total in self.returned.items()
                    if (items := _returned_since(total, earlier.returned.get(where, ReturnedItems()))).count
                }
            ),
        )

    def to_json(self) -> Json:
        """Return all values other than 0 (CloudWatch sends only those), in the words of its API."""
        return {"Namespace": "AWS/DynamoDB", "Metrics": list(self._metrics())}

    def _metrics(self) -> Iterator[Json]:
        for name, values in self.counts.items():
            for where, value in values.items():
                if value:
                    yield _metric(name, where, "Count", {"Sum": value})
        for where, latency in self.latencies.items():
            yield _metric(names.LATENCY, where, "Milliseconds", _latency_statistics(latency))
        for where, items in self.returned.items():
            yield _metric(names.RETURNED_ITEMS, where, "Count", _returned_statistics(items))

    def _count(self, name: str, table: str, index: str | None) -> float:
        return self.counts[name].get(Dimensions(table, index), 0)

    def _sum(self, name: str, table: str | None, operation: str | None) -> int:
        values = self.counts[name]
        return int(sum(values[where] for where in _matching(values, table, operation)))


def _matching(values: Mapping[Dimensions, Any], table: str | None, operation: str | None) -> list[Dimensions]:
    return [
        where for where in values if table in (None, where.table) and operation in (None, where.operation)
    ]


def _differences(
    values: Mapping[Dimensions, float], earlier: Mapping[Dimensions, float]
) -> dict[Dimensions, float]:
    # A value that fell belongs to a table that was forgotten in between, and counts anew.
    return {
        where: value - earlier.get(where, 0) if value >= earlier.get(where, 0) else value
        for where, value in values.items()
    }


def _returned_since(total: ReturnedItems, earlier: ReturnedItems) -> ReturnedItems:
    if total.count < earlier.count:
        return total
    # The least and the greatest page in between are not known: these are bounds.
    return ReturnedItems(
        count=total.count - earlier.count, sum=total.sum - earlier.sum, min=total.min, max=total.max
    )


# --- JSON: the members of CloudWatch's Metric and Datapoint ------------------------------------


def _metric(name: str, where: Dimensions, unit: str, statistics: Json) -> Json:
    return {"MetricName": name, "Dimensions": where.to_json(), "Unit": unit, **statistics}


def _latency_statistics(latency: Latency) -> Json:
    return {
        "SampleCount": latency.count,
        "Sum": latency.sum_ms,
        "Average": latency.average_ms,
        "Minimum": latency.min_ms,
        "Maximum": latency.max_ms,
        "ExtendedStatistics": {f"p{percent}": latency.percentile_ms(percent) for percent in _PERCENTILES},
    }


def _returned_statistics(items: ReturnedItems) -> Json:
    return {
        "SampleCount": items.count,
        "Sum": items.sum,
        "Average": items.average,
        "Minimum": items.min,
        "Maximum": items.max,
    }
