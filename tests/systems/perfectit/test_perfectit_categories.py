"""The tree of categories: roots, order, moves that make no circle."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from singletable import Database
from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.perfectit.errors import (
    CategoryExistsError,
    CategoryNotFoundError,
    CategoryRefusedError,
    InvalidInputError,
)
from singletable_systems.perfectit.model.keys import CategoryId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.cards import Publishing
from singletable_systems.perfectit.services.categories import DEPTH_MAX, Categories, flat
from support.opened_designs import opened_design
from support.targets import TARGETS
from systems.perfectit_people import ADA, draft, sign_up, watched

A, B, C = CategoryId("crafts"), CategoryId("wood"), CategoryId("oak")


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[PerfectIt]:
    with opened_design(PerfectIt, request.param, ManualClock(), environment="test") as db:
        yield db


@pytest.fixture
def categories(db: PerfectIt) -> Categories:
    return Categories(db)


def plant(categories: Categories) -> None:
    categories.add(A, "Crafts", sort_order=20)
    categories.add(B, "Wood", parent_id=A, sort_order=9)
    categories.add(C, "Oak", parent_id=B)
    categories.add(CategoryId("clay"), "Clay", parent_id=A, sort_order=10)
    categories.add(CategoryId("kitchen"), "Kitchen", sort_order=3)


def names(categories: Categories) -> list[str]:
    return [category.name for category in flat(categories.tree())]


def test_tree_is_in_its_order_and_nine_comes_before_ten(db: PerfectIt, categories: Categories) -> None:
    plant(categories)
    assert names(categories) == ["Kitchen", "Crafts", "Wood", "Oak", "Clay"]
    assert [category.name for category in db.root_categories().all()] == ["Kitchen", "Crafts"]
    assert [category.name for category in db.categories_below(A).all()] == ["Wood", "Clay"]
    assert [category.name for category in categories.path(C)] == ["Crafts", "Wood", "Oak"]


def test_category_moves_with_all_below_it(categories: Categories) -> None:
    plant(categories)
    categories.move(B, CategoryId("kitchen"))
    assert names(categories) == ["Kitchen", "Wood", "Oak", "Crafts", "Clay"]
    categories.move(B, None)
    categories.describe(B, sort_order=1, name="Timber")
    assert names(categories) == ["Timber", "Oak", "Kitchen", "Crafts", "Clay"]


@pytest.mark.parametrize("below", [A, B, C])
def test_category_is_never_below_itself(categories: Categories, below: CategoryId) -> None:
    plant(categories)
    with pytest.raises(CategoryRefusedError, match="or the same"):
        categories.move(A, below)


def test_two_moves_at_once_make_no_circle(db: PerfectIt) -> None:
    categories = Categories(db)
    for each in (A, B):
        categories.add(each, each)
    slow, between = watched(db)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            categories.move(B, A)

    between.before = overtake
    with pytest.raises(CategoryRefusedError, match="or the same"):
        Categories(slow).move(A, B)
    assert names(categories) == ["crafts", "wood"]


def overtaken(db: PerfectIt, faster: Callable[[], object]) -> PerfectIt:
    """Return the same PerfectIt, where somebody is faster than the first write."""
    slow, between = watched(db)

    def overtake(call: Call) -> None:
        if call.operation in ("TransactWriteItems", "DeleteItem"):
            between.before = lambda call: None
            faster()

    between.before = overtake
    return slow


def test_category_is_added_below_one_that_moves_meanwhile(db: PerfectIt, categories: Categories) -> None:
    plant(categories)
    slow = overtaken(db, lambda: categories.move(B, None))
    Categories(slow).add(CategoryId("elm"), "Elm", parent_id=B)
    assert [each.category_id for each in categories.path(CategoryId("elm"))] == [B, "elm"]


def test_category_is_not_added_below_one_that_goes_meanwhile(db: PerfectIt, categories: Categories) -> None:
    plant(categories)
    slow = overtaken(db, lambda: categories.remove(C))
    with pytest.raises(CategoryNotFoundError, match="there is no category oak"):
        Categories(slow).add(CategoryId("bark"), "Bark", parent_id=C)
    assert db.category(CategoryId("bark")).maybe() is None


def test_category_that_gets_something_meanwhile_stays(db: PerfectIt, categories: Categories) -> None:
    plant(categories)
    sign_up(db, ADA)
    card = draft(db, category=C)
    slow = overtaken(db, lambda: Publishing(db).publish(ADA, card.card_id))
    with pytest.raises(CategoryRefusedError, match="there are cards in oak"):
        Categories(slow).remove(C)
    slow = overtaken(db, lambda: categories.add(CategoryId("pots"), "Pots", parent_id=CategoryId("clay")))
    with pytest.raises(CategoryRefusedError, match="there are categories below clay"):
        Categories(slow).remove(CategoryId("clay"))
    assert db.category(C).one().cards_count == db.category(CategoryId("clay")).one().categories_count == 1


def test_card_is_not_published_in_a_category_that_is_gone(db: PerfectIt, categories: Categories) -> None:
    plant(categories)
    sign_up(db, ADA)
    card = draft(db, category=C)
    slow = overtaken(db, lambda: categories.remove(C))
    for each in (slow, db):
        with pytest.raises(CategoryNotFoundError, match="there is no category oak"):
            Publishing(each).publish(ADA, card.card_id)
    Publishing(db).edit(ADA, card.card_id, category=B)
    assert Publishing(db).publish(ADA, card.card_id).status == "PUBLISHED"


def test_category_is_kept_although_the_indexes_are_late() -> None:
    with (
        Database.open(":memory:", clock=ManualClock(), index_delay_s=1) as late,
        PerfectIt.open(late) as db,
    ):
        Categories(db).add(A, "Crafts")
        Categories(db).add(B, "Wood", parent_id=A)
        with pytest.raises(CategoryRefusedError, match="there are categories below crafts"):
            Categories(db).remove(A)


def test_what_categories_count_follows_moves_and_cards(db: PerfectIt, categories: Categories) -> None:
    plant(categories)
    sign_up(db, ADA)
    card = draft(db, category=C)
    counted: list[tuple[int, int]] = []
    for change in (
        lambda: Publishing(db).publish(ADA, card.card_id),
        lambda: Publishing(db).edit(ADA, card.card_id, category=B),
        lambda: categories.move(C, CategoryId("kitchen")),
        lambda: Publishing(db).archive(ADA, card.card_id),
    ):
        change()
        wood, oak = db.category(B).consistent().one(), db.category(C).consistent().one()
        counted.append((wood.categories_count, 10 * wood.cards_count + oak.cards_count))
    assert counted == [(1, 1), (1, 10), (0, 10), (0, 0)]
    assert [each for each in db.verify().differences if each.entity == "Category"] == []


def test_category_has_a_name_and_what_is_not_given_is_left(categories: Categories) -> None:
    plant(categories)
    with pytest.raises(InvalidInputError, match="name: it is blank"):
        categories.add(CategoryId("blank"), " ")
    with pytest.raises(InvalidInputError, match="name"):
        categories.describe(A, name="")
    with pytest.raises(InvalidInputError, match="sort_order"):
        categories.add(CategoryId("low"), "Low", sort_order=-1)
    assert categories.describe(A).name == "Crafts"


def test_tree_is_not_deeper_than_it_may_be(categories: Categories) -> None:
    above: CategoryId | None = None
    for number in range(DEPTH_MAX):
        above = categories.add(CategoryId(f"level-{number}"), "Level", parent_id=above).category_id
    assert above is not None
    with pytest.raises(CategoryRefusedError, match="too deep"):
        categories.add(CategoryId("more"), "More", parent_id=above)
    categories.add(A, "Crafts")
    with pytest.raises(CategoryRefusedError, match="too deep"):
        categories.move(A, above)
    assert len(categories.path(above)) == DEPTH_MAX


def test_category_goes_only_when_nothing_is_in_it(db: PerfectIt, categories: Categories) -> None:
    plant(categories)
    with pytest.raises(CategoryRefusedError, match="there are categories below wood"):
        categories.remove(B)
    sign_up(db, ADA)
    card = draft(db, category=C)
    Publishing(db).publish(ADA, card.card_id)
    with pytest.raises(CategoryRefusedError, match="there are cards in oak"):
        categories.remove(C)
    Publishing(db).delete(ADA, card.card_id)
    categories.remove(C)
    categories.remove(B)
    assert names(categories) == ["Kitchen", "Crafts", "Clay"]


def test_what_makes_no_tree_is_refused(categories: Categories) -> None:
    plant(categories)
    with pytest.raises(CategoryExistsError, match="there is a category wood already"):
        categories.add(B, "Wood again")
    for slug in ("Wood", "a b", "", "a#b", "-a", "ROOT"):
        with pytest.raises(InvalidInputError, match="is no slug"):
            categories.add(CategoryId(slug), "Odd")
    nothing = CategoryId("nothing")
    for refused in (
        lambda: categories.add(CategoryId("new"), "New", parent_id=nothing),
        lambda: categories.move(nothing, A),
        lambda: categories.move(B, nothing),
        lambda: categories.describe(nothing, name="None"),
        lambda: categories.path(nothing),
        lambda: categories.remove(nothing),
    ):
        with pytest.raises(CategoryNotFoundError, match="there is no category nothing"):
            refused()
