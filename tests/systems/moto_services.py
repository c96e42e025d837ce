"""EventBridge Scheduler and S3 as moto has them, in this process, for boto3's own clients.

What moto does not look at is checked before it: names and texts by AWS's model of the service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError
from moto import mock_aws

from support.targets import no_aws_settings

REGION: Final = "eu-north-1"
GROUP: Final = "kefir-test"
BUCKET: Final = "cooking-archive"
_AT: Final = re.compile(r"at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)")


@dataclass
class Schedules:
    """A group of schedules, seen by a client of its own."""

    client: Any
    """The one that is tried: its requests are noted and checked."""
    _looking: Any
    requests: list[str] = field(default_factory=list)
    runs_before_update: int = 0
    """How often a schedule runs, and is gone, just before it would be updated."""

    def names(self) -> list[str]:
        """Return the names of all schedules of the group."""
        return sorted(each["Name"] for each in self._looking.list_schedules(GroupName=GROUP)["Schedules"])

    def stored(self, name: str) -> dict[str, Any]:
        """Return a schedule as it is described, without what the service adds."""
        told: dict[str, Any] = self._looking.get_schedule(Name=name, GroupName=GROUP)
        for added in ("ResponseMetadata", "CreationDate", "LastModificationDate"):
            del told[added]
        del told["Target"]["RetryPolicy"]
        return told

    def look_at(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        """Note a request, and refuse what AWS's model does not allow, as the service does."""
        self.requests.append(model.name)
        wrong = mistakes(model.input_shape, params)
        if "ScheduleExpression" in params and _AT.fullmatch(params["ScheduleExpression"]) is None:
            wrong.append(f"Invalid Schedule Expression {params['ScheduleExpression']}")
        if wrong:
            error = {"Code": "ValidationException", "Message": "; ".join(wrong)}
            raise ClientError({"Error": error}, model.name)
        if model.name == "UpdateSchedule" and self.runs_before_update:
            self.runs_before_update -= 1
            self._looking.delete_schedule(Name=params["Name"], GroupName=GROUP)


@contextmanager
def schedules() -> Iterator[Schedules]:
    """Make a group of schedules, and a client for it."""
    with no_aws_settings(), mock_aws():
        looking, client = (boto3.client("scheduler", REGION) for _ in range(2))
        looking.create_schedule_group(Name=GROUP)
        found = Schedules(client, looking)
        client.meta.events.register("before-parameter-build.scheduler.*", found.look_at)
        yield found


@contextmanager
def bucket() -> Iterator[Any]:
    """Make a bucket; yield a client of S3."""
    with no_aws_settings(), mock_aws():
        client = boto3.client("s3", REGION)
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        yield client


def mistakes(shape: Any, value: Any, at: str = "") -> list[str]:
    """Return what a value has that its shape does not allow: members, lengths, patterns, enumerations."""
    if shape.type_name == "structure":
        wrong = [f"{at}{name} is missing" for name in shape.required_members if name not in value]
        for name, member in value.items():
            if name not in shape.members:
                wrong.append(f"{at}{name} is unknown")
            else:
                wrong += mistakes(shape.members[name], member, f"{at}{name}.")
        return wrong
    if not isinstance(value, str):
        return []
    allowed = shape.metadata
    is_right = (
        allowed.get("min", 0) <= len(value) <= allowed.get("max", len(value))
        and re.fullmatch(allowed.get("pattern", ".*"), value, re.DOTALL) is not None
        and value in allowed.get("enum", [value])
    )
    return [] if is_right else [f"{at[:-1]} is {value!r}"]
