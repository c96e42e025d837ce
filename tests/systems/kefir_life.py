"""Everything that is done with a Kefir, one thing after the other: its patterns, its services, its maintenance.

Each is named, so that a test can tell that none is missing, and works on a Kefir in which Ada and Bo have settled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from tempfile import TemporaryDirectory
from typing import Any

from kefir_reminders import ScriptedPush
from kefir_users import ADA, BO, fill_bottles, start
from singletable_systems.kefir import (
    Accounts,
    Brewing,
    Devices,
    Dispatcher,
    Kefir,
    Preferences,
    Reminders,
    Sharing,
    export_csv,
    workers,
)
from singletable_systems.kefir.errors import EmailTakenError
from singletable_systems.kefir.keys import BatchId, DeviceId, ReminderId
from singletable_systems.kefir.pushing import DEVICE_GONE

Deed = Callable[[Kefir], Any]

SERVICES: Sequence[type[Any]] = (Accounts, Brewing, Devices, Dispatcher, Reminders, Sharing)


def a_batch(db: Kefir) -> BatchId:
    """Return a batch of Ada's, found without asking the client that is listened to."""
    return next(iter(db.batches(ADA).all())).batch_id
