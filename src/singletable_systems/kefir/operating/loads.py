"""Kefir's services: the patterns that each asks, the entities that it writes, and how often it is called.

Calls of each user in a month are assumed, so that their writes are those of 003:338 (`model.loads`).
"""

from __future__ import annotations

from typing import Final

from singletable.systems import Service
from singletable_systems.kefir.model.entities import Batch, BatchEvent, Device, Reminder, User
from singletable_systems.kefir.model.loads import POLLS_A_MONTH, USERS
from singletable_systems.kefir.services.accounts import Accounts
from singletable_systems.kefir.services.batches import Brewing
from singletable_systems.kefir.services.devices import Devices
from singletable_systems.kefir.services.dispatcher import Dispatcher
from singletable_systems.kefir.services.export import export_csv
from singletable_systems.kefir.services.reminders import Reminders
from singletable_systems.kefir.services.shared_batches import Sharing
from singletable_systems.shared.model import Estimate, services, worker

# Calls of each user in a month.
_BREWING: Final = "assumption, a share of the writes of 003:338: "
_CHANGED: Final = (Batch, BatchEvent)

SERVICES: Final[tuple[Service, ...]] = (
    *services(
        Estimate(USERS).per_user,
        (0.05, "assumption: 5 % of the users are new in a month", Accounts.sign_up, "user", (User,), "+User"),
        (0.02, _BREWING + "emails change", Accounts.change_email, "user", (User,), "~User(email)"),
        (0.02, _BREWING + "names change", Accounts.rename, "user", (User,), "~User(name)"),
        (
            0.4,
            _BREWING + "preferences are set",
            Accounts.set_preferences,
            "user",
            (User,),
            "~User(preferences)",
        ),
        (0.01, "assumption: who leaves asks first what goes", Accounts.deletion_plan, "user", (), "%User"),
        (
            0.01,
            "assumption: 1 % of the users leave in a month",
            Accounts.delete_all_data,
            "batches own_batch user",
            (User, Batch, BatchEvent, Reminder, Device),
            "batches! -Batch*Batch/User %Batch*Batch/User -User %User",
        ),
        (
            2.5,
            "assumption: 2.5 batches a month; 10 are stored (003:327)",
            Brewing.start,
            "user",
            _CHANGED,
            "user*0-1 [ ?User +Batch +BatchEvent*0-1 ]",
        ),
        (
            1.5,
            _BREWING + "jars are filled into bottles",
            Brewing.second_stage,
            "own_batch",
            _CHANGED,
            (
                "own_batch [ "
                "~Batch(bottle_count,bottle_volume_ml,stage,start_time_stage2,status,target_hours_stage2,"
                "temperature_c_stage2,updated_at) "
                "+BatchEvent ]"
            ),
        ),
        (
            1.5,
            _BREWING + "batches go into the fridge",
            Brewing.to_fridge,
            "own_batch",
            _CHANGED,
            "own_batch [ ~Batch(archived_at,status,updated_at) +BatchEvent ]",
        ),
        (
            2.3,
            _BREWING + "batches are ready",
            Brewing.ready,
            "own_batch",
            _CHANGED,
            "own_batch [ ~Batch(archived_at,status,updated_at) +BatchEvent ]",
        ),
        (
            0.2,
            _BREWING + "batches ferment on",
            Brewing.resume,
            "own_batch",
            _CHANGED,
            "own_batch [ ~Batch(archived_at,status,updated_at) +BatchEvent ]",
        ),
        (
            2,
            _BREWING + "batches are archived",
            Brewing.archive,
            "own_batch reminders reminder",
            (Batch, BatchEvent, Reminder),
            (
                "own_batch [ ~Batch(archived_at,status,updated_at) +BatchEvent ] reminders! "
                "~Reminder(cancelled_at,status)*Reminder/Batch"
            ),
        ),
        (
            0.25,
            _BREWING + "batches are deleted",
            Brewing.delete,
            "own_batch",
            (Batch, BatchEvent, Reminder),
            "-Batch %Batch",
        ),
        (6, _BREWING + "notes", Brewing.note, "own_batch", (BatchEvent,), "own_batch [ ?Batch +BatchEvent ]"),
        (
            4,
            _BREWING + "photos",
            Brewing.photo,
            "own_batch",
            (BatchEvent,),
            "own_batch [ ?Batch +BatchEvent ]",
        ),
        (
            5,
            "assumption: two of a batch; 20 are stored (003:329)",
            Reminders.remind,
            "own_batch",
            (Reminder,),
            "[ ?Batch +Reminder ]",
        ),
        (
            0.5,
            _BREWING + "reminders are put off",
            Reminders.reschedule,
            "reminder",
            (Reminder,),
            "~Reminder(attempts,due_at,failure,next_try_at)",
        ),
        (
            0.5,
            _BREWING + "reminders are cancelled",
            Reminders.cancel,
            "reminder",
            (Reminder,),
            "~Reminder(cancelled_at,status)",
        ),
        (
            4,
            "assumption: four of five reminders are sent when their schedule runs",
            (Dispatcher.handle, Dispatcher.send_one),
            "reminder user devices",
            (Reminder, Device),
            "reminder ~Reminder(next_try_at) user devices! ~Reminder(failure,sent_at,status)",
        ),
        (
            0.9,
            _BREWING + "apps register their device when they start",
            Devices.register,
            "user device device_by_push_token",
            (Device,),
            (
                "device! device_by_push_token [ ?User =Device*0-1 "
                "~Device(device_info,last_seen_at,platform,push_token)*0-1 -Device*0-1 ]"
            ),
        ),
        (3, _BREWING + "devices are seen", Devices.seen, "device", (Device,), "~Device(last_seen_at)"),
        (0.1, _BREWING + "people sign out", Devices.forget, "device", (Device,), "-Device"),
        (
            0.4,
            _BREWING + "batches are shared",
            Sharing.share,
            "own_batch",
            (Batch,),
            "~Batch(is_public,public_note)",
        ),
        (
            0.1,
            _BREWING + "batches are shared no more",
            Sharing.unshare,
            "own_batch",
            (Batch,),
            "~Batch(is_public,public_note)",
        ),
        (
            1,
            "assumption: one shared batch a month, of 003:337",
            Sharing.shared,
            "public_batch own_batch",
            (),
            "public_batch own_batch",
        ),
        (
            0.1,
            "assumption: a tenth export their data",
            export_csv,
            "user user_data batch_activity",
            (),
            "user user_data! batch_activity!*Batch/User",
        ),
    ),
    *services(
        worker,
        (
            POLLS_A_MONTH,
            "assumption: the dispatcher looks every 5 seconds",
            (Dispatcher.step, Dispatcher.send_due),
            "due reminder user devices",
            (Reminder, Device),
            (
                "due:50*1-9~1 ~Reminder(next_try_at)*0-50~0.1 user*0-50~0.1 devices!*0-50~0.1 "
                "~Reminder(failure,sent_at,status)*0-50~0.1"
            ),
        ),
    ),
)
