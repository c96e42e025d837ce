"""Kefir: the data layer of an app for people who brew water kefir.

    from singletable_systems.kefir import Brewing, Kefir, UserId

    with Kefir.open("kefir.db", stage="dev") as db:
        db.batches(UserId("ada")).page(20)

model       the typed design: every key, attribute, index and access pattern of the document
rules       pure decisions about batches
services    what users do; the dispatcher, which sends the reminders that are due; all data of a user, as CSV
reactions   what follows from changes, and `Kefir` itself: the design with its handlers
operating   the system as the command line runs it: made-up data, migrations, roles and alarms
errors      what is refused
"""

from __future__ import annotations

from singletable_systems.kefir.errors import KefirError
from singletable_systems.kefir.model.design import BatchActivity, BatchView, UserData
from singletable_systems.kefir.model.entities import (
    Batch,
    BatchEvent,
    Device,
    DeviceInfo,
    Preferences,
    Reminder,
    User,
)
from singletable_systems.kefir.model.keys import BatchId, DeviceId, EventId, ReminderId, Stage, Status, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.reactions.schedules import EventBridgeScheduler, LocalScheduler, Scheduler
from singletable_systems.kefir.services.accounts import Accounts
from singletable_systems.kefir.services.batches import Brewing
from singletable_systems.kefir.services.devices import Devices
from singletable_systems.kefir.services.dispatcher import Dispatcher, workers
from singletable_systems.kefir.services.export import export_csv
from singletable_systems.kefir.services.push import ExpoPush, LocalPush, Push, PushUnavailableError
from singletable_systems.kefir.services.reminders import Reminders
from singletable_systems.kefir.services.shared_batches import SharedBatch, Sharing

__all__ = [
    "Accounts",
    "Batch",
    "BatchActivity",
    "BatchEvent",
    "BatchId",
    "BatchView",
    "Brewing",
    "Device",
    "DeviceId",
    "DeviceInfo",
    "Devices",
    "Dispatcher",
    "EventBridgeScheduler",
    "EventId",
    "ExpoPush",
    "Kefir",
    "KefirError",
    "LocalPush",
    "LocalScheduler",
    "Preferences",
    "Push",
    "PushUnavailableError",
    "Reminder",
    "ReminderId",
    "Reminders",
    "Scheduler",
    "SharedBatch",
    "Sharing",
    "Stage",
    "Status",
    "User",
    "UserData",
    "UserId",
    "export_csv",
    "workers",
]
