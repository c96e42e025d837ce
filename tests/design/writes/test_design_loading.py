"""Loading: any number of entities as they stand, in as few requests as there can be, with all that follows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from designs.accounts import Accounts, Invitation, Member, Note, User
from designs.recipes import Note as RecipeNote
from designs.recipes import Recipe, Recipes
from designs.shops import Product, Review, Shop, Shops, Visit
from designs.social import Post, Social
from designs.social import User as Person
from singletable.clock import ManualClock
from singletable.design import Design, Entity
from singletable.errors import DuplicateError, InvalidWriteError, NotFoundError
from support.design_clients import ALL_TARGETS, Between, on_client, opened_anyhow
from support.targets import TARGETS, opened
from support.unique_locks import items_of, locks, wrong_locks

LONG_AGO = datetime(2020, 5, 17, 8, 30, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def between(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Between]:
    with opened(request.param, clock=clock, sleep=clock.advance, random=lambda: 1.0) as client:
        yield Between(client)


@pytest.fixture
def db(between: Between) -> Iterator[Accounts]:
    design = on_client(Accounts, between)
    between.calls.clear()
    yield design
    between.before = lambda call: None
    assert wrong_locks(design) == []


@pytest.fixture(params=ALL_TARGETS)
def shops(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Shops]:
    with opened_anyhow(request.param, clock=clock, sleep=clock.advance) as client:
        design = on_client(Shops, client)
        yield design
        assert design.verify().is_clean


def notes(count: int, *, text: str = "") -> Iterator[Note]:
    return (Note(note_id=f"n{number}", owner="o", text=text) for number in range(count))


def users(count: int) -> Iterator[User]:
    return (
        User(user_id=f"u{number}", tenant_id="t", email=f"{number}@x.example", username=f"name{number}")
        for number in range(count)
    )


def products(count: int) -> Iterator[Product]:
    return (
        Product(shop_id="s", product_id=f"p{number}", title="Blue mug", code=f"c{number}", amount=number)
        for number in range(count)
    )


# --- what is sent -----------------------------------------------------------------------------------------------


def test_plain_entities_go_in_batches_of_twenty_five(db: Accounts, between: Between) -> None:
    loaded = db.load(notes(60))
    assert [call.operation for call in between.calls] == ["BatchWriteItem"] * 3
    assert [len(call.params["RequestItems"]["accounts"]) for call in between.calls] == [25, 25, 10]
    assert (loaded.counts, loaded.total, loaded.units) == ({"Note": 60}, 60, 120.0)
    assert len(items_of(db)) == 60


def test_entities_with_locks_go_in_transactions_of_several(db: Accounts, between: Between) -> None:
    loaded = db.load(users(30))
    written = [call for call in between.calls if call.operation == "TransactWriteItems"]
    assert [len(call.params["TransactItems"]) for call in written] == [75, 15]
    assert loaded.counts == {"User": 30}
    assert len(locks(db)) == 60


def test_nothing_is_read_for_plain_entities(db: Accounts, between: Between) -> None:
    db.load([*notes(3), *notes(3, text="again")])
    assert {call.operation for call in between.calls} == {"BatchWriteItem"}


def test_entities_are_taken_as_they_are_needed(db: Accounts) -> None:
    held = most = 0

    def made() -> Iterator[Note]:
        nonlocal held, most
        for note in notes(1000):
            held += 1
            most = max(most, held)
            yield note

    def progress(total: int) -> None:
        nonlocal held
        held = 0

    db.load(made(), progress=progress)
    assert most == 200


def test_progress_is_told_how_many_are_written(db: Accounts) -> None:
    told: list[int] = []
    db.load([*notes(410), *users(2)], progress=told.append)
    assert told == [200, 400, 402, 412]


def test_nothing_to_load_asks_nothing(db: Accounts, between: Between) -> None:
    assert db.load([]).total == 0
    assert between.calls == []


def test_async_load_is_the_same(db: Accounts, between: Between) -> None:
    loaded = asyncio.run(db.aload([*notes(30), *users(1)]))
    assert loaded.counts == {"User": 1, "Note": 30}
    assert between.operations()[-2:] == ["BatchWriteItem", "BatchWriteItem"]


def test_what_is_left_unprocessed_is_sent_again(db: Accounts, between: Between, clock: ManualClock) -> None:
    before_us = clock.now_us()
    left = iter([5, 0])

    def before(call: Any) -> Any:
        count = next(left, 0)
        requests = call.params["RequestItems"]["accounts"]
        between.inner.call("BatchWriteItem", {"RequestItems": {"accounts": requests[count:]}})
        return {"UnprocessedItems": {"accounts": requests[:count]} if count else {}}

    between.before = before
    db.load(notes(10))
    between.before = lambda call: None
    assert clock.now_us() - before_us == 50_000
    assert len(items_of(db)) == 10


# --- as they stand ---------------------------------------------------------------------------------------------


def test_times_that_are_given_are_kept_and_others_filled_in(shops: Shops, clock: ManualClock) -> None:
    given = Product(shop_id="s", product_id="old", title="A", created_at=LONG_AGO, updated_at=LONG_AGO)
    shops.load([Shop(shop_id="s"), given, Product(shop_id="s", product_id="new", title="B")])
    old, new = shops.product("s", "old").one(), shops.product("s", "new").one()
    assert (old.created_at, old.updated_at) == (LONG_AGO, LONG_AGO)
    assert new.created_at == new.updated_at == shops.now()


def test_version_is_one_or_that_which_is_given(db: Accounts) -> None:
    db.load([Member(member_id="a"), Member(member_id="b", version=7)])
    assert db.member("a").one().version == 1
    assert db.member("b").one().version == 7


def test_what_is_there_is_written_over_whatever_its_version(db: Accounts) -> None:
    member = db.create(Member(member_id="m", username="old", badge=1)).entity
    db.update(member, bio="changed")
    db.load([Member(member_id="m", username="new", badge=1)])
    stored = db.member("m").one()
    assert (stored.username, stored.bio, stored.version) == ("new", None, 1)
    assert sorted(locks(db)) == ["BADGE#1", "USERNAME#new"]


def test_loading_twice_leaves_what_loading_once_does(db: Accounts) -> None:
    def everything() -> list[Entity]:
        return [*users(30), *notes(30), Invitation(code="i", mailbox="A@x.example")]

    def without_moments() -> list[Any]:
        return sorted(
            str({name: value for name, value in item.items() if name != "$takenAt"}) for item in items_of(db)
        )

    db.load(everything())
    once = without_moments()
    db.load(everything())
    assert without_moments() == once


def test_of_two_with_one_key_the_later_one_stays(db: Accounts) -> None:
    pair = [Note(note_id="n", owner="o", text=text) for text in ("first", "second")]
    names = [User(user_id="u", tenant_id="t", email="e", username=name) for name in ("first", "second")]
    loaded = db.load([*pair, *names])
    assert loaded.counts == {"Note": 2, "User": 2}
    assert [note.text for note in db.notes("o").all()] == ["second"]
    assert db.user("u").one().username == "second"


def test_loaded_entity_is_as_if_it_had_been_read(db: Accounts) -> None:
    note, member = Note(note_id="n", owner="o"), Member(member_id="m")
    db.load([note, member])
    assert member.version == 1
    db.update(member, bio="still the same version")
    db.put(note)


# --- what follows ------------------------------------------------------------------------------------------------


def test_counters_and_derived_items_follow(shops: Shops) -> None:
    reviews = [
        Review(shop_id="s", product_id="p1", review_id=str(number), stars=Decimal(number % 5))
        for number in range(30)
    ]
    shops.load([Shop(shop_id="s"), *products(40), *reviews, Visit(shop_id="s", visit_id="v")])
    shop, product = shops.shop("s").one(), shops.product("s", "p1").one()
    assert (shop.products, shop.stock, shop.reviews) == (40, sum(range(40)), 30)
    assert (product.reviews, product.stars) == (30, Decimal(2))
    labels = [item for item in items_of(shops) if item["entityType"] == {"S": "Label"}]
    assert len(labels) == 80


def test_more_than_a_transaction_takes_goes_one_by_one(shops: Shops) -> None:
    title = " ".join(f"word{number}" for number in range(60))
    large = [Product(shop_id="s", product_id=str(number), title=title) for number in range(2)]
    shops.load([Shop(shop_id="s"), *large])
    assert shops.shop("s").one().products == 2


def test_counted_numbers_stay_when_their_item_is_loaded_again(shops: Shops) -> None:
    shops.load([Shop(shop_id="s"), *products(3)])
    shops.load([Shop(shop_id="s")])
    assert shops.shop("s").one().products == 3


@pytest.mark.parametrize("target", TARGETS)
def test_copy_is_filled_in_from_what_is_loaded_with_it(target: str) -> None:
    with opened(target) as client:
        db = on_client(Recipes, client)
        db.load([Recipe(recipe_id="r", title="Bread"), RecipeNote(recipe_id="r", note_id="n")])
        (copy,) = [item for item in items_of(db) if item.get("entityType") == {"S": "Note"}]
        assert copy["recipeTitle"] == {"S": "Bread"}


@pytest.mark.parametrize("target", TARGETS)
def test_copy_that_a_consumer_keeps_is_filled_in_too(target: str) -> None:
    with opened(target) as client:
        db = on_client(Social, client)
        db.load([Person(user_id="u", full_name="Ann"), Post(post_id="p", user_id="u")])
        (post,) = [item for item in items_of(db) if item.get("entityType") == {"S": "Post"}]
        assert post["userName"] == {"S": "Ann"}


def test_cached_answers_are_forgotten(shops: Shops) -> None:
    shops.load([Shop(shop_id="s")])
    assert list(shops.remembered_products("s").all()) == []
    shops.load(products(1))
    assert len(list(shops.remembered_products("s").all())) == 1


# --- what is refused ------------------------------------------------------------------------------------------


def test_taken_value_is_refused_and_what_came_before_stays(db: Accounts) -> None:
    taken = User(user_id="late", tenant_id="t", email="elsewhere", username="name3")
    with pytest.raises(DuplicateError, match="name3"):
        db.load([*users(25), *notes(200), taken])
    assert len([item for item in items_of(db) if item["entityType"] == {"S": "User"}]) == 25
    assert len(list(db.notes("o").all())) == 200


def test_child_without_its_parent_is_refused(shops: Shops) -> None:
    with pytest.raises(NotFoundError):
        shops.load(products(1))


def test_invalid_entity_is_refused_before_it_is_sent(db: Accounts, between: Between) -> None:
    note = Note(note_id="n", owner="o")
    note.owner = 7  # type: ignore[assignment]
    with pytest.raises(InvalidWriteError, match=r"Note\.owner"):
        db.load([note])
    assert between.calls == []


@pytest.mark.parametrize("wrong", ["Note", 7, {"note_id": "n"}])
def test_what_is_no_entity_is_refused(db: Accounts, wrong: Any) -> None:
    with pytest.raises(TypeError, match="what is loaded is an entity"):
        db.load([wrong])


def test_progress_must_be_callable(db: Design) -> None:
    with pytest.raises(TypeError, match="progress is a function"):
        db.load([], progress=7)  # type: ignore[arg-type]
