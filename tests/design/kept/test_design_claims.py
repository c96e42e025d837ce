"""Unique values without transactions: whatever process dies wherever, no value is stored twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from designs.accounts import Accounts, Invitation, ProfileSK, User, UserPK
from singletable import Database
from singletable.client import Call, Steps, Wait
from singletable.clock import ManualClock
from singletable.design import Create, Delete, Eq, Put, Update
from singletable.design.kept.unique import GRACE_S
from singletable.design.writes.perform import CLAIM_S
from singletable.design.writes.transaction import write
from singletable.design.writes.write import Write
from singletable.errors import (
    AlreadyExistsError,
    CapabilityError,
    ConditionNotMetError,
    DuplicateError,
    TargetUnreachableError,
)
from support.design_clients import Between, on_client
from support.limited_targets import LimitedClient
from support.unique_locks import items_of, locks, wrong_locks


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def between(clock: ManualClock) -> Iterator[Between]:
    with Database.open(":memory:", clock=clock) as database:
        yield Between(LimitedClient(database, sleep=clock.advance))


@pytest.fixture
def db(between: Between) -> Accounts:
    design = on_client(Accounts, between)
    between.calls.clear()
    return design


def user(number: int, **values: Any) -> User:
    given = {"tenant_id": "t", "email": f"{number}@x", "username": f"name{number}", **values}
    return User(user_id=str(number), **given)


def key(number: int) -> Any:
    return User.key.get(UserPK(user_id=str(number)), ProfileSK())


def die_after(between: Between, steps: Steps[Any], calls: int) -> bool:
    """Carry out so many calls of some steps and no more, as a process that is killed; tell if more were left."""
    answer: Any = None
    try:
        step = steps.send(None)
        for _ in range(calls):
            try:
                answer = between.call(step.operation, step.params) if isinstance(step, Call) else None
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(answer)
    except StopIteration:
        return False
    steps.close()
    return True


# --- the order of things ------------------------------------------------------------------------------------


def test_claims_go_before_the_item_and_old_locks_after_it(db: Accounts, between: Between) -> None:
    stored = db.create(user(1)).entity
    assert [call.params["Item"]["PK"]["S"] for call in between.calls] == [
        "USERNAME#name1",
        "EMAIL#t#1@x",
        "USER#1",
    ]
    between.calls.clear()
    db.update(stored, username="new")
    assert between.operations() == ["PutItem", "GetItem", "UpdateItem", "DeleteItem"]
    between.calls.clear()
    db.delete(stored)
    assert between.operations() == ["GetItem", "GetItem", "DeleteItem", "DeleteItem", "DeleteItem"]
    assert items_of(db) == []


def test_item_without_locks_to_change_is_one_call(db: Accounts, between: Between) -> None:
    stored = db.create(user(1)).entity
    between.calls.clear()
    db.update(stored, bio="hello")
    assert between.operations() == ["UpdateItem"]


def test_units_of_all_calls_are_added_up(db: Accounts) -> None:
    assert db.create(user(1)).units == 3.0


@pytest.mark.parametrize(
    "refused",
    [
        lambda db: db.create(user(1, username="new", email="new@x")),
        lambda db: db.update(db.user("1").one(), when=Eq("bio", "never"), username="new"),
        lambda db: db.put(user(1, username="new"), when=Eq("bio", "never")),
        lambda db: db.create(user(3, username="new", email="1@x")),
    ],
    ids=["create", "update", "put", "second-claim"],
)
def test_claims_are_undone_when_the_item_is_refused(db: Accounts, refused: Any) -> None:
    db.create(user(1))
    with pytest.raises((AlreadyExistsError, ConditionNotMetError, DuplicateError)):
        refused(db)
    assert set(locks(db)) == {"USERNAME#name1", "EMAIL#t#1@x"}
    assert wrong_locks(db) == []


def test_lock_whose_expiry_was_moved_is_put_back_when_the_item_is_refused(
    db: Accounts, clock: ManualClock
) -> None:
    soon = datetime.fromtimestamp(clock.now_us() // 1_000_000 + 100, UTC)
    db.create(Invitation(code="1", mailbox="a@x", ttl=soon))
    before = items_of(db)
    for ttl in (soon + timedelta(days=1), soon - timedelta(seconds=50), None):
        with pytest.raises(ConditionNotMetError):
            db.update(db.invitation("1"), when=Eq("note", "never"), ttl=ttl)
        assert items_of(db) == before


def test_transaction_of_the_user_is_refused_with_a_hint(db: Accounts, between: Between) -> None:
    with pytest.raises(CapabilityError, match="has no transactions") as caught:
        db.transaction(Create(user(1)), Create(user(2)))
    assert caught.value.number == "ST503"
    assert "one by one" in str(caught.value.hint)
    assert between.calls == []


# --- processes that die ----------------------------------------------------------------------------------------

WRITES: dict[str, Callable[[], Write]] = {
    "create": lambda: Create(user(1, username="wanted", email="wanted@x")),
    "put": lambda: Put(user(0, username="wanted", email="wanted@x")),
    "update": lambda: Update(key(0), username="wanted", email="wanted@x"),
    "delete": lambda: Delete(key(0)),
}


@pytest.mark.parametrize("name", WRITES)
def test_whatever_dies_wherever_the_next_can_have_what_is_free(name: str, clock: ManualClock) -> None:
    """Each value is tried for by another user, right after the death and again when the grace is over."""
    for calls in range(20):
        with Database.open(":memory:", clock=clock) as database:
            between = Between(LimitedClient(database, sleep=clock.advance))
            db = on_client(Accounts, between)
            db.create(user(0))
            died = die_after(between, write(db.session, WRITES[name]()), calls)
            for late in (False, True):
                clock.advance(GRACE_S + 1 if late else 0)
                for number, (username, email) in enumerate([("wanted", "wanted@x"), ("name0", "0@x")]):
                    _claim_what_is_free(db, user(10 + number, username=username, email=email), late=late)
            assert wrong_locks(db) == []
            if not died:
                assert calls > 2
                return
    raise AssertionError("it never came to its end")


def _claim_what_is_free(db: Accounts, wanted: User, *, late: bool) -> None:
    """Create a user; whether that is refused must agree with what others have, at least after the grace."""
    schema = db.catalog.schema_for(User)
    others: list[Any] = [
        schema.to_entity(item) for item in items_of(db) if item["entityType"] == {"S": "User"}
    ]
    names = {each.username for each in others} | {each.email for each in others}
    is_taken = bool({wanted.username, wanted.email} & names)
    try:
        db.create(wanted)
    except (DuplicateError, AlreadyExistsError):
        assert is_taken or not late
    else:
        assert not is_taken


def test_lock_never_expires_before_its_owner_wherever_a_process_dies(clock: ManualClock) -> None:
    for change_s in (50, -50):
        for calls in range(6):
            with Database.open(":memory:", clock=clock) as database:
                between = Between(LimitedClient(database, sleep=clock.advance))
                db = on_client(Accounts, between)
                ttl = datetime.fromtimestamp(clock.now_us() // 1_000_000 + 100, UTC)
                db.create(Invitation(code="1", mailbox="a@x", ttl=ttl))
                changed = Update(db.invitation("1"), ttl=ttl + timedelta(seconds=change_s))
                die_after(between, write(db.session, changed), calls)
                for passed_s in (60, 50):
                    clock.jump(passed_s)
                    if db.invitation("1").maybe() is not None:
                        with pytest.raises(DuplicateError):
                            db.create(Invitation(code="2", mailbox="a@x"))


def test_refused_create_leaves_the_lock_that_the_stored_item_lacked(db: Accounts, between: Between) -> None:
    db.create(user(1))
    lock = {"PK": {"S": "USERNAME#name1"}, "SK": {"S": "UNIQUE"}}
    between.call("DeleteItem", {"TableName": "accounts", "Key": lock})
    with pytest.raises(AlreadyExistsError):
        db.create(user(1))
    assert wrong_locks(db) == []


def test_owner_comes_back_after_its_process_died(db: Accounts, between: Between, clock: ManualClock) -> None:
    for calls in range(1, 3):
        die_after(between, write(db.session, Create(user(1))), calls)
        assert locks(db)
    db.create(user(1))
    assert wrong_locks(db) == []


def test_young_lock_is_not_taken_over_though_its_owner_is_not_there(
    db: Accounts, between: Between, clock: ManualClock
) -> None:
    die_after(between, write(db.session, Create(user(1))), 2)
    clock.advance(GRACE_S - 1)
    with pytest.raises(DuplicateError, match="is taken by USER#1"):
        db.create(user(2, username="name1"))
    clock.advance(2)
    db.create(user(2, username="name1"))
    assert locks(db)["USERNAME#name1"] == "USER#2"


# --- two at once -------------------------------------------------------------------------------------------------


def interleavings(first: int, second: int) -> list[str]:
    """Return every order of the steps of two processes."""
    if not first or not second:
        return ["a" * first + "b" * second]
    return [f"a{rest}" for rest in interleavings(first - 1, second)] + [
        f"b{rest}" for rest in interleavings(first, second - 1)
    ]


class Running:
    """Steps that a test carries out one by one."""

    def __init__(self, between: Between, steps: Steps[Any]) -> None:
        self.between, self.steps = between, steps
        self.error: Exception | None = None
        self.is_done = False
        self._step: Any = None
        self._go(lambda: steps.send(None))

    def advance(self) -> None:
        if self.is_done:
            return
        step = self._step
        try:
            answer = None if isinstance(step, Wait) else self.between.call(step.operation, step.params)
        except Exception as error:
            refusal = error
            self._go(lambda: self.steps.throw(refusal))
        else:
            self._go(lambda: self.steps.send(answer))

    def _go(self, resume: Any) -> None:
        try:
            self._step = resume()
        except StopIteration:
            self.is_done = True
        except Exception as error:
            self.error, self.is_done = error, True


PAIRS: dict[str, tuple[Callable[[], Write], Callable[[], Write]]] = {
    "two creates of one value": (
        lambda: Create(user(1, username="x")),
        lambda: Create(user(2, username="x")),
    ),
    "two creates of one item": (lambda: Create(user(1)), lambda: Create(user(1))),
    "two updates to one value": (
        lambda: Update(key(8), username="x"),
        lambda: Update(key(9), username="x"),
    ),
    "two updates of one item": (
        lambda: Update(key(8), username="x"),
        lambda: Update(key(8), username="y"),
    ),
    "the same update twice": (
        lambda: Update(key(8), username="x"),
        lambda: Update(key(8), username="x"),
    ),
    "update and delete": (lambda: Update(key(8), username="x"), lambda: Delete(key(8))),
    "delete and create of its value": (
        lambda: Delete(key(8)),
        lambda: Create(user(1, username="name8")),
    ),
    "update away and create of its value": (
        lambda: Update(key(8), username="x"),
        lambda: Create(user(1, username="name8")),
    ),
    "away and back": (lambda: Update(key(8), username="x"), lambda: Put(user(8))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_at_once_never_store_a_value_twice_nor_without_lock(
    name: str, db: Accounts, between: Between
) -> None:
    for order in interleavings(5, 4):
        for item in items_of(db):
            between.call(
                "DeleteItem", {"TableName": "accounts", "Key": {key: item[key] for key in ("PK", "SK")}}
            )
        db.create(user(8))
        db.create(user(9))
        first, second = (Running(between, write(db.session, make())) for make in PAIRS[name])
        for each in order:
            (first if each == "a" else second).advance()
        while not (first.is_done and second.is_done):
            first.advance()
            second.advance()
        wrong = [each for each in wrong_locks(db) if each[0] != "nobody's"]
        assert wrong == [], (order, first.error, second.error)


# --- slow, and lost -----------------------------------------------------------------------------------------


def test_slow_claim_is_made_again_before_the_item_is_written(
    db: Accounts, between: Between, clock: ManualClock
) -> None:
    slow = iter([CLAIM_S + 1])

    def before(call: Call) -> None:
        if call.operation == "PutItem":
            clock.advance(next(slow, 0))

    between.before = before
    db.create(user(1, username=None))
    assert [call.params["Item"]["PK"]["S"] for call in between.calls] == ["EMAIL#t#1@x"] * 2 + ["USER#1"]
    assert wrong_locks(db) == []


def test_nothing_is_undone_while_it_is_not_known_whether_the_item_was_written(
    db: Accounts, between: Between
) -> None:
    def lose(call: Call) -> None:
        if call.params.get("Item", {}).get("PK") == {"S": "USER#1"}:
            between.inner.call(call.operation, call.params)
            raise TargetUnreachableError("the answer was lost", hint="")

    between.before = lose
    with pytest.raises(TargetUnreachableError):
        db.create(user(1))
    between.before = lambda call: None
    assert db.user("1").maybe() is not None
    assert wrong_locks(db) == []
