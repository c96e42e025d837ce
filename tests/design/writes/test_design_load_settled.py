"""Loading what agrees already: as it stands, in batches, without a read, as if it had been written with care."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from designs.accounts import Accounts, Invitation, Member
from designs.larder import Dish, Ingredient, Larder
from designs.larder import Review as DishReview
from designs.moving_shelves import Jar, Shelf, Shelves
from designs.recipes import Note, Recipe, Recipes
from designs.shops import Product, Review, Shop, Shops, Visit
from singletable.clock import ManualClock
from singletable.design import Design, Entity
from singletable.errors import InvalidWriteError
from support.design_clients import ALL_TARGETS, Between, on_client, opened_anyhow
from support.unique_locks import items_of, locks, wrong_locks

LONG_AGO = datetime(2020, 5, 17, 8, 30, tzinfo=UTC)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def between(clock: ManualClock) -> Iterator[Between]:
    with opened_anyhow("embedded", clock=clock) as client:
        yield Between(client)


@pytest.fixture(params=ALL_TARGETS)
def shops(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Shops]:
    with opened_anyhow(request.param, clock=clock, sleep=clock.advance) as client:
        yield on_client(Shops, client)


def product(number: int, **values: Any) -> Product:
    return Product(
        shop_id="s", product_id=f"p{number}", title="Blue mug", code=f"c{number}", amount=number, **values
    )


def reviews(number: int) -> list[Review]:
    stars = [Decimal(star) for star in (5, 4, 4)]
    return [
        Review(shop_id="s", product_id=f"p{number}", review_id=str(at), stars=star)
        for at, star in enumerate(stars)
    ]


def settled_shop(count: int) -> list[Entity]:
    """Return a shop with all that is in it, every number filled in."""
    products = [Shops.counted(product(number), reviews(number)) for number in range(count)]
    shop = Shops.counted(Shop(shop_id="s"), products)
    return [*[review for number in range(count) for review in reviews(number)], *products, shop]


def stored(db: Design, *, without: tuple[str, ...] = ()) -> list[str]:
    return sorted(
        str(sorted((name, value) for name, value in item.items() if name not in without))
        for item in items_of(db)
    )


# --- what is stored --------------------------------------------------------------------------------------------


def test_settled_entities_are_stored_as_if_they_had_been_created_with_care(shops: Shops) -> None:
    shops.load(settled_shop(3), settled=True)
    assert shops.verify().is_clean
    with Shops.open(":memory:", clock=shops.clock) as carefully:
        for entity in (Shop(shop_id="s"), *map(product, range(3))):
            carefully.create(entity)
        for number in range(3):
            for review in reviews(number):
                carefully.create(review)
        assert stored(shops) == stored(carefully)


def test_numbers_go_on_from_what_was_loaded(shops: Shops) -> None:
    shops.load(settled_shop(2), settled=True)
    shops.create(Review(shop_id="s", product_id="p1", review_id="new", stars=Decimal(1)))
    shops.create(product(9))
    found = shops.product("s", "p1").one()
    assert (found.reviews, found.stars) == (4, Decimal("3.5"))
    assert (shops.shop("s").one().products, shops.shop("s").one().reviews) == (3, 7)
    assert shops.verify().is_clean


def test_items_with_their_locks_and_derived_ones_are_counted(shops: Shops) -> None:
    loaded = shops.load(settled_shop(3), settled=True)
    assert loaded.counts == {"Review": 9, "Product": 3, "Shop": 1}
    assert (loaded.total, loaded.items) == (13, 13 + 3 + 6)
    assert len(items_of(shops)) == loaded.items


def test_loading_settled_entities_again_changes_nothing(shops: Shops) -> None:
    shops.load(settled_shop(3), settled=True)
    once = stored(shops)
    shops.load(settled_shop(3), settled=True)
    assert stored(shops) == once


def test_numbers_are_believed_and_parents_are_left_alone(between: Between) -> None:
    shops = on_client(Shops, between)
    shops.load([Shop(shop_id="s", products=70), product(1)], settled=True)
    assert shops.shop("s").one().products == 70
    assert shops.product("s", "p1").one().version == 1


def test_child_may_come_without_its_parent(between: Between) -> None:
    shops = on_client(Shops, between)
    shops.load([product(1)], settled=True)
    assert shops.product("s", "p1").one().amount == 1


def test_times_versions_and_expiry_are_kept(between: Between) -> None:
    shops = on_client(Shops, between)
    shops.load([product(1, created_at=LONG_AGO, updated_at=LONG_AGO, version=7)], settled=True)
    found = shops.product("s", "p1").one()
    assert (found.created_at, found.updated_at, found.version) == (LONG_AGO, LONG_AGO, 7)


def test_lock_of_what_expires_expires_with_it(between: Between) -> None:
    db = on_client(Accounts, between)
    db.load([Invitation(code="i", mailbox="a@x.example", ttl=LONG_AGO.replace(year=2090))], settled=True)
    assert wrong_locks(db) == []
    assert len({item["ttl"]["N"] for item in items_of(db)}) == 1


def test_value_that_is_not_there_has_no_lock(between: Between) -> None:
    db = on_client(Accounts, between)
    db.load([Member(member_id="m", username="mel")], settled=True)
    assert list(locks(db)) == ["USERNAME#mel"]


def test_copies_and_what_the_stream_derives_are_written_along() -> None:
    with Shelves.open(":memory:") as db:
        jars = [Jar(shelf="s", jar=str(number), room="attic", labels={"old", "plum"}) for number in range(3)]
        shelf = Shelves.counted(Shelf(shelf="s", room="attic"), jars)
        assert shelf.jars == 3
        assert db.load([*jars, shelf], settled=True).items == 4 + 6
        assert db.verify().is_clean


def test_copy_that_is_not_given_is_not_looked_up(between: Between) -> None:
    db = on_client(Recipes, between)
    db.load([Recipe(recipe_id="r", title="Bread")], settled=True)
    between.calls.clear()
    db.load([Note(recipe_id="r", note_id="n")], settled=True)
    assert between.operations() == ["BatchWriteItem"]
    (note,) = [item for item in items_of(db) if item["entityType"] == {"S": "Note"}]
    assert note.get("recipeTitle") != {"S": "Bread"}


def test_computed_fields_follow_from_what_is_loaded() -> None:
    stars = [DishReview(dish_id="d", reviewer=name, stars=4, dish_title="Soup") for name in "ab"]
    with Larder.open(":memory:") as db:
        dish = Larder.counted(Dish(dish_id="d", title="Soup"), stars)
        assert dish.rank == 8
        db.load([Ingredient(ingredient_id="i", name="Red  Onion"), dish, *stars], settled=True)
        assert db.verify().is_clean
        assert "NAME#red onion" in locks(db)


# --- what is sent -----------------------------------------------------------------------------------------------


def test_nothing_is_read_and_everything_goes_in_batches(between: Between) -> None:
    shops = on_client(Shops, between)
    between.calls.clear()
    shops.load(settled_shop(40), settled=True)
    assert set(between.operations()) == {"BatchWriteItem"}
    sizes = [len(call.params["RequestItems"]["shops"]) for call in between.calls]
    assert sum(sizes) == 40 * (3 + 1 + 1 + 2) + 1
    assert sorted(sizes)[2:] == [25] * (len(sizes) - 2)


def test_progress_is_told_in_entities(between: Between) -> None:
    shops = on_client(Shops, between)
    told: list[int] = []
    visits = [Visit(shop_id="s", visit_id=str(number)) for number in range(250)]
    shops.load(visits, settled=True, progress=told.append)
    assert told == [200, 250]


def test_of_two_with_one_key_the_later_one_stays(between: Between) -> None:
    shops = on_client(Shops, between)
    pair = [Visit(shop_id="s", visit_id="v", minutes=minutes) for minutes in (1, 2)]
    loaded = shops.load(pair, settled=True)
    assert (loaded.total, loaded.items) == (2, 1)
    assert [item["minutes"] for item in items_of(shops)] == [{"N": "2"}]


def test_async_load_is_the_same(between: Between) -> None:
    shops = on_client(Shops, between)
    asyncio.run(shops.aload(settled_shop(2), settled=True))
    assert shops.verify().is_clean


def test_loaded_entity_is_as_if_it_had_been_read(between: Between) -> None:
    shops = on_client(Shops, between)
    visit, mug = Visit(shop_id="s", visit_id="v"), product(1)
    shops.load([visit, mug, Shop(shop_id="s", products=1, stock=1)], settled=True)
    shops.update(mug, title="Red mug")
    shops.put(visit)
    assert shops.verify().is_clean


# --- numbers ----------------------------------------------------------------------------------------------------


def test_children_of_others_do_not_count() -> None:
    others = [product(1), Product(shop_id="t", product_id="x", title="X"), Visit(shop_id="s", visit_id="v")]
    assert Shops.counted(Shop(shop_id="s"), others).products == 1


def test_entity_that_is_counted_stays_as_it_was() -> None:
    shop = Shop(shop_id="s")
    assert Shops.counted(shop, [product(1)]) is not shop
    assert shop.products == 0


def test_without_children_numbers_are_nothing() -> None:
    counted = Shops.counted(product(1, reviews=9, stars=Decimal(3)), [])
    assert (counted.reviews, counted.stars) == (0, None)


def test_times_that_were_not_given_are_still_filled_in(between: Between) -> None:
    shops = on_client(Shops, between)
    shops.load([Shops.counted(product(1), reviews(1))], settled=True)
    assert shops.product("s", "p1").one().created_at == shops.now()


# --- what is refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stars", [Decimal(4), None], ids=["an average without a sum", "a sum without it"])
def test_average_that_does_not_follow_from_its_sum_is_refused(
    between: Between, stars: Decimal | None
) -> None:
    shops = on_client(Shops, between)
    between.calls.clear()
    wrong = product(1) if stars is not None else Shops.counted(product(1), reviews(1))
    wrong.stars = stars
    with pytest.raises(InvalidWriteError, match=r"Product SHOP#s / PRODUCT#p1 has an average, stars"):
        shops.load([wrong], settled=True)
    assert between.calls == []


def test_invalid_entity_is_refused_before_it_is_sent(between: Between) -> None:
    shops = on_client(Shops, between)
    between.calls.clear()
    visit = Visit(shop_id="s", visit_id="v")
    visit.minutes = "many"  # type: ignore[assignment]
    with pytest.raises(InvalidWriteError, match=r"Visit\.minutes"):
        shops.load([visit], settled=True)
    assert between.calls == []
