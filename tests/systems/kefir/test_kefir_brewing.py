"""Brewing: batches go only where they may, the timeline tells of each change once, in the order of the changes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable.errors import AlreadyExistsError
from singletable_systems.kefir.errors import (
    BatchNotFoundError,
    ChangeRefusedError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.kefir.model.entities import Batch
from singletable_systems.kefir.model.keys import EventId, Status
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.batches import Brewing
from support.targets import TARGETS
from systems.kefir_timelines import BRING, stored, timeline, told
from systems.kefir_users import ADA, BO, fill_bottles, opened_kefir, sign_up, start

# From each status: where a batch may go. To stay is no change.
MAY = """
    active     active in_fridge ready archived
    in_fridge  active in_fridge ready archived
    ready      active in_fridge ready archived
    archived   active archived
"""
ROWS: dict[Status, list[str]] = {row.split()[0]: row.split()[1:] for row in MAY.strip().splitlines()}  # type: ignore[misc]
PAIRS = [(was, wanted) for was in BRING for wanted in BRING]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    with opened_kefir(request.param, clock) as db:
        sign_up(db, ADA)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[Kefir]:
    with opened_kefir("embedded", clock) as db:
        sign_up(db, ADA)
        yield db


def in_status(db: Kefir, status: Status) -> Batch:
    batch = start(db, ADA)
    return batch if status == "active" else BRING[status](Brewing(db), ADA, batch.batch_id)


# --- starting ---------------------------------------------------------------------------------------------


def test_batch_starts_active_in_its_jar_at_the_users_temperature(db: Kefir, clock: ManualClock) -> None:
    batch = start(db, ADA, fruits="lemon")
    assert stored(db, batch) == batch
    assert (batch.stage, batch.status, batch.version) == (1, "active", 1)
    assert (batch.temperature_c, batch.fruits) == (Decimal("22.5"), "lemon")
    assert batch.start_time == batch.created_at == db.now()
    assert timeline(db, batch) == []


@pytest.mark.parametrize("field", ["water_volume_ml", "sugar_grams", "target_hours_stage1"])
@pytest.mark.parametrize("amount", [Decimal("-0.001"), Decimal("NaN"), Decimal("Infinity")])
def test_batch_is_made_of_no_less_than_nothing(memory: Kefir, field: str, amount: Decimal) -> None:
    with pytest.raises(InvalidInputError, match=f"{field} is {amount}"):
        start(memory, ADA, **{field: amount})
    assert list(memory.batches(ADA).all()) == []


def test_batch_has_a_name(memory: Kefir) -> None:
    with pytest.raises(InvalidInputError, match="a batch has a name"):
        start(memory, ADA, name=" ")


@pytest.mark.parametrize(
    "wrong", [{"bottle_count": 0}, {"bottle_volume_ml": Decimal(-1)}, {"target_hours_stage2": Decimal(-1)}]
)
def test_batch_is_filled_into_bottles_that_there_are(memory: Kefir, wrong: dict[str, Any]) -> None:
    batch = start(memory, ADA)
    with pytest.raises(InvalidInputError, match=f"{next(iter(wrong))} is "):
        fill_bottles(Brewing(memory), ADA, batch.batch_id, **wrong)
    assert stored(memory, batch) == batch


def test_batch_can_have_started_earlier_and_elsewhere_in_the_house(memory: Kefir) -> None:
    yesterday = datetime(2023, 11, 13, 8, tzinfo=UTC)
    batch = start(memory, ADA, start_time=yesterday, temperature_c=Decimal(19))
    assert (batch.start_time, batch.temperature_c) == (yesterday, Decimal(19))


def test_note_of_a_start_is_the_first_event(memory: Kefir) -> None:
    batch = start(memory, ADA, note="New grains")
    assert told(memory, batch) == ["New grains"]


def test_batch_of_nobody_is_not_started(memory: Kefir) -> None:
    with pytest.raises(UserNotFoundError, match="there is no user bo"):
        start(memory, BO, temperature_c=Decimal(20))
    with pytest.raises(UserNotFoundError):
        start(memory, BO)
    assert memory.batches(BO).first() is None


def test_batch_needs_a_temperature_from_somebody(memory: Kefir) -> None:
    memory.update(memory.user(ADA), preferences=None)
    with pytest.raises(InvalidInputError, match="how warm is it"):
        start(memory, ADA)


# --- changes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("was", "wanted"), PAIRS, ids=[f"{was}-{wanted}" for was, wanted in PAIRS])
def test_batch_goes_only_where_it_may(memory: Kefir, clock: ManualClock, was: Status, wanted: Status) -> None:
    batch = in_status(memory, was)
    before = stored(memory, batch)
    events = told(memory, batch)
    clock.advance(60)
    if wanted not in ROWS[was]:
        with pytest.raises(ChangeRefusedError, match=f"is {was}, and cannot become {wanted}"):
            BRING[wanted](Brewing(memory), ADA, batch.batch_id)
        assert stored(memory, batch) == before
        assert told(memory, batch) == events
        return
    after = BRING[wanted](Brewing(memory), ADA, batch.batch_id)
    assert after == stored(memory, batch)
    if wanted == was:
        assert after == before
        assert told(memory, batch) == events
    else:
        assert (after.status, after.stage, after.updated_at) == (wanted, 1, memory.now())
        assert after.archived_at == (memory.now() if wanted == "archived" else None)
        assert told(memory, batch) == [*events, f"status_change None-None {was}-{wanted}"]
        assert timeline(memory, batch)[-1].created_at == memory.now()


def test_indexes_follow_the_status(db: Kefir) -> None:
    batch = start(db, ADA)
    Brewing(db).ready(ADA, batch.batch_id)
    assert [each.batch_id for each in db.batches_by_status("ready").all()] == [batch.batch_id]
    assert db.batches_by_status("active").first() is None
    assert db.batch_by_id(batch.batch_id).one().status == "ready"


@pytest.mark.parametrize("was", ["active", "in_fridge", "ready"])
def test_bottles_are_filled_and_ferment(memory: Kefir, clock: ManualClock, was: Status) -> None:
    batch = in_status(memory, was)
    clock.advance(60)
    after = fill_bottles(Brewing(memory), ADA, batch.batch_id, temperature_c_stage2=Decimal("20.5"))
    assert after == stored(memory, batch)
    assert (after.stage, after.status) == (2, "active")
    assert (after.bottle_count, after.bottle_volume_ml) == (3, Decimal(330))
    assert (after.temperature_c_stage2, after.target_hours_stage2) == (Decimal("20.5"), Decimal(24))
    assert after.start_time_stage2 == memory.now()
    statuses = "None-None" if was == "active" else f"{was}-active"
    assert told(memory, batch)[-1] == f"stage_transition 1-2 {statuses}"


def test_bottles_are_filled_once(memory: Kefir) -> None:
    batch = start(memory, ADA)
    brewing = Brewing(memory)
    first = fill_bottles(brewing, ADA, batch.batch_id)
    assert fill_bottles(brewing, ADA, batch.batch_id) == first
    with pytest.raises(ChangeRefusedError, match="in bottles already"):
        fill_bottles(brewing, ADA, batch.batch_id, bottle_count=4)
    assert len(timeline(memory, batch)) == 1


def test_archived_batch_is_not_filled_into_bottles(memory: Kefir) -> None:
    batch = in_status(memory, "archived")
    with pytest.raises(ChangeRefusedError, match="is archived"):
        fill_bottles(Brewing(memory), ADA, batch.batch_id)


def test_batch_of_somebody_else_is_not_found(memory: Kefir) -> None:
    sign_up(memory, BO)
    batch = start(memory, ADA)
    brewing = Brewing(memory)
    for change in BRING.values():
        with pytest.raises(BatchNotFoundError, match="there is no batch"):
            change(brewing, BO, batch.batch_id)
    with pytest.raises(BatchNotFoundError):
        fill_bottles(brewing, BO, batch.batch_id)
    with pytest.raises(BatchNotFoundError):
        brewing.note(BO, batch.batch_id, "mine?")
    with pytest.raises(BatchNotFoundError):
        brewing.photo(BO, batch.batch_id, photo_key="k")
    assert brewing.delete(BO, batch.batch_id).total == 0
    assert stored(memory, batch) == batch
    assert timeline(memory, batch) == []


# --- the timeline -------------------------------------------------------------------------------------------


def make_a_day_of_it(brewing: Brewing, batch: Batch) -> list[str]:
    """Do many things at once; return what the timeline should say."""
    mine = (ADA, batch.batch_id)
    brewing.note(*mine, "one")
    brewing.to_fridge(*mine)
    brewing.note(*mine, "two")
    brewing.photo(*mine, photo_key="p.jpg", note="three")
    brewing.resume(*mine)
    fill_bottles(brewing, *mine)
    brewing.note(*mine, "four")
    brewing.archive(*mine)
    return [
        "one",
        "status_change None-None active-in_fridge",
        "two",
        "three",
        "status_change None-None in_fridge-active",
        "stage_transition 1-2 None-None",
        "four",
        "status_change None-None active-archived",
    ]


def test_events_of_one_millisecond_are_all_kept_in_their_order(db: Kefir) -> None:
    batch = start(db, ADA)
    expected = make_a_day_of_it(Brewing(db), batch)
    assert told(db, batch) == expected


def test_changes_keep_their_order_when_a_clock_is_put_back(memory: Kefir, clock: ManualClock) -> None:
    batch = start(memory, ADA)
    brewing = Brewing(memory)
    brewing.to_fridge(ADA, batch.batch_id)
    clock.jump(-3600)
    brewing.note(ADA, batch.batch_id, "later")
    brewing.resume(ADA, batch.batch_id)
    assert told(memory, batch) == [
        "status_change None-None active-in_fridge",
        "later",
        "status_change None-None in_fridge-active",
    ]


def test_photo_is_kept_with_its_key_and_note(memory: Kefir) -> None:
    batch = start(memory, ADA)
    event = Brewing(memory).photo(ADA, batch.batch_id, photo_key="a/b.jpg", photo_url="https://x/b", note="ö")
    assert timeline(memory, batch) == [event]
    assert (event.type, event.photo_key, event.photo_url, event.note) == (
        "photo",
        "a/b.jpg",
        "https://x/b",
        "ö",
    )


def test_note_that_is_sent_again_is_kept_once(db: Kefir) -> None:
    batch = start(db, ADA)
    yesterday = db.now() - timedelta(days=1)
    for _ in range(2):
        Brewing(db).note(ADA, batch.batch_id, "Bubbles", at=yesterday, event_id=EventId("n1"))
    assert [event.created_at for event in timeline(db, batch)] == [yesterday]
    with pytest.raises(AlreadyExistsError):
        Brewing(db).note(ADA, batch.batch_id, "Other", at=yesterday, event_id=EventId("n1"))


def test_note_says_something(memory: Kefir) -> None:
    batch = start(memory, ADA)
    with pytest.raises(InvalidInputError, match="says something"):
        Brewing(memory).note(ADA, batch.batch_id, " \n")
    with pytest.raises(InvalidInputError):
        start(memory, ADA, note="")
