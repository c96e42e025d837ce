"""Kefir as it is operated: what expires, and what is deleted. All of it goes, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.kefir import (
    Accounts,
    Brewing,
    DeviceId,
    Devices,
    Kefir,
    UserId,
)
from support.opened_designs import stored_items
from support.streamed_tables import records_of
from systems.kefir_users import ADA, everything, opened_kefir, settle_in, sign_up, watched

DAY = date(2026, 3, 4)
DAY_S = 86_400
LIFE_S = 270 * DAY_S
Deletion = Callable[[ManualClock, int], tuple[float, list[str]]]
SERVICE = {"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(int(datetime.combine(DAY, time(12), UTC).timestamp()) * 1_000_000)


@pytest.fixture
def database(tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    with Database.open(tmp_path / "kefir.db", clock=clock) as opened:
        yield opened
        assert opened.check() == []


# --- what expires -----------------------------------------------------------------------------------------------


def register(db: Kefir, user_id: UserId, name: str) -> None:
    Devices(db).register(user_id, DeviceId(name), platform="ios", push_token=f"token-{name}")


def keys_in(db: Kefir) -> set[str]:
    return {f"{item['PK']['S']} {item['SK']['S']}" for item in stored_items(db)}


PHONE_KEYS = {"USER#ada DEVICE#phone", "PUSHTOKEN#token-phone UNIQUE"}


def test_device_that_was_silent_for_270_days_is_swept_with_its_lock(
    database: Database, clock: ManualClock
) -> None:
    with Kefir.open(database, stage="prod") as db:
        sign_up(db, ADA)
        register(db, ADA, "phone")
        clock.advance(LIFE_S - 1)
        assert keys_in(db) >= PHONE_KEYS
        register(db, ADA, "tablet")
        assert db.device(ADA, DeviceId("phone")).maybe() is not None
        clock.advance(2)
        assert keys_in(db).isdisjoint(PHONE_KEYS)
        assert keys_in(db) >= {"USER#ada DEVICE#tablet", "PUSHTOKEN#token-tablet UNIQUE"}
        assert database.metrics().time_to_live_deleted_items("kefir-app-prod-table") == 2
        assert db.verify().is_clean
        register(db, ADA, "phone")  # its token is free


def test_device_that_has_expired_is_hidden_until_it_is_swept(clock: ManualClock) -> None:
    with (
        Database.open(":memory:", clock=clock, ttl_sweep_s=None) as database,
        Kefir.open(database, stage="prod") as db,
    ):
        sign_up(db, ADA)
        register(db, ADA, "phone")
        clock.advance(LIFE_S)
        assert keys_in(db) >= PHONE_KEYS
        assert db.device(ADA, DeviceId("phone")).maybe() is None
        assert db.device_by_push_token("token-phone").maybe() is None
        assert list(db.devices(ADA).all()) == []
        assert db.user_data(ADA).one().devices == []
        clock.advance(1)
        assert database.sweep_expired() == 2
        assert keys_in(db).isdisjoint(PHONE_KEYS)


def test_device_that_is_seen_again_lives_on_with_its_lock(database: Database, clock: ManualClock) -> None:
    with Kefir.open(database, stage="prod") as db:
        sign_up(db, ADA)
        register(db, ADA, "phone")
        clock.advance(LIFE_S - 1)
        Devices(db).seen(ADA, DeviceId("phone"))
        clock.advance(LIFE_S - 1)
        assert keys_in(db) >= PHONE_KEYS
        assert db.device_by_push_token("token-phone").one().device_id == "phone"
        clock.advance(2)
        assert keys_in(db).isdisjoint(PHONE_KEYS)


def test_stream_tells_that_the_service_has_deleted_what_expired(
    database: Database, clock: ManualClock
) -> None:
    with Kefir.open(database, stage="prod") as db:
        sign_up(db, ADA)
        register(db, ADA, "phone")
        clock.advance(LIFE_S - 1)
        register(db, ADA, "tablet")
        Devices(db).forget(ADA, DeviceId("tablet"))
        clock.advance(2)
        table = database.describe_table(TableName=db.session.table)["Table"]
        records = records_of(database, table["LatestStreamArn"])
    removed = {
        _key(record): record.get("userIdentity") for record in records if record["eventName"] == "REMOVE"
    }
    tablet_keys = {"USER#ada DEVICE#tablet", "PUSHTOKEN#token-tablet UNIQUE"}
    assert removed == {**dict.fromkeys(PHONE_KEYS, SERVICE), **dict.fromkeys(tablet_keys)}


def _key(record: Any) -> str:
    keys = record["dynamodb"]["Keys"]
    return f"{keys['PK']['S']} {keys['SK']['S']}"


def test_nothing_but_devices_expires(database: Database, clock: ManualClock) -> None:
    with Kefir.open(database, stage="prod") as db:
        settle_in(db, ADA)
        before = keys_in(db)
        for _ in range(4):
            clock.advance(1000 * DAY_S)
        gone = before - keys_in(db)
        assert {key.partition("#")[0] for key in gone} == {"USER", "PUSHTOKEN"}
        assert all("DEVICE#" in key or "PUSHTOKEN#" in key for key in gone)


# --- what is deleted --------------------------------------------------------------------------------------------


def settle_in_beside(db: Kefir, users: int) -> None:
    for number in range(users):
        settle_in(db, UserId(f"user-{number}"))


def deletion_of_a_user(clock: ManualClock, users: int) -> tuple[float, list[str]]:
    """Delete Ada among so many others; return the units, and what was asked."""
    with opened_kefir("embedded", clock) as db:
        settle_in_beside(db, users)
        others = everything(db)
        settle_in(db, ADA)
        asking, between = watched(db)
        done = Accounts(asking).delete_all_data(ADA)
        assert everything(db) == others
        assert db.verify().is_clean
        return done.units, [_shown(call) for call in between.calls]


def deletion_of_a_batch(clock: ManualClock, users: int) -> tuple[float, list[str]]:
    """Delete a batch of Ada's among so many others; return the units, and what was asked."""
    with opened_kefir("embedded", clock) as db:
        settle_in_beside(db, users)
        batch, _ = settle_in(db, ADA)
        before = everything(db)
        asking, between = watched(db)
        done = Brewing(asking).delete(ADA, batch.batch_id)
        for place, items in everything(db).items():
            assert items == [item for item in before[place] if batch.batch_id not in item] != before[place]
        assert db.verify().is_clean
        return done.units, [_shown(call) for call in between.calls]


def _shown(call: Call) -> str:
    return f"{call.operation} {call.params.get('IndexName', 'table')}"


@pytest.mark.parametrize("delete", [deletion_of_a_user, deletion_of_a_batch])
def test_deleting_costs_the_same_however_many_others_there_are(clock: ManualClock, delete: Deletion) -> None:
    few_units, few_calls = delete(clock, 2)
    many_units, many_calls = delete(clock, 20)
    assert few_units > 0
    assert (few_units, few_calls) == (many_units, many_calls)
    assert not any(call.startswith("Scan") for call in many_calls)


def test_plan_of_a_deletion_costs_the_same_however_many_others_there_are(clock: ManualClock) -> None:
    units = []
    for users in (2, 20):
        with opened_kefir("embedded", clock) as db:
            settle_in_beside(db, users)
            settle_in(db, ADA)
            units.append(Accounts(db).deletion_plan(ADA).units)
    assert units[0] == units[1] > 0
