"""Smart Cooking: the data layer of an app that suggests recipes from what is at home.

    from singletable_systems.smart_cooking import PantrySource, SmartCooking, Suggestions, UserId

    with SmartCooking.open("cooking.db", environment="dev") as db:
        Suggestions(db, PantrySource()).suggest(UserId("mai"), ["thịt gà", "sả"])

model       the typed design: every key, attribute, index and access pattern of the documents; names
rules       pure decisions: fan-out, approval, notifications, activity, which recipes suit
services    what users do
reactions   what follows from changes, and `SmartCooking` itself: the design with its handlers; the archive
operating   the system as the command line runs it: made-up data, migrations, roles and alarms
errors      what is refused
"""

from __future__ import annotations

from singletable_systems.smart_cooking.errors import SmartCookingError
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    ApprovedFacet,
    Comment,
    CommentReaction,
    CookingHistory,
    CuisineFacet,
    FeedItem,
    Friendship,
    IngredientAlias,
    InvalidIngredient,
    InvalidIngredientReport,
    MasterIngredient,
    MealTypeFacet,
    MonthlyActivity,
    Notification,
    Post,
    PrivacySettings,
    Reaction,
    Recipe,
    RecipeIngredient,
    RecipeRating,
    RecipeUse,
    Session,
    Step,
    SuggestionCache,
    TrendingRecipe,
    UserIngredient,
    UserPreferences,
    UserProfile,
)
from singletable_systems.smart_cooking.model.keys import (
    CommentId,
    HistoryId,
    IngredientId,
    NotificationId,
    PostId,
    RecipeId,
    SessionId,
    SuggestionId,
    UserId,
)
from singletable_systems.smart_cooking.model.names import normalize
from singletable_systems.smart_cooking.model.patterns import NamesFound, RecipeView
from singletable_systems.smart_cooking.reactions.archive import Archive, FileArchive, S3Archive
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.drafts import IngredientLine, RecipeDraft, RecipeText
from singletable_systems.smart_cooking.services.accounts import (
    About,
    Accounts,
    PreferenceChanges,
    PrivacyChanges,
)
from singletable_systems.smart_cooking.services.catalogue import Catalogue, KnownIngredient, Resolved
from singletable_systems.smart_cooking.services.composition import Suggested
from singletable_systems.smart_cooking.services.cooking_history import Cooking
from singletable_systems.smart_cooking.services.feeds import Feeds
from singletable_systems.smart_cooking.services.friends import Friends
from singletable_systems.smart_cooking.services.notifications import Notifications
from singletable_systems.smart_cooking.services.pantry import Pantry
from singletable_systems.smart_cooking.services.posts import Posts, Reactions
from singletable_systems.smart_cooking.services.ratings import Ratings
from singletable_systems.smart_cooking.services.recipes import Recipes
from singletable_systems.smart_cooking.services.reports import Reports
from singletable_systems.smart_cooking.services.sessions import Sessions
from singletable_systems.smart_cooking.services.sources import (
    GeneratedRecipe,
    PantrySource,
    RecipeSource,
    SourceRequest,
)
from singletable_systems.smart_cooking.services.suggestions import Suggestions
from singletable_systems.smart_cooking.services.trending import Trending
from singletable_systems.smart_cooking.services.views import ProfileView, Viewing

__all__ = [
    "About",
    "Accounts",
    "AiSuggestion",
    "ApprovedFacet",
    "Archive",
    "Catalogue",
    "Comment",
    "CommentId",
    "CommentReaction",
    "Cooking",
    "CookingHistory",
    "CuisineFacet",
    "FeedItem",
    "Feeds",
    "FileArchive",
    "Friends",
    "Friendship",
    "GeneratedRecipe",
    "HistoryId",
    "IngredientAlias",
    "IngredientId",
    "IngredientLine",
    "InvalidIngredient",
    "InvalidIngredientReport",
    "KnownIngredient",
    "MasterIngredient",
    "MealTypeFacet",
    "MonthlyActivity",
    "NamesFound",
    "Notification",
    "NotificationId",
    "Notifications",
    "Pantry",
    "PantrySource",
    "Post",
    "PostId",
    "Posts",
    "PreferenceChanges",
    "PrivacyChanges",
    "PrivacySettings",
    "ProfileView",
    "Ratings",
    "Reaction",
    "Reactions",
    "Recipe",
    "RecipeDraft",
    "RecipeId",
    "RecipeIngredient",
    "RecipeRating",
    "RecipeSource",
    "RecipeText",
    "RecipeUse",
    "RecipeView",
    "Recipes",
    "Reports",
    "Resolved",
    "S3Archive",
    "Session",
    "SessionId",
    "Sessions",
    "SmartCooking",
    "SmartCookingError",
    "SourceRequest",
    "Step",
    "Suggested",
    "SuggestionCache",
    "SuggestionId",
    "Suggestions",
    "Trending",
    "TrendingRecipe",
    "UserId",
    "UserIngredient",
    "UserPreferences",
    "UserProfile",
    "Viewing",
    "normalize",
]
