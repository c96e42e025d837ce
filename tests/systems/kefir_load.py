"""Brewers and plain writers at a Kefir over HTTP, who know what was acknowledged; and what must be stored then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from random import Random
from typing import Any, Protocol

from singletable.client import open_client
from singletable.errors import TargetUnreachableError
from singletable_systems.kefir import (
    Batch,
    BatchEvent,
    BatchId,
    Brewing,
    EventId,
    Kefir,
    Reminder,
    Reminders,
    Stage,
    Status,
    UserId,
)
from singletable_systems.kefir.rules.batches import ALLOWED

STAGE = "dev"
TABLE = "kefir-app-dev-table"
WAIT_S = 60.0
State = tuple[Stage, Status]


@dataclass
class Memory:
    """What one writer knows: what was acknowledged, and what was under way when nobody answered any more."""

    states: dict[BatchId, State] = field(default_factory=dict)
    under_way: dict[BatchId, State] = field(default_factory=dict)
    notes: list[BatchEvent] = field(default_factory=list)
    reminders: list[Reminder] = field(default_factory=list)


class Brewer:
    """A user who starts batches and moves them on, with a note and a reminder now and then."""

    def __init__(self, user_id: UserId, seed: int, memory: Memory) -> None:
        self._user_id = user_id
        self._random = Random(f"{seed} {user_id}")
        self._memory = memory

    def work(self, url: str) -> Iterator[None]:
        """Do one thing after the other; each is acknowledged when the next one is asked for."""
        with Kefir.open(url, stage=STAGE) as db:
            while True:
                self._step(db)
                yield

    def _step(self, db: Kefir) -> None:
        brewing, known = Brewing(db), self._memory
        if not known.states or self._random.random() < 0.2:
            batch = brewing.start(
                self._user_id,
                name="Loaded",
                water_volume_ml=Decimal(1000),
                sugar_grams=Decimal(50),
                target_hours_stage1=Decimal(48),
                temperature_c=Decimal(22),
            )
            known.states[batch.batch_id] = (1, "active")
            return
        batch_id = self._random.choice(list(known.states))
        stage, status = known.states[batch_id]
        match self._random.randrange(4):
            case 0:
                known.notes.append(brewing.note(self._user_id, batch_id, "Bubbles"))
            case 1 if status != "archived":
                due_at = db.now() + timedelta(seconds=self._random.choice([-60, 0, 3600]))
                known.reminders.append(Reminders(db).remind(self._user_id, batch_id, "Taste it", due_at))
            case 2 if stage == 1 and status != "archived":
                known.under_way[batch_id] = (2, "active")
                brewing.second_stage(
                    self._user_id,
                    batch_id,
                    bottle_count=3,
                    bottle_volume_ml=Decimal(330),
                    target_hours_stage2=Decimal(24),
                )
                known.states[batch_id] = known.under_way.pop(batch_id)
            case _:
                wanted = self._random.choice(sorted(ALLOWED[status]))
                known.under_way[batch_id] = (stage, wanted)
                move: dict[Status, Callable[[UserId, BatchId], Batch]] = {
                    "active": brewing.resume,
                    "in_fridge": brewing.to_fridge,
                    "ready": brewing.ready,
                    "archived": brewing.archive,
                }
                move[wanted](self._user_id, batch_id)
                known.states[batch_id] = known.under_way.pop(batch_id)


class PlainWriter:
    """Somebody with boto3 and no design, who puts notes into the timeline of a seeded batch."""

    def __init__(self, number: int, memory: Memory) -> None:
        self._number = number
        self._memory = memory
        self._batch_id = BatchId(f"ada-{number + 1:02}")

    def work(self, url: str) -> Iterator[None]:
        """Put one note after the other."""
        with Kefir.open(url, stage=STAGE) as db, open_client(url) as client:
            boto: Any = client.boto_client  # type: ignore[attr-defined]
            for number in count(len(self._memory.notes)):
                name = EventId(f"plain-{self._number}-{number}")
                note = BatchEvent(
                    event_id=name, batch_id=self._batch_id, type="note", note=name, created_at=db.now()
                )
                boto.put_item(TableName=TABLE, Item=Kefir.stored_item(note))
                self._memory.notes.append(note)
                yield


class Writer(Protocol):
    """Somebody who writes, and asks for the next thing to do when the last one was acknowledged."""

    def work(self, url: str) -> Iterator[None]: ...


class Load:
    """Writers, each in a thread of its own, until nobody answers any more."""

    def __init__(self, workers: Iterable[Writer], url: str) -> None:
        self._left = 0
        self._lock = threading.Lock()
        self._enough = threading.Event()
        self.problems: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(worker.work(url),), daemon=True) for worker in workers
        ]

    def wait_for(self, answers: int) -> None:
        """Let all begin, and wait for so many answers."""
        self._left = answers
        for thread in self._threads:
            thread.start()
        assert self._enough.wait(WAIT_S), self.problems

    def join(self) -> None:
        for thread in self._threads:
            thread.join(WAIT_S)
            assert not thread.is_alive(), "a writer hangs"

    def _run(self, work: Iterator[None]) -> None:
        try:
            for _ in work:
                with self._lock:
                    self._left -= 1
                    if self._left == 0:
                        self._enough.set()
        except Exception as error:
            if not isinstance(error, TargetUnreachableError) and "Endpoint" not in type(error).__name__:
                self.problems.append(error)
                self._enough.set()
        finally:
            work.close()  # type: ignore[attr-defined]


# --- what must be stored ------------------------------------------------------------------------------------


def assert_kept(db: Kefir, memory: Memory, user_id: UserId | None) -> None:
    """Assert that what was acknowledged is there, and that timelines tell how batches came to be as they are."""
    for note in memory.notes:
        assert note in list(db.events_since(note.batch_id, note.created_at - timedelta(milliseconds=1)).all())
    for reminder in memory.reminders:
        assert db.reminder(reminder.batch_id, reminder.reminder_id).maybe() is not None
    if user_id is None:
        return
    for batch in db.batches(user_id).all():
        if batch.name != "Loaded":
            continue
        assert told_by(db.events(batch.batch_id).all()) == (batch.stage, batch.status)
        known = memory.states.get(batch.batch_id)
        possible = {known, memory.under_way.pop(batch.batch_id, known)}
        assert known is None or (batch.stage, batch.status) in possible
        memory.states[batch.batch_id] = (batch.stage, batch.status)


def told_by(events: Iterable[BatchEvent]) -> State:
    """Follow a timeline from its beginning: every change begins where the one before it has ended."""
    stage: Stage = 1
    status: Status = "active"
    for event in events:
        if event.to_stage is not None:
            assert event.from_stage == stage
            stage = event.to_stage
        if event.to_status is not None:
            assert event.from_status == status
            status = event.to_status
    return stage, status
