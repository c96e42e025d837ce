"""What is asked of the patterns of Smart Cooking: what hits, what misses, what nearly hits, and the index."""

from __future__ import annotations

from datetime import timedelta

from singletable_systems.smart_cooking.model.keys import SEARCH_LETTERS
from systems.cooking_dishes import CUISINES, HEAVY_METHOD, MEAL_TYPES, METHODS, MONTHS
from systems.cooking_people import CATEGORIES
from systems.cooking_society import HEAVY_POST
from systems.cooking_traps import (
    COOKS,
    GONE,
    HEAVY_USER,
    MILLISECOND,
    NEW_USER,
    NOBODY,
    NOW,
    POST_IDS,
    RECIPE_IDS,
    USERS,
    ZONES,
)
from systems.questions import Question, question

EVERYBODY = [(user_id,) for user_id in (*USERS, NOBODY)]
EVERY_RECIPE = [(recipe_id,) for recipe_id in (*RECIPE_IDS, "h7", "r.1", "r1.2", GONE)]
EVERY_POST = [(post_id,) for post_id in (*POST_IDS, "h7", "p.1", "p1.2", "gone1")]
FACETS = (False, True)  # whether only approved recipes are asked for
NAMES = (
    "Thịt gà",
    "thit-ga",
    "THỊT GÀ TA",
    "gà",
    "Đậu phụ",
    "dau phu",
    "Tofu",
    "hành tây",
    "Ca",
    "t",
    "chicken",
)
EVERYTHING = [("",)] if SEARCH_LETTERS == 0 else []  # by letters, a search has a term
SOON = [NOW, NOW + MILLISECOND, NOW - MILLISECOND, (NOW - timedelta(days=29)).astimezone(ZONES[1])]
COMMENTED = NOW + timedelta(seconds=1)

BY_RATING = ("rating_step", "created_at")
QUESTIONS: dict[str, Question] = {
    # --- people
    "user": question(None, *EVERYBODY),
    "admins": question("GSI1", (), ties=("created_at",)),
    "preferences": question(None, *EVERYBODY),
    "privacy": question(None, *EVERYBODY),
    "privacy_of": question(None, (list(USERS),), ([NOBODY, "ada", NOBODY],)),
    "user_by_email": question(
        None,
        *((f"{name}.{number}@example.com",) for number in range(8) for name in ("cook", "COOK")),
        ("cook.",),
    ),
    "user_by_username": question(None, *((f"CHEF{number}",) for number in range(8)), ("chef",)),
    "users": question(None, (list(USERS),), ([NOBODY, "ada", NOBODY, "Ada", "ada"],), ([],)),
    "sign_in": question(
        None, *((f"s-{user}-{10**n}",) for user in (*COOKS, NOBODY) for n in range(4)), ("s-ada-",)
    ),
    "sign_ins": question("GSI1", *EVERYBODY, ties=("created_at",)),
    # --- ingredients
    "user_ingredients": question(None, *EVERYBODY),
    "user_ingredient": question(None, *((user, name) for user in ("ada", "ada2", "zoe") for name in NAMES)),
    "ingredient": question(None, *((f"i{number}",) for number in (0, 1, 6, 10, 73, 74)), ("i",)),
    "search_ingredients": question(
        "GSI2", *((name,) for name in NAMES), ("nấm",), ("NAM",), ("nam 0",), ("ga!",), *EVERYTHING, ("x",)
    ),
    "ingredients_named": question("GSI2", *((name,) for name in NAMES), ("nam",), ("Nấm số 1",), ("turkey",)),
    "ingredient_by_name": question(None, *((name,) for name in NAMES), ("Gà tây",), ("nấm số 63",)),
    "ingredients_by_category": question("GSI1", *((category,) for category in (*CATEGORIES, "mea", "MEAT"))),
    "report": question(None, *((name, user) for name in ("Abc-XYZ", "abc xyz 2", "ot ma") for user in USERS)),
    "pending_reports": question("GSI1", (), ties=("total_reports", "created_at")),
    "invalid_ingredient": question(None, ("ABC xyz",), ("phở",), ("abc",), ("ab",), ("X11",)),
    "reporters": question(None, ("ABC xyz",), ("abc-xyz 2",), ("abc",), ("ab",), ("ot  ma",)),
    "reports_of": question("GSI1", *EVERYBODY, ties=("created_at",)),
    # --- recipes
    "recipe": question(None, *EVERY_RECIPE),
    "recipes_of": question("GSI1", *EVERYBODY, ties=("created_at",)),
    "recipes_by_method": question(
        "GSI2", *((each, only) for each in (*METHODS, HEAVY_METHOD, "sti") for only in FACETS), ties=BY_RATING
    ),
    "approved_recipes": question("GSI2", (), ties=BY_RATING),
    "recipes_by_cuisine": question(
        "GSI2", *((each, only) for each in (*CUISINES, "V") for only in FACETS), ties=BY_RATING
    ),
    "recipes_by_meal_type": question(
        "GSI2", *((each, only) for each in (*MEAL_TYPES, "mai") for only in FACETS), ties=BY_RATING
    ),
    "recipe_ingredients": question(None, *EVERY_RECIPE),
    "recipe_view": question(None, *EVERY_RECIPE),
    "trending": question("GSI3", (), ("weekly",)),
    "ranking": question("GSI3", (), ("weekly",)),
    "ratings": question(None, *EVERY_RECIPE),
    "ratings_of": question("GSI1", *EVERYBODY, ("fan0",), ("fan",), ties=("created_at",)),
    "rating": question(
        None, *((recipe, user) for recipe in ("r", "r1", "h7") for user in (*USERS, "fan0", "fan"))
    ),
    "recipes": question(
        None,
        (["r1", "r10", "r"],),
        (["gone", "r1", "gone", "r1"],),
        ([*RECIPE_IDS, *(f"{each}.{number}" for number in range(1, 6) for each in RECIPE_IDS), *"abc"] * 2,),
        ([f"x{number}" for number in range(150)],),
        ([],),
    ),
    "search_recipes": question(
        "GSI3",
        ("Gà",),
        ("ga x",),
        ("GÀ XÀO SẢ ỚT",),
        ("nướng 1",),
        ("nuong",),
        ("ga xao,",),
        ("đ",),
        ("z",),
        *EVERYTHING,
        ties=("normalized_title",),
    ),
    "recipes_using": question(
        "GSI2", ("Thịt gà",), ("thit",), ("GA",), ("dau-phu",), ("g",), ("thit ga ta",), ties=BY_RATING
    ),
    # --- cooking
    "history": question(None, *EVERYBODY),
    "cooking": question(
        None, *((user, NOW, f"h{n}") for user in COOKS for n in range(14)), (NOBODY, NOW, "h0")
    ),
    "favorites": question("GSI1", *EVERYBODY, ties=("cook_date",)),
    "recent_activities": question(
        "GSI3", *((at,) for at in SOON), (NOW, 1), (NOW, 29), (NOW, 30), (NOW, 366), ties=("cook_date",)
    ),
    "suggestions": question(None, *EVERYBODY),
    "suggestion_at": question(
        None, *((user, NOW - timedelta(days=days)) for user in (*COOKS, NOBODY) for days in (0, 1, 2, 90))
    ),
    "suggestion": question(None, *((user, NOW, f"g{number}") for user in USERS for number in range(14))),
    "suggestion_cache": question(None, ("d",), ("d1",), ("d10",), ("d100",)),
    "activity": question(None, *((month,) for month in (*MONTHS, "2040-03"))),
    # --- friends and posts
    "friends": question(None, *EVERYBODY),
    "friended_by": question("GSI1", *EVERYBODY),
    "friendship": question(None, *((user, friend) for user in USERS for friend in USERS)),
    "friendships": question(None, *EVERYBODY),
    "pulled_friends": question("GSI2", *EVERYBODY),
    "friendships_between": question(
        None, ([(user, friend) for user in USERS for friend in (*USERS, NOBODY)],), ([],)
    ),
    "post": question(None, *EVERY_POST),
    "posts": question(None, ([each for (each,) in EVERY_POST],), (["p1", "x", "p1"],)),
    "posts_of": question("GSI1", *EVERYBODY, ties=("created_at",)),
    "posts_before": question(
        "GSI1", *(("ada", at) for at in SOON), (HEAVY_USER, NOW), (NEW_USER, NOW), ties=("created_at",)
    ),
    "public_posts_between": question(
        "GSI1",
        *(("ada", at - timedelta(days=30), at) for at in SOON),
        (HEAVY_USER, NOW, NOW),
        (NEW_USER, NOW - timedelta(days=1), NOW),
        ties=("created_at",),
    ),
    "public_feed": question(
        "GSI3", *((at,) for at in SOON), (NOW, 1), (NOW, 30), (NOW, 366), (NOW, 3660), ties=("created_at",)
    ),
    "feed": question(("GSI3", "GSI2", "GSI1"), *EVERYBODY),
    "feed_items": question(
        "GSI3", *(("ada", at) for at in SOON), (HEAVY_USER, NOW), (NEW_USER, NOW), ties=("created_at",)
    ),
    "feed_items_by": question(None, *((user, author) for user in ("ada", HEAVY_USER) for author in USERS)),
    "comments": question(None, *EVERY_POST),
    "comment": question(
        None,
        *(("p", COMMENTED + MILLISECOND, f"{each}.p") for each in ("c1", "C1", "c10", "x")),
        ("p", COMMENTED, "c.p"),
        ("p1", COMMENTED, "c.p"),
    ),
    "replies": question("GSI2", *((f"c.{each}",) for each in (*POST_IDS, HEAVY_POST)), ("c",), ("c1.p",)),
    "comments_of": question("GSI1", *EVERYBODY, ties=("created_at",)),
    "reactions": question(None, *EVERY_POST),
    "reaction": question(None, *((post, user) for post in ("p", "p1", "x") for user in USERS)),
    "reactions_of": question("GSI1", *EVERYBODY, ties=("created_at",)),
    "comment_reactions": question(
        None, *((post, f"{each}.{post}") for post in ("p", "p1", "p2") for each in ("c", "c1", "c10", "c100"))
    ),
    "comment_reaction": question(
        None, *(("p1", f"{c}.p1", user) for c in ("c", "c1", "c10") for user in USERS)
    ),
    "comment_reactions_of": question("GSI1", *EVERYBODY, ties=("created_at",)),
    "notifications": question(None, *EVERYBODY),
    "unread": question("GSI1", *EVERYBODY, ties=("created_at",)),
    "notification": question(None, *((user, NOW, f"n{number}") for user in COOKS for number in range(16))),
}
