"""Reading cards and comments."""

from __future__ import annotations

from datetime import datetime

from singletable import (
    BatchGet,
    Collect,
    Eq,
    Get,
    Query,
    gather,
    pattern,
)
from singletable import Collection as Gathered
from singletable_systems.perfectit.model.entities import (
    CardStats,
    Comment,
    PerfectionCard,
)
from singletable_systems.perfectit.model.keys import (
    CardCategoryPK,
    CardId,
    CardPK,
    CategoryId,
    CommentId,
    CommentSK,
    MetadataSK,
    StatsSK,
    UserId,
    UserPK,
)


class CardView(Gathered):
    """A card with its counts."""

    card: PerfectionCard
    stats: CardStats | None


class CardPatterns:
    @pattern(
        "3 List cards by category, newest first",
        documented="GSI1 PK=CAT#<category>, SK begins_with CREATED#",
        fixes="PI-17",
    )
    def cards_by_category(self, category: CategoryId) -> Query[PerfectionCard]:
        return PerfectionCard.by_category.query(CardCategoryPK(category=category)).newest_first()

    @pattern(
        "4 List cards by author, newest first",
        documented="GSI2 PK=USER#<authorId>, SK begins_with CREATED#",
        fixes="PI-17",
    )
    def cards_by_author(self, user_id: UserId) -> Query[PerfectionCard]:
        """What everybody sees of an author: published cards."""
        return self.own_cards(user_id).where(Eq("status", "PUBLISHED"))

    @pattern("4b List own cards, drafts too, newest first", fixes="PI-17")
    def own_cards(self, user_id: UserId) -> Query[PerfectionCard]:
        return PerfectionCard.by_author.query(UserPK(user_id=user_id)).newest_first()

    @pattern("5 Get card details", documented="PK=CARD#<cardId>, SK=METADATA")
    def card(self, card_id: CardId) -> Get[PerfectionCard]:
        return PerfectionCard.key.get(CardPK(card_id=card_id), MetadataSK())

    @pattern("5b Get card with what is counted of it", fixes="PI-14")
    def card_view(self, card_id: CardId) -> Collect[CardView]:
        return gather(CardView, card=self.card(card_id), stats=self.stats(card_id))

    @pattern("5c Get what is counted of a card, as it is now", fixes="PI-14", consistent=True)
    def stats(self, card_id: CardId) -> Get[CardStats]:
        return CardStats.key.get(CardPK(card_id=card_id), StatsSK())

    @pattern("5d Get several cards")
    def cards(self, card_ids: list[CardId]) -> BatchGet[PerfectionCard]:
        return PerfectionCard.key.batch_get([(CardPK(card_id=each), MetadataSK()) for each in card_ids])

    @pattern("6 Get card comments", documented="PK=CARD#<cardId>, SK begins_with COMMENT#")
    def comments(self, card_id: CardId) -> Query[Comment]:
        return Comment.key.query(CardPK(card_id=card_id))

    @pattern("6b Get one comment, as it is now", consistent=True)
    def comment(self, card_id: CardId, created_at: datetime, comment_id: CommentId) -> Get[Comment]:
        return Comment.key.get(
            CardPK(card_id=card_id), CommentSK(created_at=created_at, comment_id=comment_id)
        )

    @pattern("12 Get user's comments, newest first", documented="GSI2: user's comments", fixes="PI-01")
    def comments_by(self, user_id: UserId) -> Query[Comment]:
        return Comment.by_author.query(UserPK(user_id=user_id)).newest_first()
