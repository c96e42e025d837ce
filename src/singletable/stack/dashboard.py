"""The CloudWatch dashboard of a design: the table and its function first, then a row for each access pattern.

CloudWatch counts by table, index and operation, not by access pattern. A row says what its pattern is and what the
plan has of it, and shows what it uses: its operations, and the units of the table or the indexes that it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from singletable.blueprint import Blueprint, PatternBlueprint
from singletable.client.counted_errors import METRIC, NAMESPACE
from singletable.errors import StackError
from singletable.planning.workload import Planner, WorkloadLine
from singletable.stack.alarms import operations_of
from singletable.stack.metrics import DYNAMODB, LAMBDA, SQS
from singletable.stack.names import logical_id, resource_name
from singletable.stack.resources import Dashboard

Widget = dict[str, Any]

# CloudWatch, "Dashboard body structure and syntax".
WIDGETS_MAX: Final = 500
COLUMNS: Final = 24
_ALARMS_MAX: Final = 100  # of an alarm widget
_HEIGHT: Final = 5
_PERIOD_S: Final = 300


@dataclass(frozen=True, slots=True)
class Watched:
    """What stands beside the table on a dashboard, by name."""

    function: str | None = None
    workers: str | None = None
    queues: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()


def dashboard_of(
    blueprint: Blueprint, *, table: str, watched: Watched | None = None, users: float | None = None
) -> Dashboard:
    """Make the dashboard of a design's table."""
    rows = [*_head(blueprint, table, watched or Watched())]
    lines = {line.of: line for line in Planner(blueprint, users).workload().lines if line.kind == "pattern"}
    rows += [
        _pattern_row(pattern, lines.get(pattern.method or pattern.number), table)
        for pattern in blueprint.patterns
    ]
    count = sum(map(len, rows))
    if count > WIDGETS_MAX:
        raise StackError(
            f"the dashboard of {len(blueprint.patterns)} patterns has {count} widgets, and CloudWatch takes "
            f"{WIDGETS_MAX}",
            hint="declare fewer patterns, or make the stack in Python, of the parts that you want",
        )
    body = {"start": "-PT3H", "periodOverride": "inherit", "widgets": [*_placed(rows)]}
    return Dashboard(logical_id("Dashboard"), resource_name("dashboard", table), body)


def _placed(rows: Iterable[Sequence[Widget]]) -> Iterable[Widget]:
    """Put rows below each other; the widgets of a row share its width."""
    y = 0
    for row in rows:
        x = 0
        for number, widget in enumerate(row):
            width = (COLUMNS - x) // (len(row) - number)
            yield {**widget, "x": x, "y": y, "width": width, "height": _HEIGHT}
            x += width
        y += _HEIGHT


# --- rows -------------------------------------------------------------------------------------------------------


def _head(blueprint: Blueprint, table: str, watched: Watched) -> Iterable[list[Widget]]:
    places = [None, *(index.name for index in blueprint.indexes if not index.is_local)]
    about = f"# {blueprint.name}\n\n{blueprint.about}\n\nTable `{table}`"
    first = [_text(about)]
    if watched.alarms:
        first.append(_alarms(watched.alarms))
    yield first
    yield [
        _graph("Read units", [_units(table, place, "Read") for place in places]),
        _graph("Write units", [_units(table, place, "Write") for place in places]),
        _graph(
            "Throttled",
            [
                [
                    DYNAMODB,
                    f"{kind}ThrottleEvents",
                    *_place(table, place),
                    {"label": f"{place or 'table'} {kind.lower()}s"},
                ]
                for place in places
                for kind in ("Read", "Write")
            ],
        ),
    ]
    operations = operations_of(blueprint)
    yield [
        _graph(
            "Errors of DynamoDB",
            [[DYNAMODB, "SystemErrors", *_operation(table, each), {"label": each}] for each in operations],
        ),
        _graph(
            "Refused and failed",
            [
                [NAMESPACE, METRIC, "TableName", table],
                [DYNAMODB, "ConditionalCheckFailedRequests", "TableName", table],
                [DYNAMODB, "TransactionConflict", "TableName", table],
            ],
        ),
        _graph("Expired items", [[DYNAMODB, "TimeToLiveDeletedItemCount", "TableName", table]]),
    ]
    functions = [each for each in (watched.function, watched.workers) if each is not None]
    if functions:
        yield [
            _graph(
                "Functions: errors and throttles",
                [
                    [LAMBDA, metric, "FunctionName", each, _of(table, each, metric)]
                    for each in functions
                    for metric in ("Errors", "Throttles")
                ],
            ),
            _graph(
                "Behind the stream, and duration (ms)",
                [
                    *(
                        [
                            [
                                LAMBDA,
                                "IteratorAge",
                                "FunctionName",
                                watched.function,
                                _of(table, watched.function, "IteratorAge"),
                            ]
                        ]
                        if watched.function
                        else []
                    ),
                    *(
                        [LAMBDA, "Duration", "FunctionName", each, _of(table, each, "Duration")]
                        for each in functions
                    ),
                ],
                statistic="Maximum",
            ),
            _graph(
                "Dead letters",
                [
                    [SQS, "ApproximateNumberOfMessagesVisible", "QueueName", each, _of(table, each)]
                    for each in watched.queues
                ]
                or [[LAMBDA, "Invocations", "FunctionName", each] for each in functions],
                statistic="Maximum",
            ),
        ]


def _pattern_row(pattern: PatternBlueprint, line: WorkloadLine | None, table: str) -> list[Widget]:
    operations = [read.operation for read in pattern.reads] + [write.operation for write in pattern.writes]
    operations = [
        *dict.fromkeys("TransactWriteItems" if pattern.is_transaction else each for each in operations)
    ]
    places = [*dict.fromkeys(read.index for read in pattern.reads)] or [None]
    kinds = [kind for kind, asked in (("Read", pattern.reads), ("Write", pattern.writes)) if asked] or [
        "Read"
    ]
    title = f"{pattern.number} {pattern.title}".strip()
    latency = [
        [
            DYNAMODB,
            "SuccessfulRequestLatency",
            *_operation(table, each),
            {"stat": stat, "label": f"{each} {stat}"},
        ]
        for each in operations
        for stat in ("p50", "p99")
    ]
    units = [_units(table, place, kind) for place in places for kind in kinds]
    row = [_text(_said(pattern, title, line))]
    if latency:
        row.append(_graph(f"{title}: latency (ms)", latency, statistic="p99"))
    row.append(_graph(f"{title}: units", units))
    return row


def _said(pattern: PatternBlueprint, title: str, line: WorkloadLine | None) -> str:
    """Say what a pattern is: its method, its requests, and what the plan has of it."""
    arguments = ", ".join(each.name for each in pattern.parameters)
    said = [f"### {title}"]
    if pattern.method:
        said.append(f"`{pattern.method}({arguments})`")
    for read in pattern.reads:
        where = f"index {read.index}" if read.index else "the table"
        said.append(f"- {read.operation} of {where}" + (f": `{read.pk}`" if read.pk else ""))
    said += [f"- {write.operation} of {write.entity}" for write in pattern.writes]
    if line is not None:
        taken = f"{line.call.reads.mean:.3g} read and {line.call.writes.mean:.3g} write units"
        said.append(
            f"\nPlanned: {line.calls_month:,.0f} calls a month, {line.peak_per_s:.3g}/s at the peak, {taken} each"
        )
    return "\n".join(said)


# --- widgets ----------------------------------------------------------------------------------------------------


def _text(markdown: str) -> Widget:
    return {"type": "text", "properties": {"markdown": _literal(markdown)}}


def _graph(title: str, metrics: Sequence[Sequence[Any]], *, statistic: str = "Sum") -> Widget:
    return {
        "type": "metric",
        "properties": {
            "title": _literal(title),
            "view": "timeSeries",
            "region": "${AWS::Region}",
            "stat": statistic,
            "period": _PERIOD_S,
            "metrics": [list(each) for each in metrics],
        },
    }


def _alarms(names: Sequence[str]) -> Widget:
    place = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm"
    return {
        "type": "alarm",
        "properties": {"title": "Alarms", "alarms": [f"{place}:{each}" for each in names[:_ALARMS_MAX]]},
    }


def _literal(text: str) -> str:
    """Return a text of a design for a template, in which ${} are references."""
    return text.replace("${", "${!")


def _of(table: str, name: str, metric: str = "") -> dict[str, str]:
    """Return the label of something beside the table: its name without that of the table."""
    return {"label": f"{name.removeprefix(f'{table}-')} {metric}".strip()}


def _units(table: str, index: str | None, kind: str) -> list[Any]:
    label: Mapping[str, str] = {"label": f"{index or 'table'} {kind.lower()}"}
    return [DYNAMODB, f"Consumed{kind}CapacityUnits", *_place(table, index), dict(label)]


def _place(table: str, index: str | None) -> list[str]:
    return ["TableName", table, *(["GlobalSecondaryIndexName", index] if index else [])]


def _operation(table: str, operation: str) -> list[str]:
    return ["TableName", table, "Operation", operation]
