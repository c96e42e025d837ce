"""Tables to migrate: Kefir as its document has it, with items that no version of this library has written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from designs import kefir, kefir_v1
from singletable import Database
from singletable.client import Client
from singletable.client.calls import Steps, Together, Wait, Work
from singletable.clock import ManualClock
from singletable.design import Design
from singletable.design.plans.cursors import cursor_key
from singletable.design.session.session import Session
from singletable.design.tables.create import create_table
from singletable.migrate import AddIndex, Backfill, Migration, Rekey, Verify
from support.limited_targets import LimitedClient
from support.targets import TARGETS, opened

Item = dict[str, dict[str, Any]]
STAGE = {"stage": "test"}
TABLE = "kefir-app-test-table"
EVERYWHERE = [*TARGETS, "without transactions"]

PLACES = {
    "User": (),
    "Batch": ("by_id", "by_status"),
    "BatchEvent": (),
    "Reminder": ("by_user", "pending"),
    "Device": (),
}
STRANGER = {"PK": {"S": "CONFIG#1"}, "SK": {"S": "CONFIG"}, "owner": {"S": "somebody"}}
ADD_STATUS_INDEX = Migration(
    "0002_add_status_index",
    "Add status index",
    (
        AddIndex("GSI2"),
        Rekey(("BatchEvent",)),
        Backfill(PLACES),
        Verify({**PLACES, "BatchEvent": ("key",)}),
    ),
    None,
)


def design_on(client: Client, design: type[Design], environment: dict[str, str] = STAGE) -> Any:
    """Open a design on a client."""
    session = Session(
        client,
        design.table.name_in(environment),
        design.catalog,
        cursor_key(design.__name__, None),
        environment,
    )
    return design._on(session)


def text(**values: str) -> Item:
    return {name: {"S": value} for name, value in values.items()}


def old_batch(number: int, status: str = "active") -> Item:
    """A batch as the document's own code writes it: no discriminator, times to the second."""
    batch, created = f"b{number:03}", f"2024-01-15T10:{number // 60:02}:{number % 60:02}Z"
    return {
        **text(PK=f"USER#u{number % 3}", SK=f"BATCH#{batch}"),
        **text(GSI1PK=f"BATCH#{batch}", GSI1SK=f"STATUS#{status}#{created}"),
        **text(batchId=batch, userId=f"u{number % 3}", name=f"Batch {number}", status=status),
        **text(createdAt=created, updatedAt=created, startTime=created),
        "stage": {"N": "1"},
        "waterVolumeMl": {"N": "1000"},
        "sugarGrams": {"N": "37.5"},
        "temperatureC": {"N": "22"},
        "targetHoursStage1": {"N": "48"},
        "importedFrom": {"S": "paper"},
    }


def old_event(number: int) -> Item:
    batch, created = f"b{number:03}", f"2024-02-01T08:00:{number % 60:02}Z"
    return {
        **text(PK=f"BATCH#{batch}", SK=f"EVENT#{created}#e{number}"),
        **text(batchId=batch, eventId=f"e{number}", type="note", note="fizzy", createdAt=created),
    }


def old_reminder(number: int, status: str) -> Item:
    batch, due = f"b{number:03}", f"2024-03-01T09:00:{number % 60:02}Z"
    return {
        **text(PK=f"BATCH#{batch}", SK=f"REMINDER#r{number}"),
        **text(GSI1PK=f"USER#u{number % 3}", GSI1SK=f"DUE#{due}"),
        **text(batchId=batch, reminderId=f"r{number}", userId=f"u{number % 3}", message="taste it"),
        **text(dueAt=due, status=status, createdAt="2024-01-15T10:00:00Z"),
    }


def old_user(number: int) -> Item:
    created = "2024-01-01T00:00:00Z"
    return {
        **text(PK=f"USER#u{number}", SK="METADATA"),
        **text(userId=f"u{number}", email=f"u{number}@example.com", createdAt=created, updatedAt=created),
    }


def old_items(count: int) -> list[Item]:
    """Items of every entity that changes, `count` of each."""
    states = ("active", "in_fridge", "ready", "archived")
    items = [old_user(number) for number in range(3)]
    items += [old_batch(number, states[number % 4]) for number in range(count)]
    items += [old_event(number) for number in range(count)]
    items += [old_reminder(number, ("pending", "sent")[number % 2]) for number in range(count)]
    return items


def sleep_of(target: str, clock: ManualClock) -> Callable[[float], object]:
    """Return how a test waits: by its clock; DynamoDB Local makes its indexes in real time."""
    return clock.advance if target != "aws-local" else lambda seconds: Event().wait(min(seconds, 0.1))


@contextmanager
def fresh_client(target: str, clock: ManualClock | None = None) -> Iterator[Client]:
    """Open an empty target, one of `EVERYWHERE`."""
    clock = clock or ManualClock()
    if target != "without transactions":
        with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
            yield client
        return
    with Database.open(":memory:", clock=clock) as database:
        yield LimitedClient(database, sleep=clock.advance)
        assert database.check() == []


@contextmanager
def old_table(target: str, count: int = 6, clock: ManualClock | None = None) -> Iterator[Client]:
    """Open a target with the table of the first version, and old items in it."""
    clock = clock or ManualClock()
    with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
        client.run(create_table(design_on(client, kefir_v1.Kefir).session))
        for item in old_items(count):
            client.call("PutItem", {"TableName": TABLE, "Item": item})
        yield client


def kefir_on(client: Client) -> kefir.Kefir:
    opened_design: kefir.Kefir = design_on(client, kefir.Kefir)
    return opened_design


def stored(client: Client, *, records: bool = False) -> dict[tuple[str, str], Item]:
    """Return the whole table, by key; without the records of migrations unless they are asked for."""
    items: list[Item] = []
    params: dict[str, Any] = {"TableName": TABLE, "ConsistentRead": True}
    while True:
        answer = client.call("Scan", params)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            break
        params["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
    found = {(item["PK"]["S"], item["SK"]["S"]): item for item in items}
    return found if records else {key: item for key, item in found.items() if key[0] != "MIGRATIONS"}


def drive(client: Client, steps: Steps[Any], calls: int, between: Any = lambda: None) -> bool:
    """Go through so many calls at most, then abandon the steps as a killed process does; tell if they ended."""
    left = calls
    answer: Any = None
    error: Exception | None = None
    try:
        while True:
            step = steps.throw(error) if error is not None else steps.send(answer)
            answer, error, answers = None, None, []
            if isinstance(step, Wait):
                client._take(step)
                continue
            if isinstance(step, Work):
                answer = client._take(step)
                continue
            for call in step.calls if isinstance(step, Together) else (step,):
                if left == 0:
                    return False
                left -= 1
                between()
                try:
                    answers.append(client.call(call.operation, call.params))
                except Exception as raised:
                    error = error or raised
            answer = answers if isinstance(step, Together) else answers[0] if answers else None
    except StopIteration:
        return True
    finally:
        steps.close()
