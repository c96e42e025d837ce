"""Ingredients and dishes whose search names, drafts and ranks are worked out from other fields."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from singletable.design import (
    AverageOf,
    Computed,
    CopyOf,
    CountOf,
    Derived,
    Design,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    Lookup,
    Query,
    SortKey,
    Table,
    Ttl,
    Unique,
    Version,
    expires,
    pattern,
)


def normalize(name: str) -> str:
    return " ".join(name.lower().split())


def drafted(status: str) -> bool:
    return status == "draft"


def rank_of(stars: Decimal) -> int:
    return int(stars * 2)


class LarderTable(Table):
    name = "larder"
    pitr_days = None
    names = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    ranks = Index("GSI2", pk="GSI2PK", sk="GSI2SK")


class IngredientPK(Key, template="INGREDIENT#{ingredient_id}"):
    ingredient_id: str


class DishPK(Key, template="DISH#{dish_id}"):
    dish_id: str


class MetadataSK(SortKey, template="METADATA"):
    pass


class SearchPK(Key, template="INGREDIENTS"):
    pass


class NameSK(SortKey, template="{normalized_name}#{ingredient_id}"):
    normalized_name: str
    ingredient_id: str


class NamePK(Key, template="NAME#{normalized_name}"):
    normalized_name: str


class WordPK(Key, template="WORD#{word}"):
    word: str


class WordSK(SortKey, template="OF#{ingredient_id}"):
    ingredient_id: str


class ReviewSK(SortKey, template="REVIEW#{reviewer}"):
    reviewer: str


class RankPK(Key, template="RANK#{rank}"):
    rank: int


class RankSK(SortKey, template="DISH#{dish_id}"):
    dish_id: str


class OldIngredient(Entity, name="Ingredient"):
    key = Keys(IngredientPK, MetadataSK)

    ingredient_id: str
    name: str
    note: str | None = None
    status: Literal["draft", "listed"] = "listed"


class Ingredient(Entity):
    key = Keys(IngredientPK, MetadataSK)
    by_name = LarderTable.names.keys(SearchPK, NameSK, when=Eq("status", "listed"))
    unique_name = Unique(NamePK)

    ingredient_id: str
    name: str
    note: str | None = None
    status: Literal["draft", "listed"] = "listed"
    initial: Annotated[str, Computed(lambda name: name[:1], "normalized_name")] = ""
    normalized_name: Annotated[str, Computed(normalize, "name")] = ""
    is_draft: Annotated[bool, Computed(drafted, "status")] = False
    ttl: Ttl = expires(days=30, when=Eq("is_draft", True))


def words_of(ingredient: Ingredient) -> list[Word]:
    return [
        Word(word=word, ingredient_id=ingredient.ingredient_id)
        for word in sorted(set(ingredient.normalized_name.split()))
    ]


class Word(Entity):
    key = Keys(WordPK, WordSK)
    made = Derived(Ingredient, words_of, reads=("normalized_name",))

    word: str
    ingredient_id: str


class Dish(Entity):
    key = Keys(DishPK, MetadataSK)
    ranked = LarderTable.ranks.keys(RankPK, RankSK)

    dish_id: str
    title: str
    reviews: Annotated[int, CountOf("Review")] = 0
    stars: Annotated[Decimal, AverageOf("Review", "stars")] = Decimal(0)
    rank: Annotated[int, Computed(rank_of, "stars")] = 0
    is_reviewed: Annotated[bool, Computed(bool, "reviews")] = False
    version: Version = 0


class Review(Entity):
    key = Keys(DishPK, ReviewSK)

    dish_id: str
    reviewer: str
    stars: int
    dish_title: Annotated[str, CopyOf(Dish, "title", by="transaction")] = ""
    shouted: Annotated[str, Computed(str.upper, "dish_title")] = ""


class OldLarder(Design):
    table = LarderTable
    entities = (OldIngredient,)


class Larder(Design):
    table = LarderTable
    entities = (Ingredient, Word, Dish, Review)

    @pattern("1 Get an ingredient")
    def ingredient(self, ingredient_id: str) -> Get[Ingredient]:
        return Ingredient.key.get(IngredientPK(ingredient_id=ingredient_id), MetadataSK())

    @pattern("2 Search ingredients by the beginning of their names")
    def search(self, term: str) -> Query[Ingredient]:
        return Ingredient.by_name.query(SearchPK(), NameSK.starting(normalized_name=normalize(term)))

    @pattern("3 Get the ingredient of a name")
    def named(self, name: str) -> Lookup[Ingredient]:
        return Ingredient.unique_name.get(NamePK(normalized_name=normalize(name)))

    @pattern("4 Get what has a word in its name")
    def with_word(self, word: str) -> Query[Word]:
        return Word.key.query(WordPK(word=word))

    @pattern("5 Get a dish")
    def dish(self, dish_id: str) -> Get[Dish]:
        return Dish.key.get(DishPK(dish_id=dish_id), MetadataSK())

    @pattern("6 Get the dishes of a rank")
    def of_rank(self, rank: int) -> Query[Dish]:
        return Dish.ranked.query(RankPK(rank=rank))

    @pattern("7 Get a review")
    def review(self, dish_id: str, reviewer: str) -> Get[Review]:
        return Review.key.get(DishPK(dish_id=dish_id), ReviewSK(reviewer=reviewer))
