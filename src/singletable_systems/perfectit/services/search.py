"""Finding cards by words: with the search index, and without one by the words that the table itself keeps.

The index finds the words of all that a card says, the best cards first. The table finds those of titles, tags and
categories (PI-03), in no special order: it is used without an index, and while the index is out of reach.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Final

from singletable import Page, Usage
from singletable.errors import CursorError
from singletable_systems.perfectit.errors import InvalidInputError
from singletable_systems.perfectit.model.entities import PerfectionCard
from singletable_systems.perfectit.model.keys import CardId, CardSK
from singletable_systems.perfectit.model.words import words
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.reactions.search import (
    HITS_MAX,
    QUERY_LETTERS_MAX,
    SearchIndex,
    SearchUnavailableError,
)

logger = logging.getLogger("singletable.perfectit")

CARDS_MAX: Final = 100  # of a page: as many as one BatchGetItem reads
WORDS_MAX: Final = 8  # those behind them are ignored

_CHUNK_IDS: Final = 50
_CHUNKS_MAX: Final = 100  # that are read for a page

_BY_INDEX: Final = "index:"
_BY_WORDS: Final = "words:"


class Finding:
    """Finds published cards."""

    def __init__(self, db: PerfectIt) -> None:
        self._db = db

    def search(self, text: str, *, limit: int = 20, cursor: str | None = None) -> Page[PerfectionCard]:
        """Return a page of the cards that have all words of a text. A text without words finds nothing.

        Without an index a page may have fewer cards although more follow, if each word is common and few cards
        have all of them. Its cursor says whether more follow.
        """
        if not 1 <= limit <= CARDS_MAX:
            raise InvalidInputError(f"a page has 1 to {CARDS_MAX} cards, not {limit}")
        index = self._db.search_index
        if cursor is None:
            return self._begin(index, text, limit)
        if cursor.startswith(_BY_WORDS):
            return self._by_words(text, limit, _position(cursor.removeprefix(_BY_WORDS)))
        offset = cursor.removeprefix(_BY_INDEX)
        if index is None or offset == cursor or not (offset.isascii() and offset.isdigit()):
            raise CursorError(
                "this is no cursor of a search, or of one with an index that is no longer there"
            )
        return self._by_index(index, text, limit, int(offset))

    def _begin(self, index: SearchIndex | None, text: str, limit: int) -> Page[PerfectionCard]:
        if index is not None:
            try:
                return self._by_index(index, text, limit, 0)
            except SearchUnavailableError as error:
                logger.warning("%s; cards are found by the words of the table", error)
        return self._by_words(text, limit, "")

    # --- by the index ----------------------------------------------------------------------------

    def _by_index(self, index: SearchIndex, text: str, limit: int, offset: int) -> Page[PerfectionCard]:
        """Read hits until the page is full: the index may still have cards that are gone or hidden by now."""
        cards: list[PerfectionCard] = []
        usage = Usage()
        while len(cards) < limit and offset < HITS_MAX:
            asked = min(limit - len(cards), HITS_MAX - offset)
            hits = index.search(text, limit=asked, offset=offset)
            cards += self._published([hit.card_id for hit in hits], usage)
            offset += len(hits)
            if len(hits) < asked:
                return Page(cards, None, usage)
        return Page(cards, f"{_BY_INDEX}{offset}" if offset < HITS_MAX else None, usage)

    # --- by the words of the table ---------------------------------------------------------------

    def _by_words(self, text: str, limit: int, start: str) -> Page[PerfectionCard]:
        """Join the lists of the words: each is sorted by id, so ids that one lacks are skipped in the others."""
        usage = Usage()
        wanted = words(text[:QUERY_LETTERS_MAX])[:WORDS_MAX]
        if not wanted:
            return Page([], None, usage)
        joined = _Joined([_Ids(self._db, word, usage) for word in wanted], start)
        cards: list[PerfectionCard] = []
        while len(cards) < limit:
            found = joined.take(limit - len(cards))
            cards += self._published(found, usage)
            if joined.position is None or joined.is_tired:
                break
        cursor = None if joined.position is None else f"{_BY_WORDS}{joined.position}"
        return Page(cards, cursor, usage)

    def _published(self, card_ids: Sequence[CardId], usage: Usage) -> Iterator[PerfectionCard]:
        """Read cards, and leave out those that are not published."""
        if not card_ids:
            return
        found = self._db.cards(list(card_ids)).found()
        usage.add(found.usage)
        for card in found.item:
            if card is not None and card.status == "PUBLISHED":
                yield card
            else:
                usage.thrown_away += card is not None


def _position(text: str) -> str:
    """Return the place in the lists of words that a cursor names: an id, or just behind one."""
    try:
        CardSK(card_id=CardId(text)).render()
    except ValueError as error:
        raise CursorError("this is no cursor of a search") from error
    return text


class _Ids:
    """The cards that have a word, read in chunks from wherever one looks for more."""

    def __init__(self, db: PerfectIt, word: str, usage: Usage) -> None:
        self._db = db
        self._word = word
        self._usage = usage
        self._chunk: list[CardId] = []
        self._is_last = False
        self.chunks = 0

    def at_least(self, position: str) -> CardId | None:
        """Return the first id that is not less than another; None at the end."""
        self._chunk = [card_id for card_id in self._chunk if card_id >= position]
        if not self._chunk and not self._is_last:
            self._read(position)
        return self._chunk[0] if self._chunk else None

    def _read(self, position: str) -> None:
        start = CardId(position) if position else None
        page = self._db.cards_of_word(self._word, start).page(limit=_CHUNK_IDS)
        self._usage.add(page.usage)
        self._chunk = [token.card_id for token in page]
        self._is_last = page.cursor is None
        self.chunks += 1


class _Joined:
    """The cards that are in all lists. The next id is at least `position`; None at the end."""

    def __init__(self, lists: Sequence[_Ids], start: str) -> None:
        self._lists = lists
        self.position: str | None = start

    @property
    def is_tired(self) -> bool:
        """Whether enough was read for one page, however little was found."""
        return sum(each.chunks for each in self._lists) >= _CHUNKS_MAX

    def take(self, count: int) -> list[CardId]:
        """Return the next ids, so many or fewer."""
        found: list[CardId] = []
        while len(found) < count and self.position is not None and not self.is_tired:
            heads = [each.at_least(self.position) for each in self._lists]
            if None in heads:
                self.position = None
                break
            least, most = min(filter(None, heads)), max(filter(None, heads))
            if least == most:
                found.append(most)
                self.position = f"{most}\0"  # the least text that is greater
            else:
                self.position = most
        return found
