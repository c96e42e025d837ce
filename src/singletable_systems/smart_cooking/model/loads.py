"""How often Smart Cooking is asked and written: the daily operations of 1,000 users (002:527-560).

A load that begins with a line of the document is what this line says. The others are assumed, or follow: the
document does not count checks of sessions, of what somebody may see, and what handlers read and write.
"""

from __future__ import annotations

from typing import Final

from singletable import Writes
from singletable_systems.shared.model import Estimate, Loads, worker
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

USERS: Final = 1_000
RANKINGS_A_MONTH: Final = 30 * 86_400 // 600
_OF: Final = Estimate(USERS)

_LOGIN: Final = "002:532 Login: 500 reads/day"
_PROFILE: Final = "002:533 Profile updates: 100 writes/day"
_LIST: Final = "002:536 List ingredients: 1,000 reads/day"
_PANTRY: Final = "002:537 Add/remove: 200 writes/day"
_QUERIES: Final = "002:541 AI suggestions, DB queries: 4,000 reads/day"
_SAVED: Final = "002:542 Save suggestions: 1,000 writes/day"
_DETAILS: Final = "002:545 View details: 3,000 reads/day"
_CREATED: Final = "002:546 Create (AI): 200 writes/day"
_COOKED: Final = "002:549 Start/complete: 300 writes/day"
_HISTORY: Final = "002:550 View history: 500 reads/day"
_RATED: Final = "002:553 Submit rating: 150 writes/day"
_RATINGS: Final = "002:554 Query ratings: 300 reads/day"
_POSTS: Final = "002:557 Posts: 200 writes/day"
_COMMENTS: Final = "002:558 Comments: 500 writes/day"
_REACTIONS: Final = "002:559 Reactions: 1,000 writes/day"
_FEEDS: Final = "002:560 Feed reads: 2,000 reads/day"

_SEEN: Final = "follows from 002:541-560: what is shown is looked up as its owners allow"
_CHECKED: Final = "follows from 002:533-559: what is written is looked at before, or by a handler behind it"
_BROWSED: Final = "assumption: one in ten of those who view a recipe (002:545) has looked through a list"
_SOCIAL: Final = "assumption: one in four of those who read a feed (002:560) looks at more"
_PEOPLE: Final = "assumption: one login in five (002:532) leads to a profile or its settings"
_ADMIN: Final = "assumption: an admin looks after the catalogue, the reports and the recipes once a day"
_FOLLOWS: Final = "follows from a recipe that is made public, approved or rated"
_RANKED: Final = "follows from the ranking, which is counted every ten minutes"
_PAGE: Final = "a page of 50"
_RANKING: Final = "the ranking has 50 recipes"
_OWNERS: Final = "2,000 are feeds with the posts of ten people, the others show what one has"
_LEAVES: Final = "assumption: 1 % of the users leave in a month, with all that is theirs"
_NEW: Final = "assumption: 5 % of the users are new in a month"

_STEPS: Final = {"rating_step": 0.7}  # the others are edits of a title, or of what else is shown

_PATTERNS: Final[Loads] = {
    # --- people
    **_OF.each_daily(_LOGIN, user_by_email=500),
    **_OF.each_daily("follows from 002:563-564: each of 15,250 requests checks a session", sign_in=15_250),
    **_OF.each_daily(_CHECKED, user=2_500, preferences=1_050, privacy=10),
    **_OF.each_daily(
        _SEEN,
        users=(6_700, 3.7, _OWNERS),
        privacy_of=(6_700, 3.7, _OWNERS),
        friendships_between=(6_700, 3.7, _OWNERS),
    ),
    **_OF.each_daily(_PEOPLE, user_by_username=20, sign_ins=(10, 1, "a session of a day")),
    **_OF.each_daily(_ADMIN, admins=(2, 5, "there are five"), reporters=(2, 2, "two of each name")),
    **_OF.each_daily(_ADMIN, invalid_ingredient=30, report=30, reports_of=(1, 1, "few report twice")),
    "pending_reports": _OF.daily(2, f"{_ADMIN}; {_PAGE}", hottest=1.0, items=50),
    # --- ingredients
    **_OF.each_daily(_LIST, user_ingredients=1_000),
    **_OF.each_daily(_CHECKED, user_ingredient=200),
    **_OF.each_daily(
        "follows from 002:540: 1,000 requests name three ingredients each", ingredients_named=3_000
    ),
    **_OF.each_daily("follows from 002:540: of allergies, one in four requests has one", ingredient=250),
    "search_ingredients": _OF.daily(
        400,
        "follows from 002:537: each that is added is searched for; after some letters ten names are left",
        hottest=1.0,
        items=10,
    ),
    **_OF.each_daily(_ADMIN, ingredients_by_category=(20, 50, _PAGE), ingredient_by_name=5),
    # --- suggestions: of each request, two lists of recipes, the recipes, and what was generated before
    **_OF.each_daily(
        _QUERIES,
        recipes_using=(2_000, 10, "4,800 uses of 500 ingredients"),
        recipes=(1_000, 10, "those that have two of the ingredients"),
        suggestion_cache=1_000,
    ),
    **_OF.each_daily(
        "assumption: one suggestion in ten is looked at again", suggestions=(70, 30, "all"), suggestion_at=30
    ),
    **_OF.each_daily("assumption: one suggestion in seven is accepted or rated", suggestion=150),
    # --- recipes
    **_OF.each_daily(_DETAILS, recipe_view=3_000),
    **_OF.each_daily(_CHECKED, recipe=900, recipe_ingredients=10),
    **_OF.each_daily(_BROWSED, recipes_of=60, recipes_by_method=(40, 50, _PAGE)),
    **_OF.each_daily(_BROWSED, recipes_by_cuisine=(60, 50, _PAGE), recipes_by_meal_type=(40, 50, _PAGE)),
    "approved_recipes": _OF.daily(50, f"{_BROWSED}; {_PAGE}", hottest=1.0, items=50),
    "search_recipes": _OF.daily(
        50, f"{_BROWSED}; after some letters ten titles are left", hottest=1.0, items=10
    ),
    "trending": _OF.daily(100, f"{_BROWSED}; {_RANKING}", hottest=1.0, items=50),
    "ranking": worker(RANKINGS_A_MONTH, f"{_RANKED}; {_RANKING}", hottest=1.0, items=50),
    **_OF.each_daily(_RATINGS, ratings=100, ratings_of=50, rating=150),
    # --- cooking
    **_OF.each_daily(_HISTORY, history=400, favorites=(100, 2, "of ten that were cooked, two are favorites")),
    **_OF.each_daily(_CHECKED, cooking=200),
    "recent_activities": worker(
        RANKINGS_A_MONTH, f"{_RANKED}; 120 are completed a day, for seven days", hottest=1.0, items=840
    ),
    "activity": worker(30, "assumption: somebody looks at the figures of a month once a day"),
    # --- friends and posts
    **_OF.each_daily(_FEEDS, feed_items=(1_200, 50, _PAGE)),
    "public_feed": _OF.daily(800, f"{_FEEDS}; {_PAGE}", hottest=1.0, items=50),
    **_OF.each_daily(
        "follows from 002:560, of 1,200 personal feeds",
        pulled_friends=(1_200, 0.1, "one friend in a hundred posts to very many"),
        posts=(1_200, 50, _PAGE),
    ),
    **_OF.each_daily(
        "assumption: one friend in ten posts to very many",
        public_posts_between=(120, 6, "all that one friend has posted (volumes)"),
    ),
    **_OF.each_daily("assumption: `Feeds.personal` reads the same; by itself, seldom", feed=(10, 50, _PAGE)),
    **_OF.each_daily("assumption: a friendship ends", feed_items_by=5),
    **_OF.each_daily(_CHECKED, post=4_000, comment=700, reaction=1_000, comment_reaction=100, friendship=60),
    **_OF.each_daily(
        "follows from 002:557: friends of those who post are told",
        friends=220,
        posts_before=(20, 6, "all that somebody has posted (volumes)"),
    ),
    **_OF.each_daily(_SOCIAL, comments=400, replies=(50, 1, "one comment in ten is an answer"), reactions=50),
    **_OF.each_daily(_SOCIAL, comment_reactions=(10, 1, "few comments have any"), posts_of=100),
    **_OF.each_daily(_SOCIAL, friendships=30, friended_by=20),
    **_OF.each_daily(_PEOPLE, comments_of=5, reactions_of=5, comment_reactions_of=5),
    **_OF.each_daily(
        "assumption: each login (002:532) looks for news",
        notifications=300,
        unread=(500, 9, "of 30, three in ten are unread"),
    ),
    **_OF.each_daily(
        "follows from 002:557-559: each piece of news is looked at before it is told", notification=2_500
    ),
}

_WRITES: Final[Loads] = {
    UserProfile: Writes(
        create=_OF.per_user(0.05, _NEW),
        update=_OF.daily(
            600,
            f"{_PROFILE}, and the 500 of 002:532: a login is a write too (SC-46)",
            changes={
                "last_login": 0.83,
                "full_name": 0.05,
                "avatar_url": 0.03,
                "email": 0.01,
                "username": 0.01,
                "role": 0.0001,
            },
        ),
        delete=_OF.per_user(0.01, _LEAVES),
    ),
    UserPreferences: Writes(
        create=_OF.per_user(0.05, _NEW), update=_OF.daily(20, _PEOPLE), delete=_OF.per_user(0.01, _LEAVES)
    ),
    PrivacySettings: Writes(
        create=_OF.per_user(0.05, _NEW), update=_OF.daily(5, _PEOPLE), delete=_OF.per_user(0.01, _LEAVES)
    ),
    Session: Writes(
        create=_OF.daily(
            520, "follows from 002:532: each login opens a session (SC-28), and some are opened without"
        ),
        expire=_OF.daily(520, "000:78 Temporary Sessions: 24 hours retention"),
    ),
    UserIngredient: Writes(create=_OF.daily(100, _PANTRY), delete=_OF.daily(100, _PANTRY)),
    MasterIngredient: Writes(
        create=worker(30, _ADMIN),
        update=worker(
            30,
            f"{_ADMIN}; most add an alias",
            changes={"aliases": 0.8, "normalized_name": 0.13, "is_active": 0.07, "category": 0},
        ),
    ),
    IngredientAlias: Writes(create=worker(60, _ADMIN), delete=worker(10, _ADMIN)),
    InvalidIngredientReport: Writes(
        create=_OF.daily(20, "assumption: one request in fifty (002:540) names what is no ingredient"),
        update=_OF.daily(10, "assumption: one request in a hundred names it again"),
        delete=_OF.per_user(0.01, _LEAVES),
    ),
    InvalidIngredient: Writes(
        create=_OF.daily(10, "assumption: half of the reports are of a new name"),
        update=_OF.daily(
            30,
            "follows from reports, which are counted in it, and their answers",
            changes={"total_reports": 0.75, "status": 0.23},
        ),
    ),
    Recipe: Writes(
        create=_OF.daily(200, _CREATED),
        update=_OF.daily(
            450,
            "follows from 002:542-553: ratings and cache hits are counted in it, and edits; half of the ratings "
            "move it to another step",
            changes={
                "average_rating": 0.37,
                "rating_count": 0.37,
                "rating_step": 0.18,
                "ai_cache_hit_count": 0.45,
                "is_public": 0.12,
                "is_approved": 0.05,
                "normalized_title": 0.02,
                "cooking_method": 0.01,
            },
        ),
        delete=_OF.daily(5, "assumption: few recipes are deleted"),
    ),
    RecipeIngredient: Writes(
        create=_OF.daily(1_600, "follows from 002:546: eight ingredients of a recipe"),
        update=_OF.daily(20, "assumption: few lists are edited"),
        delete=_OF.daily(40, "assumption: few recipes are deleted"),
    ),
    RecipeRating: Writes(
        create=_OF.daily(150, _RATED),
        update=_OF.daily(15, "assumption: one rating in ten is changed, beside 002:553"),
        delete=_OF.daily(2, "assumption: few ratings are taken back"),
    ),
    CuisineFacet: Writes(
        create=_OF.daily(50, _FOLLOWS),
        update=_OF.daily(60, _FOLLOWS, changes=_STEPS),
        delete=_OF.daily(5, _FOLLOWS),
    ),
    MealTypeFacet: Writes(
        create=_OF.daily(50, _FOLLOWS),
        update=_OF.daily(60, _FOLLOWS, changes=_STEPS),
        delete=_OF.daily(5, _FOLLOWS),
    ),
    ApprovedFacet: Writes(
        create=_OF.daily(20, _FOLLOWS, hottest=1.0),
        update=_OF.daily(60, _FOLLOWS, hottest=1.0, changes=_STEPS),
        delete=_OF.daily(2, _FOLLOWS, hottest=1.0),
    ),
    RecipeUse: Writes(
        create=_OF.daily(160, _FOLLOWS),
        update=_OF.daily(480, _FOLLOWS, changes=_STEPS),
        delete=_OF.daily(16, _FOLLOWS),
    ),
    TrendingRecipe: Writes(
        create=worker(600, f"{_RANKED}: 20 recipes a day are new in it", hottest=1.0),
        update=worker(
            50 * RANKINGS_A_MONTH,
            f"{_RANKED}: 50 recipes have another score, at most",
            hottest=1.0,
            changes={"score": 1},
        ),
        delete=worker(600, f"{_RANKED}: 20 recipes a day leave it", hottest=1.0),
    ),
    CookingHistory: Writes(
        create=_OF.daily(150, _COOKED),
        update=_OF.daily(
            150,
            f"{_COOKED}; most complete it, some mark a favorite",
            changes={"status": 0.87, "cook_date": 0.8, "is_favorite": 0.13, "visibility": 0},
        ),
        delete=_OF.per_user(0.01, _LEAVES),
    ),
    AiSuggestion: Writes(
        create=_OF.daily(1_000, _SAVED),
        update=_OF.daily(150, "assumption: one suggestion in seven is accepted or rated"),
        expire=_OF.daily(1_000, "000:77 AI Suggestions: 90 days retention"),
    ),
    SuggestionCache: Writes(
        create=_OF.daily(150, "follows from 002:546: what is generated is kept for a week (SC-57)"),
        update=_OF.daily(300, "assumption: three requests in ten find what was generated before"),
        expire=_OF.daily(150, "follows from its time to live of a week"),
    ),
    MonthlyActivity: Writes(
        create=worker(1, "one item a month"),
        update=_OF.daily(2_350, "follows from 002:546-559: each is counted once", hottest=1.0),
    ),
    Friendship: Writes(
        create=_OF.daily(40, "assumption: 20 friendships a day, two rows of each"),
        update=_OF.daily(
            30,
            "assumption: three in four are answered",
            changes={"status": 1, "direction": 0, "friend_feeds_by": 0.01},
        ),
        delete=_OF.daily(2, "assumption: one friendship a day ends"),
    ),
    Post: Writes(
        create=_OF.daily(200, _POSTS),
        update=_OF.daily(
            1_500,
            "follows from 002:558-559: comments and likes are counted in it",
            changes={"likes_count": 0.66, "comments_count": 0.33, "is_public": 0.007, "content": 0.013},
        ),
        delete=_OF.daily(5, "assumption: few posts are deleted"),
    ),
    Comment: Writes(
        create=_OF.daily(500, _COMMENTS),
        update=_OF.daily(
            120,
            "assumption: likes of comments are counted in them, and few are edited",
            changes={"likes_count": 0.83, "content": 0.17, "parent_comment_id": 0},
        ),
        delete=_OF.daily(10, "assumption: few comments are deleted"),
    ),
    Reaction: Writes(
        create=_OF.daily(1_000, _REACTIONS),
        update=_OF.daily(
            20,
            "assumption: few reactions are changed, beside 002:559",
            changes={"reaction_type": 1, "created_at": 0},
        ),
        delete=_OF.daily(50, "assumption: one reaction in twenty is taken back"),
    ),
    CommentReaction: Writes(
        create=_OF.daily(100, "assumption: one reaction to a comment for ten to a post, beside 002:559"),
        delete=_OF.daily(5, "assumption: one in twenty is taken back"),
    ),
    FeedItem: Writes(
        create=_OF.daily(2_000, "follows from 002:557: a post goes into the feeds of ten friends"),
        expire=_OF.daily(2_000, "follows from its time to live of 30 days"),
    ),
    Notification: Writes(
        create=_OF.daily(
            1_700, "follows from 002:553-559: authors are told of comments, reactions and ratings"
        ),
        update=_OF.daily(1_200, "assumption: seven in ten are read", changes={"is_read": 1}),
        expire=_OF.daily(1_700, "000:79 Old Notifications: 30 days retention"),
    ),
}

LOADS: Final[Loads] = {**_PATTERNS, **_WRITES}
