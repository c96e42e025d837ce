"""Work that goes on behind the requests: filling new indexes and taking dropped tables away.

It goes through the writer in short pieces, so that no request waits long for it; a second connection would
starve under busy writers. Where it stands is stored with each piece: after a kill, the next open goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from singletable import errors, limits
from singletable.clock import Clock
from singletable.storage.catalog import Catalog
from singletable.storage.transaction import Transaction

_ROWS_A_STEP: Final = 64
_STEPS_MAX: Final = 64
_PIECE_US: Final = limits.BACKGROUND_HOLD_US_MAX // 3  # leaves room for one slow step and the COMMIT
_PAUSE_S: Final = 0.002  # lets writers of other processes, who poll for the lock, have their turn
_RETRY_S: Final = 0.5

Write = Callable[[Callable[[Transaction], bool]], bool]


def has_work(catalog: Catalog) -> bool:
    """Tell whether an index is being filled."""
    return any(not index.is_ready for table in catalog for index in table.indexes)


def run_piece(transaction: Transaction, clock: Clock) -> bool:
    """Do one short piece of whatever is to be done. Return whether nothing is left."""
    started_us = clock.now_us()
    for _ in range(_STEPS_MAX):
        if _step(transaction):
            return True
        if not 0 <= clock.now_us() - started_us < _PIECE_US:
            break
    return False


def _step(transaction: Transaction) -> bool:
    for table in transaction.catalog:
        for index in table.indexes:
            if not index.is_ready:
                transaction.backfill(table, index, rows_max=_ROWS_A_STEP)
                return False
    return transaction.reclaim(rows_max=_ROWS_A_STEP)


class Background:
    """The thread that does the pieces. It ends when nothing is left, and is started again when there is."""

    def __init__(self, write: Write, clock: Clock) -> None:
        self._write = write
        self._clock = clock
        self._thread: threading.Thread | None = None
        self._is_wanted = False
        self._deciding = threading.Lock()  # whether the thread goes on
        self._stop = threading.Event()

    def piece(self) -> bool:
        """Do one piece now, in the caller's thread. Return whether nothing is left."""
        return self._write(lambda transaction: run_piece(transaction, self._clock))

    def begin(self) -> None:
        """Do the first piece now, which is all of a small work, and leave the rest to the thread."""
        if not self.piece():
            self.wake()

    def wake(self) -> None:
        """Have the thread look for work: start it, or let the one that runs look once more."""
        with self._deciding:
            self._is_wanted = True
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._run, name="singletable-background", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Let the thread finish its piece, and wait for that."""
        self._stop.set()
        with self._deciding:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def forget_thread(self) -> None:
        """In a forked child there is no such thread; the parent's goes on with the work."""
        self._deciding = threading.Lock()
        self._stop = threading.Event()
        self._thread = None

    def _run(self) -> None:
        while self._goes_on():
            while not self._stop.is_set() and not self._try_piece():
                self._stop.wait(_PAUSE_S)

    def _goes_on(self) -> bool:
        with self._deciding:
            if self._is_wanted and not self._stop.is_set():
                self._is_wanted = False
                return True
            self._thread = None
            return False

    def _try_piece(self) -> bool:
        try:
            return self.piece()
        except (errors.DatabaseClosedError, errors.CorruptDatabaseError, errors.NewerFormatError):
            return True  # whoever uses the table is told, and the next open tries again
        except Exception:
            self._stop.wait(_RETRY_S)  # a full disk, a busy file: go on when it is over
            return False
