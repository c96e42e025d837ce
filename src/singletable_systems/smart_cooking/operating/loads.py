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
        "[ +UserProfile +UserPreferences +PrivacySettings ]",
    ),
    (
        500,
        "002:532 Login: 500 reads/day",
        Accounts.log_in,
        "user_by_email user",
        (Session, UserProfile),
        "user_by_email user [ ~UserProfile(last_login) +Session ]",
    ),
    (30, _SHARE, Accounts.rename, "user", (UserProfile,), "~UserProfile(full_name)"),
    (5, _SHARE, Accounts.change_email, "user", (UserProfile,), "~UserProfile(email)"),
    (5, _SHARE, Accounts.change_username, "user", (UserProfile,), "~UserProfile(username)"),
    (20, _SHARE, Accounts.set_avatar, "user", (UserProfile,), "~UserProfile(avatar_url)"),
    (38, _SHARE, Accounts.set_about, "user", (UserProfile,), "~UserProfile(country,date_of_birth,gender)"),
    (
        20,
        "assumption: beside 002:533",
        Accounts.set_preferences,
        "user preferences",
        (UserPreferences,),
        "~UserPreferences",
    ),
    (
        5,
        "assumption: beside 002:533",
        Accounts.set_privacy,
        "user privacy",
        (PrivacySettings,),
        "~PrivacySettings",
    ),
    (
        1,
        _SHARE,
        Accounts.deactivate,
        "user sign_ins",
        (UserProfile, Session),
        "~UserProfile(is_active) sign_ins -Session*0-5",
    ),
    (1, _SHARE, Accounts.activate, "user", (UserProfile,), "~UserProfile(is_active)"),
    (
        10 / 30,
        "assumption: who leaves asks first what goes",
        Accounts.deletion_plan,
        "user friendship friendships",
        (),
        "%UserProfile friendships! friendship*Friendship/UserProfile",
    ),
    (
        10 / 30,
        "assumption: 1 % of the users leave in a month",
        Accounts.delete_all_data,
        "user recipes_of recipe posts_of post comments_of comment friendship friendships",
        (*_PERSON, Friendship, FeedItem, Notification, RecipeRating, *_WHOLE, *_POST, *_REPORT),
        (
            "friendships!*1-3~2 friendship*0-30~7 [ -Friendship*0-20~14 ] recipes_of "
            "-Recipe*Recipe/UserProfile %Recipe*Recipe/UserProfile posts_of -Post*Post/UserProfile "
            "%Post*Post/UserProfile comments_of -Comment*Comment/UserProfile "
            "%Comment*Comment/UserProfile -UserProfile %UserProfile"
        ),
    ),
    (
        20,
        "assumption: few sessions are opened without a login",
        Sessions.open,
        "user",
        (Session, UserProfile),
        "user [ ?UserProfile +Session ]",
    ),
    (
        15_250,
        "follows from 002:563-564: each request checks its session",
        Sessions.check,
        "sign_in user",
        (),
        "sign_in user",
    ),
    (50, "assumption: one login in ten ends by itself", Sessions.close, "sign_in", (Session,), "-Session"),
    (5, _SELDOM, Sessions.close_all, "sign_ins", (Session,), "sign_ins -Session*0-5"),
    (60, _VIEWED, Viewing.profile, _SIGHTS, (), "users! privacy_of friendships_between*0-1"),
    (
        2,
        _SELDOM,
        Viewing.admins,
        f"admins {_SIGHTS}",
        (),
        "admins:50 users!*0-50~2 privacy_of*0-50~2 friendships_between*0-50~2",
    ),
    (
        20,
        _VIEWED,
        Viewing.recipes,
        f"recipes_of {_SIGHTS}",
        (),
        "users! privacy_of friendships_between recipes_of:50",
    ),
    (
        20,
        _VIEWED,
        Viewing.ingredients,
        f"user_ingredients {_SIGHTS}",
        (),
        "users! privacy_of friendships_between user_ingredients:50",
    ),
    (
        10,
        _VIEWED,
        Viewing.preferences,
        f"preferences {_SIGHTS}",
        (),
        "users! privacy_of friendships_between preferences",
    ),
)

_KITCHEN: Final = services(
    _OF.daily,
    (
        100,
        "002:537 Add/remove: 200 writes/day",
        Pantry.add,
        "user ingredients_named",
        (UserIngredient,),
        "ingredients_named:50*1-3 user_ingredient!*1-3 [ ?UserProfile +UserIngredient*1-3 ]",
    ),
    (
        100,
        "002:537 Add/remove: 200 writes/day",
        Pantry.remove,
        "user_ingredient",
        (UserIngredient,),
        "ingredients_named:50 -UserIngredient",
    ),
    (
        100,
        "assumption: one look before each that is added",
        Pantry.get,
        "user_ingredient",
        (),
        "ingredients_named:50 user_ingredient!",
    ),
    (
        980,
        "002:536 List ingredients: 1,000 reads/day, but for those of others",
        Pantry.page,
        "user_ingredients",
        (),
        "user_ingredients:50",
    ),
    (
        400,
        "follows from 002:537: four searches for each that is added",
        Catalogue.search,
        "search_ingredients",
        (),
        "search_ingredients:50",
    ),
    (
        1_000,
        "002:540 Requests: 1,000/day (peak feature), as their names",
        Catalogue.resolve,
        "ingredients_named",
        (),
        "ingredients_named:50*1-5",
    ),
    (
        1_000,
        "002:540 Requests: 1,000/day (peak feature)",
        Suggestions.suggest,
        f"preferences user ingredients_named ingredient recipes_using suggestion_cache {_BESIDE} {_SHOWN}",
        (AiSuggestion, SuggestionCache, *_WHOLE, *_REPORT),
        (
            "preferences ingredients_named:50*1-10~5 ingredient*0-3~1 recipes_using:50*1-5~2 "
            "recipes*0-50~6 users!*0-10~3 privacy_of*0-10~2 friendships_between*0-10~2 "
            "suggestion_cache!*0-1 [ ?UserProfile +AiSuggestion +Recipe*0-5~3 "
            "+RecipeIngredient*0-40~6 +SuggestionCache*0-1 ] report*0-2~0.5 "
            "invalid_ingredient*0-2~0.5 [ ?UserProfile*0-2~0.5 +InvalidIngredientReport*0-2~0.5 "
            "+InvalidIngredient*0-2~0.5 ~InvalidIngredientReport(user_report_count)*0-2~0.1 ]"
        ),
    ),
    (
        100,
        "assumption: one suggestion in ten is accepted",
        Suggestions.accept,
        f"recipe suggestion user history {_SIGHTS}",
        (AiSuggestion, CookingHistory),
        (
            "suggestion recipe! users!*0-1 privacy_of*0-1 friendships_between*0-1 [ "
            "~AiSuggestion(was_accepted) ?Recipe +CookingHistory ]"
        ),
    ),
    (
        50,
        "assumption: one in twenty is rated",
        Suggestions.feedback,
        "suggestion",
        (AiSuggestion,),
        "~AiSuggestion(feedback_comment,feedback_rating)",
    ),
    (
        20,
        "assumption: of the 200 of 002:546, one in ten is written by hand",
        Recipes.write,
        "user",
        _WHOLE,
        "ingredients_named:50*1-20~5 [ ?UserProfile +Recipe +RecipeIngredient*1-20~5 ]",
    ),
    (100, "assumption: authors look at their own", Recipes.view, "recipe_view", (), "recipe_view!"),
    (
        2_900,
        "002:545 View details: 3,000 reads/day, but for own ones",
        Viewing.recipe,
        f"recipe_view {_SIGHTS}",
        (),
        "recipe_view! users! privacy_of friendships_between",
    ),
    (20, _CHANGED, Recipes.edit, "recipe", _RECIPE, "recipe! ~Recipe"),
    (
        5,
        _CHANGED,
        Recipes.replace_ingredients,
        "recipe_view",
        _WHOLE,
        (
            "ingredients_named:50*1-20~5 recipe_view! [ ~Recipe(ingredient_names,is_ai_generated) "
            "=RecipeIngredient*1-20~5 -RecipeIngredient*0-20~1 ]"
        ),
    ),
    (
        2,
        _CHANGED,
        Recipes.reorder,
        "recipe_view",
        _WHOLE,
        (
            "recipe_view! [ ~Recipe(ingredient_names,is_ai_generated) "
            "=RecipeIngredient*RecipeIngredient/Recipe ]"
        ),
    ),
    (
        50,
        "assumption: one recipe in four is published",
        Recipes.publish,
        "recipe",
        _RECIPE,
        "recipe! ~Recipe(is_public)",
    ),
    (5, _SELDOM, Recipes.unpublish, "recipe", _RECIPE, "recipe! ~Recipe(is_public)"),
    (
        5,
        _SELDOM,
        Recipes.delete,
        "recipe",
        (*_WHOLE, RecipeRating, TrendingRecipe),
        "recipe! -Recipe %Recipe",
    ),
    (
        150,
        "002:553 Submit rating: 150 writes/day",
        Ratings.rate,
        "recipe rating user cooking",
        (RecipeRating, *_RECIPE),
        ("recipe!*1-2 rating [ ?UserProfile ?Recipe +RecipeRating*0-1 ~RecipeRating(comment,rating)*0-1 ]"),
    ),
    (2, _SELDOM, Ratings.unrate, "rating", (RecipeRating, *_RECIPE), "-RecipeRating"),
    (
        50,
        "002:549 Start/complete: 300 writes/day, of which 100 start as suggestions",
        (Cooking.start, Cooking.entry, Cooking.require_shown),
        f"user recipe {_SIGHTS}",
        (CookingHistory,),
        ("recipe! users! privacy_of*0-1 friendships_between*0-1 [ ?UserProfile ?Recipe +CookingHistory ]"),
    ),
    (
        120,
        "002:549 Start/complete: 300 writes/day",
        Cooking.complete,
        "cooking",
        (CookingHistory,),
        "cooking ~CookingHistory(cook_date,personal_notes,personal_rating,status)",
    ),
    (
        10,
        "002:549 Start/complete: 300 writes/day, some given up",
        Cooking.cancel,
        "cooking",
        (CookingHistory,),
        "cooking ~CookingHistory(status)",
    ),
    (
        15,
        "002:549 Start/complete: 300 writes/day, with marks",
        Cooking.favorite,
        "cooking",
        (CookingHistory,),
        "cooking ~CookingHistory(is_favorite)",
    ),
    (
        5,
        "002:549 Start/complete: 300 writes/day, with marks",
        Cooking.unfavorite,
        "cooking",
        (CookingHistory,),
        "cooking ~CookingHistory(is_favorite)",
    ),
)

_TALK: Final = services(
    _OF.daily,
    (
        1_200,
        "002:560 Feed reads: 2,000 reads/day, of friends",
        Feeds.personal,
        _PERSONAL,
        (),
        (
            "pulled_friends:100 feed_items:51 posts!*0-51~10 users!*0-51~5 privacy_of*0-51~5 "
            "friendships_between*0-51~5"
        ),
    ),
    (
        800,
        "002:560 Feed reads: 2,000 reads/day, of all",
        Feeds.public,
        f"public_feed {_SIGHTS}",
        (),
        "public_feed:50 users!*0-50~12 privacy_of*0-50~12 friendships_between*0-50~6",
    ),
    (
        500,
        "assumption: one in four of a feed (002:560) is opened",
        Viewing.post,
        f"post {_SIGHTS}",
        (),
        "post! users! privacy_of friendships_between",
    ),
    (
        200,
        "002:557 Posts: 200 writes/day",
        Posts.write,
        "recipe user",
        (Post,),
        "[ ?UserProfile ?Recipe*0-1 +Post ]",
    ),
    (20, _CHANGED, Posts.edit, "post", (Post,), "~Post(content,images)"),
    (5, _SELDOM, Posts.make_public, "post", (Post,), "~Post(is_public)"),
    (5, _SELDOM, Posts.make_private, "post", (Post,), "~Post(is_public)"),
    (5, _SELDOM, Posts.delete, "post", _POST, "post! -Post %Post"),
    (
        450,
        "002:558 Comments: 500 writes/day, on posts",
        Posts.comment,
        "user post",
        (Comment, Post),
        "[ ?UserProfile ?Post +Comment ]",
    ),
    (
        50,
        "002:558 Comments: 500 writes/day, answers",
        Posts.reply,
        "comment user post",
        (Comment, Post),
        "[ ?UserProfile ?Post ?Comment +Comment ]",
    ),
    (20, _CHANGED, Posts.edit_comment, "comment", (Comment,), "~Comment(content)"),
    (
        10,
        _SELDOM,
        Posts.delete_comment,
        "comment post",
        (Comment, CommentReaction, Post),
        "comment -Comment %Comment",
    ),
    (
        1_020,
        "002:559 Reactions: 1,000 writes/day, and 20 changed",
        Reactions.react,
        "reaction user post",
        (Reaction, Post),
        "reaction [ ?UserProfile ?Post +Reaction*0-1 ~Reaction(reaction_type)*0-1 ]",
    ),
    (
        50,
        "assumption: one in twenty is taken back",
        Reactions.unreact,
        "reaction",
        (Reaction, Post),
        "-Reaction",
    ),
    (
        100,
        "assumption: one to a comment for ten to a post, beside 002:559",
        Reactions.react_to_comment,
        "comment_reaction comment user post",
        (CommentReaction, Comment),
        "comment comment_reaction [ ?UserProfile ?Post ?Comment +CommentReaction ]",
    ),
    (
        5,
        "assumption: one in twenty is taken back",
        Reactions.unreact_to_comment,
        "comment_reaction",
        (CommentReaction, Comment),
        "-CommentReaction",
    ),
    (
        20,
        "assumption: 20 friendships a day",
        Friends.ask,
        "friendships_between user users",
        (Friendship, UserProfile),
        "friendships_between*2 [ ?UserProfile*2 +Friendship*2 ]",
    ),
    (
        12,
        "assumption: most are accepted",
        Friends.accept,
        "friendships_between users",
        (Friendship, UserProfile),
        "friendships_between*2 users!*2 [ ~Friendship(friend_feeds_by,responded_at,status)*2 ]",
    ),
    (
        3,
        "assumption: few are declined",
        Friends.decline,
        "friendships_between users",
        (Friendship,),
        "friendships_between*2 [ ~Friendship(responded_at,status)*2 ]",
    ),
    (
        1,
        "assumption: one friendship a day ends",
        Friends.unfriend,
        "friendships_between",
        (Friendship, UserProfile),
        "friendships_between*2 [ -Friendship*2 ]",
    ),
    (
        200,
        "assumption: some news is read one by one",
        Notifications.mark_read,
        "notification",
        (Notification,),
        "~Notification(is_read)",
    ),
    (
        200,
        "assumption: most news is marked together",
        Notifications.mark_all_read,
        "unread notification",
        (Notification,),
        "unread:100 ~Notification(is_read)*Notification/UserProfile",
    ),
    (
        500,
        "assumption: each login (002:532) counts its news",
        Notifications.unread_count,
        "unread",
        (),
        "unread:100",
    ),
    (
        30,
        "assumption: three requests in a hundred name no ingredient",
        Reports.report,
        "report invalid_ingredient user",
        _REPORT,
        (
            "report invalid_ingredient [ ?UserProfile +InvalidIngredientReport*0-1 "
            "+InvalidIngredient*0-1 ~InvalidIngredientReport(user_report_count)*0-1 ]"
        ),
    ),
)

_CARE: Final = services(
    worker,
    (
        30,
        "assumption: one ingredient a day is new",
        Catalogue.add,
        "",
        (MasterIngredient, IngredientAlias),
        "+MasterIngredient",
    ),
    (
        4,
        "assumption: one name a week is corrected",
        Catalogue.rename,
        "ingredient",
        (MasterIngredient, IngredientAlias),
        "~MasterIngredient(name)",
    ),
    (
        20,
        "assumption: aliases, some days",
        Catalogue.add_alias,
        "ingredient",
        (MasterIngredient, IngredientAlias),
        "ingredient! ~MasterIngredient(aliases)",
    ),
    (
        4,
        "assumption: aliases, seldom",
        Catalogue.remove_alias,
        "ingredient",
        (MasterIngredient, IngredientAlias),
        "ingredient! ~MasterIngredient(aliases)",
    ),
    (
        1,
        "assumption: once a month",
        Catalogue.deactivate,
        "ingredient",
        (MasterIngredient, IngredientAlias),
        "~MasterIngredient(is_active)",
    ),
    (
        1,
        "assumption: once a month",
        Catalogue.activate,
        "ingredient",
        (MasterIngredient, IngredientAlias),
        "~MasterIngredient(is_active)",
    ),
    (
        600,
        "assumption: 20 recipes a day are approved",
        Recipes.approve,
        "recipe user",
        _RECIPE,
        "recipe! [ ?UserProfile ~Recipe(approval_type,approved_at,is_approved) ]",
    ),
    (
        10,
        "assumption: few approvals are taken back",
        Recipes.unapprove,
        "recipe user",
        _RECIPE,
        "recipe! [ ?UserProfile ~Recipe(approval_type,approved_at,is_approved) ]",
    ),
    (
        150,
        "assumption: five reports a day are resolved",
        Reports.resolve,
        "invalid_ingredient user",
        (InvalidIngredient,),
        "[ ?UserProfile ~InvalidIngredient(status) ] invalid_ingredient",
    ),
    (
        60,
        "assumption: two reports a day are rejected",
        Reports.reject,
        "invalid_ingredient user",
        (InvalidIngredient,),
        "[ ?UserProfile ~InvalidIngredient(status) ] invalid_ingredient",
    ),
    (
        30,
        "assumption: one note a day",
        Reports.note,
        "invalid_ingredient user",
        (InvalidIngredient,),
        "[ ?UserProfile ~InvalidIngredient(admin_notes) ] invalid_ingredient",
    ),
    (
        RANKINGS_A_MONTH,
        "assumption: the ranking is counted every ten minutes",
        (Trending.refresh, Trending.step, Trending.worker),
        "recent_activities ranking recipe recipes",
        (TrendingRecipe,),
        (
            "recent_activities:500*1-3~1 recipes*0-100~10 ranking [ ?Recipe*0-20~1 "
            "=TrendingRecipe*0-20~1 ] -TrendingRecipe*0-20~0.1"
        ),
    ),
)

SERVICES: Final[tuple[Service, ...]] = (*_ACCOUNTS, *_KITCHEN, *_TALK, *_CARE)
