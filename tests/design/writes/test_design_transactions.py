"""Writes that belong together, and what becomes of one whose answer is lost or that meets another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from designs.accounts import Accounts, Member, MemberPK, Note, ProfileSK, User, UserPK
from designs.chess import Club, ClubPK, Clubs, ClubSK, MemberSK, Remark
from designs.chess import Member as Member_
from designs.chess import Note as Memo
from designs.chess import NotePK as MemoPK
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import Add, Check, Create, Delete, Eq, Put, Update
from singletable.design.model.entity import STORED
from singletable.design.session.stored_items import read_item
from singletable.errors import (
    AlreadyExistsError,
    CancellationReason,
    ConditionNotMetError,
    DuplicateError,
    InvalidWriteError,
    NotFoundError,
    OtherApiError,
    TargetThrottledError,
    TransactionCanceledError,
    VersionConflictError,
)
from support.design_clients import Between, on_client
from support.kept_together import damage
from support.limited_targets import TRANSACTIONS
from support.losing_targets import losing_endpoint
from support.targets import EVERY_TARGET, TARGETS, opened
from support.unique_locks import items_of, locks, wrong_locks


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=EVERY_TARGET)
def between(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Between]:
    with opened(request.param, clock=clock, sleep=clock.advance) as client:
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


# --- all or nothing ---------------------------------------------------------------------------------------


def test_all_writes_are_carried_out_in_one_call(db: Accounts, between: Between) -> None:
    written = db.transaction(Create(user(1)), Put(Note(note_id="1", owner="1")), Create(user(2)))
    assert between.operations() == ["TransactWriteItems"]
    assert [type(each).__name__ for each in written.entity] == ["User", "Note", "User"]
    assert written.units > 0
    assert len(locks(db)) == 4


def test_one_refused_write_leaves_nothing(db: Accounts) -> None:
    with pytest.raises(NotFoundError):
        db.transaction(Create(user(1)), Check(key(2)))
    with pytest.raises(NotFoundError):
        db.transaction(Create(user(1)), Put(Note(note_id="1", owner="1"), when=Eq("owner", "2")))
    assert items_of(db) == []


def test_check_demands_a_condition_of_an_item(db: Accounts) -> None:
    db.create(user(1, bio="admin"))
    db.transaction(Check(key(1), Eq("bio", "admin")), Create(user(2)))
    with pytest.raises(ConditionNotMetError):
        db.transaction(Check(key(1), Eq("bio", "nobody")), Create(user(3)))


def test_conflict_of_versions_names_both(db: Accounts) -> None:
    old = db.create(Member(member_id="1")).entity.model_copy()
    db.update(db.member("1").one(), bio="newer")
    with pytest.raises(VersionConflictError, match="read at version 1 and is at version 2"):
        db.transaction(Update(old, bio="older"), Create(user(1)))


def test_updated_entities_are_as_stored_afterwards(db: Accounts) -> None:
    member = db.create(Member(member_id="1")).entity
    old = db.create(user(1)).entity
    db.update(key(1), bio="from elsewhere")
    db.transaction(Update(member, bio="x"), Update(old, logins=Add(2)))
    assert (member.bio, member.version) == ("x", 2)
    assert (old.bio, old.logins) == ("from elsewhere", 2)
    db.update(member, bio="y")
    assert db.member("1").one() == member


def test_two_writes_of_one_item_are_refused_before_any_call(db: Accounts, between: Between) -> None:
    with pytest.raises(
        InvalidWriteError, match="two Creates of one transaction are about the same item, USER#1 / PROFILE"
    ):
        db.transaction(Create(user(1)), Create(user(1, username="other")))
    assert between.calls == []


@pytest.mark.parametrize(
    ("first", "second", "which", "hint"),
    [
        (Create(user(1)), Update(key(1), bio="x"), "Create and Update", "Create it with the values that"),
        (Update(key(1), email="1@x"), Create(user(1)), "Update and Create", "Create it with the values that"),
        (Create(user(1)), Update(key(1), email="2@x"), "Create and Update", "Create it with the values that"),
        (Put(user(1)), Update(key(1), bio="x"), "Put and Update", "Put it with the values that"),
        (Put(user(1)), Delete(key(1)), "Put and Delete", "Put alone replaces the item"),
        (Update(key(1), bio="x"), Update(key(1), logins=1), "two Updates", "with all changes"),
        (Update(key(1), bio="x"), Delete(key(1)), "Update and Delete", "Delete alone"),
        (Check(key(1)), Update(key(1), bio="x"), "Check and Update", "when="),
        (Check(key(1)), Check(key(1)), "two Checks", "when=one & other"),
        (Create(user(1)), Put(user(1)), "Create and Put", "otherwise Put alone"),
        (Create(user(1)), Check(key(1)), "Create and Check", "not there yet"),
    ],
)
@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize("between", TARGETS, indirect=True)  # refused before any call
def test_two_writes_of_one_item_are_named_with_what_to_do_instead(
    db: Accounts, first: Any, second: Any, which: str, hint: str, is_there: bool
) -> None:
    if is_there:
        db.create(user(1))
    with pytest.raises(InvalidWriteError) as caught:
        db.transaction(first, second)
    assert caught.value.message == f"{which} of one transaction are about the same item, USER#1 / PROFILE"
    assert hint in str(caught.value.hint)


def test_more_than_a_hundred_actions_are_refused_before_any_call(db: Accounts, between: Between) -> None:
    with pytest.raises(InvalidWriteError, match="100 actions at most, and this one has 102 with its locks"):
        db.transaction(*(Create(user(number)) for number in range(34)))
    assert between.calls == []


def test_empty_transaction_does_nothing(db: Accounts, between: Between) -> None:
    assert db.transaction().entity == []
    assert between.calls == []


# --- unique values that change hands --------------------------------------------------------------------------


def test_value_of_a_deleted_item_goes_to_a_new_one(db: Accounts, between: Between) -> None:
    db.create(user(1))
    between.calls.clear()
    db.transaction(Delete(key(1)), Create(user(2, username="name1", email="1@x")))
    assert locks(db) == {"USERNAME#name1": "USER#2", "EMAIL#t#1@x": "USER#2"}
    (transaction,) = [call for call in between.calls if call.operation == "TransactWriteItems"]
    assert [next(iter(each)) for each in transaction.params["TransactItems"]] == [
        "Delete",
        "Put",
        "Put",
        "Put",
    ]


def test_order_of_giving_and_taking_does_not_matter(db: Accounts) -> None:
    db.create(user(1))
    db.transaction(Create(user(2, username="name1")), Delete(key(1)))
    assert locks(db)["USERNAME#name1"] == "USER#2"


def test_two_items_can_swap_their_values(db: Accounts) -> None:
    db.create(user(1))
    db.create(user(2))
    db.transaction(Update(key(1), username="name2"), Update(key(2), username="name1"))
    assert locks(db)["USERNAME#name1"] == "USER#2"
    assert locks(db)["USERNAME#name2"] == "USER#1"
    db.transaction(Put(user(1, email="2@x", username="name1")), Put(user(2, email="1@x", username="name2")))
    assert locks(db)["EMAIL#t#1@x"] == "USER#2"


def test_values_can_go_round_among_three(db: Accounts) -> None:
    for number in range(3):
        db.create(user(number))
    db.transaction(*(Update(key(number), username=f"name{(number + 1) % 3}") for number in range(3)))
    assert [db.user(str(number)).one().username for number in range(3)] == ["name1", "name2", "name0"]


def test_value_goes_to_another_entity(db: Accounts) -> None:
    db.create(user(1))
    db.transaction(Update(key(1), username=None), Create(Member(member_id="1", username="name1")))
    assert locks(db)["USERNAME#name1"] == "MEMBER#1"


def test_two_takers_of_one_value_are_refused_before_any_call(db: Accounts, between: Between) -> None:
    with pytest.raises(DuplicateError, match="username 'x' is taken by USER#1 / PROFILE"):
        db.transaction(Create(user(1, username="x")), Create(user(2, username="x")))
    assert between.calls == []


def test_value_of_somebody_else_does_not_change_hands(db: Accounts) -> None:
    db.create(user(1))
    db.create(user(2))
    with pytest.raises(DuplicateError, match="is taken by USER#2"):
        db.transaction(Delete(key(1)), Create(user(3, username="name2")))
    assert db.user("1").maybe() is not None


def test_old_data_in_a_transaction_is_read_again(db: Accounts) -> None:
    old = db.create(user(1)).entity
    db.update(key(1), username="second")
    db.transaction(Update(old, username="third"), Create(user(2, username="second")))
    assert locks(db)["USERNAME#second"] == "USER#2"
    assert locks(db)["USERNAME#third"] == "USER#1"


# --- meeting others ---------------------------------------------------------------------------------------


def conflicts(times: int, error: Exception, operation: str) -> Any:
    left = iter(range(times))

    def before(call: Call) -> None:
        if call.operation == operation and next(left, None) is not None:
            raise error

    return before


def test_transaction_that_meets_another_is_tried_again(db: Accounts, between: Between) -> None:
    reasons = [CancellationReason("None", None, None), CancellationReason("TransactionConflict", "", None)]
    between.before = conflicts(3, TransactionCanceledError(reasons), "TransactWriteItems")
    db.create(user(1))
    assert between.operations() == ["TransactWriteItems"] * 4


def test_transaction_that_always_meets_another_is_given_up(db: Accounts, between: Between) -> None:
    reasons = [CancellationReason("TransactionConflict", "", None)]
    between.before = conflicts(99, TransactionCanceledError(reasons), "TransactWriteItems")
    with pytest.raises(InvalidWriteError, match="other transactions kept changing the same items"):
        db.create(user(1))


def test_transaction_that_is_always_throttled_says_so(db: Accounts, between: Between) -> None:
    reasons = [
        CancellationReason("TransactionConflict", "", None),
        CancellationReason("ProvisionedThroughputExceeded", "The level was exceeded.", None),
    ]
    between.before = conflicts(99, TransactionCanceledError(reasons), "TransactWriteItems")
    with pytest.raises(TargetThrottledError) as caught:
        db.create(user(1))
    assert between.operations() == ["TransactWriteItems"] * 10
    assert caught.value.message == (
        "the table accounts is throttled, and cancels the transaction: The level was exceeded."
    )
    assert caught.value.code == "ProvisionedThroughputExceededException"


def test_single_write_that_meets_a_transaction_is_tried_again(db: Accounts, between: Between) -> None:
    conflict = OtherApiError(
        "TransactionConflictException", "Transaction is ongoing for the item", status=400
    )
    between.before = conflicts(2, conflict, "PutItem")
    db.create(Note(note_id="1", owner="1"))
    assert between.operations() == ["PutItem"] * 3


def test_other_cancellations_are_raised_as_they_are(db: Accounts, between: Between) -> None:
    reasons = [CancellationReason("ItemCollectionSizeLimitExceeded", "too large", None)]
    between.before = conflicts(1, TransactionCanceledError(reasons), "TransactWriteItems")
    with pytest.raises(TransactionCanceledError):
        db.create(user(1))


# --- answers that are lost ----------------------------------------------------------------------------------


def test_create_whose_answer_is_lost_is_a_success(clock: ManualClock) -> None:
    with losing_endpoint(clock=clock) as (client, losing):
        db = on_client(Accounts, client)
        losing.loses = ["PutItem"]
        db.create(Note(note_id="1", owner="1"))
        assert losing.lost == ["PutItem"]
        with pytest.raises(AlreadyExistsError):
            db.create(Note(note_id="1", owner="1"))
        losing.loses = ["PutItem"]
        with pytest.raises(AlreadyExistsError):
            db.create(Note(note_id="1", owner="2"))


def test_put_of_a_version_whose_answer_is_lost_is_a_success(clock: ManualClock) -> None:
    with losing_endpoint(TRANSACTIONS, clock=clock) as (client, losing):
        db = on_client(Accounts, client)
        member = Member(member_id="1")
        for _ in range(3):
            losing.loses = ["PutItem"]
            db.put(member)
        assert member.version == 3
        assert db.plan(Member.key.get(MemberPK(member_id="1"), ProfileSK())).one() == member


def test_transaction_whose_answer_is_lost_is_a_success(clock: ManualClock) -> None:
    with losing_endpoint(clock=clock) as (client, losing):
        db = on_client(Accounts, client)
        losing.loses = ["TransactWriteItems"]
        stored = db.create(user(1)).entity
        losing.loses = ["TransactWriteItems"]
        db.update(stored, username="new")
        assert losing.lost == ["TransactWriteItems"] * 2
        assert wrong_locks(db) == []


@pytest.mark.parametrize("lost", range(1, 4))
def test_any_lost_answer_of_a_create_without_transactions_is_a_success(lost: int, clock: ManualClock) -> None:
    with losing_endpoint(TRANSACTIONS, clock=clock) as (client, losing):
        between = Between(client)
        db = on_client(Accounts, between)

        def lose(call: Call) -> None:
            if len(between.calls) == lost:
                losing.loses = ["PutItem"]

        between.calls.clear()
        between.before = lose
        db.create(user(1))
        assert losing.lost == ["PutItem"]
        assert wrong_locks(db) == []


def test_lost_answer_of_a_refused_update_leaves_its_locks(clock: ManualClock) -> None:
    """Whether the first try was carried out is not known, so nothing is undone; here it was."""
    with losing_endpoint(TRANSACTIONS, clock=clock) as (client, losing):
        db = on_client(Accounts, client)
        member = db.create(Member(member_id="1", username="anna")).entity
        losing.loses = ["UpdateItem"]
        with pytest.raises(VersionConflictError):
            db.update(member, username="berta")
        assert db.member("1").one().username == "berta"
        assert locks(db)["USERNAME#berta"] == "MEMBER#1"


# --- what it returns --------------------------------------------------------------------------------------


NOW = datetime(2026, 1, 20, 10, 30, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
CHESS = Club.key.get(ClubPK(club_id="c"), ClubSK())
ADA = Member_.key.get(ClubPK(club_id="c"), MemberSK(member_id="ada"))
MEMO = Memo.key.get(MemoPK(note_id="1"), ClubSK())


def ada(**values: Any) -> Member_:
    given = {"age": 36, "city": "London", "email": "ada@x", **values}
    return Member_(club_id="c", member_id="ada", **given)


def bob() -> Member_:
    return Member_(club_id="c", member_id="bob", age=30, city="Bonn", email="bob@x", is_hidden=True)


def memo(**values: Any) -> Memo:
    return Memo(note_id="1", text="x", remarks=[Remark(at=NOW)], readers=frozenset(), **values)


# Each is given what is stored: a club with one member, a note, and both as they were read.
RETURNED: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
    "created": lambda known: [Create(bob())],
    "created with times inside": lambda known: [Create(memo().model_copy(update={"note_id": "2"}))],
    "created with what it counts": lambda known: [
        Create(Club(club_id="g", club_name="Go")),
        Create(bob().model_copy(update={"club_id": "g", "club_name": "Go"})),
    ],
    "put": lambda known: [Put(known["memo"]), Put(known["ada"])],
    "put anew": lambda known: [Put(memo(likes=3))],
    "put with what it counts": lambda known: [Put(Club(club_id="c", club_name="Chess")), Create(bob())],
    "updated by key": lambda known: [Update(MEMO, text="y")],
    "updated by key, with a version": lambda known: [Update(ADA, age=37, email="new@x", is_hidden=True)],
    "updated entity": lambda known: [Update(known["memo"], remarks=[Remark(at=NOW)])],
    "updated entity with a version": lambda known: [Update(known["ada"], age=40, badges={"gold"})],
    "updated with additions": lambda known: [Update(known["memo"], likes=Add(2)), Update(ADA, age=Add(1))],
    "updated with what it counts": lambda known: [Update(CHESS, motto="x"), Create(bob())],
    "updated entity with what it counts": lambda known: [
        Update(known["club"], motto="x"),
        Update(known["ada"], age=50),
    ],
}


@pytest.mark.parametrize("name", RETURNED)
def test_transaction_returns_entities_as_they_are_stored(between: Between, name: str) -> None:
    db = on_client(Clubs, between)
    known: dict[str, Any] = {
        "club": db.create(Club(club_id="c", club_name="Chess")).entity,
        "ada": db.create(ada()).entity,
        "memo": db.create(memo()).entity,
    }
    for pk, sk in (("CLUB#c", "MEMBER#ada"), ("NOTE#1", "CLUB"), ("CLUB#c", "CLUB")):
        damage(db, pk, sk, mood_of_others={"S": "good"})  # which no entity knows
    known["ada"] = db.plan(ADA).one()  # what its version guards is known
    if name == "put":
        known["memo"] = db.plan(MEMO).one()
    else:
        db.update(MEMO, mood="changed by others")
    for entity in db.transaction(*RETURNED[name](known)).entity:
        schema = db.session.catalog.schema_for(type(entity))
        item = db.session.run(read_item(db.session, schema.primary_key(entity)))
        assert item is not None
        read = schema.to_entity(item)
        assert entity == read
        assert repr(entity) == repr(read)  # which also says of what type values are
        assert entity.__dict__[STORED] == item  # and what the item holds beside
    assert db.verify().is_clean
