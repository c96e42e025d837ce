"""Schedules of reminders: their names, their moments, and what EventBridge Scheduler is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from singletable_systems.kefir.model.keys import BatchId, ReminderId
from singletable_systems.kefir.reactions.schedules import (
    EventBridgeScheduler,
    LocalScheduler,
    Schedule,
    at_expression,
    schedule_name,
)
from systems.moto_services import GROUP, Schedules, schedules

AT = datetime(2024, 1, 15, 10, 30, tzinfo=UTC)
PAYLOAD = {"batchId": "b1", "reminderId": "r1"}
ARN = f"arn:aws:scheduler:eu-north-1:123456789012:schedule/{GROUP}/r1-x"

ids = st.text(st.characters(exclude_characters="#", exclude_categories=["Cs"]), min_size=1, max_size=80)


# --- names and moments --------------------------------------------------------------------------------


@given(ids, ids)
def test_name_of_a_schedule_is_one_that_aws_takes(batch_id: str, reminder_id: str) -> None:
    name = schedule_name(BatchId(batch_id), ReminderId(reminder_id))
    assert re.fullmatch(r"[0-9a-zA-Z-_.]{1,64}", name)
    assert name == schedule_name(BatchId(batch_id), ReminderId(reminder_id))


@given(st.lists(st.tuples(ids, ids), unique=True, max_size=20))
def test_name_of_a_schedule_is_of_one_reminder(pairs: list[tuple[str, str]]) -> None:
    assert len({schedule_name(BatchId(batch), ReminderId(own)) for batch, own in pairs}) == len(pairs)


def test_names_that_differ_only_in_what_aws_does_not_take_are_different() -> None:
    names = {
        schedule_name(BatchId("b"), ReminderId(own)) for own in ("a b", "a_b", "a/b", "x" * 90, "x" * 91)
    }
    assert len(names) == 5
    assert all(name.startswith(("a_b-", "x" * 31 + "-")) for name in names)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (AT, "at(2024-01-15T10:30:00)"),
        (AT + timedelta(milliseconds=1), "at(2024-01-15T10:31:00)"),
        (AT + timedelta(seconds=59, milliseconds=999), "at(2024-01-15T10:31:00)"),
        (datetime(2024, 12, 31, 23, 59, 30, tzinfo=UTC), "at(2025-01-01T00:00:00)"),
        (datetime(2024, 1, 15, 11, 30, tzinfo=timezone(timedelta(hours=1))), "at(2024-01-15T10:30:00)"),
        (
            datetime(2024, 1, 15, 16, 15, tzinfo=timezone(timedelta(hours=5, minutes=45))),
            "at(2024-01-15T10:30:00)",
        ),
    ],
)
def test_schedule_runs_in_the_first_minute_that_is_not_too_early(at: datetime, expected: str) -> None:
    assert at_expression(at) == expected


# --- in this process ------------------------------------------------------------------------------------


def test_local_scheduler_keeps_the_last_moment_of_each_name() -> None:
    scheduler = LocalScheduler()
    first = scheduler.schedule("r1-x", AT, PAYLOAD)
    assert first == "arn:aws:scheduler:local:000000000000:schedule/kefir/r1-x"
    assert scheduler.schedule("r1-x", AT + timedelta(hours=1), PAYLOAD) == first
    assert scheduler.schedules == {"r1-x": Schedule(AT + timedelta(hours=1), PAYLOAD)}
    for _ in range(2):
        scheduler.cancel("r1-x")
        assert scheduler.schedules == {}


# --- EventBridge ----------------------------------------------------------------------------------------


@pytest.fixture
def kept() -> Iterator[Schedules]:
    with schedules() as kept:
        yield kept


def scheduler_of(client: Any, group: str = GROUP) -> EventBridgeScheduler:
    return EventBridgeScheduler(
        client,
        group=group,
        target_arn="arn:aws:lambda:eu-north-1:123456789012:function:kefir-reminders",
        role_arn="arn:aws:iam::123456789012:role/kefir-scheduler",
    )


def test_schedule_runs_once_at_its_moment_and_is_deleted_then(kept: Schedules) -> None:
    assert scheduler_of(kept.client).schedule("r1-x", AT, PAYLOAD) == ARN
    stored = kept.stored("r1-x")
    target = stored.pop("Target")
    assert stored == {
        "Arn": ARN,
        "Name": "r1-x",
        "GroupName": GROUP,
        "ScheduleExpression": "at(2024-01-15T10:30:00)",
        "ScheduleExpressionTimezone": "UTC",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "ActionAfterCompletion": "DELETE",
        "State": "ENABLED",
    }
    assert json.loads(target.pop("Input")) == PAYLOAD
    assert target == {
        "Arn": "arn:aws:lambda:eu-north-1:123456789012:function:kefir-reminders",
        "RoleArn": "arn:aws:iam::123456789012:role/kefir-scheduler",
    }


def test_name_of_any_reminder_is_accepted(kept: Schedules) -> None:
    names = [schedule_name(BatchId("b1"), ReminderId(own)) for own in ("r1", "a/b c", "Ärta" * 30, ".")]
    for name in names:
        scheduler_of(kept.client).schedule(name, AT, PAYLOAD)
    assert kept.names() == sorted(names)


def test_schedule_that_is_there_is_updated(kept: Schedules) -> None:
    scheduler = scheduler_of(kept.client)
    scheduler.schedule("r1-x", AT, PAYLOAD)
    before = kept.stored("r1-x")
    assert scheduler.schedule("r1-x", AT + timedelta(days=1), PAYLOAD) == ARN
    assert kept.stored("r1-x") == {**before, "ScheduleExpression": "at(2024-01-16T10:30:00)"}
    assert kept.requests == ["CreateSchedule", "CreateSchedule", "UpdateSchedule"]


def test_schedule_that_is_told_of_again_stays_the_same(kept: Schedules) -> None:
    scheduler = scheduler_of(kept.client)
    told = []
    for _ in range(3):
        assert scheduler.schedule("r1-x", AT, PAYLOAD) == ARN
        told.append(kept.stored("r1-x"))
    assert told[0] == told[1] == told[2]
    assert kept.names() == ["r1-x"]


def test_schedule_that_has_run_before_it_is_updated_is_made_anew(kept: Schedules) -> None:
    scheduler = scheduler_of(kept.client)
    scheduler.schedule("r1-x", AT, PAYLOAD)
    kept.runs_before_update = 1
    assert scheduler.schedule("r1-x", AT, PAYLOAD) == ARN
    assert kept.names() == ["r1-x"]
    assert kept.requests[1:] == ["CreateSchedule", "UpdateSchedule", "CreateSchedule"]


def test_schedule_is_cancelled_whether_it_is_there_or_not(kept: Schedules) -> None:
    scheduler = scheduler_of(kept.client)
    scheduler.schedule("r1-x", AT, PAYLOAD)
    scheduler.schedule("r2-x", AT, PAYLOAD)
    for _ in range(2):
        scheduler.cancel("r1-x")
        assert kept.names() == ["r2-x"]
    assert scheduler.schedule("r1-x", AT, PAYLOAD) == ARN
    assert kept.names() == ["r1-x", "r2-x"]


def test_group_that_is_missing_is_an_error(kept: Schedules) -> None:
    # Moto 5.2.5 raises a KeyError of its own for it.
    with Stubber(kept.client) as stub:
        stub.add_client_error(
            "create_schedule", "ResourceNotFoundException", "Schedule group other does not exist.", 404
        )
        with pytest.raises(ClientError, match="group other does not exist"):
            scheduler_of(kept.client, group="other").schedule("r1-x", AT, PAYLOAD)


def test_name_that_the_model_does_not_allow_is_refused(kept: Schedules) -> None:
    for name in ("a b", "x" * 65):
        with pytest.raises(ClientError, match="ValidationException"):
            scheduler_of(kept.client).schedule(name, AT, PAYLOAD)
    assert kept.names() == []
