"""Workers as a Lambda function: a schedule names one, and it carries out steps while there are more, and time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from singletable import Database
from singletable.errors import DeclarationError
from singletable.systems import Scheduled, Step, System, Worker, find_system
from singletable.systems.scheduled import scheduled_handler
from singletable_systems.kefir.operating.functions import (
    SCHEDULE_GROUP,
    SCHEDULE_ROLE,
    SCHEDULE_TARGET,
    PollingScheduler,
)
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.perfectit import PerfectIt
from singletable_systems.smart_cooking import SmartCooking
from singletable_systems.smart_cooking.operating.functions import ARCHIVE_BUCKET
from singletable_systems.smart_cooking.reactions.archive import S3Archive
from systems.moto_services import GROUP, REGION, schedules


@dataclass
class Context:
    """As Lambda gives it: the time that is left goes down with each question."""

    left_ms: int

    def get_remaining_time_in_millis(self) -> int:
        self.left_ms -= 20_000
        return self.left_ms


@pytest.fixture
def database() -> Iterator[Database]:
    with Database.open(":memory:") as database:
        yield database


def counting(steps: list[Step], opened: list[Any]) -> System:
    """Return Kefir with a worker that has these steps."""

    def worker(db: Any) -> Worker:
        opened.append(db)
        return Worker("counter", 1.0, lambda: steps.pop(0))

    return replace(find_system("kefir"), scheduled=(Scheduled("counter", 1, worker),))


def test_steps_are_carried_out_while_there_are_more(database: Database) -> None:
    opened: list[Any] = []
    prepared: list[Any] = []
    system = counting([Step(3, more=True), Step(2), Step(7)], opened)
    handle = scheduled_handler(system, target=database, prepare=prepared.append, stage="test")
    assert handle({"worker": "counter"}, Context(900_000)) == {"done": 5}
    assert handle({"worker": "counter"}, Context(900_000)) == {"done": 7}
    assert opened == prepared
    assert len(opened) == 1  # the design stays open between events


def test_steps_stop_before_the_time_is_over(database: Database) -> None:
    steps = [Step(1, more=True)] * 10
    handle = scheduled_handler(counting(steps, []), target=database, stage="test")
    assert handle({"worker": "counter"}, Context(60_000)) == {"done": 3}


def test_unknown_worker_is_named(database: Database) -> None:
    handle = scheduled_handler(counting([], []), target=database, stage="test")
    with pytest.raises(DeclarationError, match="kefir has no scheduled worker 'other'"):
        handle({"worker": "other"}, Context(60_000))


# --- what systems use on Lambda ----------------------------------------------------------------------------


def prepared(name: str, database: Database, **environment: Any) -> Any:
    system = find_system(name)
    db = system.design.open(database, create=True, **environment)
    assert system.prepare is not None
    system.prepare(db)
    return db


def test_kefir_makes_no_schedules_where_no_group_is_named(database: Database) -> None:
    db: Kefir = prepared("kefir", database, stage="test")
    assert isinstance(db.scheduler, PollingScheduler)


def test_schedule_of_kefir_wakes_its_dispatcher(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with schedules() as kept:
        monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
        monkeypatch.setenv(SCHEDULE_GROUP, GROUP)
        monkeypatch.setenv(SCHEDULE_TARGET, f"arn:aws:lambda:{REGION}:123456789012:function:workers")
        monkeypatch.setenv(SCHEDULE_ROLE, "arn:aws:iam::123456789012:role/schedules")
        db: Kefir = prepared("kefir", database, stage="test")
        db.scheduler.schedule(
            "r1", datetime(2026, 11, 18, 10, tzinfo=UTC), {"batchId": "b", "reminderId": "r"}
        )
        event = json.loads(kept.stored("r1")["Target"]["Input"])
    assert event == {"batchId": "b", "reminderId": "r", "worker": "kefir-dispatcher"}
    handle = scheduled_handler(find_system("kefir"), target=database, stage="test")
    assert handle(event, Context(60_000)) == {"done": 0}


def test_smart_cooking_archives_in_the_bucket_that_is_named(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    monkeypatch.setenv(ARCHIVE_BUCKET, "archive")
    db: SmartCooking = prepared("smart_cooking", database, environment="test")
    assert isinstance(db.archive, S3Archive)


def test_perfectit_has_no_backlog_that_a_function_would_forget(database: Database) -> None:
    db: PerfectIt = prepared("perfectit", database, environment="test")
    assert db.index_backlog is None
