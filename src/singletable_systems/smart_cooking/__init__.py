"""Smart Cooking: the data layer of an app that suggests recipes from what is at home.

    from singletable_systems.smart_cooking import PantrySource, SmartCooking, Suggestions, UserId

    with SmartCooking.open("cooking.db", environment="dev") as db:
        Suggestions(db, PantrySource()).suggest(UserId("mai"), ["thịt gà", "sả"])

keys, entities, patterns, design    the typed design: every key, attribute, index and pattern of the documents
normalizing, naming, spreading      the normal form of names, what may be one, how widely keys are spread
accounts, recipes, posting, ...     what users do, as small services over it; errors, what they refuse
suggesting, composing, sources      recipes for what is at home: chosen, remembered, or made up by a source
notifying, fanning_out, activity    what follows from changes; approving, archiving and trending as well
operations                          who may do what, what is watched, what is backed up
adopting                            what a migration calls for a table as the documents have it
seeding, system                     made-up data; the system as the command line runs it
"""

from __future__ import annotations

from singletable_systems.smart_cooking.accounts import About, Accounts, PreferenceChanges, PrivacyChanges
from singletable_systems.smart_cooking.archiving import Archive, FileArchive, S3Archive
from singletable_systems.smart_cooking.catalogue import Catalogue, KnownIngredient, Resolved
from singletable_systems.smart_cooking.composing import Suggested
from singletable_systems.smart_cooking.cooking import Cooking
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.drafts import IngredientLine, RecipeDraft, RecipeText
from singletable_systems.smart_cooking.entities import (
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
from singletable_systems.smart_cooking.errors import SmartCookingError
from singletable_systems.smart_cooking.feeds import Feeds
from singletable_systems.smart_cooking.friends import Friends
from singletable_systems.smart_cooking.keys import (
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
from singletable_systems.smart_cooking.normalizing import normalize
from singletable_systems.smart_cooking.notifications import Notifications
from singletable_systems.smart_cooking.pantry import Pantry
from singletable_systems.smart_cooking.patterns import NamesFound, RecipeView
from singletable_systems.smart_cooking.posting import Posts
from singletable_systems.smart_cooking.rating import Ratings
from singletable_systems.smart_cooking.reacting import Reactions
from singletable_systems.smart_cooking.recipes import Recipes
from singletable_systems.smart_cooking.reporting import Reports
from singletable_systems.smart_cooking.sessions import Sessions
from singletable_systems.smart_cooking.sources import (
    GeneratedRecipe,
    PantrySource,
    RecipeSource,
    SourceRequest,
)
from singletable_systems.smart_cooking.suggesting import Suggestions
from singletable_systems.smart_cooking.trending import Trending
from singletable_systems.smart_cooking.viewing import ProfileView, Viewing

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
