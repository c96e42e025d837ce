"""Reading ingredients: the catalogue, what users have at home, names that nobody knows."""

from __future__ import annotations

from typing import Final

from singletable import Collect, Collection, Get, Lookup, Query, collect, pattern
from singletable_systems.smart_cooking.model.entities import (
    IngredientAlias,
    InvalidIngredient,
    InvalidIngredientReport,
    MasterIngredient,
    UserIngredient,
)
from singletable_systems.smart_cooking.model.keys import (
    CategoryPK,
    CookingTable,
    IngredientId,
    IngredientNamePK,
    IngredientNameSK,
    IngredientPK,
    InvalidIngredientPK,
    MetadataSK,
    NameSK,
    PendingReportsPK,
    ReporterSK,
    SearchPK,
    UserId,
    UserPK,
)

NAMES_MAX: Final = 50


class NamesFound(Collection):
    """Ingredients whose own names were found, and other names of ingredients."""

    ingredients: list[MasterIngredient]
    aliases: list[IngredientAlias]


class IngredientPatterns:
    @pattern("5 List user ingredients", documented="PK=USER#<id>, SK begins_with INGREDIENT#")
    def user_ingredients(self, user_id: UserId) -> Query[UserIngredient]:
        return UserIngredient.key.query(UserPK(user_id=user_id))

    @pattern("6 Check specific ingredient", documented="PK=USER#<id>, SK=INGREDIENT#<name>", fixes="SC-15")
    def user_ingredient(self, user_id: UserId, name: str) -> Get[UserIngredient]:
        return UserIngredient.key.get(UserPK(user_id=user_id), IngredientNameSK(normalized_name=name))

    @pattern("7 Get ingredient by ID", documented="PK=INGREDIENT#<id>, SK=METADATA")
    def ingredient(self, ingredient_id: IngredientId) -> Get[MasterIngredient]:
        return MasterIngredient.key.get(IngredientPK(ingredient_id=ingredient_id), MetadataSK())

    @pattern(
        "8 Search ingredients by the beginning of a name",
        documented="GSI2PK=INGREDIENT#SEARCH, GSI2SK begins_with NAME#<term>",
        fixes="SC-13, SC-14, SC-15",
        cached_s=60,
    )
    def search_ingredients(self, term: str) -> Collect[NamesFound]:
        """Names and aliases that begin so, in their order, fifty at most: more are found by a longer term."""
        names = NameSK.starting(normalized_name=term)
        found = collect(NamesFound, SearchPK(initial=term), names, index=CookingTable.gsi2)
        return found.limit(NAMES_MAX)

    @pattern(
        "8b Find ingredient by name or alias",
        documented="GSI2PK=INGREDIENT#SEARCH, GSI2SK=NAME#<name>",
        fixes="SC-14, SC-15, SC-16",
        cached_s=60,
    )
    def ingredients_named(self, name: str) -> Collect[NamesFound]:
        """The ingredient of this very name, and those that have it as an alias."""
        names = NameSK.prefix(normalized_name=name)
        found = collect(NamesFound, SearchPK(initial=name), names, index=CookingTable.gsi2)
        return found.limit(NAMES_MAX)

    @pattern("8c Get ingredient by its own name, as it is now", fixes="SC-16")
    def ingredient_by_name(self, name: str) -> Lookup[MasterIngredient]:
        return MasterIngredient.unique_name.get(IngredientNamePK(normalized_name=name))

    @pattern("9 List ingredients by category", documented="GSI1PK=CATEGORY#<category>", fixes="SC-55")
    def ingredients_by_category(self, category: str) -> Query[MasterIngredient]:
        return MasterIngredient.by_category.query(CategoryPK(category=category))

    @pattern(
        "40 Check if ingredient reported",
        documented="PK=INVALID_INGREDIENT#<name>, SK=USER#<user_id>",
        consistent=True,
    )
    def report(self, name: str, user_id: UserId) -> Get[InvalidIngredientReport]:
        return InvalidIngredientReport.key.get(
            InvalidIngredientPK(normalized_name=name), ReporterSK(user_id=user_id)
        )

    @pattern(
        "41 List pending reports, most reported first",
        documented="GSI1PK=REPORTS#PENDING, Sort by total DESC",
        fixes="SC-33, SC-34",
    )
    def pending_reports(self) -> Query[InvalidIngredient]:
        return InvalidIngredient.pending.query(PendingReportsPK()).newest_first()

    @pattern("41b Get the reports of a name together", fixes="SC-33", consistent=True)
    def invalid_ingredient(self, name: str) -> Get[InvalidIngredient]:
        return InvalidIngredient.key.get(InvalidIngredientPK(normalized_name=name), MetadataSK())

    @pattern("41c List who reported a name", fixes="SC-33")
    def reporters(self, name: str) -> Query[InvalidIngredientReport]:
        return InvalidIngredientReport.key.query(InvalidIngredientPK(normalized_name=name))

    @pattern("41d List a user's reports", fixes="SC-33")
    def reports_of(self, user_id: UserId) -> Query[InvalidIngredientReport]:
        return InvalidIngredientReport.by_user.query(UserPK(user_id=user_id))
