"""Feed: posts of authors by month, with counts, copies, tags that are derived, and patterns of every kind."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal, NewType

from singletable.design import (
    BatchGet,
    BucketOf,
    Collect,
    Collection,
    CopyOf,
    CountOf,
    Derived,
    Design,
    Entity,
    Eq,
    Exists,
    Get,
    Gt,
    In,
    Index,
    Key,
    Keys,
    Merged,
    Query,
    Rate,
    ShardOf,
    SortKey,
    Table,
    Ttl,
    Unique,
    Version,
    Walk,
    buckets,
    collect,
    expires,
    pattern,
    shards,
)

AuthorId = NewType("AuthorId", str)


class Kind(Enum):
    TEXT = "text"
    IMAGE = "image"


class FeedTable(Table):
    name = "feed"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class AuthorPK(Key, template="AUTHOR#{author_id}"):
    author_id: AuthorId


class ProfileSK(SortKey, template="PROFILE"):
    pass


class PostSK(SortKey, template="POST#{posted_at}"):
    posted_at: datetime


class MonthPK(Key, template="FEED#{state}#{month}#{shard}"):
    state: Literal["draft", "public"]
    month: Annotated[str, BucketOf("posted_at", "month")]
    shard: Annotated[int, ShardOf(2, by="author_id")]


class EmailPK(Key, template="EMAIL#{email}"):
    email: str


class TagPK(Key, template="TAG#{tag}"):
    tag: str


class TagSK(SortKey, template="POST#{author_id}#{posted_at}"):
    author_id: AuthorId
    posted_at: datetime


class Author(Entity, owns=("Post",)):
    key = Keys(AuthorPK, ProfileSK)
    unique_email = Unique(EmailPK)

    author_id: AuthorId
    email: str
    posts: Annotated[int, CountOf("Post", when=Eq("state", "public"))] = 0
    version: Version = 0


class Post(Entity, name="post"):
    key = Keys(AuthorPK, PostSK)
    feed = FeedTable.gsi1.keys(MonthPK, PostSK, when=~Exists("hidden_at") & In("state", "draft", "public"))

    author_id: AuthorId
    author_email: Annotated[str, CopyOf("Author", "email")] = ""
    posted_at: datetime
    state: Literal["draft", "public"] = "draft"
    kind: Kind = Kind.TEXT
    tags: list[str] = []
    price: Decimal | None = None
    hidden_at: datetime | None = None
    ttl: Ttl = expires(days=30, when=Eq("state", "draft"))


class Tagged(Entity):
    key = Keys(TagPK, TagSK)
    source = Derived(
        Post,
        lambda post: [
            Tagged(tag=tag, author_id=post.author_id, posted_at=post.posted_at) for tag in post.tags
        ],
    )

    tag: str
    author_id: AuthorId
    posted_at: datetime


class Posts(Collection):
    posts: list[Post]


class Opaque:
    """A type of which nobody can make a value up."""


class Feed(Design):
    table = FeedTable
    entities = (Author, Post, Tagged)
    rates = {Post: Rate(creates=2.5)}

    @pattern("Authors of a list", rps=3)
    def authors(self, author_ids: list[AuthorId]) -> BatchGet[Author]:
        return Author.key.batch_get([(AuthorPK(author_id=each), ProfileSK()) for each in author_ids])

    @pattern("Public posts, newest first", cached_s=30)
    def public(self, now: datetime, since: datetime) -> Walk[Post]:
        return Walk(
            [
                Merged(
                    [
                        Post.feed.query(MonthPK(state="public", month=month, shard=shard)).newest_first()
                        for shard in shards(MonthPK)
                    ]
                )
                for month in buckets(MonthPK, newest=now, oldest=since)
            ]
        )

    @pattern("Drafts")
    def drafts(self, author_id: AuthorId, kind: Kind = Kind.TEXT) -> Query[Post]:
        return Post.key.query(AuthorPK(author_id=author_id)).where(Eq("state", "draft"), kind=kind).limit(5)

    @pattern("Dear posts")
    def dear(self, author_id: AuthorId, price: Decimal) -> Query[Post]:
        return Post.key.query(AuthorPK(author_id=author_id)).where(Gt("price", price))

    @pattern("Posts of a week")
    def week(self, author_id: AuthorId, start: datetime, end: datetime) -> Query[Post]:
        return Post.key.query(
            AuthorPK(author_id=author_id), between=(PostSK(posted_at=start), PostSK(posted_at=end))
        )

    @pattern("Posts as a collection", consistent=True)
    def posts(self, author_id: AuthorId) -> Collect[Posts]:
        return collect(Posts, AuthorPK(author_id=author_id))

    @pattern("Somebody", samples={"who": Opaque()})
    def somebody(self, who: Opaque) -> Get[Author]:
        return Author.key.get(AuthorPK(author_id=AuthorId("me")), ProfileSK())
