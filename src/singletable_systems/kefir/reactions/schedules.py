"""Schedules of reminders: kept in this process, or run by Amazon EventBridge Scheduler.

A schedule is a promise to look at a reminder at its moment, never the reminder itself: that is in the table, and
the dispatcher finds it there whether it is woken or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final, Protocol

from singletable_systems.kefir.model.keys import BatchId, ReminderId

# "^[0-9a-zA-Z-_.]+$", 64 characters at most (EventBridge Scheduler, CreateSchedule, "Name").
_NAME_LENGTH_MAX: Final = 64
_NOT_IN_NAMES: Final = re.compile(r"[^0-9a-zA-Z\-_.]+")
_DIGEST_LENGTH: Final = 32


class Scheduler(Protocol):
    """Wakes somebody at a moment. Handlers run at least once, so both methods bear to be called again."""

    def schedule(self, name: str, at: datetime, payload: Mapping[str, str]) -> str:
        """Make the schedule of this name, or give it another moment; return its ARN, or nothing without one."""
        ...

    def cancel(self, name: str) -> None:
        """Let there be no schedule of this name."""
        ...


def schedule_name(batch_id: BatchId, reminder_id: ReminderId) -> str:
    """Return the name of a reminder's schedule: always the same, of no other reminder, and one that AWS takes."""
    # Neither id holds a "#", which separates the parts of their keys.
    digest = sha256(f"{batch_id}#{reminder_id}".encode()).hexdigest()[:_DIGEST_LENGTH]
    readable = _NOT_IN_NAMES.sub("_", reminder_id)[: _NAME_LENGTH_MAX - _DIGEST_LENGTH - 1]
    return f"{readable}-{digest}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """A moment, and the payload for the function that is invoked then."""

    at: datetime
    payload: Mapping[str, str]


class LocalScheduler:
    """Keeps schedules in this process. It wakes nobody: beside it, the dispatcher looks again and again."""

    def __init__(self) -> None:
        self.schedules: dict[str, Schedule] = {}

    def schedule(self, name: str, at: datetime, payload: Mapping[str, str]) -> str:
        """Keep a schedule."""
        self.schedules[name] = Schedule(at, dict(payload))
        return f"arn:aws:scheduler:local:000000000000:schedule/kefir/{name}"

    def cancel(self, name: str) -> None:
        """Forget a schedule."""
        self.schedules.pop(name, None)


class EventBridgeScheduler:
    """Amazon EventBridge Scheduler, by a boto3 client: `EventBridgeScheduler(boto3.client("scheduler"), ...)`.

    The group is one that is there, the target a Lambda function that runs `Dispatcher.handle`, and the role one
    that may invoke it.
    """

    def __init__(self, client: Any, *, group: str, target_arn: str, role_arn: str) -> None:
        self._client = client
        self._group = group
        self._target_arn = target_arn
        self._role_arn = role_arn

    def schedule(self, name: str, at: datetime, payload: Mapping[str, str]) -> str:
        """Create a schedule, or update the one that is there."""
        request = self._request(name, at, payload)
        errors = self._client.exceptions
        with suppress(errors.ConflictException):  # it is there
            return str(self._client.create_schedule(**request)["ScheduleArn"])
        with suppress(errors.ResourceNotFoundException):  # it has run in between, and is gone
            # "uses all values, including empty values, specified in the request and overrides the existing
            # schedule" (UpdateSchedule): so the request is the same, and whole.
            return str(self._client.update_schedule(**request)["ScheduleArn"])
        return str(self._client.create_schedule(**request)["ScheduleArn"])

    def cancel(self, name: str) -> None:
        """Delete a schedule, unless it has run and is gone."""
        with suppress(self._client.exceptions.ResourceNotFoundException):
            self._client.delete_schedule(Name=name, GroupName=self._group)

    def _request(self, name: str, at: datetime, payload: Mapping[str, str]) -> dict[str, Any]:
        return {
            "Name": name,
            "GroupName": self._group,
            "ScheduleExpression": at_expression(at),
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            # "For one-time schedules, this occurs after the schedule has invoked its target once" (user guide,
            # "Deleting a schedule"). Without it, schedules that have run count against the quota of the account.
            "ActionAfterCompletion": "DELETE",
            "State": "ENABLED",
            "Target": {
                "Arn": self._target_arn,
                "RoleArn": self._role_arn,
                "Input": json.dumps(dict(payload)),
            },
        }


def at_expression(at: datetime) -> str:
    """Return the expression of a one-time schedule that never runs before a moment.

    Its form is at(yyyy-mm-ddThh:mm:ss), without a zone, which is a parameter of its own. Schedules run "with 60
    second precision": one of 1:00 runs between 1:00:00 and 1:00:59 (user guide, "Schedule types"). A dispatcher
    that is woken too early finds a reminder that is not due, so the moment is rounded up to the minute.
    """
    utc = at.astimezone(UTC)
    minute = utc.replace(second=0, microsecond=0)
    if minute < utc:
        minute += timedelta(minutes=1)
    return f"at({minute:%Y-%m-%dT%H:%M:%S})"
