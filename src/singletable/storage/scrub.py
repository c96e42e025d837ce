"""Looking at every page of a file, whether anybody reads it or not: damage is found while there are backups.

What a page says is for `check`; here its bytes are compared with its sum, or with the tag that its cipher has
made.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import apsw

from singletable import errors
from singletable.storage.backups.workers import BackupWorkers
from singletable.storage.file.connections import ReadConnection
from singletable.storage.file.encryption import is_unlocked, look_at_pages
from singletable.storage.file.page_sums import (
    PAGES_A_LOOK,
    ScrubbedPages,
    give_missing_sums,
    has_sums,
    scrub_pages,
)
from singletable.storage.file.write_ahead_log import pages_not_saved

_LOOKS: Final = 3
_LOOK_AGAIN_S: Final = 0.02
_PAGES_IN_A_MIB: Final = 256
_PAUSE_S: Final = 1.0  # between two pieces

_log = logging.getLogger("singletable.storage")


def find_damaged_pages(connection: apsw.Connection) -> list[int]:
    """Look at every page of a file, also while others use it; return the numbers of those that are damaged."""
    damaged: list[int] = []
    first = 1
    while _can_tell(connection) and (looked := _look(connection, first)).looked_at:
        damaged += confirmed_damage(connection, looked.damaged)
        first += looked.looked_at
    return damaged


def _can_tell(connection: apsw.Connection) -> bool:
    return is_unlocked(connection) or has_sums(connection)


def _look(connection: apsw.Connection, first: int, pages: int = PAGES_A_LOOK) -> ScrubbedPages:
    return (look_at_pages if is_unlocked(connection) else scrub_pages)(connection, first, pages)


def confirmed_damage(connection: apsw.Connection, pages: list[int]) -> list[int]:
    """Look again at pages that do not fit their sums; return those that are damaged, and that somebody can read.

    A checkpoint may have been writing them just then. One that a dead process was writing is in the log, whole.
    """
    for _ in range(_LOOKS):
        if not pages:
            break
        time.sleep(_LOOK_AGAIN_S)
        not_saved = pages_not_saved(connection)
        pages = [page for page in pages if page not in not_saved and _look(connection, page, 1).found]
    return pages


# --- at a pace, behind the requests -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ScrubReport:
    """What was found while a file was looked at: how often all of it was, how far by now, and what is damaged."""

    passes: int = 0
    pages: int = 0
    """How many pages were looked at, in all passes."""
    damaged_pages: frozenset[int] = frozenset()
    """Those that were damaged when they were looked at last."""


class _Reading(Protocol):
    path: str

    def new_reader(self) -> ReadConnection | None: ...
    def end_reader(self, reader: ReadConnection) -> None: ...


class Scrub:
    """Goes through the pages of an open file again and again, in a thread, a piece each second.

    Between two pieces it holds nothing: neither a connection, which a fork would wait for, nor a lock.
    """

    def __init__(self, store: _Reading, workers: BackupWorkers) -> None:
        self._store = store
        self._workers = workers
        self.report = ScrubReport()
        self._next = 1

    def start(self, mib_s: float) -> None:
        """Look at so many MiB a second from now on, until the database is closed."""
        pages = max(PAGES_A_LOOK, round(mib_s * _PAGES_IN_A_MIB))
        self._workers.start("scrub", lambda: self._run(pages, self._workers.stopping.wait))

    def _run(self, pages: int, pause: Callable[[float], bool]) -> None:
        while not pause(_PAUSE_S):
            try:
                self.piece(pages)
            except (errors.DatabaseClosedError, errors.FileMovedError):
                return
            except (errors.DatabaseError, apsw.Error) as error:
                _log.debug("a piece of the scrub has failed, and is tried again: %s", error)

    def piece(self, pages: int) -> None:
        """Look at the next pages; behind the last one, begin again."""
        reader = self._store.new_reader()
        if reader is None:
            return  # in memory
        try:
            # Read, and not mapped: a page that the disk cannot read is an error, and not the end of the process.
            reader.connection.execute("PRAGMA mmap_size = 0").fetchall()
            for _ in range(0, pages, PAGES_A_LOOK):
                if not self._look(reader.connection):
                    break
        finally:
            self._store.end_reader(reader)

    def _look(self, connection: apsw.Connection) -> bool:
        """Look at some pages. Return False at the end of the file."""
        looked = _look(connection, self._next)
        if looked.without_sums:
            give_missing_sums(connection, are_known=True)
        known, seen = self.report, range(self._next, self._next + PAGES_A_LOOK)
        damaged = frozenset(confirmed_damage(connection, looked.damaged))
        for page in sorted(damaged - known.damaged_pages):
            _log.error("%s: page %d is damaged; singletable check says what it holds", self._store.path, page)
        is_last = looked.looked_at < PAGES_A_LOOK
        self._next = 1 if is_last else seen.stop
        self.report = ScrubReport(
            passes=known.passes + is_last,
            pages=known.pages + looked.looked_at,
            damaged_pages=damaged | {page for page in known.damaged_pages if page not in seen},
        )
        return not is_last
