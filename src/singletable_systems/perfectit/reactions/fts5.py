"""A search index in this process: FTS5 of SQLite, in a file of its own or in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from types import TracebackType
from typing import Final, Self
from weakref import finalize

from singletable.systems import plain_text
from singletable_systems.perfectit.model.keys import CardId
from singletable_systems.perfectit.reactions.search import (
    QUERY_LETTERS_MAX,
    WEIGHTS,
    Hit,
    SearchDocument,
    SearchUnavailableError,
)

_WAIT_S: Final = 30.0  # for another process that writes to the file
_PAUSE_S: Final = 0.01  # between two tries to change the journal mode
_FIELDS: Final = ", ".join(WEIGHTS)

# A text is found by its row; without the first table, that of a card could only be found by reading them all.
_DOCUMENTS: Final = (
    "CREATE TABLE IF NOT EXISTS documents"
    " (id INTEGER PRIMARY KEY, card_id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL)"
)
_TEXTS: Final = (
    # Texts are written folded (`plain_text`), so the tokenizer folds nothing that the words of the table
    # keep.
    f"CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5({_FIELDS},"
    " tokenize = 'unicode61 remove_diacritics 2')"
)
_KEEP: Final = (
    "INSERT INTO documents (card_id, version) VALUES (?, ?)"
    " ON CONFLICT (card_id) DO UPDATE SET version = excluded.version WHERE excluded.version >= version"
    " RETURNING id"
)
_FORGET: Final = "DELETE FROM documents WHERE card_id = ? AND version <= ? RETURNING id"
_WRITE: Final = f"INSERT INTO texts (rowid, {_FIELDS}) VALUES (?{', ?' * len(WEIGHTS)})"
_ERASE: Final = "DELETE FROM texts WHERE rowid = ?"
# bm25() is the smaller the better.
_SEARCH: Final = (
    f"SELECT card_id, -bm25(texts, {', '.join(map(str, WEIGHTS.values()))}) AS score"
    " FROM texts JOIN documents ON documents.id = texts.rowid WHERE texts MATCH ?"
    " ORDER BY score DESC, card_id LIMIT ? OFFSET ?"
)


class Fts5Index:
    """A search index in a file, or in memory (":memory:"). Threads may share it, and processes may share a file.

    A word is found whole, in any case and without accents, as words are in the table's own index. A write is on
    disk before its call returns, because the consumer then goes on, and does not repeat it.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        self._lock = Lock()
        with _as_unavailable():
            self._connection = sqlite3.connect(
                path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
        self._close = finalize(self, self._connection.close)
        with _as_unavailable():
            _use_write_ahead_log(self._connection)
            self._connection.execute(_DOCUMENTS)
            self._connection.execute(_TEXTS)

    def put(self, document: SearchDocument) -> None:
        """Let a card be found by this document, and no longer by an older one."""
        with self._writing():
            kept = self._connection.execute(_KEEP, (document.card_id, document.version)).fetchone()
            if kept is not None:
                self._connection.execute(_ERASE, kept)
                texts = [plain_text(getattr(document, field)) for field in WEIGHTS]
                self._connection.execute(_WRITE, (*kept, *texts))

    def delete(self, card_id: CardId, version: int) -> None:
        """Delete a card from the index, unless the index has a later version of it."""
        with self._writing():
            forgotten = self._connection.execute(_FORGET, (card_id, version)).fetchone()
            if forgotten is not None:
                self._connection.execute(_ERASE, forgotten)

    def search(self, text: str, *, limit: int, offset: int = 0) -> Sequence[Hit]:
        """Return the cards that have all words of a text, the best first. Any text is allowed."""
        words = dict.fromkeys(plain_text(text[:QUERY_LETTERS_MAX]).split())
        if not words:
            return []
        # Between quotes, nothing of a word is syntax; and no word has a quote.
        wanted = " AND ".join(f'"{word}"' for word in words)
        with self._lock, _as_unavailable():
            found = self._connection.execute(_SEARCH, (wanted, limit, offset)).fetchall()
        return [Hit(CardId(card_id), score) for card_id, score in found]

    def close(self) -> None:
        """Close the index. It can be opened again, if it is in a file."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, _as_unavailable(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Change the journal mode of a new file. SQLite does not wait for others there, whatever its timeout is."""
    give_up_at = monotonic() + _WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > give_up_at:
                raise
            sleep(_PAUSE_S)
        else:
            return


@contextmanager
def _as_unavailable() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise SearchUnavailableError(error) from error
