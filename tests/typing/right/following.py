"""Items that others point to, as a checker must accept it."""

from __future__ import annotations

from typing import Any, assert_type

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
from singletable.design import (
    Collect,
    Entity,
    Followed,
    Gt,
    Key,
    Keys,
    Merged,
    Page,
    Query,
    Table,
    Walk,
    collect,
)


class NotesTable(Table):
    name = "notes"
    sk = None


class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str


class Note(Entity):
    key = Keys(NotePK)

    note_id: str


async def read(plan: Followed[Card]) -> None:
    assert_type(await plan.apage(10), Page[Card])
    assert_type(await plan.afirst(), Card | None)
    assert_type(await plan.amaybe(), Card | None)
    assert_type(await plan.aone(), Card)
    assert_type([card async for card in plan.aall()], list[Card])


db = Ranking.open(":memory:")
scores = CardScore.key.query(ScorePK(board="day"))
cards = scores.newest_first().follow(Card.key, lambda score: (CardPK(card_id=score.score_id), MetadataSK()))
assert_type(scores, Query[CardScore])
assert_type(cards, Followed[Card])
assert_type(scores.follow(Card.key, named_card), Followed[Card])
assert_type(Merged([scores]).follow(Card.key, named_card).page(), Page[Card])
assert_type(Walk([scores]).follow(Card.key, named_card).first(), Card | None)
assert_type(scores.follow(Note.key, lambda score: NotePK(note_id=score.score_id)), Followed[Note])
assert_type(scores.follow(Note.key, lambda score: None), Followed[Note])
assert_type(cards.where(Gt("likes", 1), name="a").limit(3).cached(seconds=5).consistent().one(), Card)
assert_type(list(db.board("day").all()), list[Card])
request: Any = cards.request(5)

found = collect(Found, NamesPK(), NameSK.starting(name="a"), index=RankingTable.gsi3)
assert_type(found, Collect[Found])
assert_type(found.limit(5).one().cards, list[Card])
assert_type(collect(Found, NamesPK(), NameSK(name="a"), index=RankingTable.gsi3).maybe(), Found | None)
