"""Alarms on the metrics of a table: requests as CloudWatch takes them, and a check of their metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from singletable.blueprint import Blueprint
from singletable.stack.metrics import BILLING, BILLING_REGION, DYNAMODB, METRICS
from singletable.stack.options import Deployment

Comparison = Literal["GreaterThanThreshold", "GreaterThanOrEqualToThreshold"]

_MINUTE_S: Final = 60
_WRITES: Final = ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem")


@dataclass(frozen=True, slots=True)
class Series:
    """A metric over time: one statistic of it, under its dimensions."""

    id: str
    metric: str
    statistic: str
    dimensions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alarm:
    """Rings when a series, or an expression over several, is over a threshold for so many periods."""

    name: str
    says: str
    series: tuple[Series, ...]
    threshold: float
    expression: str | None = None
    comparison: Comparison = "GreaterThanThreshold"
    # One long period rather than several short ones: where few ask, one of those is mostly without a request.
    period_s: int = 5 * _MINUTE_S
    periods: int = 1
    region: str | None = None
    """The region that it has to be in; None for that of the table."""

    def request(self) -> dict[str, Any]:
        """Return the parameters of CloudWatch's PutMetricAlarm."""
        request: dict[str, Any] = {
            "AlarmName": self.name,
            "AlarmDescription": self.says,
            "ComparisonOperator": self.comparison,
            "Threshold": float(self.threshold),
            "EvaluationPeriods": self.periods,
            # Nobody asks at night: that is not an alarm.
            "TreatMissingData": "notBreaching",
        }
        if self.expression is None:
            (series,) = self.series
            statistic = "ExtendedStatistic" if series.statistic.startswith("p") else "Statistic"
            return {**request, **_metric(series), "Period": self.period_s, statistic: series.statistic}
        queries: list[dict[str, Any]] = [
            {
                "Id": series.id,
                "MetricStat": {
                    "Metric": _metric(series),
                    "Period": self.period_s,
                    "Stat": series.statistic,
                },
                "ReturnData": False,
            }
            for series in self.series
        ]
        result = {"Id": "result", "Expression": self.expression, "Label": self.name, "ReturnData": True}
        return {**request, "Metrics": [*queries, result]}

    @property
    def is_of_billing(self) -> bool:
        """Whether it watches the bill, which is told in one region alone."""
        return any(_metric(series)["Namespace"] == BILLING for series in self.series)

    def problems(self, region: str | None = None) -> list[str]:
        """Name those of its metrics that CloudWatch lacks: at all, with these dimensions, or in this region.

        Without a region it is the alarm's own.
        """
        found = [problem for series in self.series for problem in _problems(series)]
        place = self.region if region is None else region
        if self.is_of_billing and place != BILLING_REGION:
            where = "the region of its table" if place is None else place
            # "Billing metric data is stored in the US East (N. Virginia) Region and represents worldwide charges"
            # (CloudWatch guide, "Create a billing alarm").
            found.append(f"the bill is told in {BILLING_REGION}, and the alarm is in {where}")
        return found


def _metric(series: Series) -> dict[str, Any]:
    known = METRICS.get(series.metric)
    return {
        "Namespace": known.namespace if known else DYNAMODB,
        "MetricName": series.metric,
        "Dimensions": [{"Name": name, "Value": value} for name, value in series.dimensions.items()],
    }


def _problems(series: Series) -> Iterator[str]:
    metric = METRICS.get(series.metric)
    if metric is None:
        yield f"there is no metric {series.metric}"
    elif frozenset(series.dimensions) not in metric.dimensions:
        known = " or ".join(sorted(_shown(each) for each in metric.dimensions))
        yield f"{series.metric} is counted by {known}, not by {_shown(frozenset(series.dimensions))}"


def _shown(dimensions: frozenset[str]) -> str:
    return " and ".join(sorted(dimensions, reverse=True)) or "account and region"


# --- the standard alarms of a table ---------------------------------------------------------------------


def standard_alarms(
    blueprint: Blueprint,
    deployment: Deployment,
    *,
    error_percent: float = 5,
    latency_ms: float | Mapping[str, float] = 100,
    minutes: int = 5,
) -> tuple[Alarm, ...]:
    """Make the alarms of a design's table: errors and latency for each operation, and throttling.

    The latency may be one for each operation.
    """
    table = deployment.table_name(blueprint.table.name)
    operations = operations_of(blueprint)
    latencies = latency_ms if isinstance(latency_ms, Mapping) else dict.fromkeys(operations, latency_ms)
    return (
        *(_error_rate(table, operation, error_percent, minutes) for operation in operations),
        *(_latency(table, operation, latencies[operation], minutes) for operation in operations),
        *_throttling(blueprint, table, minutes),
    )


def operations_of(blueprint: Blueprint) -> tuple[str, ...]:
    """Return the operations by which a design's users read and write."""
    reads = {read.operation for pattern in blueprint.patterns for read in pattern.reads}
    written = {write.operation for pattern in blueprint.patterns for write in pattern.writes}
    # Where no pattern writes, the design's users do, in all ways.
    return tuple(sorted(reads | (written or set(_WRITES))))


def _error_rate(table: str, operation: str, percent: float, minutes: int) -> Alarm:
    """Relate errors to all requests: the sample count of the latency is the number of successful requests.

    One alarm for each operation: an expression takes ten metrics at most.
    """
    dimensions = {"TableName": table, "Operation": operation}
    return Alarm(
        f"{table}-errors-{operation}",
        f"more than {percent:g} % of {operation} fail for {minutes} minutes",
        (
            Series("failed", "SystemErrors", "Sum", dimensions),
            Series("answered", "SuccessfulRequestLatency", "SampleCount", dimensions),
        ),
        percent,
        expression="100 * FILL(failed, 0) / (FILL(failed, 0) + FILL(answered, 0))",
        period_s=minutes * _MINUTE_S,
    )


def _latency(table: str, operation: str, latency_ms: float, minutes: int) -> Alarm:
    dimensions = {"TableName": table, "Operation": operation}
    return Alarm(
        f"{table}-latency-{operation}",
        f"one {operation} in a hundred takes more than {latency_ms:g} ms for {minutes} minutes",
        (Series("latency", "SuccessfulRequestLatency", "p99", dimensions),),
        latency_ms,
        period_s=minutes * _MINUTE_S,
    )


def _throttling(blueprint: Blueprint, table: str, minutes: int) -> Iterator[Alarm]:
    places = [("", {"TableName": table})]
    places += [
        (f"-{index.name}", {"TableName": table, "GlobalSecondaryIndexName": index.name})
        for index in blueprint.indexes
        if not index.is_local  # which takes the units of its table
    ]
    for suffix, dimensions in places:
        for kind in ("Read", "Write"):
            where = f"the index {suffix[1:]}" if suffix else "the table"
            yield Alarm(
                f"{table}{suffix}-throttled-{kind.lower()}s",
                f"{kind.lower()}s of {where} are throttled",
                (Series("throttled", f"{kind}ThrottleEvents", "Sum", dimensions),),
                0,
                period_s=minutes * _MINUTE_S,
            )
