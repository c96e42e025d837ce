"""Trimming the logs: deleting entries that nobody needs any more. A chore of the background.

An entry stays while a stream shows it (24 hours), while recovery of its table needs it, while a restore reads it,
and, for a while, until every consumer of the table has seen it. The newest unneeded entry stays too: numbers and
times go on behind it, and it tells up to when entries are missing, whatever the clock does.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

from singletable import limits
from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.consumers import forget_some
from singletable.storage.log import select_end, select_logs, select_start, seq_at
from singletable.storage.transaction import Transaction

_ENTRIES_A_STEP: Final = 64
_BYTES_A_STEP: Final = 4 * limits.MIB  # of images: to give their pages back, SQLite reads them
_SECOND_US: Final = 1_000_000
_DAY_US: Final = 24 * 3600 * _SECOND_US
_FOREVER_US: Final = 1 << 62

# Of all logs at once where somebody looks for work, since there may be many; of one where it is trimmed.
_SELECT_SHOWN: Final = (
    "SELECT table_id FROM stream"
    " WHERE table_id = ifnull(:table, table_id) AND (ended IS NULL OR ended >= :since)"
)
_SELECT_RESTORES: Final = (
    "SELECT source_id, min(at) FROM restore WHERE source_id = ifnull(:table, source_id) GROUP BY source_id"
)
_SELECT_CONSUMERS: Final = (
    "SELECT table_id, position, hold FROM consumer WHERE table_id = ifnull(:table, table_id)"
)
_SELECT_OLD_SHARDS: Final = "SELECT stream_id, number FROM shard WHERE ended < ? LIMIT 64"
_SELECT_LOG: Final = "SELECT 1 FROM log WHERE table_id = ?"
_LOGS_A_SEARCH: Final = 64
_ENDED: Final = 0  # no table has this id: it stands for shards and streams that ended long ago


class Horizon(NamedTuple):
    """From where on a log is needed."""

    at_us: int
    """Entries of that time and later stay."""
    unread: tuple[tuple[int, int], ...]
    """For each consumer: entries behind that number stay as well, if they are of that time or later."""

    def keeps(self, seq: int, at_us: int) -> bool:
        return at_us >= self.at_us or any(
            seq > position and at_us >= held_us for position, held_us in self.unread
        )


class Horizons:
    """From where on the logs of a database, or one of them, are needed, as of one moment."""

    def __init__(self, execute: Execute, catalog: Catalog, now_us: int, table_id: int | None = None) -> None:
        self._catalog = catalog
        self._now_us = now_us
        values = {"table": table_id, "since": _ended_before_us(now_us)}
        self._shown = {row[0] for row in execute(_SELECT_SHOWN, values)}
        restores: list[Any] = execute(_SELECT_RESTORES, values).fetchall()
        self._restored_us: dict[int, int] = dict(restores)
        self._unread: dict[int, list[tuple[int, int]]] = {}
        for reader_of, position, hold_us in execute(_SELECT_CONSUMERS, values):
            self._unread.setdefault(reader_of, []).append((position, now_us - hold_us))

    def of(self, table_id: int) -> Horizon:
        needed_us = [_FOREVER_US]
        if table_id in self._shown:
            needed_us.append(self._now_us - limits.STREAM_KEPT_S * _SECOND_US)
        table = self._catalog.with_id(table_id)
        if table is not None and table.definition.recovery is not None:
            recovery = table.definition.recovery
            needed_us.append(max(recovery.since_us, self._now_us - recovery.days * _DAY_US))
        if table_id in self._restored_us:
            needed_us.append(self._restored_us[table_id])
        return Horizon(min(needed_us), tuple(self._unread.get(table_id, ())))

    def needs(self, execute: Execute, table_id: int) -> bool:
        """Tell whether a log stays: it has a table, or shows something, or a consumer is to read it."""
        if self._catalog.with_id(table_id) is not None:
            return True
        needed = self.of(table_id)
        return needed.at_us < _FOREVER_US or needed.keeps(*select_end(execute, table_id))


def search(execute: Execute, catalog: Catalog, now_us: int) -> list[int]:
    """Return the ids of some tables with a log that can be trimmed."""
    horizons = Horizons(execute, catalog, now_us)
    due = (
        table_id
        for table_id in select_logs(execute)
        if not horizons.needs(execute, table_id)
        or _trimmable(execute, table_id, horizons.of(table_id), entries_max=1)
    )
    found = list(islice(due, _LOGS_A_SEARCH))
    has_ended = next(execute(_SELECT_OLD_SHARDS, (_ended_before_us(now_us),)), None) is not None
    return [*found, _ENDED] if has_ended else found


def step_found(transaction: Transaction, now_us: int, found: list[int]) -> bool:
    """Delete some entries of one of these logs, or ended shards and streams. Return whether nothing is left."""
    while found:
        table_id = found[-1]
        if _trim_shards(transaction, now_us) if table_id == _ENDED else _trim(transaction, now_us, table_id):
            return False
        found.pop()
    return True


def _trim(transaction: Transaction, now_us: int, table_id: int) -> bool:
    """Take some entries of a log away, or all of it. Return whether there was something to do."""
    execute = transaction.execute
    if next(execute(_SELECT_LOG, (table_id,)), None) is None:
        return False  # another has taken it away
    horizons = Horizons(execute, transaction.catalog, now_us, table_id)
    if horizons.needs(execute, table_id):
        return _trim_log(transaction, table_id, horizons.of(table_id))
    if not _trim_shards(transaction, now_us):  # its streams first: they name it
        _drop_log(transaction, table_id)
    return True


def _ended_before_us(now_us: int) -> int:
    return now_us - limits.STREAM_KEPT_S * _SECOND_US


# --- entries ------------------------------------------------------------------------------


def _trimmable(execute: Execute, table_id: int, needed: Horizon, *, entries_max: int) -> int:
    """Return the number up to which entries can go, as far as some of the oldest were looked at; 0 for none."""
    sql = (
        "SELECT seq, at, coalesce(length(before), 0) + coalesce(length(after), 0)"
        f" FROM {schema.log_table(table_id)} ORDER BY seq LIMIT ?"
    )
    rows: list[Any] = execute(sql, (entries_max + 1,)).fetchall()
    last = trimmed_bytes = 0
    for (seq, _, image_bytes), (newer, newer_us, _) in pairwise(rows):
        if trimmed_bytes >= _BYTES_A_STEP or needed.keeps(newer, newer_us):
            break
        last = seq
        trimmed_bytes += image_bytes
    return last


def count_trimmable(execute: Execute, catalog: Catalog, table_id: int, now_us: int) -> range:
    """Return the numbers of all entries of a log that would be taken away at a time."""
    start = select_start(execute, table_id)
    if start is None:
        return range(0)
    horizons = Horizons(execute, catalog, now_us, table_id)
    if not horizons.needs(execute, table_id):
        return range(start, select_end(execute, table_id).seq + 1)
    needed = horizons.of(table_id)
    kept_from = [_first_since(execute, table_id, needed.at_us)]
    for position, held_us in needed.unread:
        kept_from.append(max(position + 1, _first_since(execute, table_id, held_us)))
    return range(start, min(kept_from) - 1)  # the newest of those that nobody needs stays


def _first_since(execute: Execute, table_id: int, at_us: int) -> int:
    """Return the number of the first entry of a time or later, or of the one that comes next."""
    return seq_at(execute, table_id, at_us - 1) + 1


def _trim_log(transaction: Transaction, table_id: int, needed: Horizon) -> bool:
    last = _trimmable(transaction.execute, table_id, needed, entries_max=_ENTRIES_A_STEP)
    if not last:
        return False
    transaction.is_dirty = True
    transaction.execute(f"DELETE FROM {schema.log_table(table_id)} WHERE seq <= ?", (last,))
    return True


# --- ended shards, streams and tables ---------------------------------------------------------


def _trim_shards(transaction: Transaction, now_us: int) -> bool:
    """Forget shards and streams that ended so long ago that none of their records is left."""
    rows: list[Any] = transaction.execute(_SELECT_OLD_SHARDS, (_ended_before_us(now_us),)).fetchall()
    for stream_id, number in rows:
        transaction.is_dirty = True
        transaction.execute("DELETE FROM shard WHERE stream_id = ? AND number = ?", (stream_id, number))
        transaction.execute(
            "DELETE FROM stream WHERE id = ? AND NOT EXISTS (SELECT 1 FROM shard WHERE stream_id = ?)",
            (stream_id, stream_id),
        )
    return bool(rows)


def _drop_log(transaction: Transaction, table_id: int) -> None:
    """Delete the log of a deleted table; before that, piece by piece, the dead letters of its consumers."""
    if not forget_some(transaction, table_id):
        return
    transaction.is_dirty = True
    transaction.execute(schema.INSERT_DROPPED, (schema.log_table(table_id),))
    transaction.execute(schema.DELETE_LOG, (table_id,))
    transaction.execute("DELETE FROM consumer WHERE table_id = ?", (table_id,))
