"""What each access pattern can be asked in made-up data of any size: about the first user, and about everybody."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Final

from singletable.systems import Samples
from singletable_systems.kefir.keys import BatchId, ReminderId
from singletable_systems.kefir.seeding.people import FIRST_USER, devices, user

_SHARED: Final = BatchId(f"{FIRST_USER}-01")  # with everybody, and long over
_IN_JAR: Final = BatchId(f"{FIRST_USER}-09")


def samples(day: date) -> Samples:
    """Return the arguments of each pattern."""
    now = datetime.combine(day, time(), UTC)
    chance = Random("kefir 0")
    owner = user(0, chance, now)
    device = next(devices(owner, 0, chance, now))
    return {
        "user": {"user_id": owner.user_id},
        "user_by_email": {"email": owner.email},
        "batches": {"user_id": owner.user_id},
        "batch_by_id": {"batch_id": _IN_JAR},
        "own_batch": {"user_id": owner.user_id, "batch_id": _IN_JAR},
        "batches_by_status": {"status": "ready"},
        "batches_in": {"user_id": owner.user_id, "status": "active"},
        "batch_view": {"batch_id": _IN_JAR},
        "public_batch": {"batch_id": _SHARED},
        "events": {"batch_id": _IN_JAR},
        "events_since": {"batch_id": _SHARED, "since": now - timedelta(days=500)},
        "reminders": {"batch_id": _IN_JAR},
        "reminder": {"batch_id": _IN_JAR, "reminder_id": ReminderId(f"{_IN_JAR}-r1")},
        "upcoming": {"user_id": owner.user_id, "now": now, "days": 7},
        "due": {"now": now + timedelta(minutes=1)},
        "devices": {"user_id": owner.user_id},
        "device": {"user_id": owner.user_id, "device_id": device.device_id},
        "device_by_push_token": {"push_token": device.push_token},
        "user_data": {"user_id": owner.user_id},
        "batch_activity": {"batch_id": _IN_JAR},
    }
