"""Alarms with thresholds from the plan of a design: what it takes at its peak, how large its requests are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from singletable.blueprint import Blueprint, IndexBlueprint
from singletable.client.counted_errors import METRIC
from singletable.planning.charges import Direction
from singletable.planning.workload import Planner, Workload
from singletable.stack.alarms import Alarm, Series, operations_of, standard_alarms
from singletable.stack.options import Deployment

_PERIOD_S: Final = 300
_MINUTE_MS: Final = 60_000
# Twice the busiest second that is planned for, for five minutes: it is a mistake, an attack, or success.
_PEAKS: Final = 2.0
_UNITS_PER_S_MIN: Final = 5.0  # of a peak: below it nothing is unusual
# "80 percent of the provisioned capacity" (CloudWatch guide, "Recommended alarms", DynamoDB).
_PROVISIONED_SHARE: Final = 0.8
# Single items are answered within some milliseconds; batches and transactions are many items. So many times as
# long, once in a hundred, is worth a look; and a millisecond more for each unit that a request reads or writes.
_LATENCY_MS: Final[Mapping[str, float]] = {
    "GetItem": 25,
    "PutItem": 25,
    "UpdateItem": 25,
    "DeleteItem": 25,
    "Query": 50,
}
_LATENCY_MS_OTHERWISE: Final = 100.0
_REFUSED_SHARE: Final = 0.01
_ITERATOR_AGE_MINUTES: Final = 15  # a stream keeps its records for a day


def planned_alarms(
    blueprint: Blueprint, deployment: Deployment, *, users: float | None = None
) -> tuple[Alarm, ...]:
    """Make the alarms of a design's table: errors, latency, throttling, capacity and refused requests.

    The plan is that of so many users; without a number, of as many as the blueprint says.
    """
    workload = Planner(blueprint, users).workload()
    table = deployment.table_name(blueprint.table.name)
    return (
        *standard_alarms(blueprint, deployment, latency_ms=latencies(blueprint, workload)),
        *_capacity(blueprint, table, workload),
        _refused(table, workload),
    )


def function_alarms(function: str, *, reads_stream: bool, failures: str | None = None) -> tuple[Alarm, ...]:
    """Make the alarms of a function, and of the queue that is told of its failures."""
    dimensions = {"FunctionName": function}
    found = [
        Alarm(
            f"{function}-errors",
            "the function ends with an error",
            (Series("errors", "Errors", "Sum", dimensions),),
            0,
        ),
        Alarm(
            f"{function}-throttled",
            "Lambda does not start the function: too many run at once",
            (Series("throttled", "Throttles", "Sum", dimensions),),
            0,
        ),
    ]
    if reads_stream:
        minutes = _ITERATOR_AGE_MINUTES
        late = Series("age", "IteratorAge", "Maximum", dimensions)
        says = f"the function is {minutes} minutes behind the stream, which keeps its records for a day"
        found.append(Alarm(f"{function}-behind", says, (late,), minutes * _MINUTE_MS))
    if failures is not None:
        waiting = Series("waiting", "ApproximateNumberOfMessagesVisible", "Maximum", {"QueueName": failures})
        found.append(Alarm(f"{failures}-waiting", "somebody has to look at what failed", (waiting,), 0))
    return tuple(found)


def schedule_alarm(group: str) -> Alarm:
    """Make the alarm of a group of schedules: one was given up after all retries."""
    dropped = Series("dropped", "InvocationDroppedCount", "Sum", {"ScheduleGroup": group})
    return Alarm(f"{group}-schedules-dropped", "a schedule could not start its function", (dropped,), 0)


def backup_alarm(vault: str) -> Alarm:
    """Make the alarm of a vault: a backup has failed."""
    failed = Series("failed", "NumberOfBackupJobsFailed", "Sum", {"BackupVaultName": vault})
    return Alarm(f"{vault}-failed", "a backup has failed", (failed,), 0, period_s=3600)


def latencies(blueprint: Blueprint, workload: Workload) -> dict[str, float]:
    """Return how long each operation may take, in milliseconds, by the units of its largest request.

    Those of a pattern are one request; what a write is charged for may be the sum of many, as in a cascade.
    """
    units = dict.fromkeys(operations_of(blueprint), 0.0)
    for line in workload.lines:
        for charge in line.call.charges if line.kind == "pattern" else ():
            if charge.operation in units:
                units[charge.operation] = max(units[charge.operation], charge.units.mean)
    return {
        operation: math.ceil(_LATENCY_MS.get(operation, _LATENCY_MS_OTHERWISE) + most)
        for operation, most in units.items()
    }


# --- capacity ---------------------------------------------------------------------------------------------------


def _capacity(blueprint: Blueprint, table: str, workload: Workload) -> Iterator[Alarm]:
    places: list[IndexBlueprint | None] = [None, *(each for each in blueprint.indexes if not each.is_local)]
    directions: tuple[Direction, ...] = ("read", "write")
    for index in places:
        dimensions = {"TableName": table}
        if index is not None:
            dimensions["GlobalSecondaryIndexName"] = index.name
        for direction in directions:
            per_s, why = _threshold(blueprint, index, direction, workload)
            where = "the table" if index is None else f"the index {index.name}"
            suffix = "" if index is None else f"-{index.name}"
            metric = f"Consumed{direction.title()}CapacityUnits"
            yield Alarm(
                f"{table}{suffix}-capacity-{direction}",
                f"{where} takes more than {per_s:g} {direction} units a second for 5 minutes: {why}",
                (Series("taken", metric, "Sum", dimensions),),
                math.ceil(per_s * _PERIOD_S),
                period_s=_PERIOD_S,
            )


def _threshold(
    blueprint: Blueprint, index: IndexBlueprint | None, direction: Direction, workload: Workload
) -> tuple[float, str]:
    """Return the units of a second that are too many, and why."""
    if blueprint.table.billing == "PROVISIONED":
        most = _provisioned(blueprint, index, direction)
        if most:
            return _PROVISIONED_SHARE * most, f"{_PROVISIONED_SHARE:.0%} of what is provisioned"
    name = None if index is None else index.name
    peak = sum(line.call.units(direction, index=name).mean * line.peak_per_s for line in workload.lines)
    if peak < _UNITS_PER_S_MIN:
        return _PEAKS * _UNITS_PER_S_MIN, f"the peak of the plan is {peak:.2g}"
    return round(_PEAKS * peak, 1), f"{_PEAKS:g} times the peak of the plan"


def _provisioned(blueprint: Blueprint, index: IndexBlueprint | None, direction: Direction) -> float:
    """Return the units that are provisioned, as many as auto scaling may come to."""
    scaling = blueprint.table.scaling.get(direction)
    if scaling is not None and len(scaling) > 1:
        return scaling[1]
    capacity = (None if index is None else index.capacity) or blueprint.table.capacity
    return 0.0 if not capacity else float(capacity[0 if direction == "read" else -1])


def _refused(table: str, workload: Workload) -> Alarm:
    """Relate what functions were refused to the calls of the plan: some of them is a mistake in the code."""
    calls = sum(line.peak_per_s for line in workload.lines) * _PERIOD_S
    allowed = math.floor(_REFUSED_SHARE * calls)
    return Alarm(
        f"{table}-refused",
        f"functions get more than {allowed} errors in 5 minutes: {_REFUSED_SHARE:.0%} of the planned peak",
        (Series("refused", METRIC, "Sum", {"TableName": table}),),
        allowed,
        period_s=_PERIOD_S,
    )
