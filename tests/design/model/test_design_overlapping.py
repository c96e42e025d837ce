"""Entities whose keys can be the same: a put does not replace an item of another one, and only those ask."""

from __future__ import annotations

import pytest

from designs import kefir
from singletable.design import Design, Entity, Key, Keys, NoSortKey, SortKey, Table, Unique
from singletable.design.tables.create import create_table
from singletable.design.writes.transaction import prepare
from singletable.design.writes.write import Delete, Put
from singletable.errors import InvalidItemError, InvalidWriteError
from support.migrating import EVERYWHERE, design_on, fresh_client

each_target = pytest.mark.parametrize("target", EVERYWHERE)


class ThingTable(Table):
    name = "things"
    pitr_days = None


class AnyPK(Key, template="{kind}#{name}"):
    kind: str
    name: str


class ThingSK(SortKey, template="INFO"):
    pass


class UserPK(Key, template="USER#{user_id}"):
    user_id: str


class InfoSK(SortKey, template="{what}"):
    what: str


class Thing(Entity):
    key = Keys(AnyPK, ThingSK)

    kind: str
    name: str


class User(Entity):
    key = Keys(UserPK, InfoSK)

    user_id: str
    what: str = "INFO"
    note: str = ""


class OrderPK(Key, template="ORDER#{day}#{number}"):
    day: str
    number: str


class Order(Entity):
    key = Keys(OrderPK, ThingSK)

    day: str
    number: str


class Things(Design):
    table = ThingTable
    entities = (Thing, User, Order)


def names(design: type[Design]) -> set[str]:
    return {schema.name for schema in design.catalog.overlapping}


def test_entities_whose_templates_can_write_the_same_text_are_known() -> None:
    assert names(Things) == {"Thing", "User"}  # an order has one separator more than a thing can have


def test_entities_with_words_of_their_own_are_not() -> None:
    assert names(kefir.Kefir) == set()


def test_entity_whose_key_can_be_that_of_a_lock_is() -> None:
    class CodePK(Key, template="CODE#{code}"):
        code: str

    class IdPK(Key, template="{kind}#{code}"):
        kind: str
        code: str

    class PlainTable(Table):
        name = "plain"
        sk = None

    class Coupon(Entity):
        key = Keys(IdPK, NoSortKey)
        codes = Unique(CodePK)

        kind: str
        code: str

    class Coupons(Design):
        table = PlainTable
        entities = (Coupon,)

    assert names(Coupons) == {"Coupon"}


@each_target
def test_put_does_not_replace_an_item_of_another_entity(target: str) -> None:
    with fresh_client(target) as client:
        db = design_on(client, Things, {})
        client.run(create_table(db.session))
        db.put(User(user_id="ada", note="first"))
        with pytest.raises(
            InvalidItemError,
            match=r"Thing USER#ada / INFO would replace another item: .* is a User",
        ) as refused:
            db.put(Thing(kind="USER", name="ada"))
        assert refused.value.hint is not None
        db.put(User(user_id="ada", note="second"))
        assert db.plan(User.key.get(UserPK(user_id="ada"), InfoSK(what="INFO"))).one().note == "second"


@each_target
def test_put_replaces_an_item_without_discriminator(target: str) -> None:
    with fresh_client(target) as client:
        db = design_on(client, Things, {})
        client.run(create_table(db.session))
        old = {"PK": {"S": "USER#ada"}, "SK": {"S": "INFO"}, "userId": {"S": "ada"}, "what": {"S": "INFO"}}
        client.call("PutItem", {"TableName": "things", "Item": old})
        db.put(User(user_id="ada", note="second"))
        assert db.plan(User.key.get(UserPK(user_id="ada"), InfoSK(what="INFO"))).one().note == "second"


@each_target
def test_put_in_a_transaction_does_not_replace_one_either(target: str) -> None:
    if target == "without transactions":
        pytest.skip("there are none")
    with fresh_client(target) as client:
        db = design_on(client, Things, {})
        client.run(create_table(db.session))
        db.put(User(user_id="ada"))
        with pytest.raises(InvalidItemError, match="is a User, not a Thing"):
            db.transaction(Put(Thing(kind="USER", name="ada")), Put(Order(day="1", number="2")))


@each_target
def test_item_without_discriminator_is_changed_and_deleted_as_that_of_its_key(target: str) -> None:
    with fresh_client(target) as client:
        db = design_on(client, Things, {})
        client.run(create_table(db.session))
        for pk, sk in (("USER#ada", "INFO"), ("USER#bob", "NEWS")):
            item = {"PK": {"S": pk}, "SK": {"S": sk}}
            client.call("PutItem", {"TableName": "things", "Item": item})
        ada, bob = (User(user_id=name, what=what) for name, what in (("ada", "INFO"), ("bob", "NEWS")))
        is_thing = "USER#ada / INFO is a Thing by its key, not a User"
        with pytest.raises(InvalidItemError, match=is_thing):
            db.update(ada, note="x")
        with pytest.raises(InvalidItemError, match=is_thing):
            db.delete(ada)
        db.update(bob, note="x")
        db.delete(bob)
        left = client.call("Scan", {"TableName": "things"})["Items"]
        assert left == [{"PK": {"S": "USER#ada"}, "SK": {"S": "INFO"}}]


def test_batch_refuses_what_would_need_the_condition() -> None:
    with Things.open(":memory:") as db:
        with pytest.raises(InvalidWriteError, match="another entity can have the same key"):
            db.batch(Put(User(user_id="ada")))
        with pytest.raises(InvalidWriteError, match="another entity can have the same key"):
            db.batch(Delete(User(user_id="ada")))
        db.batch(Put(Order(day="1", number="2")))


def test_others_are_put_without_a_condition() -> None:
    with Things.open(":memory:") as db:
        for entity, asks in ((Order(day="1", number="2"), False), (User(user_id="ada"), True)):
            prepared = db.session.run(prepare(db.session, Put(entity)))
            assert ["ConditionExpression" in action.params for action in prepared.actions] == [asks]
