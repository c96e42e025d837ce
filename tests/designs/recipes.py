"""Recipes with ratings: an average in an index key, and facets of a recipe as items of their own."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

from singletable.design import (
    AverageOf,
    CopyOf,
    CountOf,
    Derived,
    Design,
    Entity,
    Index,
    Key,
    Keys,
    Pad,
    Query,
    SortKey,
    Table,
    Unique,
    Version,
    pattern,
)


class RecipeTable(Table):
    name = "recipes"
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")


class RecipePK(Key, template="RECIPE#{recipe_id}"):
    recipe_id: str


class MetadataSK(SortKey, template="METADATA"):
    pass


class RatingSK(SortKey, template="RATING#{user_id}"):
    user_id: str


class NoteSK(SortKey, template="NOTE#{note_id}"):
    note_id: str


class MethodPK(Key, template="METHOD#{method}"):
    method: str


class StepSK(SortKey, template="{rating_step}#{recipe_id}"):
    rating_step: Annotated[Decimal, Pad(5, decimals=1, offset=100)]
    recipe_id: str


class FacetSK(SortKey, template="FACET#{kind}"):
    kind: str


class FacetPK(Key, template="{kind}#{value}"):
    kind: str
    value: str


class SlugPK(Key, template="SLUG#{slug}"):
    slug: str


class Recipe(Entity):
    key = Keys(RecipePK, MetadataSK)
    by_method = RecipeTable.gsi2.keys(MethodPK, StepSK)
    unique_slug = Unique(SlugPK)

    recipe_id: str
    title: str
    slug: str | None = None
    method: str = "baked"
    cuisine: str | None = None
    meal: str | None = None
    average: Annotated[Decimal | None, AverageOf("Rating", "stars", decimals=3)] = None
    rating_step: Annotated[Decimal, AverageOf("Rating", "stars", decimals=1)] = Decimal(0)
    ratings: Annotated[int, CountOf("Rating")] = 0
    version: Version = 0


def facets(recipe: Recipe) -> Iterator[Facet]:
    """Make an item for each facet that a recipe has."""
    for kind, value in (("CUISINE", recipe.cuisine), ("MEALTYPE", recipe.meal)):
        if value is not None:
            yield Facet(
                recipe_id=recipe.recipe_id,
                kind=kind,
                value=value,
                title=recipe.title,
                rating_step=recipe.rating_step,
            )


class Facet(Entity):
    key = Keys(RecipePK, FacetSK)
    by_value = RecipeTable.gsi2.keys(FacetPK, StepSK)
    made = Derived(Recipe, facets)

    recipe_id: str
    kind: str
    value: str
    title: str
    rating_step: Decimal


class Rating(Entity):
    key = Keys(RecipePK, RatingSK)

    recipe_id: str
    user_id: str
    stars: Decimal | None


class Note(Entity):
    key = Keys(RecipePK, NoteSK)

    recipe_id: str
    note_id: str
    recipe_title: Annotated[str, CopyOf(Recipe, "title", by="transaction")] = ""


def search_words(recipe: Recipe) -> Iterator[Word]:
    """Make an item for each word of a title."""
    for word in sorted(set(recipe.title.split())):
        yield Word(recipe_id=recipe.recipe_id, word=word)


class WordSK(SortKey, template="WORD#{word}"):
    word: str


class Word(Entity):
    key = Keys(RecipePK, WordSK)
    made = Derived("Recipe", search_words, by="stream", reads=("title",))

    recipe_id: str
    word: str


class Recipes(Design):
    table = RecipeTable
    entities = (Recipe, Facet, Rating, Note, Word)

    @pattern("1 Recipes of a method, by rating")
    def by_method(self, method: str) -> Query[Recipe]:
        return Recipe.by_method.query(MethodPK(method=method))

    @pattern("2 Recipes of a facet, by rating")
    def by_facet(self, kind: str, value: str) -> Query[Facet]:
        return Facet.by_value.query(FacetPK(kind=kind, value=value))
