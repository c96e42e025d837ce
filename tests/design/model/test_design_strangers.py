"""Items that belong to no entity, or to another one: no write takes them for its own, or changes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from designs.accounts import Accounts, Member, MemberPK, Note, NotePK, ProfileSK, User, UserPK
from designs.social import Reaction, Social
from singletable import Database
from singletable.client import EmbeddedClient, open_client
from singletable.client.calls import Answer
from singletable.design import Check, Create, Delete, Design, Get, Update
from singletable.design.streams.once import carry_out
from singletable.errors import InvalidItemError, NotFoundError
from support.design_clients import ALL_TARGETS, Between, on_client
from support.faulty_targets import Ask, Faulty
from support.kept_together import opened_design
from support.limited_targets import LimitedClient
from support.opened_designs import store, stored_item, stored_items

USER, MEMBER, NOTE = "USER#1", "MEMBER#1", "NOTE#1"

Item = dict[str, Any]


@pytest.fixture(params=ALL_TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Accounts]:
    with opened_design(Accounts, request.param) as db:
        yield db


def made() -> dict[str, Any]:
    return {
        USER: User(user_id="1", tenant_id="t", email="1@x", username="one"),
        MEMBER: Member(member_id="1", username="member"),
        NOTE: Note(note_id="1", owner="o"),
    }


def key_of(pk: str) -> Get[Any]:
    keys: dict[str, Get[Any]] = {
        USER: User.key.get(UserPK(user_id="1"), ProfileSK()),
        MEMBER: Member.key.get(MemberPK(member_id="1"), ProfileSK()),
        NOTE: Note.key.get(NotePK(note_id="1"), ProfileSK()),
    }
    return keys[pk]


def replaced(db: Design, pk: str, name: str) -> Item:
    """Put an item of another name where somebody has one of a design."""
    item = {"PK": {"S": pk}, "SK": {"S": "PROFILE"}, "entityType": {"S": name}, "arms": {"N": "2"}}
    store(db, item)
    return item


WRITES: dict[str, Callable[[Design, Any], object]] = {
    "update": lambda db, target: db.update(target, **changes(target)),
    "delete": lambda db, target: db.delete(target),
    "handler's update": lambda db, target: handle(db, Update(target, **changes(target))),
    "handler's delete": lambda db, target: handle(db, Delete(target)),
    "update together": lambda db, target: together(db, Update(target, **changes(target))),
    "delete together": lambda db, target: together(db, Delete(target)),
    "check together": lambda db, target: together(db, Check(target)),
}


def changes(target: Any) -> dict[str, Any]:
    entity = target.entity if isinstance(target, Get) else type(target)
    return {"text": "x"} if entity is Note else {"bio": "x"}


def handle(db: Design, wanted: Any) -> None:
    db.session.run(carry_out(db.session, wanted, {"PK": {"S": "OTHER"}, "SK": {"S": "ITEM"}}))


def together(db: Design, wanted: Any) -> None:
    db.transaction(Create(Note(note_id="2", owner="o")), wanted)


def writes_of(db: Design) -> list[Callable[[Design, Any], object]]:
    can_transact = db.session.client.capabilities.transactions
    return [write for name, write in WRITES.items() if can_transact or "together" not in name]


@pytest.mark.parametrize("known", ["by key", "by entity"])
@pytest.mark.parametrize("pk", [USER, MEMBER, NOTE])
def test_item_of_nobody_is_neither_changed_nor_deleted(db: Accounts, pk: str, known: str) -> None:
    entity = db.create(made()[pk]).entity
    item = replaced(db, pk, "Robot")
    before = stored_items(db)
    for write in writes_of(db):
        with pytest.raises(InvalidItemError) as caught:
            write(db, entity if known == "by entity" else key_of(pk))
        assert caught.value.message == (
            f"the item {pk} / PROFILE is a stranger, not a {type(entity).__name__}: "
            "its entityType is 'Robot', which is no entity of Accounts"
        )
        assert caught.value.key == {"PK": item["PK"], "SK": item["SK"]}
        assert stored_items(db) == before


def test_item_of_another_entity_is_neither_changed_nor_deleted(db: Accounts) -> None:
    replaced(db, NOTE, "Member")
    before = stored_items(db)
    for write in writes_of(db):
        with pytest.raises(InvalidItemError, match=r"the item NOTE#1 / PROFILE is a Member, not a Note"):
            write(db, key_of(NOTE))
        assert stored_items(db) == before


def test_item_without_a_discriminator_is_that_of_its_key(db: Accounts) -> None:
    db.create(made()[NOTE])
    item = stored_item(db, NOTE, "PROFILE")
    assert item is not None
    store(db, {name: value for name, value in item.items() if name != "entityType"})
    assert db.update(key_of(NOTE), text="new").entity.text == "new"
    db.delete(key_of(NOTE))
    assert stored_item(db, NOTE, "PROFILE") is None


def test_what_is_not_there_is_deleted_without_complaint(db: Accounts) -> None:
    db.delete(key_of(NOTE))
    db.delete(made()[NOTE])


def test_nothing_is_read_to_find_out() -> None:
    with Database.open(":memory:") as database:
        between = Between(open_client(database))
        db = on_client(Accounts, between)
        db.create(made()[NOTE])
        between.calls.clear()
        db.update(key_of(NOTE), text="x")
        db.delete(key_of(NOTE))
        assert [call.operation for call in between.calls] == ["UpdateItem", "DeleteItem"]


@pytest.mark.parametrize(
    "kind", [partial(EmbeddedClient, owns=False), LimitedClient], ids=["transactions", "no-transactions"]
)
def test_target_that_does_not_show_what_stands_in_the_way_is_asked_for_it(kind: Any) -> None:
    """Not every target knows ReturnValuesOnConditionCheckFailure."""

    def silent(operation: str, params: Item, ask: Ask) -> Answer:
        params.pop("ReturnValuesOnConditionCheckFailure", None)
        return ask(operation, params)

    with Database.open(":memory:") as database:
        db = on_client(Accounts, Faulty(kind(database), silent))
        replaced(db, NOTE, "Robot")
        for write in ("update", "delete"):
            with pytest.raises(InvalidItemError, match="is a stranger, not a Note"):
                WRITES[write](db, key_of(NOTE))


@pytest.mark.parametrize("target", ALL_TARGETS)
def test_nothing_is_counted_in_an_item_of_nobody(target: str) -> None:
    with opened_design(Social, target) as db:
        item = {"PK": {"S": "POST#p"}, "SK": {"S": "POST"}, "entityType": {"S": "Robot"}}
        store(db, item)
        with pytest.raises(NotFoundError, match="there is no Post"):
            db.create(Reaction(post_id="p", user_id="u"))
        assert stored_item(db, "POST#p", "POST") == item
