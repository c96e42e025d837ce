"""The table of PerfectIt and its keys: the glossary of the design. Templates are those of the document."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal, NewType
from unicodedata import normalize

from singletable import BucketOf, Index, Key, Normalize, Pad, ShardOf, SortKey, Table
from singletable.systems import number_from_environment
from singletable_systems.perfectit.model.words import token

# Write sharding of the partitions that all users share. With the defaults, each renders the key of the design
# document. For a hot partition, an environment variable gives another value, as in
# PERFECTIT_VOTE_SHARDS=8, and a migration moves the stored items.
VOTE_SHARDS: Final = number_from_environment("PERFECTIT_VOTE_SHARDS", 1)  # PI-05: VOTETYPE#CARD
DATE_SHARDS: Final = number_from_environment("PERFECTIT_DATE_SHARDS", 1)  # PI-09: DATE#2025-01-01

UserId = NewType("UserId", str)
CardId = NewType("CardId", str)
CommentId = NewType("CommentId", str)
CollectionId = NewType("CollectionId", str)
CategoryId = NewType("CategoryId", str)  # PI-16: a slug, the same in cards and categories
NotificationId = NewType("NotificationId", str)

ScoreKind = Literal["CARD", "TRENDING", "CONTROVERSIAL"]


def folded(username: str) -> str:
    """Return the form by which usernames are compared: in either case, and wide letters as the usual ones."""
    return normalize("NFKC", normalize("NFKC", username).casefold())


class PerfectItTable(Table):
    """One table for each environment; the document's is that of `main`."""

    name = "perfectit-{environment}"  # PI-32
    defaults = {"environment": "main"}
    stream = "NEW_AND_OLD_IMAGES"
    pitr_days = 35  # added: PI-28
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")
    gsi3 = Index("GSI3", pk="GSI3PK", sk="GSI3SK")
    gsi4 = Index("GSI4", pk="GSI4PK", sk="GSI4SK")
    gsi5 = Index("GSI5", pk="GSI5PK", sk="GSI5SK")


# --- partition keys ---------------------------------------------------------------------------------------------


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class UsernamePK(Key, template="USERNAME#{username}"):
    """Where a user is found by name; in the table, the lock of it (PI-15). In either case."""

    username: Annotated[str, Normalize(folded)]


class CardPK(Key, template="CARD#{card_id}"):
    card_id: CardId


class CategoryPK(Key, template="CAT#{category_id}"):
    category_id: CategoryId


class CardCategoryPK(Key, template="CAT#{category}"):
    category: CategoryId


class ParentPK(Key, template="PARENT#{parent_id}"):
    parent_id: str


class VotePK(Key, template="VOTE#{user_id}#{target_id}"):
    user_id: UserId
    target_id: str


class TargetPK(Key, template="TARGET#{target_id}"):
    target_id: str


class CollectionPK(Key, template="COLLECTION#{collection_id}"):
    collection_id: CollectionId


class DatePK(Key, template="DATE#{day}#{shard}"):
    day: Annotated[str, BucketOf("published_at", "day")]
    shard: Annotated[int, ShardOf(DATE_SHARDS, by="card_id")]


class SearchPK(Key, template="SEARCH#{token}"):
    """In any case and with or without accents."""

    token: Annotated[str, Normalize(token)]


class VoteTypePK(Key, template="VOTETYPE#{kind}#{shard}"):
    kind: ScoreKind
    shard: Annotated[int, ShardOf(VOTE_SHARDS, by="card_id")]


class UnreadPK(Key, template="USER#{user_id}#UNREAD"):
    """Added, PI-23."""

    user_id: UserId


class AnalyticsPK(Key, template="ANALYTICS#{day}"):
    """Added, PI-23."""

    day: str


# --- sort keys --------------------------------------------------------------------------------------------------


class ProfileSK(SortKey, template="PROFILE"):
    pass


class MetadataSK(SortKey, template="METADATA"):
    pass


class CreatedSK(SortKey, template="CREATED#{created_at}"):
    """PI-31: cards of one moment are in the order of their keys; a cursor is exact all the same."""

    created_at: datetime


class PublishedSK(SortKey, template="CREATED#{published_at}#{card_id}"):
    """PI-02: by when it was published, which is when it was created unless it was a draft."""

    published_at: datetime
    card_id: CardId


class CommentSK(SortKey, template="COMMENT#{created_at}#{comment_id}"):
    created_at: datetime
    comment_id: CommentId


class CommentedSK(SortKey, template="COMMENT#{created_at}"):
    created_at: datetime


class VoteSK(SortKey, template="VOTE"):
    pass


class VotedSK(SortKey, template="VOTE#{created_at}"):
    created_at: datetime


class CollectionSK(SortKey, template="COLLECTION#{collection_id}"):
    collection_id: CollectionId


class CardSK(SortKey, template="CARD#{card_id}"):
    card_id: CardId


class SortOrderSK(SortKey, template="SORT#{sort_order:06}"):
    """PI-18."""

    sort_order: int


class TokenSK(SortKey, template="SEARCH#{token}"):
    """Added, PI-03."""

    token: str


class StatsSK(SortKey, template="STATS"):
    """Added, PI-14."""


class ScoreKindSK(SortKey, template="SCORE#{kind}"):
    """Added, PI-04, PI-07, PI-08."""

    kind: ScoreKind


class ScoreSK(SortKey, template="SCORE#{score}#{card_id}"):
    """PI-06: in the order of the scores, below zero too."""

    score: Annotated[int, Pad(10, offset=5_000_000_000)]
    card_id: CardId


class NotificationSK(SortKey, template="NOTIFICATION#{created_at}#{notification_id}"):
    """Added, PI-23."""

    created_at: datetime
    notification_id: NotificationId


class NotifiedSK(SortKey, template="NOTIFICATION#{created_at}"):
    """Added, PI-23."""

    created_at: datetime


class TotalsSK(SortKey, template="TOTALS"):
    """Added, PI-23."""
