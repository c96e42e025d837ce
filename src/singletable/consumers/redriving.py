"""Dead letters: listing them, and running a handler over them again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import orjson

from singletable.consumers.context import new_context
from singletable.consumers.handlers import CheckedHandler, HandlerFailedError, error_text
from singletable.consumers.states import ConsumerStatus, DeadLetter, Redriven, dead_letter, read_statuses
from singletable.consumers.writes import Writes
from singletable.engine.keys import require_table
from singletable.errors import ApiError, ConsumerError
from singletable.storage import consumers
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.consumers import DeadRow, LetterGoneError
from singletable.storage.transaction import Transaction
from singletable.wire.parameters import OperationContext


def list_statuses(session: OperationContext, table: str | None) -> list[ConsumerStatus]:
    """Return where the consumers of a table stand, or of all tables."""
    clock = session.store.clock

    def read(execute: Execute, catalog: Catalog) -> list[ConsumerStatus]:
        if table is not None:
            require_table(catalog, table)
        return read_statuses(execute, catalog, clock, table=table)

    return session.store.read(read)


def list_dead_letters(session: OperationContext, table: str, name: str) -> list[DeadLetter]:
    """Return what a consumer has put aside, in the order of the log."""

    def read(execute: Execute, catalog: Catalog) -> list[DeadRow]:
        return consumers.select_dead(execute, _consumer(execute, catalog, table, name), name)

    return [dead_letter(row) for row in session.store.read(read)]


def forget_consumer(session: OperationContext, table: str, name: str) -> None:
    """Forget a consumer, its position and what it has put aside. If it runs, it ends.

    The consumer itself goes last, so that after an interruption this can be called again.
    """

    def work(transaction: Transaction) -> bool:
        table_id = _consumer(transaction.execute, transaction.catalog, table, name)
        is_last = consumers.forget_some(transaction, table_id, name)
        return is_last and consumers.unregister(transaction, table_id, name)

    while not session.store.write(work):
        pass


def redrive(
    session: OperationContext, database: object, table: str, name: str, handler: Callable[..., object]
) -> Redriven:
    """Give each dead letter to the handler once more; remove those that succeed."""
    checked = CheckedHandler(handler, partial(new_context, session, database, name))
    succeeded = failed = after = 0
    while (found := _next_row(session, table, name, after)) is not None:
        table_id, row = found
        after = row.seq
        try:
            _redrive_one(session, checked, table_id, name, row)
            succeeded += 1
        except LetterGoneError:
            continue
        except HandlerFailedError as error:
            failed += 1
            _fail_again(session, table_id, name, row.seq, error.text)
    return Redriven(succeeded, failed)


def _next_row(session: OperationContext, table: str, name: str, after: int) -> tuple[int, DeadRow] | None:
    def read(execute: Execute, catalog: Catalog) -> tuple[int, DeadRow] | None:
        table_id = _consumer(execute, catalog, table, name)
        rows = consumers.select_dead(execute, table_id, name, after=after, rows_max=1)
        return (table_id, rows[0]) if rows else None

    return session.store.read(read)


def _redrive_one(
    session: OperationContext, handler: CheckedHandler, table_id: int, name: str, row: DeadRow
) -> None:
    writes = Writes(session)
    try:
        handler.call([orjson.loads(row.record)], writes)
    finally:
        writes.close()

    def work(transaction: Transaction) -> list[Any]:
        consumers.take_out(transaction, table_id, name, row.seq)
        return writes.apply(transaction)

    try:
        writes.finish(session.store.write(work))
    except ApiError as error:
        raise HandlerFailedError(error_text(writes.fail(error))) from error


def _fail_again(session: OperationContext, table_id: int, name: str, seq: int, error: str) -> None:
    def work(transaction: Transaction) -> None:
        consumers.fail_again(transaction, table_id, name, seq, at_us=transaction.now_us, error=error)

    session.store.write(work)


def _consumer(execute: Execute, catalog: Catalog, table: str, name: str) -> int:
    """Return the id of the table of a consumer; raise if there is no such consumer."""
    table_id = require_table(catalog, table).id
    if consumers.select_consumer(execute, table_id, name) is None:
        raise ConsumerError(
            f"table {table!r} has no consumer {name!r}", hint="db.consumers() lists those that there are"
        )
    return table_id
