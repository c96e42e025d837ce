"""Sources of recipes: the one that needs nothing always answers the same, and nonsense of any is left out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable_systems.smart_cooking.services.sources import (
    GENERATED_INGREDIENTS_MAX,
    GeneratedRecipe,
    PantrySource,
    SourceRequest,
    generated,
)

GOOD: dict[str, Any] = {
    "title": "Canh chua",
    "description": "Sour",
    "cuisine_type": "Vietnamese",
    "cooking_method": "soup",
    "meal_type": "main",
    "prep_time_minutes": 10,
    "cook_time_minutes": 20,
    "servings": 2,
    "calories_per_serving": 250,
    "instructions": [{"step_number": 1, "description": "Nấu", "duration": "20 phút"}],
    "ingredients": [{"ingredient_name": "Cà chua", "quantity": 0.5, "unit": "kg"}],
}
REQUEST = SourceRequest(ingredients=("Thịt gà", "Cà chua"), count=5)


class Canned:
    """A source that answers what it is told to."""

    def __init__(self, *answer: Any) -> None:
        self.answer = answer

    def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
        return self.answer


class Broken:
    """A source that fails."""

    def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
        raise ConnectionError("the model is asleep")


# --- what is taken -------------------------------------------------------------------------------------------


def test_recipe_in_its_form_is_taken() -> None:
    [recipe] = generated(Canned(GOOD), REQUEST)
    assert (recipe.title, recipe.servings, recipe.instructions[0].duration) == ("Canh chua", 2, "20 phút")
    assert recipe.ingredients[0].quantity == Decimal("0.5")


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": None},
        {"title": 7},
        {"title": "!!!"},
        {"title": "x" * 201},
        {"servings": "2"},
        {"servings": True},
        {"servings": 0},
        {"servings": math.nan},
        {"prep_time_minutes": -1},
        {"cook_time_minutes": 10.5},
        {"cooking_method": "METHOD#x"},
        {"cuisine_type": ""},
        {"instructions": "boil it"},
        {"instructions": [{"step_number": "one", "description": "boil"}]},
        {"instructions": [{"step_number": n, "description": "x" * 1000} for n in range(70)]},
        {"ingredients": []},
        {"ingredients": ["salt"]},
        {"ingredients": [{"ingredient_name": "Sả", "quantity": -1}]},
        {"ingredients": [{"ingredient_name": "Sả", "quantity": {"amount": 1}}]},
        {"ingredients": [{"ingredient_name": f"x{n}"} for n in range(GENERATED_INGREDIENTS_MAX + 1)]},
        {"is_approved": True},
        {"recipe_id": "mine"},
        {"description": object()},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_nonsense_is_left_out_and_the_rest_taken(wrong: dict[str, Any]) -> None:
    other = {**GOOD, "title": "Other"}
    assert [recipe.title for recipe in generated(Canned({**GOOD, **wrong}, other), REQUEST)] == ["Other"]


@pytest.mark.parametrize("answer", [None, 7, "soup", [], [GOOD], {1: 2}, b"\xff", object()])
def test_what_is_no_recipe_at_all_is_left_out(answer: Any) -> None:
    assert generated(Canned(answer), REQUEST) == []


def test_missing_field_is_nonsense_too() -> None:
    for name in ("title", "cuisine_type", "cooking_method", "meal_type", "ingredients"):
        assert generated(Canned({key: GOOD[key] for key in GOOD if key != name}), REQUEST) == []


def test_source_that_fails_gives_nothing() -> None:
    assert generated(Broken(), REQUEST) == []


def test_no_more_is_taken_than_was_asked_for_and_nothing_twice() -> None:
    answer = [{**GOOD, "title": f"Soup {number // 2}"} for number in range(20)]
    recipes = generated(Canned(*answer), replace(REQUEST, count=4, besides=("Soup 0",)))
    assert [recipe.title for recipe in recipes] == ["Soup 1"]


# --- the source that needs nothing ----------------------------------------------------------------------------

names = st.lists(
    st.text(st.characters(categories=["L", "N", "Zs"]), min_size=1, max_size=100).filter(str.strip),
    min_size=1,
    max_size=20,
    unique=True,
)


@given(names, st.integers(1, 5))
def test_pantry_makes_valid_recipes_of_the_ingredients_and_always_the_same(
    ingredients: list[str], count: int
) -> None:
    request = SourceRequest(ingredients=tuple(ingredients), count=count)
    answer = PantrySource().generate(request)
    assert answer == PantrySource().generate(replace(request, ingredients=tuple(reversed(ingredients))))
    for each in answer:
        assert {line["ingredient_name"] for line in each["ingredients"]} <= set(ingredients)


def test_pantry_makes_as_many_as_are_asked_for_up_to_five() -> None:
    for count in range(1, 6):
        recipes = generated(PantrySource(), replace(REQUEST, count=count))
        assert len({recipe.title for recipe in recipes}) == count
        assert all(isinstance(recipe, GeneratedRecipe) for recipe in recipes)


def test_pantry_begins_with_what_is_liked_and_leaves_out_what_there_is() -> None:
    liked = replace(REQUEST, count=2, methods=("salad", "roast"), cuisines=("Hue", "Thai"))
    first, second = generated(PantrySource(), liked)
    assert {first.cooking_method, second.cooking_method} == {"salad", "roast"}
    assert [first.cuisine_type, second.cuisine_type] == ["Hue", "Thai"]
    others = generated(PantrySource(), replace(liked, besides=(first.title, second.title)))
    assert not {first.title, second.title} & {recipe.title for recipe in others}
    assert len(others) == 2


def test_pantry_makes_nothing_of_nothing() -> None:
    assert PantrySource().generate(SourceRequest(ingredients=(), count=3)) == []
