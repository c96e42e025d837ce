"""Reading what was cooked and suggested."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

from singletable import Get, Merged, Query, Walk, buckets, pattern, shards
from singletable_systems.smart_cooking.errors import InvalidInputError
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    CookingHistory,
    MonthlyActivity,
    SuggestionCache,
)
from singletable_systems.smart_cooking.model.keys import (
    ActivityPK,
    CookDateSK,
    CookingSK,
    FavoritePK,
    HistoryId,
    MetadataSK,
    RecentPK,
    SuggestionCachePK,
    SuggestionId,
    SuggestionSK,
    TotalsSK,
    UserId,
    UserPK,
)

DAYS_MAX: Final = 366  # each of their months is a query
Days = Annotated[int, Field(ge=1, le=DAYS_MAX)]


class CookingPatterns:
    @pattern(
        "17 List cooking history, newest first",
        documented="PK=USER#<id>, SK begins_with COOKING#, Sort DESC",
        fixes="SC-24, SC-59",
    )
    def history(self, user_id: UserId) -> Query[CookingHistory]:
        return CookingHistory.key.query(UserPK(user_id=user_id)).newest_first()

    @pattern("17b Get one entry of the history, as it is now", consistent=True)
    def cooking(self, user_id: UserId, created_at: datetime, history_id: HistoryId) -> Get[CookingHistory]:
        return CookingHistory.key.get(
            UserPK(user_id=user_id), CookingSK(created_at=created_at, history_id=history_id)
        )

    @pattern(
        "18 List favorites only, newest first",
        documented="GSI1PK=USER#<id>#FAVORITE, Sort by cook_date DESC",
        fixes="SC-06, SC-30",
    )
    def favorites(self, user_id: UserId) -> Query[CookingHistory]:
        return CookingHistory.favorites.query(FavoritePK(user_id=user_id)).newest_first()

    @pattern(
        "19 Get recent activities, newest first",
        documented="GSI3PK=RECENT#<year-month>",
        fixes="SC-18, SC-19",
    )
    def recent_activities(self, now: datetime, days: Days = 60) -> Walk[CookingHistory]:
        """What was cooked in the last days by people who show it: month after month, until the page is full."""
        if not 1 <= days <= DAYS_MAX:
            raise InvalidInputError(
                f"recent activities are those of the last 1 to {DAYS_MAX} days, not of {days}"
            )
        oldest = now - timedelta(days=days)
        between = (CookDateSK(cook_date=oldest), CookDateSK(cook_date=now))
        return Walk(
            [
                Merged(
                    [
                        CookingHistory.recent.query(RecentPK(month=month, shard=shard), between=between)
                        for shard in shards(RecentPK)
                    ]
                ).newest_first()
                for month in buckets(RecentPK, newest=now, oldest=oldest)
            ]
        )

    @pattern(
        "24 List user's suggestions, newest first",
        documented="PK=USER#<id>, SK begins_with SUGGESTION#, Sort DESC",
    )
    def suggestions(self, user_id: UserId) -> Query[AiSuggestion]:
        return AiSuggestion.key.query(UserPK(user_id=user_id)).newest_first()

    @pattern(
        "25 Get specific suggestion",
        documented="PK=USER#<id>, SK=SUGGESTION#<timestamp>",
        fixes="SC-25",
    )
    def suggestion_at(self, user_id: UserId, created_at: datetime) -> Query[AiSuggestion]:
        """The suggestion of a moment; of several, the first by its id."""
        return AiSuggestion.key.query(
            UserPK(user_id=user_id), SuggestionSK.prefix(created_at=created_at)
        ).limit(1)

    @pattern("25b Get one suggestion, as it is now", consistent=True, fixes="SC-25")
    def suggestion(
        self, user_id: UserId, created_at: datetime, suggestion_id: SuggestionId
    ) -> Get[AiSuggestion]:
        return AiSuggestion.key.get(
            UserPK(user_id=user_id), SuggestionSK(created_at=created_at, suggestion_id=suggestion_id)
        )

    @pattern("50 Get what was generated for a set of ingredients", fixes="SC-57")
    def suggestion_cache(self, digest: str) -> Get[SuggestionCache]:
        return SuggestionCache.key.get(SuggestionCachePK(digest=digest), MetadataSK())

    @pattern("51 Get the activity of a month", fixes="SC-59", samples={"month": "2025-01"})
    def activity(self, month: str) -> Get[MonthlyActivity]:
        return MonthlyActivity.key.get(ActivityPK(month=month), TotalsSK())
