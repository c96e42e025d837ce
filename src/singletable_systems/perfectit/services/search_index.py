"""Filling a search index from the table, and bringing it up to date when it was out of reach."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from singletable.systems import Step
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.reactions.search import (
    SearchIndex,
    SearchUnavailableError,
    search_document,
)

FILL_DAYS: Final = 5 * 366
_SPAN_DAYS: Final = 30


class IndexFiller:
    """Puts the published cards of the last years into an index, newest first, a month in a step.

    It may run while a dispatcher brings the same index up to date: of two documents, the newer stays. A card that
    is deleted meanwhile may be left in the index, and is not shown, since cards are read from the table.
    """

    def __init__(self, db: PerfectIt, index: SearchIndex, *, days: int = FILL_DAYS) -> None:
        self._db = db
        self._index = index
        self._newest = db.now()
        self._oldest = self._newest - timedelta(days=days)

    @property
    def is_done(self) -> bool:
        """Whether all days were gone through."""
        return self._newest < self._oldest

    def step(self) -> Step:
        """Go through the cards of the next days; tell how many there were."""
        if self.is_done:
            return Step(0)
        days = max(1, min(_SPAN_DAYS, (self._newest - self._oldest).days))
        count = 0
        for card in self._db.recent(self._newest, days).all():
            self._index.put(search_document(card))
            count += 1
        self._newest -= timedelta(days=days + 1)
        return Step(count, more=not self.is_done)

    def run(self) -> int:
        """Fill the index; return how many cards it was given."""
        count = 0
        while not self.is_done:
            count += self.step().done
        return count


class IndexKeeper:
    """Keeps the search index of a table: a backfill at the start, later the cards that it has missed."""

    def __init__(self, db: PerfectIt) -> None:
        self._db = db
        self._filler: IndexFiller | None = None

    def step(self) -> Step:
        """Put some cards that the index has missed, or fill it further; nothing while it is out of reach."""
        index, backlog = self._db.search_index, self._db.index_backlog
        if index is None or backlog is None:
            return Step(0)
        told = self._db.catch_up_index()
        if told or backlog.is_away(self._db.now()):
            return Step(told, more=told > 0)
        if self._filler is None or backlog.has_forgotten:
            backlog.has_forgotten = False
            self._filler = IndexFiller(self._db, index)
        try:
            return self._filler.step()
        except SearchUnavailableError as error:
            backlog.failed(error, self._db.now())
            return Step(0)
