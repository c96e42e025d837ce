"""Feeds: the posts of all, and those of friends.

The feed of a user has two sources (SC-22): entries that were written for them, and posts of friends with very many
friends, which are read where they stand. Both are read side by side, newest first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice, takewhile
from typing import Annotated, Final, NamedTuple, TypeVar

from pydantic import Field

from singletable import Page, Query, Usage
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.entities import FeedItem, Post
from singletable_systems.smart_cooking.errors import InvalidInputError
from singletable_systems.smart_cooking.fanning_out import FEED_TIME, log_invalid
from singletable_systems.smart_cooking.inputs import checked
from singletable_systems.smart_cooking.keys import PostedSK, PostId, UserId, UserPK

PULLED_MAX: Final = 100  # friends whose posts are read where they stand, for one feed
PAGE_MAX: Final = 100
_ROUNDS_MAX: Final = 10
_MILLISECOND: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_END: Final = datetime(9000, 1, 1, tzinfo=UTC)

Limit = Annotated[int, Field(ge=1, le=PAGE_MAX)]

T = TypeVar("T")


class Place(NamedTuple):
    """Where a post stands in a feed: by its time, and of one moment by its id."""

    created_at: datetime
    post_id: PostId


@checked
class Feeds:
    """What users read of others. Cursors are places, so nothing comes twice or is left out, whatever is added."""

    def __init__(self, db: SmartCooking) -> None:
        self._db = db

    def public(
        self, limit: Limit = 50, cursor: str | None = None, *, viewer: UserId | None = None
    ) -> Page[Post]:
        """Return a page of the public posts of all, newest first, as a viewer may see them.

        Where very many are of accounts that are closed, a page is shorter, and its cursor goes on.
        """
        # The days that are walked through are those of the first page, or the cursor would be of another query.
        began, inner = (self._db.now(), None) if cursor is None else _read_began(cursor)
        feed = self._db.public_feed(began).setting_aside(log_invalid)
        posts: list[Post] = []
        usage = Usage()
        for _ in range(_ROUNDS_MAX):
            page = feed.page(limit - len(posts), inner)
            usage.add(page.usage)
            posts += self._db.posts_shown(page.items, viewer, usage)
            inner = page.cursor
            if inner is None or len(posts) == limit:
                break
        return Page(posts, None if inner is None else f"{_ms(began)}.{inner}", usage)

    def personal(self, user_id: UserId, limit: Limit = 50, cursor: str | None = None) -> Page[Post]:
        """Return a page of what friends have posted in the last 30 days, newest first.

        Each post is read as it is now: one that was made private or deleted just before is not shown. Posts of
        friends with very many friends are looked up where they stand, for the first hundred such friends by their
        ids: who has more of them does not find the posts of the rest here.
        """
        usage = Usage()
        places = self._places(user_id, limit, None if cursor is None else _read_place(cursor), usage)
        posts: list[Post] = []
        while len(posts) < limit and (some := list(islice(places, limit - len(posts)))):
            found = self._db.posts([place.post_id for place in some]).consistent().found()
            usage.add(found.usage)
            public = [post for post in found.item if post is not None and post.is_public]
            posts += self._db.posts_shown(public, user_id, usage)
        is_over = len(posts) < limit
        next_one = None if is_over else _place_text(Place(posts[-1].created_at, posts[-1].post_id))
        return Page(posts, next_one, usage)

    # --- the places of a personal feed -------------------------------------------------------------

    def _places(self, user_id: UserId, limit: int, after: Place | None, usage: Usage) -> Iterator[Place]:
        """Return the places of a feed behind one of them, each once; add to `usage` what is read of them."""
        now = self._db.now()
        newest = now if after is None else min(after.created_at, now)
        written = self._db.feed_items(user_id, newest + _MILLISECOND)
        sources = [_in_order(_read(written.page, limit, usage))]
        pulled = self._db.pulled_friends(user_id).limit(PULLED_MAX).all()
        for friend in pulled:
            posts = self._posts(friend.friend_id, now - FEED_TIME, newest)
            sources.append(_in_order(_read(posts.where(is_public=True).page, limit, usage)))
        usage.add(pulled.usage)
        merged = heapq.merge(*sources, reverse=True)
        young = takewhile(lambda place: place.created_at + FEED_TIME > now, merged)
        # An account that went over to reading has posts in both sources.
        each_once = (place for place, _ in groupby(young))
        return (place for place in each_once if after is None or place < after)

    def _posts(self, user_id: UserId, oldest: datetime, newest: datetime) -> Query[Post]:
        """Read the posts of a friend between two moments: what is older is in no feed, and is not read."""
        between = (PostedSK(created_at=oldest), PostedSK(created_at=max(oldest, newest)))
        posts = Post.by_user.query(UserPK(user_id=user_id), between=between)
        return self._db.plan(posts.newest_first())


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


def _ms(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def _place_text(place: Place) -> str:
    return f"{_ms(place.created_at)}.{place.post_id}"


def _read_place(cursor: str) -> Place:
    moment, post_id = _read_began(cursor)
    return Place(moment, PostId(post_id))


def _read_began(cursor: str) -> tuple[datetime, str]:
    milliseconds, _, rest = cursor.partition(".")
    try:
        moment = _EPOCH + int(milliseconds) * _MILLISECOND
    except (OverflowError, ValueError):
        raise InvalidInputError("this is no cursor of a feed") from None
    if not _EPOCH <= moment < _END:
        raise InvalidInputError("this is no cursor of a feed")
    return moment, rest
