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
from typing import Final, NamedTuple, Protocol, TypeVar, runtime_checkable

from singletable import errors, limits
from singletable.clock import Clock, ManualClock, SteadyTime
from singletable.errors.base import sentence_of
from singletable.storage import backfilling, reclaiming, restoring, sharding, sweeping, trimming
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.log import select_logs
from singletable.storage.reading import snapshot
from singletable.storage.transaction import Transaction

_STEPS_MAX: Final = 64
_PAUSE_S: Final = 0.002  # lets writers of other processes, who poll for the lock, have their turn
_RETRY_S: Final = 0.5
# After these there is nothing to go on with.
_ENDING: Final = (
    errors.DatabaseClosedError,
    errors.CorruptDatabaseError,
    errors.NewerFormatError,
    errors.FileMovedError,
)
_INTERVAL_S: Final = 1.0  # between two looks for what has become due
_LOOK_REST: Final = 20  # times as long as a look itself has taken: of many tables, it takes long

T = TypeVar("T")

_log = logging.getLogger("singletable.storage")


class Read(Protocol):
    def __call__(self, work: Callable[[Execute, Catalog], T], /) -> T: ...


class Write(Protocol):
    def __call__(self, work: Callable[[Transaction], T], /) -> T: ...


class Chore(Protocol):
    """A kind of work: whether there is any, and doing a little of it. What has expired, has so at `now_us`."""

    __name__: str

    def is_due(self, execute: Execute, catalog: Catalog, now_us: int) -> bool: ...

    def step(self, transaction: Transaction, now_us: int) -> bool:
        """Do a little. Return whether nothing is left."""
        ...


@runtime_checkable
class SearchingChore(Protocol):
    """A kind of work for which many places are looked at: who looks tells where, so that the writer need not."""

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
    """Return what does a little of a chore; None if there is nothing to do."""
    if not isinstance(chore, SearchingChore):
        return chore.step if chore.is_due(execute, catalog, now_us) else None
    found = chore.search(execute, catalog, now_us)
    return partial(chore.step_found, found=found) if found else None


class Piece(NamedTuple):
    """What came of a piece: whether nothing is left of its chore, and how many items it has swept away."""

    is_last: bool
    expired: int


class Pace(NamedTuple):
    """How long one piece holds the writer, and how many times as long it then lets go."""

    piece_us: int
    rest: float


# Somebody waits for it. Leaves room for one slow step and the COMMIT.
_BRISK: Final = Pace(limits.BACKGROUND_HOLD_US_MAX // 3, 0)
# Nobody does: most requests are not to meet it at all.
_GENTLE: Final = Pace(limits.BACKGROUND_PIECE_US, 2)

# What is there to be finished, and what becomes due as time passes.
_STARTED: Final[Mapping[AnyChore, Pace]] = {
    backfilling: _BRISK,
    restoring: _BRISK,
    reclaiming: _BRISK,
}
_TIMED: Final[Mapping[AnyChore, Pace]] = {sharding: _GENTLE, sweeping: _GENTLE, trimming: _GENTLE}
_PACES: Final[Mapping[AnyChore, Pace]] = {**_STARTED, **_TIMED}


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
    """The thread that does the chores, and looks for more at intervals as long as some become due with time.

    Under a manual clock there are no intervals: what becomes due is done when the clock is moved.
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

        `on_look` is called whenever there is a look for what is due: it starts what no piece is short enough for.
        """
        self._read = read
        self._write = write
        self._clock = clock
        self._time = steady
        self._on_look = on_look
        self._sweep_s = sweep_s
        self._next_sweep_us = clock.elapsed_us()
        self._look_us = 0  # how long it takes to see what is due
        self._failed: set[AnyChore] = set()  # those that were told of, and have not succeeded since
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
        """Do the first piece now, which is all of a small work, and leave the rest to the thread.

        Nothing is raised: what was asked for is stored, and a full disk or the work of others does not undo it.
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
        """Return the chores for which there is something to do, with what does it."""
        now_us, started_us = self._time.now_us(), self._clock.elapsed_us()

        def find(execute: Execute, catalog: Catalog) -> dict[AnyChore, Step]:
            with snapshot(execute):  # other processes may take away what one statement has found
                steps = ((chore, _find(chore, execute, catalog, now_us)) for chore in chores)
                return {chore: step for chore, step in steps if step is not None}

        found = self._read(find)
        self._look_us = self._clock.elapsed_us() - started_us
        return found

    def _do(self, chore: AnyChore, step: Step) -> Piece:
        """Do one short piece of a chore."""
        now_us = self._time.now_us()
        piece_us = _PACES[chore].piece_us

        def work(transaction: Transaction) -> Piece:
            started_us, expired_before = self._clock.elapsed_us(), sum(transaction.expired.values())
            is_last = False
            for _ in range(_STEPS_MAX):
                is_last = step(transaction, now_us)
                if is_last or self._clock.elapsed_us() - started_us >= piece_us:
                    break
            return Piece(is_last, sum(transaction.expired.values()) - expired_before)

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
        """Do what is due. Return the seconds until the next look; None when the thread is to end."""
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
                self._thread = None  # whoever uses the table is told, and the next open tries again
            return None
        except Exception:
            return _RETRY_S
        with self._deciding:
            if self.is_wanted.is_set():
                return 0
            self._thread = None
            return None

    def _run_pieces(self) -> bool:
        """Do what is due, a piece of each chore in turn. Return False if one has failed: the others went on."""
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
            _log.warning("%s has failed, and is tried again: %s", chore.__name__, sentence_of(error))

    def _chores_of_this_look(self) -> list[AnyChore]:
        """Return what the thread looks for: items are not always to be swept as often as it looks."""
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
    """Look for work again and again; between two looks hold on to nothing that belongs to the database.

    So one that nobody has closed, and nobody has any more, goes as if there were no thread.
    """
    while (background := reference()) is not None:
        is_wanted, wait_s = background.is_wanted, background.look()
        if wait_s is None:
            return
        del background
        is_wanted.wait(wait_s)
