"""Items found by their unique values: whoever has the value now, and nobody by a lock that is left over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

from designs import changing_letters
from designs.accounts import (
    Accounts,
    Device,
    Devices,
    EmailPK,
    Invitation,
    InvitedPK,
    Member,
    TokenKey,
    User,
    UsernamePK,
)
from designs.letters import SealPK
from singletable.blueprint import Blueprint, ReadBlueprint, SortBlueprint
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import (
    Collect,
    Collection,
    Create,
    Delete,
    Design,
    Entity,
    Key,
    Keys,
    Lookup,
    Normalize,
    Table,
    Unique,
    gather,
    pattern,
)
from singletable.design.plans.lookup import FOLLOWED_MAX
from singletable.errors import KeyValueError, NotFoundError, VersionConflictError
from support.design_clients import ALL_TARGETS, Between, on_client, opened_anyhow

NOW_S = 1_700_000_000


class Pair(Collection):
    user: User
    member: Member | None


class Directory(Accounts):
    """Accounts that are found by their unique values."""

    @pattern("5 Get user by name")
    def user_by_name(self, username: str) -> Lookup[User]:
        return User.unique_name.get(UsernamePK(username=username))

    @pattern("6 Get user by email", consistent=True)
    def user_by_email(self, email: str, tenant_id: str = "t") -> Lookup[User]:
        return User.unique_email.get(EmailPK(tenant_id=tenant_id, email=email))

    @pattern("7 Get user by name, soon enough", cached_s=60.0)
    def remembered(self, username: str) -> Lookup[User]:
        return User.unique_name.get(UsernamePK(username=username))

    @pattern("8 Get invitation of an address")
    def invitation_of(self, address: str) -> Lookup[Invitation]:
        return Invitation.unique_address.get(InvitedPK(address=address))

    @pattern("9 Get user and member of one name")
    def pair(self, username: str) -> Collect[Pair]:
        key = UsernamePK(username=username)
        return gather(Pair, user=User.unique_name.get(key), member=Member.unique_name.get(key))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW_S * 1_000_000)


@pytest.fixture(params=ALL_TARGETS)
def between(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Between]:
    with opened_anyhow(request.param, clock=clock, sleep=clock.advance) as client:
        yield Between(client)


@pytest.fixture
def db(between: Between) -> Directory:
    return on_client(Directory, between)


@pytest.fixture
def others(db: Directory, between: Between) -> Accounts:
    """Another process at the same table, whose writes nothing here is told of."""
    return on_client(Accounts, between.inner, makes_table=False)


def anna(**values: Any) -> User:
    return User(**{"user_id": "1", "tenant_id": "t", "email": "a@x", "username": "anna", **values})


def put(db: Design, item: dict[str, Any]) -> None:
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": item})


# --- what is found ---------------------------------------------------------------------------------------


def test_item_is_found_by_each_of_its_unique_values(db: Directory) -> None:
    db.create(anna())
    db.create(anna(user_id="2", email="b@x", username=None))
    assert db.user_by_name("anna").one() == db.user("1").one()
    assert db.user_by_email("a@x").one().user_id == "1"
    assert db.user_by_email("b@x").one().user_id == "2"
    assert db.user_by_email("a@x", tenant_id="u").maybe() is None


def test_value_that_nobody_has_finds_nothing(db: Directory) -> None:
    assert db.user_by_name("anna").maybe() is None
    with pytest.raises(NotFoundError, match=r"User of UsernamePK\(username='anna'\) finds nothing"):
        db.user_by_name("anna").one()


def test_value_that_was_changed_is_found_under_the_new_one_alone(db: Directory) -> None:
    user = db.create(anna()).entity
    db.update(user, username="bea")
    assert db.user_by_name("anna").maybe() is None
    assert db.user_by_name("bea").one().user_id == "1"
    db.update(user, username=None)
    assert db.user_by_name("bea").maybe() is None


def test_item_that_was_deleted_is_not_found(db: Directory) -> None:
    db.delete(db.create(anna()).entity)
    assert db.user_by_name("anna").maybe() is None


def test_item_of_another_entity_with_the_same_lock_is_not_found(db: Directory) -> None:
    db.create(Member(member_id="1", username="anna"))
    assert db.user_by_name("anna").maybe() is None
    assert db.plan(Member.unique_name.get(UsernamePK(username="anna"))).one().member_id == "1"


def test_table_without_sort_key_has_lookups_too(between: Between) -> None:
    devices = on_client(Devices, between)
    devices.create(Device(device_id="1", token="abc"))
    plan = devices.plan(Device.unique_token.get(TokenKey(token="abc")))
    assert plan.one().device_id == "1"
    assert plan.request()["Key"] == {"id": {"S": "TOKEN#abc"}}


def test_fields_of_a_collection_may_be_lookups(db: Directory) -> None:
    db.create(anna())
    pair = db.pair("anna").one()
    assert (pair.user.user_id, pair.member) == ("1", None)
    assert db.pair("bea").maybe() is None


# --- locks that are left over ------------------------------------------------------------------------------


def test_lock_without_its_owner_finds_nothing(db: Directory) -> None:
    db.create(anna())
    key = {"PK": {"S": "USER#1"}, "SK": {"S": "PROFILE"}}
    db.session.client.call("DeleteItem", {"TableName": "accounts", "Key": key})
    assert db.user_by_name("anna").maybe() is None


def test_lock_of_a_value_that_its_owner_has_no_more_finds_nothing(db: Directory) -> None:
    user = db.create(anna()).entity
    item = dict(user.__dict__["_stored"])
    put(db, {**item, "username": {"S": "bea"}})
    assert db.user_by_name("anna").maybe() is None
    assert db.user_by_email("a@x").one().username == "bea"


def test_item_that_is_no_lock_is_not_followed(db: Directory) -> None:
    put(db, {"PK": {"S": "USERNAME#anna"}, "SK": {"S": "UNIQUE"}, "text": {"S": "anything"}})
    assert db.user_by_name("anna").maybe() is None


def test_item_whose_time_is_over_is_not_found(db: Directory, between: Between) -> None:
    stored = {
        "PK": {"S": "INVITATION#c"},
        "SK": {"S": "PROFILE"},
        "entityType": {"S": "Invitation"},
        "code": {"S": "c"},
        "mailbox": {"S": "A@x"},
        "ttl": {"N": str(NOW_S)},
    }
    lock = {
        "PK": {"S": "INVITED#a@x"},
        "SK": {"S": "UNIQUE"},
        "entityType": {"S": "$unique"},
        "$owner": {"S": "INVITATION#c"},
        "$ownerSort": {"S": "PROFILE"},
        "ttl": {"N": str(NOW_S)},
    }
    put(db, {**stored, "ttl": {"N": str(NOW_S + 1)}})
    put(db, {**lock, "ttl": {"N": str(NOW_S + 1)}})
    assert db.invitation_of("a@x").one().mailbox == "A@x"
    put(db, stored)
    assert db.invitation_of("a@x").maybe() is None  # though the lock would be followed
    put(db, lock)
    between.calls.clear()
    assert db.invitation_of("a@x").maybe() is None
    assert len(between.calls) == 1  # where its time is over, so is its owner's


# --- between the two reads ----------------------------------------------------------------------------------


def before_the_owner_is_read(between: Between, happens: Callable[[], object], *, times: int = 1) -> None:
    """Let something happen between the read of a lock and that of its owner."""
    left = [happens] * times

    def step_in(call: Call) -> None:
        if call.operation == "GetItem" and call.params["Key"]["SK"] == {"S": "PROFILE"} and left:
            left.pop()()

    between.before = step_in


def test_value_that_goes_to_another_item_meanwhile_is_found_there(
    db: Directory, others: Accounts, between: Between
) -> None:
    db.create(anna())

    def hand_over() -> None:
        heir = anna(user_id="2")
        if between.capabilities.transactions:
            others.transaction(Delete(others.user("1").one()), Create(heir))
        else:
            others.delete(others.user("1").one())
            others.create(heir)

    before_the_owner_is_read(between, hand_over)
    between.calls.clear()
    found = db.user_by_name("anna").found()
    assert found.item is not None
    assert found.item.user_id == "2"
    assert len(between.calls) == 4


def test_value_that_is_given_up_meanwhile_finds_nothing(
    db: Directory, others: Accounts, between: Between
) -> None:
    db.create(anna())
    before_the_owner_is_read(between, lambda: others.update(others.user("1").one(), username="bea"))
    assert db.user_by_name("anna").maybe() is None
    assert db.user_by_name("bea").one().user_id == "1"


def test_lock_that_changes_all_the_time_is_not_followed_for_ever(
    db: Directory, others: Accounts, between: Between
) -> None:
    lock = {"PK": {"S": "USERNAME#anna"}, "SK": {"S": "UNIQUE"}}
    owners = iter(range(1000))

    def point_elsewhere() -> None:
        owner = {"$owner": {"S": f"USER#{next(owners) + 100}"}, "$ownerSort": {"S": "PROFILE"}}
        put(others, {**lock, "entityType": {"S": "$unique"}, **owner})

    point_elsewhere()
    before_the_owner_is_read(between, point_elsewhere, times=FOLLOWED_MAX)
    with pytest.raises(VersionConflictError, match="has changed 20 times while it was followed"):
        db.user_by_name("anna").maybe()


def test_item_is_found_while_its_keys_change(between: Between) -> None:
    old = on_client(changing_letters.OldLetters, between)
    values = {"tenant": "t", "box": "b", "number": 7, "day": "2025-01-20", "subject": "s", "seal": "wax"}
    old.create(changing_letters.OldLetter(**values))  # type: ignore[arg-type]
    new = on_client(changing_letters.Letters, between, makes_table=False)
    plan = new.plan(changing_letters.Letter.seals.get(SealPK(seal="wax")))
    letter = plan.one()
    assert letter.seal == "wax"
    cached = plan.cached(seconds=60)
    assert cached.one() == letter
    new.update(letter, subject="moved by this write")
    assert plan.one().subject == "moved by this write"
    assert cached.one().subject == "moved by this write"
    assert new.letter("t", "b", "2025-01-20", 7).one().subject == "moved by this write"


# --- requests, and what they cost ----------------------------------------------------------------------------


def test_lock_and_owner_are_read_consistently_and_charged(db: Directory, between: Between) -> None:
    db.create(anna())
    between.calls.clear()
    plan = db.user_by_name("anna")
    found = plan.found()
    assert (found.units, found.usage.read, found.usage.thrown_away) == (2.0, 2, 1)
    lock, owner = between.calls
    assert lock == Call("GetItem", plan.request())
    assert plan.request() == {
        "TableName": "accounts",
        "Key": {"PK": {"S": "USERNAME#anna"}, "SK": {"S": "UNIQUE"}},
        "ReturnConsumedCapacity": "TOTAL",
        "ConsistentRead": True,
    }
    assert owner.params == {**plan.request(), "Key": {"PK": {"S": "USER#1"}, "SK": {"S": "PROFILE"}}}
    assert db.user_by_email("a@x").request()["Key"]["SK"] == {"S": "LOCK"}


def test_nothing_costs_one_read(db: Directory, between: Between) -> None:
    between.calls.clear()
    found = db.user_by_name("anna").found()
    assert (found.item, found.units, found.usage.read) == (None, 1.0, 0)
    assert between.operations() == ["GetItem"]


def test_left_over_lock_costs_a_third_read(db: Directory, between: Between) -> None:
    user = db.create(anna()).entity
    put(db, {**user.__dict__["_stored"], "username": {"S": "bea"}})
    between.calls.clear()
    found = db.user_by_name("anna").found()
    assert (found.item, found.units, found.usage.read, found.usage.thrown_away) == (None, 3.0, 3, 3)
    assert between.operations() == ["GetItem"] * 3


def test_cached_lookup_asks_once_until_its_time_is_over(
    db: Directory, between: Between, clock: ManualClock
) -> None:
    db.create(anna())
    assert db.remembered("anna").found().units == 2.0
    between.calls.clear()
    found = db.remembered("anna").found()
    assert found.item is not None
    assert (found.item.user_id, found.units) == ("1", 0.0)
    assert between.calls == []
    clock.advance(61)
    assert db.remembered("anna").found().units == 2.0


def test_cached_lookup_sees_what_the_same_design_writes(db: Directory) -> None:
    user = db.create(anna()).entity
    assert db.remembered("anna").one().user_id == "1"
    assert db.remembered("bea").maybe() is None
    db.update(user, username="bea")
    assert db.remembered("anna").maybe() is None
    assert db.remembered("bea").one().user_id == "1"
    db.delete(db.user("1").one())
    assert db.remembered("bea").maybe() is None


def test_lock_that_was_cached_does_not_hide_the_new_owner(
    db: Directory, others: Accounts, between: Between
) -> None:
    db.create(anna())
    db.remembered("anna").one()
    others.delete(others.user("1").one())
    others.create(anna(user_id="2"))
    # What is cached of the owner is forgotten, and of the lock it is not.
    db.session.cache.forget({"PK": {"S": "USER#1"}, "SK": {"S": "PROFILE"}})
    assert db.remembered("anna").one().user_id == "2"


def test_owner_that_was_cached_without_the_value_is_read_again(db: Directory, others: Accounts) -> None:
    db.create(anna(username=None))
    assert db.user("1").cached(seconds=60).one().username is None
    others.update(others.user("1").one(), username="anna")
    assert db.remembered("anna").one().username == "anna"


def test_lookups_have_twins_for_asyncio(db: Directory) -> None:
    db.create(anna())

    async def read() -> tuple[Any, ...]:
        plan = db.user_by_name("anna")
        found = await plan.afound()
        return (
            (await plan.aone()).user_id,
            found.units,
            await db.user_by_name("bea").amaybe(),
            (await db.pair("anna").aone()).user.user_id,
        )

    assert asyncio.run(read()) == ("1", 2.0, None, "1")


# --- declarations and wrong use -------------------------------------------------------------------------------


class FolkTable(Table):
    name = "folk"
    sk = None


class FolkPK(Key, template="FOLK#{number}"):
    number: int


class NickPK(Key, template="NICK#{nick}"):
    nick: Annotated[str, Normalize(str.casefold)]


class Folk(Entity):
    key = Keys(FolkPK)
    unique_nick = Unique(NickPK)

    number: int
    nick: str | None = None


class ElderPK(Key, template="ELDER#{number}"):
    number: int


class Elder(Folk):
    """Inherits what is unique; its lookups find elders."""

    key = Keys(ElderPK)  # type: ignore[assignment]


class Village(Design):
    table = FolkTable
    entities = (Folk, Elder)


def test_value_is_found_as_the_key_writes_it() -> None:
    with Village.open(":memory:") as db:
        db.create(Folk(number=1, nick="Åsa"))
        assert db.plan(Folk.unique_nick.get(NickPK(nick="ÅSA"))).one().number == 1


def test_inherited_unique_finds_items_of_its_own_class() -> None:
    with Village.open(":memory:") as db:
        db.create(Elder(number=1, nick="Ada"))
        assert isinstance(db.plan(Elder.unique_nick.get(NickPK(nick="ada"))).one(), Elder)
        assert db.plan(Folk.unique_nick.get(NickPK(nick="ada"))).maybe() is None


def test_unique_of_an_entity_is_the_key_of_its_lock() -> None:
    assert Folk(number=1, nick="Ada").unique_nick == NickPK(nick="ada")
    assert Folk(number=1).unique_nick is None


def test_unique_says_what_it_is() -> None:
    assert repr(Folk.unique_nick) == "Folk.unique_nick"
    assert repr(Elder.unique_nick) == "Elder.unique_nick"
    assert repr(Folk.unique_nick.unique) == "Unique(NickPK)"
    assert repr(Folk.unique_nick.get(NickPK(nick="Ada"))) == "Folk of NickPK(nick='ada')"
    assert Folk.unique_nick is Folk.unique_nick


@pytest.mark.parametrize("wrong", ["ada", None, FolkPK(number=1)])
def test_key_of_another_class_is_refused(wrong: Any) -> None:
    with pytest.raises(
        KeyValueError, match=r"Folk\.unique_nick is NickPK \(NICK#\{nick\}\), and .* is given"
    ):
        Folk.unique_nick.get(wrong)


def test_lookup_is_no_target_of_a_write() -> None:
    with Village.open(":memory:") as db, pytest.raises(TypeError, match=r"not Folk of NickPK\(nick='ada'\)"):
        db.update(Folk.unique_nick.get(NickPK(nick="ada")), nick=None)  # type: ignore[arg-type]


# --- as data ---------------------------------------------------------------------------------------------------


def of_pattern(blueprint: Blueprint, method: str) -> Any:
    return next(each for each in blueprint.patterns if each.method == method)


def test_blueprint_shows_both_reads() -> None:
    found = of_pattern(Directory.blueprint(), "user_by_email")
    assert found.operation == "Lookup"
    assert found.entities == ("User",)
    assert found.reads == (
        ReadBlueprint(
            "GetItem",
            ("User",),
            "EMAIL#{tenant_id}#{email}",
            sort=SortBlueprint("=", ("LOCK",)),
            is_consistent=True,
            lock="unique_email",
        ),
        ReadBlueprint(
            "GetItem",
            ("User",),
            "USER#{user_id}",
            sort=SortBlueprint("=", ("PROFILE",)),
            is_consistent=True,
            owner_of="unique_email",
        ),
    )


def test_blueprint_of_a_lookup_is_written_and_read_back() -> None:
    blueprint = Directory.blueprint()
    assert Blueprint.from_json(blueprint.to_json()) == blueprint
    assert of_pattern(blueprint, "remembered").cached_s == 60.0
    assert [read.name for read in of_pattern(blueprint, "pair").reads] == ["user", "user", "member", "member"]


def test_blueprint_of_a_table_without_sort_key_has_no_conditions_on_one() -> None:
    class Nicknames(Design):
        table = FolkTable
        entities = (Folk,)

        @pattern("1 Get by nick")
        def by_nick(self, nick: str) -> Lookup[Folk]:
            return Folk.unique_nick.get(NickPK(nick=nick))

    reads = of_pattern(Nicknames.blueprint(), "by_nick").reads
    assert [(read.pk, read.sort) for read in reads] == [("NICK#{nick}", None), ("FOLK#{number}", None)]


def test_text_of_a_blueprint_names_the_lock_and_its_owner() -> None:
    lines = Directory.blueprint().text().splitlines()
    at = next(number for number, line in enumerate(lines) if "`user_by_email(" in line)
    assert (
        "| Lookup |  | `PK = EMAIL#{tenant_id}#{email} AND SK = LOCK`, consistent, the lock of" in lines[at]
    )
    assert "`PK = USER#{user_id} AND SK = PROFILE`, consistent, the item that the lock names" in lines[at + 1]
