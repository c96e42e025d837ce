"""Posts of users, with reactions and comments: counters of both kinds, copies, and a sum of counters."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from singletable.design import (
    CopyOf,
    CountOf,
    Design,
    Entity,
    Eq,
    Index,
    Key,
    Keys,
    Query,
    SortKey,
    SumOf,
    Table,
    Ttl,
    UpdatedAt,
    Version,
    auto,
    pattern,
)


class SocialTable(Table):
    name = "social"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")


class UserPK(Key, template="USER#{user_id}"):
    user_id: str


class ProfileSK(SortKey, template="PROFILE"):
    pass


class PostPK(Key, template="POST#{post_id}"):
    post_id: str


class PostSK(SortKey, template="POST"):
    pass


class PostedSK(SortKey, template="POST#{post_id}"):
    post_id: str


class AuthorPK(Key, template="AUTHOR#{user_name}"):
    user_name: str


class ReactionSK(SortKey, template="REACTION#{user_id}"):
    user_id: str


class CommentSK(SortKey, template="COMMENT#{comment_id}"):
    comment_id: str


class ReportSK(SortKey, template="REPORT#{report_id}"):
    report_id: str


class User(Entity):
    key = Keys(UserPK, ProfileSK)

    user_id: str
    full_name: str
    posts_count: Annotated[int, CountOf("Post")] = 0
    likes_total: Annotated[int, SumOf("Post", "likes_count")] = 0
    version: Version = 0


class Post(Entity):
    key = Keys(PostPK, PostSK)
    by_user = SocialTable.gsi1.keys(UserPK, PostedSK)
    by_author = SocialTable.gsi2.keys(AuthorPK, PostedSK)

    post_id: str
    user_id: str
    user_name: Annotated[str | None, CopyOf(User, "full_name")] = None
    text: str = ""
    likes_count: Annotated[int, CountOf("Reaction", when=Eq("kind", "like"))] = 0
    comments_count: Annotated[int, CountOf("Comment", via={"post_id": "about"}, by="stream")] = 0
    words: Annotated[Decimal, SumOf("Comment", "weight", via={"post_id": "about"}, by="stream")] = Decimal(0)
    reports_count: Annotated[int, CountOf("Report", by="stream")] = 0
    updated_at: UpdatedAt = auto()
    version: Version = 0


class Reaction(Entity):
    key = Keys(PostPK, ReactionSK)

    post_id: str
    user_id: str
    kind: Literal["like", "angry"] = "like"


class CommentPK(Key, template="POST#{about}"):
    about: str


class Comment(Entity):
    key = Keys(CommentPK, CommentSK)

    about: str
    comment_id: str
    weight: Decimal = Decimal(1)


class Report(Entity):
    key = Keys(PostPK, ReportSK)

    post_id: str
    report_id: str
    ttl: Ttl = None


class Social(Design):
    table = SocialTable
    entities = (User, Post, Reaction, Comment, Report)

    @pattern("1 Posts of an author")
    def posts_of(self, user_name: str) -> Query[Post]:
        return Post.by_author.query(AuthorPK(user_name=user_name))
