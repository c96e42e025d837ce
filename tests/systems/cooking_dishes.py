"""The recipes of Smart Cooking's tests, and what was cooked: private ones, unapproved ones, ratings that tie."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_args

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    CookingHistory,
    CookingStatus,
    MonthlyActivity,
    Recipe,
    RecipeIngredient,
    RecipeRating,
    Step,
    SuggestionCache,
    TrendingRecipe,
)
from singletable_systems.smart_cooking.model.keys import HistoryId, RecipeId, SuggestionId, UserId
from systems.cooking_traps import (
    COOKS,
    GONE,
    HEAVY_USER,
    NOW,
    RECIPE_IDS,
    SECOND,
    long_text,
    maybe,
    moment,
)

METHODS = ("stir-fry", "stir", "Stir-fry", "soup")
CUISINES = ("Vietnamese", "Viet", "vietnamese", "Ý")
MEAL_TYPES = ("main", "main2", "soup")
TITLES = ("Gà xào sả ớt", "Gà xào", "gà", "Ga-xao, sa!", "Gạo", "Phở bò", "Gà Xào Sả Ớt 2", "Đậu")
USED = ("thit ga", "thit", "ga", "dau phu", "ca chua")
HEAVY_METHOD = "grill"
CREATED = [timedelta(days=days) for days in (1, 2, 3)]  # few, so that many of one rating are of one moment


def make_dishes(chance: random.Random) -> Iterator[Entity]:
    recipes = [*_recipes(chance), *_heavy_recipes(chance)]
    yield from recipes
    yield from _lines(chance, recipes)
    yield from _ratings(chance, recipes)
    yield from _trending(chance, recipes)
    yield from _history(chance)
    yield from _suggestions(chance)
    yield from _caches()
    yield from (MonthlyActivity(month=month, cookings=number) for number, month in enumerate(MONTHS))


MONTHS = ["2040-01", "2040-02", "2040-1"]


def _recipe(chance: random.Random, recipe_id: str, user_id: UserId, **fields: Any) -> Recipe:
    values: dict[str, Any] = {
        "title": chance.choice(TITLES),
        "cuisine_type": chance.choice(CUISINES),
        "cooking_method": chance.choice(METHODS),
        "meal_type": chance.choice(MEAL_TYPES),
        "cook_time_minutes": chance.choice([9, 10, 100]),
        "calories_per_serving": maybe(chance, 350),
        "is_public": chance.random() < 0.7,
        "is_approved": chance.random() < 0.6,
        "ingredient_names": chance.sample(USED, chance.randint(0, 3)),
        "created_at": moment(chance, CREATED),
        "approved_at": maybe(chance, NOW),
    }
    return Recipe(recipe_id=RecipeId(recipe_id), user_id=user_id, **{**values, **fields})


def _recipes(chance: random.Random) -> Iterator[Recipe]:
    yield from (_recipe(chance, recipe_id, COOKS[0]) for recipe_id in RECIPE_IDS)
    for number, user_id in enumerate(COOKS[1:], 1):
        yield from (_recipe(chance, f"{recipe_id}.{number}", user_id) for recipe_id in RECIPE_IDS)


def _heavy_recipes(chance: random.Random) -> Iterator[Recipe]:
    """Make recipes of one method whose instructions are over 1 MB together."""
    for number in range(50):
        yield _recipe(
            chance,
            f"h{number}",
            HEAVY_USER,
            title=f"Nướng {number}",
            cooking_method=HEAVY_METHOD,
            is_public=number % 5 != 0,
            instructions=[Step(step_number=1, description=long_text(chance, 40_000))],
        )


def _lines(chance: random.Random, recipes: list[Recipe]) -> Iterator[RecipeIngredient]:
    for recipe in recipes[:24]:
        for position in [*range(1, chance.randint(1, 12)), 100, 999]:
            values = {
                "recipe_id": recipe.recipe_id,
                "position": position,
                "ingredient_name": chance.choice(["Thịt gà", "Cà chua", "Đậu phụ"]),
                "quantity": chance.choice(["300g", "0.5", "1,5 kg", "một ít", None]),
                "is_optional": chance.random() < 0.5,
            }
            yield RecipeIngredient.model_validate(values)


def _ratings(chance: random.Random, recipes: list[Recipe]) -> Iterator[RecipeRating]:
    for recipe in recipes:
        raters = [] if recipe.recipe_id == RECIPE_IDS[2] else [*COOKS, *(f"fan{n}" for n in range(4))]
        for user_id in chance.sample(raters, min(len(raters), chance.randint(0, 9))):
            yield RecipeRating(
                rating_id=f"rating-{recipe.recipe_id}-{user_id}",
                recipe_id=recipe.recipe_id,
                user_id=UserId(user_id),
                rating=chance.choice([1, 3, 4, 4, 5, 5, 5]),
                comment=maybe(chance, "ngon"),
                created_at=moment(chance),
            )


def _trending(chance: random.Random, recipes: list[Recipe]) -> Iterator[TrendingRecipe]:
    """Rank recipes that are public or not, that are gone, and that were counted a week ago and a second off."""
    ages = [timedelta(0), *(timedelta(days=7) + off for off in (-SECOND, timedelta(0), SECOND))]
    named = [GONE, *(recipe.recipe_id for recipe in recipes[:36])]
    for number, recipe_id in enumerate(named):
        yield TrendingRecipe(
            recipe_id=recipe_id,
            score=chance.choice([0, 9, 10, 99, 100, 2_000]),
            counted_at=moment(chance, ages[:2] if number % 4 else ages),
        )


# --- cooking ----------------------------------------------------------------------------------------------


def _history(chance: random.Random) -> Iterator[CookingHistory]:
    for user_id in COOKS:
        is_heavy = user_id == HEAVY_USER
        for number in range(180 if is_heavy else 14):
            yield CookingHistory(
                history_id=HistoryId(f"h{number}"),
                user_id=user_id,
                recipe_id=chance.choice(RECIPE_IDS),
                status="completed" if is_heavy else chance.choice(get_args(CookingStatus)),
                personal_rating=maybe(chance, 5),
                personal_notes=long_text(chance, 8_000) if is_heavy else None,
                is_favorite=chance.random() < 0.5,
                created_at=moment(chance),
                cook_date=moment(chance),
                ttl=chance.choice([None, None, NOW - SECOND, NOW, NOW + SECOND]),
            )


def _suggestions(chance: random.Random) -> Iterator[AiSuggestion]:
    """Make suggestions of which several are of one moment, and some are 90 days old or a second more or less."""
    ages = [timedelta(days=90) + off for off in (-SECOND, timedelta(0), SECOND)]
    for user_id in COOKS:
        for number in range(180 if user_id == HEAVY_USER else 14):
            yield AiSuggestion(
                suggestion_id=SuggestionId(f"g{number}"),
                user_id=user_id,
                recipe_ids=[chance.choice(RECIPE_IDS)],
                prompt_text=long_text(chance, 8_000) if user_id == HEAVY_USER else "gà",
                requested_recipe_count=3,
                ai_response=maybe(chance, {"text": "gà " * 100}),
                created_at=moment(chance, [timedelta(0), timedelta(days=1), *ages]),
            )


def _caches() -> Iterator[SuggestionCache]:
    for digest, end in (("d", SECOND), ("d1", timedelta(0)), ("d10", -SECOND)):
        yield SuggestionCache(
            digest=digest, ingredients=["ga"], recipe_ids=RECIPE_IDS[:2], created_at=NOW, ttl=NOW + end
        )
