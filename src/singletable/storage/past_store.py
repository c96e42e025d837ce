"""A database as it was at one moment: reads take their rows from here instead of from the store."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, TypeVar

import apsw
import orjson

from singletable.errors import DatabaseClosedError, InvalidRestoreTimeError, RecoveryUnavailableError
from singletable.storage import fork, schema
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.file.connections import MEMORY
from singletable.storage.images import PrimaryKey
from singletable.storage.log import select_end, select_start, seq_at
from singletable.storage.past import (
    FetchedRow,
    Place,
    RecoveryWindow,
    behind,
    changed_since,
    merged,
    moment_text,
    past_table_rows,
    recovery_window,
    require_dated,
    select_past_item,
    size_of,
)
from singletable.storage.reading import PartitionRange, SegmentRange, StoredRows, select_rows, snapshot
from singletable.storage.store import Store
from singletable.storage.tables import Index, Table

T = TypeVar("T")

_ENTRIES_A_PIECE: Final = 1_000
_PLACE: Final = "i.ipk, i.isk, i.pk, i.sk"


class PastStore:
    """Reads a store as it was. Safe from any thread, and while others write."""

    def __init__(self, store: Store, at_us: int) -> None:
        self.at_us = at_us
        self._store = store
        self._indexes = PastIndexes(at_us, is_private=store.key is not None)
        self._is_closed = False

    def read(self, work: Callable[[Execute, Catalog], T]) -> T:
        """Run `work` with a connection that reads, and the catalog as it is now."""
        if self._is_closed:
            raise view_closed()
        return self._store.read(work)

    def close(self) -> None:
        """Drop the computed entries of indexes. Nothing can be read afterwards."""
        self._is_closed = True
        self._indexes.close()

    def select_item(self, execute: Execute, table: Table, key: PrimaryKey) -> tuple[int, bytes] | None:
        """Return the size and the stored bytes of one item."""
        require_moment(self._store, execute, table, self.at_us)
        return select_past_item(execute, table, key, self.at_us)

    def select_rows(self, execute: Execute, wanted: PartitionRange | SegmentRange) -> StoredRows:
        """Return the items of a range."""
        require_moment(self._store, execute, wanted.table, self.at_us)
        index = wanted.index
        if index is None:
            rows = past_table_rows(execute, wanted, self.at_us)
        else:
            rows = self._indexes.rows(execute, wanted, index)
        return _PastRows(islice(rows, wanted.rows_max))


class _PastRows:
    """Rows as a cursor gives them."""

    def __init__(self, rows: Iterator[tuple[Any, int | None, bytes]]) -> None:
        self._rows = rows

    def __iter__(self) -> Iterator[Any]:
        for _, size, raw in self._rows:
            yield size_of(raw) if size is None else size, raw

    def fetchall(self) -> list[Any]:
        return list(self)

    def close(self) -> None:
        """Nothing is open between two pieces."""


def window_of(store: Store, execute: Execute, table: Table) -> RecoveryWindow | None:
    """Return the span of times to which a table can be brought back; None where recovery is off."""
    recovery = table.definition.recovery
    if recovery is None:
        return None
    now_us, kept_us = store.clock.now_us(), store.background.now_us()
    return recovery_window(execute, table, recovery, now_us=now_us, kept_us=kept_us)


def require_moment(store: Store, execute: Execute, table: Table, at_us: int) -> None:
    """Refuse a moment that the table does not keep, and name the span that it keeps."""
    window = window_of(store, execute, table)
    if window is None:
        raise recovery_is_off(table.name)
    if not window.holds(at_us):
        raise InvalidRestoreTimeError(
            f"The table {table.name} can be seen as it was from {moment_text(window.earliest_us)} to "
            f"{moment_text(window.latest_us)}, not at {moment_text(at_us)}"
        )
    require_dated(execute, table, window, at_us, store.clock)


def recovery_is_off(table_name: str) -> RecoveryUnavailableError:
    """Return the error for asking for the past of a table without recovery."""
    return RecoveryUnavailableError(
        f"Point in time recovery is not enabled for table '{table_name}'. Its past is kept from when you turn "
        f'that on: update_continuous_backups(TableName="{table_name}", '
        'PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})'
    )


# --- indexes as they were -------------------------------------------------------------------------


class PastIndexes:
    """The indexes of one moment, as far as they were read. Safe from any thread.

    An index as it was has its current entries of items that have not changed since, and those that changes have
    moved. The former places of changed items cannot be looked up. They are computed from the log, once for each
    index that is read, and kept in a private database that SQLite moves to the disk when it grows. Each read adds
    the changes since the last one.
    """

    def __init__(self, at_us: int, *, is_private: bool = False) -> None:
        """With `is_private`, they stay in memory: what SQLite moves to the disk is not encrypted."""
        self._at_us = at_us
        self._is_private = is_private
        self._moved: dict[int, _MovedEntries] = {}
        self._pid = os.getpid()
        self._growing = threading.Lock()
        self._is_closed = False

    def rows(
        self, execute: Execute, wanted: PartitionRange | SegmentRange, index: Index
    ) -> Iterator[tuple[Place, int | None, bytes]]:
        """Yield the rows of a range of an index as it was; their number is not limited."""
        table, moved = wanted.table, self._moved_entries(index)
        hidden = changed_since(table.id, self._at_us, "i")
        columns = f"{_PLACE}, t.bytes, CASE WHEN {hidden} THEN NULL ELSE t.item END"
        source = schema.index_table(index.id) + " i"

        def current(after: Place | None, count: int) -> list[FetchedRow]:
            rows = select_rows(execute, behind(wanted, after, count), columns).fetchall()
            return [((ipk, isk, pk, sk), size, raw) for ipk, isk, pk, sk, size, raw in rows]

        def undone(after: Place | None, count: int) -> list[FetchedRow]:
            rows = moved.fetch(execute, table, behind(wanted, after, count), source)
            return [(place, None, _image(execute, table.id, seq)) for place, seq in rows]

        position = wanted.after
        start = None
        if position is not None and position.index_key is not None:
            start = (*position.index_key, position.pk, position.sk)
        return merged(current, undone, start, forward=wanted.forward, rows_max=wanted.rows_max)

    def close(self) -> None:
        """Drop the computed entries when running reads are done. Nothing can be read afterwards."""
        with self._growing:
            self._is_closed = True
            self._leave_to_parent()
            for moved in self._moved.values():
                moved.close()
            self._moved = {}

    def _moved_entries(self, index: Index) -> _MovedEntries:
        with self._growing:
            self._leave_to_parent()
            if self._is_closed:
                raise view_closed()
            if index.id not in self._moved:
                self._moved[index.id] = _MovedEntries(index, self._at_us, MEMORY if self._is_private else "")
            return self._moved[index.id]

    def _leave_to_parent(self) -> None:
        """In a forked child, begin anew: SQLite's connections do not follow a process."""
        if self._pid != os.getpid():
            for moved in self._moved.values():
                fork.keep_from_closing(moved)
            self._moved, self._pid = {}, os.getpid()


class _MovedEntries:
    """Where the items that have changed since stood in an index, with the log entries that know them."""

    def __init__(self, index: Index, at_us: int, path: str) -> None:
        self._index = index
        self._at_us = at_us
        self._lock = threading.Lock()
        self._seen: int | None = None  # the number of the last log entry that was looked at
        self._is_closed = False
        self._connection = apsw.Connection(path)
        self._connection.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF").fetchall()
        self._connection.execute(schema.create_index_table(index.id)).fetchall()

    def fetch(
        self, execute: Execute, table: Table, wanted: PartitionRange | SegmentRange, source: str
    ) -> list[tuple[Place, int]]:
        """Return the entries of a range."""
        with self._lock:
            if self._is_closed:
                raise view_closed()
            self._catch_up(execute, table)
            rows = select_rows(self._connection.execute, wanted, f"{_PLACE}, i.item", source).fetchall()
        return [((ipk, isk, pk, sk), seq) for ipk, isk, pk, sk, seq in rows]

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def _catch_up(self, execute: Execute, table: Table) -> None:
        if self._seen is None:
            with snapshot(execute):
                start = select_start(execute, table.id) or 1
                self._seen = max(seq_at(execute, table.id, self._at_us), start - 1)
        end = select_end(execute, table.id).seq
        sql = _first_changes_sql(table.id)
        while self._seen < end:
            last = min(self._seen + _ENTRIES_A_PIECE, end)
            values = {"after": self._seen, "last": last, "at": self._at_us}
            self._add(execute(sql, values).fetchall())
            self._seen = last

    def _add(self, changes: list[Any]) -> None:
        entries = []
        for seq, pk, sk, before in changes:
            entry = self._index.entry_key(orjson.loads(before))
            if entry is not None:
                entries.append((*entry, pk, sk, seq))
        with self._connection:
            # The leftovers of an interrupted piece are overwritten with the same rows.
            self._connection.executemany(self._index.insert_missing_entry, entries)


def view_closed() -> DatabaseClosedError:
    """Return the error for reading a closed view."""
    return DatabaseClosedError("this view of the past was closed", hint="make another with Database.at")


def _first_changes_sql(table_id: int) -> str:
    """Return the statement that finds the first change that items have since, among some entries of the log."""
    log = schema.log_table(table_id)
    return (
        f"SELECT l.seq, l.pk, l.sk, l.before FROM {log} l"
        " WHERE l.seq > :after AND l.seq <= :last AND l.at > :at AND l.before IS NOT NULL AND l.seq ="
        f" (SELECT f.seq FROM {log} f WHERE f.pk = l.pk AND f.sk = l.sk AND f.at > :at"
        " ORDER BY f.at, f.seq LIMIT 1)"
    )


def _image(execute: Execute, table_id: int, seq: int) -> bytes:
    row = next(execute(f"SELECT before FROM {schema.log_table(table_id)} WHERE seq = ?", (seq,)), None)
    if row is None:
        raise InvalidRestoreTimeError("The log was trimmed meanwhile: this moment can no longer be seen")
    raw: bytes = row[0]
    return raw
