"""What a search index has missed while it was out of reach."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from itertools import islice
from threading import Lock
from typing import Final

from singletable_systems.perfectit.keys import CardId
from singletable_systems.perfectit.searching import SearchUnavailableError

logger = logging.getLogger("singletable.perfectit")

MISSED_MAX: Final = 10_000  # that are remembered; of more than that, all cards are to be gone through
PAUSE: Final = timedelta(seconds=5)


class Backlog:
    """Remembers cards by their ids and versions until the index has them; nobody waits twice for what is away."""

    def __init__(self) -> None:
        self._missed: dict[CardId, int] = {}
        self._away_until: datetime | None = None
        self._lock = Lock()
        self.has_forgotten = False
        """Whether more was missed than is remembered: whoever fills the index again says when it was."""

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
