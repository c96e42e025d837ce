"""Streams and their shards: which part of a table's log each of them is.

A stream is the log of a table from the moment it was turned on until it was turned off. A shard is the part of a
stream for a range of partitions, between two entries of the log. When a stream grows, or with time, a shard is
closed, and its children go on where it ended. So the records of an item are in one shard at a time, and a reader
that reads parents before children reads them in order.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Final, NamedTuple

from singletable.storage import schema
from singletable.storage.catalog import Execute, scalar
from singletable.storage.definitions import TableDefinition, decode_definition, encode_definition
from singletable.storage.log import COLUMNS, Entry, select_end, select_start, seq_at
from singletable.storage.tables import Table
from singletable.values.keys import segment_range

_STREAM_COLUMNS: Final = "id, table_id, table_name, label, view, definition, ended"
SHARD_COLUMNS: Final = "stream_id, number, parent, part, parts, first, last, began, ended"
_INSERT_STREAM: Final = f"INSERT INTO stream({_STREAM_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, NULL)"
_INSERT_SHARD: Final = f"INSERT INTO shard({SHARD_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_SELECT_OPEN_STREAM: Final = "SELECT id FROM stream WHERE table_id = ? AND ended IS NULL"
_END_STREAM: Final = "UPDATE stream SET ended = ? WHERE id = ?"
_END_SHARD: Final = "UPDATE shard SET last = ?, ended = ? WHERE stream_id = ? AND number = ?"
_SELECT_LABEL: Final = "SELECT max(label) FROM stream WHERE table_name = ?"
_SELECT_SHARDS: Final = f"SELECT {SHARD_COLUMNS} FROM shard WHERE stream_id = ? ORDER BY number"
_SHARDS: Final = f"SELECT {SHARD_COLUMNS} FROM shard WHERE stream_id = ? AND (ended IS NULL OR ended >= ?)"
_SELECT_SHARD: Final = f"{_SHARDS} AND number = ?"
_SELECT_SHARDS_AFTER: Final = f"{_SHARDS} AND number > ? ORDER BY number LIMIT ?"
_SELECT_CHILDREN_AFTER: Final = f"{_SHARDS} AND number > ? AND parent = ? ORDER BY number LIMIT ?"


_MILLISECOND_US: Final = 1_000


class Shard(NamedTuple):
    """A part of a stream: one of equal parts of its partitions, as a segment of a parallel scan is."""

    stream_id: int
    number: int
    parent: int | None
    part: int
    parts: int
    first: int
    """The number of the first entry of the log that can be in it."""
    last: int | None
    """That of the last one; None while it is open."""
    began_us: int
    ended_us: int | None

    @property
    def partitions(self) -> tuple[bytes, bytes | None]:
        """Return the half-open range of its partition columns."""
        return segment_range(self.part, self.parts)


class Stream(NamedTuple):
    """A stream of a table that exists, or has existed."""

    id: int
    table_id: int
    table_name: str
    label_us: int
    view: str
    text: bytes
    ended_us: int | None

    @property
    def table(self) -> Table:
        """Return the table as it was when the stream was turned on."""
        return Table(decode_definition(self.text))


# --- turning on and off -------------------------------------------------------------------


def next_label_us(execute: Execute, table_name: str, now_us: int) -> int:
    """Return a label for a new stream of a table, in whole milliseconds, that no other of this name has."""
    newest_us = next(execute(_SELECT_LABEL, (table_name,)))[0]
    now_us -= now_us % _MILLISECOND_US
    return now_us if newest_us is None else max(now_us, newest_us + _MILLISECOND_US)


def open_stream(execute: Execute, stream_id: int, definition: TableDefinition, now_us: int) -> None:
    """Begin the stream that a table's new definition speaks of, with one shard for all partitions."""
    stream = definition.stream
    assert stream is not None
    text = encode_definition(definition)
    values = (stream_id, definition.id, definition.name, definition.stream_label_us, stream.view, text)
    execute(_INSERT_STREAM, values)
    first = select_end(execute, definition.id).seq + 1
    open_shard(execute, Shard(stream_id, 0, None, 0, 1, first, None, now_us, None))


def end_stream(execute: Execute, table_id: int, now_us: int) -> None:
    """End the stream of a table, and its open shards. Its records stay for a day."""
    stream_id: int = scalar(execute(_SELECT_OPEN_STREAM, (table_id,)))
    last = select_end(execute, table_id).seq
    for shard in select_shards(execute, stream_id):
        if shard.ended_us is None:
            end_shard(execute, shard, last, now_us)
    execute(_END_STREAM, (now_us, stream_id))


def open_shard(execute: Execute, shard: Shard) -> None:
    execute(_INSERT_SHARD, shard)


def end_shard(execute: Execute, shard: Shard, last: int, now_us: int) -> None:
    execute(_END_SHARD, (last, now_us, shard.stream_id, shard.number))


# --- reading ------------------------------------------------------------------------------------


def select_streams(execute: Execute, *, table_name: str | None = None) -> list[Stream]:
    """Return the streams of all tables or of one name, also those that have ended, in the order of their ids."""
    condition, values = ("", ()) if table_name is None else ("WHERE table_name = ?", (table_name,))
    rows = execute(f"SELECT {_STREAM_COLUMNS} FROM stream {condition} ORDER BY id", values)
    return [Stream._make(row) for row in rows]


def select_stream(execute: Execute, table_name: str, label_us: int) -> Stream | None:
    """Return a stream by the table and the label in its ARN."""
    sql = f"SELECT {_STREAM_COLUMNS} FROM stream WHERE table_name = ? AND label = ?"
    row = next(execute(sql, (table_name, label_us)), None)
    return None if row is None else Stream._make(row)


def select_shards(execute: Execute, stream_id: int) -> list[Shard]:
    return [Shard._make(row) for row in execute(_SELECT_SHARDS, (stream_id,))]


# --- reading as the API shows it: what is older than a moment is not shown, whether trimmed or not ---


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
