"""The patterns of Smart Cooking answered in plain Python, over the list of everything: slow, and plainly right.

Each method has the name and the parameters of the pattern that it answers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

from singletable_systems.smart_cooking.model.entities import (
    ApprovedFacet,
    CuisineFacet,
    IngredientAlias,
    InvalidIngredient,
    InvalidIngredientReport,
    MasterIngredient,
    MealTypeFacet,
    PrivacySettings,
    Recipe,
    RecipeCard,
    RecipeIngredient,
    RecipeRating,
    RecipeUse,
    Session,
    TrendingRecipe,
    UserIngredient,
    UserPreferences,
    UserProfile,
)
from singletable_systems.smart_cooking.model.patterns import NamesFound, RecipeView
from systems.brute_force import AnyBruteForce, in_order
from systems.cooking_brute_social import CookingAnswers, SocialAnswers

NAMES_MAX = 50


def plain(text: str) -> str:
    """Return a name without accents and in lower case, with single spaces between its words."""
    letters = unicodedata.normalize("NFD", text.lower().replace("đ", "d"))
    kept = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
    return " ".join("".join(letter if letter.isalnum() else " " for letter in kept).split())


class _People(AnyBruteForce):
    def user(self, user_id: str) -> UserProfile | None:
        return self._only(UserProfile, user_id=user_id)

    def admins(self) -> list[UserProfile]:
        return in_order(self._all(UserProfile, role="admin"), "created_at")

    def preferences(self, user_id: str) -> UserPreferences | None:
        return self._only(UserPreferences, user_id=user_id)

    def privacy(self, user_id: str) -> PrivacySettings | None:
        return self._only(PrivacySettings, user_id=user_id)

    def privacy_of(self, user_ids: list[str]) -> list[PrivacySettings | None]:
        return [self.privacy(user_id) for user_id in user_ids]

    def user_by_email(self, email: str) -> UserProfile | None:
        found = [user for user in self._all(UserProfile) if user.email.lower() == email.lower()]
        return found[0] if found else None

    def user_by_username(self, username: str) -> UserProfile | None:
        found = [user for user in self._all(UserProfile) if user.username.lower() == username.lower()]
        return found[0] if found else None

    def users(self, user_ids: list[str]) -> list[UserProfile | None]:
        return [self.user(user_id) for user_id in user_ids]

    def sign_in(self, session_id: str) -> Session | None:
        return self._only(Session, session_id=session_id)

    def sign_ins(self, user_id: str) -> list[Session]:
        return in_order(self._all(Session, user_id=user_id), "created_at")


class _Ingredients(AnyBruteForce):
    def user_ingredients(self, user_id: str) -> list[UserIngredient]:
        return in_order(self._all(UserIngredient, user_id=user_id), "normalized_name")

    def user_ingredient(self, user_id: str, name: str) -> UserIngredient | None:
        found = [
            each for each in self.user_ingredients(user_id) if plain(each.ingredient_name) == plain(name)
        ]
        return found[0] if found else None

    def ingredient(self, ingredient_id: str) -> MasterIngredient | None:
        return self._only(MasterIngredient, ingredient_id=ingredient_id)

    def _aliases(self) -> list[IngredientAlias]:
        return [
            IngredientAlias(
                ingredient_id=each.ingredient_id,
                alias=alias,
                ingredient_name=each.name,
                category=each.category,
            )
            for each in self._all(MasterIngredient, is_active=True)
            for alias in each.aliases
        ]

    def _named(self, is_meant: Callable[[str], bool]) -> NamesFound:
        names: list[Any] = [
            *(each for each in self._all(MasterIngredient, is_active=True) if is_meant(plain(each.name))),
            *(each for each in self._aliases() if is_meant(plain(each.alias))),
        ]
        first = in_order(names, "normalized_name")[:NAMES_MAX]
        return NamesFound(
            ingredients=[each for each in first if isinstance(each, MasterIngredient)],
            aliases=[each for each in first if isinstance(each, IngredientAlias)],
        )

    def search_ingredients(self, term: str) -> NamesFound:
        return self._named(lambda name: name.startswith(plain(term)))

    def ingredients_named(self, name: str) -> NamesFound:
        return self._named(lambda other: other == plain(name))

    def ingredient_by_name(self, name: str) -> MasterIngredient | None:
        found = [each for each in self._all(MasterIngredient) if plain(each.name) == plain(name)]
        return found[0] if found else None

    def ingredients_by_category(self, category: str) -> list[MasterIngredient]:
        return in_order(self._all(MasterIngredient, category=category, is_active=True), "normalized_name")

    def report(self, name: str, user_id: str) -> InvalidIngredientReport | None:
        return self._only(InvalidIngredientReport, normalized_name=plain(name), user_id=user_id)

    def pending_reports(self) -> list[InvalidIngredient]:
        reported = [each for each in self._all(InvalidIngredient, status="pending") if each.total_reports]
        return in_order(reported, "total_reports", "created_at")[::-1]

    def invalid_ingredient(self, name: str) -> InvalidIngredient | None:
        return self._only(InvalidIngredient, normalized_name=plain(name))

    def reporters(self, name: str) -> list[InvalidIngredientReport]:
        return in_order(self._all(InvalidIngredientReport, normalized_name=plain(name)), "user_id")

    def reports_of(self, user_id: str) -> list[InvalidIngredientReport]:
        return in_order(self._all(InvalidIngredientReport, user_id=user_id), "created_at")


class _Recipes(AnyBruteForce):
    def recipe(self, recipe_id: str) -> Recipe | None:
        return self._only(Recipe, recipe_id=recipe_id)

    def recipes_of(self, user_id: str) -> list[Recipe]:
        return in_order(self._all(Recipe, user_id=user_id), "created_at")

    def _best(self, **equal: Any) -> list[Recipe]:
        return in_order(self._all(Recipe, is_public=True, **equal), "rating_step", "created_at")[::-1]

    def recipes_by_method(self, cooking_method: str, approved_only: bool = False) -> list[Recipe]:
        return self._best(cooking_method=cooking_method, **_approved(approved_only))

    def approved_recipes(self) -> list[ApprovedFacet]:
        return [ApprovedFacet(**_card(recipe)) for recipe in self._best(is_approved=True)]

    def recipes_by_cuisine(self, cuisine_type: str, approved_only: bool = False) -> list[CuisineFacet]:
        recipes = self._best(cuisine_type=cuisine_type, **_approved(approved_only))
        return [CuisineFacet(**_card(recipe)) for recipe in recipes]

    def recipes_by_meal_type(self, meal_type: str, approved_only: bool = False) -> list[MealTypeFacet]:
        recipes = self._best(meal_type=meal_type, **_approved(approved_only))
        return [MealTypeFacet(**_card(recipe)) for recipe in recipes]

    def recipe_ingredients(self, recipe_id: str) -> list[RecipeIngredient]:
        return in_order(self._all(RecipeIngredient, recipe_id=recipe_id), "position")

    def recipe_view(self, recipe_id: str) -> RecipeView | None:
        recipe = self.recipe(recipe_id)
        if recipe is None:
            return None
        return RecipeView(recipe=recipe, ingredients=self.recipe_ingredients(recipe_id))

    def ranking(self, period: str = "weekly") -> list[TrendingRecipe]:
        return in_order(self._all(TrendingRecipe, period=period), "score", "recipe_id")[::-1]

    def trending(self, period: str = "weekly") -> list[Recipe]:
        recipes = [self.recipe(ranked.recipe_id) for ranked in self.ranking(period)]
        return [recipe for recipe in recipes if recipe is not None and recipe.is_public]

    def ratings(self, recipe_id: str) -> list[RecipeRating]:
        return in_order(self._all(RecipeRating, recipe_id=recipe_id), "user_id")

    def ratings_of(self, user_id: str) -> list[RecipeRating]:
        return in_order(self._all(RecipeRating, user_id=user_id), "created_at")

    def rating(self, recipe_id: str, user_id: str) -> RecipeRating | None:
        return self._only(RecipeRating, recipe_id=recipe_id, user_id=user_id)

    def recipes(self, recipe_ids: list[str]) -> list[Recipe | None]:
        return [self.recipe(recipe_id) for recipe_id in recipe_ids]

    def search_recipes(self, term: str) -> list[Recipe]:
        public = in_order(self._all(Recipe, is_public=True), "normalized_title")
        return [recipe for recipe in public if plain(recipe.title).startswith(plain(term))]

    def recipes_using(self, name: str) -> list[RecipeUse]:
        return [
            RecipeUse(
                recipe_id=recipe.recipe_id,
                normalized_name=plain(name),
                rating_step=recipe.rating_step,
                created_at=recipe.created_at,
            )
            for recipe in self._best(is_approved=True)
            if plain(name) in recipe.ingredient_names
        ]


def _approved(approved_only: bool) -> dict[str, bool]:
    return {"is_approved": True} if approved_only else {}


def _card(recipe: Recipe) -> dict[str, Any]:
    return {name: getattr(recipe, name) for name in RecipeCard.model_fields}


class CookingBruteForce(_People, _Ingredients, _Recipes, CookingAnswers, SocialAnswers):
    """Answers every pattern from a list of all entities."""
