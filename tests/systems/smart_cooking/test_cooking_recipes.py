"""Recipes: written whole, changed only by their authors, listed only when public, approved by admins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from pydantic import ValidationError

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    AdminRequiredError,
    InvalidInputError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import RecipeRating, Step
from singletable_systems.smart_cooking.model.keys import RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.drafts import IngredientLine, RecipeText, text_values
from singletable_systems.smart_cooking.services.recipes import Recipes
from support.opened_designs import stored_items
from support.targets import TARGETS
from systems.cooking_recipes import draft, rate_all, stock, stored, written
from systems.cooking_streams import handle
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched

ADMIN = CY


def signed_up(db: SmartCooking) -> SmartCooking:
    sign_up(db, ADA, BO, ADMIN)
    db.update(db.user(ADMIN), role="admin")
    return db


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        yield signed_up(db)


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        yield signed_up(db)


def lines(*names: str) -> list[IngredientLine]:
    return [IngredientLine(ingredient_name=name) for name in names]


def names_of(db: SmartCooking, recipe_id: RecipeId) -> list[tuple[int, str]]:
    found = db.recipe_ingredients(recipe_id).consistent().all()
    return [(line.position, line.ingredient_name) for line in found]


def in_lists(db: SmartCooking, recipe_id: RecipeId) -> set[str]:
    """Return the lists that a recipe is in."""
    lists = {
        "method": db.recipes_by_method("stir-fry"),
        "cuisine": db.recipes_by_cuisine("Vietnamese"),
        "meal": db.recipes_by_meal_type("main"),
        "approved": db.approved_recipes(),
        "title": db.search_recipes("gà xào"),
    }
    return {name for name, plan in lists.items() if recipe_id in [each.recipe_id for each in plan.all()]}  # type: ignore[attr-defined]


# --- writing --------------------------------------------------------------------------------------------------


def test_recipe_is_written_with_its_ingredients(db: SmartCooking) -> None:
    given = draft(
        description="Món gà xào thơm ngon",
        instructions=[Step(step_number=1, description="Ướp gà với sả ớt", duration="10 phút")],
        servings=2,
        ingredients=[
            IngredientLine(ingredient_name="Thịt gà", quantity="300g", unit="gram"),
            IngredientLine(ingredient_name="Sả", quantity=Decimal("2.5")),
            IngredientLine(ingredient_name="Ớt", quantity="một ít", is_optional=True),
        ],
    )
    view = Recipes(db).write(ADA, given)
    assert Recipes(db).view(ADA, view.recipe.recipe_id) == view
    recipe = view.recipe
    assert {name: getattr(recipe, name) for name in text_values(given)} == text_values(given)
    assert (recipe.user_id, recipe.is_public, recipe.is_approved, recipe.is_ai_generated) == (
        ADA,
        False,
        False,
        False,
    )
    assert recipe.ingredient_names == ["thit ga", "sa", "ot"]
    assert [(line.position, line.quantity, line.unit, line.amount) for line in view.ingredients] == [
        (1, Decimal(300), "gram", None),
        (2, Decimal("2.5"), None, None),
        (3, None, None, "một ít"),
    ]
    assert in_lists(db, recipe.recipe_id) == set()
    assert db.verify().is_clean


def test_recipe_is_listed_by_the_names_that_the_catalogue_has(memory: SmartCooking) -> None:
    stock(memory)
    recipe = written(memory, "chicken", "Hành Tây", "thịt gà", "Nước mắm")
    assert recipe.ingredient_names == ["thit ga", "hanh tay", "nuoc mam"]
    assert [name for _, name in names_of(memory, recipe.recipe_id)] == [
        "chicken",
        "Hành Tây",
        "thịt gà",
        "Nước mắm",
    ]


def test_recipe_is_one_transaction_also_with_all_the_ingredients_it_may_have(memory: SmartCooking) -> None:
    seen, between = watched(memory)
    recipe = written(seen, *(f"thứ {number}" for number in range(60)))
    assert between.operations().count("TransactWriteItems") == 1
    assert len(names_of(memory, recipe.recipe_id)) == 60


def test_recipe_of_nobody_is_not_written(memory: SmartCooking) -> None:
    before = len(stored_items(memory))
    with pytest.raises(UserNotFoundError):
        Recipes(memory).write(UserId("user-nobody"), draft())
    assert len(stored_items(memory)) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": " ?! "},
        {"cooking_method": "stir#fry"},
        {"cuisine_type": ""},
        {"servings": 0},
        {"prep_time_minutes": -1},
        {"ingredients": []},
        {"ingredients": lines(*["Sả"] * 61)},
        {"description": "x" * 9_000},
        {"instructions": [Step(step_number=1, description="x" * 70_000)]},
        {"is_approved": True},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_draft_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        draft(**wrong)


def test_ingredient_has_a_name() -> None:
    with pytest.raises(ValidationError, match="no letters"):
        IngredientLine(ingredient_name="--")


# --- editing --------------------------------------------------------------------------------------------------


def test_recipe_says_something_else_and_moves_to_other_lists(db: SmartCooking, clock: ManualClock) -> None:
    recipe = written(db)
    clock.advance(60)
    text = RecipeText(title="Phở bò", cuisine_type="Hanoi", cooking_method="soup", meal_type="breakfast")
    edited = Recipes(db).edit(ADA, recipe.recipe_id, text)
    assert edited == stored(db, recipe.recipe_id)
    assert (edited.normalized_title, edited.updated_at) == ("pho bo", db.now())
    assert in_lists(db, recipe.recipe_id) == set()
    assert db.recipes_by_method("soup").one() == edited
    assert db.recipes_by_cuisine("Hanoi").one().title == "Phở bò"
    assert db.recipes_by_meal_type("breakfast").one().title == "Phở bò"
    assert db.search_recipes("pho").one() == edited
    version = edited.version
    assert Recipes(db).edit(ADA, recipe.recipe_id, text).version == version
    assert db.verify().is_clean


def test_ingredients_are_replaced_whole(db: SmartCooking) -> None:
    recipe = written(db, "Gà", "Sả", "Ớt", "Tỏi")
    view = Recipes(db).replace_ingredients(ADA, recipe.recipe_id, lines("Gà", "Hành", "Ớt"))
    assert names_of(db, recipe.recipe_id) == [(1, "Gà"), (2, "Hành"), (3, "Ớt")]
    assert view == Recipes(db).view(ADA, recipe.recipe_id)
    assert view.recipe.ingredient_names == ["ga", "hanh", "ot"]
    assert db.verify().is_clean


def test_only_lines_that_differ_are_written(memory: SmartCooking) -> None:
    recipe = written(memory, "Gà", "Sả", "Ớt")
    seen, between = watched(memory)
    Recipes(seen).replace_ingredients(ADA, recipe.recipe_id, lines("Gà", "Hành", "Ớt"))
    [call] = [call for call in between.calls if call.operation == "TransactWriteItems"]
    assert len(call.params["TransactItems"]) == 2
    between.calls.clear()
    Recipes(seen).replace_ingredients(ADA, recipe.recipe_id, lines("Gà", "Hành", "Ớt"))
    assert "TransactWriteItems" not in between.operations()


def test_ingredients_are_brought_into_another_order(db: SmartCooking) -> None:
    recipe = written(db, "Gà", "Sả", "Ớt")
    view = Recipes(db).reorder(ADA, recipe.recipe_id, [3, 1, 2])
    assert names_of(db, recipe.recipe_id) == [(1, "Ớt"), (2, "Gà"), (3, "Sả")]
    assert view == Recipes(db).view(ADA, recipe.recipe_id)


@pytest.mark.parametrize("positions", [[1, 2], [1, 2, 2], [0, 1, 2], [1, 2, 3, 4]])
def test_order_names_every_ingredient_once(memory: SmartCooking, positions: list[int]) -> None:
    recipe = written(memory, "Gà", "Sả", "Ớt")
    with pytest.raises(InvalidInputError, match=r"\[1, 2, 3\]"):
        Recipes(memory).reorder(ADA, recipe.recipe_id, positions)


@pytest.mark.parametrize("count", [0, 61])
def test_recipe_has_some_ingredients_and_not_too_many(memory: SmartCooking, count: int) -> None:
    recipe = written(memory)
    with pytest.raises(InvalidInputError, match=f"these are {count}"):
        Recipes(memory).replace_ingredients(ADA, recipe.recipe_id, lines(*["Sả"] * count))


def test_two_who_replace_ingredients_at_once_leave_those_of_one(db: SmartCooking) -> None:
    recipe = written(db)
    wanted = [[f"thứ {number}-{line}" for line in range(2 + number)] for number in range(6)]
    with ThreadPoolExecutor(3) as pool:
        list(
            pool.map(
                lambda names: Recipes(db).replace_ingredients(ADA, recipe.recipe_id, lines(*names)), wanted
            )
        )
    left = [name for _, name in names_of(db, recipe.recipe_id)]
    assert left in wanted
    assert stored(db, recipe.recipe_id).ingredient_names == [
        name.replace("thứ", "thu").replace("-", " ") for name in left
    ]


def test_edit_that_was_overtaken_decides_again(memory: SmartCooking) -> None:
    recipe = written(memory)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Recipes(memory).unpublish(ADA, recipe.recipe_id)

    between.before = overtake
    text = RecipeText(title="Gà xào", cuisine_type="Hue", cooking_method="stir-fry", meal_type="main")
    Recipes(slow).edit(ADA, recipe.recipe_id, text)
    after = stored(memory, recipe.recipe_id)
    assert (after.title, after.cuisine_type, after.is_public) == ("Gà xào", "Hue", False)
    assert memory.recipes_by_cuisine("Hue").first() is None
    assert memory.verify().is_clean


# --- publishing -----------------------------------------------------------------------------------------------


def test_only_public_recipes_are_in_lists(db: SmartCooking) -> None:
    recipe = written(db, is_public=False)
    assert in_lists(db, recipe.recipe_id) == set()
    for _ in range(2):
        Recipes(db).publish(ADA, recipe.recipe_id)
        assert in_lists(db, recipe.recipe_id) == {"method", "cuisine", "meal", "title"}
    for _ in range(2):
        Recipes(db).unpublish(ADA, recipe.recipe_id)
        assert in_lists(db, recipe.recipe_id) == set()
    assert stored(db, recipe.recipe_id).version == 3
    assert db.recipes_of(ADA).one().recipe_id == recipe.recipe_id


def test_approved_recipe_that_is_hidden_is_in_no_list_and_comes_back_approved(memory: SmartCooking) -> None:
    recipe = written(memory)
    rate_all(memory, recipe.recipe_id, [5] * 5)
    handle(memory)
    assert in_lists(memory, recipe.recipe_id) == {"method", "cuisine", "meal", "title", "approved"}
    assert memory.recipes_using("sa").one().recipe_id == recipe.recipe_id
    Recipes(memory).unpublish(ADA, recipe.recipe_id)
    handle(memory)
    assert in_lists(memory, recipe.recipe_id) == set()
    assert memory.recipes_using("sa").first() is None
    Recipes(memory).publish(ADA, recipe.recipe_id)
    assert "approved" in in_lists(memory, recipe.recipe_id)


def test_recipe_that_was_rated_well_is_approved_when_it_is_shown_again(memory: SmartCooking) -> None:
    recipe = written(memory)
    rate_all(memory, recipe.recipe_id, [5] * 4)
    Recipes(memory).unpublish(ADA, recipe.recipe_id)
    # Somebody who saw it before it was hidden, and was slower.
    memory.create(RecipeRating(rating_id="late", recipe_id=recipe.recipe_id, user_id=BO, rating=4))
    handle(memory)
    assert not stored(memory, recipe.recipe_id).is_approved
    published = Recipes(memory).publish(ADA, recipe.recipe_id)
    assert (published.is_approved, published.approval_type) == (True, "auto_rating")
    assert "approved" in in_lists(memory, recipe.recipe_id)


# --- approving ------------------------------------------------------------------------------------------------


def test_admin_approves_and_takes_it_back(db: SmartCooking) -> None:
    recipe = written(db)
    approved = Recipes(db).approve(ADMIN, recipe.recipe_id)
    assert (approved.is_approved, approved.approval_type, approved.approved_at) == (True, "admin", db.now())
    assert Recipes(db).approve(ADMIN, recipe.recipe_id).version == approved.version
    assert "approved" in in_lists(db, recipe.recipe_id)
    refused = Recipes(db).unapprove(ADMIN, recipe.recipe_id)
    assert (refused.is_approved, refused.approval_type, refused.approved_at) == (False, "admin", None)
    assert Recipes(db).unapprove(ADMIN, recipe.recipe_id).version == refused.version
    assert "approved" not in in_lists(db, recipe.recipe_id)


def test_what_an_admin_has_refused_ratings_do_not_approve(memory: SmartCooking) -> None:
    recipe = written(memory)
    Recipes(memory).unapprove(ADMIN, recipe.recipe_id)
    rate_all(memory, recipe.recipe_id, [5] * 6)
    handle(memory)
    assert not stored(memory, recipe.recipe_id).is_approved
    assert Recipes(memory).approve(ADMIN, recipe.recipe_id).is_approved


@pytest.mark.parametrize("act", [Recipes.approve, Recipes.unapprove])
def test_only_admins_approve(
    memory: SmartCooking, act: Callable[[Recipes, UserId, RecipeId], object]
) -> None:
    recipe = written(memory)
    for user_id in (ADA, BO, UserId("user-nobody")):
        with pytest.raises(AdminRequiredError):
            act(Recipes(memory), user_id, recipe.recipe_id)
    memory.update(memory.user(ADMIN), is_active=False)
    with pytest.raises(AdminRequiredError):
        act(Recipes(memory), ADMIN, recipe.recipe_id)
    assert stored(memory, recipe.recipe_id) == recipe


def test_hidden_recipe_is_not_approved(memory: SmartCooking) -> None:
    recipe = written(memory, is_public=False)
    with pytest.raises(RecipeNotFoundError):
        Recipes(memory).approve(ADMIN, recipe.recipe_id)


def test_admin_who_is_none_any_more_at_that_moment_approves_nothing(memory: SmartCooking) -> None:
    recipe = written(memory)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            memory.update(memory.user(ADMIN), role="user")

    between.before = overtake
    with pytest.raises(AdminRequiredError):
        Recipes(slow).approve(ADMIN, recipe.recipe_id)
    assert not stored(memory, recipe.recipe_id).is_approved


# --- whose it is, and the end of it ---------------------------------------------------------------------------


def test_recipe_of_somebody_else_is_not_found(memory: SmartCooking) -> None:
    recipe = written(memory)
    recipes = Recipes(memory)
    text = RecipeText(title="Mine", cuisine_type="x", cooking_method="y", meal_type="z")
    acts: list[Callable[[], object]] = [
        lambda: recipes.view(BO, recipe.recipe_id),
        lambda: recipes.edit(BO, recipe.recipe_id, text),
        lambda: recipes.replace_ingredients(BO, recipe.recipe_id, lines("Sả")),
        lambda: recipes.reorder(BO, recipe.recipe_id, [2, 1]),
        lambda: recipes.publish(BO, recipe.recipe_id),
        lambda: recipes.unpublish(BO, recipe.recipe_id),
        lambda: recipes.delete(BO, recipe.recipe_id),
    ]
    for act in acts:
        with pytest.raises(RecipeNotFoundError, match="there is no recipe"):
            act()
    assert stored(memory, recipe.recipe_id) == recipe


def test_deleted_recipe_leaves_nothing(db: SmartCooking) -> None:
    recipe = written(db)
    rate_all(db, recipe.recipe_id, [5] * 5)
    handle(db)
    done = Recipes(db).delete(ADA, recipe.recipe_id)
    assert (done.counts["RecipeIngredient"], done.counts["RecipeRating"]) == (2, 5)
    handle(db)
    assert [item for item in stored_items(db) if item["PK"]["S"] == f"RECIPE#{recipe.recipe_id}"] == []
    assert in_lists(db, recipe.recipe_id) == set()
    with pytest.raises(RecipeNotFoundError):
        Recipes(db).delete(ADA, recipe.recipe_id)


@pytest.mark.parametrize("said", ["1.23456 kg", "1" * 50, "1" * 10, "0,0001", "-3 g", "1/2 cup", " a pinch "])
def test_quantity_that_is_no_measurable_number_is_kept_as_it_was_said(
    memory: SmartCooking, said: str
) -> None:
    line = IngredientLine(ingredient_name="Gạo", quantity=said)
    written = Recipes(memory).write(ADA, draft(ingredients=[line])).recipe
    [stored] = memory.recipe_ingredients(written.recipe_id).all()
    assert (stored.quantity, stored.unit, stored.amount) == (None, None, said.strip())


def test_title_without_end_in_its_normal_form_is_refused(memory: SmartCooking) -> None:
    with pytest.raises(ValidationError, match="too many"):
        draft(title="\ufdfa" * 200)  # each is a phrase of eighteen letters
