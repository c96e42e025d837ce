"""The friends and posts of Smart Cooking's tests: private posts, answers, feeds that point to what is gone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations
from typing import Any, get_args

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    Comment,
    CommentReaction,
    FeedItem,
    Friendship,
    FriendshipStatus,
    Notification,
    NotificationType,
    Post,
    Reaction,
    ReactionType,
)
from singletable_systems.smart_cooking.model.keys import CommentId, NotificationId, PostId, UserId
from systems.cooking_traps import (
    AGES,
    COOKS,
    HEAVY_USER,
    MILLISECOND,
    NOW,
    POST_IDS,
    SECOND,
    long_text,
    maybe,
    moment,
)

HEAVY_POST = POST_IDS[2]
COMMENT_IDS = [CommentId(text) for text in ("c", "c1", "c10", "c100", "c2", "C1", "~")]
FEED_AGES = [*AGES[:5], *(timedelta(days=30) + off for off in (-SECOND, timedelta(0), SECOND))]


def make_society(chance: random.Random) -> Iterator[Entity]:
    posts = [*_posts(chance), *_heavy_posts(chance)]
    yield from _friendships(chance)
    yield from posts
    yield from _comments(chance, posts)
    yield from _reactions(chance, posts)
    yield from _feeds(chance, posts)
    yield from _notifications(chance)


# --- friends ----------------------------------------------------------------------------------------------


def _friendships(chance: random.Random) -> Iterator[Friendship]:
    """Make both rows of each pair. Some pairs know nothing of each other."""
    for number, (asking, asked) in enumerate(combinations(COOKS, 2)):
        if number % 7 == 6:
            continue
        status: FriendshipStatus = chance.choice(get_args(FriendshipStatus))
        sides = [(asking, asked), (asked, asking)]
        if chance.random() < 0.5:
            sides.reverse()
        for direction, (user_id, friend_id) in zip(("sent", "received"), sides, strict=True):
            yield Friendship(
                friendship_id=f"f{number}",
                user_id=user_id,
                friend_id=friend_id,
                status=status,
                requested_at=NOW,
                direction="sent" if direction == "sent" else "received",
                friend_feeds_by=chance.choice(["writing", "reading"]) if status == "accepted" else None,
            )


# --- posts ------------------------------------------------------------------------------------------------


def _post(chance: random.Random, post_id: str, user_id: UserId, **fields: Any) -> Post:
    values: dict[str, Any] = {
        "content": "Vừa nấu món này",
        "images": ["https://example.com/p.jpg"] * chance.randint(0, 2),
        "is_public": chance.random() < 0.7,
        "created_at": moment(chance),
    }
    return Post(post_id=PostId(post_id), user_id=user_id, **{**values, **fields})


def _posts(chance: random.Random) -> Iterator[Post]:
    yield from (_post(chance, post_id, COOKS[0]) for post_id in POST_IDS)
    for number, user_id in enumerate(COOKS[1:], 1):
        yield from (_post(chance, f"{post_id}.{number}", user_id) for post_id in POST_IDS)


def _heavy_posts(chance: random.Random) -> Iterator[Post]:
    for number in range(190):
        created_at = NOW - MILLISECOND * (number // 3)
        content = long_text(chance, 8_000)
        yield _post(chance, f"h{number}", HEAVY_USER, content=content, created_at=created_at)


def _comments(chance: random.Random, posts: list[Post]) -> Iterator[Comment]:
    """Make comments whose ids are the same on every post, and answers to some of them."""
    for at, post in enumerate(posts[:20]):
        count = len(COMMENT_IDS) if at < 3 else chance.randint(0, len(COMMENT_IDS))
        heavy = [f"x{number}" for number in range(180 if post.post_id == HEAVY_POST else 0)]
        for comment_id in [*COMMENT_IDS[:count], *heavy]:
            name = f"{comment_id}.{post.post_id}"
            answered = CommentId(f"c.{post.post_id}") if comment_id != "c" and chance.random() < 0.5 else None
            yield Comment(
                comment_id=CommentId(name),
                post_id=post.post_id,
                user_id=HEAVY_USER if heavy else chance.choice(COOKS),
                parent_comment_id=answered,
                parent_user_id=None if answered is None else COOKS[0],
                content=long_text(chance, 8_000) if comment_id in heavy else "ngon!",
                created_at=_commented_at(post, comment_id),
            )


def _commented_at(post: Post, comment_id: str) -> Any:
    """Return the moment of a comment: two are of each millisecond."""
    return NOW + MILLISECOND * (len(comment_id) // 2) + timedelta(seconds=len(post.post_id))


def _reactions(chance: random.Random, posts: list[Post]) -> Iterator[Entity]:
    kinds: tuple[ReactionType, ...] = get_args(ReactionType)
    for post in posts[:20]:
        for user_id in chance.sample(COOKS, chance.randint(0, len(COOKS))):
            yield Reaction(
                reaction_id=f"reaction-{post.post_id}-{user_id}",
                user_id=user_id,
                post_id=post.post_id,
                reaction_type=chance.choice(kinds),
                created_at=moment(chance),
            )
    for post in posts[:3]:
        for comment_id in COMMENT_IDS[:3]:
            for user_id in chance.sample(COOKS, 4):
                name = CommentId(f"{comment_id}.{post.post_id}")
                yield CommentReaction(
                    reaction_id=f"reaction-{name}-{user_id}",
                    user_id=user_id,
                    post_id=post.post_id,
                    comment_id=name,
                    commented_at=_commented_at(post, comment_id),
                    comment_user_id=COOKS[0],
                    reaction_type=chance.choice(kinds),
                    created_at=moment(chance),
                )


# --- feeds and notifications --------------------------------------------------------------------------------


def _feeds(chance: random.Random, posts: list[Post]) -> Iterator[FeedItem]:
    """Make entries of posts that are public or not, of posts that are gone, and of posts of 30 days ago."""
    for user_id in COOKS:
        count = 140 if user_id == HEAVY_USER else 30
        ages = [moment(chance, FEED_AGES) for _ in range(9)]
        gone = [_post(chance, f"gone{number}", COOKS[0], created_at=at) for number, at in enumerate(ages)]
        for post in [*chance.sample(posts, count), *gone]:
            yield FeedItem(
                user_id=user_id, post_id=post.post_id, author_id=post.user_id, created_at=post.created_at
            )


def _notifications(chance: random.Random) -> Iterator[Notification]:
    for user_id in COOKS:
        is_heavy = user_id == HEAVY_USER
        for number in range(180 if is_heavy else 16):
            yield Notification(
                notification_id=NotificationId(f"n{number}"),
                user_id=user_id,
                actor_id=maybe(chance, COOKS[0]),
                type=chance.choice(get_args(NotificationType)),
                target_type="post",
                target_id="p1",
                content=long_text(chance, 8_000) if is_heavy else "đã bình luận",
                is_read=chance.random() < 0.4,
                created_at=moment(chance, FEED_AGES),
            )
