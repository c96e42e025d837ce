"""Mistakes in following items to others. A checker reports each marked line, and no other."""

from __future__ import annotations

from designs.ranking import (
    Card,
    CardPK,
    CardScore,
    Found,
    MetadataSK,
    NameSK,
    NamesPK,
    Ranking,
    RankingTable,
    ScorePK,
    named_card,
)
from singletable.design import Design, Followed, collect, pattern


class Boards(Design):
    table = RankingTable
    entities = (Card, CardScore)

    @pattern("1 Scores of a board, as if they were what is read in the end")
    def scores(self, board: str) -> Followed[CardScore]:
        return CardScore.key.query(ScorePK(board=board)).follow(Card.key, named_card)  # error


db = Ranking.open(":memory:")
scores = CardScore.key.query(ScorePK(board="day"))

# Keys of another entity, halves of keys, and what is no key.
scores.follow(Card.key, lambda score: (ScorePK(board=score.board), MetadataSK()))  # error
scores.follow(Card.key, lambda score: (CardPK(card_id=score.score_id), NameSK(name="a")))  # error
scores.follow(Card.key, lambda score: CardPK(card_id=score.score_id))  # error
scores.follow(Card.key, lambda score: score.score_id)  # error
scores.follow(Card, named_card)  # error
scores.follow(named_card)  # error

# What points is what was read, and what is found has a type.
db.plan(Card.by_name.query(NamesPK())).follow(Card.key, named_card)  # error
score: CardScore = db.board("day").one()  # error
card: Card = db.board("day").first()  # error

# It has an order, that of what points, and is no key to write by.
db.board("day").newest_first()  # error
db.delete(db.board("day"))  # error

# A collection is narrowed by a key, and limited by a number.
collect(Found, NamesPK(), "NAME#a")  # error
collect(Found, NamesPK(), NameSK.starting(name="a")).limit("5")  # error
