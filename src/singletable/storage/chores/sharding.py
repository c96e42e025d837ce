"""Closing shards that are old or full, and opening those that follow them: a chore of the background."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice
from typing import Any, Final, NamedTuple

from singletable import limits
from singletable.storage.catalog import Catalog, Execute, scalar
from singletable.storage.log import select_end
from singletable.storage.streams import SHARD_COLUMNS, Shard, end_shard, open_shard
from singletable.storage.transaction import Transaction

_STREAMS_A_SEARCH: Final = 64
_OPEN_SHARDS: Final = (
    f"SELECT (SELECT table_id FROM stream WHERE id = stream_id), {SHARD_COLUMNS} FROM shard"
    " WHERE ended IS NULL"
)
_SELECT_OPEN_SHARDS: Final = f"{_OPEN_SHARDS} ORDER BY stream_id, number"
_SELECT_OPEN_SHARDS_OF: Final = f"{_OPEN_SHARDS} AND stream_id = ? ORDER BY number"
_SELECT_NEXT_NUMBER: Final = "SELECT max(number) + 1 FROM shard WHERE stream_id = ?"


class _OpenShard(NamedTuple):
    shard: Shard
    end: int
    """The number of the newest entry of its log."""

    def is_due(self, now_us: int) -> bool:
        is_old = now_us - self.shard.began_us >= limits.SHARD_OPEN_S * 1_000_000
        return is_old or _is_full(self.shard, self.end)


def search(execute: Execute, catalog: Catalog, now_us: int) -> list[int]:
    """Return the ids of some streams of which a shard is to be closed."""
    rows: list[Any] = execute(_SELECT_OPEN_SHARDS).fetchall()
    due = (shard for shard in _open_shards(execute, rows) if shard.is_due(now_us))
    found = (stream_id for stream_id, _ in groupby(due, lambda opened: opened.shard.stream_id))
    return list(islice(found, _STREAMS_A_SEARCH))


def step_found(transaction: Transaction, now_us: int, found: list[int]) -> bool:
    """Close the shards of one stream, and open their children. Return whether none of these is left."""
    while found:
        rows: list[Any] = transaction.execute(_SELECT_OPEN_SHARDS_OF, (found[-1],)).fetchall()
        due = [opened for opened in _open_shards(transaction.execute, rows) if opened.is_due(now_us)]
        for shard, last in due:
            _succeed(transaction, shard, last)
        if due:
            return False
        found.pop()
    return True


def _open_shards(execute: Execute, rows: list[Any]) -> Iterator[_OpenShard]:
    ends: dict[int, int] = {}
    for table_id, *columns in rows:
        if table_id not in ends:
            ends[table_id] = select_end(execute, table_id).seq
        yield _OpenShard(Shard._make(columns), ends[table_id])


def _is_full(shard: Shard, last: int) -> bool:
    # Its share of the entries since it began: partitions are hashed, and so spread evenly.
    return last - shard.first + 1 >= limits.SHARD_RECORDS_MAX * shard.parts


def _succeed(transaction: Transaction, shard: Shard, last: int) -> None:
    """Put children in a shard's place: two halves if it is full, one if it is only old."""
    transaction.is_dirty = transaction.keeps_moment = True
    execute, now_us = transaction.execute, transaction.now_us
    parts = [(shard.part, shard.parts)]
    if _is_full(shard, last) and shard.parts < limits.SHARDS_OPEN_MAX:
        parts = [(2 * shard.part + half, 2 * shard.parts) for half in (0, 1)]
    end_shard(execute, shard, last, now_us)
    first_number: int = scalar(execute(_SELECT_NEXT_NUMBER, (shard.stream_id,)))
    for number, (part, of) in enumerate(parts, first_number):
        child = Shard(shard.stream_id, number, shard.number, part, of, last + 1, None, now_us, None)
        open_shard(execute, child)
