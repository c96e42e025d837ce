"""Devices: a push token is of one device, a device of one user, and the silent ones go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.kefir.errors import DeviceNotFoundError, UserNotFoundError
from singletable_systems.kefir.model.entities import Device, DeviceInfo
from singletable_systems.kefir.model.keys import DeviceId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.devices import Devices
from support.opened_designs import stored_items
from support.targets import TARGETS
from systems.kefir_users import ADA, BO, opened_kefir, sign_up, watched

PHONE, TABLET = DeviceId("phone"), DeviceId("tablet")
ONE, TWO = "ExponentPushToken[one]", "ExponentPushToken[two]"
DAY_S = 86400


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    with opened_kefir(request.param, clock) as db:
        sign_up(db, ADA)
        sign_up(db, BO)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[Kefir]:
    with opened_kefir("embedded", clock) as db:
        sign_up(db, ADA)
        sign_up(db, BO)
        yield db


def register(db: Kefir, user_id: UserId, device_id: DeviceId, push_token: str) -> Device:
    return Devices(db).register(user_id, device_id, platform="ios", push_token=push_token)


def all_devices(db: Kefir) -> list[tuple[str, str, str]]:
    """Return whose devices there are, with their tokens; each token leads to its device."""
    found = [device for user_id in (ADA, BO) for device in db.devices(user_id).consistent().all()]
    for device in found:
        assert db.device_by_push_token(device.push_token).one() == device
    locks = [item for item in stored_items(db) if item["PK"]["S"].startswith("PUSHTOKEN#")]
    assert len(locks) == len(found)
    return [(device.user_id, device.device_id, device.push_token) for device in found]


def test_new_device_is_registered(db: Kefir) -> None:
    info = DeviceInfo(model="Fairphone 5", os_version="15")
    device = Devices(db).register(ADA, PHONE, platform="android", push_token=ONE, device_info=info)
    assert db.device(ADA, PHONE).consistent().one() == device
    assert (device.platform, device.device_info, device.last_seen_at) == ("android", info, db.now())
    assert all_devices(db) == [(ADA, PHONE, ONE)]


def test_device_that_registers_again_is_the_same(db: Kefir, clock: ManualClock) -> None:
    info = DeviceInfo(model="Fairphone 5")
    first = Devices(db).register(ADA, PHONE, platform="ios", push_token=ONE, device_info=info)
    clock.advance(DAY_S)
    again = Devices(db).register(ADA, PHONE, platform="android", push_token=ONE)
    assert (again.created_at, again.device_info) == (first.created_at, info)
    assert (again.last_seen_at, again.platform) == (first.last_seen_at + timedelta(days=1), "android")
    assert db.device(ADA, PHONE).consistent().one() == again
    assert all_devices(db) == [(ADA, PHONE, ONE)]


def test_new_token_replaces_the_old_one(db: Kefir) -> None:
    register(db, ADA, PHONE, ONE)
    register(db, ADA, PHONE, TWO)
    assert all_devices(db) == [(ADA, PHONE, TWO)]
    assert db.device_by_push_token(ONE).maybe() is None


def test_token_comes_over_from_another_user(db: Kefir) -> None:
    register(db, ADA, PHONE, ONE)
    register(db, BO, PHONE, ONE)
    assert all_devices(db) == [(BO, PHONE, ONE)]


def test_token_comes_over_from_another_device_of_the_user(db: Kefir) -> None:
    register(db, ADA, PHONE, ONE)
    register(db, ADA, TABLET, ONE)
    assert all_devices(db) == [(ADA, TABLET, ONE)]


def test_token_comes_over_to_a_device_that_has_another(db: Kefir) -> None:
    register(db, ADA, PHONE, ONE)
    register(db, BO, TABLET, TWO)
    register(db, BO, TABLET, ONE)
    assert all_devices(db) == [(BO, TABLET, ONE)]


@pytest.mark.parametrize("first", [(ADA, PHONE), (ADA, TABLET), (BO, PHONE)], ids=str)
@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
def test_whoever_registers_a_token_last_has_it(
    memory: Kefir, first: tuple[UserId, DeviceId], is_known: bool
) -> None:
    if is_known:
        register(memory, ADA, PHONE, TWO)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            register(memory, *first, ONE)

    between.before = overtake
    register(slow, ADA, PHONE, ONE)
    assert all_devices(memory) == [(ADA, PHONE, ONE)]


def test_holder_of_a_token_that_gets_another_meanwhile_is_left_alone(memory: Kefir) -> None:
    register(memory, BO, TABLET, ONE)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            register(memory, BO, TABLET, TWO)

    between.before = overtake
    register(slow, ADA, PHONE, ONE)
    assert all_devices(memory) == [(ADA, PHONE, ONE), (BO, TABLET, TWO)]


def test_device_of_nobody_is_not_registered(memory: Kefir) -> None:
    with pytest.raises(UserNotFoundError, match="there is no user cy"):
        register(memory, UserId("cy"), PHONE, ONE)
    register(memory, ADA, PHONE, ONE)
    with pytest.raises(UserNotFoundError):
        register(memory, UserId("cy"), PHONE, ONE)
    assert all_devices(memory) == [(ADA, PHONE, ONE)]


def test_device_that_is_seen_lives_on(memory: Kefir, clock: ManualClock) -> None:
    register(memory, ADA, PHONE, ONE)
    register(memory, ADA, TABLET, TWO)
    clock.advance(200 * DAY_S)
    assert Devices(memory).seen(ADA, PHONE).last_seen_at == memory.now()
    clock.advance(100 * DAY_S)
    assert all_devices(memory) == [(ADA, PHONE, ONE)]
    with pytest.raises(DeviceNotFoundError, match="there is no device tablet"):
        Devices(memory).seen(ADA, TABLET)


@pytest.mark.parametrize("token", [ONE, TWO], ids=["same", "other"])
def test_silent_device_comes_back_before_it_is_swept(memory: Kefir, clock: ManualClock, token: str) -> None:
    register(memory, ADA, PHONE, ONE)
    clock.jump(300 * DAY_S)  # nothing is swept when a clock jumps
    assert memory.devices(ADA).first() is None
    register(memory, ADA, PHONE, token)
    assert all_devices(memory) == [(ADA, PHONE, token)]


def test_forgotten_device_is_gone_with_its_token(db: Kefir) -> None:
    register(db, ADA, PHONE, ONE)
    devices = Devices(db)
    devices.forget(ADA, PHONE)
    devices.forget(ADA, PHONE)
    assert all_devices(db) == []
    with pytest.raises(DeviceNotFoundError):
        devices.seen(ADA, PHONE)
    register(db, BO, TABLET, ONE)
    assert all_devices(db) == [(BO, TABLET, ONE)]
