"""Smart Cooking's services: the patterns that each asks, the entities that it writes, and how often it is called.

Calls a day of 1,000 users: those that the document counts (002:527-560), and those that are assumed beside them.
"""

from __future__ import annotations

from typing import Final

from singletable.systems import Service
from singletable_systems.shared.model import Estimate, services, worker
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
from singletable_systems.smart_cooking.model.loads import RANKINGS_A_MONTH, USERS
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.catalogue import Catalogue
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
from singletable_systems.smart_cooking.services.suggestions import Suggestions
from singletable_systems.smart_cooking.services.trending import Trending
from singletable_systems.smart_cooking.services.views import Viewing

_OF: Final = Estimate(USERS)
_SIGHTS: Final = "users privacy_of friendships_between"
_PERSONAL: Final = f"feed_items pulled_friends public_posts_between posts {_SIGHTS}"
_SHOWN: Final = f"recipes {_SIGHTS}"
_BESIDE: Final = "recipe report invalid_ingredient"
_FACETS: Final = (CuisineFacet, MealTypeFacet, ApprovedFacet, RecipeUse)
_RECIPE: Final = (Recipe, *_FACETS)
_WHOLE: Final = (*_RECIPE, RecipeIngredient)
_POST: Final = (Post, Comment, Reaction, CommentReaction)
_REPORT: Final = (InvalidIngredientReport, InvalidIngredient)
_PERSON: Final = (
    UserProfile,
    UserPreferences,
    PrivacySettings,
    Session,
    UserIngredient,
    CookingHistory,
    AiSuggestion,
)
_SHARE: Final = "assumption, a share of 002:533 Profile updates: 100 writes/day"
_VIEWED: Final = "assumption: one login in five (002:532) leads to a profile"
_CHANGED: Final = "assumption: one in ten that are made is changed, beside 002:546-559"
_SELDOM: Final = "assumption: seldom, a few times a day"

_ACCOUNTS: Final = services(
    _OF.daily,
    (
        50 / 30,
        "assumption: 5 % of the users are new in a month",
        Accounts.sign_up,
        "user",
        (UserProfile, UserPreferences, PrivacySettings),
    ),
    (500, "002:532 Login: 500 reads/day", Accounts.log_in, "user_by_email user", (Session, UserProfile)),
    (30, _SHARE, Accounts.rename, "user", (UserProfile,)),
    (5, _SHARE, Accounts.change_email, "user", (UserProfile,)),
    (5, _SHARE, Accounts.change_username, "user", (UserProfile,)),
    (20, _SHARE, Accounts.set_avatar, "user", (UserProfile,)),
    (38, _SHARE, Accounts.set_about, "user", (UserProfile,)),
    (20, "assumption: beside 002:533", Accounts.set_preferences, "user preferences", (UserPreferences,)),
    (5, "assumption: beside 002:533", Accounts.set_privacy, "user privacy", (PrivacySettings,)),
    (1, _SHARE, Accounts.deactivate, "user sign_ins", (UserProfile, Session)),
    (1, _SHARE, Accounts.activate, "user", (UserProfile,)),
    (
        10 / 30,
        "assumption: who leaves asks first what goes",
        Accounts.deletion_plan,
        "user friendship friendships",
        (),
    ),
    (
        10 / 30,
        "assumption: 1 % of the users leave in a month",
        Accounts.delete_all_data,
        "user recipes_of recipe posts_of post comments_of comment friendship friendships",
        (*_PERSON, Friendship, FeedItem, Notification, RecipeRating, *_WHOLE, *_POST, *_REPORT),
    ),
    (
        20,
        "assumption: few sessions are opened without a login",
        Sessions.open,
        "user",
        (Session, UserProfile),
    ),
    (15_250, "follows from 002:563-564: each request checks its session", Sessions.check, "sign_in user", ()),
    (50, "assumption: one login in ten ends by itself", Sessions.close, "sign_in", (Session,)),
    (5, _SELDOM, Sessions.close_all, "sign_ins", (Session,)),
    (60, _VIEWED, Viewing.profile, _SIGHTS, ()),
    (2, _SELDOM, Viewing.admins, f"admins {_SIGHTS}", ()),
    (20, _VIEWED, Viewing.recipes, f"recipes_of {_SIGHTS}", ()),
    (20, _VIEWED, Viewing.ingredients, f"user_ingredients {_SIGHTS}", ()),
    (10, _VIEWED, Viewing.preferences, f"preferences {_SIGHTS}", ()),
)

_KITCHEN: Final = services(
    _OF.daily,
    (100, "002:537 Add/remove: 200 writes/day", Pantry.add, "user ingredients_named", (UserIngredient,)),
    (100, "002:537 Add/remove: 200 writes/day", Pantry.remove, "user_ingredient", (UserIngredient,)),
    (100, "assumption: one look before each that is added", Pantry.get, "user_ingredient", ()),
    (
        980,
        "002:536 List ingredients: 1,000 reads/day, but for those of others",
        Pantry.page,
        "user_ingredients",
        (),
    ),
    (
        400,
        "follows from 002:537: four searches for each that is added",
        Catalogue.search,
        "search_ingredients",
        (),
    ),
    (
        1_000,
        "002:540 Requests: 1,000/day (peak feature), as their names",
        Catalogue.resolve,
        "ingredients_named",
        (),
    ),
    (
        1_000,
        "002:540 Requests: 1,000/day (peak feature)",
        Suggestions.suggest,
        f"preferences user ingredients_named ingredient recipes_using suggestion_cache {_BESIDE} {_SHOWN}",
        (AiSuggestion, SuggestionCache, *_WHOLE, *_REPORT),
    ),
    (
        100,
        "assumption: one suggestion in ten is accepted",
        Suggestions.accept,
        f"recipe suggestion user history {_SIGHTS}",
        (AiSuggestion, CookingHistory),
    ),
    (50, "assumption: one in twenty is rated", Suggestions.feedback, "suggestion", (AiSuggestion,)),
    (20, "assumption: of the 200 of 002:546, one in ten is written by hand", Recipes.write, "user", _WHOLE),
    (100, "assumption: authors look at their own", Recipes.view, "recipe_view", ()),
    (
        2_900,
        "002:545 View details: 3,000 reads/day, but for own ones",
        Viewing.recipe,
        f"recipe_view {_SIGHTS}",
        (),
    ),
    (20, _CHANGED, Recipes.edit, "recipe", _RECIPE),
    (5, _CHANGED, Recipes.replace_ingredients, "recipe_view", _WHOLE),
    (2, _CHANGED, Recipes.reorder, "recipe_view", _WHOLE),
    (50, "assumption: one recipe in four is published", Recipes.publish, "recipe", _RECIPE),
    (5, _SELDOM, Recipes.unpublish, "recipe", _RECIPE),
    (5, _SELDOM, Recipes.delete, "recipe", (*_WHOLE, RecipeRating, TrendingRecipe)),
    (
        150,
        "002:553 Submit rating: 150 writes/day",
        Ratings.rate,
        "recipe rating user cooking",
        (RecipeRating, *_RECIPE),
    ),
    (2, _SELDOM, Ratings.unrate, "rating", (RecipeRating, *_RECIPE)),
    (
        50,
        "002:549 Start/complete: 300 writes/day, of which 100 start as suggestions",
        (Cooking.start, Cooking.entry, Cooking.require_shown),
        f"user recipe {_SIGHTS}",
        (CookingHistory,),
    ),
    (120, "002:549 Start/complete: 300 writes/day", Cooking.complete, "cooking", (CookingHistory,)),
    (
        10,
        "002:549 Start/complete: 300 writes/day, some given up",
        Cooking.cancel,
        "cooking",
        (CookingHistory,),
    ),
    (
        15,
        "002:549 Start/complete: 300 writes/day, with marks",
        Cooking.favorite,
        "cooking",
        (CookingHistory,),
    ),
    (
        5,
        "002:549 Start/complete: 300 writes/day, with marks",
        Cooking.unfavorite,
        "cooking",
        (CookingHistory,),
    ),
)

_TALK: Final = services(
    _OF.daily,
    (1_200, "002:560 Feed reads: 2,000 reads/day, of friends", Feeds.personal, _PERSONAL, ()),
    (800, "002:560 Feed reads: 2,000 reads/day, of all", Feeds.public, f"public_feed {_SIGHTS}", ()),
    (500, "assumption: one in four of a feed (002:560) is opened", Viewing.post, f"post {_SIGHTS}", ()),
    (200, "002:557 Posts: 200 writes/day", Posts.write, "recipe user", (Post,)),
    (20, _CHANGED, Posts.edit, "post", (Post,)),
    (5, _SELDOM, Posts.make_public, "post", (Post,)),
    (5, _SELDOM, Posts.make_private, "post", (Post,)),
    (5, _SELDOM, Posts.delete, "post", _POST),
    (450, "002:558 Comments: 500 writes/day, on posts", Posts.comment, "user post", (Comment, Post)),
    (50, "002:558 Comments: 500 writes/day, answers", Posts.reply, "comment user post", (Comment, Post)),
    (20, _CHANGED, Posts.edit_comment, "comment", (Comment,)),
    (10, _SELDOM, Posts.delete_comment, "comment post", (Comment, CommentReaction, Post)),
    (
        1_020,
        "002:559 Reactions: 1,000 writes/day, and 20 changed",
        Reactions.react,
        "reaction user post",
        (Reaction, Post),
    ),
    (50, "assumption: one in twenty is taken back", Reactions.unreact, "reaction", (Reaction, Post)),
    (
        100,
        "assumption: one to a comment for ten to a post, beside 002:559",
        Reactions.react_to_comment,
        "comment_reaction comment user post",
        (CommentReaction, Comment),
    ),
    (
        5,
        "assumption: one in twenty is taken back",
        Reactions.unreact_to_comment,
        "comment_reaction",
        (CommentReaction, Comment),
    ),
    (
        20,
        "assumption: 20 friendships a day",
        Friends.ask,
        "friendships_between user users",
        (Friendship, UserProfile),
    ),
    (
        12,
        "assumption: most are accepted",
        Friends.accept,
        "friendships_between users",
        (Friendship, UserProfile),
    ),
    (3, "assumption: few are declined", Friends.decline, "friendships_between users", (Friendship,)),
    (
        1,
        "assumption: one friendship a day ends",
        Friends.unfriend,
        "friendships_between",
        (Friendship, UserProfile),
    ),
    (
        200,
        "assumption: some news is read one by one",
        Notifications.mark_read,
        "notification",
        (Notification,),
    ),
    (
        200,
        "assumption: most news is marked together",
        Notifications.mark_all_read,
        "unread notification",
        (Notification,),
    ),
    (500, "assumption: each login (002:532) counts its news", Notifications.unread_count, "unread", ()),
    (
        30,
        "assumption: three requests in a hundred name no ingredient",
        Reports.report,
        "report invalid_ingredient user",
        _REPORT,
    ),
)

_CARE: Final = services(
    worker,
    (30, "assumption: one ingredient a day is new", Catalogue.add, "", (MasterIngredient, IngredientAlias)),
    (
        4,
        "assumption: one name a week is corrected",
        Catalogue.rename,
        "ingredient",
        (MasterIngredient, IngredientAlias),
    ),
    (
        20,
        "assumption: aliases, some days",
        Catalogue.add_alias,
        "ingredient",
        (MasterIngredient, IngredientAlias),
    ),
    (
        4,
        "assumption: aliases, seldom",
        Catalogue.remove_alias,
        "ingredient",
        (MasterIngredient, IngredientAlias),
    ),
    (1, "assumption: once a month", Catalogue.deactivate, "ingredient", (MasterIngredient, IngredientAlias)),
    (1, "assumption: once a month", Catalogue.activate, "ingredient", (MasterIngredient, IngredientAlias)),
    (600, "assumption: 20 recipes a day are approved", Recipes.approve, "recipe user", _RECIPE),
    (10, "assumption: few approvals are taken back", Recipes.unapprove, "recipe user", _RECIPE),
    (
        150,
        "assumption: five reports a day are resolved",
        Reports.resolve,
        "invalid_ingredient user",
        (InvalidIngredient,),
    ),
    (
        60,
        "assumption: two reports a day are rejected",
        Reports.reject,
        "invalid_ingredient user",
        (InvalidIngredient,),
    ),
    (30, "assumption: one note a day", Reports.note, "invalid_ingredient user", (InvalidIngredient,)),
    (
        RANKINGS_A_MONTH,
        "assumption: the ranking is counted every ten minutes",
        (Trending.refresh, Trending.step, Trending.worker),
        "recent_activities ranking recipe recipes",
        (TrendingRecipe,),
    ),
)

SERVICES: Final[tuple[Service, ...]] = (*_ACCOUNTS, *_KITCHEN, *_TALK, *_CARE)
