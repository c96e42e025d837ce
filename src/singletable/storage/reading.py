"""Reading: one item by its key, or rows of a table or index in key order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import apsw
import orjson

from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey, StoredImage
from singletable.storage.schema import PAGE_COLUMNS, SELECT_COUNTER
from singletable.storage.tables import Index, Table

SortBound = tuple[str, bytes]  # an operator ("=", ">=", ">", "<=", "<") and the sort bytes it compares with


class StoredRows(Protocol):
    """Rows of (item bytes by AWS's rules, stored bytes), as a cursor gives them."""

    def __iter__(self) -> Iterator[Any]: ...
    def fetchall(self) -> list[Any]: ...
    def close(self) -> None:
        """End the read, also before its end."""


@dataclass(slots=True, kw_only=True)
class Position:
    """A place in the order of a table or index. A range goes on behind it, also when no item is there."""

    pk: bytes
    sk: bytes
    index_key: tuple[bytes, bytes] | None = None


@dataclass(slots=True, kw_only=True)
class PartitionRange:
    """The items of one partition, in the order of their sort keys."""

    table: Table
    index: Index | None
    partition: bytes
    bounds: tuple[SortBound, ...] = ()
    after: Position | None = None
    forward: bool = True
    rows_max: int | None = None


@dataclass(slots=True, kw_only=True)
class SegmentRange:
    """All items of a table or index with a partition column in [low, high), in stored order."""

    table: Table
    index: Index | None
    low: bytes = b""
    high: bytes | None = None
    after: Position | None = None
    rows_max: int | None = None

    @property
    def forward(self) -> bool:
        return True


T = TypeVar("T")


class Reads(Protocol):
    """Where requests read: a database as it is, or as it was."""

    def read(self, work: Callable[[Execute, Catalog], T]) -> T:
        """Run `work` with a connection that reads, and the catalog."""
        ...

    def select_item(self, execute: Execute, table: Table, key: PrimaryKey) -> tuple[int, bytes] | None:
        """Return the size and the stored bytes of one item."""
        ...

    def select_rows(self, execute: Execute, wanted: PartitionRange | SegmentRange) -> StoredRows:
        """Return the items of a range."""
        ...


class Counts(NamedTuple):
    """How many items a table or index holds, and their size."""

    items: int
    item_bytes: int


@contextmanager
def snapshot(execute: Execute) -> Iterator[None]:
    """Let several reads see one snapshot of the database."""
    execute("BEGIN")
    try:
        yield
    except UNREADABLE:
        with suppress(apsw.SQLError):  # SQLite may have ended the transaction
            execute("ROLLBACK")
        raise
    except BaseException:
        execute("ROLLBACK")
        raise
    execute("ROLLBACK")


UNREADABLE: Final = (apsw.IOError, apsw.CorruptError, apsw.NotADBError)
"""Raised while rows are read, where the file is damaged or its disk fails; the last two by the cipher."""


def name_place(
    error: Exception, table: Table, key: PrimaryKey | None = None, index: Index | None = None
) -> None:
    """Add to an error what could not be read: an item by its key, or rows of a table or index."""
    if key is not None:
        readable = orjson.dumps(table.key_attributes(key)).decode()
        error.place = f"the item {readable} of table {table.name}"  # type: ignore[attr-defined]
    elif index is not None:
        error.place = f"a row of table {table.name}, index {index.name},"  # type: ignore[attr-defined]
    else:
        error.place = f"a row of table {table.name}"  # type: ignore[attr-defined]


def select_item(execute: Execute, table: Table, key: PrimaryKey) -> tuple[int, bytes] | None:
    """Return the size and the stored bytes of one item."""
    try:
        row: tuple[int, bytes] | None = execute(table.select_item, key).get
    except UNREADABLE as error:
        name_place(error, table, key)
        raise
    return row


def select_image(execute: Execute, table: Table, key: PrimaryKey) -> StoredImage | None:
    """Return one item with its size and the id of its row."""
    try:
        row = next(execute(table.select_image, key), None)
    except UNREADABLE as error:
        name_place(error, table, key)
        raise
    return None if row is None else StoredImage(*row)


def select_partition(
    execute: Execute, wanted: PartitionRange, columns: str = PAGE_COLUMNS, source: str | None = None
) -> StoredRows:
    """Return the items of a partition."""
    source = source or _source(wanted)
    operators = tuple([operator for operator, _ in wanted.bounds])
    values: list[Any] = [wanted.partition, *[bound for _, bound in wanted.bounds]]
    if wanted.after is not None:
        values += _position_values(wanted.after, with_partition=False)
    if wanted.rows_max is not None:
        values.append(wanted.rows_max)
    sql = _partition_sql(
        columns,
        source,
        wanted.index is not None,
        operators,
        wanted.after is not None,
        wanted.forward,
        wanted.rows_max is not None,
    )
    return execute(sql, values)


@lru_cache(maxsize=1024)
def _partition_sql(
    columns: str,
    source: str,
    on_index: bool,
    operators: tuple[str, ...],
    has_start: bool,
    forward: bool,
    is_limited: bool,
) -> str:
    partition, order = _INDEX_ORDER if on_index else _TABLE_ORDER
    conditions = [f"{partition} = ?", *(f"{order[0]} {operator} ?" for operator in operators)]
    if has_start:
        conditions.append(_behind(order, forward=forward))
    ordering = ", ".join(order if forward else [f"{column} DESC" for column in order])
    return _select(columns, source, conditions, ordering, is_limited)


def select_segment(
    execute: Execute, wanted: SegmentRange, columns: str = PAGE_COLUMNS, source: str | None = None
) -> StoredRows:
    """Return the items of a segment."""
    source = source or _source(wanted)
    partition, order = _TABLE_ORDER if wanted.index is None else _INDEX_ORDER
    ordering = (partition, *order)
    conditions: list[str] = [f"{partition} >= ?"]
    values: list[Any] = [wanted.low]
    if wanted.after is not None:
        # Behind the position is behind the segment's low end too; one bound keeps the plan simple.
        conditions = [_behind(ordering, forward=True)]
        values = _position_values(wanted.after, with_partition=True)
    if wanted.high is not None:
        conditions.append(f"{partition} < ?")
        values.append(wanted.high)
    if wanted.rows_max is not None:
        values.append(wanted.rows_max)
    sql = _select(columns, source, conditions, ", ".join(ordering), wanted.rows_max is not None)
    return execute(sql, values)


def select_rows(
    execute: Execute,
    wanted: PartitionRange | SegmentRange,
    columns: str = PAGE_COLUMNS,
    source: str | None = None,
) -> StoredRows:
    """Return the items of a range, from the table or index or from another `source` with the same columns."""
    if isinstance(wanted, PartitionRange):
        return select_partition(execute, wanted, columns, source)
    return select_segment(execute, wanted, columns, source)


def _source(wanted: PartitionRange | SegmentRange) -> str:
    return wanted.table.source if wanted.index is None else wanted.index.source


# The partition column, and the columns that order the items of a partition.
_TABLE_ORDER: Final = ("t.pk", ("t.sk",))
_INDEX_ORDER: Final = ("i.ipk", ("i.isk", "i.pk", "i.sk"))


def _select(columns: str, source: str, conditions: list[str], ordering: str, is_limited: bool) -> str:
    sql = f"SELECT {columns} FROM {source} WHERE {' AND '.join(conditions)} ORDER BY {ordering}"
    return sql + " LIMIT ?" if is_limited else sql


def _behind(columns: tuple[str, ...], *, forward: bool) -> str:
    marks = ", ".join("?" * len(columns))
    return f"({', '.join(columns)}) {'>' if forward else '<'} ({marks})"


def _position_values(position: Position, *, with_partition: bool) -> list[Any]:
    if position.index_key is None:
        return [position.pk, position.sk] if with_partition else [position.sk]
    partition, sort = position.index_key
    values = [sort, position.pk, position.sk]
    return [partition, *values] if with_partition else values


def take_rows(found: StoredRows, bytes_max: int) -> tuple[list[Any], bool]:
    """Return rows (id, pk, sk, bytes, item) until so many bytes of items are read, and whether those are all."""
    rows: list[Any] = []
    read_bytes = 0
    for row in found:
        rows.append(row)
        read_bytes += row[3]
        if read_bytes >= bytes_max:
            found.close()
            return rows, False
    return rows, True


def select_counts(execute: Execute, store_id: int) -> Counts:
    """Return the counts of a table or index by its id."""
    row = next(execute(SELECT_COUNTER, (store_id,)), None)
    return Counts(0, 0) if row is None else Counts(*row)
