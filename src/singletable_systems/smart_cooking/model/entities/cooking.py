"""Cooking: what users have cooked, what was suggested to them, and how much was done in a month."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from singletable import (
    Compressed,
    CopyOf,
    CreatedAt,
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
from singletable_systems.smart_cooking.model.entities.people import Visibility
from singletable_systems.smart_cooking.model.entities.recipes import Stars
from singletable_systems.smart_cooking.model.entities.sizes import (
    LARGE_FIELD_BYTES,
    TEXT_BYTES,
    Name,
    Names,
    Text,
)
from singletable_systems.smart_cooking.model.keys import (
    ActivityPK,
    CookDateSK,
    CookedSK,
    CookingSK,
    CookingTable,
    FavoritePK,
    HistoryId,
    MetadataSK,
    RecentPK,
    RecipeId,
    SuggestionCachePK,
    SuggestionId,
    SuggestionSK,
    TotalsSK,
    UserId,
    UserPK,
)

CookingStatus = Literal["started", "completed", "cancelled"]


class CookingHistory(Entity, name="COOKING_HISTORY", owner="user_id"):
    """That somebody cooks something, or has cooked it."""

    key = Keys(UserPK, CookingSK)
    favorites = CookingTable.gsi1.keys(FavoritePK, CookedSK, when=Eq("is_favorite", True))
    # SC-19: only what was cooked by people who show it to all.
    recent = CookingTable.gsi3.keys(
        RecentPK, CookDateSK, when=Eq("status", "completed") & Eq("visibility", "public")
    )

    history_id: HistoryId
    user_id: UserId
    recipe_id: RecipeId
    suggestion_id: SuggestionId | None = None
    status: CookingStatus = "started"
    personal_rating: Stars | None = None
    personal_notes: Text | None = None
    is_favorite: bool = False
    created_at: datetime
    cook_date: datetime = Field(default_factory=lambda given: given.get("created_at"))
    updated_at: UpdatedAt = auto()
    visibility: Annotated[Visibility, CopyOf("PrivacySettings", "profile_visibility")] = (
        "private"  # added: SC-19
    )
    ttl: Ttl = None  # SC-29: kept for good, unless a year is asked for
    version: Version = 0  # added: X-04


class AiSuggestion(Entity, name="AI_SUGGESTION", owner="user_id"):
    """What was suggested to somebody who named ingredients."""

    key = Keys(UserPK, SuggestionSK)

    suggestion_id: SuggestionId
    user_id: UserId
    recipe_ids: Annotated[list[RecipeId], MaxBytes(TEXT_BYTES)] = []
    cache_ids: Names = []
    prompt_text: Text = ""
    ingredients_used: Names = []
    requested_recipe_count: int
    recipes_from_db: int = 0
    recipes_from_ai: int = 0
    invalid_ingredients: Names = []
    ai_response: Annotated[dict[str, Any] | None, Compressed(), MaxBytes(LARGE_FIELD_BYTES)] = None  # SC-41
    was_from_cache: bool = False
    was_accepted: bool = False
    feedback_rating: Stars | None = None
    feedback_comment: Text | None = None
    created_at: datetime
    ttl: Ttl = expires(days=90, after="created_at")


class SuggestionCache(Entity, name="SUGGESTION_CACHE"):
    """Added, SC-57: what was generated for a set of ingredients, and how often it was asked for again."""

    key = Keys(SuggestionCachePK, MetadataSK)

    digest: Name
    ingredients: Names
    recipe_ids: Annotated[list[RecipeId], MaxBytes(TEXT_BYTES)]
    hit_count: int = 0
    created_at: CreatedAt = auto()
    ttl: Ttl = expires(days=7, after="created_at")


class MonthlyActivity(Entity, name="MONTHLY_ACTIVITY"):
    """Added, SC-59: how much was done in a month, counted as the stream tells it."""

    key = Keys(ActivityPK, TotalsSK)

    month: Name
    cookings: int = 0
    ratings: int = 0
    recipes: int = 0
    posts: int = 0
    comments: int = 0
    reactions: int = 0
