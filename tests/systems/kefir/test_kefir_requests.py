"""The requests that each access pattern of Kefir sends, and what they cost in units."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable.values.sizes import item_bytes
from singletable_systems.kefir.model.keys import BatchId
from singletable_systems.kefir.reactions.handlers import Kefir
from support.opened_designs import opened_design
from support.targets import TARGETS
from systems.kefir_examples import BATCH, DEVICE, EVENT, ITEMS, REMINDER, USER
from systems.kefir_proof import Proof, opened_proof
from systems.kefir_world import HEAVY_BATCH, HEAVY_REMINDERS_BATCH, HEAVY_USER, NOW
from systems.pattern_proof import shown


@pytest.fixture(scope="module", params=TARGETS)
def kefir(request: pytest.FixtureRequest) -> Iterator[Proof]:
    with opened_proof(request.param) as proof:
        yield proof


# --- requests ---------------------------------------------------------------------------------------------

AT = "2040-01-15T10:30:00.000Z"
IN_A_WEEK = "2040-01-22T10:30:00.000Z"
EARLIER = "2040-01-01T10:30:00.000Z"
STATUS_SHARDS = [
    f"Query, GSI2, GSI2PK = STATUS#active#{n} AND begins_with(GSI2SK, BATCH#), limit 26" for n in range(4)
]
DUE_SHARDS = [
    f"Query, GSI2, GSI2PK = REMINDER#PENDING#{n} AND GSI2SK BETWEEN DUE# AND DUE#{EARLIER}#, limit 26"
    for n in range(4)
]
# Pattern, arguments, and all requests that its first page, or the whole of it, begins with.
REQUESTS: dict[str, tuple[tuple[Any, ...], list[str]]] = {
    "user": (("zoe",), ["GetItem, USER#zoe, METADATA, consistent"]),
    "batches": (("zoe",), ["Query, table, PK = USER#zoe AND begins_with(SK, BATCH#), limit 50"]),
    "batch_by_id": (
        ("k2",),
        ["Query, GSI1, GSI1PK = BATCH#k2 AND begins_with(GSI1SK, STATUS#), limit 50"],
    ),
    "own_batch": (("ada", "k2"), ["GetItem, USER#ada, BATCH#k2, consistent"]),
    "batches_by_status": (("active",), STATUS_SHARDS),
    "batches_in": (
        ("zoe", "ready"),
        ["Query, table, PK = USER#zoe AND begins_with(SK, BATCH#), filtered, limit 50"],
    ),
    "batch_view": (
        ("k2",),
        [
            "Query, GSI1, GSI1PK = BATCH#k2 AND begins_with(GSI1SK, STATUS#), limit 1",
            "Query, table, PK = BATCH#k2 AND begins_with(SK, EVENT#), backward, limit 20",
            "Query, table, PK = BATCH#k2 AND begins_with(SK, REMINDER#)",
        ],
    ),
    "public_batch": (
        ("k2",),
        ["Query, GSI1, GSI1PK = BATCH#k2 AND begins_with(GSI1SK, STATUS#), filtered, limit 50"],
    ),
    "events": (("k2",), ["Query, table, PK = BATCH#k2 AND begins_with(SK, EVENT#), limit 50"]),
    "events_since": (
        ("k2", NOW),
        [f"Query, table, PK = BATCH#k2 AND SK BETWEEN EVENT#{AT}$ AND EVENT$, limit 50"],
    ),
    "reminders": (("k2",), ["Query, table, PK = BATCH#k2 AND begins_with(SK, REMINDER#), limit 50"]),
    "reminder": (("k2", "r"), ["GetItem, BATCH#k2, REMINDER#r, consistent"]),
    "upcoming": (
        ("zoe", NOW, 7),
        [f"Query, GSI1, GSI1PK = USER#zoe AND GSI1SK BETWEEN DUE#{AT} AND DUE#{IN_A_WEEK}, limit 50"],
    ),
    "due": ((NOW - timedelta(days=14),), DUE_SHARDS),
    "devices": (("zoe",), ["Query, table, PK = USER#zoe AND begins_with(SK, DEVICE#), filtered, limit 50"]),
    "user_by_email": (
        ("BREWER.0@example.COM",),
        [
            "GetItem, EMAIL#brewer.0@example.com, UNIQUE, consistent",
            "GetItem, USER#ada, METADATA, consistent",
        ],
    ),
    "device_by_push_token": (
        ("ExponentPushToken[ada-0]",),
        [
            "GetItem, PUSHTOKEN#ExponentPushToken[ada-0], UNIQUE, consistent",
            "GetItem, USER#ada, DEVICE#d1, consistent",
        ],
    ),
    "device": (("ada", "d1"), ["GetItem, USER#ada, DEVICE#d1"]),
    "user_data": (("zoe",), ["Query, table, PK = USER#zoe"]),
    "batch_activity": (("k2",), ["Query, table, PK = BATCH#k2"]),
}


def test_every_pattern_is_proved() -> None:
    assert set(REQUESTS) == set(Kefir.patterns())


@pytest.mark.parametrize("name", REQUESTS)
def test_pattern_sends_these_requests(kefir: Proof, name: str) -> None:
    arguments, expected = REQUESTS[name]
    plan = getattr(kefir.db, name)(*arguments)
    calls = kefir.between.calls = []
    if hasattr(plan, "page"):
        plan.page()
    else:
        plan.found()
    assert [shown(call) for call in calls] == expected


# --- pages of a megabyte ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "requests"),
    [
        ("events", (HEAVY_BATCH,), 2),
        ("batches", (HEAVY_USER,), 2),
        ("reminders", (HEAVY_REMINDERS_BATCH,), 2),
        ("batches_by_status", ("ready",), 5),  # four shards, one of them with more
        ("due", (NOW + timedelta(days=1),), 5),
        ("user_data", (HEAVY_USER,), 2),
        ("batch_activity", (HEAVY_BATCH,), 2),
    ],
)
def test_pattern_reads_on_behind_a_megabyte(
    kefir: Proof, name: str, arguments: tuple[Any, ...], requests: int
) -> None:
    plan = getattr(kefir.db, name)(*arguments)
    calls = kefir.between.calls = []
    if hasattr(plan, "all"):
        list(plan.all())
    else:
        plan.one()
    assert len(calls) == requests


# --- the sizes of the document ----------------------------------------------------------------------------


def of_bytes(entity: Any, size: int, field: str, **others: str) -> Any:
    """Return an example whose item has so many bytes; what else differs has the length that it had."""
    text = getattr(entity, field)
    more = size - item_bytes(ITEMS[type(entity).__name__])
    return entity.model_copy(update={**others, field: text + "x" * more})


def document_entities() -> Iterator[Any]:
    """Make what the document counts for a user (003:316-330), in the sizes that it names."""
    yield of_bytes(USER, 1024, "name")
    yield from (of_bytes(BATCH, 2048, "public_note", batch_id=f"b{n:02}") for n in range(10))
    yield from (of_bytes(EVENT, 2048, "note", event_id=f"evt{n:03}") for n in range(50))
    yield from (of_bytes(REMINDER, 1024, "message", reminder_id=f"rem{n:03}") for n in range(20))
    for n in range(3):
        yield DEVICE.model_copy(update={"device_id": f"dev{n:03}", "push_token": f"{n}" * 700})


@pytest.mark.parametrize("target", TARGETS)
def test_units_of_a_user_as_the_document_counts_one(target: str) -> None:
    with opened_design(Kefir, target, ManualClock(1_705_737_600_000_000), stage="test") as db:
        for entity in document_entities():
            db.create(entity)
        user_id, batch_id, one = USER.user_id, BATCH.batch_id, BatchId("b00")
        assert db.user(user_id).found().units == 1.0  # consistent
        assert db.batches(user_id).page().units == 2.5  # 20 KB
        assert db.batches_in(user_id, "ready").page().units == 2.5  # what is thrown away too
        assert db.batch_by_id(one).page().units == 0.5
        assert db.own_batch(user_id, one).found().units == 1.0
        assert db.events(batch_id).page().units == 12.5  # 100 KB
        assert db.events(batch_id).newest_first().page(20).units == 5.0  # 40 KB
        assert db.reminders(batch_id).page().units == 2.5  # 20 KB
        assert db.upcoming(user_id, REMINDER.due_at).page().units == 2.5
        assert db.devices(user_id).page().units == 0.5
        assert db.user_data(user_id).found().units == 3.0  # 21 KB, and three devices
        assert db.batch_activity(batch_id).found().units == 15.0  # 120 KB
        assert db.batch_activity(batch_id).consistent().found().units == 30.0
