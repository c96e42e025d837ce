"""Batches from the jar to the end: what has happened to each, and what its owner is reminded of.

A story ends with its batch as it is now: the last stage and status in the timeline are those of the batch.
Times are counted back from there. Reminders of the past are sent or cancelled, those of the future are pending.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final, Literal

from singletable import Entity
from singletable_systems.kefir.model.entities import Batch, BatchEvent, Reminder, User
from singletable_systems.kefir.model.keys import BatchId, EventId, ReminderId, Stage, Status, UserId
from singletable_systems.kefir.operating.seeding.people import FIRST_USER, KNOWN_USERS
from singletable_systems.kefir.operating.seeding.recipes import (
    BOTTLE_NOTES,
    FIRST_NOTES,
    JAR_NOTES,
    PUBLIC_NOTES,
    SPOILED_NOTES,
    Recipe,
    recipe,
)

Kind = Literal["in_jar", "in_bottles", "in_fridge", "ready", "drunk", "spoiled"]

_EVENT_COUNTS: Final[dict[Kind, int]] = {
    "in_jar": 3,
    "in_bottles": 5,
    "in_fridge": 6,
    "ready": 6,
    "drunk": 6,
    "spoiled": 3,
}
_REMINDER_COUNT: Final = 2
_STATUSES: Final[dict[Kind, Status]] = {
    "in_jar": "active",
    "in_bottles": "active",
    "in_fridge": "in_fridge",
    "ready": "ready",
    "drunk": "archived",
    "spoiled": "archived",
}
_CHILLING: Final = timedelta(hours=48)
_DAYS_PER_BATCH: Final = 18  # between the ends of two old batches of one user
_PUBLIC_EVERY: Final = 3
# The batches of known users are older by this, and their reminders due earlier: they lead the lists of all
# users.
_DAYS_AHEAD: Final = 8
_MINUTES_AHEAD: Final = 7


def entity_count(kind: Kind) -> int:
    """Return how many entities a story has."""
    return 1 + _EVENT_COUNTS[kind] + _REMINDER_COUNT


def story(owner: User, place: int, kind: Kind, chance: Random, now: datetime) -> Iterator[Entity]:
    """Make up a batch, its timeline and its reminders; the place is that among the owner's batches."""
    made = recipe(place + 1, chance)
    times = _times(owner, place, kind, made, chance, now)
    timeline = _Timeline(BatchId(f"{owner.user_id}-{place + 1:02}"), owner.user_id, chance)
    _tell(kind, made, times, timeline)
    yield _batch(timeline, kind, made, times, is_public=place % _PUBLIC_EVERY == 0)
    yield from timeline.events
    yield from _reminders(timeline, kind, made, times, now)


# --- when it happened ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Times:
    """When a batch was moved on; steps that have not happened yet have their planned times."""

    start: datetime
    bottled: datetime
    chilled: datetime
    ready: datetime
    end: datetime  # when it was archived; of all others, now


def _times(owner: User, place: int, kind: Kind, made: Recipe, chance: Random, now: datetime) -> _Times:
    stage1, stage2 = timedelta(hours=made.hours_stage1), timedelta(hours=made.hours_stage2)
    late = timedelta(minutes=chance.randrange(5, 240))  # nobody stands beside a jar and waits
    match kind:
        case "in_jar":
            start = now + _ahead(owner, place, chance, stage1) - stage1
        case "in_bottles":
            start = now - stage2 * chance.uniform(0.1, 0.9) - stage1 - late
        case "in_fridge":
            start = now - _CHILLING * chance.uniform(0.1, 0.9) - stage2 - stage1 - late
        case "ready":
            days = chance.uniform(1, 8) + (_DAYS_AHEAD if owner.user_id in KNOWN_USERS else 0)
            start = now - timedelta(days=days) - _CHILLING - stage2 - stage1 - late
        case "drunk" | "spoiled":
            days = _DAYS_PER_BATCH * (20 - place) + chance.uniform(0, _DAYS_PER_BATCH - 9)
            start = now - timedelta(days=days) - _CHILLING - stage2 - stage1 - late
    start = start.replace(second=0, microsecond=0)
    bottled = start + stage1 + late if kind != "in_jar" else start + stage1
    chilled, ready = bottled + stage2, bottled + stage2 + _CHILLING
    if kind == "spoiled":
        return _Times(start, bottled, chilled, ready, end=start + stage1 * 0.7)
    if kind == "drunk":
        return _Times(start, bottled, chilled, ready, end=ready + timedelta(days=chance.randrange(1, 7)))
    return _Times(start, bottled, chilled, ready, end=now)


def _ahead(owner: User, place: int, chance: Random, stage1: timedelta) -> timedelta:
    """Return how long a jar still takes: of two jars, one is done today, the other tomorrow if it can be."""
    behind = 0 if owner.user_id in KNOWN_USERS else _MINUTES_AHEAD
    today = timedelta(minutes=chance.randrange(0, 1440, 15) + behind)
    if place % 2:
        return min(stage1 * 0.9, timedelta(days=1) + today)
    # A dispatcher has a reminder to send, at every time of the day.
    return timedelta() if owner.user_id == FIRST_USER else today


# --- what happened ------------------------------------------------------------------------------------------


class _Timeline:
    """The events of one batch, in their order."""

    def __init__(self, batch_id: BatchId, user_id: UserId, chance: Random) -> None:
        self.batch_id = batch_id
        self.user_id = user_id
        self.chance = chance
        self.events: list[BatchEvent] = []

    def note(self, at: datetime, texts: tuple[str, ...]) -> None:
        self._add(self._about(at), type="note", note=self.chance.choice(texts))

    def photo(self, at: datetime) -> None:
        key = f"photos/{self.user_id}/{self.batch_id}/{len(self.events) + 1}.jpg"
        self._add(
            self._about(at), type="photo", photo_key=key, photo_url=f"https://photos.kefir.example/{key}"
        )

    def stage(self, at: datetime, before: Stage, after: Stage) -> None:
        self._add(at, type="stage_transition", from_stage=before, to_stage=after)

    def status(self, at: datetime, before: Status, after: Status) -> None:
        self._add(at, type="status_change", from_status=before, to_status=after)

    def _about(self, at: datetime) -> datetime:
        return at.replace(microsecond=self.chance.randrange(1000) * 1000)

    def _add(self, at: datetime, **fields: Any) -> None:
        event_id = EventId(f"{self.batch_id}-e{len(self.events) + 1}")
        self.events.append(BatchEvent(event_id=event_id, batch_id=self.batch_id, created_at=at, **fields))


def _tell(kind: Kind, made: Recipe, times: _Times, line: _Timeline) -> None:
    """Write the timeline of a story, up to now."""
    jar = min(times.bottled, times.end) - times.start
    line.note(times.start + timedelta(minutes=5), FIRST_NOTES)
    if kind == "spoiled":
        line.note(times.start + jar * 0.9, SPOILED_NOTES)
        line.status(times.end, "active", "archived")
        return
    if kind != "drunk":
        line.photo(times.start + jar * 0.4)
        line.note(times.start + jar * 0.7, JAR_NOTES)
    if kind == "in_jar":
        return
    line.stage(times.bottled, 1, 2)
    if kind in ("in_bottles", "in_fridge", "drunk"):
        bottles = min(times.chilled, times.end) - times.bottled
        line.note(times.bottled + bottles * 0.6, BOTTLE_NOTES)
    if kind == "in_bottles":
        return
    line.status(times.chilled, "active", "in_fridge")
    if kind == "in_fridge":
        return
    line.status(times.ready, "in_fridge", "ready")
    if kind == "drunk":
        line.status(times.end, "ready", "archived")


def _batch(line: _Timeline, kind: Kind, made: Recipe, times: _Times, *, is_public: bool) -> Batch:
    changes = [event for event in line.events if event.type in ("stage_transition", "status_change")]
    is_bottled = any(event.type == "stage_transition" for event in line.events)
    is_shared = is_public and kind in ("ready", "drunk")
    status = _STATUSES[kind]
    return Batch(
        batch_id=line.batch_id,
        user_id=line.user_id,
        name=made.name,
        stage=2 if is_bottled else 1,
        status=status,
        water_volume_ml=Decimal(made.water_volume_ml),
        sugar_grams=made.sugar_grams,
        fruits=made.fruits,
        temperature_c=made.temperature_c,
        start_time=times.start,
        target_hours_stage1=Decimal(made.hours_stage1),
        **(_bottles(made, times) if is_bottled else {}),
        created_at=times.start,
        updated_at=changes[-1].created_at if changes else times.start,
        archived_at=times.end if status == "archived" else None,
        is_public=True if is_shared else None,
        public_note=line.chance.choice(PUBLIC_NOTES) if is_shared else None,
        version=1 + len(changes),
    )


def _bottles(made: Recipe, times: _Times) -> dict[str, Any]:
    return {
        "bottle_count": made.bottle_count,
        "bottle_volume_ml": made.bottle_volume_ml,
        "temperature_c_stage2": made.temperature_c_stage2,
        "start_time_stage2": times.bottled,
        "target_hours_stage2": made.hours_stage2,
    }


# --- what the owner is reminded of -----------------------------------------------------------------------------


def _reminders(line: _Timeline, kind: Kind, made: Recipe, times: _Times, now: datetime) -> Iterator[Reminder]:
    stage1, stage2 = timedelta(hours=made.hours_stage1), timedelta(hours=made.hours_stage2)
    taste = (f"Taste {made.name}: still sweet?", times.start + stage1 / 2, times.start)
    bottle = (f"Time to bottle {made.name}", times.start + stage1, times.start)
    chill = (
        f"{made.name} has fizz by now: put the bottles into the fridge",
        times.bottled + stage2,
        times.bottled,
    )
    drink = (f"{made.name} is cold. Enjoy!", times.chilled + _CHILLING, times.chilled)
    told = {
        "in_jar": (taste, bottle),
        "spoiled": (taste, bottle),
        "in_bottles": (bottle, chill),
        "in_fridge": (chill, drink),
        "ready": (chill, drink),
        "drunk": (bottle, drink),
    }
    for number, (message, due_at, created_at) in enumerate(told[kind], start=1):
        yield _reminder(line, f"{line.batch_id}-r{number}", message, due_at, created_at, times, now)


def _reminder(
    line: _Timeline,
    reminder_id: str,
    message: str,
    due_at: datetime,
    created_at: datetime,
    times: _Times,
    now: datetime,
) -> Reminder:
    fields: dict[str, Any] = {}
    if due_at >= now:
        fields = {"status": "pending", "version": 1}
    elif due_at > times.end:  # the batch was archived before it was due
        fields = {"status": "cancelled", "cancelled_at": times.end, "version": 2}
    else:
        sent_at = due_at + timedelta(milliseconds=line.chance.randrange(800, 30_000))
        fields = {"status": "sent", "sent_at": sent_at, "attempts": 1, "version": 3}
    return Reminder(
        reminder_id=ReminderId(reminder_id),
        batch_id=line.batch_id,
        user_id=line.user_id,
        message=message,
        due_at=due_at,
        created_at=created_at,
        **fields,
    )
