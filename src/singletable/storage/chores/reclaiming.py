"""Taking dropped tables away row by row: a chore of the background."""

from __future__ import annotations

from typing import Final

from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.transaction import Transaction

_ROWS_A_STEP: Final = 64


def is_due(execute: Execute, catalog: Catalog, now_us: int) -> bool:
    """Tell whether a dropped table is still there."""
    return next(execute(schema.SELECT_DROPPED), None) is not None


def step(transaction: Transaction, now_us: int) -> bool:
    """Take some rows of a dropped table away. Return whether nothing is left."""
    name = next(transaction.execute(schema.SELECT_DROPPED), (None,))[0]
    if name is None:
        return True
    transaction.is_dirty = True
    transaction.execute(schema.delete_some_rows(name), (_ROWS_A_STEP,))
    if transaction.connection.changes() < _ROWS_A_STEP:
        transaction.execute(f"DROP TABLE {name}").fetchall()
        transaction.execute(schema.DELETE_DROPPED, (name,))
    return False
