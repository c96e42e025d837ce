"""What stands around the table of a blueprint: streams and their handlers, services, roles, alarms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from singletable.blueprint.entities import Condition
from singletable.blueprint.said import Said, described


@described
class HandlerBlueprint:
    """What is done with a change: of which entities, on which events, what it needs of them, what it writes."""

    name: str
    entities: tuple[str, ...] = ()  # all of them without
    events: tuple[str, ...] = ()  # INSERT, MODIFY, REMOVE; all of them without
    fields: tuple[str, ...] = ()  # those whose change matters; any without
    when: Condition | None = None
    needs: tuple[str, ...] = ()  # old, new
    writes: tuple[str, ...] = ()  # entities of the same table
    reads: tuple[str, ...] = ()
    sends: tuple[str, ...] = ()  # what it reaches outside the table: opensearch, sns, eventbridge-scheduler
    is_idempotent: bool | None = None
    about: str = ""
    said: tuple[Said, ...] = ()


@described
class ConsumerBlueprint:
    """A reader of the stream, with its handlers."""

    name: str
    kind: str = "lambda"  # lambda, kinesis, pipes, process
    handlers: tuple[HandlerBlueprint, ...] = ()
    batch_size: int | None = None
    parallelization: int | None = None
    has_dead_letters: bool | None = None
    about: str = ""
    said: tuple[Said, ...] = ()


@described
class StepBlueprint:
    """One thing that a call of a service does: a pattern that it asks, or a write of an entity; and how often.

    It is done between `least` and `most` times; with `per`, for each of its entity that belongs to one of another.
    """

    kind: str  # pattern, create, put, update, delete, check; plan: what a delete would delete is counted
    of: str  # the method or number of a pattern, the name of an entity
    fields: tuple[str, ...] = ()  # those that an update changes; unknown without
    least: float = 1
    most: float = 1
    per: tuple[str, ...] = ()  # ("Reminder", "Batch"): as many as a batch has reminders
    limit: int | None = None  # items that it asks of a pattern at once; all of them without
    is_consistent: bool | None = None  # as it asks a pattern, where that is otherwise than declared
    together: int = 0  # writes of one number are one transaction; 0: by itself
    expected: float | None = None  # times, on average; the middle of least and most without


@described
class ServiceBlueprint:
    """A function of an application over the design: the patterns that it asks, the entities that it writes."""

    name: str
    patterns: tuple[str, ...] = ()  # methods, or numbers
    writes: tuple[str, ...] = ()
    about: str = ""
    steps: tuple[StepBlueprint, ...] = ()  # what one call does; unknown without
    said: tuple[Said, ...] = ()


@described
class StatementBlueprint:
    """A statement of an IAM policy."""

    effect: str = "Allow"
    actions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    sid: str = ""
    said: tuple[Said, ...] = ()


@described
class RoleBlueprint:
    """A role: who has it, and what it may do."""

    name: str
    statements: tuple[StatementBlueprint, ...] = ()
    services: tuple[str, ...] = ()  # the services or patterns that run under it
    about: str = ""
    said: tuple[Said, ...] = ()


@described
class MetricBlueprint:
    """A metric that is watched."""

    name: str
    namespace: str = "AWS/DynamoDB"
    dimensions: tuple[str, ...] = ()
    statistic: str = ""
    about: str = ""
    said: tuple[Said, ...] = ()


@described
class AlarmBlueprint:
    """An alarm: a metric, or a text where none is named, and the threshold that sets it off."""

    name: str
    metric: str = ""
    namespace: str = "AWS/DynamoDB"
    dimensions: Mapping[str, str] = field(default_factory=dict)
    statistic: str = ""
    comparison: str = ">"
    threshold: float | None = None
    unit: str = ""
    period_s: float | None = None
    periods: int | None = None
    region: str | None = None
    actions: tuple[str, ...] = ()
    about: str = ""
    expression: str = ""  # over several metrics, each as SystemErrors.Sum
    said: tuple[Said, ...] = ()
