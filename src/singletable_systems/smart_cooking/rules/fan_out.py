"""Decisions about fan-out: how posts come into the feeds of friends (SC-22). Pure: no reads, no writes.

Most accounts use "writing", fan-out on write: a post is written into the feed of every friend. An account with
very many friends uses "reading", fan-out on read: its posts are looked up when a friend reads the feed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Final, TypeVar

from singletable.errors import InvalidItemError
from singletable_systems.smart_cooking.model.entities import FeedItem, Friendship, Post, Spread
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.model.patterns.feed import FEED_TIME

FAN_OUT_MAX: Final = 1_000  # friends with fan-out on write; with more, an account goes over to "reading"
FAN_OUT_AGAIN: Final = 800  # with fewer, it comes back; the gap keeps it from going to and fro
CAUGHT_UP_MAX: Final = 20  # posts of a new friend that come into the feed
LOOKED_AT_MAX: Final = 100  # posts of his that are looked at for that

logger = logging.getLogger("singletable_systems.smart_cooking")

T = TypeVar("T")


def log_invalid(error: InvalidItemError) -> None:
    """Log that an invalid item is left out: it must not stop the items around it."""
    logger.error("an item is left out: %s", error)


def spread_for(friends_count: int, spread: Spread) -> Spread:
    """Return how the posts of somebody with so many friends are to reach them; `spread` is how they do now."""
    if friends_count > FAN_OUT_MAX:
        return "reading"
    return "writing" if friends_count < FAN_OUT_AGAIN else spread


def is_in_feeds(created_at: datetime, now: datetime) -> bool:
    """Tell whether a post is young enough for feeds."""
    return created_at + FEED_TIME > now


def feed_item(user_id: UserId, post: Post) -> FeedItem:
    """Return the entry of a post in somebody's feed."""
    return FeedItem(user_id=user_id, post_id=post.post_id, author_id=post.user_id, created_at=post.created_at)


def is_friend(row: Friendship | None) -> bool:
    """Tell whether a row says that the two are friends."""
    return row is not None and row.status == "accepted"


def is_fed(row: Friendship | None) -> bool:
    """Tell whether the friend's posts are written into the feed of the owner of the row."""
    return row is not None and row.status == "accepted" and row.friend_feeds_by == "writing"


def caught_up(posts: Iterable[Post], now: datetime) -> Iterator[Post]:
    """Choose the posts that come into the feed of a new friend, of some that are given newest first."""
    chosen = (post for post in posts if post.is_public and is_in_feeds(post.created_at, now))
    return islice(chosen, CAUGHT_UP_MAX)


def in_groups(members: Iterable[T], size: int) -> Iterator[list[T]]:
    """Return the members of something long in lists of so many."""
    rest = iter(members)
    while group := list(islice(rest, size)):
        yield group
