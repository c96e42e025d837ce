"""A feed: posts by month, and by month and shard, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NewType

from singletable.design import (
    BatchGet,
    BucketOf,
    Collect,
    Collection,
    Design,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    Merged,
    Query,
    ShardOf,
    SortKey,
    Table,
    Ttl,
    Walk,
    buckets,
    collect,
    pattern,
    shards,
)

PostId = NewType("PostId", str)
AuthorId = NewType("AuthorId", str)


class FeedTable(Table):
    name = "feed"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")


class AuthorPK(Key, template="AUTHOR#{author_id}"):
    author_id: AuthorId


class PostSK(SortKey, template="POST#{created_at}#{post_id}"):
    created_at: datetime
    post_id: PostId


class BadgeSK(SortKey, template="BADGE#{name}"):
    name: str


class MonthPK(Key, template="FEED#{month}"):
    month: Annotated[str, BucketOf("created_at", "month")]


class ShardPK(Key, template="PUBLIC#{month}#{shard}"):
    month: Annotated[str, BucketOf("created_at", "month")]
    shard: Annotated[int, ShardOf(4, by="post_id")]


class CreatedSK(SortKey, template="AT#{created_at}"):
    created_at: datetime


class Post(Entity):
    key = Keys(AuthorPK, PostSK)
    by_month = FeedTable.gsi1.keys(MonthPK, CreatedSK)
    public = FeedTable.gsi2.keys(ShardPK, CreatedSK, when=Eq("visibility", "public"))

    author_id: AuthorId
    post_id: PostId
    created_at: datetime
    text: str = ""
    visibility: Literal["public", "private"] = "public"
    likes: int = 0
    ttl: Ttl = None


class Badge(Entity):
    key = Keys(AuthorPK, BadgeSK)

    author_id: AuthorId
    name: str
    ttl: Ttl = None


class AuthorPage(Collection):
    posts: list[Post]
    badges: list[Badge]


class Feed(Design):
    table = FeedTable
    entities = (Post, Badge)

    @pattern("1 A post")
    def post(self, author_id: AuthorId, created_at: datetime, post_id: PostId) -> Get[Post]:
        return Post.key.get(AuthorPK(author_id=author_id), PostSK(created_at=created_at, post_id=post_id))

    @pattern("2 Posts of an author")
    def posts(self, author_id: AuthorId) -> Query[Post]:
        return Post.key.query(AuthorPK(author_id=author_id))

    @pattern("3 Posts of all, newest first")
    def feed(self, newest: datetime, oldest: datetime) -> Walk[Post]:
        months = buckets(MonthPK, newest=newest, oldest=oldest)
        return Walk([Post.by_month.query(MonthPK(month=month)).newest_first() for month in months])

    @pattern("4 Public posts of a month", samples={"month": "2025-01"})
    def public_month(self, month: str) -> Merged[Post]:
        return Merged([Post.public.query(ShardPK(month=month, shard=n)) for n in shards(ShardPK)])

    @pattern("5 Public posts, newest first")
    def public_feed(self, newest: datetime, oldest: datetime) -> Walk[Post]:
        months = buckets(MonthPK, newest=newest, oldest=oldest)
        return Walk([self.public_month(month).newest_first() for month in months])

    @pattern("6 Several posts")
    def several(self, keys: list[tuple[AuthorPK, PostSK]]) -> BatchGet[Post]:
        return Post.key.batch_get(keys)

    @pattern("7 An author with everything")
    def author(self, author_id: AuthorId) -> Collect[AuthorPage]:
        return collect(AuthorPage, AuthorPK(author_id=author_id))

    @pattern("8 Posts of an author, a little old", cached_s=60)
    def cached_posts(self, author_id: AuthorId) -> Query[Post]:
        return Post.key.query(AuthorPK(author_id=author_id))
