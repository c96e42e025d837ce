"""A snapshot in Prometheus's text format, version 0.0.4.

Names follow Prometheus (snake case, base units, `_total`); the help of each metric has CloudWatch's name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from singletable.metrics import names
from singletable.metrics.latency import BOUNDS_S, Latency
from singletable.metrics.snapshot import Dimensions, MetricsSnapshot

PROMETHEUS_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

# All of them are bounds of buckets, so that the counts are exact.
LE_BOUNDS_S: Final = (
    *(multiple * 10**decade / 10_000_000 for decade in range(2, 8) for multiple in (1, 2.5, 5)),
    10.0,
)
_LE_BUCKETS: Final = tuple(BOUNDS_S.index(bound_s) for bound_s in LE_BOUNDS_S)
_LE_TEXTS: Final = (*map(repr, LE_BOUNDS_S), "+Inf")


class _Counter(NamedTuple):
    cloudwatch_name: str
    name: str
    labels: tuple[str, ...]  # fields of Dimensions
    help: str


_COUNTERS: Final = (
    _Counter(
        names.CONSUMED_READ_UNITS,
        "singletable_consumed_read_capacity_units_total",
        ("table", "index"),
        "Read units consumed, by a table with its local indexes or by one global index",
    ),
    _Counter(
        names.CONSUMED_WRITE_UNITS,
        "singletable_consumed_write_capacity_units_total",
        ("table", "index"),
        "Write units consumed, by a table with its local indexes or by one global index",
    ),
    _Counter(
        names.READ_THROTTLE_EVENTS,
        "singletable_read_throttle_events_total",
        ("table", "index"),
        "Reads that exceeded the units of a table or of a global index",
    ),
    _Counter(
        names.WRITE_THROTTLE_EVENTS,
        "singletable_write_throttle_events_total",
        ("table", "index"),
        "Writes that exceeded the units of a table or of a global index",
    ),
    _Counter(
        names.CONDITIONAL_CHECK_FAILED,
        "singletable_conditional_check_failed_requests_total",
        ("table",),
        "Conditional writes whose condition did not hold",
    ),
    _Counter(
        names.THROTTLED_REQUESTS,
        "singletable_throttled_requests_total",
        ("table", "operation"),
        "Requests refused because they exceeded the units of a table or an index",
    ),
    _Counter(
        names.SYSTEM_ERRORS,
        "singletable_system_errors_total",
        ("table", "operation"),
        "Requests answered with HTTP 500",
    ),
    _Counter(
        names.USER_ERRORS,
        "singletable_user_errors_total",
        (),
        "Requests answered with HTTP 400, but for throttled ones and failed conditions",
    ),
    _Counter(
        names.EXPIRED_ITEMS,
        "singletable_time_to_live_deleted_items_total",
        ("table",),
        "Items that were deleted because their time to live was over",
    ),
)
_OPERATION_LABELS: Final = ("table", "operation")


def to_prometheus(snapshot: MetricsSnapshot) -> bytes:
    """Render a snapshot for a scrape."""
    return "".join(f"{line}\n" for line in _lines(snapshot)).encode()


def _lines(snapshot: MetricsSnapshot) -> Iterator[str]:
    for counter in _COUNTERS:
        yield from _head(counter.name, "counter", counter.help, counter.cloudwatch_name)
        for where, value in snapshot.counts[counter.cloudwatch_name].items():
            yield f"{counter.name}{_labels(where, counter.labels)} {value!r}"
    name = "singletable_returned_items_total"
    yield from _head(name, "counter", "Items that Query and Scan returned", names.RETURNED_ITEMS)
    for where, items in snapshot.returned.items():
        yield f"{name}{_labels(where, _OPERATION_LABELS)} {items.sum}"
    name = "singletable_successful_request_latency_seconds"
    yield from _head(name, "histogram", "Time that successful requests took", names.LATENCY)
    for where, latency in snapshot.latencies.items():
        yield from _histogram(name, where, latency)
    for name, kind, text, value in (
        (
            *("singletable_clock_held", "gauge"),
            "1 while nothing expires or is trimmed, since the clock has to be confirmed",
            int(snapshot.is_clock_held),
        ),
        (
            *("singletable_damaged_reads_total", "counter"),
            "Requests that needed a damaged page of the file",
            snapshot.damaged_reads,
        ),
        (
            *("singletable_damaged_pages", "gauge"),
            "Pages that the scrub has found damaged",
            snapshot.damaged_pages,
        ),
        (
            *("singletable_scrubbed_pages_total", "counter"),
            "Pages of the file that the scrub has looked at",
            snapshot.scrubbed_pages,
        ),
        (
            *("singletable_counted_seconds", "gauge"),
            "For how long was counted: since the database was opened",
            snapshot.counted_s,
        ),
    ):
        yield f"# HELP {name} {text}."
        yield f"# TYPE {name} {kind}"
        yield f"{name} {value!r}"


def _head(name: str, kind: str, text: str, cloudwatch_name: str) -> Iterator[str]:
    yield f"# HELP {name} {text} (CloudWatch: {cloudwatch_name})."
    yield f"# TYPE {name} {kind}"


def _histogram(name: str, where: Dimensions, latency: Latency) -> Iterator[str]:
    counts = [0] * len(_LE_TEXTS)
    for bucket, count in latency.buckets.items():
        counts[bisect_left(_LE_BUCKETS, bucket)] += count
    labels = _labels(where, _OPERATION_LABELS)
    opened = labels.removesuffix("}")
    for le, count in zip(_LE_TEXTS, accumulate(counts), strict=True):
        yield f'{name}_bucket{opened},le="{le}"}} {count}'
    yield f"{name}_sum{labels} {latency.sum_s!r}"
    yield f"{name}_count{labels} {latency.count}"


def _labels(where: Dimensions, wanted: tuple[str, ...]) -> str:
    pairs = [f'{label}="{_escaped(getattr(where, label) or "")}"' for label in wanted]
    return f"{{{','.join(pairs)}}}" if pairs else ""


def _escaped(value: str) -> str:
    """Escape as the format asks for. Names of tables and indexes have none of these characters on AWS."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
