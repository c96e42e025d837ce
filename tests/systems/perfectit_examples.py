"""A full example of each entity of PerfectIt, with the ids of the design document, and what the stream derives.

The card is the document's own (001:75-101), with something in the places of its dots.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from singletable import Entity
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardScore,
    CardStats,
    Category,
    Collection,
    Comment,
    DailyAnalytics,
    Instruction,
    Notification,
    PerfectionCard,
    SearchToken,
    User,
    Vote,
)
from singletable_systems.perfectit.model.keys import (
    CardId,
    CategoryId,
    CollectionId,
    CommentId,
    NotificationId,
    UserId,
)

AT = datetime(2025, 1, 1, tzinfo=UTC)  # 001:95
STORED_AT = datetime(2025, 1, 2, 8, 0, 0, 123_000, tzinfo=UTC)  # what the clock says when they are stored
AUTHOR, CARD_ID = UserId("user123"), CardId("123")
WOODWORKING = CategoryId("woodworking")

USER = User(
    user_id=AUTHOR,
    username="Maker",
    display_name="The Maker",
    bio="Sands, glues, waits.",
    avatar_url="https://example.com/maker.jpg",
    created_at=AT,
    updated_at=AT,
)
CARD = PerfectionCard(
    card_id=CARD_ID,
    title="Perfect Wood Finish",
    description="How it shines",
    image_urls=["https://example.com/123.jpg"],
    instructions=[
        Instruction(text="Sand it", image_url="https://example.com/sand.jpg", minutes=20),
        Instruction(text="Oil it"),
    ],
    materials={"oil": {"ml": Decimal(200)}, "cloths": ["cotton"]},
    tools=["brush"],
    category=WOODWORKING,
    tags=["furniture", "finishing"],
    difficulty="INTERMEDIATE",
    estimated_time=120,
    estimated_cost=Decimal(50),
    view_count=0,
    vote_score=0,
    user_id=AUTHOR,
    status="PUBLISHED",
    created_at=AT,
    updated_at=AT,
    published_at=AT,
)
DRAFT = PerfectionCard(
    card_id=CardId("124"), title="Next", category=WOODWORKING, user_id=AUTHOR, created_at=AT, updated_at=AT
)
STATS = CardStats(
    card_id=CARD_ID, user_id=AUTHOR, published_at=AT, up_votes=43, down_votes=1, comments=1, views=7
)
COMMENT = Comment(
    comment_id=CommentId("com1"),
    card_id=CARD_ID,
    user_id=AUTHOR,
    text="Three coats",
    recipient_id=AUTHOR,
    created_at=AT,
    updated_at=AT,
    up_votes=1,
)
VOTE = Vote(
    user_id=AUTHOR,
    target_id=CARD_ID,
    target_type="card",
    value=1,
    card_id=CARD_ID,
    recipient_id=AUTHOR,
    created_at=AT,
    updated_at=AT,
)
COMMENT_VOTE = Vote(
    user_id=AUTHOR,
    target_id="com1",
    target_type="comment",
    value=-1,
    card_id=CARD_ID,
    commented_at=AT,
    recipient_id=AUTHOR,
    created_at=AT,
    updated_at=AT,
)
COLLECTION = Collection(
    user_id=AUTHOR,
    collection_id=CollectionId("col1"),
    name="Shine",
    description="What shines",
    is_public=False,
    cards_count=1,
    created_at=AT,
    updated_at=AT,
)
LINK = CardInCollection(
    collection_id=CollectionId("col1"), card_id=CARD_ID, user_id=AUTHOR, recipient_id=AUTHOR, added_at=AT
)
CATEGORY = Category(
    category_id=WOODWORKING,
    name="Woodworking",
    description="All of wood",
    parent_id="crafts",
    sort_order=7,
    categories_count=2,
    cards_count=1,
    created_at=AT,
    updated_at=AT,
)
NOTIFICATION = Notification(
    notification_id=NotificationId("not1"),
    user_id=AUTHOR,
    actor_id=UserId("user456"),
    type="comment",
    card_id=CARD_ID,
    target_id="com1",
    created_at=AT,
)
ANALYTICS = DailyAnalytics(
    day="2025-01-01", users=1, cards=2, comments=3, up_votes=4, down_votes=5, collected=6
)
EXAMPLES: tuple[Entity, ...] = (
    *(USER, CARD, DRAFT, STATS, COMMENT, VOTE, COMMENT_VOTE, COLLECTION, LINK, CATEGORY),
    *(NOTIFICATION, ANALYTICS),
)
# What the stream derives from them.
SCORE = CardScore(card_id=CARD_ID, kind="CARD", score=42)
TOKEN = SearchToken(card_id=CARD_ID, token="wood")
