"""The design of Smart Cooking: its entities, its access patterns, and how much there is of each."""

from __future__ import annotations

from datetime import UTC, datetime

from singletable import Composed, Design, Eq, Volume, pattern
from singletable_systems.shared.model import rates_of
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
    SuggestionCache,
    TrendingRecipe,
    UserIngredient,
    UserPreferences,
    UserProfile,
)
from singletable_systems.smart_cooking.model.keys import CookingTable, FeedPK, MetadataSK, PostPK, UserId
from singletable_systems.smart_cooking.model.loads import LOADS, USERS
from singletable_systems.smart_cooking.model.patterns import (
    CookingPatterns,
    IngredientPatterns,
    PeoplePatterns,
    RecipePatterns,
    SocialPatterns,
)
from singletable_systems.smart_cooking.model.patterns.feed import feed_page
from singletable_systems.smart_cooking.model.patterns.sights import Sights

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SmartCookingDesign(
    Sights, PeoplePatterns, IngredientPatterns, RecipePatterns, CookingPatterns, SocialPatterns, Design
):
    """Recipes from what is at home: ingredients, suggestions, ratings, cooking history, and friends who cook.

    `SmartCooking` adds the handlers.
    """

    table = CookingTable
    entities = (
        UserProfile,
        UserPreferences,
        PrivacySettings,
        Session,
        UserIngredient,
        MasterIngredient,
        IngredientAlias,
        InvalidIngredientReport,
        InvalidIngredient,
        Recipe,
        RecipeIngredient,
        RecipeRating,
        CuisineFacet,
        MealTypeFacet,
        ApprovedFacet,
        RecipeUse,
        TrendingRecipe,
        CookingHistory,
        AiSuggestion,
        SuggestionCache,
        MonthlyActivity,
        Friendship,
        Post,
        Comment,
        Reaction,
        CommentReaction,
        FeedItem,
        Notification,
    )
    casing = "snake"
    discriminator = "entity_type"
    volumes = {
        entity: Volume(
            count, kb, per="user", because="assumption: 002 gives no volumes but 200 MB in all (002:581)"
        )
        for entity, count, kb in (
            (UserProfile, 1, 0.5),
            (UserPreferences, 1, 0.4),
            (PrivacySettings, 1, 0.4),
            (UserIngredient, 20, 0.2),
            (Recipe, 6, 2),
            (RecipeIngredient, 50, 0.2),
            (RecipeRating, 5, 0.4),
            (CookingHistory, 10, 0.5),
            (AiSuggestion, 30, 1.5),
            (Friendship, 10, 0.3),
            (Post, 6, 0.5),
            (Comment, 15, 0.4),
            (Reaction, 30, 0.3),
            (FeedItem, 60, 0.2),
            (Notification, 30, 0.4),
        )
    } | {
        Session: Volume(
            0.52, 0.35, per="user", because="520 logins a day (002:532), kept for 24 hours (000:78)"
        ),
        MasterIngredient: Volume(500, 0.6, growth_per_month=30, because="assumption: a catalogue of 500"),
        IngredientAlias: Volume(1_500, 0.35, growth_per_month=50, because="002:157: three aliases of each"),
        InvalidIngredientReport: Volume(0.6, 0.45, per="user", because="assumption: 20 a day, for a month"),
        InvalidIngredient: Volume(0.3, 0.4, per="user", because="assumption: half of them are of a new name"),
        CuisineFacet: Volume(1.5, 0.5, per="user", because="assumption: one recipe in four is public"),
        MealTypeFacet: Volume(1.5, 0.5, per="user", because="assumption: one recipe in four is public"),
        ApprovedFacet: Volume(
            0.6, 0.5, per="user", hottest_share=1.0, because="assumption: one recipe in ten is approved"
        ),
        RecipeUse: Volume(4.8, 0.3, per="user", because="eight ingredients of each recipe that is approved"),
        TrendingRecipe: Volume(50, 0.3, hottest_share=1.0, because="a ranking of 50 recipes"),
        SuggestionCache: Volume(
            1.05, 2, per="user", because="150 generated a day (002:546), kept for a week"
        ),
        MonthlyActivity: Volume(12, 0.2, growth_per_month=1, because="one item a month, of a year"),
        CommentReaction: Volume(3, 0.6, per="user", because="assumption: one for ten reactions to posts"),
    }
    # SC-45, X-14: what the document counts in a day.
    for_users = USERS
    loads = LOADS
    rates = rates_of(LOADS, USERS)

    # --- the pattern that takes several of the others ----------------------------------------------

    @pattern("32 Personal feed, newest first", documented="GSI3PK=FEED#<user_id>", fixes="SC-22")
    def feed(self, user_id: UserId) -> Composed[Post]:
        """The posts of friends in the last 30 days, as the user may see them. `Feeds.personal` shows the same."""
        items = FeedItem.feed.query(FeedPK(user_id=user_id)).newest_first()
        posts = items.follow(Post.key, lambda item: (PostPK(post_id=item.post_id), MetadataSK()))
        return Composed(
            Post,
            lambda limit, cursor: feed_page(self, user_id, self.now(), limit, cursor),
            reads=(
                posts.where(Eq("is_public", True)).consistent(),
                self.pulled_friends(user_id),
                self.public_posts_between(user_id, _EPOCH, _EPOCH),
                self.users([user_id]).consistent(),
                self.privacy_of([user_id]),
                self.friendships_between([(user_id, user_id)]),
            ),
        )
