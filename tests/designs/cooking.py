"""Recipes, as of Smart Cooking: names of the documents in snake case, normalized names, rated recipes, months."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal, NewType

from singletable.design import (
    BucketOf,
    CreatedAt,
    Design,
    Digits,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    Normalize,
    Query,
    SortKey,
    Stored,
    Table,
    Ttl,
    UpdatedAt,
    Verbatim,
    Walk,
    auto,
    buckets,
    expires,
    pattern,
)

UserId = NewType("UserId", str)
RecipeId = NewType("RecipeId", str)
IngredientId = NewType("IngredientId", str)


def normalize(name: str) -> str:
    """Return a name without accents, in lower case, its words joined by hyphens."""
    plain = unicodedata.normalize("NFKD", name.lower().replace("đ", "d"))
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return "-".join(letters.split())


Name = Annotated[str, Normalize(normalize)]


class CookingTable(Table):
    name = "smart-cooking-data-{environment}"
    defaults = {"environment": "dev"}
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")
    gsi3 = Index("GSI3", pk="GSI3PK", sk="GSI3SK")


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class RolePK(Key, template="ROLE#{role}"):
    role: Literal["admin", "user"]


class FavoritePK(Key, template="USER#{user_id}#FAVORITE"):
    user_id: UserId


class IngredientPK(Key, template="INGREDIENT#{ingredient_id}"):
    ingredient_id: IngredientId


class SearchPK(Key, template="INGREDIENT#SEARCH"):
    pass


class RecipePK(Key, template="RECIPE#{recipe_id}"):
    recipe_id: RecipeId


class MethodPK(Key, template="METHOD#{cooking_method}"):
    cooking_method: str


class RecentPK(Key, template="RECENT#{month}"):
    month: Annotated[str, BucketOf("cook_date", "month")]


class LinkPK(Key, template="LINK#{url}"):
    url: Annotated[str, Verbatim()]


class ProfileSK(SortKey, template="PROFILE"):
    pass


class MetadataSK(SortKey, template="METADATA"):
    pass


class UserCreatedSK(SortKey, template="USER#{created_at}"):
    created_at: datetime


class UserIngredientSK(SortKey, template="INGREDIENT#{name}"):
    name: Name


class NameSK(SortKey, template="NAME#{name}"):
    name: Name


class RatedSK(SortKey, template="RECIPE#{rating_step:.1f}#{created_at}"):
    rating_step: Decimal
    created_at: datetime


class CookingSK(SortKey, template="COOKING#{cook_date}#{history_id}"):
    cook_date: datetime
    history_id: str


class CookedSK(SortKey, template="COOKING#{cook_date}"):
    cook_date: datetime


class CookDateSK(SortKey, template="{cook_date}"):
    cook_date: datetime


class UserProfile(Entity, name="USER_PROFILE"):
    key = Keys(UserPK, ProfileSK)
    by_role = CookingTable.gsi1.keys(RolePK, UserCreatedSK)

    user_id: UserId
    role: Literal["admin", "user"] = "user"
    full_name: str
    date_of_birth: Annotated[str, Stored("dob")] | None = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()


class UserIngredient(Entity, name="USER_INGREDIENT"):
    key = Keys(UserPK, UserIngredientSK)

    user_id: UserId
    name: str
    added_at: CreatedAt = auto()


class MasterIngredient(Entity, name="MASTER_INGREDIENT"):
    key = Keys(IngredientPK, MetadataSK)
    search = CookingTable.gsi2.keys(SearchPK, NameSK)

    ingredient_id: IngredientId
    name: str


class Recipe(Entity, name="RECIPE"):
    key = Keys(RecipePK, MetadataSK)
    by_method = CookingTable.gsi2.keys(MethodPK, RatedSK, when=Eq("is_public", True))

    recipe_id: RecipeId
    title: str
    cooking_method: str
    is_public: bool = False
    avg_rating: Annotated[float, Digits(4, rounds=True)] = 0.0
    created_at: CreatedAt = auto()

    @property
    def rating_step(self) -> Decimal:
        """The average by steps of 0.1: what the index is sorted by."""
        return round(Decimal(repr(self.avg_rating)), 1)


class CookingHistory(Entity, name="COOKING_HISTORY"):
    key = Keys(UserPK, CookingSK)
    favorites = CookingTable.gsi1.keys(FavoritePK, CookedSK, when=Eq("is_favorite", True))
    recent = CookingTable.gsi3.keys(RecentPK, CookDateSK)

    user_id: UserId
    history_id: str
    recipe_id: RecipeId
    cook_date: datetime
    is_favorite: bool = False
    ttl: Ttl = expires(days=365, after="cook_date")


class Link(Entity, name="LINK"):
    key = Keys(LinkPK, MetadataSK)

    url: str
    recipe_id: RecipeId


class Cooking(Design):
    table = CookingTable
    entities = (UserProfile, UserIngredient, MasterIngredient, Recipe, CookingHistory, Link)
    casing = "snake"
    discriminator = "entity_type"

    @pattern("2 List admins")
    def admins(self) -> Query[UserProfile]:
        return UserProfile.by_role.query(RolePK(role="admin"))

    @pattern("6 Check one user ingredient")
    def user_ingredient(self, user_id: UserId, name: str) -> Get[UserIngredient]:
        return UserIngredient.key.get(UserPK(user_id=user_id), UserIngredientSK(name=name))

    @pattern("8 Search ingredient by the beginning of its name")
    def search(self, beginning: str) -> Query[MasterIngredient]:
        return MasterIngredient.search.query(SearchPK(), NameSK.starting(name=beginning))

    @pattern("12 Recipes by method, rating descending")
    def recipes_by_method(self, method: str) -> Query[Recipe]:
        return Recipe.by_method.query(MethodPK(cooking_method=method)).newest_first()

    @pattern("18 Favourites, newest first")
    def favorites(self, user_id: UserId) -> Query[CookingHistory]:
        return CookingHistory.favorites.query(FavoritePK(user_id=user_id)).newest_first()

    @pattern("19 Recent activities")
    def recent(self, newest: datetime, oldest: datetime) -> Walk[CookingHistory]:
        months = buckets(RecentPK, newest=newest, oldest=oldest)
        return Walk([CookingHistory.recent.query(RecentPK(month=month)).newest_first() for month in months])
