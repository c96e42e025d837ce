"""Kefir: the data layer of an app for people who brew water kefir.

    from singletable_systems.kefir import Brewing, Kefir, UserId

    with Kefir.open("kefir.db", stage="dev") as db:
        db.batches(UserId("ada")).page(20)

keys, entities, design     the typed design: every key, attribute, index and access pattern of the document
brewing, accounts, ...     what users do, as small services over it; errors, what they refuse
dispatching, queueing      who sends the reminders that are due; pushing and scheduling, the ways to the outside
exporting                  all data of a user, as CSV
operations                 who may do what, and what is watched
seeding, system            made-up data; the system as the command line runs it
"""

from __future__ import annotations

from singletable_systems.kefir.accounts import Accounts
from singletable_systems.kefir.brewing import Brewing
from singletable_systems.kefir.design import BatchActivity, BatchView, Kefir, UserData
from singletable_systems.kefir.devices import Devices
from singletable_systems.kefir.dispatching import Dispatcher, workers
from singletable_systems.kefir.entities import (
    Batch,
    BatchEvent,
    Device,
    DeviceInfo,
    Preferences,
    Reminder,
    User,
)
from singletable_systems.kefir.errors import KefirError
from singletable_systems.kefir.exporting import export_csv
from singletable_systems.kefir.keys import BatchId, DeviceId, EventId, ReminderId, Stage, Status, UserId
from singletable_systems.kefir.pushing import ExpoPush, LocalPush, Push, PushUnavailableError
from singletable_systems.kefir.reminders import Reminders
from singletable_systems.kefir.scheduling import EventBridgeScheduler, LocalScheduler, Scheduler
from singletable_systems.kefir.sharing import SharedBatch, Sharing

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
