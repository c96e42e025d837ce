"""The table of Smart Cooking and its keys: the glossary of the design. Templates are those of the documents."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Final, Literal, NewType, cast, get_args

from singletable import (
    BucketOf,
    Index,
    InitialOf,
    Key,
    Normalize,
    Pad,
    ShardOf,
    SortKey,
    Table,
    Verbatim,
)
from singletable.systems import choice_from_environment, number_from_environment
from singletable_systems.smart_cooking.model.names import normalize

# Write sharding of the partitions that all users share. With the defaults, each renders the key of the design
# document. For a hot partition, an environment variable gives another value, as in
# SMART_COOKING_FEED_SHARDS=8, and a migration moves the stored items.
Every = Literal["never", "month", "week", "day"]

APPROVED_SHARDS: Final = number_from_environment("SMART_COOKING_APPROVED_SHARDS", 1)  # SC-09: APPROVED
RECENT_SHARDS: Final = number_from_environment("SMART_COOKING_RECENT_SHARDS", 1)  # SC-19: RECENT#2025-01
FEED_SHARDS: Final = number_from_environment("SMART_COOKING_FEED_SHARDS", 1)  # SC-21: FEED#PUBLIC
FEED_EVERY: Final = cast(
    Every, choice_from_environment("SMART_COOKING_FEED_EVERY", "never", get_args(Every))
)  # SC-21
# SC-13: INGREDIENT#SEARCH
SEARCH_LETTERS: Final = number_from_environment("SMART_COOKING_SEARCH_LETTERS", 0, least=0)

UserId = NewType("UserId", str)
IngredientId = NewType("IngredientId", str)
RecipeId = NewType("RecipeId", str)
HistoryId = NewType("HistoryId", str)
SuggestionId = NewType("SuggestionId", str)
PostId = NewType("PostId", str)
CommentId = NewType("CommentId", str)
NotificationId = NewType("NotificationId", str)
SessionId = NewType("SessionId", str)

Role = Literal["user", "admin"]
Period = Literal["weekly"]
NormalName = Annotated[str, Normalize(normalize)]  # SC-15: one form, for writes and for reads
RatingStep = Decimal  # SC-10: an average in steps of 0.1


class CookingTable(Table):
    """One table for each environment."""

    name = "smart-cooking-data-{environment}"  # SC-01
    encryption = "AWS_MANAGED"  # 000:85
    pitr_days = 35  # 002:631; SC-60: on in every environment that can have it
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")
    gsi3 = Index("GSI3", pk="GSI3PK", sk="GSI3SK")


# --- users ----------------------------------------------------------------------------------------------------


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class RolePK(Key, template="ROLE#{role}"):
    role: Role


class EmailPK(Key, template="EMAIL#{email}"):
    """Added, SC-39: the lock of an email address, in either case."""

    email: Annotated[str, Normalize(str.casefold), Verbatim()]


class UsernamePK(Key, template="USERNAME#{username}"):
    """Added, SC-39: the lock of a username, in either case."""

    username: Annotated[str, Normalize(str.casefold)]


class SessionPK(Key, template="SESSION#{session_id}"):
    """Added, SC-28."""

    session_id: SessionId


class ProfileSK(SortKey, template="PROFILE"):
    pass


class PreferencesSK(SortKey, template="PREFERENCES"):
    pass


class PrivacySK(SortKey, template="PRIVACY"):
    pass


class MetadataSK(SortKey, template="METADATA"):
    pass


class UserCreatedSK(SortKey, template="USER#{created_at}"):
    created_at: datetime


class SessionCreatedSK(SortKey, template="SESSION#{created_at}"):
    """Added, SC-28."""

    created_at: datetime


# --- ingredients ------------------------------------------------------------------------------------------------


class IngredientPK(Key, template="INGREDIENT#{ingredient_id}"):
    ingredient_id: IngredientId


class CategoryPK(Key, template="CATEGORY#{category}"):
    category: str


class SearchPK(Key, template="INGREDIENT#SEARCH#{initial}"):
    """SC-13: one partition, or one for each beginning, which every term gives."""

    initial: Annotated[str, Normalize(normalize), InitialOf("normalized_name", letters=SEARCH_LETTERS)]


class IngredientNamePK(Key, template="INGREDIENT_NAME#{normalized_name}"):
    """Added, SC-16: the lock of an ingredient's name."""

    normalized_name: NormalName


class IngredientNameSK(SortKey, template="INGREDIENT#{normalized_name}"):
    normalized_name: NormalName


class NameSK(SortKey, template="NAME#{normalized_name}"):
    normalized_name: NormalName


class AliasSK(SortKey, template="ALIAS#{alias}"):
    """Added, SC-14."""

    alias: Annotated[str, Verbatim()]


class InvalidIngredientPK(Key, template="INVALID_INGREDIENT#{normalized_name}"):
    normalized_name: NormalName


class PendingReportsPK(Key, template="REPORTS#PENDING"):
    pass


class ReporterSK(SortKey, template="USER#{user_id}"):
    user_id: UserId


class ReportedSK(SortKey, template="REPORT#{created_at}"):
    """Added, SC-33."""

    created_at: datetime


class TotalSK(SortKey, template="TOTAL#{total_reports}#{created_at}"):
    total_reports: Annotated[int, Pad(10)]  # SC-34
    created_at: datetime


# --- recipes ----------------------------------------------------------------------------------------------------


class RecipePK(Key, template="RECIPE#{recipe_id}"):
    recipe_id: RecipeId


class MethodPK(Key, template="METHOD#{cooking_method}"):
    cooking_method: str


class CuisinePK(Key, template="CUISINE#{cuisine_type}"):
    cuisine_type: str


class MealTypePK(Key, template="MEALTYPE#{meal_type}"):
    meal_type: str


class ApprovedPK(Key, template="APPROVED#{shard}"):
    shard: Annotated[int, ShardOf(APPROVED_SHARDS, by="recipe_id")]


class UsesPK(Key, template="USES#{normalized_name}"):
    """Added: approved recipes by what goes into them, for suggestions."""

    normalized_name: NormalName


class TitleSearchPK(Key, template="RECIPE#SEARCH#{initial}"):
    """Added, SC-58."""

    initial: Annotated[str, Normalize(normalize), InitialOf("normalized_title", letters=SEARCH_LETTERS)]


class TrendingPK(Key, template="TRENDING#{period}"):
    period: Period


class RecipeCreatedSK(SortKey, template="RECIPE#{created_at}"):
    created_at: datetime


class RatedSK(SortKey, template="RECIPE#{rating_step:.1f}#{created_at}"):
    rating_step: RatingStep
    created_at: datetime


class RecipeIngredientSK(SortKey, template="INGREDIENT#{position:03}"):
    position: int


class CuisineFacetSK(SortKey, template="FACET#CUISINE"):
    """Added, SC-08."""


class MealTypeFacetSK(SortKey, template="FACET#MEALTYPE"):
    """Added, SC-08."""


class ApprovedFacetSK(SortKey, template="FACET#APPROVED"):
    """Added, SC-08."""


class UseSK(SortKey, template="USES#{normalized_name}"):
    """Added, with UsesPK."""

    normalized_name: NormalName


class TitleSK(SortKey, template="TITLE#{normalized_title}"):
    """Added, SC-58."""

    normalized_title: Annotated[str, Normalize(normalize)]


class TrendingSK(SortKey, template="TRENDING#{period}"):
    """Added, SC-20."""

    period: Period


class ScoreSK(SortKey, template="SCORE#{score}#{recipe_id}"):
    """Added, SC-20."""

    score: Annotated[int, Pad(10)]
    recipe_id: RecipeId


class RatingSK(SortKey, template="RATING#{user_id}"):
    user_id: UserId


class RatedAtSK(SortKey, template="RATING#{created_at}"):
    created_at: datetime


# --- cooking ----------------------------------------------------------------------------------------------------


class FavoritePK(Key, template="USER#{user_id}#FAVORITE"):
    user_id: UserId


class RecentPK(Key, template="RECENT#{month}#{shard}"):
    month: Annotated[str, BucketOf("cook_date", "month")]
    shard: Annotated[int, ShardOf(RECENT_SHARDS, by="history_id")]


class CookingSK(SortKey, template="COOKING#{created_at}#{history_id}"):
    """SC-24: when it was begun, which never changes."""

    created_at: datetime
    history_id: HistoryId


class CookedSK(SortKey, template="COOKING#{cook_date}"):
    cook_date: datetime


class CookDateSK(SortKey, template="{cook_date}"):
    cook_date: datetime


class SuggestionSK(SortKey, template="SUGGESTION#{created_at}#{suggestion_id}"):
    """SC-25: with the id, so that two of one moment are two."""

    created_at: datetime
    suggestion_id: SuggestionId


class SuggestionCachePK(Key, template="SUGGESTION_CACHE#{digest}"):
    """Added, SC-57."""

    digest: str


class ActivityPK(Key, template="ACTIVITY#{month}"):
    """Added, SC-59."""

    month: str


class TotalsSK(SortKey, template="TOTALS"):
    """Added, SC-59."""


# --- friends, posts, notifications ------------------------------------------------------------------------------


class FriendPK(Key, template="USER#{friend_id}"):
    friend_id: UserId


class ReadersPK(Key, template="USER#{user_id}#PULLS"):
    """Added, SC-22: friends with so many friends that their posts are looked up on read."""

    user_id: UserId


class PostPK(Key, template="POST#{post_id}"):
    post_id: PostId


class PublicFeedPK(Key, template="FEED#PUBLIC#{month}#{shard}"):
    month: Annotated[str, BucketOf("created_at", FEED_EVERY)]
    shard: Annotated[int, ShardOf(FEED_SHARDS, by="post_id")]


class FeedPK(Key, template="FEED#{user_id}"):
    user_id: UserId


class ThreadPK(Key, template="COMMENT#{parent_comment_id}"):
    """Added, SC-58: the answers to a comment."""

    parent_comment_id: CommentId


class UnreadPK(Key, template="USER#{user_id}#UNREAD"):
    user_id: UserId


class FriendSK(SortKey, template="FRIEND#{friend_id}"):
    friend_id: UserId


class RequesterSK(SortKey, template="FRIEND#{user_id}"):
    user_id: UserId


class PostedSK(SortKey, template="POST#{created_at}"):
    created_at: datetime


class FeedItemSK(SortKey, template="FEEDITEM#{created_at}#{post_id}"):
    """Added, SC-22."""

    created_at: datetime
    post_id: PostId


class CommentSK(SortKey, template="COMMENT#{created_at}#{comment_id}"):
    created_at: datetime
    comment_id: CommentId


class CommentedSK(SortKey, template="COMMENT#{created_at}"):
    created_at: datetime


class ReplySK(SortKey, template="REPLY#{created_at}#{comment_id}"):
    """Added, SC-58."""

    created_at: datetime
    comment_id: CommentId


class ReactionSK(SortKey, template="REACTION#{user_id}"):
    user_id: UserId


class ReactedSK(SortKey, template="REACTION#{created_at}"):
    created_at: datetime


class CommentReactionSK(SortKey, template="COMMENT_REACTION#{comment_id}#{user_id}"):
    """Added, SC-36."""

    comment_id: CommentId
    user_id: UserId


class CommentReactedSK(SortKey, template="COMMENT_REACTION#{created_at}"):
    """Added, SC-36."""

    created_at: datetime


class NotificationSK(SortKey, template="NOTIFICATION#{created_at}#{notification_id}"):
    created_at: datetime
    notification_id: NotificationId


class NotifiedSK(SortKey, template="NOTIFICATION#{created_at}"):
    created_at: datetime
