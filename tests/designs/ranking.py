"""Cards with scores that are items of their own, in shards and by months; names of several kinds in one index."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from singletable.design import (
    BucketOf,
    Collect,
    Collection,
    Design,
    Entity,
    Followed,
    Gt,
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
    gather,
    pattern,
    shards,
)


class RankingTable(Table):
    name = "ranking"
    pitr_days = None
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")
    gsi3 = Index("GSI3", pk="GSI3PK", sk="GSI3SK")


class CardPK(Key, template="CARD#{card_id}"):
    card_id: str


class MetadataSK(SortKey, template="METADATA"):
    pass


class ScorePK(Key, template="SCORE#{board}"):
    board: str


class ScoreSK(SortKey, template="SCORE#{score:06}#{score_id}"):
    score: int
    score_id: str


class ShardPK(Key, template="RANKED#{board}#{shard}"):
    board: str
    shard: Annotated[int, ShardOf(3, by="score_id")]


class MonthPK(Key, template="SCORED#{month}"):
    month: Annotated[str, BucketOf("scored_at", "month")]


class NamesPK(Key, template="NAMES"):
    pass


class NameSK(SortKey, template="NAME#{name}"):
    name: str


class NamedPlaceSK(SortKey, template="NAME#{name}#PLACE#{place_id}"):
    name: str
    place_id: str


class CodeSK(SortKey, template="CODE#{code}"):
    code: str


class PlacePK(Key, template="PLACE#{place_id}"):
    place_id: str


class Card(Entity):
    key = Keys(CardPK, MetadataSK)
    by_name = RankingTable.gsi3.keys(NamesPK, NameSK)

    card_id: str
    name: str = "card"
    likes: int = 0
    ttl: Ttl | None = None


class CardScore(Entity):
    key = Keys(ScorePK, ScoreSK)
    ranked = RankingTable.gsi1.keys(ShardPK, ScoreSK)
    by_month = RankingTable.gsi2.keys(MonthPK, ScoreSK)

    board: str
    score_id: str
    score: int
    scored_at: datetime
    card_id: str | None
    ttl: Ttl | None = None


class Place(Entity):
    key = Keys(PlacePK, MetadataSK)
    by_name = RankingTable.gsi3.keys(NamesPK, NamedPlaceSK)

    place_id: str
    name: str


class Code(Entity):
    key = Keys(PlacePK, CodeSK)
    by_code = RankingTable.gsi3.keys(NamesPK, CodeSK)

    place_id: str
    code: str


class Found(Collection):
    cards: list[Card]
    places: list[Place]


class Board(Collection):
    first: CardScore | None
    cards: list[Card]


def named_card(score: CardScore) -> tuple[CardPK, MetadataSK] | None:
    """Return the key of the card that a score is of."""
    return None if score.card_id is None else (CardPK(card_id=score.card_id), MetadataSK())


class Ranking(Design):
    table = RankingTable
    entities = (Card, CardScore, Place, Code)

    @pattern("1 Cards of a board, best first")
    def board(self, board: str) -> Followed[Card]:
        return self.scores(board).follow(Card.key, named_card)

    @pattern("2 Scores of a board, best first")
    def scores(self, board: str) -> Query[CardScore]:
        return CardScore.key.query(ScorePK(board=board)).newest_first()

    @pattern("3 Cards of a board, of all shards, best first")
    def ranked(self, board: str) -> Followed[Card]:
        parts = [CardScore.ranked.query(ShardPK(board=board, shard=number)) for number in shards(ShardPK)]
        return Merged(parts).newest_first().follow(Card.key, named_card)

    @pattern("4 Cards of months")
    def of_months(self, newest: datetime, oldest: datetime) -> Followed[Card]:
        months = buckets(MonthPK, newest=newest, oldest=oldest)
        parts = [CardScore.by_month.query(MonthPK(month=month)).newest_first() for month in months]
        return Walk(parts).follow(Card.key, named_card)

    @pattern("5 Liked cards of a board", consistent=True)
    def liked(self, board: str, likes: int) -> Followed[Card]:
        return self.ranked(board).where(Gt("likes", likes)).limit(10)

    @pattern("6 What begins so", samples={"term": "a"})
    def named(self, term: str) -> Collect[Found]:
        return collect(Found, NamesPK(), NameSK.starting(name=term), index=RankingTable.gsi3).limit(5)

    @pattern("7 What is called so")
    def called(self, name: str) -> Collect[Found]:
        return collect(Found, NamesPK(), NameSK.prefix(name=name), index=RankingTable.gsi3)

    @pattern("8 The best score of a board, and its cards", consistent=True)
    def overview(self, board: str) -> Collect[Board]:
        return gather(Board, first=self.scores(board).limit(1), cards=self.board(board).limit(3))
