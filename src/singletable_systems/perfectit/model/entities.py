"""The entities of PerfectIt. The document has attributes of cards alone: those of others are added (PI-33)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from singletable import (
    Compressed,
    CountOf,
    CreatedAt,
    Derived,
    Digits,
    Entity,
    Eq,
    Keys,
    MaxBytes,
    Ne,
    Stored,
    Ttl,
    Unique,
    UpdatedAt,
    Version,
    auto,
    expires,
    upcast,
)
from singletable_systems.perfectit.model.keys import (
    AnalyticsPK,
    CardCategoryPK,
    CardId,
    CardPK,
    CardSK,
    CategoryId,
    CategoryPK,
    CollectionId,
    CollectionPK,
    CollectionSK,
    CommentedSK,
    CommentId,
    CommentSK,
    CreatedSK,
    DatePK,
    MetadataSK,
    NotificationId,
    NotificationSK,
    NotifiedSK,
    ParentPK,
    PerfectItTable,
    ProfileSK,
    PublishedSK,
    ScoreKind,
    ScoreKindSK,
    ScoreSK,
    SearchPK,
    SortOrderSK,
    StatsSK,
    TargetPK,
    TokenSK,
    TotalsSK,
    UnreadPK,
    UserId,
    UsernamePK,
    UserPK,
    VotedSK,
    VotePK,
    VoteSK,
    VoteTypePK,
)
from singletable_systems.perfectit.model.scores import controversial_score, top_score, trending_score
from singletable_systems.perfectit.model.words import tokens

Difficulty = Literal["BEGINNER", "INTERMEDIATE", "ADVANCED", "EXPERT"]
CardStatus = Literal["DRAFT", "PUBLISHED", "ARCHIVED"]
TargetType = Literal["card", "comment"]
VoteValue = Literal[1, -1]
NotificationType = Literal["comment", "vote", "collected"]

ROOT = "ROOT"
NOTIFICATION_DAYS = 30


def _trimmed(text: str) -> str:
    """Return a text without the blanks around it; there must be something between them."""
    if not text.strip():
        raise ValueError("it is blank")
    return text.strip()


Text = Annotated[str, MaxBytes(8_000)]
Url = Annotated[str, MaxBytes(2_000)]
Name = Annotated[str, MaxBytes(400)]
Title = Annotated[Name, AfterValidator(_trimmed)]
Words = Annotated[list[Annotated[str, MaxBytes(200)]], Field(max_length=30)]


class User(Entity, owner="user_id", owns=("PerfectionCard", "Comment", "Vote", "Collection", "Notification")):
    """Somebody who shares how to do things perfectly."""

    key = Keys(UserPK, ProfileSK)
    by_username = PerfectItTable.gsi1.keys(UsernamePK, ProfileSK)
    unique_username = Unique(UsernamePK)  # added: PI-15

    user_id: UserId
    username: Name
    display_name: Name | None = None
    bio: Text | None = None
    avatar_url: Url | None = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0  # added: X-04


class Instruction(BaseModel):
    """One thing to do."""

    text: str
    image_url: str | None = None
    minutes: int | None = None


def _read_instruction(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


class PerfectionCard(
    Entity,
    owns=("CardStats", "Comment", "CardInCollection"),
    schema_version=2,
):
    """How to do something perfectly. Only published cards are in lists; a draft is given up after 30 days."""

    key = Keys(CardPK, MetadataSK)
    by_category = PerfectItTable.gsi1.keys(
        CardCategoryPK, CreatedSK, when=Eq("status", "PUBLISHED")
    )  # sparse: PI-17
    by_author = PerfectItTable.gsi2.keys(UserPK, CreatedSK)
    by_day = PerfectItTable.gsi3.keys(DatePK, PublishedSK, when=Eq("status", "PUBLISHED"))  # PI-02

    card_id: Annotated[CardId, Stored("id")]
    title: Annotated[str, Field(max_length=200), AfterValidator(_trimmed)]
    description: Text = ""
    image_urls: Annotated[list[Url], Field(max_length=10)] = []
    # PI-26: compressed; lists as the document has them, of texts or of maps, are read too.
    instructions: Annotated[
        list[Annotated[Instruction, BeforeValidator(_read_instruction)]], Compressed(), MaxBytes(44_000)
    ] = []
    materials: Annotated[dict[str, Any], MaxBytes(8_000)] = {}
    tools: Words = []
    category: CategoryId
    tags: Words = []
    difficulty: Difficulty = "BEGINNER"
    estimated_time: Annotated[int, Field(ge=0)] | None = None
    estimated_cost: Annotated[Decimal, Digits(2), Field(ge=0)] | None = None
    view_count: int = 0  # PI-14: counted in CardStats; here from time to time
    vote_score: int = 0
    user_id: Annotated[UserId, Stored("authorId")]
    status: CardStatus = "DRAFT"
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    published_at: datetime | None = None  # added: PI-02
    ttl: Ttl = expires(days=30, after="updated_at", when=Eq("status", "DRAFT"))  # PI-22
    version: Version = 0  # added: X-04

    @upcast(1)
    def read_publication(values: dict[str, Any]) -> dict[str, Any]:  # noqa: N805
        """A card as the document has it was published when it was created."""
        if values.get("status") == "PUBLISHED" and values.get("published_at") is None:
            return {**values, "published_at": values.get("created_at")}
        return values


class CardStats(Entity):
    """Added, PI-14: what is counted of a published card, so that a vote does not write the whole card."""

    key = Keys(CardPK, StatsSK)

    card_id: CardId
    user_id: Annotated[UserId, Stored("authorId")]
    published_at: datetime
    is_listed: bool = True
    up_votes: Annotated[
        int,
        CountOf("Vote", when=Eq("target_type", "card") & Eq("value", 1), via={"card_id": "target_id"}),
    ] = 0
    down_votes: Annotated[
        int,
        CountOf("Vote", when=Eq("target_type", "card") & Eq("value", -1), via={"card_id": "target_id"}),
    ] = 0
    comments: Annotated[int, CountOf("Comment")] = 0
    views: int = 0

    @property
    def vote_score(self) -> int:
        """The votes for the card, less the votes against it."""
        return self.up_votes - self.down_votes


def _scores(stats: CardStats) -> Iterator[CardScore]:
    if not stats.is_listed:
        return
    up, down = stats.up_votes, stats.down_votes
    yield CardScore(card_id=stats.card_id, kind="CARD", score=top_score(up, down))
    yield CardScore(
        card_id=stats.card_id, kind="TRENDING", score=trending_score(up, down, stats.published_at)
    )
    disagreement = controversial_score(up, down)
    if disagreement:
        yield CardScore(card_id=stats.card_id, kind="CONTROVERSIAL", score=disagreement)


class CardScore(Entity):
    """Added, PI-04, PI-07, PI-08: a card's place in a list, kept by the stream, and moved only if its score is."""

    key = Keys(CardPK, ScoreKindSK)
    ranked = PerfectItTable.gsi5.keys(VoteTypePK, ScoreSK)
    made = Derived(
        CardStats, _scores, by="stream", reads=("up_votes", "down_votes", "is_listed", "published_at")
    )

    card_id: CardId
    kind: ScoreKind
    score: int


def _tokens(card: PerfectionCard) -> Iterator[SearchToken]:
    if card.status == "PUBLISHED":
        for token in tokens(card.title, card.tags, card.category):
            yield SearchToken(card_id=card.card_id, token=token)


class SearchToken(Entity):
    """Added, PI-03: a word that a published card is found by."""

    key = Keys(CardPK, TokenSK)
    found = PerfectItTable.gsi4.keys(SearchPK, CardSK)
    made = Derived(PerfectionCard, _tokens, by="stream", reads=("title", "tags", "category", "status"))

    card_id: CardId
    token: Name


class Comment(Entity):
    """What somebody says about a card."""

    key = Keys(CardPK, CommentSK)
    by_author = PerfectItTable.gsi1.keys(UserPK, CommentedSK)

    comment_id: CommentId
    card_id: CardId
    user_id: Annotated[UserId, Stored("authorId")]
    text: Annotated[Text, AfterValidator(_trimmed)]
    recipient_id: UserId | None = None  # who is told of it: the author of the card
    created_at: datetime
    updated_at: UpdatedAt = auto()
    up_votes: Annotated[
        int,
        CountOf(
            "Vote",
            when=Eq("target_type", "comment") & Eq("value", 1),
            via={"card_id": "card_id", "created_at": "commented_at", "comment_id": "target_id"},
        ),
    ] = 0
    down_votes: Annotated[
        int,
        CountOf(
            "Vote",
            when=Eq("target_type", "comment") & Eq("value", -1),
            via={"card_id": "card_id", "created_at": "commented_at", "comment_id": "target_id"},
        ),
    ] = 0

    @property
    def vote_score(self) -> int:
        """The votes for the comment, less the votes against it."""
        return self.up_votes - self.down_votes


class Vote(Entity, owner="user_id"):
    """The vote of a user for or against a card or a comment, and the card that it is about."""

    key = Keys(VotePK, VoteSK)
    by_target = PerfectItTable.gsi1.keys(TargetPK, VotedSK)
    by_user = PerfectItTable.gsi2.keys(UserPK, VotedSK)  # added: PI-13

    user_id: UserId
    target_id: Name
    target_type: TargetType  # PI-11
    value: VoteValue  # PI-33
    card_id: CardId
    commented_at: datetime | None = None  # of a comment: with its id, its key
    recipient_id: UserId | None = None  # who is told of it: the author of the target
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()

    @model_validator(mode="after")
    def has_the_key_of_its_target(self) -> Self:
        """A vote for a comment without its time would be counted nowhere."""
        if (self.target_type == "comment") != (self.commented_at is not None):
            raise ValueError("a vote for a comment has the time of the comment, and no other vote has one")
        return self


class Collection(Entity, owner="user_id", owns=("CardInCollection",)):
    """Cards that somebody has put together."""

    key = Keys(UserPK, CollectionSK)
    by_id = PerfectItTable.gsi1.keys(CollectionPK, MetadataSK)

    user_id: UserId
    collection_id: CollectionId
    name: Title
    description: Text | None = None
    is_public: bool = True
    cards_count: Annotated[int, CountOf("CardInCollection")] = 0
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0  # added: X-04


class CardInCollection(Entity):
    """That a card is in a collection."""

    key = Keys(CollectionPK, CardSK)
    by_card = PerfectItTable.gsi1.keys(CardPK, CollectionSK)  # added: PI-20

    collection_id: CollectionId
    card_id: CardId
    user_id: UserId
    recipient_id: UserId | None = None  # who is told of it: the author of the card
    added_at: CreatedAt = auto()


class Category(Entity):
    """A branch of the tree of categories; those at the top are children of the root (PI-19).

    It counts the categories and cards in it, in the same transactions: so it is never deleted while it has
    some.
    """

    key = Keys(CategoryPK, MetadataSK)
    children = PerfectItTable.gsi1.keys(ParentPK, SortOrderSK)

    category_id: CategoryId
    name: Title
    description: Text | None = None
    parent_id: Name = ROOT
    sort_order: Annotated[int, Field(ge=0, le=999_999)] = 0
    categories_count: Annotated[
        int, CountOf("Category", when=Ne("parent_id", ROOT), via={"category_id": "parent_id"})
    ] = 0
    cards_count: Annotated[
        int, CountOf("PerfectionCard", when=Eq("status", "PUBLISHED"), via={"category_id": "category"})
    ] = 0
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0  # added: X-04


class Notification(Entity, owner="user_id"):
    """Added, PI-23: something that a user is told, for 30 days. Only unread ones are in the index."""

    key = Keys(UserPK, NotificationSK)
    unread = PerfectItTable.gsi1.keys(UnreadPK, NotifiedSK, when=Eq("is_read", False))

    notification_id: NotificationId
    user_id: UserId
    actor_id: UserId | None = None
    type: NotificationType
    card_id: CardId
    target_id: Name
    is_read: bool = False
    created_at: datetime
    ttl: Ttl = expires(days=NOTIFICATION_DAYS, after="created_at")


class DailyAnalytics(Entity):
    """Added, PI-23: how much was done on a day, counted as the stream tells it."""

    key = Keys(AnalyticsPK, TotalsSK)

    day: Name
    users: int = 0
    cards: int = 0
    comments: int = 0
    up_votes: int = 0
    down_votes: int = 0
    collected: int = 0
