"""Reading streams as their API shows them: shards page by page, and what of the log belongs to one of them.

What is older than a moment is not shown, whether it has been taken away by now or not.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Final

from singletable.storage import schema
from singletable.storage.catalog import Execute
from singletable.storage.log import COLUMNS, Entry, select_start, seq_at
from singletable.storage.streams import SHARD_COLUMNS, Shard

_SHARDS: Final = f"SELECT {SHARD_COLUMNS} FROM shard WHERE stream_id = ? AND (ended IS NULL OR ended >= ?)"
_SELECT_SHARD: Final = f"{_SHARDS} AND number = ?"
_SELECT_SHARDS_AFTER: Final = f"{_SHARDS} AND number > ? ORDER BY number LIMIT ?"
_SELECT_CHILDREN_AFTER: Final = f"{_SHARDS} AND number > ? AND parent = ? ORDER BY number LIMIT ?"


def select_shard(execute: Execute, stream_id: int, number: int, *, since_us: int) -> Shard | None:
    """Return a shard that was open at a moment, or later."""
    row = next(execute(_SELECT_SHARD, (stream_id, since_us, number)), None)
    return None if row is None else Shard._make(row)


def select_shards_after(
    execute: Execute, stream_id: int, number: int, *, since_us: int, parent: int | None = None, rows_max: int
) -> list[Shard]:
    """Return the shards behind a number that were open at a moment, or later: all, or the children of one."""
    if parent is None:
        rows = execute(_SELECT_SHARDS_AFTER, (stream_id, since_us, number, rows_max))
    else:
        rows = execute(_SELECT_CHILDREN_AFTER, (stream_id, since_us, number, parent, rows_max))
    return [Shard._make(row) for row in rows]


def trimmed_upto(execute: Execute, table_id: int, before_us: int) -> int:
    """Return the number up to which the entries of a log are gone, or older than a moment."""
    start = select_start(execute, table_id)
    return 0 if start is None else max(start - 1, seq_at(execute, table_id, before_us - 1))


def entries_of_shard(
    execute: Execute, table_id: int, shard: Shard, *, after: int, upto: int, rows_max: int
) -> Generator[Entry]:
    """Yield the entries of a shard behind one number and up to another, oldest first."""
    low, high = shard.partitions
    condition, values = (" AND pk >= ?", (low,)) if high is None else (" AND pk >= ? AND pk < ?", (low, high))
    sql = (
        f"SELECT {COLUMNS} FROM {schema.log_table(table_id)}"
        f" WHERE seq > ? AND seq <= ?{condition} ORDER BY seq LIMIT ?"
    )
    with closing(execute(sql, (after, upto, *values, rows_max))) as rows:
        for row in rows:
            yield Entry._make(row)
