"""Full-text search of cards: what a card is found by, and the seam behind which an index stands.

`Fts5Index` (fts5.py) is SQLite, in this process; `OpenSearchIndex` (opensearch.py) is for who outgrows it. An
index holds published cards, and is brought up to date by the stream. It may be behind, and be told the same twice:
so it returns ids, and who shows cards reads them from the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from singletable.errors import SingleTableError
from singletable_systems.perfectit.entities import PerfectionCard
from singletable_systems.perfectit.keys import CardId

# The fields of a document that are searched, and how much a word counts in each.
WEIGHTS: Final = {"title": 10.0, "tags": 5.0, "category": 5.0, "description": 2.0, "instructions": 1.0}

QUERY_LETTERS_MAX: Final = 500
# Nobody looks further. OpenSearch would go on to 10,000 ("index.max_result_window").
HITS_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """What a card is found by: plain texts, whatever they are stored as."""

    card_id: CardId
    version: int
    """That of the card: of two documents of a card, the one with the greater version stays."""
    title: str
    tags: str
    category: str
    description: str
    instructions: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A card that was found, and how well it fits; more is better."""

    card_id: CardId
    score: float


class SearchUnavailableError(SingleTableError):
    """The search index could not be asked, or has refused what it was asked."""

    def __init__(self, reason: object) -> None:
        super().__init__(f"the search index is not available: {reason}")


class SearchIndex(Protocol):
    """Finds cards by their words. What fails raises `SearchUnavailableError`.

    Handlers run at least once, so `put` and `delete` bear to be called again; and what is older than what the
    index has, by its version, changes nothing.
    """

    def put(self, document: SearchDocument) -> None:
        """Let a card be found by this document, and no longer by an older one."""
        ...

    def delete(self, card_id: CardId, version: int) -> None:
        """Let a card that is of this version now be found no longer."""
        ...

    def search(self, text: str, *, limit: int, offset: int = 0) -> Sequence[Hit]:
        """Return the cards that have all words of a text, the best first. Any text is allowed."""
        ...


def search_document(card: PerfectionCard) -> SearchDocument:
    """Return what a card is found by. Instructions are compressed in the table (PI-26), and plain here."""
    return SearchDocument(
        card_id=card.card_id,
        version=card.version,
        title=card.title,
        tags="\n".join(card.tags),
        category=card.category,
        description=card.description,
        instructions="\n".join(each.text for each in card.instructions),
    )
