"""Global indexes that lag behind their table: a view in memory, for trying code under eventual consistency.

On the disk an index never lags: its entries are written with the item, in one transaction. While a delay is
asked for, changes are remembered for that long, and a read of a global index undoes those that are younger: an
item is shown as it was before the oldest of them, where it stood then, or not at all. Only this memory is lost
with the process: everything counts as propagated after a restart.

A change is remembered before its COMMIT and gets its time after it; a reader looks here after its cursor has
begun to read. So a reader finds here every young change that its snapshot holds. Undoing a change that its
snapshot does not hold yet changes nothing: the old image takes the place of the same old image.
"""

from __future__ import annotations

import heapq
import operator
import threading
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, Final, NamedTuple

from singletable import limits
from singletable.clock import Clock
from singletable.storage.catalog import Execute
from singletable.storage.changes import Change
from singletable.storage.images import PrimaryKey
from singletable.storage.reading import (
    PartitionRange,
    SegmentRange,
    SortBound,
    StoredRows,
    select_rows,
)
from singletable.storage.schema import PLACED_COLUMNS

# The columns of an entry (ipk, isk, pk, sk), which are its place, and those that a page reads: size and item.
PlacedRow = tuple[bytes, bytes, bytes, bytes, int, bytes]


class Lag(NamedTuple):
    """The differences between a range of a lagging index and the same range in the file."""

    hidden: frozenset[PrimaryKey]
    """The items with changes on their way, wherever the file has them in the index."""
    undone: list[PlacedRow]
    """The old images of these items that the range still shows, in ascending order."""


def lagging(rows: Iterable[PlacedRow], lag: Lag, *, forward: bool) -> Iterator[PlacedRow]:
    """Merge the rows of a range, in the order of the read, with the old rows that replace young changes."""
    hidden = lag.hidden
    shown = (row for row in rows if row[2:4] not in hidden)
    undone = lag.undone if forward else lag.undone[::-1]
    # No two rows have one place: their bytes are not compared.
    return heapq.merge(shown, undone, reverse=not forward)


class _LaggingRows:
    """The rows of a range of a lagging index, read as those of a cursor are."""

    def __init__(self, cursor: StoredRows, lag: Lag, *, forward: bool, rows_max: int | None) -> None:
        self._cursor = cursor
        self._rows = islice(lagging(cursor, lag, forward=forward), rows_max)

    def __iter__(self) -> Iterator[Any]:
        return (row[4:] for row in self._rows)

    def fetchall(self) -> list[Any]:
        return list(self)

    def close(self) -> None:
        self._cursor.close()


class _Waiting:
    """A change on its way to the indexes of its table."""

    __slots__ = ("at_us", "held_bytes", "key", "rows")

    def __init__(self, change: Change) -> None:
        self.at_us: int | None = None  # while its COMMIT is under way
        self.key = change.key
        # By the id of the index: the item as it was, None if it was not in it. The ids are those of the moment of
        # the change: an index that is made later is filled from the table as it is then, and has nothing to wait
        # for. No id is ever used again.
        self.rows: dict[int, PlacedRow | None] = {}
        before = change.before
        self.held_bytes = sum(map(len, change.key)) + (0 if before is None else len(before.raw))
        for index, old, new in change.moves:
            if index.definition.is_global and (old is not None or new is not None):
                row = None
                if before is not None and old is not None:
                    row = (*old, *change.key, before.item_bytes, before.raw)
                    self.held_bytes += sum(map(len, row[:4]))
                self.rows[index.id] = row


class _LaggingIndex:
    """The items of one index that have changes on their way to it, and where it shows them meanwhile."""

    __slots__ = ("_id", "shown", "waiting")

    def __init__(self, index_id: int) -> None:
        self._id = index_id
        self.waiting: dict[PrimaryKey, list[_Waiting]] = {}  # by item, its oldest change first
        # Those items as they were before their oldest changes, as far as they were in the index, by their places.
        self.shown: list[PlacedRow] = []

    def add(self, change: _Waiting) -> None:
        changes = self.waiting.setdefault(change.key, [])
        changes.append(change)
        if len(changes) == 1:
            self._show(change)

    def propagate(self, change: _Waiting) -> None:
        """Show the item after its oldest change."""
        changes = self.waiting[change.key]
        self._take_away(changes.pop(0))
        if changes:
            self._show(changes[0])
        else:
            del self.waiting[change.key]

    def withdraw(self, change: _Waiting) -> None:
        """Forget the newest change of an item: it was not committed."""
        changes = self.waiting[change.key]
        changes.pop()
        if not changes:
            self._take_away(change)
            del self.waiting[change.key]

    def _show(self, change: _Waiting) -> None:
        row = change.rows[self._id]
        if row is not None:
            insort(self.shown, row)

    def _take_away(self, change: _Waiting) -> None:
        row = change.rows[self._id]
        if row is not None:
            del self.shown[bisect_left(self.shown, row)]


class Propagation:
    """The changes that global indexes do not show yet. Safe from any thread; one commits at a time.

    At most `changes_max` changes and `bytes_max` of their items and keys are held. Beyond that, the oldest changes
    are shown early.
    """

    def __init__(
        self,
        *,
        delay_us: int,
        clock: Clock,
        changes_max: int = limits.LAGGING_CHANGES_MAX,
        bytes_max: int = limits.LAGGING_BYTES_MAX,
    ) -> None:
        self._delay_us = delay_us
        self._clock = clock
        self._changes_max = changes_max
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._waiting: deque[_Waiting] = deque()
        self._held_bytes = 0
        self._indexes: dict[int, _LaggingIndex] = {}

    # --- committing --------------------------------------------------------------------

    @contextmanager
    def committing(self, changes: Iterable[Change]) -> Iterator[None]:
        """Hold changes back while they are committed in the block, and for the delay after it."""
        self._begin(changes)
        is_committed = False
        try:
            yield
            is_committed = True
        finally:
            # An interrupt just behind the COMMIT comes here too: those changes are seen early, none is lost.
            self._end(is_committed=is_committed)

    def _begin(self, changes: Iterable[Change]) -> None:
        with self._changing():
            self._date()
            for change in changes:
                self._remember(_Waiting(change))

    def _end(self, *, is_committed: bool) -> None:
        with self._changing():
            if is_committed:
                self._date()
                self._propagate()
                return
            while self._waiting and self._waiting[-1].at_us is None:
                change = self._waiting.pop()
                self._held_bytes -= change.held_bytes
                self._each_index(change, _LaggingIndex.withdraw)

    def _date(self) -> None:
        # Those that an interrupt has left without a time are dated too: only one commit is under way.
        now_us = self._clock.now_us()
        for change in reversed(self._waiting):
            if change.at_us is not None:
                return
            change.at_us = now_us

    def _remember(self, change: _Waiting) -> None:
        if not change.rows:
            return
        self._waiting.append(change)
        self._held_bytes += change.held_bytes
        for index_id in change.rows:
            if index_id not in self._indexes:
                self._indexes[index_id] = _LaggingIndex(index_id)
            self._indexes[index_id].add(change)

    # --- reading -----------------------------------------------------------------------

    def select(self, execute: Execute, wanted: PartitionRange | SegmentRange) -> StoredRows:
        """Return the items of a range; of a global index, as it is with its delay."""
        index = wanted.index
        if index is None or not index.definition.is_global:
            return select_rows(execute, wanted)
        # How many rows of the file a page takes cannot be told: any may be hidden.
        cursor = select_rows(execute, replace(wanted, rows_max=None), PLACED_COLUMNS)
        lag = self.lag(index.id, wanted)
        return _LaggingRows(cursor, lag, forward=wanted.forward, rows_max=wanted.rows_max)

    def lag(self, index_id: int, wanted: PartitionRange | SegmentRange) -> Lag:
        """Return the differences of a range of an index. A cursor must have begun to read the range."""
        with self._changing():
            self._propagate()
            index = self._indexes.get(index_id)
            return _NO_LAG if index is None else Lag(frozenset(index.waiting), _within(index.shown, wanted))

    # --- passing time ------------------------------------------------------------------

    def _propagate(self) -> None:
        now_us = self._clock.now_us()
        while self._waiting and self._is_due(self._waiting[0], now_us):
            change = self._waiting.popleft()
            self._held_bytes -= change.held_bytes
            self._each_index(change, _LaggingIndex.propagate)

    def _is_due(self, change: _Waiting, now_us: int) -> bool:
        if change.at_us is None:
            return False  # no reader may see uncommitted changes, however many there are
        # A change from the future is one from before the clock was put back: it does not wait for that time.
        is_old = abs(now_us - change.at_us) >= self._delay_us
        return is_old or len(self._waiting) > self._changes_max or self._held_bytes > self._bytes_max

    def _each_index(self, change: _Waiting, do: Callable[[_LaggingIndex, _Waiting], None]) -> None:
        for index_id in change.rows:
            index = self._indexes[index_id]
            do(index, change)
            if not index.waiting:
                del self._indexes[index_id]

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except BaseException:
                # Interrupted in the middle of something (Ctrl-C): everything is propagated, nothing half.
                self._waiting.clear()
                self._held_bytes = 0
                self._indexes.clear()
                raise


_NO_LAG: Final = Lag(frozenset(), [])


# --- ranges -------------------------------------------------------------------------------


def _within(rows: list[PlacedRow], wanted: PartitionRange | SegmentRange) -> list[PlacedRow]:
    """Return the sorted rows that lie in a range."""
    if isinstance(wanted, PartitionRange):
        first = bisect_left(rows, (wanted.partition,))
        end = bisect_left(rows, (_next(wanted.partition),), first)
        bounds = wanted.bounds
    else:
        first = bisect_left(rows, (wanted.low,))
        end = len(rows) if wanted.high is None else bisect_left(rows, (wanted.high,), first)
        bounds = ()
    if wanted.after is not None and wanted.after.index_key is not None:
        *place, last = (*wanted.after.index_key, wanted.after.pk, wanted.after.sk)
        if wanted.forward:
            first = bisect_left(rows, (*place, _next(last)), first)
        else:
            end = bisect_left(rows, (*place, last), first, end)
    within = rows[first:end]
    return [row for row in within if _is_within(row[1], bounds)] if bounds else within


def _next(data: bytes) -> bytes:
    """Return the bytes that sort directly behind these."""
    return data + b"\0"


def _is_within(sort: bytes, bounds: tuple[SortBound, ...]) -> bool:
    return all(_COMPARISONS[comparator](sort, bound) for comparator, bound in bounds)


_COMPARISONS: Final[dict[str, Callable[[bytes, bytes], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
