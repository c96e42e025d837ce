"""The entities of Smart Cooking, with every attribute of the documents. What was added names the defect repaired.

people.py        profiles, preferences, privacy, sessions
ingredients.py   the catalogue and its aliases, what users have at home, names that nobody knows
recipes.py       recipes, their ingredients and ratings, the lists that they are in
cooking.py       cooking history, suggestions, activity by month
social.py        friends, posts, comments, reactions, feeds, notifications
sizes.py         how large a field may grow
"""

from __future__ import annotations

from singletable_systems.smart_cooking.model.entities.cooking import (
    AiSuggestion,
    CookingHistory,
    CookingStatus,
    MonthlyActivity,
    SuggestionCache,
)
from singletable_systems.smart_cooking.model.entities.ingredients import (
    IngredientAlias,
    InvalidIngredient,
    InvalidIngredientReport,
    MasterIngredient,
    ReportStatus,
    UserIngredient,
)
from singletable_systems.smart_cooking.model.entities.people import (
    Gender,
    PrivacySettings,
    Session,
    SpiceLevel,
    Spread,
    UserPreferences,
    UserProfile,
    Visibility,
)
from singletable_systems.smart_cooking.model.entities.recipes import (
    ApprovedFacet,
    CuisineFacet,
    MealTypeFacet,
    Recipe,
    RecipeCard,
    RecipeIngredient,
    RecipeRating,
    RecipeUse,
    Step,
    TrendingRecipe,
)
from singletable_systems.smart_cooking.model.entities.social import (
    Comment,
    CommentReaction,
    FeedItem,
    Friendship,
    FriendshipStatus,
    Notification,
    NotificationType,
    Post,
    Reaction,
    ReactionType,
    TargetType,
)

__all__ = [
    "AiSuggestion",
    "ApprovedFacet",
    "Comment",
    "CommentReaction",
    "CookingHistory",
    "CookingStatus",
    "CuisineFacet",
    "FeedItem",
    "Friendship",
    "FriendshipStatus",
    "Gender",
    "IngredientAlias",
    "InvalidIngredient",
    "InvalidIngredientReport",
    "MasterIngredient",
    "MealTypeFacet",
    "MonthlyActivity",
    "Notification",
    "NotificationType",
    "Post",
    "PrivacySettings",
    "Reaction",
    "ReactionType",
    "Recipe",
    "RecipeCard",
    "RecipeIngredient",
    "RecipeRating",
    "RecipeUse",
    "ReportStatus",
    "Session",
    "SpiceLevel",
    "Spread",
    "Step",
    "SuggestionCache",
    "TargetType",
    "TrendingRecipe",
    "UserIngredient",
    "UserPreferences",
    "UserProfile",
    "Visibility",
]
