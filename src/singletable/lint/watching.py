"""Alarms and metrics as rules look at them: what each watches, by which dimensions, as far as that is said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from singletable.cloudwatch import DYNAMODB, METRICS, Metric

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path
    from singletable.blueprint.surroundings import AlarmBlueprint
    from singletable.lint.view import View

_NAME: Final = re.compile(r"[A-Z][A-Za-z]+[a-z][A-Za-z]*")
_IN_EXPRESSION: Final = re.compile(r"\b([A-Z][A-Za-z]+)\.(?:Sum|Average|Minimum|Maximum|SampleCount|p\d+)\b")
_FOR_ACCOUNT: Final = re.compile(r"\b(?:account|region|all tables)\b", re.IGNORECASE)

# The values of the dimension Operation (developer guide, "DynamoDB metrics and dimensions").
OPERATIONS: Final = frozenset(
    (
        "BatchExecuteStatement",
        "BatchGetItem",
        "BatchWriteItem",
        "DeleteItem",
        "ExecuteStatement",
        "ExecuteTransaction",
        "GetItem",
        "GetRecords",
        "PutItem",
        "Query",
        "Scan",
        "TransactGetItems",
        "TransactWriteItems",
        "UpdateItem",
    )
)


@dataclass(frozen=True)
class Watched:
    """A metric that an alarm, or a list of metrics, watches."""

    title: str  # alarm 'slow'
    name: str
    namespace: str
    paths: tuple[Path, ...]
    dimensions: frozenset[str] = frozenset()
    values: Mapping[str, str] = field(default_factory=dict)  # of dimensions
    statistic: str = ""
    is_whole: bool = False  # all its dimensions are said
    by_table: bool = False  # it stands for the table, whatever dimensions are said
    is_mixed: bool = False  # over operations of all kinds

    @property
    def path(self) -> Path:
        """Return the path of the place."""
        return self.paths[0]

    @property
    def is_of_dynamodb(self) -> bool:
        """Tell whether it is among DynamoDB's metrics."""
        return self.namespace == DYNAMODB

    @property
    def metric(self) -> Metric | None:
        """Return what CloudWatch has of that name; None if there is nothing."""
        found = METRICS.get(self.name)
        return found if found is not None and found.namespace == self.namespace else None


def is_name(text: str) -> bool:
    """Tell whether a text is the name of a metric and no words."""
    return _NAME.fullmatch(text) is not None


def watched(view: View) -> Iterator[Watched]:
    """Yield what is watched: the metrics that are listed, and those of alarms."""
    for at, metric in enumerate(view.blueprint.metrics):
        if is_name(metric.name):
            yield Watched(
                "the list of metrics",
                metric.name,
                metric.namespace,
                (("metrics", at),),
                frozenset(metric.dimensions),
                statistic=metric.statistic,
            )
    for at, alarm in enumerate(view.blueprint.alarms):
        yield from _of_alarm(view, alarm, ("alarms", at))


def _of_alarm(view: View, alarm: AlarmBlueprint, path: Path) -> Iterator[Watched]:
    if is_name(alarm.metric):
        yield _watched(alarm, alarm.metric, (path,), alarm.statistic)
    for name in dict.fromkeys(_IN_EXPRESSION.findall(alarm.expression)):
        if name != alarm.metric:
            yield _watched(alarm, name, (path,), "")
    if not alarm.metric or is_name(alarm.metric) or alarm.expression or alarm.namespace != DYNAMODB:
        return
    for number, metric in enumerate(view.blueprint.metrics):  # in words: those of the list that it speaks of
        if _speaks_of(alarm, metric.name):
            paths: tuple[Path, ...] = (path, ("metrics", number))
            yield _watched(alarm, metric.name, paths, alarm.statistic)


def _watched(alarm: AlarmBlueprint, name: str, paths: tuple[Path, ...], statistic: str) -> Watched:
    said = f"{alarm.name} {alarm.about}"
    return Watched(
        f"alarm {alarm.name!r}",
        name,
        alarm.namespace,
        paths,
        frozenset(alarm.dimensions),
        alarm.dimensions,
        statistic,
        is_whole=bool(alarm.dimensions),
        by_table=not alarm.dimensions and len(paths) > 1 and not _FOR_ACCOUNT.search(said),
        is_mixed="Operation" not in alarm.dimensions and "operation" not in said.lower(),
    )


def _speaks_of(alarm: AlarmBlueprint, metric: str) -> bool:
    """Tell whether an alarm in words is about a metric: it names it, or what it counts."""
    if not is_name(metric):
        return False
    about = f"{alarm.metric} {alarm.name}".lower()
    kind = next((word for word in ("error", "latency", "throttl") if word in about), None)
    return metric in alarm.about or (kind is not None and kind in metric.lower())


def shown(dimensions: frozenset[str]) -> str:
    """Write dimensions as people do: `TableName and Operation`."""
    return " and ".join(sorted(dimensions, reverse=True)) or "account and region"
