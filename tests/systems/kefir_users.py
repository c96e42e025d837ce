"""Kefir on any client, with users who have something of everything, and all that is stored of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

from singletable.clock import Clock
from singletable_systems.kefir.model.entities import Batch, Preferences, Reminder, ReminderStatus, User
from singletable_systems.kefir.model.keys import BatchId, DeviceId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.accounts import Accounts
from singletable_systems.kefir.services.batches import Brewing
from singletable_systems.kefir.services.devices import Devices
from support.design_clients import Between, on_client
from support.opened_designs import call, opened_design

ADA, BO = UserId("ada"), UserId("bo")


@contextmanager
def opened_kefir(target: str, clock: Clock) -> Iterator[Kefir]:
    """Open Kefir on a fresh target, one of `TARGETS`."""
    with opened_design(Kefir, target, clock, stage="test") as db:
        yield db


def watched(db: Kefir) -> tuple[Kefir, Between]:
    """Return the same Kefir once more, through a client that writes down its calls and can be interrupted."""
    between = Between(db.session.client)
    return on_client(Kefir, between, makes_table=False, **db.session.environment), between


def sign_up(db: Kefir, user_id: UserId) -> User:
    preferences = Preferences(notifications_enabled=True, default_temperature_c=Decimal("22.5"))
    return Accounts(db).sign_up(
        f"{user_id}@example.com", user_id=user_id, name="Åsa", preferences=preferences
    )


def start(db: Kefir, user_id: UserId, **others: Any) -> Batch:
    """Start a batch with a usual recipe."""
    recipe: dict[str, Any] = {
        "name": "Apricot",
        "water_volume_ml": Decimal(1000),
        "sugar_grams": Decimal("37.5"),
        "target_hours_stage1": Decimal(48),
        **others,
    }
    return Brewing(db).start(user_id, **recipe)


def fill_bottles(brewing: Brewing, user_id: UserId, batch_id: BatchId, **others: Any) -> Batch:
    """Fill a batch into the usual bottles."""
    bottles: dict[str, Any] = {
        "bottle_count": 3,
        "bottle_volume_ml": Decimal(330),
        "target_hours_stage2": Decimal(24),
        **others,
    }
    return brewing.second_stage(user_id, batch_id, **bottles)


def remind(db: Kefir, batch: Batch, name: str, status: ReminderStatus = "pending") -> Reminder:
    """Store a reminder of a batch, of any status, due in an hour."""
    reminder = Reminder(
        reminder_id=ReminderId(name),
        batch_id=batch.batch_id,
        user_id=batch.user_id,
        message="Taste it",
        due_at=db.now() + timedelta(hours=1),
        status=status,
    )
    return db.create(reminder).entity


def settle_in(db: Kefir, user_id: UserId, batches: int = 2) -> list[Batch]:
    """Let a user sign up and make something of everything."""
    sign_up(db, user_id)
    brewing = Brewing(db)
    started = [start(db, user_id, name=f"{user_id} {number}") for number in range(batches)]
    for batch in started:
        brewing.note(user_id, batch.batch_id, "Bubbles")
        brewing.to_fridge(user_id, batch.batch_id)
        remind(db, batch, "r1")
        remind(db, batch, "r2", "sent")
    for number in range(2):
        name = f"{user_id}-phone-{number}"
        Devices(db).register(user_id, DeviceId(name), platform="ios", push_token=f"ExponentPushToken[{name}]")
    return started


def everything(db: Kefir) -> dict[str, list[str]]:
    """Return all that is stored, in the table and as each index shows it: by a scan, which only tests may do."""
    found: dict[str, list[str]] = {}
    for place in ("table", "GSI1", "GSI2"):
        index = {} if place == "table" else {"IndexName": place}
        items: list[dict[str, Any]] = []
        start: dict[str, Any] = {}
        while True:
            answer = call(db, "Scan", **index, **start)
            items += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                break
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        found[place] = sorted(repr(sorted(item.items())) for item in items)
    return found


def nothing_but(db: Kefir, before: dict[str, list[str]]) -> bool:
    """Tell whether what is stored is what was there before, to the letter."""
    return everything(db) == before
