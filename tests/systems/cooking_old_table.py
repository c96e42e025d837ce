"""Smart Cooking's table as its documents describe it, with items as they would have been written by them.

One item each is that of the document to the letter (002, at the line), but for the ids in its keys. No stream, no
expiry, no versions, no locks; times to the second. Recipes are sorted by `RATING#` as in 000:62, or by `RECIPE#`
as in 002:215, private ones too (SC-12); everybody is in `ROLE#user` (SC-03); a friendship is one row (SC-31); each
reporter has the total (SC-33).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from singletable.client import Client

ENVIRONMENT = "old"
TABLE = "smart-cooking-data-old"
Old = dict[str, Any]  # an item, in plain values

INDEXES = ("GSI1", "GSI2", "GSI3")


def make_table(client: Client) -> None:
    """Make the table of 000:9-28: on demand, three indexes with everything in them."""
    names = ("PK", "SK", *(f"{index}{key}" for index in INDEXES for key in ("PK", "SK")))
    client.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
            "KeySchema": schema("PK", "SK"),
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": index,
                    "KeySchema": schema(f"{index}PK", f"{index}SK"),
                    "Projection": {"ProjectionType": "ALL"},
                }
                for index in INDEXES
            ],
        },
    )


def schema(pk: str, sk: str) -> list[dict[str, str]]:
    return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]


def put(client: Client, *items: Old) -> None:
    """Store items as somebody else would."""
    for item in items:
        client.call("PutItem", {"TableName": TABLE, "Item": marshalled(item)["M"]})


def marshalled(value: Any) -> dict[str, Any]:
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int() | Decimal():
            return {"N": str(value)}
        case dict():
            return {"M": {name: marshalled(inner) for name, inner in value.items()}}
        case list():
            return {"L": [marshalled(inner) for inner in value]}
        case _:
            return {"S": value}


def _items(*items: Old) -> list[Old]:
    return list(items)


# --- users -------------------------------------------------------------------------------------------------------

PROFILE: Old = {  # 002:59-79
    "PK": "USER#uuid-123",
    "SK": "PROFILE",
    "entity_type": "USER_PROFILE",
    "user_id": "uuid-123",
    "email": "user@example.com",
    "username": "cookmaster",
    "full_name": "John Doe",
    "date_of_birth": "1990-01-15",
    "gender": "male",
    "country": "Vietnam",
    "avatar_url": "https://s3.../avatar.jpg",
    "role": "user",
    "is_active": True,
    "created_at": "2025-01-15T10:00:00Z",
    "updated_at": "2025-01-15T10:00:00Z",
    "last_login": "2025-01-20T15:30:00Z",
    "GSI1PK": "ROLE#user",
    "GSI1SK": "USER#2025-01-15T10:00:00Z",
}
PREFERENCES: Old = {  # 002:88-100
    "PK": "USER#uuid-123",
    "SK": "PREFERENCES",
    "entity_type": "USER_PREFERENCES",
    "dietary_restrictions": ["vegetarian"],
    "allergies": ["shrimp", "crab"],
    "favorite_cuisines": ["Vietnamese", "Italian"],
    "preferred_cooking_methods": ["stir-fry", "steam", "soup"],
    "preferred_recipe_count": 3,
    "spice_level": "medium",
    "created_at": "2025-01-15T10:00:00Z",
    "updated_at": "2025-01-20T11:00:00Z",
    "GSI1PK": "USER#uuid-123",  # 000:44, SC-04
    "GSI1SK": "PREFERENCES",
}
PRIVACY: Old = {  # 002:108-122
    "PK": "USER#uuid-123",
    "SK": "PRIVACY",
    "entity_type": "PRIVACY_SETTINGS",
    "profile_visibility": "public",
    "email_visibility": "private",
    "date_of_birth_visibility": "friends",
    "gender_visibility": "public",
    "country_visibility": "public",
    "recipes_visibility": "public",
    "ingredients_visibility": "friends",
    "preferences_visibility": "friends",
    "created_at": "2025-01-15T10:00:00Z",
    "updated_at": "2025-01-15T10:00:00Z",
}


def profile(user_id: str, username: str, **more: Any) -> Old:
    role, created = more.get("role", "user"), "2025-01-16T10:00:00Z"
    return PROFILE | {
        "PK": f"USER#{user_id}",
        "user_id": user_id,
        "email": f"{username}@example.com",
        "username": username,
        "full_name": username.title(),
        "created_at": created,
        "GSI1PK": f"ROLE#{role}",
        "GSI1SK": f"USER#{created}",
        **more,
    }


PEOPLE = _items(
    PROFILE,
    PREFERENCES,
    PRIVACY,
    profile("uuid-456", "grace"),
    PRIVACY | {"PK": "USER#uuid-456", "profile_visibility": "private"},
    profile("uuid-1", "root", role="admin"),
)

# --- ingredients -------------------------------------------------------------------------------------------------

AT_HOME: Old = {  # 002:131-139
    "PK": "USER#uuid-123",
    "SK": "INGREDIENT#thit ga",
    "entity_type": "USER_INGREDIENT",
    "ingredient_id": "uuid-456",
    "ingredient_name": "Thịt gà",
    "normalized_name": "thit ga",
    "added_at": "2025-01-20T09:00:00Z",
}
INGREDIENT: Old = {  # 002:149-166
    "PK": "INGREDIENT#uuid-789",
    "SK": "METADATA",
    "entity_type": "MASTER_INGREDIENT",
    "ingredient_id": "uuid-789",
    "name": "Thịt gà",
    "normalized_name": "thit ga",
    "category": "meat",
    "aliases": ["gà", "chicken", "thịt gà ta"],
    "is_active": True,
    "created_at": "2025-01-01T00:00:00Z",
    "updated_at": "2025-01-01T00:00:00Z",
    "GSI1PK": "CATEGORY#meat",
    "GSI1SK": "INGREDIENT#thit ga",
    "GSI2PK": "INGREDIENT#SEARCH",
    "GSI2SK": "NAME#thit ga",
}
# 000:22, SC-15: the same normal form with hyphens; and one that nobody lists.
HYPHENED = INGREDIENT | {
    "PK": "INGREDIENT#uuid-790",
    "ingredient_id": "uuid-790",
    "name": "Cà chua",
    "normalized_name": "ca-chua",
    "category": "vegetable",
    "aliases": ["tomato"],
    "GSI1PK": "CATEGORY#vegetable",
    "GSI1SK": "INGREDIENT#ca-chua",
    "GSI2SK": "NAME#ca-chua",
}
REPORT: Old = {  # 002:457-474
    "PK": "INVALID_INGREDIENT#abc xyz",
    "SK": "USER#uuid-123",
    "entity_type": "INVALID_INGREDIENT_REPORT",
    "report_id": "uuid-1010",
    "ingredient_name": "abc xyz",
    "normalized_name": "abc xyz",
    "user_id": "uuid-123",
    "user_report_count": 1,
    "total_reports": 5,
    "status": "pending",
    "admin_notes": "",
    "created_at": "2025-01-20T10:00:00Z",
    "updated_at": "2025-01-20T10:00:00Z",
    "GSI1PK": "REPORTS#PENDING",
    "GSI1SK": "TOTAL#5#2025-01-20T10:00:00Z",
}
INGREDIENTS = _items(
    AT_HOME,
    AT_HOME | {"SK": "INGREDIENT#ca-chua", "ingredient_name": "Cà chua", "normalized_name": "ca-chua"},
    INGREDIENT,
    HYPHENED,
    REPORT,
    REPORT
    | {
        "SK": "USER#uuid-456",
        "report_id": "uuid-1011",
        "user_id": "uuid-456",
        "user_report_count": 4,
        "admin_notes": "looks like a typo",
        "created_at": "2025-01-19T10:00:00Z",
    },
)

# --- recipes and cooking -----------------------------------------------------------------------------------------

RECIPE: Old = {  # 002:178-216, but for GSI2SK, which is as 000:62 has it
    "PK": "RECIPE#uuid-101",
    "SK": "METADATA",
    "entity_type": "RECIPE",
    "recipe_id": "uuid-101",
    "user_id": "uuid-123",
    "title": "Gà xào sả ớt",
    "normalized_title": "ga xao sa ot",
    "description": "Món gà xào thơm ngon...",
    "cuisine_type": "Vietnamese",
    "cooking_method": "stir-fry",
    "meal_type": "main",
    "prep_time_minutes": 15,
    "cook_time_minutes": 20,
    "servings": 2,
    "calories_per_serving": 350,
    "instructions": [{"step_number": 1, "description": "Ướp gà với sả ớt", "duration": "10 phút"}],
    "is_public": True,
    "is_ai_generated": True,
    "is_approved": True,
    "approval_type": "auto_rating",
    "average_rating": Decimal("4.5"),
    "rating_count": 12,
    "ai_cache_hit_count": 0,
    "created_at": "2025-01-20T10:00:00Z",
    "updated_at": "2025-01-22T14:00:00Z",
    "approved_at": "2025-01-22T14:00:00Z",
    "GSI1PK": "USER#uuid-123",
    "GSI1SK": "RECIPE#2025-01-20T10:00:00Z",
    "GSI2PK": "METHOD#stir-fry",
    "GSI2SK": "RATING#4.5#2025-01-20T10:00:00Z",
}
LINE: Old = {  # 002:227-235
    "PK": "RECIPE#uuid-101",
    "SK": "INGREDIENT#001",
    "entity_type": "RECIPE_INGREDIENT",
    "ingredient_name": "Thịt gà",
    "quantity": "300g",
    "unit": "gram",
    "is_optional": False,
}
RATING: Old = {  # 002:272-288
    "PK": "RECIPE#uuid-101",
    "SK": "RATING#uuid-456",
    "entity_type": "RECIPE_RATING",
    "rating_id": "uuid-404",
    "recipe_id": "uuid-101",
    "user_id": "uuid-456",
    "history_id": "uuid-202",
    "rating": 5,
    "comment": "Món này rất ngon!",
    "is_verified_cook": True,
    "created_at": "2025-01-20T18:05:00Z",
    "updated_at": "2025-01-20T18:05:00Z",
    "GSI1PK": "USER#uuid-456",
    "GSI1SK": "RATING#2025-01-20T18:05:00Z",
}
HISTORY: Old = {  # 002:244-262, with the keys of GSI3 that 000:70 has
    "PK": "USER#uuid-123",
    "SK": "COOKING#2025-01-20T15:30:00Z#uuid-202",
    "entity_type": "COOKING_HISTORY",
    "history_id": "uuid-202",
    "user_id": "uuid-123",
    "recipe_id": "uuid-101",
    "suggestion_id": "uuid-303",
    "status": "completed",
    "personal_rating": 5,
    "personal_notes": "Rất ngon, sẽ nấu lại!",
    "is_favorite": True,
    "cook_date": "2025-01-20T18:00:00Z",
    "created_at": "2025-01-20T15:30:00Z",
    "updated_at": "2025-01-20T18:05:00Z",
    "GSI1PK": "USER#uuid-123#FAVORITE",
    "GSI1SK": "COOKING#2025-01-20T18:00:00Z",
    "GSI3PK": "RECENT#2025-01",
    "GSI3SK": "2025-01-20T18:00:00Z",
}
SUGGESTION: Old = {  # 002:299-319
    "PK": "USER#uuid-123",
    "SK": "SUGGESTION#2025-01-20T10:00:00Z",
    "entity_type": "AI_SUGGESTION",
    "suggestion_id": "uuid-303",
    "user_id": "uuid-123",
    "recipe_ids": ["uuid-101", "uuid-102", "uuid-103"],
    "cache_ids": [],
    "prompt_text": "Gợi ý món với gà, cà chua, hành",
    "ingredients_used": ["thịt gà", "cà chua", "hành tây"],
    "requested_recipe_count": 3,
    "recipes_from_db": 2,
    "recipes_from_ai": 1,
    "invalid_ingredients": [],
    "ai_response": {"recipes": [{"title": "Gà xào sả ớt"}]},
    "was_from_cache": False,
    "was_accepted": True,
    "feedback_rating": 5,
    "feedback_comment": "Gợi ý rất hay!",
    "created_at": "2025-01-20T10:00:00Z",
}
COOKING = _items(
    RECIPE,
    RECIPE
    | {
        "PK": "RECIPE#uuid-102",
        "recipe_id": "uuid-102",
        "is_public": False,
        "is_approved": False,
        "average_rating": 0,
        "rating_count": 0,
        "GSI2SK": "RECIPE#0#2025-01-20T10:00:00Z",
    },
    LINE,
    LINE | {"SK": "INGREDIENT#002", "ingredient_name": "Sả", "quantity": "a few stalks", "unit": None},
    RATING,
    RATING
    | {
        "SK": "RATING#uuid-1",
        "rating_id": "uuid-405",
        "user_id": "uuid-1",
        "rating": 4,
        "GSI1PK": "USER#uuid-1",
    },
    HISTORY,
    # Somebody who hides what is cooked, and is among recent activities all the same (SC-19).
    HISTORY
    | {
        "PK": "USER#uuid-456",
        "SK": "COOKING#2025-01-21T15:30:00Z#uuid-203",
        "history_id": "uuid-203",
        "user_id": "uuid-456",
        "is_favorite": False,
        "GSI1PK": "USER#uuid-456#FAVORITE",  # left behind, SC-30
    },
    SUGGESTION,
)

# --- friends and posts -------------------------------------------------------------------------------------------

FRIENDSHIP: Old = {  # 002:329-342
    "PK": "USER#uuid-123",
    "SK": "FRIEND#uuid-456",
    "entity_type": "FRIENDSHIP",
    "friendship_id": "uuid-505",
    "user_id": "uuid-123",
    "friend_id": "uuid-456",
    "status": "accepted",
    "requested_at": "2025-01-18T10:00:00Z",
    "responded_at": "2025-01-18T14:00:00Z",
    "GSI1PK": "USER#uuid-456",
    "GSI1SK": "FRIEND#uuid-123",
}
POST: Old = {  # 002:353-372
    "PK": "POST#uuid-606",
    "SK": "METADATA",
    "entity_type": "POST",
    "post_id": "uuid-606",
    "user_id": "uuid-123",
    "recipe_id": "uuid-101",
    "content": "Vừa nấu món này, rất ngon!",
    "images": ["https://s3.../post1.jpg"],
    "is_public": True,
    "likes_count": 15,
    "comments_count": 3,
    "created_at": "2025-01-20T20:00:00Z",
    "updated_at": "2025-01-20T20:00:00Z",
    "GSI1PK": "USER#uuid-123",
    "GSI1SK": "POST#2025-01-20T20:00:00Z",
    "GSI3PK": "FEED#PUBLIC",
    "GSI3SK": "POST#2025-01-20T20:00:00Z",
}
COMMENT: Old = {  # 002:383-397
    "PK": "POST#uuid-606",
    "SK": "COMMENT#2025-01-20T21:00:00Z#uuid-707",
    "entity_type": "COMMENT",
    "comment_id": "uuid-707",
    "post_id": "uuid-606",
    "user_id": "uuid-456",
    "parent_comment_id": None,
    "content": "Trông rất ngon!",
    "created_at": "2025-01-20T21:00:00Z",
    "updated_at": "2025-01-20T21:00:00Z",
    "GSI1PK": "USER#uuid-456",
    "GSI1SK": "COMMENT#2025-01-20T21:00:00Z",
}
REACTION: Old = {  # 002:407-420
    "PK": "POST#uuid-606",
    "SK": "REACTION#uuid-456",
    "entity_type": "REACTION",
    "reaction_id": "uuid-808",
    "user_id": "uuid-456",
    "target_type": "post",
    "target_id": "uuid-606",
    "reaction_type": "like",
    "created_at": "2025-01-20T21:30:00Z",
    "GSI1PK": "USER#uuid-456",
    "GSI1SK": "REACTION#2025-01-20T21:30:00Z",
}
NOTIFICATION: Old = {  # 002:431-447
    "PK": "USER#uuid-123",
    "SK": "NOTIFICATION#2025-01-20T21:00:00Z#uuid-909",
    "entity_type": "NOTIFICATION",
    "notification_id": "uuid-909",
    "user_id": "uuid-123",
    "actor_id": "uuid-456",
    "type": "comment",
    "target_type": "post",
    "target_id": "uuid-606",
    "content": "John commented on your post",
    "is_read": False,
    "created_at": "2025-01-20T21:00:00Z",
    "GSI1PK": "USER#uuid-123#UNREAD",
    "GSI1SK": "NOTIFICATION#2025-01-20T21:00:00Z",
}
SOCIETY = _items(
    FRIENDSHIP,
    FRIENDSHIP
    | {
        "PK": "USER#uuid-1",
        "SK": "FRIEND#uuid-123",
        "friendship_id": "uuid-506",
        "user_id": "uuid-1",
        "friend_id": "uuid-123",
        "status": "pending",
        "responded_at": None,
        "GSI1PK": "USER#uuid-123",
        "GSI1SK": "FRIEND#uuid-1",
    },
    POST,
    POST
    | {"PK": "POST#uuid-607", "post_id": "uuid-607", "is_public": False},  # in the feed all the same, SC-23
    COMMENT,
    COMMENT
    | {
        "SK": "COMMENT#2025-01-20T21:00:00Z#uuid-708",
        "comment_id": "uuid-708",
        "user_id": "uuid-123",
        "parent_comment_id": "uuid-707",
        "GSI1PK": "USER#uuid-123",
    },
    REACTION,
    NOTIFICATION,
    NOTIFICATION
    | {
        "SK": "NOTIFICATION#2025-01-20T21:30:00Z#uuid-910",
        "notification_id": "uuid-910",
        "is_read": True,
        "created_at": "2025-01-20T21:30:00Z",
    },
)

ITEMS = [*PEOPLE, *INGREDIENTS, *COOKING, *SOCIETY]
