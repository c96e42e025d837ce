"""Work that goes on behind the requests, each kind of it a chore in a module of its own.

It goes through the writer in short pieces, so that no request waits long for it; a second connection would
starve under busy writers. Where it stands is stored with each piece: after a kill, the next open goes on.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, NamedTuple, Protocol, runtime_checkable

from singletable import errors, limits
from singletable.clock import Clock, ManualClock, SteadyTime
from singletable.errors.base import sentence_of
from singletable.storage.backups import restoring
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.chores import backfilling, reclaiming, sharding, sweeping, trimming
from singletable.storage.log import select_logs
from singletable.storage.reading import snapshot
from singletable.storage.transaction import Read, Transaction, Write

_STEPS_MAX: Final = 64
_PAUSE_S: Final = 0.002  # gives a turn to writers of other processes, which poll for the lock
_RETRY_S: Final = 0.5
# After these there is nothing to go on with.
_ENDING: Final = (
    errors.DatabaseClosedError,
    errors.CorruptDatabaseError,
    errors.NewerFormatError,
    errors.FileMovedError,
)
_INTERVAL_S: Final = 1.0  # between two looks for chores that have become due
_LOOK_REST: Final = 20  # times the length of a look, which grows with the number of tables

_log = logging.getLogger("singletable.storage")


class Chore(Protocol):
    """A kind of work: whether there is any, and doing a little of it. `now_us` decides what has expired."""

    __name__: str

    def is_due(self, execute: Execute, catalog: Catalog, now_us: int) -> bool: ...

    def step(self, transaction: Transaction, now_us: int) -> bool:
        """Do a little. Return whether nothing is left."""
        ...


@runtime_checkable
class SearchingChore(Protocol):
    """A chore with many places to look at: `search` does so with a reader, and tells the writer where to work."""

    __name__: str

    def search(self, execute: Execute, catalog: Catalog, now_us: int) -> list[int]:
        """Return the ids of some places where there is something to do."""
        ...

    def step_found(self, transaction: Transaction, now_us: int, found: list[int]) -> bool:
        """Do a little there. Return whether nothing is left of it."""
        ...


AnyChore = Chore | SearchingChore
Step = Callable[[Transaction, int], bool]


def _find(chore: AnyChore, execute: Execute, catalog: Catalog, now_us: int) -> Step | None:
    """Return the function that does the next step of a chore; None if there is nothing to do."""
    if not isinstance(chore, SearchingChore):
        return chore.step if chore.is_due(execute, catalog, now_us) else None
    found = chore.search(execute, catalog, now_us)
    return partial(chore.step_found, found=found) if found else None


class ChorePiece(NamedTuple):
    """The result of a piece: whether it finished its chore, and how many expired items it deleted."""

    is_last: bool
    expired: int


class ChorePace(NamedTuple):
    """How long one piece holds the writer, and how many times as long it then lets go."""

    piece_us: int
    rest: float


# Somebody waits for the chore. Leaves room for one slow step and the COMMIT.
_BRISK: Final = ChorePace(limits.BACKGROUND_HOLD_US_MAX // 3, 0)
# Nobody waits for the chore: most requests should not notice it at all.
_GENTLE: Final = ChorePace(limits.BACKGROUND_PIECE_US, 2)

# Chores that a request has started, and chores that become due as time passes.
_STARTED: Final[Mapping[AnyChore, ChorePace]] = {
    backfilling: _BRISK,
    restoring: _BRISK,
    reclaiming: _BRISK,
}
_TIMED: Final[Mapping[AnyChore, ChorePace]] = {sharding: _GENTLE, sweeping: _GENTLE, trimming: _GENTLE}
_PACES: Final[Mapping[AnyChore, ChorePace]] = {**_STARTED, **_TIMED}


def has_chores(catalog: Catalog) -> bool:
    """Tell whether there is, or will be, something to do for tables."""
    return any(
        table.logs_changes
        or table.expiry is not None
        or not table.definition.is_ready
        or not all(index.is_ready for index in table.indexes)
        for table in catalog
    )


class Background:
    """The thread that does the chores. While some become due with time, it looks for them at intervals.

    Under a manual clock there are no intervals: chores that become due are done when the clock is moved.
    """

    def __init__(
        self,
        read: Read,
        write: Write,
        clock: Clock,
        steady: SteadyTime,
        *,
        sweep_s: float | None,
        on_look: Callable[[], None],
    ) -> None:
        """Without `sweep_s`, items that have expired are deleted only when `sweep` is called.

        `on_look` is called at each look for due chores: it starts the work that takes too long for one piece.
        """
        self._read = read
        self._write = write
        self._clock = clock
        self._time = steady
        self._on_look = on_look
        self._sweep_s = sweep_s
        self._next_sweep_us = clock.elapsed_us()
        self._look_us = 0  # how long the last look for due chores took
        self._failed: set[AnyChore] = set()  # those with a warning in the log, and no success since
        self._all = dict(_PACES)
        if sweep_s is None:
            del self._all[sweeping]
        self._is_manual = isinstance(clock, ManualClock)
        self._in_thread = _STARTED if self._is_manual else self._all
        self._thread: threading.Thread | None = None
        self.is_wanted = threading.Event()
        self._deciding = threading.Lock()  # whether the thread goes on
        self._stop = threading.Event()

    # --- in the caller's thread ------------------------------------------------------------------

    def piece(self, chores: Iterable[AnyChore] | None = None) -> bool:
        """Do one piece of each chore that is due. Return whether nothing is left to do."""
        chores = self._all if chores is None else chores
        due = self._due(chores)
        for chore, step in due.items():
            self._do(chore, step)
        return not due or not self._due(chores)

    def begin(self) -> None:
        """Do the first piece now, which completes a small chore, and leave the rest to the thread.

        Nothing is raised: the request is stored, and neither a full disk nor another writer undoes it.
        """
        is_done = False
        with contextlib.suppress(Exception):
            is_done = self.piece(_STARTED)
        if not is_done:
            self.wake()

    def now_us(self) -> int:
        """Return the time by which things are thrown away."""
        return self._time.now_us()

    def time_moved(self) -> None:
        """Do everything that is due."""
        with contextlib.suppress(errors.DatabaseClosedError, errors.ForkedDatabaseError):
            self._on_look()
            while not self.piece():
                pass

    def sweep(self) -> int:
        """Delete all items that have expired. Return how many that were."""
        deleted = 0
        while True:
            piece = self._do(sweeping, sweeping.step)
            deleted += piece.expired
            if piece.is_last:
                return deleted

    def _due(self, chores: Iterable[AnyChore]) -> dict[AnyChore, Step]:
        """Return the chores that have something to do, each with its next step."""
        now_us, started_us = self._time.now_us(), self._clock.elapsed_us()

        def find(execute: Execute, catalog: Catalog) -> dict[AnyChore, Step]:
            with snapshot(execute):  # one state: other processes may remove rows between two statements
                steps = ((chore, _find(chore, execute, catalog, now_us)) for chore in chores)
                return {chore: step for chore, step in steps if step is not None}

        found = self._read(find)
        self._look_us = self._clock.elapsed_us() - started_us
        return found

    def _do(self, chore: AnyChore, step: Step) -> ChorePiece:
        """Do one short piece of a chore."""
        now_us = self._time.now_us()
        piece_us = _PACES[chore].piece_us

        def work(transaction: Transaction) -> ChorePiece:
            started_us, expired_before = self._clock.elapsed_us(), sum(transaction.expired.values())
            is_last = False
            for _ in range(_STEPS_MAX):
                is_last = step(transaction, now_us)
                if is_last or self._clock.elapsed_us() - started_us >= piece_us:
                    break
            return ChorePiece(is_last, sum(transaction.expired.values()) - expired_before)

        return self._write(work)

    # --- in a thread of its own -------------------------------------------------------------------

    def wake(self) -> None:
        """Have the thread look for work: start it, or let the one that runs look once more."""
        with self._deciding:
            self.is_wanted.set()
            if self._thread is None and not self._stop.is_set():
                name = "singletable-background"
                thread = threading.Thread(target=_run, args=(weakref.ref(self),), name=name, daemon=True)
                # The interpreter starts no thread when it ends, or has too many; the next open goes on.
                with contextlib.suppress(RuntimeError):
                    thread.start()
                    self._thread = thread

    def stop(self) -> None:
        """Let the thread finish its piece, and wait for that."""
        self._stop.set()
        self.is_wanted.set()
        with self._deciding:
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def forget_thread(self) -> None:
        """In a forked child there is no such thread; one is started when the child writes."""
        self._deciding = threading.Lock()
        self.is_wanted = threading.Event()
        self._stop = threading.Event()
        self._thread = None

    def look(self) -> float | None:
        """Do all due chores. Return the seconds until the next look; None when the thread is to end."""
        self.is_wanted.clear()
        if self._stop.is_set():
            return None
        try:
            self._on_look()
            is_done = self._run_pieces()
            if self._stop.is_set():
                return None
            if not is_done:
                return _RETRY_S  # a full disk, a busy file: go on when it is over
            if not self._is_manual and self._read(self._becomes_due):
                interval_s = min(_INTERVAL_S, self._sweep_s or _INTERVAL_S)
                return max(interval_s, _LOOK_REST * self._look_us / 1_000_000)
        except _ENDING:
            with self._deciding:
                self._thread = None  # each user of the table gets the error; the next open tries again
            return None
        except Exception:
            return _RETRY_S
        with self._deciding:
            if self.is_wanted.is_set():
                return 0
            self._thread = None
            return None

    def _run_pieces(self) -> bool:
        """Do all due chores, a piece of each in turn. Return False if one has failed; the others went on."""
        chores = self._chores_of_this_look()
        is_done = True
        while due := self._due(chores):
            for chore, step in due.items():
                if self._stop.is_set():
                    return is_done
                try:
                    self._run_piece(chore, step)
                    self._failed.discard(chore)
                except _ENDING:
                    raise
                except Exception as error:
                    self._tell_failed(chore, error)
                    chores.remove(chore)
                    is_done = False
        return is_done

    def _run_piece(self, chore: AnyChore, step: Step) -> None:
        started_us = self._clock.elapsed_us()
        self._do(chore, step)
        worked_s = (self._clock.elapsed_us() - started_us) / 1_000_000
        self._stop.wait(max(_PAUSE_S, self._in_thread[chore].rest * worked_s))

    def _tell_failed(self, chore: AnyChore, error: Exception) -> None:
        if chore not in self._failed:
            self._failed.add(chore)
            name = chore.__name__.rpartition(".")[2]
            _log.warning(
                "singletable.storage.%s has failed, and is tried again: %s", name, sentence_of(error)
            )

    def _chores_of_this_look(self) -> list[AnyChore]:
        """Return the chores of this look. Sweeping may have a longer interval than the looks."""
        elapsed_us = self._clock.elapsed_us()
        is_time = elapsed_us >= self._next_sweep_us
        if is_time and self._sweep_s is not None:
            self._next_sweep_us = elapsed_us + round(self._sweep_s * 1_000_000)
        return [chore for chore in self._in_thread if is_time or chore is not sweeping]

    def _becomes_due(self, execute: Execute, catalog: Catalog) -> bool:
        """Tell whether there is something that time changes: items that expire, records that are trimmed."""
        sweeps = self._sweep_s is not None
        return (sweeps and any(table.expiry is not None for table in catalog)) or bool(select_logs(execute))


def _run(reference: weakref.ref[Background]) -> None:
    """Look for work again and again; between two looks hold only a weak reference to the database.

    So a database that was not closed can be garbage-collected as if there were no thread.
    """
    while (background := reference()) is not None:
        is_wanted, wait_s = background.is_wanted, background.look()
        if wait_s is None:
            return
        del background
        is_wanted.wait(wait_s)
