"""How often Kefir's patterns are asked and its entities written: 100K reads and 50K writes a month of 1,000 users.

The document gives the two totals alone (003:335-338). How they are spread over patterns and entities is assumed:
somebody brews two or three batches a month, looks at them every other day, and is reminded of each twice.
"""

from __future__ import annotations

from typing import Final

from singletable import Writes
from singletable_systems.kefir.model.entities import Batch, BatchEvent, Device, Reminder, User
from singletable_systems.shared.model import Estimate, Loads, worker

USERS: Final = 1_000
POLLS_A_MONTH: Final = 30 * 86_400 // 5
_OF: Final = Estimate(USERS)
_READS: Final = "003:337 Reads: 100K requests a month for 1,000 users"
_WRITES: Final = "003:338 Writes: 50K requests a month for 1,000 users"

# Calls of each user in a month. Of those that send several requests, all of them count among the 100 of a user.
LOADS: Final[Loads] = {
    **_OF.each_per_user(_READS, user=10, user_by_email=1, batches=12, batch_by_id=4, own_batch=14),
    **_OF.each_per_user(_READS, batches_in=15, batch_view=6, public_batch=1, events=3, events_since=3),
    **_OF.each_per_user(_READS, reminders=2, reminder=4, devices=2, device=1),
    **_OF.each_per_user(
        _READS, upcoming=(6, 4, "of 20 reminders (003:329), one in five is taken to be pending")
    ),
    **_OF.each_per_user(_READS, device_by_push_token=1, user_data=0.1, batch_activity=0.9),
    "batches_by_status": worker(
        30, "assumption: once a day somebody looks at batches of a status, a page of 100", items=100
    ),
    "due": worker(
        POLLS_A_MONTH,
        "assumption: the dispatcher looks every 5 seconds, beside 003:337; 5,000 reminders a month are due",
        hottest=0.25,
        items=5_000 / POLLS_A_MONTH,
    ),
    User: Writes(
        create=_OF.per_user(0.05, _WRITES),
        update=_OF.per_user(
            0.44,
            f"{_WRITES}; most set preferences",
            changes={"email": 0.045, "name": 0.045, "preferences": 0.91},
        ),
        delete=_OF.per_user(0.01, _WRITES),
    ),
    Batch: Writes(
        create=_OF.per_user(2.5, _WRITES),
        update=_OF.per_user(
            8,
            f"{_WRITES}; six go on to another status, two are filled into bottles or shared",
            changes={"status": 0.75, "stage": 0.19, "is_public": 0.06},
        ),
        delete=_OF.per_user(0.25, _WRITES),
    ),
    BatchEvent: Writes(create=_OF.per_user(20, _WRITES), delete=_OF.per_user(1.25, _WRITES)),
    Reminder: Writes(
        create=_OF.per_user(5, _WRITES),
        update=_OF.per_user(
            8,
            f"{_WRITES}; each that is sent is claimed before, and one in ten is put off or cancelled",
            fails=0.01,
            changes={"status": 0.55, "next_try_at": 0.45, "due_at": 0.06},
        ),
        delete=_OF.per_user(0.5, _WRITES),
    ),
    Device: Writes(
        create=_OF.per_user(0.1, _WRITES),
        update=_OF.per_user(
            3.8,
            f"{_WRITES}; most say that a device was seen",
            changes={"last_seen_at": 1, "push_token": 0.05},
        ),
        delete=_OF.per_user(0.1, _WRITES),
    ),
}
