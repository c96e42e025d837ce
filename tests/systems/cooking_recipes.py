"""Recipes, ingredients and cooks for the tests of Smart Cooking, made by its own services."""

from __future__ import annotations

from typing import Any

from singletable_systems.smart_cooking.model.entities import CookingHistory, Recipe
from singletable_systems.smart_cooking.model.keys import RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.drafts import IngredientLine, RecipeDraft
from singletable_systems.smart_cooking.services.catalogue import Catalogue
from singletable_systems.smart_cooking.services.cooking_history import Cooking
from singletable_systems.smart_cooking.services.ratings import Ratings
from singletable_systems.smart_cooking.services.recipes import Recipes
from systems.cooking_users import ADA, sign_up

CATALOGUE = {
    "Thịt gà": ["gà", "chicken", "thịt gà ta"],
    "Cà chua": ["tomato"],
    "Hành tây": ["onion"],
    "Sả": ["lemongrass"],
    "Đậu phộng": ["peanut", "lạc"],
}


def stock(db: SmartCooking) -> None:
    """Fill the catalogue."""
    for name, aliases in CATALOGUE.items():
        Catalogue(db).add(name, "food", aliases=aliases)


def draft(*names: str, **others: Any) -> RecipeDraft:
    """Return a recipe of the usual kind, with these ingredients."""
    values: dict[str, Any] = {
        "title": "Gà xào sả ớt",
        "cuisine_type": "Vietnamese",
        "cooking_method": "stir-fry",
        "meal_type": "main",
        "ingredients": [IngredientLine(ingredient_name=name) for name in names or ("Thịt gà", "Sả")],
        **others,
    }
    return RecipeDraft(**values)


def written(db: SmartCooking, *names: str, by: UserId = ADA, is_public: bool = True, **others: Any) -> Recipe:
    """Write a recipe, for all unless it is said otherwise."""
    return Recipes(db).write(by, draft(*names, **others), is_public=is_public).recipe


def raters(db: SmartCooking, count: int) -> list[UserId]:
    """Sign up so many users who have nothing else to do."""
    users = [UserId(f"user-rater{number:02}") for number in range(count)]
    sign_up(db, *users)
    return users


def rate_all(db: SmartCooking, recipe_id: RecipeId, stars: list[int]) -> list[UserId]:
    """Let somebody new give each of these ratings."""
    users = raters(db, len(stars))
    for user_id, rating in zip(users, stars, strict=True):
        Ratings(db).rate(user_id, recipe_id, rating)
    return users


def cooked(db: SmartCooking, user_id: UserId, recipe_id: RecipeId) -> CookingHistory:
    """Cook a recipe to its end."""
    entry = Cooking(db).start(user_id, recipe_id)
    return Cooking(db).complete(user_id, entry.created_at, entry.history_id)


def stored(db: SmartCooking, recipe_id: RecipeId) -> Recipe:
    return db.recipe(recipe_id).consistent().one()
