"""A pantry: ingredients by the beginning of their names, whose key is plain, or has one letter, or two."""

from __future__ import annotations

from typing import Annotated

from singletable.design import (
    Design,
    Entity,
    Index,
    InitialOf,
    Key,
    Keys,
    Normalize,
    Query,
    SortKey,
    Table,
    pattern,
)


def plain(text: str) -> str:
    """Return a text as it is searched for: in lower case, with one space between words."""
    return " ".join(text.casefold().split())


class PantryTable(Table):
    name = "pantry"
    pitr_days = None
    names = Index("Names", pk="namePK", sk="nameSK")


class IngredientPK(Key, template="INGREDIENT#{ingredient_id}"):
    ingredient_id: str


class InfoSK(SortKey, template="INFO"):
    pass


class NameSK(SortKey, template="NAME#{name}"):
    name: Annotated[str, Normalize(plain)]


class AllPK(Key, template="INGREDIENT#SEARCH#{initial}"):
    initial: Annotated[str, Normalize(plain), InitialOf("name")]


class LetterPK(Key, template="INGREDIENT#SEARCH#{initial}"):
    initial: Annotated[str, Normalize(plain), InitialOf("name", letters=1)]


class LettersPK(Key, template="INGREDIENT#SEARCH#{initial}"):
    initial: Annotated[str, Normalize(plain), InitialOf("name", letters=2)]


class Ingredient(Entity):
    key = Keys(IngredientPK, InfoSK)
    by_name = PantryTable.names.keys(AllPK, NameSK)

    ingredient_id: str
    name: str


class LetterIngredient(Entity, name="Ingredient"):
    key = Keys(IngredientPK, InfoSK)
    by_name = PantryTable.names.keys(LetterPK, NameSK)

    ingredient_id: str
    name: str


class LettersIngredient(Entity, name="Ingredient"):
    key = Keys(IngredientPK, InfoSK)
    by_name = PantryTable.names.keys(LettersPK, NameSK, was=(LetterPK, NameSK))

    ingredient_id: str
    name: str


class Pantry(Design):
    table = PantryTable
    entities = (Ingredient,)

    @pattern("1 Ingredients whose names begin so")
    def search(self, term: str) -> Query[Ingredient]:
        return Ingredient.by_name.query(AllPK(initial=term), NameSK.starting(name=term))


class LetterPantry(Design):
    table = PantryTable
    entities = (LetterIngredient,)

    @pattern("1 Ingredients whose names begin so")
    def search(self, term: str) -> Query[LetterIngredient]:
        return LetterIngredient.by_name.query(LetterPK(initial=term), NameSK.starting(name=term))


class LettersPantry(Design):
    table = PantryTable
    entities = (LettersIngredient,)

    @pattern("1 Ingredients whose names begin so")
    def search(self, term: str) -> Query[LettersIngredient]:
        return LettersIngredient.by_name.query(LettersPK(initial=term), NameSK.starting(name=term))
