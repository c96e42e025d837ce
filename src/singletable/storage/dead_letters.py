"""The records that a consumer's handler could not take, with what it failed with."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from singletable.storage.catalog import Execute, scalar
from singletable.storage.transaction import Transaction

_COLUMNS: Final = "seq, at, record, error, tries"
_SAVE: Final = (
    "INSERT OR REPLACE INTO dead_letter(table_id, consumer, seq, at, record, error, tries)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SELECT: Final = (
    f"SELECT {_COLUMNS} FROM dead_letter WHERE table_id = ? AND consumer = ? AND seq > ? ORDER BY seq"
)
_COUNT: Final = "SELECT count(*) FROM dead_letter WHERE table_id = ? AND consumer = ?"
_DELETE: Final = "DELETE FROM dead_letter WHERE table_id = ? AND consumer = ? AND seq = ?"
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
    transaction.execute(_SAVE, (table_id, consumer, *row))


def take_out(transaction: Transaction, table_id: int, consumer: str, seq: int) -> None:
    """Forget a record that has been handled. To be called before anything else is written."""
    transaction.execute(_DELETE, (table_id, consumer, seq))
    if not transaction.connection.changes():
        raise LetterGoneError
    transaction.is_dirty = True


def fail_again(
    transaction: Transaction, table_id: int, consumer: str, seq: int, *, at_us: int, error: str
) -> None:
    """Store with what a record has failed this time."""
    transaction.is_dirty = True
    transaction.execute(_FAIL_AGAIN, (at_us, error, table_id, consumer, seq))


def forget_some(transaction: Transaction, table_id: int, consumer: str | None = None) -> bool:
    """Forget some of what a consumer, or all those of a table, put aside. Return whether nothing is left."""
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
    rows: list[Any] = execute(_SELECT + limit, (table_id, consumer, after)).fetchall()
    return [DeadRow._make(row) for row in rows]


def count_dead(execute: Execute, table_id: int, consumer: str) -> int:
    return int(scalar(execute(_COUNT, (table_id, consumer))))
