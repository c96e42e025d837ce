"""A table as it was: its current items, with the changes since then undone.

An item without later changes is read from the table. For an item with later changes, the first of them in the log
holds the old image. Every change with a time up to the requested moment counts as done.

Rows are read in small pieces, first the current ones, then those of the log: so a change that a writer makes in
between is found in the log, and an item that is found twice is the same both times. That needs no snapshot. The
cost of a page depends on the rows it reads, not on the length of the log or the number of changes of an item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson

from singletable.clock import Clock
from singletable.errors import InvalidRestoreTimeError
from singletable.storage import schema
from singletable.storage.catalog import Execute
from singletable.storage.definitions import RecoveryDefinition
from singletable.storage.images import PrimaryKey
from singletable.storage.log import Entry, select_end, select_oldest, seq_at, time_of
from singletable.storage.reading import (
    PartitionRange,
    Position,
    SegmentRange,
    select_item,
    select_rows,
    snapshot,
)
from singletable.storage.tables import Table
from singletable.values.sizes import item_bytes

Place = tuple[bytes, ...]
"""The sort key of rows: (pk, sk) of a table, (ipk, isk, pk, sk) of an index."""

FetchedRow = tuple[Place, int | None, bytes | None]
"""A place, the size if it is known, and the item; None where the place only marks the end of a read."""

FetchRows = Callable[[Place | None, int], list[FetchedRow]]
"""Return so many rows behind a place; fewer mean that there are no more."""

_PIECE_ROWS_MIN: Final = 32
_PIECE_ROWS_MAX: Final = 512

_DAY_US: Final = 24 * 3600 * 1_000_000
_LAST: Final = (1 << 63) - 1


def select_past_item(execute: Execute, table: Table, key: PrimaryKey, at_us: int) -> tuple[int, bytes] | None:
    """Return the size and the stored bytes of one item as it was."""
    current = select_item(execute, table, key)
    undone: tuple[int, bytes | None] | None = execute(_first_change_sql(table.id), (*key, at_us)).get
    if undone is None:
        return current
    raw = undone[1]
    return None if raw is None else (size_of(raw), raw)


def past_rows(
    execute: Execute, table: Table, at_us: int, *, after: PrimaryKey | None, first_rows: int
) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the items of a table as they were, in the order of their keys: (pk, sk, stored bytes).

    They are read in pieces, the first of so many rows.
    """
    start = None if after is None else Position(pk=after.partition, sk=after.sort)
    wanted = SegmentRange(table=table, index=None, after=start, rows_max=first_rows)
    for (pk, sk), _, raw in past_table_rows(execute, wanted, at_us):
        yield pk, sk, raw


def size_of(raw: bytes) -> int:
    """Return the size of an item of the log by AWS's rules; the log does not keep it."""
    return item_bytes(orjson.loads(raw))


# --- merging ------------------------------------------------------------------------------


def merged(
    current: FetchRows, undone: FetchRows, start: Place | None, *, forward: bool, rows_max: int | None
) -> Iterator[tuple[Place, int | None, bytes]]:
    """Yield the rows of both, piece by piece; each piece is read from the current ones first."""
    after = start
    count = min(rows_max or _PIECE_ROWS_MIN, _PIECE_ROWS_MAX)
    while True:
        pieces = (current(after, count), undone(after, count))
        ends = [piece[-1][0] for piece in pieces if len(piece) == count]
        after = (min(ends) if forward else max(ends)) if ends else None
        yield from _piece(*pieces, after, forward=forward)
        if after is None:
            return
        count = min(2 * count, _PIECE_ROWS_MAX)


def _piece(
    current: list[FetchedRow], undone: list[FetchedRow], end: Place | None, *, forward: bool
) -> list[tuple[Place, int | None, bytes]]:
    """Merge two pieces, as far as both are known."""
    found: dict[Place, tuple[int | None, bytes]] = {}
    for rows in (undone, current):
        for place, size, raw in rows:
            if end is not None and (place > end if forward else place < end):
                break
            if raw is not None:
                found[place] = (size, raw)
    return [(place, *found[place]) for place in sorted(found, reverse=not forward)]


# --- the items of a table -------------------------------------------------------------------


def past_table_rows(
    execute: Execute, wanted: PartitionRange | SegmentRange, at_us: int
) -> Iterator[tuple[Place, int | None, bytes]]:
    """Yield the rows of a range of a table as it was; their number is not limited."""
    table_id = wanted.table.id
    columns = (
        f"t.pk, t.sk, t.bytes, CASE WHEN {changed_since(table_id, at_us, 't')} THEN NULL ELSE t.item END"
    )

    def current(after: Place | None, count: int) -> list[FetchedRow]:
        rows = select_rows(execute, behind(wanted, after, count), columns).fetchall()
        return [((pk, sk), size, raw) for pk, sk, size, raw in rows]

    def undone(after: Place | None, count: int) -> list[FetchedRow]:
        sql, values = _changed_items(wanted, after)
        rows: list[Any] = execute(sql, {**values, "at": at_us, "rows": count}).fetchall()
        return [((pk, sk), None, raw) for pk, sk, raw in rows]

    start = None if wanted.after is None else (wanted.after.pk, wanted.after.sk)
    return merged(current, undone, start, forward=wanted.forward, rows_max=wanted.rows_max)


def changed_since(table_id: int, at_us: int, alias: str) -> str:
    """Return the SQL condition that an item has changed since."""
    return (
        f"EXISTS (SELECT 1 FROM {schema.log_table(table_id)} n"
        f" WHERE n.pk = {alias}.pk AND n.sk = {alias}.sk AND n.at > {at_us})"
    )


def behind(
    wanted: PartitionRange | SegmentRange, after: Place | None, count: int
) -> PartitionRange | SegmentRange:
    """Return so many rows of a range behind a place of it."""
    if after is None:
        return replace(wanted, rows_max=count)
    *index_key, pk, sk = after
    position = Position(pk=pk, sk=sk, index_key=(index_key[0], index_key[1]) if index_key else None)
    return replace(wanted, after=position, rows_max=count)


# --- the items of a log ---------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _first_change_sql(table_id: int) -> str:
    return (
        f"SELECT seq, before FROM {schema.log_table(table_id)} WHERE pk = ? AND sk = ? AND at > ?"
        " ORDER BY at, seq LIMIT 1"
    )


def _changed_items(wanted: PartitionRange | SegmentRange, after: Place | None) -> tuple[str, dict[str, Any]]:
    """Return the statement that finds the items of a range in the log, each as it was (NULL: not there)."""
    if isinstance(wanted, SegmentRange):
        pk, sk = (wanted.low, b"") if after is None else (after[0], next_bytes(after[1]))
        sql = _segment_sql(wanted.table.id, wanted.high is not None)
        return sql, {"pk": pk, "sk": sk, "high": wanted.high}
    low, high = _sort_span(wanted, after)
    sql = _partition_sql(wanted.table.id, wanted.forward, high is not None)
    return sql, {"pk": wanted.partition, "low": low, "high": high}


def _sort_span(wanted: PartitionRange, after: Place | None) -> tuple[bytes, bytes | None]:
    """Return the sort keys of a range as one span from `low` up to, and without, `high`."""
    lows, highs = [b""], []
    for comparator, bound in wanted.bounds:
        if comparator in ("=", ">=", ">"):
            lows.append(next_bytes(bound) if comparator == ">" else bound)
        if comparator in ("=", "<=", "<"):
            highs.append(bound if comparator == "<" else next_bytes(bound))
    if after is not None:
        if wanted.forward:
            lows.append(next_bytes(after[1]))
        else:
            highs.append(after[1])
    return max(lows), min(highs, default=None)


def next_bytes(data: bytes) -> bytes:
    """Return the bytes that sort directly behind these."""
    return data + b"\0"


# Both statements step from item to item, not from change to change: SQLite goes through the index entries of an
# item with a hundred thousand changes otherwise, with every page that touches it.


@lru_cache(maxsize=1024)
def _partition_sql(table_id: int, forward: bool, has_high: bool) -> str:
    log = schema.log_table(table_id)
    order = "sk" if forward else "sk DESC"
    below_high = " AND sk < :high" if has_high else ""
    # A second bound on the side from which the step goes on would be the one that SQLite seeks by.
    step = f"sk > i.sk{below_high}" if forward else "sk < i.sk AND sk >= :low"
    return (
        "WITH RECURSIVE i(sk) AS ("
        f"SELECT * FROM (SELECT sk FROM {log} WHERE pk = :pk AND sk >= :low{below_high} ORDER BY {order} LIMIT 1)"
        f" UNION ALL SELECT (SELECT sk FROM {log} WHERE pk = :pk AND {step} ORDER BY {order} LIMIT 1)"
        " FROM i WHERE i.sk IS NOT NULL LIMIT :rows)"
        f" SELECT :pk, i.sk, {_before(log, ':pk')} FROM i WHERE i.sk IS NOT NULL"
    )


@lru_cache(maxsize=1024)
def _segment_sql(table_id: int, has_high: bool) -> str:
    log = schema.log_table(table_id)
    below_high = " AND pk < :high" if has_high else ""
    return (
        "WITH RECURSIVE i(pk, sk) AS ("
        f"SELECT * FROM (SELECT pk, sk FROM {log} WHERE (pk, sk) >= (:pk, :sk){below_high}"
        " ORDER BY pk, sk LIMIT 1)"
        f" UNION ALL SELECT n.pk, n.sk FROM i CROSS JOIN {log} n ON n.seq = coalesce("
        f"(SELECT seq FROM {log} WHERE pk = i.pk AND sk > i.sk ORDER BY sk LIMIT 1),"
        f"(SELECT seq FROM {log} WHERE pk > i.pk{below_high} ORDER BY pk, sk LIMIT 1)) LIMIT :rows)"
        f" SELECT i.pk, i.sk, {_before(log, 'i.pk')} FROM i"
    )


def _before(log: str, pk: str) -> str:
    return (
        f"(SELECT before FROM {log} f WHERE f.pk = {pk} AND f.sk = i.sk AND f.at > :at"
        " ORDER BY f.at, f.seq LIMIT 1)"
    )


# --- how far back: the span of times for which the log has all that is needed ---------------------


class RecoveryWindow(NamedTuple):
    """The first and the last moment of a table that can be brought back."""

    earliest_us: int
    latest_us: int

    def holds(self, at_us: int) -> bool:
        return self.earliest_us <= at_us <= self.latest_us


def recovery_window(
    execute: Execute, table: Table, recovery: RecoveryDefinition, *, now_us: int, kept_us: int
) -> RecoveryWindow:
    """Return the span of a table that has recovery on.

    `now_us` is the time of the clock. `kept_us` is the time by which entries are trimmed; it does not at once
    follow a clock that jumps ahead.
    """
    started_us = max(recovery.since_us, min(now_us, kept_us) - recovery.days * _DAY_US)
    earliest_us = max(started_us, _trimmed_us(execute, table))
    # After the clock was put back, some changes have times that are still in its future.
    return RecoveryWindow(earliest_us, max(now_us, earliest_us, select_end(execute, table.id).at_us))


def _trimmed_us(execute: Execute, table: Table) -> int:
    """Return the time up to which entries are missing, 0 if none was ever trimmed.

    Trimming leaves the newest entry that nobody needs (trimming.py), so this matters only after the clock was put
    back.
    """
    oldest = select_oldest(execute, table.id)
    return 0 if oldest is None or oldest.seq == 1 else oldest.at_us


def require_dated(execute: Execute, table: Table, window: RecoveryWindow, at_us: int, clock: Clock) -> None:
    """Refuse a moment that the log cannot date: later changes have times that are still in the future.

    A clock that was ahead has dated these changes, and all that follow them, since times never go back. So they
    may have been made before or after the moment. Up to the last change with a time that the clock has reached,
    the past is exact. From the first change that it has not reached, the past follows the times of the changes.
    """
    now_us = clock.now_us()  # read after the log: no change of this moment is ahead of it
    if window.latest_us <= now_us or select_end(execute, table.id).at_us <= now_us:
        return
    exact = seq_at(execute, table.id, now_us)
    exact_us = -(-window.earliest_us // 1000) * 1000  # as it is told: in milliseconds, and not too early
    if exact:
        exact_us = max(exact_us, time_of(execute, table.id, exact))
    ahead_us = time_of(execute, table.id, exact + 1) if exact else _oldest_us(execute, table)
    if exact_us < at_us < ahead_us:
        raise InvalidRestoreTimeError(
            f"What the table {table.name} held at {moment_text(at_us)} cannot be told: its changes since "
            f"{moment_text(exact_us)} are dated {moment_text(ahead_us)} and later, by a clock that was ahead. Its "
            f"past can be seen up to {moment_text(exact_us)} and, by those dates, from {moment_text(ahead_us)} to "
            f"{moment_text(window.latest_us)}, which is the table as it is now"
        )


def _oldest_us(execute: Execute, table: Table) -> int:
    oldest = select_oldest(execute, table.id)
    return 0 if oldest is None else oldest.at_us


def moment_text(at_us: int) -> str:
    """Return a moment for people: whole seconds where it is one, microseconds where it is not."""
    try:
        moment = datetime.fromtimestamp(at_us // 1_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{at_us / 1_000_000:g} seconds since 1970"
    fraction = f".{at_us % 1_000_000:06}" if at_us % 1_000_000 else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"


# --- the versions of one item ---------------------------------------------------------------------


class OlderThan(NamedTuple):
    """From where a list of versions goes on: behind this entry, before which the item was so."""

    seq: int
    at_us: int
    before: bytes | None


def select_versions(
    execute: Execute,
    table: Table,
    key: PrimaryKey,
    *,
    since_us: int,
    older_than: OlderThan | None,
    rows_max: int,
) -> list[Entry]:
    """Return entries of an item, newest first, with the item after each of them, also where no stream was on."""
    sql = (
        f"SELECT seq, at, event, pk, sk, before, NULL FROM {schema.log_table(table.id)}"
        " WHERE pk = ? AND sk = ? AND at >= ? AND (at, seq) < (?, ?) ORDER BY at DESC, seq DESC LIMIT ?"
    )
    with snapshot(execute):
        if older_than is None:
            current = select_item(execute, table, key)
            older_than = OlderThan(_LAST, _LAST, None if current is None else current[1])
        values = (*key, since_us, older_than.at_us, older_than.seq, rows_max)
        rows: list[Any] = execute(sql, values).fetchall()
    newer = older_than.before
    found: list[Entry] = []
    for row in rows:
        entry = Entry._make(row)._replace(after=newer)
        found.append(entry)
        newer = entry.before
    return found
