"""A transaction may check an item and write what is counted in it: both hold, or nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from designs.recipes import MetadataSK, Note, NoteSK, Rating, RatingSK, Recipe, RecipePK, Recipes
from singletable.client import Call
from singletable.design import Check, Create, Delete, Eq, Gt, Update
from singletable.errors import ConditionNotMetError, InvalidWriteError, NotFoundError
from support.design_clients import Between, on_client
from support.kept_together import consume, opened_design, stored_item

BREAD = Recipe.key.get(RecipePK(recipe_id="r"), MetadataSK())
CAKE = Recipe.key.get(RecipePK(recipe_id="cake"), MetadataSK())
IS_BREAD = Check(BREAD, when=Eq("title", "Bread"))


@pytest.fixture(params=["embedded", pytest.param("http", marks=pytest.mark.soak)])
def db(request: pytest.FixtureRequest) -> Iterator[Recipes]:
    with opened_design(Recipes, request.param) as db:
        db.create(Recipe(recipe_id="r", title="Bread", cuisine="French"))
        yield db
        consume(db)
        assert db.verify().is_clean


def bread(db: Recipes) -> Recipe:
    return db.plan(BREAD.consistent()).one()


def rating(number: int, stars: int, recipe_id: str = "r") -> Rating:
    return Rating(recipe_id=recipe_id, user_id=str(number), stars=Decimal(stars))


def rating_key(number: int, recipe_id: str = "r") -> Any:
    return Rating.key.get(RecipePK(recipe_id=recipe_id), RatingSK(user_id=str(number)))


def overtaken(db: Recipes, *overtakers: Any) -> tuple[Recipes, Between]:
    """Return the design as somebody sees it who is too slow: others act before each of his first transactions."""
    between = Between(db.session.client)
    left = list(overtakers)

    def before(call: Call) -> None:
        if call.operation == "TransactWriteItems" and left:
            left.pop(0)()

    between.before = before
    return on_client(Recipes, between, makes_table=False), between


def transactions(between: Between) -> list[Call]:
    return [call for call in between.calls if call.operation == "TransactWriteItems"]


# --- the check is a condition of the parent's one write ------------------------------------------------------


def test_checked_parent_is_written_with_all_that_follows_from_its_numbers(db: Recipes) -> None:
    seen, between = overtaken(db)
    seen.transaction(IS_BREAD, Create(rating(1, 4)), Create(rating(2, 5)))
    found = bread(db)
    assert (found.ratings, found.average, found.rating_step) == (2, Decimal("4.5"), Decimal("4.5"))
    assert db.by_method("baked").one().rating_step == Decimal("4.5")
    assert db.by_facet("CUISINE", "French").one().rating_step == Decimal("4.5")
    [call] = transactions(between)
    kinds = [kind for action in call.params["TransactItems"] for kind in action]
    assert kinds == ["Update", "Put", "Put", "Put"]  # the recipe, two ratings, the facet


def test_check_without_a_condition_demands_that_the_parent_is_there(db: Recipes) -> None:
    db.transaction(Create(rating(1, 4)), Check(BREAD))
    assert bread(db).ratings == 1
    db.transaction(Delete(rating_key(1)), Check(bread(db)))
    assert (bread(db).ratings, bread(db).average) == (0, None)


@pytest.mark.parametrize("write", [Create(rating(1, 4, "cake")), Delete(rating_key(1, "cake"))])
def test_check_of_a_parent_that_is_not_there_says_so(db: Recipes, write: Any) -> None:
    if isinstance(write, Delete):  # a rating that was left behind
        db.create(Recipe(recipe_id="cake", title="Cake"))
        db.create(rating(1, 4, "cake"))
        db.delete(CAKE)
    with pytest.raises(NotFoundError, match="Recipe RECIPE#cake / METADATA is not there"):
        db.transaction(Check(CAKE, when=Eq("title", "Cake")), write)
    assert (stored_item(db, "RECIPE#cake", "RATING#1") is None) == isinstance(write, Create)


def test_check_that_is_not_met_refuses_everything(db: Recipes) -> None:
    seen, between = overtaken(db)
    with pytest.raises(ConditionNotMetError, match="does not meet title = Cake") as caught:
        seen.transaction(Create(rating(1, 4)), Check(BREAD, when=Eq("title", "Cake")))
    assert isinstance(caught.value.stored, Recipe)
    assert caught.value.stored.title == "Bread"
    assert bread(db).ratings == 0
    assert db.plan(rating_key(1)).maybe() is None
    assert len(transactions(between)) == 1


def test_check_looks_at_the_parent_before_the_children_are_counted(db: Recipes) -> None:
    with pytest.raises(ConditionNotMetError):
        db.transaction(Check(BREAD, when=Gt("ratings", 0)), Create(rating(1, 4)))
    db.create(rating(1, 4))
    db.transaction(Check(BREAD, when=Gt("ratings", 0)), Create(rating(2, 4)))
    assert bread(db).ratings == 2


def test_children_that_change_no_number_leave_a_plain_check(db: Recipes) -> None:
    db.create(rating(1, 4))
    seen, between = overtaken(db)
    seen.transaction(IS_BREAD, Delete(rating_key(1)), Create(rating(2, 4)))
    [call] = transactions(between)
    assert [*call.params["TransactItems"][0]] == ["ConditionCheck"]
    assert bread(db).ratings == 1


def test_field_that_is_not_stored_does_not_meet_a_check_by_its_default(db: Recipes) -> None:
    key = {"PK": {"S": "RECIPE#r"}, "SK": {"S": "METADATA"}}
    params = {"TableName": db.session.table, "Key": key, "UpdateExpression": "REMOVE #0"}
    db.session.client.call("UpdateItem", {**params, "ExpressionAttributeNames": {"#0": "method"}})
    assert bread(db).method == "baked"
    seen, between = overtaken(db)
    with pytest.raises(ConditionNotMetError, match="does not meet method = baked"):
        seen.transaction(Check(BREAD, when=Eq("method", "baked")), Create(rating(1, 4)))
    assert len(transactions(between)) == 1
    db.put(bread(db))


# --- somebody else is faster ---------------------------------------------------------------------------------


def test_parent_that_changes_at_that_very_moment_is_not_counted_in(db: Recipes) -> None:
    seen, between = overtaken(db, lambda: db.update(BREAD, title="Cake"))
    with pytest.raises(ConditionNotMetError, match="does not meet title = Bread"):
        seen.transaction(IS_BREAD, Create(rating(1, 4)))
    assert bread(db).ratings == 0
    assert len(transactions(between)) == 1


def test_parent_that_goes_at_that_very_moment_is_not_there(db: Recipes) -> None:
    seen, _ = overtaken(db, lambda: db.delete(BREAD))
    with pytest.raises(NotFoundError, match="is not there"):
        seen.transaction(IS_BREAD, Create(rating(1, 4)))
    assert stored_item(db, "RECIPE#r", "RATING#1") is None


def test_numbers_that_change_meanwhile_are_worked_out_again(db: Recipes) -> None:
    others = [lambda number=number: db.create(rating(number, 1)) for number in (10, 11)]
    seen, between = overtaken(db, *others)
    seen.transaction(IS_BREAD, Create(rating(1, 4)))
    assert (bread(db).ratings, bread(db).average) == (3, Decimal(2))
    assert len(transactions(between)) == 3


def test_check_comes_first_when_the_numbers_have_changed_too(db: Recipes) -> None:
    def overtake() -> None:
        db.create(rating(10, 1))
        db.update(BREAD, title="Cake")

    seen, between = overtaken(db, overtake)
    with pytest.raises(ConditionNotMetError, match="does not meet title = Bread"):
        seen.transaction(IS_BREAD, Create(rating(1, 4)))
    assert len(transactions(between)) == 1
    assert bread(db).ratings == 1


def test_copy_of_a_checked_parent_is_what_the_parent_has(db: Recipes) -> None:
    note = Note(recipe_id="r", note_id="1")
    seen, _ = overtaken(db, lambda: db.update(BREAD, title="Rye bread"))
    seen.transaction(Check(BREAD, when=Eq("method", "baked")), Create(note))
    stored = db.plan(Note.key.get(RecipePK(recipe_id="r"), NoteSK(note_id="1"))).one()
    assert stored.recipe_title == "Rye bread"


def test_nobody_is_counted_while_the_parent_is_hidden(db: Recipes) -> None:
    counted: list[int] = []

    def rate(first: int) -> None:
        for number in range(first, first + 15):
            try:
                db.transaction(IS_BREAD, Create(rating(number, number % 5)))
            except ConditionNotMetError:
                continue
            counted.append(number)

    def hide() -> None:
        for _ in range(10):
            db.update(BREAD, title="Cake")
            before = bread(db).ratings
            assert [bread(db).ratings for _ in range(5)] == [before] * 5
            db.update(BREAD, title="Bread")

    with ThreadPoolExecutor(3) as pool:
        for work in [pool.submit(rate, 100), pool.submit(rate, 200), pool.submit(hide)]:
            work.result()
    assert bread(db).ratings == len(counted)


# --- what one write cannot say -------------------------------------------------------------------------------


def test_two_checks_of_one_parent_are_refused(db: Recipes) -> None:
    with pytest.raises(InvalidWriteError, match="about the same item"):
        db.transaction(IS_BREAD, Check(BREAD), Create(rating(1, 4)))


def test_update_of_a_parent_from_whose_numbers_more_follows_is_refused(db: Recipes) -> None:
    with pytest.raises(InvalidWriteError, match="more follows from the numbers"):
        db.transaction(Update(BREAD, title="Cake"), Create(rating(1, 4)))
    assert bread(db).title == "Bread"
