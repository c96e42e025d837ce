"""A full example of each entity of Smart Cooking, with the values of the design documents where they have some."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    AiSuggestion,
    Comment,
    CommentReaction,
    CookingHistory,
    FeedItem,
    Friendship,
    InvalidIngredient,
    InvalidIngredientReport,
    MasterIngredient,
    MonthlyActivity,
    Notification,
    Post,
    PrivacySettings,
    Reaction,
    Recipe,
    RecipeIngredient,
    RecipeRating,
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
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking


def at(text: str) -> datetime:
    """Return a moment of January 2025, which is when everything in the documents happens."""
    return datetime.strptime(f"2025-01-{text}", "%Y-%m-%d %H:%M").replace(tzinfo=UTC)


STORED_AT = at("25 08:00")  # what the clock says when they are stored
USER_ID, FRIEND_ID = UserId("uuid-123"), UserId("uuid-456")
RECIPE_ID, POST_ID, COMMENT_ID = RecipeId("uuid-101"), PostId("uuid-606"), CommentId("uuid-707")

USER = UserProfile(
    user_id=USER_ID,
    email="user@example.com",
    username="cookmaster",
    full_name="John Doe",
    date_of_birth=date(1990, 1, 15),
    gender="male",
    country="Vietnam",
    avatar_url="https://s3.../avatar.jpg",
    role="user",
    is_active=True,
    created_at=at("15 10:00"),
    updated_at=at("15 10:00"),
    last_login=at("20 15:30"),
    friends_count=1,
    version=1,
)
ADMIN = USER.model_copy(
    update={"user_id": UserId("uuid-1"), "email": "Admin@Example.com", "username": "Admin", "role": "admin"}
)
PREFERENCES = UserPreferences(
    user_id=USER_ID,
    dietary_restrictions=["vegetarian"],
    allergies=["shrimp", "crab"],
    favorite_cuisines=["Vietnamese", "Italian"],
    preferred_cooking_methods=["stir-fry", "steam", "soup"],
    preferred_recipe_count=3,
    spice_level="medium",
    created_at=at("15 10:00"),
    updated_at=at("20 11:00"),
    version=1,
)
PRIVACY = PrivacySettings(user_id=USER_ID, created_at=at("15 10:00"), updated_at=at("15 10:00"), version=1)
USER_INGREDIENT = UserIngredient(
    user_id=USER_ID,
    ingredient_id=IngredientId("uuid-456"),
    ingredient_name="Thịt gà",
    added_at=at("20 09:00"),
)
INGREDIENT = MasterIngredient(
    ingredient_id=IngredientId("uuid-789"),
    name="Thịt gà",
    category="meat",
    aliases=["gà", "chicken", "thịt gà ta"],
    is_active=True,
    created_at=at("01 00:00"),
    updated_at=at("01 00:00"),
    version=1,
)
RECIPE = Recipe(
    recipe_id=RECIPE_ID,
    user_id=USER_ID,
    title="Gà xào sả ớt",
    description="Món gà xào thơm ngon...",
    cuisine_type="Vietnamese",
    cooking_method="stir-fry",
    meal_type="main",
    prep_time_minutes=15,
    cook_time_minutes=20,
    servings=2,
    calories_per_serving=350,
    instructions=[Step(step_number=1, description="Ướp gà với sả ớt", duration="10 phút")],
    is_public=True,
    is_ai_generated=True,
    is_approved=True,
    approval_type="auto_rating",
    average_rating=Decimal("4.5"),
    rating_count=12,
    ai_cache_hit_count=0,
    created_at=at("20 10:00"),
    updated_at=at("22 14:00"),
    approved_at=at("22 14:00"),
    rating_step=Decimal("4.5"),
    ingredient_names=["thit ga"],
    version=1,
)
# With the sum and the count that belong to its average: of twelve ratings, of which half are 4.
RATED_RECIPE = SmartCooking.counted(
    RECIPE,
    [
        RecipeRating(rating_id="", recipe_id=RECIPE_ID, user_id=UserId(f"{number}"), rating=4 + number % 2)
        for number in range(12)
    ],
)
RECIPE_INGREDIENT = RecipeIngredient.model_validate(
    {
        "recipe_id": RECIPE_ID,
        "position": 1,
        "ingredient_name": "Thịt gà",
        "quantity": "300g",
        "unit": "gram",
        "is_optional": False,
    }
)
HISTORY = CookingHistory(
    history_id=HistoryId("uuid-202"),
    user_id=USER_ID,
    recipe_id=RECIPE_ID,
    suggestion_id=SuggestionId("uuid-303"),
    status="completed",
    personal_rating=5,
    personal_notes="Rất ngon, sẽ nấu lại!",
    is_favorite=True,
    cook_date=at("20 18:00"),
    created_at=at("20 15:30"),
    updated_at=at("20 18:05"),
    visibility="public",
    version=1,
)
RATING = RecipeRating(
    rating_id="uuid-404",
    recipe_id=RECIPE_ID,
    user_id=USER_ID,
    history_id=HistoryId("uuid-202"),
    rating=5,
    comment="Món này rất ngon!",
    is_verified_cook=True,
    created_at=at("20 18:05"),
    updated_at=at("20 18:05"),
)
SUGGESTION = AiSuggestion(
    suggestion_id=SuggestionId("uuid-303"),
    user_id=USER_ID,
    recipe_ids=[RecipeId("uuid-101"), RecipeId("uuid-102"), RecipeId("uuid-103")],
    cache_ids=[],
    prompt_text="Gợi ý món với gà, cà chua, hành",
    ingredients_used=["thịt gà", "cà chua", "hành tây"],
    requested_recipe_count=3,
    recipes_from_db=2,
    recipes_from_ai=1,
    invalid_ingredients=[],
    ai_response={"recipes": 1},
    was_from_cache=False,
    was_accepted=True,
    feedback_rating=5,
    feedback_comment="Gợi ý rất hay!",
    created_at=at("20 10:00"),
)
FRIENDSHIP = Friendship(
    friendship_id="uuid-505",
    user_id=USER_ID,
    friend_id=FRIEND_ID,
    status="accepted",
    requested_at=at("18 10:00"),
    responded_at=at("18 14:00"),
    direction="sent",
    friend_feeds_by="reading",
)
POST = Post(
    post_id=POST_ID,
    user_id=USER_ID,
    user_name="John Doe",
    user_avatar="https://...",
    recipe_id=RECIPE_ID,
    content="Vừa nấu món này, rất ngon!",
    images=["https://s3.../post1.jpg"],
    is_public=True,
    likes_count=15,
    comments_count=3,
    created_at=at("20 20:00"),
    updated_at=at("20 20:00"),
    version=1,
)
COMMENT = Comment(
    comment_id=COMMENT_ID,
    post_id=POST_ID,
    user_id=FRIEND_ID,
    content="Trông rất ngon!",
    created_at=at("20 21:00"),
    updated_at=at("20 21:00"),
    likes_count=1,
)
REPLY = COMMENT.model_copy(
    update={
        "comment_id": CommentId("uuid-708"),
        "parent_comment_id": COMMENT_ID,
        "parent_user_id": FRIEND_ID,
        "likes_count": 0,
    }
)
REACTION = Reaction(
    reaction_id="uuid-808",
    user_id=FRIEND_ID,
    post_id=POST_ID,
    reaction_type="like",
    created_at=at("20 21:30"),
)
NOTIFICATION = Notification(
    notification_id=NotificationId("uuid-909"),
    user_id=USER_ID,
    actor_id=FRIEND_ID,
    type="comment",
    target_type="post",
    target_id="uuid-606",
    content="John commented on your post",
    is_read=False,
    created_at=at("20 21:00"),
)
REPORT = InvalidIngredientReport(
    report_id="uuid-1010",
    ingredient_name="abc xyz",
    user_id=USER_ID,
    user_report_count=1,
    created_at=at("20 10:00"),
    updated_at=at("20 10:00"),
)
# --- added ------------------------------------------------------------------------------------------------
INVALID_INGREDIENT = InvalidIngredient(
    ingredient_name="abc xyz",
    total_reports=5,
    status="pending",
    admin_notes="",
    created_at=at("20 10:00"),
    updated_at=at("20 10:00"),
    version=1,
)
SESSION = Session(
    session_id=SessionId("uuid-28"), user_id=USER_ID, device="Pixel 9", created_at=at("20 15:30")
)
TRENDING = TrendingRecipe(recipe_id=RECIPE_ID, score=42, counted_at=at("20 10:00"))
CACHE = SuggestionCache(
    digest="d1",
    ingredients=["ca chua", "thit ga"],
    recipe_ids=[RECIPE_ID],
    hit_count=2,
    created_at=at("20 10:00"),
)
ACTIVITY = MonthlyActivity(
    month="2025-01", cookings=1, ratings=2, recipes=3, posts=4, comments=5, reactions=6
)
COMMENT_REACTION = CommentReaction(
    reaction_id="uuid-36",
    user_id=USER_ID,
    post_id=POST_ID,
    comment_id=COMMENT_ID,
    commented_at=at("20 21:00"),
    comment_user_id=FRIEND_ID,
    reaction_type="love",
    created_at=at("20 21:30"),
)
FEED_ITEM = FeedItem(user_id=FRIEND_ID, post_id=POST_ID, author_id=USER_ID, created_at=at("20 20:00"))

# The example that has the values of the document, by the name of its entity there.
SAMPLES: dict[str, Entity] = {
    "USER_PROFILE": USER,
    "USER_PREFERENCES": PREFERENCES,
    "PRIVACY_SETTINGS": PRIVACY,
    "USER_INGREDIENT": USER_INGREDIENT,
    "MASTER_INGREDIENT": INGREDIENT,
    "RECIPE": RECIPE,
    "RECIPE_INGREDIENT": RECIPE_INGREDIENT,
    "COOKING_HISTORY": HISTORY,
    "RECIPE_RATING": RATING,
    "AI_SUGGESTION": SUGGESTION,
    "FRIENDSHIP": FRIENDSHIP,
    "POST": POST,
    "COMMENT": COMMENT,
    "REACTION": REACTION,
    "NOTIFICATION": NOTIFICATION,
    "INVALID_INGREDIENT_REPORT": REPORT,
}
EXAMPLES: tuple[Entity, ...] = (
    USER,
    ADMIN,
    PREFERENCES,
    PRIVACY,
    USER_INGREDIENT,
    INGREDIENT,
    RATED_RECIPE,
    RECIPE_INGREDIENT,
    HISTORY,
    RATING,
    SUGGESTION,
    FRIENDSHIP,
    POST,
    COMMENT,
    REPLY,
    REACTION,
    NOTIFICATION,
    REPORT,
    INVALID_INGREDIENT,
    SESSION,
    TRENDING,
    CACHE,
    ACTIVITY,
    COMMENT_REACTION,
    FEED_ITEM,
)
