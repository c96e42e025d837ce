"""The log of a table: its changes in their order, each with the item before, and, for a stream, the item after.

It is the table's streams, the feed of its consumers, and the past to which it can be brought back.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing
from typing import Any, Final, NamedTuple

from singletable.storage import schema
from singletable.storage.catalog import Execute
from singletable.storage.images import PrimaryKey

INSERTED: Final = 1
MODIFIED: Final = 2
REMOVED: Final = 3
EXPIRED: Final = 4  # removed, because its time to live was over

EVENTS: Final = (INSERTED, MODIFIED, REMOVED, EXPIRED)


class Entry(NamedTuple):
    """One change. `seq` grows by one with each change of the table; `at_us` never goes back."""

    seq: int
    at_us: int
    event: int
    pk: bytes
    sk: bytes
    before: bytes | None
    after: bytes | None
    """None also where no stream was on: then the item's next entry has it, or the table."""

    @property
    def key(self) -> PrimaryKey:
        return PrimaryKey(self.pk, self.sk)


class LogEnd(NamedTuple):
    """The newest entry of a log, or the oldest that is kept."""

    seq: int
    at_us: int


COLUMNS: Final = "seq, at, event, pk, sk, before, after"


def entries_after(execute: Execute, table_id: int, *, after: int, rows_max: int) -> Generator[Entry]:
    """Yield the entries behind number `after`, oldest first."""
    sql = f"SELECT {COLUMNS} FROM {schema.log_table(table_id)} WHERE seq > ? ORDER BY seq LIMIT ?"
    with closing(execute(sql, (after, rows_max))) as rows:
        for row in rows:
            yield Entry._make(row)


def select_end(execute: Execute, table_id: int) -> LogEnd:
    """Return the newest entry of a log; it is never trimmed, so that numbers and times go on behind it."""
    row = next(execute(schema.select_newest_of_log(table_id)), None)
    return LogEnd(0, 0) if row is None else LogEnd._make(row)


def select_oldest(execute: Execute, table_id: int) -> LogEnd | None:
    """Return the oldest entry that is kept."""
    row = next(execute(f"SELECT seq, at FROM {schema.log_table(table_id)} ORDER BY seq LIMIT 1"), None)
    return None if row is None else LogEnd._make(row)


def select_start(execute: Execute, table_id: int) -> int | None:
    """Return the number of the oldest entry that is kept."""
    oldest = select_oldest(execute, table_id)
    return None if oldest is None else oldest.seq


def select_logs(execute: Execute) -> list[int]:
    """Return the ids of the tables that have a log, also of those that are deleted."""
    rows: list[Any] = execute(schema.SELECT_LOGS).fetchall()
    return [row[0] for row in rows]


def newest_time_us(execute: Execute, table_ids: Iterable[int]) -> int:
    """Return the time of the last change that any of these logs knows."""
    return max((select_end(execute, table_id).at_us for table_id in table_ids), default=0)


def time_of(execute: Execute, table_id: int, seq: int) -> int:
    """Return the time of an entry, or, if it was trimmed meanwhile, of the oldest that is kept."""
    sql = f"SELECT at FROM {schema.log_table(table_id)} WHERE seq >= ? ORDER BY seq LIMIT 1"
    at_us: int = next(execute(sql, (seq,)))[0]
    return at_us


def seq_at(execute: Execute, table_id: int, at_us: int) -> int:
    """Return the number of the last entry with a time up to `at_us`; 0 if none is kept.

    Numbers and times grow together, so halving finds it in a few reads.
    """
    end = select_end(execute, table_id).seq
    start = select_start(execute, table_id)
    if start is None:
        return 0
    low, high = start - 1, end
    while low < high:
        middle = (low + high + 1) // 2
        if time_of(execute, table_id, middle) <= at_us:
            low = middle
        else:
            high = middle - 1
    return low if low >= start else 0
