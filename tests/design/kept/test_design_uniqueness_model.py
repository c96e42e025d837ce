"""Random writes of users, with and without transactions, against a dict: locks always are what the users have."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from designs.accounts import Accounts, ProfileSK, User, UserPK
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import Create, Delete, Put, Update
from singletable.design.kept.unique import GRACE_S
from singletable.design.writes.transaction import write
from singletable.errors import AlreadyExistsError, DuplicateError, InvalidWriteError, NotFoundError
from support.design_clients import Between, on_client, opened_anyhow
from support.unique_locks import items_of, wrong_locks

Users = dict[str, dict[str, Any]]  # what is stored, by id
Step = tuple[str, str, dict[str, Any]]  # a write, whose, and of what

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "username": st.sampled_from([None, "x", "y", "z"]),
    "email": st.sampled_from(["a", "b"]),
    "tenant_id": st.sampled_from(["t", "u"]),
    "bio": st.sampled_from([None, "one", "two"]),
}
IDS = st.sampled_from(["1", "2", "3"])
WHOLE = st.fixed_dictionaries(FIELDS)
PART = st.fixed_dictionaries({}, optional=FIELDS).filter(bool)
WRITE: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.sampled_from(["create", "put"]), IDS, WHOLE),
    st.tuples(st.sampled_from(["update", "update read before"]), IDS, PART),
    st.tuples(st.sampled_from(["delete", "delete read before"]), IDS, st.just({})),
)
TOGETHER = st.lists(WRITE, min_size=2, max_size=3, unique_by=lambda write: write[1])


def key(user_id: str) -> Any:
    return User.key.get(UserPK(user_id=user_id), ProfileSK())


def is_allowed(users: Users) -> bool:
    """Tell whether each name and each address of a tenant has one user at most."""
    names = [values["username"] for values in users.values() if values["username"] is not None]
    addresses = [(values["tenant_id"], values["email"]) for values in users.values()]
    return len(set(names)) == len(names) and len(set(addresses)) == len(addresses)


def after(users: Users, name: str, user_id: str, values: dict[str, Any]) -> Users | None:
    """Return what a write makes of the users; None if it is refused because the user is there, or is not."""
    is_there = user_id in users
    if name.startswith("delete"):
        return {other: users[other] for other in users if other != user_id}
    if (name == "create" and is_there) or (name.startswith("update") and not is_there):
        return None
    return {**users, user_id: {**users.get(user_id, {}), **values} if name.startswith("update") else values}


class Writer:
    """A design, and beside it what should be stored."""

    def __init__(self, db: Accounts) -> None:
        self.db = db
        self.users: Users = {}
        self.read: dict[str, User] = {}  # some time ago

    def value(self, name: str, user_id: str, values: dict[str, Any]) -> Any:
        target = self.read.get(user_id) if name.endswith("before") else None
        match name.split()[0]:
            case "create":
                return Create(User(user_id=user_id, **values))
            case "put":
                return Put(User(user_id=user_id, **values))
            case "update":
                return Update(target or key(user_id), **values)
            case _:
                return Delete(target or key(user_id))

    def try_to(self, step: Step) -> None:
        session = self.db.session
        session.run(write(session, self.value(*step)))

    def write(self, name: str, user_id: str, values: dict[str, Any]) -> None:
        """Write, and see whether that is refused as it should be."""
        wanted = after(self.users, name, user_id, values)
        if name.startswith("delete") and user_id not in self.users:
            wanted = self.users
        try:
            self.try_to((name, user_id, values))
        except (AlreadyExistsError, NotFoundError):
            assert wanted is None or name.startswith("delete")
        except DuplicateError:
            assert wanted is None or not is_allowed(wanted)
        else:
            assert wanted is not None
            assert is_allowed(wanted)
            self.users = wanted

    def transaction(self, writes: list[Step]) -> None:
        wanted: Users | None = self.users
        for name, user_id, values in writes:
            wanted = None if wanted is None else after(wanted, name, user_id, values)
        try:
            self.db.transaction(*(self.value(*write) for write in writes))
        except (AlreadyExistsError, NotFoundError):
            gone = any(name.startswith("delete") and user_id not in self.users for name, user_id, _ in writes)
            assert wanted is None or gone
        except (DuplicateError, InvalidWriteError):
            assert wanted is None or not is_allowed(wanted)
        else:
            assert wanted is not None
            assert is_allowed(wanted)
            self.users = wanted

    def look(self) -> None:
        for user_id in ("1", "2", "3"):
            found = self.db.user(user_id).maybe()
            if found is not None:
                self.read[user_id] = found

    def check(self) -> None:
        assert wrong_locks(self.db) == []
        stored = {}
        schema = self.db.catalog.schema_for(User)
        for item in items_of(self.db):
            if item["entityType"] == {"S": "User"}:
                entity: Any = schema.to_entity(item)
                stored[entity.user_id] = {name: getattr(entity, name) for name in FIELDS}
        assert stored == {
            user_id: {name: values.get(name) for name in FIELDS} for user_id, values in self.users.items()
        }


STEPS = st.lists(st.one_of(WRITE, TOGETHER, st.just("look")), max_size=10)


@pytest.mark.parametrize("target", ["embedded", "no-transactions"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
def test_locks_are_what_the_users_have_after_any_writes(target: str, steps: list[Any]) -> None:
    clock = ManualClock()
    with opened_anyhow(target, clock=clock, sleep=clock.advance) as client:
        writer = Writer(on_client(Accounts, client))
        for step in steps:
            match step:
                case "look":
                    writer.look()
                case list():
                    if client.capabilities.transactions:
                        writer.transaction(step)
                case _:
                    writer.write(*step)
            writer.check()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(st.tuples(WRITE, st.integers(0, 8)), max_size=8), last=WRITE)
def test_no_value_is_stored_twice_though_processes_die(steps: list[Any], last: Any) -> None:
    """After the grace every value that no user has can be had, and locks are right where they are used."""
    clock = ManualClock()
    with opened_anyhow("no-transactions", clock=clock, sleep=clock.advance) as client:
        between = Between(client)
        db = on_client(Accounts, between)
        writer = Writer(db)
        for step, calls in steps:
            between.calls.clear()
            between.before = partial(_die, between, calls)
            with suppress(_Died, AlreadyExistsError, NotFoundError, DuplicateError):
                writer.try_to(step)
            between.before = lambda call: None
            assert [each for each in wrong_locks(db) if each[0] != "nobody's"] == []
        clock.advance(GRACE_S + 1)
        schema = db.catalog.schema_for(User)
        for item in items_of(db):
            if item["entityType"] == {"S": "User"}:
                entity: Any = schema.to_entity(item)
                writer.users[entity.user_id] = {name: getattr(entity, name) for name in FIELDS}
        writer.write(*last)


class _Died(BaseException):
    """Not an Exception, so that nothing in between takes it for a refusal."""


def _die(between: Between, calls: int, call: Call) -> None:
    if len(between.calls) > calls:
        raise _Died
