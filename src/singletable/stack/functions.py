"""The Lambda function of a design's stream handlers, with all that it needs but its role.

<table>-consumer               the function, and the log group /aws/lambda/<table>-consumer
<table>-consumer-failures      the queue that is told of records that could not be handled
the event source mapping       the table's stream, read in batches, with filters made from the handlers
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from singletable.blueprint import Blueprint, ConsumerBlueprint
from singletable.stack.filters import stream_filters
from singletable.stack.names import logical_id, resource_name
from singletable.stack.packaging import ENVIRONMENT, STREAM_HANDLER, Architecture
from singletable.stack.policies import Statement
from singletable.stack.resources import (
    Attribute,
    Code,
    EventSource,
    Function,
    LogGroup,
    Queue,
    Ref,
    Resource,
    Text,
)

# Lambda's bounds (CreateEventSourceMapping): for a stream, at most so many records in a batch, and so many
# batches of one shard at a time.
BATCH_RECORDS_MAX: Final = 10_000
PARALLELIZATION_MAX: Final = 10
# As many records as one invocation of the handlers gets through in its time, each with some requests.
_BATCH_RECORDS: Final = 100
_RETRIES_MAX: Final = 10
_AGE_S_MAX: Final = 12 * 3600  # half of the day that a stream keeps: time to look, before records are lost


@dataclass(frozen=True, slots=True)
class FunctionSettings:
    """What a function is run with, whatever its design is."""

    code: Code
    runtime: str
    architecture: Architecture = "x86_64"
    memory_mb: int = 256
    timeout_s: int = 60
    log_days: int = 30
    environment: Mapping[str, str] = field(default_factory=dict)
    """The values of the placeholders in the table's name."""
    variables: Mapping[str, Text] = field(default_factory=dict)
    """Further environment variables."""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamFunction:
    """The resources of a consumer, by what they are."""

    function: Function
    logs: LogGroup
    failures: Queue
    source: EventSource

    def resources(self) -> tuple[Resource, ...]:
        """Return them all."""
        return (self.logs, self.failures, self.function, self.source)

    def statements(self) -> tuple[Statement, ...]:
        """Return what its role needs beside the table and its stream: its log, and its queue of failures."""
        return (
            log_statement(self.logs),
            telling_statement(self.failures),
        )


def stream_function(
    blueprint: Blueprint,
    consumer: ConsumerBlueprint,
    *,
    table: str,
    table_id: str,
    role: Text,
    settings: FunctionSettings,
) -> StreamFunction:
    """Make the function that runs the handlers of a consumer over the stream of a table, by its logical id."""
    name = resource_name("function", f"{table}-consumer")
    logs = log_group(name, logical_id("ConsumerLogs"), settings)
    failures = Queue(
        logical_id("ConsumerFailures"),
        resource_name("queue", f"{table}-consumer-failures"),
        invisible_s=max(30, settings.timeout_s),
        tags=settings.tags,
    )
    function = lambda_function(name, logical_id("Consumer"), STREAM_HANDLER, role, logs, settings)
    source = EventSource(
        logical_id("ConsumerSource"),
        function=Ref(function.logical_id),
        stream=Attribute(table_id, "StreamArn"),
        batch_size=min(consumer.batch_size or _BATCH_RECORDS, BATCH_RECORDS_MAX),
        parallelization=min(consumer.parallelization or 1, PARALLELIZATION_MAX),
        filters=stream_filters(blueprint, consumer),
        retries_max=_RETRIES_MAX,
        age_s_max=_AGE_S_MAX,
        destination=Attribute(failures.logical_id, "Arn"),
    )
    return StreamFunction(function, logs, failures, source)


def lambda_function(
    name: str,
    identifier: str,
    handler: str,
    role: Text,
    logs: LogGroup,
    settings: FunctionSettings,
    *,
    dead_letters: Text | None = None,
) -> Function:
    """Make a function of a design's package."""
    variables: dict[str, Text] = {**settings.variables}
    if settings.environment:
        variables[ENVIRONMENT] = json.dumps(dict(sorted(settings.environment.items())))
    return Function(
        identifier,
        name,
        handler,
        settings.code,
        role,
        runtime=settings.runtime,
        architecture=settings.architecture,
        memory_mb=settings.memory_mb,
        timeout_s=settings.timeout_s,
        environment=dict(sorted(variables.items())),
        log_group=Ref(logs.logical_id),
        dead_letters=dead_letters,
        tags=settings.tags,
    )


def log_group(function: str, identifier: str, settings: FunctionSettings) -> LogGroup:
    """Make the log group of a function: without one, Lambda makes it, and keeps its lines for ever."""
    name = resource_name("log-group", f"/aws/lambda/{function}")
    return LogGroup(identifier, name, settings.log_days, settings.tags)


def log_statement(logs: LogGroup) -> Statement:
    """Return what a function needs to write its log."""
    # The ARN that CloudFormation gives ends in ":*", which stands for the group's streams.
    return Statement(
        "WriteLog", ("logs:CreateLogStream", "logs:PutLogEvents"), (f"${{{logs.logical_id}.Arn}}",)
    )


def telling_statement(failures: Queue) -> Statement:
    """Return what a function, or a schedule, needs to send what failed to a queue."""
    return Statement("TellOfFailures", ("sqs:SendMessage",), (f"${{{failures.logical_id}.Arn}}",))
