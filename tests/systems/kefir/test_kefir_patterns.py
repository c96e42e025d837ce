"""Every access pattern of Kefir on data full of traps: exact results and order, cursors, requests and units."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable_systems.kefir.model.keys import BatchId, DeviceId, ReminderId, Status, UserId
from support.targets import EVERY_TARGET_IN_TIME
from systems.brute_force import milliseconds
from systems.kefir_proof import Proof, opened_proof
from systems.kefir_world import (
    BATCH_IDS,
    DUE_AFTER_NOW,
    HEAVY_BATCH,
    HEAVY_REMINDERS_BATCH,
    HEAVY_USER,
    LONG_BATCH,
    MILLISECOND,
    NOW,
    STATUSES,
    USERS,
)

NOBODY = UserId("a")  # all of the others begin with it, or come close
NOTHING = BatchId("k1-")
ADA = USERS[0]
BATCHES = [BatchId(text) for text in (*BATCH_IDS, "k10-1", "K1-2", HEAVY_REMINDERS_BATCH)]
SOME_BATCHES = [LONG_BATCH, BatchId("k100"), BatchId("K1"), BatchId("~-3"), NOTHING]
MICROSECOND = timedelta(microseconds=1)
KATHMANDU = timezone(timedelta(hours=5, minutes=45))

moments = st.builds(
    lambda offset, finer, zone: (NOW + offset + finer * MICROSECOND).astimezone(zone),
    st.sampled_from([*DUE_AFTER_NOW, -10 * MILLISECOND, -5 * MILLISECOND, -4 * MILLISECOND]),
    st.integers(-2000, 2000),
    st.builds(timezone, st.integers(-23 * 60, 23 * 60).map(lambda minutes: timedelta(minutes=minutes))),
)
any_moment = settings(max_examples=20)


@pytest.fixture(scope="module", params=EVERY_TARGET_IN_TIME)
def kefir(request: pytest.FixtureRequest) -> Iterator[Proof]:
    with opened_proof(request.param) as proof:
        yield proof


# --- users and devices ------------------------------------------------------------------------------------


@pytest.mark.parametrize("user_id", [*USERS, NOBODY])
def test_user_by_id(kefir: Proof, user_id: UserId) -> None:
    kefir.finds_one(kefir.db.user(user_id), kefir.brute.user(user_id))


@pytest.mark.parametrize("user_id", [*USERS, NOBODY])
def test_devices_of_a_user_are_those_whose_time_is_not_over(kefir: Proof, user_id: UserId) -> None:
    kefir.finds_many(kefir.db.devices(user_id), kefir.brute.devices(user_id))


@pytest.mark.parametrize("device_id", ["d1", "d10", "d100", "d1000", "d10000", "d"])
def test_device_is_found_until_its_time_is_over(kefir: Proof, device_id: DeviceId) -> None:
    for user_id in USERS:
        kefir.finds_one(kefir.db.device(user_id, device_id), kefir.brute.device(user_id, device_id))


@pytest.mark.parametrize(
    "email",
    ["brewer.0@example.com", "BREWER.1@EXAMPLE.COM", "Brewer.5@Example.com", "brewer.@example.com", "brewer"],
)
def test_user_by_email_in_either_case(kefir: Proof, email: str) -> None:
    kefir.finds_one(kefir.db.user_by_email(email), kefir.brute.user_by_email(email))


@pytest.mark.parametrize("number", range(6))
def test_device_by_push_token_is_found_until_its_time_is_over(kefir: Proof, number: int) -> None:
    for user_id in USERS:
        token = f"ExponentPushToken[{user_id}-{number}]"
        kefir.finds_one(kefir.db.device_by_push_token(token), kefir.brute.device_by_push_token(token))


def test_some_devices_have_expired_and_some_have_not(kefir: Proof) -> None:
    devices = kefir.db.devices(ADA).all()
    assert [device.device_id for device in devices] == ["d1", "d10", "d100"]
    assert devices.usage.read == 6  # two are over, one is a stranger


# --- batches ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("user_id", [*USERS, NOBODY])
def test_batches_of_a_user(kefir: Proof, user_id: UserId) -> None:
    kefir.finds_many(kefir.db.batches(user_id), kefir.brute.batches(user_id))


@pytest.mark.parametrize("batch_id", [*BATCHES, NOTHING])
def test_batch_by_id(kefir: Proof, batch_id: BatchId) -> None:
    expected = kefir.brute.batch_by_id(batch_id)
    plan = kefir.db.batch_by_id(batch_id)
    kefir.finds_many(plan, expected, index="GSI1")
    assert plan.maybe() == (expected[0] if expected else None)


@pytest.mark.parametrize("user_id", [*USERS, NOBODY])
def test_own_batch_is_not_found_under_another_user(kefir: Proof, user_id: UserId) -> None:
    for batch_id in (*SOME_BATCHES, HEAVY_BATCH):
        kefir.finds_one(kefir.db.own_batch(user_id, batch_id), kefir.brute.own_batch(user_id, batch_id))


@pytest.mark.parametrize("batch_id", [*BATCHES, NOTHING])
def test_public_batch_is_one_that_its_owner_shares(kefir: Proof, batch_id: BatchId) -> None:
    expected = kefir.brute.public_batch(batch_id)
    plan = kefir.db.public_batch(batch_id)
    kefir.finds_many(plan, expected, index="GSI1")
    assert plan.maybe() == (expected[0] if expected else None)


def test_batches_are_private_unless_their_owner_says_otherwise(kefir: Proof) -> None:
    public = {batch_id: kefir.brute.batch_by_id(batch_id)[0].is_public for batch_id in BATCHES}
    assert set(public.values()) == {None, False, True}
    shared = [batch_id for batch_id in BATCHES if kefir.db.public_batch(batch_id).maybe()]
    assert shared == [batch_id for batch_id, is_public in public.items() if is_public is True]


@pytest.mark.parametrize("status", STATUSES)
def test_batches_of_all_users_by_status(kefir: Proof, status: Status) -> None:
    expected = kefir.brute.batches_by_status(status)
    assert len({batch.user_id for batch in expected}) > 2
    kefir.finds_many(kefir.db.batches_by_status(status), expected, index="GSI2")


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("user_id", [ADA, HEAVY_USER, UserId("Ada"), NOBODY])
def test_batches_of_a_user_in_a_status(kefir: Proof, user_id: UserId, status: Status) -> None:
    kefir.finds_many(kefir.db.batches_in(user_id, status), kefir.brute.batches_in(user_id, status))


def test_active_batches_of_a_user_are_asked_for_by_default(kefir: Proof) -> None:
    expected = kefir.brute.batches_in(ADA, "active")
    assert list(kefir.db.batches_in(ADA).all()) == expected != []


# --- events -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_id", [*SOME_BATCHES, HEAVY_BATCH])
def test_events_of_a_batch_oldest_and_newest_first(kefir: Proof, batch_id: BatchId) -> None:
    kefir.finds_many(kefir.db.events(batch_id), kefir.brute.events(batch_id))


@pytest.mark.parametrize("batch_id", [LONG_BATCH, HEAVY_BATCH, NOTHING])
@pytest.mark.parametrize(
    "since",
    [
        NOW - timedelta(days=1),
        NOW - 2 * MILLISECOND,
        (NOW - 2 * MILLISECOND).astimezone(KATHMANDU),
        NOW - MICROSECOND,
        NOW,
        NOW + MILLISECOND,
    ],
    ids=["a day", "2 ms", "2 ms in Kathmandu", "1 us", "now", "ahead"],
)
def test_events_since_a_moment_are_strictly_after_it(
    kefir: Proof, batch_id: BatchId, since: datetime
) -> None:
    kefir.finds_many(kefir.db.events_since(batch_id, since), kefir.brute.events_since(batch_id, since))


@any_moment
@given(moments)
def test_events_since_any_moment_in_any_zone(kefir: Proof, since: datetime) -> None:
    found = kefir.db.events_since(LONG_BATCH, since).all()
    assert list(found) == kefir.brute.events_since(LONG_BATCH, since)


def test_events_of_the_moment_itself_are_known_already(kefir: Proof) -> None:
    at = [event for event in kefir.brute.events(LONG_BATCH) if event.created_at == NOW - 2 * MILLISECOND]
    assert len(at) == 3
    since = kefir.db.events_since(LONG_BATCH, NOW - 2 * MILLISECOND).all()
    assert [event.event_id for event in since] == ["e3", "e4", "e5", "e0", "e1", "e2"]
    assert since.usage.read == 7  # with the stranger of the last moment; no reminder is read


# --- reminders --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_id", [*SOME_BATCHES, HEAVY_REMINDERS_BATCH])
def test_reminders_of_a_batch_are_those_of_every_status(kefir: Proof, batch_id: BatchId) -> None:
    kefir.finds_many(kefir.db.reminders(batch_id), kefir.brute.reminders(batch_id))


@pytest.mark.parametrize("batch_id", ["k1", "k", "k-1"])
def test_reminder_by_id(kefir: Proof, batch_id: BatchId) -> None:
    for reminder_id in ("k1-r0", "k1-r1", "k1-r", "k-r0", "x0", "!"):
        plan = kefir.db.reminder(batch_id, ReminderId(reminder_id))
        kefir.finds_one(plan, kefir.brute.reminder(batch_id, reminder_id))


@pytest.mark.parametrize("days", [None, 0, 1, 7, 400])
@pytest.mark.parametrize("user_id", [ADA, HEAVY_USER, UserId("ad"), NOBODY])
def test_upcoming_reminders_are_pending_and_from_now_on(
    kefir: Proof, user_id: UserId, days: int | None
) -> None:
    kefir.finds_many(
        kefir.db.upcoming(user_id, NOW, days),
        kefir.brute.upcoming(user_id, NOW, days),
        index="GSI1",
        ties=lambda reminder: milliseconds(reminder.due_at),
    )


@any_moment
@given(moments, st.none() | st.integers(0, 400), st.sampled_from(USERS))
def test_upcoming_reminders_from_any_moment_in_any_zone(
    kefir: Proof, now: datetime, days: int | None, user_id: UserId
) -> None:
    found = [milliseconds(each.due_at) for each in kefir.db.upcoming(user_id, now, days).all()]
    assert found == [milliseconds(each.due_at) for each in kefir.brute.upcoming(user_id, now, days)]


@pytest.mark.parametrize(
    "now",
    [NOW, NOW - MILLISECOND, NOW + MILLISECOND, NOW.astimezone(KATHMANDU), NOW - timedelta(days=99)],
    ids=["now", "1 ms ago", "in 1 ms", "now in Kathmandu", "before all"],
)
def test_due_reminders_of_all_users_are_pending_and_before_now(kefir: Proof, now: datetime) -> None:
    kefir.finds_many(kefir.db.due(now), kefir.brute.due(now), index="GSI2")


@any_moment
@given(moments)
def test_due_reminders_at_any_moment_in_any_zone(kefir: Proof, now: datetime) -> None:
    assert list(kefir.db.due(now).all()) == kefir.brute.due(now)


@any_moment
@given(moments)
def test_pending_reminder_is_due_or_upcoming_or_put_off(kefir: Proof, now: datetime) -> None:
    due = {reminder.reminder_id for reminder in kefir.db.due(now).all()}
    upcoming = {each.reminder_id for user_id in USERS for each in kefir.db.upcoming(user_id, now).all()}
    assert due.isdisjoint(upcoming)
    always = kefir.brute.due(datetime.max.replace(tzinfo=UTC))
    put_off = {
        reminder.reminder_id
        for reminder in always
        if milliseconds(reminder.due_at) < milliseconds(now) <= milliseconds(reminder.next_try_at)
    }
    assert due.isdisjoint(put_off)
    assert due | upcoming | put_off == {reminder.reminder_id for reminder in always}


# --- collections ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_id", [*SOME_BATCHES, HEAVY_BATCH, HEAVY_REMINDERS_BATCH])
def test_batch_view_has_the_newest_20_events_and_all_reminders(kefir: Proof, batch_id: BatchId) -> None:
    plan, expected = kefir.db.batch_view(batch_id), kefir.brute.batch_view(batch_id)
    calls = kefir.between.calls = []
    found = plan.found()
    assert found.item == expected
    assert found.units == kefir.costs.of(calls, {}).units
    assert plan.maybe() == expected


@pytest.mark.parametrize("user_id", [*USERS, NOBODY])
def test_data_of_a_user_is_all_of_the_partition(kefir: Proof, user_id: UserId) -> None:
    expected = kefir.brute.user_data(user_id)
    kefir.finds_one(kefir.db.user_data(user_id), expected)
    kefir.finds_one(kefir.db.user_data(user_id).consistent(), expected)


@pytest.mark.parametrize("batch_id", [*SOME_BATCHES, HEAVY_BATCH, HEAVY_REMINDERS_BATCH])
def test_activity_of_a_batch_is_all_of_the_partition(kefir: Proof, batch_id: BatchId) -> None:
    expected = kefir.brute.batch_activity(batch_id)
    kefir.finds_one(kefir.db.batch_activity(batch_id), expected)
    kefir.finds_one(kefir.db.batch_activity(batch_id).consistent(), expected)
