"""Ingredients: the catalogue with its aliases, what users have at home, and names that nobody knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from singletable import (
    Computed,
    CreatedAt,
    Derived,
    Entity,
    Eq,
    Gt,
    Keys,
    SumOf,
    Unique,
    UpdatedAt,
    Version,
    auto,
)
from singletable_systems.smart_cooking.model.entities.sizes import Name, Names, Text
from singletable_systems.smart_cooking.model.keys import (
    AliasSK,
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
    ReportedSK,
    ReporterSK,
    SearchPK,
    TotalSK,
    UserId,
    UserPK,
)
from singletable_systems.smart_cooking.model.names import normalize

ReportStatus = Literal["pending", "resolved", "rejected"]


class UserIngredient(Entity, name="USER_INGREDIENT", owner="user_id"):
    """Something that a user has at home."""

    key = Keys(UserPK, IngredientNameSK)

    user_id: UserId
    ingredient_id: IngredientId | None = None
    ingredient_name: Name
    normalized_name: Annotated[str, Computed(normalize, "ingredient_name"), Field(min_length=1)] = ""
    added_at: CreatedAt = auto()


class MasterIngredient(Entity, name="MASTER_INGREDIENT"):
    """An ingredient that the app knows. Only active ones are listed and found."""

    key = Keys(IngredientPK, MetadataSK)
    by_category = CookingTable.gsi1.keys(CategoryPK, IngredientNameSK, when=Eq("is_active", True))
    search = CookingTable.gsi2.keys(SearchPK, NameSK, when=Eq("is_active", True))
    unique_name = Unique(IngredientNamePK)  # added: SC-16

    ingredient_id: IngredientId
    name: Name
    normalized_name: Annotated[str, Computed(normalize, "name"), Field(min_length=1)] = ""
    category: Name
    aliases: Annotated[Names, Field(max_length=40)] = []
    is_active: bool = True
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0  # added: X-04


def _aliases(ingredient: MasterIngredient) -> Iterator[IngredientAlias]:
    if ingredient.is_active:
        for alias in dict.fromkeys(ingredient.aliases):
            yield IngredientAlias(
                ingredient_id=ingredient.ingredient_id,
                alias=alias,
                ingredient_name=ingredient.name,
                category=ingredient.category,
            )


class IngredientAlias(Entity, name="INGREDIENT_ALIAS"):
    """Added, SC-14: another name of an ingredient, found like its own."""

    key = Keys(IngredientPK, AliasSK)
    search = CookingTable.gsi2.keys(SearchPK, NameSK)
    made = Derived(MasterIngredient, _aliases, reads=("name", "category", "aliases", "is_active"))

    ingredient_id: IngredientId
    alias: Name
    normalized_name: Annotated[str, Computed(normalize, "alias"), Field(min_length=1)] = ""
    ingredient_name: Name
    category: Name


class InvalidIngredientReport(Entity, name="INVALID_INGREDIENT_REPORT"):
    """A user has asked for something that is no ingredient. The total is in the summary (SC-33)."""

    key = Keys(InvalidIngredientPK, ReporterSK)
    by_user = CookingTable.gsi1.keys(UserPK, ReportedSK)  # added: SC-33

    report_id: Name
    ingredient_name: Name
    normalized_name: Annotated[str, Computed(normalize, "ingredient_name"), Field(min_length=1)] = ""
    user_id: UserId
    user_report_count: int = 1
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()


class InvalidIngredient(Entity, name="INVALID_INGREDIENT"):
    """Added, SC-33: a name that nobody knows, with the reports of all. While it is pending, admins see it."""

    key = Keys(InvalidIngredientPK, MetadataSK)
    pending = CookingTable.gsi1.keys(
        PendingReportsPK, TotalSK, when=Eq("status", "pending") & Gt("total_reports", 0)
    )

    ingredient_name: Name
    normalized_name: Annotated[str, Computed(normalize, "ingredient_name"), Field(min_length=1)] = ""
    total_reports: Annotated[int, SumOf("InvalidIngredientReport", "user_report_count")] = 0
    status: ReportStatus = "pending"
    admin_notes: Text = ""
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0  # added: X-04
