"""Reading: one item by its key, or rows of a table or index in key order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import apsw

from singletable.storage.catalog import Execute
from singletable.storage.images import PrimaryKey, Stored
from singletable.storage.schema import PAGE_COLUMNS, SELECT_COUNTER
from singletable.storage.tables import Index, Table

SortBound = tuple[str, bytes]  # an operator ("=", ">=", ">", "<=", "<") and the sort bytes it compares with
Rows = apsw.Cursor  # of (item bytes by AWS's rules, stored bytes); close it to end the read early


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in the order of a table or index. A range goes on behind it, also when no item is there."""

    pk: bytes
    sk: bytes
    index_key: tuple[bytes, bytes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRange:
    """The items of one partition, in the order of their sort keys."""

    table: Table
    index: Index | None
    partition: bytes
    bounds: tuple[SortBound, ...] = ()
    after: Position | None = None
    forward: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRange:
    """All items of a table or index whose partition column lies in [low, high), in stored order."""

    table: Table
    index: Index | None
    low: bytes = b""
    high: bytes | None = None
    after: Position | None = None


class Counts(NamedTuple):
    """How many items a table or index holds, and their size."""

    items: int
    item_bytes: int


@contextmanager
def snapshot(execute: Execute) -> Iterator[None]:
    """Let several reads see one state of the database."""
    execute("BEGIN")
    try:
        yield
    finally:
        execute("ROLLBACK")


def select_raw(execute: Execute, table: Table, key: PrimaryKey) -> bytes | None:
    """Return the stored bytes of one item."""
    row = next(execute(table.select_item, key), None)
    return None if row is None else row[0]


def select_image(execute: Execute, table: Table, key: PrimaryKey) -> Stored | None:
    """Return one item with its size and the id of its row."""
    row = next(execute(table.select_image, key), None)
    return None if row is None else Stored(*row)


def select_partition(execute: Execute, wanted: PartitionRange) -> Rows:
    """Return the items of a partition."""
    source, (partition, order) = _source(wanted.table, wanted.index)
    direction = "" if wanted.forward else " DESC"
    sort = order[0]
    conditions = [f"{partition} = ?", *(f"{sort} {operator} ?" for operator, _ in wanted.bounds)]
    values: list[Any] = [wanted.partition, *(bound for _, bound in wanted.bounds)]
    if wanted.after is not None:
        conditions.append(_after(order, forward=wanted.forward))
        values += _position_values(wanted.after, with_partition=False)
    ordering = ", ".join(column + direction for column in order)
    sql = f"SELECT {PAGE_COLUMNS} FROM {source} WHERE {' AND '.join(conditions)} ORDER BY {ordering}"
    return execute(sql, values)


def select_segment(execute: Execute, wanted: SegmentRange) -> Rows:
    """Return the items of a segment."""
    source, (partition, order) = _source(wanted.table, wanted.index)
    columns = (partition, *order)
    conditions, values = [f"{partition} >= ?"], [wanted.low]
    if wanted.after is not None:
        # Behind the position is behind the segment's low end too; one bound keeps the plan simple.
        conditions = [_after(columns, forward=True)]
        values = _position_values(wanted.after, with_partition=True)
    if wanted.high is not None:
        conditions.append(f"{partition} < ?")
        values.append(wanted.high)
    sql = (
        f"SELECT {PAGE_COLUMNS} FROM {source} WHERE {' AND '.join(conditions)} ORDER BY {', '.join(columns)}"
    )
    return execute(sql, values)


def select_counts(execute: Execute, store_id: int) -> Counts:
    """Return the counts of a table or index by its id."""
    row = next(execute(SELECT_COUNTER, (store_id,)), None)
    return Counts(0, 0) if row is None else Counts(*row)


def _source(table: Table, index: Index | None) -> tuple[str, tuple[str, tuple[str, ...]]]:
    if index is None:
        return table.source, ("t.pk", ("t.sk",))
    return index.source, ("i.ipk", ("i.isk", "i.pk", "i.sk"))


def _after(columns: tuple[str, ...], *, forward: bool) -> str:
    operator = ">" if forward else "<"
    marks = ", ".join("?" * len(columns))
    return f"({', '.join(columns)}) {operator} ({marks})"


def _position_values(position: Position, *, with_partition: bool) -> list[bytes]:
    if position.index_key is None:
        return [position.pk, position.sk] if with_partition else [position.sk]
    partition, sort = position.index_key
    values = [sort, position.pk, position.sk]
    return [partition, *values] if with_partition else values
