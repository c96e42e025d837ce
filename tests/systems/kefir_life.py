"""Everything that is done with a Kefir: its patterns, its services and what runs beside it.

Each deed is named, so that a test can tell that none is missing, and is done in a Kefir where Ada and Bo have
settled in. Some are done twice, so that what is refused or repeated is among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from tempfile import TemporaryDirectory
from typing import Any

from singletable_systems.kefir import (
    Accounts,
    BatchId,
    Brewing,
    DeviceId,
    Devices,
    Dispatcher,
    Kefir,
    KefirError,
    Preferences,
    ReminderId,
    Reminders,
    Sharing,
    export_csv,
    workers,
)
from singletable_systems.kefir.services.push import DEVICE_GONE
from systems.kefir_reminders import ScriptedPush
from systems.kefir_users import ADA, BO, fill_bottles, start

Deed = Callable[[Kefir], Any]

SERVICES: tuple[type[Any], ...] = (Accounts, Brewing, Devices, Dispatcher, Reminders, Sharing)
R1 = ReminderId("r1")  # of every batch, pending and due in an hour
PHONE = DeviceId("ada-phone-0")
TOKEN = "ExponentPushToken[ada-phone-0]"


def batch_of_ada(db: Kefir) -> BatchId:
    return next(iter(db.batches(ADA).all())).batch_id


# --- the patterns ------------------------------------------------------------------------------------------

PATTERNS: Mapping[str, Deed] = {
    "user": lambda db: db.user(ADA).one(),
    "user_by_email": lambda db: db.user_by_email("ADA@example.com").maybe(),
    "batches": lambda db: list(db.batches(ADA).all()),
    "batch_by_id": lambda db: db.batch_by_id(batch_of_ada(db)).one(),
    "own_batch": lambda db: db.own_batch(ADA, batch_of_ada(db)).one(),
    "batches_by_status": lambda db: list(db.batches_by_status("in_fridge").all()),
    "batches_in": lambda db: list(db.batches_in(ADA, "in_fridge").all()),
    "batch_view": lambda db: db.batch_view(batch_of_ada(db)).one(),
    "public_batch": lambda db: db.public_batch(batch_of_ada(db)).maybe(),
    "events": lambda db: list(db.events(batch_of_ada(db)).all()),
    "events_since": lambda db: list(db.events_since(batch_of_ada(db), db.now()).all()),
    "reminders": lambda db: list(db.reminders(batch_of_ada(db)).all()),
    "reminder": lambda db: db.reminder(batch_of_ada(db), R1).maybe(),
    "upcoming": lambda db: list(db.upcoming(ADA, db.now()).all()),
    "due": lambda db: list(db.due(db.now() + timedelta(days=1)).all()),
    "devices": lambda db: list(db.devices(ADA).all()),
    "device": lambda db: db.device(ADA, PHONE).maybe(),
    "device_by_push_token": lambda db: db.device_by_push_token(TOKEN).maybe(),
    "user_data": lambda db: db.user_data(ADA).one(),
    "batch_activity": lambda db: db.batch_activity(batch_of_ada(db)).one(),
}


# --- the services ------------------------------------------------------------------------------------------


def _export(db: Kefir) -> None:
    with TemporaryDirectory() as folder:
        export_csv(db, ADA, folder)


def _shared(db: Kefir) -> None:
    with suppress(KefirError):
        Sharing(db).shared(batch_of_ada(db))


# What only reads; a reader is enough for it.
READING: Mapping[str, Deed] = {
    "Accounts.deletion_plan": lambda db: Accounts(db).deletion_plan(ADA),
    "Sharing.shared": _shared,
    "export_csv": _export,
}


def _sign_up(db: Kefir) -> None:
    Accounts(db).sign_up("eve@example.com")
    with suppress(KefirError):
        Accounts(db).sign_up("ada@example.com")


def _register(db: Kefir) -> None:
    devices = Devices(db)
    for user_id, name in ((BO, "new"), (BO, "new"), (ADA, "hers")):  # new, again, and a token that moves
        devices.register(user_id, DeviceId(name), platform="web", push_token="web-token")


def _archive(db: Kefir) -> None:
    Brewing(db).archive(ADA, batch_of_ada(db))


def _ready_and_resume(db: Kefir) -> None:
    Brewing(db).ready(ADA, batch_of_ada(db))
    Brewing(db).resume(ADA, batch_of_ada(db))


def _share(db: Kefir) -> None:
    Sharing(db).share(ADA, batch_of_ada(db), "Try it")
    Sharing(db).shared(batch_of_ada(db))


def _overdue(db: Kefir) -> BatchId:
    """Let a reminder be due."""
    batch_id = batch_of_ada(db)
    Reminders(db).reschedule(batch_id, R1, db.now() - timedelta(minutes=1))
    return batch_id


def _send_due(db: Kefir) -> None:
    _overdue(db)
    push = ScriptedPush()
    push.errors[TOKEN] = DEVICE_GONE
    assert Dispatcher(db, push).send_due() == 1
    workers(db)[0].step()


def _handle(db: Kefir) -> None:
    dispatcher = Dispatcher(db, ScriptedPush())
    assert dispatcher.handle({"batchId": _overdue(db), "reminderId": R1}, None) == {"sent": True}


WRITING: Mapping[str, Deed] = {
    "Accounts.sign_up": _sign_up,
    "Accounts.change_email": lambda db: Accounts(db).change_email(ADA, "countess@example.com"),
    "Accounts.rename": lambda db: Accounts(db).rename(ADA, "Ada"),
    "Accounts.set_preferences": lambda db: Accounts(db).set_preferences(
        ADA, Preferences(notifications_enabled=False, default_temperature_c=Decimal(20))
    ),
    "Accounts.delete_all_data": lambda db: Accounts(db).delete_all_data(ADA),
    "Brewing.start": lambda db: start(db, ADA, note="Smells of apricots"),
    "Brewing.second_stage": lambda db: fill_bottles(Brewing(db), ADA, batch_of_ada(db)),
    "Brewing.to_fridge": lambda db: Brewing(db).to_fridge(ADA, start(db, ADA).batch_id),
    "Brewing.ready": _ready_and_resume,
    "Brewing.resume": _ready_and_resume,
    "Brewing.archive": _archive,
    "Brewing.delete": lambda db: Brewing(db).delete(ADA, batch_of_ada(db)),
    "Brewing.note": lambda db: Brewing(db).note(ADA, batch_of_ada(db), "Bubbles"),
    "Brewing.photo": lambda db: Brewing(db).photo(ADA, batch_of_ada(db), photo_key="1.jpg"),
    "Devices.register": _register,
    "Devices.seen": lambda db: Devices(db).seen(ADA, PHONE),
    "Devices.forget": lambda db: Devices(db).forget(ADA, PHONE),
    "Sharing.share": _share,
    "Sharing.unshare": lambda db: Sharing(db).unshare(ADA, batch_of_ada(db)),
    "Reminders.remind": lambda db: Reminders(db).remind(ADA, batch_of_ada(db), "Taste it", db.now()),
    "Reminders.reschedule": _overdue,
    "Reminders.cancel": lambda db: Reminders(db).cancel(batch_of_ada(db), R1),
    "Dispatcher.send_due": _send_due,
    "Dispatcher.step": lambda db: (_overdue(db), Dispatcher(db, ScriptedPush()).step()),
    "Dispatcher.send_one": lambda db: Dispatcher(db, ScriptedPush()).send_one(_overdue(db), R1),
    "Dispatcher.handle": _handle,
}
