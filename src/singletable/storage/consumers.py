"""The register of consumers: the position of each in the log of its table, and the lease of its runner.

The runner of a consumer holds its lease. Leases are timed by the machine's monotonic clock, which nobody can set.
Every change of a position checks the owner of the lease in the same transaction: a runner that has lost the lease
cannot move the position any more.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute, scalar
from singletable.storage.log import (
    EXPIRED,
    REMOVED,
    Entry,
    LogEnd,
    entries_after,
    select_end,
    select_oldest,
    select_start,
)
from singletable.storage.reading import select_item, snapshot
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction

_CONSUMER_COLUMNS: Final = (
    "table_id, name, position, position_at, hold, log_since, missed, owner, lease_from, lease_until"
)
_SELECT: Final = f"SELECT {_CONSUMER_COLUMNS} FROM consumer WHERE table_id = ? AND name = ?"
_SELECT_ALL: Final = f"SELECT {_CONSUMER_COLUMNS} FROM consumer ORDER BY table_id, name"
_INSERT: Final = f"INSERT INTO consumer({_CONSUMER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, 0, NULL, NULL, NULL)"
_SET_HOLD: Final = "UPDATE consumer SET hold = ? WHERE table_id = ? AND name = ?"
_DELETE: Final = "DELETE FROM consumer WHERE table_id = ? AND name = ?"
_SET_LEASE: Final = (
    "UPDATE consumer SET owner = ?, lease_from = ?, lease_until = ? WHERE table_id = ? AND name = ?"
)
_END_LEASE: Final = (
    "UPDATE consumer SET owner = NULL, lease_from = NULL, lease_until = NULL"
    " WHERE table_id = ? AND name = ? AND owner = ?"
)
_RENEW: Final = (
    "UPDATE consumer SET lease_from = ?, lease_until = ? WHERE table_id = ? AND name = ? AND owner = ?"
)
_ADVANCE: Final = (
    "UPDATE consumer SET position = ?, position_at = ?, lease_from = ?, lease_until = ?"
    " WHERE table_id = ? AND name = ? AND owner = ?"
)
_TELL_MISSED: Final = (
    "UPDATE consumer SET position = ?, position_at = ?, log_since = ?, missed = missed + ?"
    " WHERE table_id = ? AND name = ? AND owner = ?"
)
_SELECT_SINCE: Final = "SELECT since FROM log WHERE table_id = ?"

_DEAD_COLUMNS: Final = "seq, at, record, error, tries"
_SAVE_DEAD: Final = (
    "INSERT OR REPLACE INTO dead_letter(table_id, consumer, seq, at, record, error, tries)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SELECT_DEAD: Final = (
    f"SELECT {_DEAD_COLUMNS} FROM dead_letter WHERE table_id = ? AND consumer = ? AND seq > ? ORDER BY seq"
)
_COUNT_DEAD: Final = "SELECT count(*) FROM dead_letter WHERE table_id = ? AND consumer = ?"
_DELETE_DEAD: Final = "DELETE FROM dead_letter WHERE table_id = ? AND consumer = ? AND seq = ?"
_DELETE_SOME: Final = (
    "DELETE FROM dead_letter WHERE rowid IN (SELECT rowid FROM dead_letter WHERE {} LIMIT ?)"
)
_DELETE_SOME_OF_CONSUMER: Final = _DELETE_SOME.format("table_id = ? AND consumer = ?")
_DELETE_SOME_OF_TABLE: Final = _DELETE_SOME.format("table_id = ?")
_FORGOTTEN_AT_ONCE: Final = 64  # of any number: no request is to wait long for it
_FAIL_AGAIN: Final = (
    "UPDATE dead_letter SET at = ?, error = ?, tries = tries + 1"
    " WHERE table_id = ? AND consumer = ? AND seq = ?"
)


class LeaseLostError(Exception):
    """Somebody else runs the consumer by now, or nobody is to: nothing was written."""


class Registered(NamedTuple):
    """A consumer as it is stored."""

    table_id: int
    name: str
    position: int
    """The number of the last entry that it has handled."""
    position_us: int
    """The time of that entry; before the first, the time from which on changes were logged."""
    hold_us: int
    """For how long it keeps the log from being trimmed when it is behind."""
    log_since_us: int
    """Since when changes had been logged without a break, at its last look."""
    missed: int
    """How many entries were trimmed before it had read them."""
    owner: str | None
    lease_from_us: int | None
    lease_until_us: int | None

    def holder(self, elapsed_us: int) -> str | None:
        """Return the owner of its lease, if any. A lease from before the machine's last start is void."""
        if self.lease_from_us is None or self.lease_until_us is None:
            return None
        return self.owner if self.lease_from_us <= elapsed_us < self.lease_until_us else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A lease: the owner that runs a consumer, and for how long at a time."""

    table_id: int
    name: str
    owner: str
    length_us: int


class Mark(NamedTuple):
    """A place in a log: an entry that is done with."""

    seq: int
    at_us: int


class Stretch(NamedTuple):
    """A consumer, its log, and some entries behind its position; all of one moment."""

    registered: Registered | None
    table: Table | None
    """None: the table is deleted."""
    since_us: int
    """Since when changes have been logged without a break."""
    oldest: LogEnd | None
    """The oldest entry that is kept."""
    entries: list[Entry]


# --- being registered ----------------------------------------------------------------------


def register(transaction: Transaction, table_id: int, name: str, *, at_end: bool, hold_us: int) -> Registered:
    """Return a consumer, which begins at one of the ends of the log if it is new."""
    execute = transaction.execute
    known = select_consumer(execute, table_id, name)
    if known is not None:
        if known.hold_us != hold_us:
            transaction.is_dirty = True
            execute(_SET_HOLD, (hold_us, table_id, name))
        return known._replace(hold_us=hold_us)
    since_us = _since_us(execute, table_id)
    mark = Mark(0, since_us)
    if at_end:
        end = select_end(execute, table_id)
        mark = Mark(end.seq, max(end.at_us, since_us))
    else:
        start = select_start(execute, table_id)
        mark = Mark(0 if start is None else start - 1, since_us)
    transaction.is_dirty = True
    execute(_INSERT, (table_id, name, *mark, hold_us, since_us))
    return Registered(table_id, name, *mark, hold_us, since_us, 0, None, None, None)


def unregister(transaction: Transaction, table_id: int, name: str) -> bool:
    """Forget a consumer. Return whether there was one."""
    transaction.execute(_DELETE, (table_id, name))
    found = transaction.connection.changes() > 0
    transaction.is_dirty |= found
    return found


def select_consumer(execute: Execute, table_id: int, name: str) -> Registered | None:
    row = next(execute(_SELECT, (table_id, name)), None)
    return None if row is None else Registered._make(row)


def select_consumers(execute: Execute) -> list[Registered]:
    """Return all consumers, also those of deleted tables that still have a log."""
    rows: list[Any] = execute(_SELECT_ALL).fetchall()
    return [Registered._make(row) for row in rows]


# --- the lease ------------------------------------------------------------------------------


def take_lease(transaction: Transaction, lease: Lease, elapsed_us: int) -> Registered | None:
    """Take the lease of a consumer; None while another owner holds it, or when there is no such consumer."""
    known = select_consumer(transaction.execute, lease.table_id, lease.name)
    if known is None or known.holder(elapsed_us) not in (None, lease.owner):
        return None
    transaction.is_dirty = True
    until_us = elapsed_us + lease.length_us
    transaction.execute(_SET_LEASE, (lease.owner, elapsed_us, until_us, lease.table_id, lease.name))
    return known


def renew_lease(transaction: Transaction, lease: Lease, elapsed_us: int) -> None:
    """Renew a lease; also one that has run out, as long as nobody else has taken it."""
    values = (elapsed_us, elapsed_us + lease.length_us)
    _write_as_owner(transaction, lease, _RENEW, values)


def end_lease(transaction: Transaction, lease: Lease, mark: Mark | None) -> None:
    """Give the lease back. The next runner goes on from this position."""
    if mark is not None:
        advance(transaction, lease, mark, 0)
    _write_as_owner(transaction, lease, _END_LEASE, ())


def advance(transaction: Transaction, lease: Lease, mark: Mark, elapsed_us: int) -> None:
    """Move a position, and renew the lease with it. To be called before anything else is written."""
    _write_as_owner(transaction, lease, _ADVANCE, (*mark, elapsed_us, elapsed_us + lease.length_us))


def tell_missed(transaction: Transaction, lease: Lease, mark: Mark, *, since_us: int, entries: int) -> None:
    """Store that a consumer was told of the entries it missed, and move its position behind them."""
    _write_as_owner(transaction, lease, _TELL_MISSED, (*mark, since_us, entries))


def _write_as_owner(transaction: Transaction, lease: Lease, sql: str, values: tuple[int, ...]) -> None:
    transaction.execute(sql, (*values, lease.table_id, lease.name, lease.owner))
    if not transaction.connection.changes():
        raise LeaseLostError
    transaction.is_dirty = True


# --- reading ----------------------------------------------------------------------------------


def select_stretch(
    execute: Execute,
    catalog: Catalog,
    table_id: int,
    name: str,
    *,
    after: int | None,
    rows_max: int,
    bytes_max: int,
) -> Stretch:
    """Return a consumer and the entries behind its stored position, or behind `after` if that is given."""
    with snapshot(execute):
        registered = select_consumer(execute, table_id, name)
        table = catalog.with_id(table_id)
        if registered is None or next(execute(_SELECT_SINCE, (table_id,)), None) is None:
            return Stretch(None, table, 0, None, [])
        behind = registered.position if after is None else after
        return Stretch(
            registered,
            table,
            _since_us(execute, table_id),
            select_oldest(execute, table_id),
            select_complete(execute, table_id, table, after=behind, rows_max=rows_max, bytes_max=bytes_max),
        )


def select_complete(
    execute: Execute, table_id: int, table: Table | None, *, after: int, rows_max: int, bytes_max: int
) -> list[Entry]:
    """Return entries with both of their images, oldest first: at least one, then as many as fit."""
    entries: list[Entry] = []
    with closing(entries_after(execute, table_id, after=after, rows_max=rows_max)) as found:
        for incomplete in found:
            entry = _completed(execute, table_id, table, incomplete)
            bytes_max -= len(entry.before or b"") + len(entry.after or b"")
            if entries and bytes_max < 0:
                break
            entries.append(entry)
    return entries


def _completed(execute: Execute, table_id: int, table: Table | None, entry: Entry) -> Entry:
    """Return an entry with its new image, which the log lacks where the table had no stream."""
    if entry.after is not None or entry.event in (REMOVED, EXPIRED):
        return entry
    sql = (
        f"SELECT before FROM {schema.log_table(table_id)} WHERE pk = ? AND sk = ? AND at >= ? AND seq > ?"
        " ORDER BY at, seq LIMIT 1"
    )
    following = next(execute(sql, (entry.pk, entry.sk, entry.at_us, entry.seq)), None)
    if following is not None:
        return entry._replace(after=following[0])
    stored = None if table is None else select_item(execute, table, entry.key)
    return entry if stored is None else entry._replace(after=stored[1])


def select_time(execute: Execute, table_id: int, seq: int) -> int | None:
    """Return when an entry was written."""
    row = next(execute(f"SELECT at FROM {schema.log_table(table_id)} WHERE seq = ?", (seq,)), None)
    return None if row is None else row[0]


def _since_us(execute: Execute, table_id: int) -> int:
    return int(next(execute(_SELECT_SINCE, (table_id,)))[0])


# --- dead letters: the records that a handler failed on, each with its error ----------------------


class DeadRow(NamedTuple):
    """A record that is put aside, as its handler got it."""

    seq: int
    at_us: int
    """When it was put aside."""
    record: bytes
    error: str
    tries: int


class LetterGoneError(Exception):
    """Somebody else has dealt with the record meanwhile: nothing was written."""


def put_aside(transaction: Transaction, table_id: int, consumer: str, row: DeadRow) -> None:
    """Store a record that could not be handled."""
    transaction.is_dirty = True
    transaction.execute(_SAVE_DEAD, (table_id, consumer, *row))


def take_out(transaction: Transaction, table_id: int, consumer: str, seq: int) -> None:
    """Forget a record that has been handled. To be called before anything else is written."""
    transaction.execute(_DELETE_DEAD, (table_id, consumer, seq))
    if not transaction.connection.changes():
        raise LetterGoneError
    transaction.is_dirty = True


def fail_again(
    transaction: Transaction, table_id: int, consumer: str, seq: int, *, at_us: int, error: str
) -> None:
    """Store the error of another failed attempt."""
    transaction.is_dirty = True
    transaction.execute(_FAIL_AGAIN, (at_us, error, table_id, consumer, seq))


def forget_some(transaction: Transaction, table_id: int, consumer: str | None = None) -> bool:
    """Delete some dead letters of a consumer, or of all consumers of a table. Return whether none is left."""
    if consumer is None:
        transaction.execute(_DELETE_SOME_OF_TABLE, (table_id, _FORGOTTEN_AT_ONCE))
    else:
        transaction.execute(_DELETE_SOME_OF_CONSUMER, (table_id, consumer, _FORGOTTEN_AT_ONCE))
    forgotten = transaction.connection.changes()
    transaction.is_dirty |= forgotten > 0
    return forgotten < _FORGOTTEN_AT_ONCE


def select_dead(
    execute: Execute, table_id: int, consumer: str, *, after: int = 0, rows_max: int | None = None
) -> list[DeadRow]:
    """Return the records that a consumer has put aside, in the order of the log."""
    limit = "" if rows_max is None else f" LIMIT {rows_max}"
    rows: list[Any] = execute(_SELECT_DEAD + limit, (table_id, consumer, after)).fetchall()
    return [DeadRow._make(row) for row in rows]


def count_dead(execute: Execute, table_id: int, consumer: str) -> int:
    return int(scalar(execute(_COUNT_DEAD, (table_id, consumer))))
