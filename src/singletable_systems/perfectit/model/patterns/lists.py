"""Reading votes, and lists of cards: the best, the newest, those with a word."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

from singletable import (
    Eq,
    Followed,
    Get,
    Merged,
    Query,
    Walk,
    buckets,
    pattern,
    shards,
)
from singletable_systems.perfectit.errors import InvalidInputError
from singletable_systems.perfectit.model.entities import (
    CardScore,
    PerfectionCard,
    SearchToken,
    Vote,
)
from singletable_systems.perfectit.model.keys import (
    CardId,
    CardPK,
    CardSK,
    DatePK,
    MetadataSK,
    ScoreKind,
    SearchPK,
    TargetPK,
    UserId,
    UserPK,
    VotePK,
    VoteSK,
    VoteTypePK,
)

TRENDING_MAX: Final = 20  # 001:60
DAYS_MAX: Final = 366  # each is a query, even if nothing was published
Days = Annotated[int, Field(ge=1, le=DAYS_MAX)]


class ListPatterns:
    @pattern("9 Check user vote", documented="PK=VOTE#<userId>#<targetId>", fixes="PI-10", consistent=True)
    def vote(self, user_id: UserId, target_id: str) -> Get[Vote]:
        return Vote.key.get(VotePK(user_id=user_id, target_id=target_id), VoteSK())

    @pattern("17 Get voters of a target, newest first", documented="GSI1 PK=TARGET#<targetId>", fixes="PI-12")
    def voters(self, target_id: str) -> Query[Vote]:
        return Vote.by_target.query(TargetPK(target_id=target_id)).newest_first()

    @pattern("21 Get a user's votes, newest first", fixes="PI-13")
    def votes_by(self, user_id: UserId) -> Query[Vote]:
        return Vote.by_user.query(UserPK(user_id=user_id)).newest_first()

    @pattern("10 Get trending cards", documented="GSI3 PK=DATE#<today>, limit 20", fixes="PI-08")
    def trending(self) -> Followed[PerfectionCard]:
        """The twenty cards that are liked most for their age."""
        return self._ranked("TRENDING").limit(TRENDING_MAX)

    @pattern(
        "11 Get top voted cards",
        documented="GSI5 PK=VOTETYPE#CARD, SK begins_with SCORE#, ScanIndexForward=false",
        fixes="PI-04, PI-05, PI-06",
    )
    def top_voted(self) -> Followed[PerfectionCard]:
        return self._ranked("CARD")

    @pattern("16 Get controversial cards", documented="GSI5: controversial content", fixes="PI-07")
    def controversial(self) -> Followed[PerfectionCard]:
        return self._ranked("CONTROVERSIAL")

    @pattern("11b The ranking behind a list of cards", fixes="PI-04, PI-07, PI-08")
    def ranking(self, kind: ScoreKind = "CARD") -> Merged[CardScore]:
        every = [CardScore.ranked.query(VoteTypePK(kind=kind, shard=shard)) for shard in shards(VoteTypePK)]
        return Merged(every).newest_first()

    def _ranked(self, kind: ScoreKind) -> Followed[PerfectionCard]:
        cards = self.ranking(kind).follow(
            PerfectionCard.key, lambda score: (CardPK(card_id=score.card_id), MetadataSK())
        )
        return cards.where(Eq("status", "PUBLISHED"))

    @pattern(
        "13 Get recent cards, newest first",
        documented="GSI3 PK=DATE#<YYYY-MM-DD>, SK=CREATED#<timestamp>#<entityId>",
        fixes="PI-02, PI-08, PI-09",
    )
    def recent(self, now: datetime, days: Days = 30) -> Walk[PerfectionCard]:
        """Cards that were published in the last days: day after day, until the page is full."""
        if not 1 <= days <= DAYS_MAX:
            raise InvalidInputError(f"recent cards are those of the last 1 to {DAYS_MAX} days, not of {days}")
        oldest = now - timedelta(days=days)
        return Walk(
            [
                Merged(
                    [PerfectionCard.by_day.query(DatePK(day=day, shard=shard)) for shard in shards(DatePK)]
                ).newest_first()
                for day in buckets(DatePK, newest=now, oldest=oldest)
            ]
        )

    @pattern("15 Find cards by a word", documented="GSI4 PK=SEARCH#<searchableField>", fixes="PI-03")
    def cards_with_word(self, word: str) -> Followed[PerfectionCard]:
        """Published cards with a word in the title, the tags or the category, in no special order."""
        found = SearchToken.found.query(SearchPK(token=word))
        cards = found.follow(PerfectionCard.key, lambda token: (CardPK(card_id=token.card_id), MetadataSK()))
        return cards.where(Eq("status", "PUBLISHED"))

    @pattern("15b Get the words behind such a search, from a card on", fixes="PI-03")
    def cards_of_word(self, word: str, from_card: CardId | None = None) -> Query[SearchToken]:
        """Which cards have a word, in the order of their ids."""
        start = None if from_card is None else CardSK(card_id=from_card)
        return SearchToken.found.query(SearchPK(token=word), ge=start)
