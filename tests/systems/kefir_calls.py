"""Calls of every service of Kefir on its made-up data, in an order in which each can be made."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from singletable_systems.kefir.model.entities import Preferences
from singletable_systems.kefir.services.accounts import Accounts
from singletable_systems.kefir.services.batches import Brewing
from singletable_systems.kefir.services.devices import Devices
from singletable_systems.kefir.services.dispatcher import Dispatcher
from singletable_systems.kefir.services.export import export_csv
from singletable_systems.kefir.services.push import LocalPush
from singletable_systems.kefir.services.reminders import Reminders
from singletable_systems.kefir.services.shared_batches import Sharing
from systems.service_calls import ServiceCall

ADA: Any = "ada"


def calls(db: Any) -> Iterator[ServiceCall]:
    accounts, brewing, devices, sharing = Accounts(db), Brewing(db), Devices(db), Sharing(db)
    reminders, dispatcher = Reminders(db), Dispatcher(db, LocalPush())
    cold: Any = Preferences(notifications_enabled=True, default_temperature_c=Decimal(18))
    jar: dict[str, Any] = {"name": "New", "water_volume_ml": Decimal(1000), "sugar_grams": Decimal(60)}
    bottles: dict[str, Any] = {"bottle_count": 3, "bottle_volume_ml": Decimal(330)}
    hours = Decimal(48)
    soon = db.now() + timedelta(hours=3)
    yield "Accounts.sign_up", lambda: accounts.sign_up("new@example.com")
    yield "Accounts.change_email", lambda: accounts.change_email(ADA, "ada@example.com")
    yield "Accounts.rename", lambda: accounts.rename(ADA, "Ada L.")
    yield "Accounts.set_preferences", lambda: accounts.set_preferences(ADA, cold)
    yield "Accounts.deletion_plan", lambda: accounts.deletion_plan(ADA)
    yield "Brewing.start", lambda: brewing.start(ADA, **jar, target_hours_stage1=hours)
    yield "Brewing.start", lambda: brewing.start(ADA, **jar, target_hours_stage1=hours, note="First")
    yield (
        "Brewing.start",
        lambda: brewing.start(ADA, **jar, target_hours_stage1=hours, temperature_c=Decimal(20)),
    )
    yield (
        "Brewing.second_stage",
        lambda: brewing.second_stage(ADA, batch("09"), **bottles, target_hours_stage2=hours),
    )
    yield "Brewing.to_fridge", lambda: brewing.to_fridge(ADA, batch("09"))
    yield "Brewing.ready", lambda: brewing.ready(ADA, batch("07"))
    yield "Brewing.resume", lambda: brewing.resume(ADA, batch("05"))
    yield "Brewing.archive", lambda: brewing.archive(ADA, batch("06"))
    yield "Brewing.archive", lambda: brewing.archive(ADA, batch("07"))
    yield "Brewing.note", lambda: brewing.note(ADA, batch("09"), "Bubbles")
    yield "Brewing.photo", lambda: brewing.photo(ADA, batch("09"), photo_key="photos/1")
    yield "Brewing.delete", lambda: brewing.delete(ADA, batch("02"))
    yield "Reminders.remind", lambda: reminders.remind(ADA, batch("09"), "Taste it", soon)
    yield "Reminders.reschedule", lambda: reminders.reschedule(batch("10"), reminder("10-r1"), soon)
    yield "Reminders.cancel", lambda: reminders.cancel(batch("10"), reminder("10-r2"))
    event = {"batchId": "ada-09", "reminderId": "ada-09-r2"}
    later = db.now() + timedelta(hours=12)
    yield "Dispatcher.handle", lambda: dispatcher.handle(event, None)
    yield "Dispatcher.step", dispatcher.step
    yield "Dispatcher.step", lambda: dispatcher.send_due(later, limit=3)
    new: dict[str, Any] = {"platform": "ios", "push_token": "ExponentPushToken[new]"}
    yield "Devices.register", lambda: devices.register(ADA, device("ada-ios-9"), **new)
    yield "Devices.register", lambda: devices.register(ADA, device("ada-ios-9"), **new)
    yield "Devices.register", lambda: devices.register(ADA, device("ada-ios-8"), **new)
    yield "Devices.seen", lambda: devices.seen(ADA, device("ada-ios-1"))
    yield "Devices.forget", lambda: devices.forget(ADA, device("ada-web-3"))
    yield "Sharing.share", lambda: sharing.share(ADA, batch("05"), "Try it")
    yield "Sharing.unshare", lambda: sharing.unshare(ADA, batch("05"))
    yield "Sharing.shared", lambda: sharing.shared(batch("01"))
    with TemporaryDirectory() as folder:
        yield "export_csv", lambda: export_csv(db, ADA, Path(folder) / "ada")
    yield "Accounts.delete_all_data", lambda: accounts.delete_all_data(ADA)


def batch(number: str) -> Any:
    return f"ada-{number}"


def reminder(name: str) -> Any:
    return f"ada-{name}"


def device(name: str) -> Any:
    return name
