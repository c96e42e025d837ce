"""Users: profiles, preferences, privacy and sessions."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from singletable import (
    CountOf,
    CreatedAt,
    Entity,
    Eq,
    Keys,
    Ne,
    Ttl,
    Unique,
    UpdatedAt,
    Version,
    auto,
    expires,
)
from singletable_systems.smart_cooking.model.entities.sizes import Name, Names, Url
from singletable_systems.smart_cooking.model.keys import (
    CookingTable,
    EmailPK,
    MetadataSK,
    PreferencesSK,
    PrivacySK,
    ProfileSK,
    Role,
    RolePK,
    SessionCreatedSK,
    SessionId,
    SessionPK,
    UserCreatedSK,
    UserId,
    UsernamePK,
    UserPK,
)

Visibility = Literal["public", "friends", "private"]
Gender = Literal["male", "female", "other"]
SpiceLevel = Literal["none", "mild", "medium", "hot"]
Spread = Literal["writing", "reading"]


class UserProfile(
    Entity,
    name="USER_PROFILE",
    owner="user_id",
    owns=(
        "UserPreferences",
        "PrivacySettings",
        "Session",
        "UserIngredient",
        "CookingHistory",
        "AiSuggestion",
        "RecipeRating",
        "Recipe",
        "FeedItem",
        "Reaction",
        "CommentReaction",
        "Comment",
        "Post",
        "Notification",
        "InvalidIngredientReport",
    ),
):
    """Somebody who cooks. The index of roles is sparse: users without a special role are not in it (SC-03)."""

    key = Keys(UserPK, ProfileSK)
    by_role = CookingTable.gsi1.keys(RolePK, UserCreatedSK, when=Ne("role", "user"))
    unique_email = Unique(EmailPK)  # added: SC-39
    unique_username = Unique(UsernamePK)  # added: SC-39

    user_id: UserId
    email: Name
    username: Name
    full_name: Name
    date_of_birth: date | None = None
    gender: Gender | None = None
    country: Name | None = None
    avatar_url: Url | None = None
    role: Role = "user"
    is_active: bool = True
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    last_login: datetime | None = None

    # Added, SC-22: posts of an account with very many friends are not written into their feeds, but looked up
    # when a feed is read (fan-out on read).
    friends_count: Annotated[int, CountOf("Friendship", when=Eq("status", "accepted"))] = 0
    feeds_by: Spread = "writing"
    version: Version = 0  # added: X-04


class UserPreferences(Entity, name="USER_PREFERENCES", owner="user_id"):
    """What somebody likes to eat, and must not."""

    key = Keys(UserPK, PreferencesSK)

    user_id: UserId
    dietary_restrictions: Names = []
    allergies: Names = []
    favorite_cuisines: Names = []
    preferred_cooking_methods: Names = []
    preferred_recipe_count: int = 3
    spice_level: SpiceLevel = "medium"
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0  # added: X-04


class PrivacySettings(Entity, name="PRIVACY_SETTINGS", owner="user_id"):
    """Who sees which part of a user. The defaults are those of the document (002:112-119)."""

    key = Keys(UserPK, PrivacySK)

    user_id: UserId
    profile_visibility: Visibility = "public"
    email_visibility: Visibility = "private"
    date_of_birth_visibility: Visibility = "friends"
    gender_visibility: Visibility = "public"
    country_visibility: Visibility = "public"
    recipes_visibility: Visibility = "public"
    ingredients_visibility: Visibility = "friends"
    preferences_visibility: Visibility = "friends"
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0  # added: X-04


class Session(Entity, name="SESSION"):
    """Added, SC-28: somebody is signed in, for a day."""

    key = Keys(SessionPK, MetadataSK)
    by_user = CookingTable.gsi1.keys(UserPK, SessionCreatedSK)

    session_id: SessionId
    user_id: UserId
    device: Name | None = None
    created_at: CreatedAt = auto()
    ttl: Ttl = expires(hours=24, after="created_at")
