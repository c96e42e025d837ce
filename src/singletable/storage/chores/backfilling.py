"""Backfill: filling a new index, or the order by expiry, from existing items. A chore of the background."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from singletable import limits
from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute, scalar
from singletable.storage.definitions import TableDefinition
from singletable.storage.images import StoredImage
from singletable.storage.reading import take_rows
from singletable.storage.tables import Index, Table
from singletable.storage.transaction import Transaction

_ROWS_A_STEP: Final = 64
_BYTES_A_STEP: Final = limits.MIB  # of items, which are all read


def is_due(execute: Execute, catalog: Catalog, now_us: int) -> bool:
    """Tell whether something is being filled."""
    return any(_unfilled(table) is not None for table in catalog)


def step(transaction: Transaction, now_us: int) -> bool:
    """Make the entries of the next rows of a table. Return whether nothing is left."""
    for table in transaction.catalog:
        store_id = _unfilled(table)
        if store_id is not None:
            _fill(transaction, table, store_id)
            return False
    return True


def _unfilled(table: Table) -> int | None:
    """Return the id of the index, or of the order by expiry, that is to be filled next."""
    for index in table.indexes:
        if not index.is_ready:
            return index.id
    return table.expiry.id if table.expiry is not None and not table.expiry.is_ready else None


def _fill(transaction: Transaction, table: Table, store_id: int) -> None:
    transaction.is_dirty = True
    position = int(scalar(transaction.execute(schema.SELECT_BACKFILL, (store_id,))))
    rows, is_end = _next_rows(transaction, table, position)
    index = next((index for index in table.indexes if index.id == store_id), None)
    for row_id, pk, sk, item_bytes, raw in rows:
        image = StoredImage(row_id, item_bytes, raw)
        if index is None:
            _add_expiry(transaction, table, image)
        else:
            _add_entry(transaction, index, image, pk, sk)
    if not is_end:
        transaction.execute(schema.SAVE_BACKFILL, (store_id, rows[-1][0]))
    else:
        transaction.execute(schema.DELETE_BACKFILL, (store_id,))
        transaction.save(_filled(table.definition, store_id))


def _next_rows(transaction: Transaction, table: Table, position: int) -> tuple[list[Any], bool]:
    """Return the next rows of a table, and whether there are no more."""
    found = transaction.execute(schema.select_rows_after(table.id), (position, _ROWS_A_STEP))
    rows, are_all = take_rows(found, _BYTES_A_STEP)
    return rows, are_all and len(rows) < _ROWS_A_STEP


def _add_entry(transaction: Transaction, index: Index, image: StoredImage, pk: bytes, sk: bytes) -> None:
    entry = index.entry_key(image.item)
    if entry is None:
        return
    transaction.execute(index.insert_missing_entry, (*entry, pk, sk, image.row_id))
    if transaction.connection.changes():
        transaction.count(index.id, items=1, item_bytes=index.projected_bytes(image))


def _add_expiry(transaction: Transaction, table: Table, image: StoredImage) -> None:
    assert table.expiry is not None
    expires_s = table.expiry.time_of(image.item)
    if expires_s is not None:
        transaction.execute(table.expiry.insert_entry, (expires_s, image.row_id))


def _filled(definition: TableDefinition, store_id: int) -> TableDefinition:
    if definition.ttl is not None and definition.ttl.id == store_id:
        return replace(definition, ttl=replace(definition.ttl, is_ready=True))
    indexes = (replace(i, status="ACTIVE") if i.id == store_id else i for i in definition.indexes)
    return replace(definition, indexes=tuple(indexes))
