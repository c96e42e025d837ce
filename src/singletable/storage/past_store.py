"""A database as it was at one moment: reads take their rows from here instead of from the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

from singletable.errors import InvalidRestoreTimeError, RecoveryUnavailableError
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.past import past_table_rows, select_past_item, size_of
from singletable.storage.past_indexes import PastIndexes, view_closed
from singletable.storage.reading import PartitionRange, Rows, SegmentRange
from singletable.storage.recovery import RecoveryWindow, moment_text, recovery_window, require_dated
from singletable.storage.store import Store
from singletable.storage.tables import Table

T = TypeVar("T")


class PastStore:
    """Reads a store as it was. Safe from any thread, and while others write."""

    def __init__(self, store: Store, at_us: int) -> None:
        self.at_us = at_us
        self._store = store
        self._indexes = PastIndexes(at_us)
        self._is_closed = False

    def read(self, work: Callable[[Execute, Catalog], T]) -> T:
        """Run `work` with a connection that reads, and the catalog as it is now."""
        if self._is_closed:
            raise view_closed()
        return self._store.read(work)

    def close(self) -> None:
        """Let go of what was computed of indexes. Nothing can be read afterwards."""
        self._is_closed = True
        self._indexes.close()

    def select_item(self, execute: Execute, table: Table, key: PrimaryKey) -> tuple[int, bytes] | None:
        """Return the size and the stored bytes of one item."""
        require_moment(self._store, execute, table, self.at_us)
        return select_past_item(execute, table, key, self.at_us)

    def select_rows(self, execute: Execute, wanted: PartitionRange | SegmentRange) -> Rows:
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
    """Refuse a moment of a table that is not kept, and say what is."""
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
    """Return what is said where the past of a table is asked for that keeps none."""
    return RecoveryUnavailableError(
        f"Point in time recovery is not enabled for table '{table_name}'. Its past is kept from when you turn "
        f'that on: update_continuous_backups(TableName="{table_name}", '
        'PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})'
    )
