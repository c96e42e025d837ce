"""Creating, putting and deleting: nothing is overwritten unasked, and changes of others are noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from designs.drafts import Card, CardId, Code, Drafts, Visit
from designs.kefir import (
    Batch,
    BatchId,
    Device,
    DeviceId,
    Kefir,
    Preferences,
    Reminder,
    ReminderId,
    User,
    UserId,
)
from designs.tasks import ProjectId, Task, TaskId, Tasks
from singletable.clock import ManualClock
from singletable.design import Check, Create, Delete, Eq, Gt, Put, Update
from singletable.errors import (
    AlreadyExistsError,
    ConditionNotMetError,
    InvalidItemError,
    InvalidWriteError,
    ItemTooLargeError,
    LargeItemWarning,
    MissingKeyPartError,
    NotFoundError,
    SeparatorError,
    VersionConflictError,
)
from support.opened_designs import call, opened_design, stored_item, stored_items
from support.targets import EVERY_TARGET

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
USER, BATCH = UserId("u1"), BatchId("b1")


@pytest.fixture(params=EVERY_TARGET)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    clock.time_us = int(NOW.timestamp()) * 1_000_000
    with opened_design(Kefir, request.param, clock, stage="test") as opened:
        yield opened


@pytest.fixture(params=EVERY_TARGET)
def cards(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Drafts]:
    clock.time_us = int(NOW.timestamp()) * 1_000_000
    with opened_design(Drafts, request.param, clock) as opened:
        yield opened


@pytest.fixture(params=EVERY_TARGET)
def tasks(request: pytest.FixtureRequest) -> Iterator[Tasks]:
    with opened_design(Tasks, request.param) as opened:
        yield opened


def user(**fields: Any) -> User:
    return User(**{"user_id": USER, "email": "ada@example.com", **fields})


def batch(**fields: Any) -> Batch:
    values = {
        "user_id": USER,
        "batch_id": BATCH,
        "name": "Winter",
        "water_volume_ml": Decimal(1000),
        "sugar_grams": Decimal("37.5"),
        "temperature_c": Decimal("22.25"),
        "start_time": NOW,
        "target_hours_stage1": Decimal(48),
    }
    return Batch(**{**values, **fields})


def reminder(**fields: Any) -> Reminder:
    values = {
        "batch_id": BATCH,
        "reminder_id": ReminderId("r1"),
        "user_id": USER,
        "message": "stir",
        "due_at": NOW,
    }
    return Reminder(**{**values, **fields})


# --- create -----------------------------------------------------------------------------------------------


def test_create_stores_the_documented_item(db: Kefir) -> None:
    written = db.create(batch(created_at=NOW))
    assert written.units > 0
    assert stored_item(db, "USER#u1", "BATCH#b1") == {
        "PK": {"S": "USER#u1"},
        "SK": {"S": "BATCH#b1"},
        "GSI1PK": {"S": "BATCH#b1"},
        "GSI1SK": {"S": "STATUS#active#2025-01-20T10:30:00.000Z"},
        "GSI2PK": {"S": "STATUS#active#1"},
        "GSI2SK": {"S": "BATCH#2025-01-20T10:30:00.000Z#b1"},
        "entityType": {"S": "Batch"},
        "userId": {"S": "u1"},
        "batchId": {"S": "b1"},
        "name": {"S": "Winter"},
        "stage": {"N": "1"},
        "status": {"S": "active"},
        "waterVolumeMl": {"N": "1000"},
        "sugarGrams": {"N": "37.5"},
        "temperatureC": {"N": "22.25"},
        "startTime": {"S": "2025-01-20T10:30:00.000Z"},
        "targetHoursStage1": {"N": "48"},
        "createdAt": {"S": "2025-01-20T10:30:00.000Z"},
        "updatedAt": {"S": "2025-01-20T10:30:00.000Z"},
        "version": {"N": "1"},
        "isPublic": {"BOOL": False},
    }


def test_create_never_overwrites(db: Kefir) -> None:
    db.create(user(name="Ada"))
    with pytest.raises(AlreadyExistsError, match=r"User USER#u1 / METADATA is there already") as caught:
        db.create(user(name="Bob"))
    assert caught.value.number == "ST301"
    assert db.user(USER).one().name == "Ada"


def test_created_entity_is_filled_in_and_equals_a_fresh_read(db: Kefir, clock: ManualClock) -> None:
    made = user(preferences=Preferences(notifications_enabled=True, default_temperature_c=Decimal("21.5")))
    clock.jump(5.2509)
    written = db.create(made)
    assert written.entity is made
    assert made.created_at == made.updated_at == NOW + timedelta(seconds=5, milliseconds=250)
    assert made.version == 1
    assert made == db.user(USER).one()


def test_time_of_creation_that_is_given_stays(db: Kefir) -> None:
    before = NOW - timedelta(days=400)
    db.create(user(created_at=before))
    assert db.user(USER).one().created_at == before


def test_entity_is_unchanged_after_a_write_that_failed(db: Kefir, clock: ManualClock) -> None:
    db.create(user())
    second = user(name="Bob", created_at=NOW, updated_at=NOW)
    before = second.model_copy()
    clock.jump(60)
    attempts: list[Callable[[], Any]] = [
        lambda: db.create(second),
        lambda: db.put(second),
        lambda: db.update(second, name="Eve"),
    ]
    for attempt in attempts:
        with pytest.raises((AlreadyExistsError, VersionConflictError)):
            attempt()
        assert second == before
        assert second.model_fields_set == before.model_fields_set


def test_value_that_was_assigned_is_checked_before_it_is_stored(db: Kefir) -> None:
    made = batch()
    made.status = "lost"  # type: ignore[assignment]
    with pytest.raises(InvalidWriteError, match=r"Batch.status cannot be stored: Input should be 'active'"):
        db.create(made)
    assert stored_items(db) == []


def test_separator_in_a_key_is_refused(db: Kefir) -> None:
    with pytest.raises(SeparatorError):
        db.create(user(user_id=UserId("a#b")))


def test_item_that_is_too_large_is_refused_with_the_attribute_that_is(db: Kefir) -> None:
    with pytest.raises(ItemTooLargeError, match=r"message takes 400.0 KB"):
        db.create(reminder(message="x" * 400 * 1024))
    with pytest.warns(
        LargeItemWarning, match=r"ST206: an item of Reminder has 110.\d KB: message takes 110.0 KB"
    ):
        db.create(reminder(message="x" * 110 * 1024))


# --- put --------------------------------------------------------------------------------------------------


def test_put_without_a_version_replaces(db: Kefir) -> None:
    db.put(reminder(message="one"))
    db.put(reminder(message="two"))
    assert db.reminders(BATCH).one().message == "two"


def test_put_with_a_condition(db: Kefir) -> None:
    db.put(reminder(message="one", status="sent"))
    with pytest.raises(ConditionNotMetError, match="does not meet status = pending"):
        db.put(reminder(message="two"), when=Eq("status", "pending"))
    db.put(reminder(message="two"), when=Eq("status", "sent"))
    assert db.reminders(BATCH).one().message == "two"


def test_put_of_what_was_read_counts_the_version(db: Kefir) -> None:
    db.create(user())
    read = db.user(USER).one()
    read.name = "Ada"
    db.put(read)
    assert read.version == 2
    assert read == db.user(USER).one()


def test_put_of_a_new_entity_does_not_replace_a_versioned_one(db: Kefir) -> None:
    db.put(user())
    with pytest.raises(VersionConflictError, match="was read at version 0 and is at version 1 now"):
        db.put(user())


def test_of_two_who_have_read_the_second_to_write_is_told(db: Kefir) -> None:
    db.create(user())
    first, second = db.user(USER).one(), db.user(USER).one()
    db.update(first, name="first")
    for attempt in (
        lambda: db.update(second, name="second"),
        lambda: db.put(second),
        lambda: db.delete(second),
        lambda: db.transaction(Update(second, name="second")),
        lambda: db.transaction(Put(second)),
    ):
        with pytest.raises(VersionConflictError, match="was read at version 1 and is at version 2 now"):
            attempt()
    assert db.user(USER).one().name == "first"


def test_put_of_what_was_deleted_meanwhile_is_told(db: Kefir) -> None:
    db.create(user())
    read = db.user(USER).one()
    db.delete(User.key.get(*read.key))
    with pytest.raises(NotFoundError, match="User USER#u1 / METADATA is not there"):
        db.put(read)


@pytest.mark.parametrize("stored", [None, {"N": "0"}])
def test_items_from_before_there_were_versions_get_one(db: Kefir, stored: dict[str, str] | None) -> None:
    for write in (
        lambda entity: db.put(entity),
        lambda entity: db.update(entity, name="Ada"),
        lambda entity: db.delete(entity),
    ):
        db.create(user(user_id=UserId("old")))
        item = stored_item(db, "USER#old", "METADATA")
        assert item is not None
        del item["version"]
        call(db, "PutItem", Item=item if stored is None else {**item, "version": stored})
        read = db.user(UserId("old")).one()
        assert read.version == 0
        write(read)
        db.delete(User.key.get(*read.key))


def test_attributes_that_the_entity_does_not_know_survive(db: Kefir) -> None:
    db.create(batch())
    item = stored_item(db, "USER#u1", "BATCH#b1")
    extra = {"legacy": {"M": {"a": {"L": [{"N": "1"}]}}}, "GSI9PK": {"S": "x"}}
    call(db, "PutItem", Item={**(item or {}), **extra})
    read = db.batches(USER).one()
    db.put(read)
    db.update(read, status="ready")
    db.put(read.model_copy(update={"name": "Summer"}))
    now = stored_item(db, "USER#u1", "BATCH#b1") or {}
    assert {name: now.get(name) for name in extra} == extra
    assert now["name"] == {"S": "Summer"}


def test_put_removes_fields_that_have_no_value_and_keys_that_no_longer_hold(db: Kefir) -> None:
    db.put(reminder(sent_at=NOW))
    read = db.reminders(BATCH).one()
    read.status, read.sent_at = "cancelled", None
    db.put(read)
    item = stored_item(db, "BATCH#b1", "REMINDER#r1") or {}
    assert {"sentAt", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"}.isdisjoint(item)
    assert list(db.upcoming(USER, NOW).all()) == []


# --- delete -----------------------------------------------------------------------------------------------


def test_delete_by_entity_and_by_key(db: Kefir) -> None:
    made = Device(user_id=USER, device_id=DeviceId("d1"), platform="web", push_token="t", last_seen_at=NOW)
    db.create(made)
    assert db.delete(made).entity is None
    db.create(made)
    db.delete(Device.key.get(*made.key))
    assert stored_items(db) == []


def test_delete_of_nothing_is_no_mistake_unless_something_is_demanded(db: Kefir) -> None:
    db.delete(reminder())
    db.delete(Reminder.key.get(*reminder().key))
    with pytest.raises(NotFoundError):
        db.delete(reminder(), when=Eq("status", "pending"))
    db.create(user())
    read = db.user(USER).one()
    db.delete(read)
    with pytest.raises(NotFoundError):
        db.delete(read)


def test_delete_with_a_condition(db: Kefir) -> None:
    db.put(reminder())
    with pytest.raises(ConditionNotMetError, match="does not meet status = sent"):
        db.delete(reminder(), when=Eq("status", "sent"))
    db.delete(reminder(), when=Eq("status", "pending"))
    assert stored_items(db) == []


# --- transactions -----------------------------------------------------------------------------------------


def test_transaction_with_a_check(db: Kefir) -> None:
    db.create(user())
    made = batch()
    result = db.transaction(Check(db.user(USER)), Create(made), Put(reminder()))
    assert made.version == 1
    assert result.entity[1] is made
    assert result.units > 0
    with pytest.raises(NotFoundError, match="User USER#nobody / METADATA is not there"):
        db.transaction(Check(db.user(UserId("nobody"))), Delete(reminder()))
    with pytest.raises(ConditionNotMetError, match="does not meet version > 5"):
        db.transaction(Check(db.user(USER).one(), Gt("version", 5)), Delete(reminder()))
    assert db.batches(USER).one() == made
    assert db.reminders(BATCH).one().reminder_id == reminder().reminder_id


def test_transaction_does_not_delete_an_owner_without_what_it_owns(db: Kefir) -> None:
    made = db.create(batch()).entity
    db.put(reminder())
    with pytest.raises(
        InvalidWriteError, match="Batch owns other items, which a transaction would leave"
    ) as caught:
        db.transaction(Delete(made))
    assert caught.value.hint == "db.delete(...) deletes them too"
    assert db.batches(USER).one() == made


def test_transaction_that_is_refused_changes_nothing(db: Kefir) -> None:
    db.create(user())
    made = batch(created_at=NOW, updated_at=NOW)
    with pytest.raises(AlreadyExistsError):
        db.transaction(Create(made), Create(user()))
    assert made.version == 0
    assert list(db.batches(USER).all()) == []


def test_item_of_another_entity_under_the_key_is_not_taken_for_it(tasks: Tasks) -> None:
    key = {"PK": {"S": "PROJECT#p"}, "SK": {"S": "TASK#t"}}
    call(tasks, "PutItem", Item={**key, "entityType": {"S": "Stranger"}, "priority": {"N": "1"}})
    assert tasks.task(ProjectId("p"), TaskId("t")).maybe() is None
    with pytest.raises(InvalidItemError, match="is a stranger, not a Task"):
        tasks.update(tasks.task(ProjectId("p"), TaskId("t")), state="done")


def test_entity_that_cannot_have_a_key_says_what_is_missing() -> None:
    with Tasks.open(":memory:") as db, pytest.raises(MissingKeyPartError) as caught:
        db.create(Task.model_construct(project_id=ProjectId("p"), task_id=None, title="x"))
    assert "task_id" in str(caught.value)


# --- time to live -----------------------------------------------------------------------------------------

CARD = CardId("c1")


def ttl(db: Drafts, sk: str = "METADATA") -> int | None:
    item = stored_item(db, "CARD#c1", sk) or {}
    return int(item["ttl"]["N"]) if "ttl" in item else None


def seconds(moment: datetime) -> int:
    return int(moment.timestamp())


def test_draft_expires_and_publishing_it_removes_the_expiry(cards: Drafts) -> None:
    card = cards.create(Card(card_id=CARD, title="t")).entity
    assert ttl(cards) == seconds(NOW + timedelta(days=30))
    assert card.ttl == NOW + timedelta(days=30)
    cards.update(card, status="PUBLISHED")
    assert ttl(cards) is None
    assert card.ttl is None


def test_draft_that_is_published_by_a_put_does_not_expire(cards: Drafts) -> None:
    cards.create(Card(card_id=CARD, title="t"))
    card = cards.card(CARD).one()
    card.status = "PUBLISHED"
    cards.put(card)
    assert ttl(cards) is None
    card.status = "DRAFT"
    cards.put(card)
    assert ttl(cards) == seconds(NOW + timedelta(days=30))


def test_card_that_is_published_by_its_key_does_not_expire(cards: Drafts) -> None:
    cards.create(Card(card_id=CARD, title="t"))
    cards.update(cards.card(CARD), status="PUBLISHED")
    assert ttl(cards) is None
    cards.update(cards.card(CARD), status="DRAFT")
    assert ttl(cards) == seconds(NOW + timedelta(days=30))


def test_draft_does_not_live_longer_because_it_is_written_again(cards: Drafts, clock: ManualClock) -> None:
    card = cards.create(Card(card_id=CARD, title="t")).entity
    clock.jump(86_400)
    cards.update(card, title="u")
    cards.update(cards.card(CARD), status="DRAFT")
    cards.put(cards.card(CARD).one())
    assert ttl(cards) == seconds(NOW + timedelta(days=30))


def test_transaction_keeps_the_expiry_too(cards: Drafts) -> None:
    card = cards.create(Card(card_id=CARD, title="t")).entity
    cards.transaction(Update(card, status="PUBLISHED"))
    assert (ttl(cards), card.ttl, card.version) == (None, None, 2)
    assert card == cards.card(CARD).one()


def test_expiry_follows_the_time_that_it_counts_from(cards: Drafts) -> None:
    made = cards.create(Visit(card_id=CARD, visit_id="s", last_seen_at=NOW)).entity
    assert ttl(cards, "VISIT#s") == seconds(NOW + timedelta(hours=1))
    cards.update(made, last_seen_at=NOW + timedelta(minutes=30))
    assert ttl(cards, "VISIT#s") == seconds(NOW + timedelta(minutes=90))
    cards.update(cards.visit(CARD, "s"), last_seen_at=NOW + timedelta(minutes=60))
    assert ttl(cards, "VISIT#s") == seconds(NOW + timedelta(minutes=120))
    read = cards.visit(CARD, "s").one()
    read.last_seen_at = NOW
    cards.put(read)
    assert ttl(cards, "VISIT#s") == seconds(NOW + timedelta(hours=1))


def test_expiry_that_is_given_stays(cards: Drafts) -> None:
    until = NOW + timedelta(days=1)
    cards.create(Code(card_id=CARD, code="x", ttl=until))
    assert ttl(cards, "CODE#x") == seconds(until)
    cards.create(Code(card_id=CARD, code="y", ttl=None))
    assert ttl(cards, "CODE#y") is None
    cards.update(cards.code(CARD, "y"), ttl=until)
    assert ttl(cards, "CODE#y") == seconds(until)


def test_entity_has_its_expiry_as_it_is_stored_in_seconds(cards: Drafts) -> None:
    seen_at = NOW + timedelta(milliseconds=750)
    visit = cards.create(Visit(card_id=CARD, visit_id="s", last_seen_at=seen_at)).entity
    assert visit.ttl == NOW + timedelta(hours=1)
    assert visit == cards.visit(CARD, "s").one()
    code = cards.create(Code(card_id=CARD, code="x", ttl=seen_at + timedelta(days=1))).entity
    assert code == cards.code(CARD, "x").one()


def test_what_has_expired_is_not_there_for_create_and_update(cards: Drafts, clock: ManualClock) -> None:
    made = cards.create(Code(card_id=CARD, code="x", uses=7)).entity
    clock.jump(600)
    with pytest.raises(NotFoundError):
        cards.update(made, uses=8)
    with pytest.raises(NotFoundError):
        cards.update(cards.code(CARD, "x"), uses=8)
    cards.create(Code(card_id=CARD, code="x"))
    assert cards.code(CARD, "x").one().uses == 0
    with pytest.raises(AlreadyExistsError):
        cards.create(Code(card_id=CARD, code="x"))
