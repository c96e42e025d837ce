"""Recipes: what they say, what goes into them, how they are rated, and the lists that they are in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, model_validator

from singletable import (
    AverageOf,
    Computed,
    CountOf,
    CreatedAt,
    Derived,
    Digits,
    Entity,
    Eq,
    Keys,
    MaxBytes,
    Ttl,
    UpdatedAt,
    Version,
    auto,
    expires,
)
from singletable_systems.smart_cooking.model.entities.sizes import LARGE_FIELD_BYTES, Name, Names, Text
from singletable_systems.smart_cooking.model.keys import (
    ApprovedFacetSK,
    ApprovedPK,
    CookingTable,
    CuisineFacetSK,
    CuisinePK,
    HistoryId,
    MealTypeFacetSK,
    MealTypePK,
    MetadataSK,
    MethodPK,
    Period,
    RatedAtSK,
    RatedSK,
    RatingSK,
    RecipeCreatedSK,
    RecipeId,
    RecipeIngredientSK,
    RecipePK,
    ScoreSK,
    TitleSearchPK,
    TitleSK,
    TrendingPK,
    TrendingSK,
    UserId,
    UserPK,
    UseSK,
    UsesPK,
)
from singletable_systems.smart_cooking.model.names import normalize

ApprovalType = Literal["auto_rating", "admin"]
Stars = Annotated[int, Field(ge=1, le=5)]

INGREDIENTS_MAX: Final = 60


class Step(BaseModel):
    """One thing to do."""

    step_number: Annotated[int, Field(ge=0, le=10_000)]
    description: str
    duration: str | None = None


class Recipe(Entity, name="RECIPE", owns=("RecipeIngredient", "RecipeRating", "TrendingRecipe")):
    """How to cook something. Only public recipes are in lists, each with the average of its ratings in steps."""

    key = Keys(RecipePK, MetadataSK)
    by_user = CookingTable.gsi1.keys(UserPK, RecipeCreatedSK)
    by_method = CookingTable.gsi2.keys(MethodPK, RatedSK, when=Eq("is_public", True))  # sparse: SC-12
    by_title = CookingTable.gsi3.keys(TitleSearchPK, TitleSK, when=Eq("is_public", True))  # added: SC-58

    recipe_id: RecipeId
    user_id: UserId
    title: Name
    normalized_title: Annotated[str, Computed(normalize, "title"), Field(min_length=1)] = ""
    description: Text = ""
    cuisine_type: Name
    cooking_method: Name
    meal_type: Name
    prep_time_minutes: int = 0
    cook_time_minutes: int = 0
    servings: int = 1
    calories_per_serving: int | None = None
    instructions: Annotated[list[Step], MaxBytes(LARGE_FIELD_BYTES)] = []  # SC-41
    is_public: bool = False
    is_ai_generated: bool = False
    is_approved: bool = False
    approval_type: ApprovalType | None = None
    average_rating: Annotated[Decimal, AverageOf("RecipeRating", "rating", decimals=2)] = Decimal(0)
    rating_count: Annotated[int, CountOf("RecipeRating")] = 0
    ai_cache_hit_count: int = 0
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    approved_at: datetime | None = None

    # Added, SC-10, SC-11: lists are sorted by it, so that most ratings move nothing in them.
    rating_step: Annotated[Decimal, AverageOf("RecipeRating", "rating", decimals=1)] = Decimal(0)
    ingredient_names: Annotated[
        Names, Field(max_length=INGREDIENTS_MAX)
    ] = []  # added: normal names, for `uses`
    version: Version = 0  # added: X-04


# Nine digits and three decimals at most: nobody measures more.
_QUANTITY: Final = re.compile(r"\s*(\d{1,9}(?:[.,]\d{1,3})?)\s*(\D*)\s*")


class RecipeIngredient(Entity, name="RECIPE_INGREDIENT"):
    """A line of a recipe's list of ingredients, by its place."""

    key = Keys(RecipePK, RecipeIngredientSK)

    recipe_id: RecipeId
    position: Annotated[int, Field(ge=1, le=999)]
    ingredient_name: Name
    normalized_name: Annotated[str, Computed(normalize, "ingredient_name"), Field(min_length=1)] = ""  # added
    quantity: Annotated[Decimal, Digits(3)] | None = None
    unit: Name | None = None
    is_optional: bool = False
    amount: Name | None = None  # added: what is no number, such as "a pinch"

    @model_validator(mode="before")
    @classmethod
    def _read_quantity(cls, values: Any) -> Any:
        """SC-42: "300g" is the number 300; a unit that is given beside it wins."""
        if not isinstance(values, dict) or not isinstance(values.get("quantity"), str):
            return values
        found = _QUANTITY.fullmatch(values["quantity"])
        if found is None:
            return {**values, "quantity": None, "amount": values["quantity"].strip() or None}
        unit = values.get("unit") or found[2].strip() or None
        return {**values, "quantity": Decimal(found[1].replace(",", ".")), "unit": unit}


class RecipeRating(Entity, name="RECIPE_RATING"):
    """What a user thinks of a recipe: one rating of each."""

    key = Keys(RecipePK, RatingSK)
    by_user = CookingTable.gsi1.keys(UserPK, RatedAtSK)

    rating_id: Name
    recipe_id: RecipeId
    user_id: UserId
    history_id: HistoryId | None = None
    rating: Stars
    comment: Text | None = None
    is_verified_cook: bool = False
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()


# --- added, SC-08: what one index key cannot say ----------------------------------------------------------------


class RecipeCard(BaseModel):
    """What lists show of a recipe."""

    recipe_id: RecipeId
    user_id: UserId
    title: Name
    cuisine_type: Name
    cooking_method: Name
    meal_type: Name
    prep_time_minutes: int
    cook_time_minutes: int
    servings: int
    is_approved: bool
    rating_step: Decimal
    created_at: datetime


_CARD_FIELDS: Final = tuple(RecipeCard.model_fields)
_CARD_READS: Final = (*_CARD_FIELDS, "is_public")


def _card(recipe: Recipe) -> dict[str, Any]:
    return {name: getattr(recipe, name) for name in _CARD_FIELDS}


def _cuisine(recipe: Recipe) -> Iterator[CuisineFacet]:
    if recipe.is_public:
        yield CuisineFacet(**_card(recipe))


def _meal_type(recipe: Recipe) -> Iterator[MealTypeFacet]:
    if recipe.is_public:
        yield MealTypeFacet(**_card(recipe))


def _approved(recipe: Recipe) -> Iterator[ApprovedFacet]:
    if recipe.is_public and recipe.is_approved:
        yield ApprovedFacet(**_card(recipe))


class CuisineFacet(RecipeCard, Entity, name="RECIPE_CUISINE"):
    """A public recipe in the list of its cuisine."""

    key = Keys(RecipePK, CuisineFacetSK)
    listed = CookingTable.gsi2.keys(CuisinePK, RatedSK)
    made = Derived(Recipe, _cuisine, reads=_CARD_READS)


class MealTypeFacet(RecipeCard, Entity, name="RECIPE_MEALTYPE"):
    """A public recipe in the list of its kind of meal."""

    key = Keys(RecipePK, MealTypeFacetSK)
    listed = CookingTable.gsi2.keys(MealTypePK, RatedSK)
    made = Derived(Recipe, _meal_type, reads=_CARD_READS)


class ApprovedFacet(RecipeCard, Entity, name="RECIPE_APPROVED"):
    """A public recipe that is approved."""

    key = Keys(RecipePK, ApprovedFacetSK)
    listed = CookingTable.gsi2.keys(ApprovedPK, RatedSK)
    made = Derived(Recipe, _approved, reads=_CARD_READS)


def _uses(recipe: Recipe) -> Iterator[RecipeUse]:
    if recipe.is_public and recipe.is_approved:
        for name in dict.fromkeys(recipe.ingredient_names):
            yield RecipeUse(
                recipe_id=recipe.recipe_id,
                normalized_name=name,
                rating_step=recipe.rating_step,
                created_at=recipe.created_at,
            )


class RecipeUse(Entity, name="RECIPE_USE"):
    """An approved recipe in the list of one of its ingredients: what suggestions are chosen from."""

    key = Keys(RecipePK, UseSK)
    listed = CookingTable.gsi2.keys(UsesPK, RatedSK)
    made = Derived(
        Recipe,
        _uses,
        by="stream",
        reads=("is_public", "is_approved", "ingredient_names", "rating_step", "created_at"),
    )

    recipe_id: RecipeId
    normalized_name: Name
    rating_step: Decimal
    created_at: datetime


class TrendingRecipe(Entity, name="TRENDING_RECIPE"):
    """Added, SC-20: one of the recipes that were cooked most in the last days, with the score it had then."""

    key = Keys(RecipePK, TrendingSK)
    ranked = CookingTable.gsi3.keys(TrendingPK, ScoreSK)

    recipe_id: RecipeId
    period: Period = "weekly"
    score: int
    counted_at: datetime
    ttl: Ttl = expires(days=7, after="counted_at")
