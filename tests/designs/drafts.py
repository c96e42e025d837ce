"""Cards that expire while they are drafts, visits that expire after the last one, and codes that just expire."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NewType

from singletable.design import (
    Design,
    Entity,
    Eq,
    Get,
    Key,
    Keys,
    SortKey,
    Table,
    Ttl,
    UpdatedAt,
    Version,
    auto,
    expires,
    pattern,
)

CardId = NewType("CardId", str)


class DraftsTable(Table):
    name = "drafts"


class CardPK(Key, template="CARD#{card_id}"):
    card_id: CardId


class CardSK(SortKey, template="METADATA"):
    pass


class VisitSK(SortKey, template="VISIT#{visit_id}"):
    visit_id: str


class CodeSK(SortKey, template="CODE#{code}"):
    code: str


class Card(Entity):
    key = Keys(CardPK, CardSK)

    card_id: CardId
    title: str
    status: Literal["DRAFT", "REVIEW", "PUBLISHED"] = "DRAFT"
    version: Version = 0
    ttl: Ttl = expires(days=30, when=Eq("status", "DRAFT"))


class Visit(Entity):
    key = Keys(CardPK, VisitSK)

    card_id: CardId
    visit_id: str
    last_seen_at: datetime
    note: str | None = None
    ttl: Ttl = expires(hours=1, after="last_seen_at")


class Code(Entity):
    key = Keys(CardPK, CodeSK)

    card_id: CardId
    code: str
    uses: int = 0
    updated_at: UpdatedAt = auto()
    ttl: Ttl = expires(minutes=10)


class Drafts(Design):
    table = DraftsTable
    entities = (Card, Visit, Code)

    @pattern("1 A card")
    def card(self, card_id: CardId) -> Get[Card]:
        return Card.key.get(CardPK(card_id=card_id), CardSK())

    @pattern("2 A visit")
    def visit(self, card_id: CardId, visit_id: str) -> Get[Visit]:
        return Visit.key.get(CardPK(card_id=card_id), VisitSK(visit_id=visit_id))

    @pattern("3 A code")
    def code(self, card_id: CardId, code: str) -> Get[Code]:
        return Code.key.get(CardPK(card_id=card_id), CodeSK(code=code))
