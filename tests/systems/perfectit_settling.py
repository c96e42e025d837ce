"""What PerfectIt keeps about others in an entity, worked out in plain Python: counts, scores, words, ends.

The formulas are those of the design's text, written once more in exact numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from typing import Any

from singletable import Entity
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardScore,
    CardStats,
    Category,
    Collection,
    Comment,
    Notification,
    PerfectionCard,
    SearchToken,
    Vote,
)

LIFE = timedelta(days=30)  # of drafts since they were changed, and of notifications
WORDS_MAX = 50
LETTERS_MAX = 40


def settled(entities: Iterable[Entity]) -> list[Entity]:
    """Return entities as they are read when all is counted; with what is counted of each published card."""
    given = list(entities)
    cards = [entity for entity in given if isinstance(entity, PerfectionCard)]
    given += [_stats(card, number) for number, card in enumerate(cards) if card.published_at is not None]
    counts = Counter(key for entity in given for key in _counted_at(entity))
    return [entity.model_copy(update=_filled(entity, counts)) for entity in given]


def _stats(card: PerfectionCard, number: int) -> CardStats:
    assert card.published_at is not None
    return CardStats(
        card_id=card.card_id,
        user_id=card.user_id,
        published_at=card.published_at,
        is_listed=card.status == "PUBLISHED",
        views=number * 7 % 1000,
    )


def _counted_at(entity: Entity) -> Iterator[tuple[Any, ...]]:
    match entity:
        case Vote():
            yield "votes", entity.target_type, entity.target_id, entity.value
        case Comment():
            yield "comments", entity.card_id
        case CardInCollection():
            yield "links", entity.collection_id
        case Category() if entity.parent_id != "ROOT":
            yield "categories", entity.parent_id
        case PerfectionCard(status="PUBLISHED"):
            yield "cards", entity.category


def _filled(entity: Entity, counts: Counter[tuple[Any, ...]]) -> dict[str, Any]:
    filled: dict[str, Any] = {"version": 1} if "version" in type(entity).model_fields else {}
    match entity:
        case PerfectionCard():
            filled["ttl"] = _second(entity.updated_at + LIFE) if entity.status == "DRAFT" else None
        case Notification():
            filled["ttl"] = _second(entity.created_at + LIFE)
        case CardStats():
            filled["up_votes"] = counts["votes", "card", entity.card_id, 1]
            filled["down_votes"] = counts["votes", "card", entity.card_id, -1]
            filled["comments"] = counts["comments", entity.card_id]
        case Comment():
            filled["up_votes"] = counts["votes", "comment", entity.comment_id, 1]
            filled["down_votes"] = counts["votes", "comment", entity.comment_id, -1]
        case Collection():
            filled["cards_count"] = counts["links", entity.collection_id]
        case Category():
            filled["categories_count"] = counts["categories", entity.category_id]
            filled["cards_count"] = counts["cards", entity.category_id]
    return filled


def _second(at: datetime) -> datetime:
    return at.replace(microsecond=0)


# --- scores -------------------------------------------------------------------------------------------------


def scores_of(stats: CardStats) -> Iterator[CardScore]:
    """Return the places in lists of a card that is in lists."""
    if stats.is_listed:
        up, down = _coarse(stats.up_votes, stats.down_votes)
        yield CardScore(card_id=stats.card_id, kind="CARD", score=int(up - down))
        yield CardScore(
            card_id=stats.card_id, kind="TRENDING", score=_trending(up - down, stats.published_at)
        )
        if up and down:
            disagreement = ((up + down) ** (min(up, down) / max(up, down)) * 100).to_integral_value()
            yield CardScore(card_id=stats.card_id, kind="CONTROVERSIAL", score=three_figures(disagreement))


def _coarse(up: int, down: int) -> tuple[Decimal, Decimal]:
    """Return votes in steps of ten from a thousand votes on, of a hundred from ten thousand on: 1204 is 1200."""
    step = Decimal(up + down).adjusted() - 2
    return (
        Decimal(up).quantize(Decimal(1).scaleb(max(0, step))),
        Decimal(down).quantize(Decimal(1).scaleb(max(0, step))),
    )


def _trending(votes: Decimal, published_at: datetime) -> int:
    """A tenfold of votes, or twelve and a half hours, are worth 10,000."""
    liked = (abs(votes) + 1).log10().copy_sign(votes)
    milliseconds = (published_at - datetime(2025, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    return int((liked * 10_000 + Decimal(milliseconds) / 4500).to_integral_value())


def three_figures(number: Decimal) -> int:
    """1006 -> 1010"""
    return int(Context(prec=3).create_decimal(number))


# --- words --------------------------------------------------------------------------------------------------


def words_of(card: PerfectionCard) -> Iterator[SearchToken]:
    """Return the words that a published card is found by."""
    if card.status == "PUBLISHED":
        found = [
            word[:LETTERS_MAX] for word in plain_words(f"{card.title} {' '.join(card.tags)} {card.category}")
        ]
        for word in list(dict.fromkeys(word for word in found if len(word) > 1))[:WORDS_MAX]:
            yield SearchToken(card_id=card.card_id, token=word)


def plain_words(text: str) -> list[str]:
    """Ölig, öl! -> olig, ol"""
    letters = unicodedata.normalize("NFD", text.lower())
    return re.findall(r"[^\W_]+", "".join(each for each in letters if unicodedata.category(each) != "Mn"))
