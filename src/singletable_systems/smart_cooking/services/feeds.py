"""Feeds: the posts of all, and those of friends."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from singletable import Page, Usage
from singletable_systems.smart_cooking.model.entities import Post
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.model.patterns.feed import feed_page, milliseconds, read_moment
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.fan_out import log_invalid
from singletable_systems.smart_cooking.services.inputs import checked

PAGE_MAX: Final = 100
_ROUNDS_MAX: Final = 10

Limit = Annotated[int, Field(ge=1, le=PAGE_MAX)]


@checked
class Feeds:
    """Pages of posts. Cursors are places, so no post comes twice or is left out when others are added."""

    def __init__(self, db: SmartCooking) -> None:
        self._db = db

    def public(
        self, limit: Limit = 50, cursor: str | None = None, *, viewer: UserId | None = None
    ) -> Page[Post]:
        """Return a page of the public posts of all, newest first, as a viewer may see them.

        Where very many are of accounts that are closed, a page is shorter, and its cursor goes on.
        """
        # The days that are walked through are those of the first page, or the cursor would be of another query.
        began, inner = (self._db.now(), None) if cursor is None else read_moment(cursor)
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
        return Page(posts, None if inner is None else f"{milliseconds(began)}.{inner}", usage)

    def personal(self, user_id: UserId, limit: Limit = 50, cursor: str | None = None) -> Page[Post]:
        """Return a page of the posts of friends in the last 30 days, newest first.

        Each post is read as it is now: one that was made private or deleted just before is not shown. Posts of
        friends with very many friends are looked up on read, for the first hundred such friends by their ids.
        Posts of further ones are not found here. Pattern 32, `feed`, answers alike.
        """
        return feed_page(self._db, user_id, self._db.now(), limit, cursor)
