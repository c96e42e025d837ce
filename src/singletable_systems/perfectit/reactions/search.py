"""Full-text search of cards: the document of a card, the protocol of an index, and its backlog.

`Fts5Index` (fts5.py) is SQLite, in this process; `OpenSearchIndex` (opensearch.py) is for more than that can
carry. An index holds published cards, and is brought up to date by the stream. It is eventually consistent: so
it returns ids, and the cards are read from the table.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from threading import Lock
from typing import Final, Protocol

from singletable.errors import SingleTableError
from singletable_systems.perfectit.model.entities import PerfectionCard
from singletable_systems.perfectit.model.keys import CardId

logger = logging.getLogger("singletable.perfectit")

# The fields of a document that are searched, and how much a word counts in each.
WEIGHTS: Final = {"title": 10.0, "tags": 5.0, "category": 5.0, "description": 2.0, "instructions": 1.0}

QUERY_LETTERS_MAX: Final = 500
# Nobody looks further. OpenSearch would go on to 10,000 ("index.max_result_window").
HITS_MAX: Final = 1_000

MISSED_MAX: Final = 10_000  # that are remembered; of more than that, all cards are to be gone through
PAUSE: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """The texts that a card is found by, uncompressed."""

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
    """The search index could not be asked, or has refused the request."""

    def __init__(self, reason: object) -> None:
        super().__init__(f"the search index is not available: {reason}")


class SearchIndex(Protocol):
    """Finds cards by their words. Every failure raises `SearchUnavailableError`.

    Handlers run at least once, so `put` and `delete` are idempotent: a version that is older than that in the
    index changes nothing.
    """

    def put(self, document: SearchDocument) -> None:
        """Put a document in the place of an older one of the same card."""
        ...

    def delete(self, card_id: CardId, version: int) -> None:
        """Delete a card from the index, unless the index has a later version of it."""
        ...

    def search(self, text: str, *, limit: int, offset: int = 0) -> Sequence[Hit]:
        """Return the cards that have all words of a text, the best first. Any text is allowed."""
        ...


def search_document(card: PerfectionCard) -> SearchDocument:
    """Return the search document of a card. Instructions are compressed in the table (PI-26), and plain here."""
    return SearchDocument(
        card_id=card.card_id,
        version=card.version,
        title=card.title,
        tags="\n".join(card.tags),
        category=card.category,
        description=card.description,
        instructions="\n".join(each.text for each in card.instructions),
    )


# --- an index that is out of reach ----------------------------------------------------------------------


class Backlog:
    """The cards that an index has missed, by their ids and versions, and how long the index is left alone."""

    def __init__(self) -> None:
        self._missed: dict[CardId, int] = {}
        self._away_until: datetime | None = None
        self._lock = Lock()
        self.has_forgotten = False
        """Whether more was missed than is remembered; the index keeper resets it and fills the index again."""

    def add(self, card_id: CardId, version: int) -> None:
        """Remember a card that has changed."""
        with self._lock:
            self._missed[card_id] = max(version, self._missed.get(card_id, 0))
            if len(self._missed) > MISSED_MAX:
                self._missed.clear()
                self.has_forgotten = True

    def some(self, count: int) -> dict[CardId, int]:
        """Return so many of the cards, those first that wait the longest."""
        with self._lock:
            return dict(islice(self._missed.items(), count))

    def told(self, card_id: CardId, version: int) -> None:
        """Forget a card that the index has, unless it has changed once more."""
        with self._lock:
            if self._missed.get(card_id) == version:
                del self._missed[card_id]
        if self._away_until is not None:
            self._away_until = None
            logger.info("the search index is there again")

    def is_away(self, now: datetime) -> bool:
        """Tell whether the index was out of reach a moment ago."""
        return self._away_until is not None and now < self._away_until

    def failed(self, error: SearchUnavailableError, now: datetime, card_id: CardId | None = None) -> None:
        """Leave the index alone for a while. The card goes behind the others: it may be the one that is wrong."""
        with self._lock:
            if card_id is not None and card_id in self._missed:
                self._missed[card_id] = self._missed.pop(card_id)
        if self._away_until is None:
            logger.warning("%s; what it misses, it is told later", error)
        self._away_until = now + PAUSE
