"""A wall of posts: in one partition, and in one for each month, newest first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from singletable.design import (
    BucketOf,
    Design,
    Entity,
    Index,
    Key,
    Keys,
    Merged,
    ShardOf,
    SortKey,
    Table,
    Walk,
    buckets,
    pattern,
    shards,
)


class WallTable(Table):
    name = "wall"
    pitr_days = None
    feed = Index("Feed", pk="feedPK", sk="feedSK")


class PostPK(Key, template="POST#{post_id}"):
    post_id: str


class InfoSK(SortKey, template="INFO"):
    pass


class AtSK(SortKey, template="AT#{created_at}#{post_id}"):
    created_at: datetime
    post_id: str


class WallPK(Key, template="FEED#{month}#{shard}"):
    month: Annotated[str, BucketOf("created_at", "never")]
    shard: Annotated[int, ShardOf(1, by="post_id")]


class MonthPK(Key, template="FEED#{month}#{shard}"):
    month: Annotated[str, BucketOf("created_at", "month")]
    shard: Annotated[int, ShardOf(2, by="post_id")]


class Post(Entity):
    key = Keys(PostPK, InfoSK)
    feed = WallTable.feed.keys(WallPK, AtSK)

    post_id: str
    created_at: datetime


class MonthPost(Entity, name="Post"):
    key = Keys(PostPK, InfoSK)
    feed = WallTable.feed.keys(MonthPK, AtSK, was=(WallPK, AtSK))

    post_id: str
    created_at: datetime


class Wall(Design):
    table = WallTable
    entities = (Post,)

    @pattern("1 All posts, newest first")
    def newest(self, newest: datetime, oldest: datetime) -> Walk[Post]:
        return Walk([self.of_month(month) for month in buckets(WallPK, newest=newest, oldest=oldest)])

    @pattern("2 Posts of a bucket", samples={"month": ""})
    def of_month(self, month: str) -> Merged[Post]:
        queries = [Post.feed.query(WallPK(month=month, shard=shard)) for shard in shards(WallPK)]
        return Merged(queries).newest_first()


class MonthWall(Design):
    table = WallTable
    entities = (MonthPost,)

    @pattern("1 All posts, newest first")
    def newest(self, newest: datetime, oldest: datetime) -> Walk[MonthPost]:
        return Walk([self.of_month(month) for month in buckets(MonthPK, newest=newest, oldest=oldest)])

    @pattern("2 Posts of a bucket", samples={"month": "2025-01"})
    def of_month(self, month: str) -> Merged[MonthPost]:
        queries = [MonthPost.feed.query(MonthPK(month=month, shard=shard)) for shard in shards(MonthPK)]
        return Merged(queries).newest_first()
