"""The requests that each pattern of Smart Cooking sends when it is asked about the examples, and their units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from systems.cooking_examples import at


@dataclass(frozen=True)
class Expected:
    """What a pattern is asked, the units that it costs, and all requests of its first page, or of the whole."""

    arguments: tuple[Any, ...]
    units: float
    requests: tuple[str, ...]


def asked(arguments: tuple[Any, ...], units: float, *requests: str) -> Expected:
    return Expected(arguments, units, requests)


# fmt: off
REQUESTS = {
    "friends": asked(("uuid-123",), 0.5,
        "Query, table, PK = USER#uuid-123 AND begins_with(SK, FRIEND#), filtered, limit 10"),
    "friended_by": asked(("uuid-456",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-456 AND begins_with(GSI1SK, FRIEND#), limit 10"),
    "friendship": asked(("uuid-123", "uuid-456"), 1.0,
        "GetItem, USER#uuid-123, FRIEND#uuid-456, consistent"),
    "friendships": asked(("uuid-123",), 0.5,
        "Query, table, PK = USER#uuid-123 AND begins_with(SK, FRIEND#), limit 10"),
    "pulled_friends": asked(("uuid-123",), 0.5,
        "Query, GSI2, GSI2PK = USER#uuid-123#PULLS AND begins_with(GSI2SK, FRIEND#), limit 10"),
    "friendships_between": asked(([("uuid-123", "uuid-456")],), 1.0,
        "BatchGetItem, USER#uuid-123 FRIEND#uuid-456, consistent"),
    "post": asked(("uuid-606",), 0.5,
        "GetItem, POST#uuid-606, METADATA"),
    "posts": asked((["uuid-606", "uuid-606"],), 0.5,
        "BatchGetItem, POST#uuid-606 METADATA"),
    "posts_of": asked(("uuid-123",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123 AND begins_with(GSI1SK, POST#), limit 10"),
    "posts_before": asked(("uuid-123", at("25 00:00")), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123 AND "
        "GSI1SK BETWEEN POST# AND POST#2025-01-25T00:00:00.000Y\U0010ffff, backward, limit 10"),
    "public_posts_between": asked(("uuid-123", at("05 00:00"), at("25 00:00")), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123 AND "
        "GSI1SK BETWEEN POST#2025-01-05T00:00:00.000Z AND POST#2025-01-25T00:00:00.000Z, "
        "filtered, backward, limit 10"),
    "public_feed": asked((at("25 00:00"), 20), 0.5,
        "Query, GSI3, GSI3PK = FEED#PUBLIC AND "
        "GSI3SK BETWEEN POST#2025-01-05T00:00:00.000Z AND POST#2025-01-25T00:00:00.000Z, backward, limit 10"),
    "feed": asked(("uuid-456",), 5.0,
        "Query, GSI2, GSI2PK = USER#uuid-456#PULLS AND begins_with(GSI2SK, FRIEND#), limit 100",
        "Query, GSI3, GSI3PK = FEED#uuid-456 AND "
        "GSI3SK BETWEEN POST# AND POST#2025-01-25T08:00:00.001Y\U0010ffff, filtered, backward, limit 11",
        "BatchGetItem, POST#uuid-606 METADATA, consistent",
        "BatchGetItem, USER#uuid-123 PROFILE, consistent",
        "BatchGetItem, USER#uuid-123 PRIVACY, consistent",
        "BatchGetItem, USER#uuid-123 FRIEND#uuid-456, consistent"),
    "feed_items": asked(("uuid-456", at("25 00:00")), 0.5,
        "Query, GSI3, GSI3PK = FEED#uuid-456 AND "
        "GSI3SK BETWEEN POST# AND POST#2025-01-25T00:00:00.000Y\U0010ffff, filtered, backward, limit 10"),
    "feed_items_by": asked(("uuid-456", "uuid-123"), 0.5,
        "Query, table, PK = USER#uuid-456 AND begins_with(SK, FEEDITEM#), filtered, limit 10"),
    "comments": asked(("uuid-606",), 0.5,
        "Query, table, PK = POST#uuid-606 AND begins_with(SK, COMMENT#), limit 10"),
    "comment": asked(("uuid-606", at("20 21:00"), "uuid-707"), 1.0,
        "GetItem, POST#uuid-606, COMMENT#2025-01-20T21:00:00.000Z#uuid-707, consistent"),
    "replies": asked(("uuid-707",), 0.5,
        "Query, GSI2, GSI2PK = COMMENT#uuid-707 AND begins_with(GSI2SK, REPLY#), limit 10"),
    "comments_of": asked(("uuid-456",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-456 AND begins_with(GSI1SK, COMMENT#), limit 10"),
    "reactions": asked(("uuid-606",), 0.5,
        "Query, table, PK = POST#uuid-606 AND begins_with(SK, REACTION#), limit 10"),
    "reaction": asked(("uuid-606", "uuid-456"), 1.0,
        "GetItem, POST#uuid-606, REACTION#uuid-456, consistent"),
    "reactions_of": asked(("uuid-456",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-456 AND begins_with(GSI1SK, REACTION#), limit 10"),
    "comment_reactions": asked(("uuid-606", "uuid-707"), 0.5,
        "Query, table, PK = POST#uuid-606 AND begins_with(SK, COMMENT_REACTION#uuid-707#), limit 10"),
    "comment_reaction": asked(("uuid-606", "uuid-707", "uuid-123"), 1.0,
        "GetItem, POST#uuid-606, COMMENT_REACTION#uuid-707#uuid-123, consistent"),
    "comment_reactions_of": asked(("uuid-123",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123 AND begins_with(GSI1SK, COMMENT_REACTION#), limit 10"),
    "notifications": asked(("uuid-123",), 0.5,
        "Query, table, PK = USER#uuid-123 AND "
        "begins_with(SK, NOTIFICATION#), filtered, backward, limit 10"),
    "unread": asked(("uuid-123",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123#UNREAD AND "
        "begins_with(GSI1SK, NOTIFICATION#), filtered, backward, limit 10"),
    "notification": asked(("uuid-123", at("20 21:00"), "uuid-909"), 1.0,
        "GetItem, USER#uuid-123, NOTIFICATION#2025-01-20T21:00:00.000Z#uuid-909, consistent"),
    "history": asked(("uuid-123",), 0.5,
        "Query, table, PK = USER#uuid-123 AND begins_with(SK, COOKING#), filtered, backward, limit 10"),
    "cooking": asked(("uuid-123", at("20 15:30"), "uuid-202"), 1.0,
        "GetItem, USER#uuid-123, COOKING#2025-01-20T15:30:00.000Z#uuid-202, consistent"),
    "favorites": asked(("uuid-123",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123#FAVORITE AND "
        "begins_with(GSI1SK, COOKING#), filtered, backward, limit 10"),
    "recent_activities": asked((at("25 00:00"), 20), 0.5,
        "Query, GSI3, GSI3PK = RECENT#2025-01 AND "
        "GSI3SK BETWEEN 2025-01-05T00:00:00.000Z AND 2025-01-25T00:00:00.000Z, filtered, backward, limit 10"),
    "suggestions": asked(("uuid-123",), 0.5,
        "Query, table, PK = USER#uuid-123 AND begins_with(SK, SUGGESTION#), filtered, backward, limit 10"),
    "suggestion_at": asked(("uuid-123", at("20 10:00")), 0.5,
        "Query, table, PK = USER#uuid-123 AND "
        "begins_with(SK, SUGGESTION#2025-01-20T10:00:00.000Z#), filtered, limit 1"),
    "suggestion": asked(("uuid-123", at("20 10:00"), "uuid-303"), 1.0,
        "GetItem, USER#uuid-123, SUGGESTION#2025-01-20T10:00:00.000Z#uuid-303, consistent"),
    "suggestion_cache": asked(("d1",), 0.5,
        "GetItem, SUGGESTION_CACHE#d1, METADATA"),
    "activity": asked(("2025-01",), 0.5,
        "GetItem, ACTIVITY#2025-01, TOTALS"),
    "recipe": asked(("uuid-101",), 0.5,
        "GetItem, RECIPE#uuid-101, METADATA"),
    "recipes_of": asked(("uuid-123",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123 AND begins_with(GSI1SK, RECIPE#), limit 10"),
    "recipes_by_method": asked(("stir-fry",), 0.5,
        "Query, GSI2, GSI2PK = METHOD#stir-fry AND begins_with(GSI2SK, RECIPE#), backward, limit 10"),
    "approved_recipes": asked((), 0.5,
        "Query, GSI2, GSI2PK = APPROVED AND begins_with(GSI2SK, RECIPE#), backward, limit 10"),
    "recipes_by_cuisine": asked(("Vietnamese",), 0.5,
        "Query, GSI2, GSI2PK = CUISINE#Vietnamese AND begins_with(GSI2SK, RECIPE#), backward, limit 10"),
    "recipes_by_meal_type": asked(("main",), 0.5,
        "Query, GSI2, GSI2PK = MEALTYPE#main AND begins_with(GSI2SK, RECIPE#), backward, limit 10"),
    "recipe_ingredients": asked(("uuid-101",), 0.5,
        "Query, table, PK = RECIPE#uuid-101 AND begins_with(SK, INGREDIENT#), limit 10"),
    "recipe_view": asked(("uuid-101",), 0.5,
        "Query, table, PK = RECIPE#uuid-101 AND SK BETWEEN INGREDIENT# AND METADATA"),
    "trending": asked((), 1.0,
        "Query, GSI3, GSI3PK = TRENDING#weekly AND "
        "begins_with(GSI3SK, SCORE#), filtered, backward, limit 10",
        "BatchGetItem, RECIPE#uuid-101 METADATA"),
    "ranking": asked((), 0.5,
        "Query, GSI3, GSI3PK = TRENDING#weekly AND "
        "begins_with(GSI3SK, SCORE#), filtered, backward, limit 10"),
    "ratings": asked(("uuid-101",), 0.5,
        "Query, table, PK = RECIPE#uuid-101 AND begins_with(SK, RATING#), limit 10"),
    "ratings_of": asked(("uuid-123",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123 AND begins_with(GSI1SK, RATING#), limit 10"),
    "rating": asked(("uuid-101", "uuid-123"), 1.0,
        "GetItem, RECIPE#uuid-101, RATING#uuid-123, consistent"),
    "recipes": asked((["uuid-101"],), 0.5,
        "BatchGetItem, RECIPE#uuid-101 METADATA"),
    "search_recipes": asked(("Gà xào",), 0.5,
        "Query, GSI3, GSI3PK = RECIPE#SEARCH AND begins_with(GSI3SK, TITLE#ga xao), limit 10"),
    "recipes_using": asked(("Thịt gà",), 0.5,
        "Query, GSI2, GSI2PK = USES#thit ga AND begins_with(GSI2SK, RECIPE#), backward, limit 10"),
    "user_ingredients": asked(("uuid-123",), 0.5,
        "Query, table, PK = USER#uuid-123 AND begins_with(SK, INGREDIENT#), limit 10"),
    "user_ingredient": asked(("uuid-123", "Thịt gà"), 0.5,
        "GetItem, USER#uuid-123, INGREDIENT#thit ga"),
    "ingredient": asked(("uuid-789",), 0.5,
        "GetItem, INGREDIENT#uuid-789, METADATA"),
    "search_ingredients": asked(("thit-ga",), 0.5,
        "Query, GSI2, GSI2PK = INGREDIENT#SEARCH AND begins_with(GSI2SK, NAME#thit ga), limit 50"),
    "ingredients_named": asked(("Thịt gà",), 0.5,
        "Query, GSI2, GSI2PK = INGREDIENT#SEARCH AND GSI2SK = NAME#thit ga, limit 50"),
    "ingredient_by_name": asked(("thit ga",), 2.0,
        "GetItem, INGREDIENT_NAME#thit ga, UNIQUE, consistent",
        "GetItem, INGREDIENT#uuid-789, METADATA, consistent"),
    "ingredients_by_category": asked(("meat",), 0.5,
        "Query, GSI1, GSI1PK = CATEGORY#meat AND begins_with(GSI1SK, INGREDIENT#), limit 10"),
    "report": asked(("ABC xyz", "uuid-123"), 1.0,
        "GetItem, INVALID_INGREDIENT#abc xyz, USER#uuid-123, consistent"),
    "pending_reports": asked((), 0.5,
        "Query, GSI1, GSI1PK = REPORTS#PENDING AND begins_with(GSI1SK, TOTAL#), backward, limit 10"),
    "invalid_ingredient": asked(("abc-xyz",), 1.0,
        "GetItem, INVALID_INGREDIENT#abc xyz, METADATA, consistent"),
    "reporters": asked(("abc xyz",), 0.5,
        "Query, table, PK = INVALID_INGREDIENT#abc xyz AND begins_with(SK, USER#), limit 10"),
    "reports_of": asked(("uuid-123",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123 AND begins_with(GSI1SK, REPORT#), limit 10"),
    "user": asked(("uuid-123",), 1.0,
        "GetItem, USER#uuid-123, PROFILE, consistent"),
    "admins": asked((), 0.5,
        "Query, GSI1, GSI1PK = ROLE#admin AND begins_with(GSI1SK, USER#), limit 10"),
    "preferences": asked(("uuid-123",), 0.5,
        "GetItem, USER#uuid-123, PREFERENCES"),
    "privacy": asked(("uuid-123",), 1.0,
        "GetItem, USER#uuid-123, PRIVACY, consistent"),
    "user_by_email": asked(("USER@example.com",), 2.0,
        "GetItem, EMAIL#user@example.com, UNIQUE, consistent",
        "GetItem, USER#uuid-123, PROFILE, consistent"),
    "user_by_username": asked(("CookMaster",), 2.0,
        "GetItem, USERNAME#cookmaster, UNIQUE, consistent",
        "GetItem, USER#uuid-123, PROFILE, consistent"),
    "users": asked((["uuid-123", "uuid-1"],), 1.0,
        "BatchGetItem, USER#uuid-123 PROFILE, USER#uuid-1 PROFILE"),
    "privacy_of": asked((["uuid-123"],), 1.0,
        "BatchGetItem, USER#uuid-123 PRIVACY, consistent"),
    "sign_in": asked(("uuid-28",), 1.0,
        "GetItem, SESSION#uuid-28, METADATA, consistent"),
    "sign_ins": asked(("uuid-123",), 0.5,
        "Query, GSI1, GSI1PK = USER#uuid-123 AND begins_with(GSI1SK, SESSION#), filtered, limit 10"),
}
# fmt: on
