"""Scheduled workers: a Lambda function that EventBridge Scheduler invokes, with its role and its dead letters.

A system says which of its workers run on AWS, and how often: `Scheduled("kefir-dispatcher", 1, dispatcher)`. One
function runs all of them; the event of a schedule names the worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from singletable.errors import StackError
from singletable.stack.functions import (
    FunctionSettings,
    lambda_function,
    log_group,
    log_statement,
    telling_statement,
)
from singletable.stack.names import logical_id, resource_name
from singletable.stack.packaging import WORKER_HANDLER
from singletable.stack.policies import Policy, Statement
from singletable.stack.resources import (
    Attribute,
    Function,
    LogGroup,
    Queue,
    Ref,
    Resource,
    Role,
    Schedule,
    ScheduleGroup,
    Sub,
    Trust,
)
from singletable.systems import Scheduled

_HOUR_MINUTES: Final = 60
_DAY_MINUTES: Final = 24 * _HOUR_MINUTES


@dataclass(frozen=True, slots=True)
class ScheduledWorkers:
    """The resources of scheduled workers, by what they are."""

    function: Function
    logs: LogGroup
    failures: Queue
    roles: tuple[Role, Role]
    """That of the function, and that of the schedules, which invoke it."""
    group: ScheduleGroup
    schedules: tuple[Schedule, ...]

    def resources(self) -> tuple[Resource, ...]:
        """Return them all."""
        return (self.logs, self.failures, self.function, *self.roles, self.group, *self.schedules)


def scheduled_workers(
    workers: Sequence[Scheduled],
    *,
    table: str,
    region: str,
    allowed: Sequence[Statement],
    settings: FunctionSettings,
) -> ScheduledWorkers:
    """Make the function and the schedules of workers. `allowed` is what they may do, as a writer of the table."""
    name = workers_name(table)
    logs = log_group(name, logical_id("WorkersLogs"), settings)
    failures = Queue(
        logical_id("WorkersFailures"), resource_name("queue", f"{table}-workers-failures"), tags=settings.tags
    )
    role_name = resource_name("role", f"{table}-workers-{region}")
    running = Role(
        logical_id("WorkersRole"),
        role_name,
        Trust(services=("lambda.amazonaws.com",)),
        (Policy(role_name, (*allowed, log_statement(logs), telling_statement(failures))),),
        says="runs the scheduled workers",
        tags=settings.tags,
    )
    role = Attribute(running.logical_id, "Arn")
    # A schedule calls the function asynchronously, and knows nothing of its errors: Lambda tells of those itself.
    failed = Attribute(failures.logical_id, "Arn")
    function = lambda_function(
        name, logical_id("Workers"), WORKER_HANDLER, role, logs, settings, dead_letters=failed
    )
    group = ScheduleGroup(logical_id("Schedules"), group_name(table), tags=settings.tags)
    invoking = _invoking_role(table, region, function, failures, settings)
    schedules = tuple(
        Schedule(
            logical_id("Schedule", worker.name),
            resource_name("schedule", f"{table}-{worker.name}"),
            rate(worker.every_minutes),
            Ref(group.logical_id),
            target=Attribute(function.logical_id, "Arn"),
            role=Attribute(invoking.logical_id, "Arn"),
            payload={"worker": worker.name},
            # The next time is soon: what failed is found again then.
            retries_max=0 if worker.every_minutes < _HOUR_MINUTES else 3,
            age_s_max=max(60, min(60 * worker.every_minutes, 24 * 3600)),
            dead_letters=failed,
            says=worker.about,
        )
        for worker in sorted(workers, key=lambda each: each.name)
    )
    return ScheduledWorkers(function, logs, failures, (running, invoking), group, schedules)


def group_name(table: str) -> str:
    """Return the name of the group of a table's schedules."""
    return resource_name("schedule-group", table)


def workers_name(table: str) -> str:
    """Return the name of the function of a table's workers."""
    return resource_name("function", f"{table}-workers")


def schedules_role_name(table: str, region: str) -> str:
    """Return the name of the role that the schedules of a table run with."""
    return resource_name("role", f"{table}-schedules-{region}")


def rate(every_minutes: int) -> str:
    """Return the expression of a schedule: rate(1 minute), rate(10 minutes), rate(1 hour), rate(2 days)."""
    if every_minutes < 1:
        raise StackError(
            f"a schedule of {every_minutes} minutes", hint="EventBridge Scheduler runs once a minute at most"
        )
    for unit, minutes in (("day", _DAY_MINUTES), ("hour", _HOUR_MINUTES), ("minute", 1)):
        count, rest = divmod(every_minutes, minutes)
        if count and not rest:
            return f"rate({count} {unit}{'' if count == 1 else 's'})"
    raise AssertionError(every_minutes)


def _invoking_role(
    table: str, region: str, function: Function, failures: Queue, settings: FunctionSettings
) -> Role:
    """Make the role that schedules run with: it invokes the function, and tells of what was dropped."""
    invoke = Statement("InvokeWorkers", ("lambda:InvokeFunction",), (f"${{{function.logical_id}.Arn}}",))
    name = schedules_role_name(table, region)
    return Role(
        logical_id("SchedulesRole"),
        name,
        # Schedules of another account cannot use the role (EventBridge Scheduler guide, "Confused deputy
        # prevention").
        Trust(
            services=("scheduler.amazonaws.com",),
            conditions={"StringEquals": {"aws:SourceAccount": Sub("${AWS::AccountId}")}},
        ),
        (Policy(name, (invoke, telling_statement(failures))),),
        says=f"EventBridge Scheduler invokes the workers of {table}",
        tags=settings.tags,
    )
