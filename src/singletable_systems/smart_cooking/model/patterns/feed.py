"""The feed of one user: the posts of friends in the last 30 days, newest first.

It has two sources (SC-22): entries that were written for the user (fan-out on write), and posts of friends with
very many friends, which are looked up now (fan-out on read). Both are merged by time. Pattern 32 and
`Feeds.personal` both use it.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice, takewhile
from typing import Final, NamedTuple, TypeVar

from singletable import Page, Usage
from singletable_systems.smart_cooking.errors import InvalidInputError
from singletable_systems.smart_cooking.model.entities import FeedItem, Post
from singletable_systems.smart_cooking.model.entities.social import KEPT_DAYS
from singletable_systems.smart_cooking.model.keys import PostId, UserId
from singletable_systems.smart_cooking.model.patterns.sights import Sights

FEED_TIME: Final = timedelta(days=KEPT_DAYS)
PULLED_MAX: Final = 100  # friends whose posts are looked up on read, for one feed
_MILLISECOND: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_END: Final = datetime(9000, 1, 1, tzinfo=UTC)

T = TypeVar("T")


class Place(NamedTuple):
    """The place of a post in a feed: by its time, and then by its id."""

    created_at: datetime
    post_id: PostId


def feed_page(db: Sights, user_id: UserId, now: datetime, limit: int, cursor: str | None) -> Page[Post]:
    """Return a page of somebody's feed; its cursor is a place, so nothing comes twice or is left out."""
    usage = Usage()
    places = _places(db, user_id, now, limit, None if cursor is None else _read_place(cursor), usage)
    posts: list[Post] = []
    while len(posts) < limit and (some := list(islice(places, limit - len(posts)))):
        found = db.posts([place.post_id for place in some]).consistent().found()
        usage.add(found.usage)
        public = [post for post in found.item if post is not None and post.is_public]
        posts += db.posts_shown(public, user_id, usage)
    is_over = len(posts) < limit
    next_one = None if is_over else _place_text(Place(posts[-1].created_at, posts[-1].post_id))
    return Page(posts, next_one, usage)


def _places(
    db: Sights, user_id: UserId, now: datetime, limit: int, after: Place | None, usage: Usage
) -> Iterator[Place]:
    """Return the places of a feed behind one of them, each once; add the cost of reading them to `usage`."""
    newest = now if after is None else min(after.created_at, now)
    written = db.feed_items(user_id, newest + _MILLISECOND)
    sources = [_in_order(_read(written.page, limit, usage))]
    pulled = db.pulled_friends(user_id).limit(PULLED_MAX).all()
    for friend in pulled:
        # Older posts are in no feed, and are not read.
        oldest = min(now - FEED_TIME, newest)
        posts = db.public_posts_between(friend.friend_id, oldest, newest)
        sources.append(_in_order(_read(posts.page, limit, usage)))
    usage.add(pulled.usage)
    merged = heapq.merge(*sources, reverse=True)
    young = takewhile(lambda place: place.created_at + FEED_TIME > now, merged)
    # An account that went over to reading has posts in both sources.
    each_once = (place for place, _ in groupby(young))
    return (place for place in each_once if after is None or place < after)


def _read(page: Callable[[int, str | None], Page[T]], limit: int, usage: Usage) -> Iterator[T]:
    """Read page after page, as far as somebody wants to know it."""
    cursor: str | None = None
    while True:
        found = page(limit + 1, cursor)
        usage.add(found.usage)
        yield from found
        cursor = found.cursor
        if cursor is None:
            return


def _in_order(entries: Iterable[FeedItem] | Iterable[Post]) -> Iterator[Place]:
    """Return places newest first; an index has no order of its own for those of one moment."""
    places = (Place(entry.created_at, entry.post_id) for entry in entries)
    for _, of_one_moment in groupby(places, key=lambda place: place.created_at):
        yield from sorted(of_one_moment, reverse=True)


# --- cursors --------------------------------------------------------------------------------------------


def milliseconds(moment: datetime) -> int:
    """Return a moment as cursors hold it."""
    return (moment - _EPOCH) // _MILLISECOND


def _place_text(place: Place) -> str:
    return f"{milliseconds(place.created_at)}.{place.post_id}"


def _read_place(cursor: str) -> Place:
    moment, post_id = read_moment(cursor)
    return Place(moment, PostId(post_id))


def read_moment(cursor: str) -> tuple[datetime, str]:
    """Split a cursor into the moment that it begins with, and the rest."""
    milliseconds, _, rest = cursor.partition(".")
    try:
        moment = _EPOCH + int(milliseconds) * _MILLISECOND
    except (OverflowError, ValueError):
        raise InvalidInputError("this is no cursor of a feed") from None
    if not _EPOCH <= moment < _END:
        raise InvalidInputError("this is no cursor of a feed")
    return moment, rest
