"""PerfectIt's table as its design document describes it, with items as its keys show them.

Five indexes, of which no entity is in the last three (PI-02, PI-03, PI-04); no versions, no locks. Times are to
the second as in the document's sample (001:95-100), or to the millisecond as `toISOString()` writes them. Cards
are in the lists of their category whatever their status (PI-17), orders are texts (PI-18), a category at the top
is in no list (PI-19), and instructions are a native list (PI-26).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from singletable import Entity
from singletable.client import Client
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    Category,
    Collection,
    Comment,
    PerfectionCard,
    User,
    Vote,
)
from systems.plain_items import typed_item

ENVIRONMENT = "old"
TABLE = "perfectit-old"
# Far ahead, so that no target whose clock is the machine's takes drafts away that have not expired by this clock.
NOW = datetime(2040, 1, 20, tzinfo=UTC)
Old = dict[str, Any]  # an item, in plain values


def make_table(client: Client) -> None:
    """Make the table of 001:7-45 and 001:65: on demand, five indexes, a stream."""
    pairs = [(f"GSI{number}PK", f"GSI{number}SK") for number in range(1, 6)]
    names = ["PK", "SK", *(name for pair in pairs for name in pair)]
    client.call(
        "CreateTable",
        {
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
            "KeySchema": _schema("PK", "SK"),
            "GlobalSecondaryIndexes": [
                {"IndexName": pk[:4], "KeySchema": _schema(pk, sk), "Projection": {"ProjectionType": "ALL"}}
                for pk, sk in pairs
            ],
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        },
    )


def _schema(pk: str, sk: str) -> list[dict[str, str]]:
    return [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]


def put(client: Client, *items: Old) -> None:
    """Store items as somebody else would."""
    for item in items:
        client.call("PutItem", {"TableName": TABLE, "Item": typed_item(item)})


# --- one item each, by the document's templates --------------------------------------------------------------


def user(user_id: str, username: str, created: str = "2039-12-01T08:00:00Z", **more: Any) -> Old:
    return {
        "PK": f"USER#{user_id}",
        "SK": "PROFILE",
        "GSI1PK": f"USERNAME#{username}",
        "GSI1SK": "PROFILE",
        "entityType": "User",
        "userId": user_id,
        "username": username,
        "createdAt": created,
        "updatedAt": created,
        **more,
    }


def card(card_id: str, author: str, status: str, created: str, **more: Any) -> Old:
    item = {
        "PK": f"CARD#{card_id}",
        "SK": "METADATA",
        "entityType": "PerfectionCard",
        "id": card_id,
        "title": "Perfect Wood Finish",
        "description": "...",
        "imageUrls": ["https://example.com/1.jpg"],
        "instructions": ["Sand it", {"text": "Oil it", "minutes": 20}],
        "materials": {"oil": {"ml": 200}},
        "tools": ["brush"],
        "category": "woodworking",
        "tags": ["furniture", "finishing"],
        "difficulty": "INTERMEDIATE",
        "estimatedTime": 120,
        "estimatedCost": Decimal("49.5"),
        "viewCount": 12,
        "voteScore": -3,
        "authorId": author,
        "status": status,
        "createdAt": created,
        "updatedAt": created,
        **more,
    }
    keys = {"GSI1PK": f"CAT#{item['category']}", "GSI2PK": f"USER#{author}"}
    return {**item, **keys, "GSI1SK": f"CREATED#{created}", "GSI2SK": f"CREATED#{created}"}


def comment(card_id: str, comment_id: str, author: str, created: str, **more: Any) -> Old:
    return {
        "PK": f"CARD#{card_id}",
        "SK": f"COMMENT#{created}#{comment_id}",
        "GSI1PK": f"USER#{author}",
        "GSI1SK": f"COMMENT#{created}",
        "entityType": "Comment",
        "commentId": comment_id,
        "cardId": card_id,
        "authorId": author,
        "text": f"Comment {comment_id}",
        "createdAt": created,
        "updatedAt": created,
        **more,
    }


def vote(user_id: str, target_id: str, created: str, **more: Any) -> Old:
    """Make a vote as the keys show it: without a direction, which `more` may have."""
    return {
        "PK": f"VOTE#{user_id}#{target_id}",
        "SK": "VOTE",
        "GSI1PK": f"TARGET#{target_id}",
        "GSI1SK": f"VOTE#{created}",
        "entityType": "Vote",
        "userId": user_id,
        "targetId": target_id,
        "createdAt": created,
        "updatedAt": created,
        **more,
    }


def collection(user_id: str, collection_id: str, **more: Any) -> Old:
    created = "2039-12-02T08:00:00Z"
    return {
        "PK": f"USER#{user_id}",
        "SK": f"COLLECTION#{collection_id}",
        "GSI1PK": f"COLLECTION#{collection_id}",
        "GSI1SK": "METADATA",
        "entityType": "Collection",
        "userId": user_id,
        "collectionId": collection_id,
        "name": f"Collection {collection_id}",
        "createdAt": created,
        "updatedAt": created,
        **more,
    }


def link(collection_id: str, card_id: str, **more: Any) -> Old:
    """Make a link as the keys show it: without its owner, which `more` may have."""
    return {
        "PK": f"COLLECTION#{collection_id}",
        "SK": f"CARD#{card_id}",
        "entityType": "CardInCollection",
        "collectionId": collection_id,
        "cardId": card_id,
        **more,
    }


def category(category_id: str, parent_id: str | None, order: int) -> Old:
    created = "2039-12-01T08:00:00Z"
    item = {
        "PK": f"CAT#{category_id}",
        "SK": "METADATA",
        "entityType": "Category",
        "categoryId": category_id,
        "name": category_id.title(),
        "sortOrder": order,
        "createdAt": created,
        "updatedAt": created,
    }
    if parent_id is None:
        return item
    return {**item, "parentId": parent_id, "GSI1PK": f"PARENT#{parent_id}", "GSI1SK": f"SORT#{order}"}


# --- the table -------------------------------------------------------------------------------------------------

ON_CARD, ON_COMMENT = {"targetType": "card", "cardId": "123"}, {"targetType": "comment", "cardId": "123"}
COMMENTED = "2039-12-05T10:00:00Z"
USERS = [
    user("user123", "maker", displayName="The Maker", theme="dark"),
    user("user456", "Grace", "2039-12-01T08:00:00.250Z"),
]
CARDS = [
    card("123", "user123", "PUBLISHED", "2025-01-01T00:00:00Z", importedFrom="paper"),  # 001:75-101
    card("124", "user123", "PUBLISHED", "2025-01-01T00:00:00.500Z", title="Half a second later", tags=[]),
    card("125", "user123", "DRAFT", "2040-01-10T10:00:00Z", instructions=[]),
    card("126", "user123", "ARCHIVED", "2039-12-31T23:59:59Z"),
    card("127", "user456", "PUBLISHED", "2040-01-19T23:59:59.999Z", category="glass"),
    card("128", "user456", "DRAFT", "2039-12-20T23:59:59Z", title="Over for a day"),
]
COMMENTS = [
    comment("123", "com2", "user456", COMMENTED),
    comment("123", "com1", "user123", "2039-12-05T10:00:00.500Z"),
    comment("123", "com3", "user456", "2039-12-05T10:00:00.000Z", updatedAt="2039-12-06T10:00:00Z"),
    comment("123", "com4", "user456", "2039-12-05T09:59:59.999Z"),
    comment("127", "com5", "user123", "2040-01-19T23:59:59Z"),
]
VOTES = [
    vote("user456", "123", "2039-12-06T10:00:00Z", value=1, **ON_CARD),
    vote("user123", "123", "2039-12-06T10:00:00.500Z", value=-1, **ON_CARD),
    vote("user123", "com2", "2039-12-06T10:00:00Z", value=1, commentedAt=COMMENTED, **ON_COMMENT),
]
COLLECTIONS = [collection("user456", "col1"), collection("user456", "col2", isPublic=False)]
LINKS = [
    *(link("col1", each, userId="user456", addedAt="2039-12-07T10:00:00Z") for each in ("123", "126", "127")),
    link("col2", "123", userId="user456", addedAt="2039-12-07T10:00:00.250Z"),
]
CATEGORIES = [
    category("crafts", None, 1),
    category("woodworking", "crafts", 10),
    category("glass", "crafts", 9),
    category("lathes", "woodworking", 2),
]
ITEMS = [*USERS, *CARDS, *COMMENTS, *VOTES, *COLLECTIONS, *LINKS, *CATEGORIES]


# --- the same, as the design has it ------------------------------------------------------------------------------

# What the counts come to.
_COUNTED: dict[tuple[str, str], dict[str, Any]] = {
    ("USER#user456", "COLLECTION#col1"): {"cards_count": 3},
    ("USER#user456", "COLLECTION#col2"): {"cards_count": 1},
    ("CARD#123", f"COMMENT#{COMMENTED}#com2"): {"up_votes": 1},
    ("CAT#crafts", "METADATA"): {"categories_count": 2},
    ("CAT#woodworking", "METADATA"): {"categories_count": 1, "cards_count": 2},
    ("CAT#glass", "METADATA"): {"cards_count": 1},
}


def entities() -> Iterator[Entity]:
    """Make what these items say, without reading them through the design."""
    kinds: list[tuple[type[Entity], list[Old]]] = [
        (User, USERS),
        (PerfectionCard, CARDS[:5]),  # the last one is over
        (Comment, COMMENTS),
        (Vote, VOTES),
        (Collection, COLLECTIONS),
        (CardInCollection, LINKS),
        (Category, CATEGORIES),
    ]
    for kind, items in kinds:
        for item in items:
            values = {_field(kind, name): value for name, value in item.items()}
            values |= _COUNTED.get((item["PK"], item["SK"]), {})
            if values.get("status") == "PUBLISHED":
                values["published_at"] = item["createdAt"]
            yield kind(**{name: value for name, value in values.items() if name in kind.model_fields})


def _field(kind: type[Entity], stored: str) -> str:
    """estimatedTime -> estimated_time"""
    if stored == "id":
        return "card_id"
    if stored == "authorId":
        return "user_id"
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in stored)
