"""Cards, as of PerfectIt: votes that go below zero, cards of a day, shards, drafts that expire, usernames."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, NewType

from pydantic import BaseModel

from singletable.design import (
    BucketOf,
    Collect,
    Collection,
    Compressed,
    CreatedAt,
    Design,
    Entity,
    Eq,
    Exists,
    Get,
    Index,
    Key,
    Keys,
    Merged,
    Pad,
    Query,
    ShardOf,
    SortKey,
    Table,
    Ttl,
    Unique,
    UpdatedAt,
    Version,
    Walk,
    auto,
    buckets,
    collect,
    expires,
    pattern,
    shards,
    upcast,
)

UserId = NewType("UserId", str)
CardId = NewType("CardId", str)
CommentId = NewType("CommentId", str)
VoteType = Literal["card", "comment"]


class Level(StrEnum):
    EASY = "easy"
    HARD = "hard"


class CardsTable(Table):
    name = "perfectit-main"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")
    gsi3 = Index("GSI3", pk="GSI3PK", sk="GSI3SK")
    gsi5 = Index("GSI5", pk="GSI5PK", sk="GSI5SK")


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class UsernamePK(Key, template="USERNAME#{username}"):
    username: str


class CardPK(Key, template="CARD#{card_id}"):
    card_id: CardId


class CategoryPK(Key, template="CAT#{category}"):
    category: str


class AuthorPK(Key, template="USER#{author_id}"):
    author_id: UserId


class DatePK(Key, template="DATE#{day}#{shard}"):
    day: Annotated[str, BucketOf("created_at", "day")]
    shard: Annotated[int, ShardOf(1, by="card_id")]


class VoteTypePK(Key, template="VOTETYPE#{vote_type}#{shard:02}"):
    vote_type: VoteType
    shard: Annotated[int, ShardOf(12, by="card_id")]


class ParentPK(Key, template="PARENT#{parent_id}"):
    parent_id: str


class ProfileSK(SortKey, template="PROFILE"):
    pass


class MetadataSK(SortKey, template="METADATA"):
    pass


class CreatedSK(SortKey, template="CREATED#{created_at}"):
    created_at: datetime


class CreatedCardSK(SortKey, template="CREATED#{created_at}#{card_id}"):
    created_at: datetime
    card_id: CardId


class ScoreSK(SortKey, template="SCORE#{score}#{card_id}"):
    score: Annotated[int, Pad(10, offset=5_000_000_000)]
    card_id: CardId


class CommentSK(SortKey, template="COMMENT#{created_at}#{comment_id}"):
    created_at: datetime
    comment_id: CommentId


class CommentedSK(SortKey, template="COMMENT#{created_at}"):
    created_at: datetime


class SortOrderSK(SortKey, template="SORT#{sort_order:04}"):
    sort_order: int


class User(Entity):
    key = Keys(UserPK, ProfileSK)
    by_username = CardsTable.gsi1.keys(UsernamePK, ProfileSK)
    usernames = Unique(UsernamePK)

    user_id: UserId
    username: str
    birthday: date | None = None
    created_at: CreatedAt = auto()
    version: Version = 0


class Step(BaseModel):
    step_title: str
    duration_minutes: int | None = None
    sub_steps: list[Step] = []


class Card(Entity, owns=("Comment",), schema_version=3):
    key = Keys(CardPK, MetadataSK)
    by_category = CardsTable.gsi1.keys(CategoryPK, CreatedSK)
    by_author = CardsTable.gsi2.keys(AuthorPK, CreatedSK)
    by_day = CardsTable.gsi3.keys(DatePK, CreatedCardSK, when=Eq("is_draft", False))
    top = CardsTable.gsi5.keys(VoteTypePK, ScoreSK, when=Eq("is_draft", False))

    card_id: CardId
    author_id: UserId
    category: str
    title: str
    level: Level = Level.EASY
    score: int = 0
    vote_type: VoteType = "card"
    is_draft: bool = True
    steps: Annotated[list[Step], Compressed()] = []
    tags: set[str] = set()
    extra: dict[str, Any] = {}
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    ttl: Ttl = expires(days=30, when=Eq("is_draft", True))

    @upcast(1)
    @staticmethod
    def _with_level(values: dict[str, Any]) -> dict[str, Any]:
        return {**values, "level": values.pop("difficulty", "easy")}

    @upcast(2)
    @staticmethod
    def _with_title(values: dict[str, Any]) -> dict[str, Any]:
        return {**values, "title": values.pop("name", "untitled")}


class Comment(Entity):
    key = Keys(CardPK, CommentSK)
    by_author = CardsTable.gsi1.keys(AuthorPK, CommentedSK)

    card_id: CardId
    comment_id: CommentId
    author_id: UserId
    text: str
    created_at: CreatedAt = auto()


class Category(Entity):
    key = Keys(CategoryPK, MetadataSK)
    children = CardsTable.gsi1.keys(ParentPK, SortOrderSK, when=Exists("parent_id"))

    category: str
    parent_id: str | None = None
    sort_order: int = 0


class Discussion(Collection):
    card: Card | None
    comments: list[Comment]


class Cards(Design):
    table = CardsTable
    entities = (User, Card, Comment, Category)

    @pattern("2 User by username")
    def user_named(self, username: str) -> Query[User]:
        return User.by_username.query(UsernamePK(username=username))

    @pattern("5 Card details")
    def card(self, card_id: CardId) -> Get[Card]:
        return Card.key.get(CardPK(card_id=card_id), MetadataSK())

    @pattern("6 Card with its comments")
    def discussion(self, card_id: CardId) -> Collect[Discussion]:
        return collect(Discussion, CardPK(card_id=card_id))

    @pattern("10 Trending")
    def trending(self, newest: datetime, oldest: datetime) -> Walk[Card]:
        days = buckets(DatePK, newest=newest, oldest=oldest)
        return Walk([Card.by_day.query(DatePK(day=day, shard=0)).newest_first() for day in days])

    @pattern("11 Top voted")
    def top_voted(self) -> Merged[Card]:
        queries = [Card.top.query(VoteTypePK(vote_type="card", shard=shard)) for shard in shards(VoteTypePK)]
        return Merged(queries).newest_first()

    @pattern("11b Voted above a score")
    def voted_above(self, score: int, shard: int) -> Query[Card]:
        return Card.top.query(VoteTypePK(vote_type="card", shard=shard), gt=ScoreSK.prefix(score=score))

    @pattern("19 Child categories")
    def categories_below(self, parent_id: str) -> Query[Category]:
        return Category.children.query(ParentPK(parent_id=parent_id))
