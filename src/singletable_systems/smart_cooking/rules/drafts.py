"""Drafts: a recipe as a user or a source gives it, and the items that it is stored as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from singletable import MaxBytes
from singletable_systems.smart_cooking.model.entities import Recipe, RecipeIngredient, Step
from singletable_systems.smart_cooking.model.entities.recipes import INGREDIENTS_MAX
from singletable_systems.smart_cooking.model.entities.sizes import LARGE_FIELD_BYTES, Text
from singletable_systems.smart_cooking.model.keys import RecipeId, UserId
from singletable_systems.smart_cooking.model.names import has_normal_form, normalize

_MINUTES_MAX: Final = 7 * 24 * 60


def _is_name(text: str) -> str:
    if not has_normal_form(text):
        raise ValueError("it has no letters, or too many")
    return text


Name = Annotated[str, Field(max_length=100), AfterValidator(_is_name)]
Title = Annotated[str, Field(max_length=200), AfterValidator(_is_name)]
# A part of a key.
ListName = Annotated[
    str, Field(min_length=1, max_length=50, pattern="^[^#]+$", description="a name without #, as Vietnamese")
]
Minutes = Annotated[int, Field(ge=0, le=_MINUTES_MAX)]
Quantity = Annotated[Decimal, Field(ge=0, max_digits=12, decimal_places=3)]


class IngredientLine(BaseModel):
    """A line of a recipe's list of ingredients. A quantity such as "300g" is read, one such as "a pinch" kept.

    A quantity with more digits than a `Quantity` has is kept as text, too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ingredient_name: Name
    quantity: Quantity | Annotated[str, Field(max_length=50)] | None = None
    unit: Annotated[str, Field(max_length=30)] | None = None
    is_optional: bool = False


class RecipeText(BaseModel):
    """The contents of a recipe, without its ingredients."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Title
    description: Text = ""
    cuisine_type: ListName
    cooking_method: ListName
    meal_type: ListName
    prep_time_minutes: Minutes = 0
    cook_time_minutes: Minutes = 0
    servings: Annotated[int, Field(ge=1, le=1_000)] = 1
    calories_per_serving: Annotated[int, Field(ge=0, le=100_000)] | None = None
    instructions: Annotated[list[Step], MaxBytes(LARGE_FIELD_BYTES)] = []


class RecipeDraft(RecipeText):
    """A recipe as it is written, with its ingredients in their order."""

    ingredients: Annotated[list[IngredientLine], Field(min_length=1, max_length=INGREDIENTS_MAX)]


TEXT_FIELDS: Final = tuple(RecipeText.model_fields)


def text_values(text: RecipeText) -> dict[str, Any]:
    """Return the fields of a recipe that hold its contents."""
    return {name: getattr(text, name) for name in TEXT_FIELDS}


def recipe_of(
    draft: RecipeDraft,
    recipe_id: RecipeId,
    user_id: UserId,
    *,
    ingredient_names: Sequence[str],
    is_public: bool = False,
    is_ai_generated: bool = False,
) -> Recipe:
    """Return the recipe of a draft, that nobody has approved yet."""
    return Recipe(
        recipe_id=recipe_id,
        user_id=user_id,
        ingredient_names=list(ingredient_names),
        is_public=is_public,
        is_ai_generated=is_ai_generated,
        **text_values(draft),
    )


def ingredients_of(recipe_id: RecipeId, lines: Iterable[IngredientLine]) -> list[RecipeIngredient]:
    """Return the lines of a recipe by their places, from 1."""
    return [
        RecipeIngredient(recipe_id=recipe_id, position=position, **line.model_dump())
        for position, line in enumerate(lines, start=1)
    ]


def normal_names(lines: Iterable[IngredientLine], known: Mapping[str, str]) -> list[str]:
    """Return the normal names of ingredients, each once: a recipe is found by them.

    `known` has the names that the catalogue has for some: "chicken" is listed where "thịt gà" is.
    """
    names = (line.ingredient_name for line in lines)
    return list(dict.fromkeys(normalize(known.get(name, name)) for name in names))
