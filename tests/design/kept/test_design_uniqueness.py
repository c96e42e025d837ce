"""Unique values: whatever is created, changed, replaced, expired or deleted, one item at most has each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from designs.accounts import (
    Accounts,
    Device,
    Devices,
    Invitation,
    Member,
    Note,
    ProfileSK,
    User,
    UserPK,
)
from singletable.clock import ManualClock
from singletable.design import Add, Create, Delete, Eq, Put, Update
from singletable.design.kept.unique import GRACE_S
from singletable.errors import AlreadyExistsError, DuplicateError, VersionConflictError
from support.design_clients import (
    ALL_TARGETS_AND_WAYS,
    ALL_TARGETS_AND_WAYS_IN_TIME,
    WRITES,
    Between,
    on_client,
    opened_anyhow,
)
from support.faulty_targets import Faulty, silent_reasons
from support.unique_locks import items_of, locks, wrong_locks


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


# What is refused, and shows the item in the way, crosses HTTP in the quick suite; the rest with `make soak`.
each_way = pytest.mark.parametrize("between", ALL_TARGETS_AND_WAYS, indirect=True)


@pytest.fixture(params=ALL_TARGETS_AND_WAYS_IN_TIME)
def between(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Between]:
    with opened_anyhow(request.param, clock=clock, sleep=clock.advance) as client:
        yield Between(client)


@pytest.fixture
def db(between: Between) -> Iterator[Accounts]:
    design = on_client(Accounts, between)
    between.calls.clear()
    yield design
    assert wrong_locks(design) == []


def user(number: int, **values: Any) -> User:
    given = {"tenant_id": "t", "email": f"{number}@x", "username": f"name{number}", **values}
    return User(user_id=str(number), **given)


def key(number: int) -> Any:
    return User.key.get(UserPK(user_id=str(number)), ProfileSK())


def now(clock: ManualClock) -> datetime:
    return datetime.fromtimestamp(clock.now_us() / 1_000_000, UTC)


# --- the lock --------------------------------------------------------------------------------------------


@each_way
def test_target_that_does_not_show_a_lock_in_the_way_is_asked_for_it(
    db: Accounts, between: Between, clock: ManualClock
) -> None:
    silent = on_client(Accounts, Faulty(between, silent_reasons), makes_table=False)
    db.create(user(1))
    with pytest.raises(DuplicateError, match="name1' is taken by USER#1"):
        silent.create(user(2, username="name1"))
    between.call("DeleteItem", {"TableName": "accounts", "Key": items_key(1)})
    clock.advance(GRACE_S + 1)
    silent.create(user(2, username="name1", email="1@x"))


def items_key(number: int) -> dict[str, Any]:
    return {"PK": {"S": f"USER#{number}"}, "SK": {"S": "PROFILE"}}


def test_lock_holds_the_key_of_its_owner_and_is_no_entity(db: Accounts) -> None:
    db.create(user(1))
    (lock,) = [item for item in items_of(db) if item["PK"] == {"S": "USERNAME#name1"}]
    lock.pop("$claim", None)
    assert lock == {
        "PK": {"S": "USERNAME#name1"},
        "SK": {"S": "UNIQUE"},
        "entityType": {"S": "$unique"},
        "$owner": {"S": "USER#1"},
        "$ownerSort": {"S": "PROFILE"},
        "$takenAt": {"S": "2023-11-14T22:13:20.000Z"},
    }
    assert db.catalog.schema_of(lock) is None


def test_lock_comes_into_no_index(db: Accounts) -> None:
    db.create(user(1))
    db.create(Note(note_id="1", owner="USER#1"))
    assert [note.note_id for note in db.notes("USER#1").all()] == ["1"]


def test_lock_of_a_table_without_sort_key_is_its_partition_key_alone(between: Between) -> None:
    devices = on_client(Devices, between)
    devices.create(Device(device_id="1", token="abc"))
    assert locks(devices) == {"TOKEN#abc": "DEVICE#1"}
    with pytest.raises(DuplicateError, match="token 'abc' is taken by DEVICE#1"):
        devices.create(Device(device_id="2", token="abc"))
    devices.delete(Device(device_id="1", token="abc"))
    assert locks(devices) == {}


@each_way
def test_taken_value_is_refused_with_entity_field_value_and_owner(db: Accounts) -> None:
    db.create(user(1))
    with pytest.raises(DuplicateError) as caught:
        db.create(user(2, username="name1"))
    assert caught.value.message == "User: username 'name1' is taken by USER#1 / PROFILE"
    assert caught.value.number == "ST304"
    assert caught.value.fields == ("username",)
    assert caught.value.owner == {"PK": {"S": "USER#1"}, "SK": {"S": "PROFILE"}}
    assert db.user("2").maybe() is None
    assert locks(db) == {"USERNAME#name1": "USER#1", "EMAIL#t#1@x": "USER#1"}


def test_item_that_is_no_lock_stands_in_the_way_too(db: Accounts, between: Between) -> None:
    item = {"PK": {"S": "USERNAME#name1"}, "SK": {"S": "UNIQUE"}}
    between.call("PutItem", {"TableName": "accounts", "Item": item})
    with pytest.raises(DuplicateError, match="is taken by another item"):
        db.create(user(1))
    between.call("DeleteItem", {"TableName": "accounts", "Key": item})


def test_value_is_unique_among_entities_that_share_the_key(db: Accounts) -> None:
    db.create(user(1, username="anna"))
    with pytest.raises(DuplicateError, match="Member: username 'anna' is taken by USER#1"):
        db.create(Member(member_id="1", username="anna"))


def test_number_is_unique_as_well(db: Accounts) -> None:
    db.create(Member(member_id="1", badge=7))
    with pytest.raises(DuplicateError, match="badge 7 is taken"):
        db.create(Member(member_id="2", badge=7))


def test_second_create_of_an_item_leaves_the_locks_of_the_first(db: Accounts) -> None:
    db.create(user(1))
    with pytest.raises(AlreadyExistsError):
        db.create(user(1))
    with pytest.raises(AlreadyExistsError):
        db.create(user(1, username="other"))


# --- the reports of other libraries' users ----------------------------------------------------------------


def test_update_that_leaves_the_unique_field_alone_neither_reads_nor_writes_a_lock(
    db: Accounts, between: Between
) -> None:
    stored = db.create(user(1)).entity
    between.calls.clear()
    db.update(stored, bio="hello")
    db.update(key(1), bio="again", logins=Add(1))
    assert between.operations() == ["UpdateItem", "UpdateItem"]
    assert all(call.params["Key"]["PK"] == {"S": "USER#1"} for call in between.calls)


def test_update_to_the_same_value_writes_no_lock(db: Accounts, between: Between) -> None:
    stored = db.create(user(1)).entity
    between.calls.clear()
    db.update(stored, username="name1", bio="same name")
    db.put(user(1, bio="same name, replaced"))
    assert [call.operation for call in between.calls if call.operation in WRITES] == ["UpdateItem", "PutItem"]


@each_way
def test_change_inside_a_transaction_belongs_to_it(between: Between, db: Accounts) -> None:
    if not between.capabilities.transactions:
        pytest.skip("the target has none")
    db.create(user(1))
    db.create(user(2))
    with pytest.raises(DuplicateError):
        db.transaction(Update(key(1), username="new"), Create(user(3, username="name2")))
    assert db.user("1").one().username == "name1"
    assert "USERNAME#new" not in locks(db)
    db.transaction(Update(key(1), username="new"), Create(user(3)))
    assert locks(db)["USERNAME#new"] == "USER#1"


def test_update_of_the_unique_field_keeps_all_other_fields(db: Accounts, between: Between) -> None:
    db.create(user(1, bio="hello", logins=3))
    between.call(
        "UpdateItem",
        {
            "TableName": "accounts",
            "Key": {"PK": {"S": "USER#1"}, "SK": {"S": "PROFILE"}},
            "UpdateExpression": "SET legacy = :old",
            "ExpressionAttributeValues": {":old": {"S": "kept"}},
        },
    )
    wanted = user(1, bio="hello", logins=3, username="new")
    assert db.update(key(1), username="new").entity == wanted
    assert db.user("1").one() == wanted
    (item,) = [item for item in items_of(db) if item["PK"] == {"S": "USER#1"}]
    assert item["legacy"] == {"S": "kept"}


def test_update_returns_what_others_have_changed_meanwhile(db: Accounts) -> None:
    old = db.create(user(1)).entity
    db.update(key(1), bio="from elsewhere", logins=Add(2))
    new = db.update(old, username="new", logins=Add(1)).entity
    assert (new.bio, new.logins, new.username) == ("from elsewhere", 3, "new")
    assert new is old


def test_optional_value_can_be_removed_and_is_free_then(db: Accounts) -> None:
    stored = db.create(user(1)).entity
    db.update(stored, username=None)
    assert locks(db) == {"EMAIL#t#1@x": "USER#1"}
    db.create(user(2, username="name1"))
    with pytest.raises(DuplicateError):
        db.update(stored, username="name1")


def test_many_items_can_be_without_the_value(db: Accounts) -> None:
    db.create(user(1, username=None))
    db.create(user(2, username=None))
    assert set(locks(db)) == {"EMAIL#t#1@x", "EMAIL#t#2@x"}
    db.update(key(2), username="late")
    assert locks(db)["USERNAME#late"] == "USER#2"


def test_put_over_an_item_moves_its_locks(db: Accounts) -> None:
    db.put(user(1))
    db.put(user(1, username="new", email="new@x"))
    assert locks(db) == {"USERNAME#new": "USER#1", "EMAIL#t#new@x": "USER#1"}


def test_put_of_a_taken_value_changes_nothing(db: Accounts) -> None:
    db.create(user(1))
    db.create(user(2))
    with pytest.raises(DuplicateError):
        db.put(user(2, username="name1", email="other@x"))
    assert db.user("2").one() == user(2)


def test_scoped_value_is_unique_within_its_scope_only(db: Accounts) -> None:
    db.create(user(1, email="a@x"))
    db.create(user(2, email="a@x", tenant_id="other"))
    with pytest.raises(DuplicateError, match="tenant_id 't' and email 'a@x' is taken by USER#1"):
        db.create(user(3, email="a@x"))
    with pytest.raises(DuplicateError):
        db.update(key(2), tenant_id="t")
    db.update(key(1), tenant_id="third")
    db.update(key(2), tenant_id="t")
    assert locks(db)["EMAIL#t#a@x"] == "USER#2"


def test_delete_frees_the_values(db: Accounts) -> None:
    stored = db.create(user(1)).entity
    db.create(user(2))
    db.delete(stored)
    db.delete(key(2))
    assert locks(db) == {}
    db.create(user(3, username="name1"))


def test_update_and_back_frees_the_value_in_between(db: Accounts) -> None:
    stored = db.create(user(1)).entity
    for _ in range(3):
        db.update(stored, username="other")
        db.update(stored, username="name1")
    assert locks(db) == {"USERNAME#name1": "USER#1", "EMAIL#t#1@x": "USER#1"}


# --- what the caller has is old, or changed ---------------------------------------------------------------


def test_update_of_an_old_entity_gives_back_the_stored_value(db: Accounts) -> None:
    old = db.create(user(1)).entity
    db.update(key(1), username="second")
    db.update(old, username="third")
    assert locks(db) == {"USERNAME#third": "USER#1", "EMAIL#t#1@x": "USER#1"}


def test_delete_of_an_old_entity_gives_back_the_stored_value(db: Accounts) -> None:
    old = db.create(user(1)).entity
    db.update(key(1), username="second")
    db.delete(old)
    assert locks(db) == {}


def test_assigned_value_is_not_taken_for_the_stored_one(db: Accounts) -> None:
    member = db.create(Member(member_id="1", username="anna")).entity
    db.create(user(2, username="berta"))
    member.username = "berta"
    db.update(member, username="clara")
    assert locks(db)["USERNAME#clara"] == "MEMBER#1"
    member.username = "berta"
    db.delete(member)
    assert locks(db) == {"USERNAME#berta": "USER#2", "EMAIL#t#2@x": "USER#2"}


def test_conflict_of_versions_moves_no_lock(db: Accounts) -> None:
    old = db.create(Member(member_id="1", username="anna")).entity.model_copy()
    db.update(db.member("1").one(), bio="newer")
    for write in (lambda: db.update(old, username="berta"), lambda: db.delete(old), lambda: db.put(old)):
        with pytest.raises(VersionConflictError):
            write()
    assert locks(db) == {"USERNAME#anna": "MEMBER#1"}


@each_way
def test_condition_that_does_not_hold_moves_no_lock_and_is_not_tried_for_long(
    db: Accounts, between: Between
) -> None:
    stored = db.create(user(1)).entity
    between.calls.clear()
    with pytest.raises(Exception, match="does not meet"):
        db.update(stored, when=Eq("bio", "never"), username="new")
    assert locks(db)["USERNAME#name1"] == "USER#1"
    assert len(between.calls) < 20


def test_relative_change_of_a_unique_number_moves_its_lock(db: Accounts) -> None:
    member = db.create(Member(member_id="1", badge=7)).entity
    assert db.update(member, badge=Add(1)).entity.badge == 8
    assert locks(db) == {"BADGE#8": "MEMBER#1"}


def test_value_from_a_property_is_unique(db: Accounts) -> None:
    db.create(Invitation(code="1", mailbox="A@x"))
    with pytest.raises(DuplicateError, match="address 'a@x' is taken by INVITATION#1"):
        db.create(Invitation(code="2", mailbox="a@X"))
    db.update(db.invitation("1"), mailbox="b@x")
    assert locks(db) == {"INVITED#b@x": "INVITATION#1"}


@each_way
def test_async_writes_keep_the_same_locks(db: Accounts) -> None:
    async def write() -> None:
        stored = (await db.acreate(user(1))).entity
        await db.aupdate(stored, username="new")
        await db.aput(user(2))
        with pytest.raises(DuplicateError):
            await db.acreate(user(3, username="new"))
        await db.adelete(key(2))

    asyncio.run(write())
    assert locks(db) == {"USERNAME#new": "USER#1", "EMAIL#t#1@x": "USER#1"}


# --- owners that expire -----------------------------------------------------------------------------------


def invitation(clock: ManualClock, code: str, seconds: int | None, **values: Any) -> Invitation:
    ttl = None if seconds is None else now(clock) + timedelta(seconds=seconds)
    return Invitation(code=code, mailbox="a@x", ttl=ttl, **values)


def lock_of(db: Accounts, text: str) -> Any:
    (found,) = [item for item in items_of(db) if item["PK"] == {"S": text}]
    return found


def test_lock_expires_with_its_owner(db: Accounts, clock: ManualClock) -> None:
    db.create(invitation(clock, "1", 10))
    seconds = clock.now_us() // 1_000_000
    assert lock_of(db, "INVITED#a@x")["ttl"] == {"N": str(seconds + 10)}
    for later in (20, 5, None, 30):
        ttl = None if later is None else now(clock) + timedelta(seconds=later)
        db.update(db.invitation("1"), ttl=ttl)
        wanted = None if later is None else {"N": str(seconds + later)}
        assert lock_of(db, "INVITED#a@x").get("ttl") == wanted


def test_value_of_an_expired_owner_is_free_before_it_is_swept(db: Accounts, clock: ManualClock) -> None:
    db.create(invitation(clock, "1", 10))
    with pytest.raises(DuplicateError):
        db.create(invitation(clock, "2", 10))
    clock.jump(11)
    db.create(invitation(clock, "2", 10))
    assert locks(db) == {"INVITED#a@x": "INVITATION#2"}
    with pytest.raises(DuplicateError):
        db.put(invitation(clock, "1", 100))
    db.delete(db.invitation("1"))
    assert locks(db) == {"INVITED#a@x": "INVITATION#2"}


def test_verify_finds_an_expired_owner_right_whoever_has_its_value(db: Accounts, clock: ManualClock) -> None:
    db.create(invitation(clock, "1", 10))
    clock.jump(11)
    assert db.verify().is_clean
    db.create(invitation(clock, "2", 10))
    assert db.verify().is_clean
    db.delete(db.invitation("1"))


def test_verify_gives_the_lock_of_an_expired_owner_to_an_item_that_has_none(
    db: Accounts, between: Between, clock: ManualClock
) -> None:
    db.create(invitation(clock, "1", 10))
    lock = lock_of(db, "INVITED#a@x")
    clock.jump(11)
    db.create(invitation(clock, "2", None))
    between.call("PutItem", {"TableName": "accounts", "Item": lock})
    assert [each.is_repaired for each in db.verify(repair=True).differences] == [True]
    assert locks(db) == {"INVITED#a@x": "INVITATION#2"}
    assert db.verify().is_clean


# --- locks that nobody needs --------------------------------------------------------------------------------


@each_way
def test_lock_of_an_owner_that_was_deleted_otherwise_is_taken_over_later(
    db: Accounts, between: Between, clock: ManualClock
) -> None:
    db.create(user(1))
    owner = {"PK": {"S": "USER#1"}, "SK": {"S": "PROFILE"}}
    between.call("DeleteItem", {"TableName": "accounts", "Key": owner})
    with pytest.raises(DuplicateError):
        db.create(user(2, username="name1", email="1@x"))
    clock.advance(GRACE_S + 1)
    db.create(user(2, username="name1", email="1@x"))
    assert locks(db) == {"USERNAME#name1": "USER#2", "EMAIL#t#1@x": "USER#2"}


def test_lock_of_an_owner_that_has_the_value_is_never_taken_over(db: Accounts, clock: ManualClock) -> None:
    db.create(user(1))
    clock.advance(GRACE_S * 1000)
    with pytest.raises(DuplicateError):
        db.create(user(2, username="name1"))


def test_owner_itself_can_take_its_lock_again_at_once(db: Accounts, between: Between) -> None:
    db.create(user(1))
    owner = {"PK": {"S": "USER#1"}, "SK": {"S": "PROFILE"}}
    between.call("DeleteItem", {"TableName": "accounts", "Key": owner})
    db.create(user(1))


def test_missing_lock_does_not_stand_in_the_way(db: Accounts, between: Between) -> None:
    stored = db.create(user(1)).entity
    lock = {"PK": {"S": "USERNAME#name1"}, "SK": {"S": "UNIQUE"}}
    between.call("DeleteItem", {"TableName": "accounts", "Key": lock})
    db.update(stored, username="new")
    assert locks(db)["USERNAME#new"] == "USER#1"


# --- in transactions --------------------------------------------------------------------------------------


def test_put_and_delete_in_transactions_keep_locks(between: Between, db: Accounts) -> None:
    if not between.capabilities.transactions:
        pytest.skip("the target has none")
    db.create(user(1))
    db.transaction(Put(user(1, username="new")), Put(user(2)), Delete(key(3)))
    db.transaction(Delete(key(1)), Delete(key(2)))
    assert locks(db) == {}
