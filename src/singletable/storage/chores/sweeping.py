"""Deleting items that have expired (time to live): a chore of the background.

They are found by the order of their times, not by a scan of all items. Their deletion is a change like any other,
logged as an expiry and not as the request of a client.
"""

from __future__ import annotations

from typing import Any, Final

from singletable import limits
from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.changes import Change
from singletable.storage.images import PrimaryKey, StoredImage
from singletable.storage.reading import take_rows
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction

# Few: between two steps it is seen how long they took, and beside busy readers each statement may wait for them.
_ITEMS_A_STEP: Final = 4
_BYTES_A_STEP: Final = 256 * limits.KIB  # with a stream, as many again are written into its log


def is_due(execute: Execute, catalog: Catalog, now_us: int) -> bool:
    """Tell whether an item has expired."""
    return any(_select_expired(execute, table, now_us, items_max=1) for table in catalog)


def step(transaction: Transaction, now_us: int) -> bool:
    """Delete some items that have expired. Return whether none is left."""
    for table in transaction.catalog:
        rows = _select_expired(transaction.execute, table, now_us, items_max=_ITEMS_A_STEP)
        for row_id, pk, sk, item_bytes, raw in rows:
            before = StoredImage(row_id, item_bytes, raw)
            key = PrimaryKey(pk, sk)
            transaction.apply(Change(table, key, before, None, transaction.now_us, is_expiry=True))
        if rows:
            return False
    return True


def count_expired(execute: Execute, table: Table, now_us: int) -> tuple[int, int, int]:
    """Return how many items of a table would be deleted at a time, and when the first and last have expired."""
    if table.expiry is None:
        return 0, 0, 0
    now_s = now_us // 1_000_000
    sql = (
        "SELECT count(*), ifnull(min(expires), 0), ifnull(max(expires), 0)"
        f" FROM {schema.expiry_table(table.expiry.id)} WHERE expires >= ? AND expires < ?"
    )
    items, first_s, last_s = next(execute(sql, (now_s - limits.TTL_AGE_S_MAX, now_s)))
    return items, first_s * 1_000_000, last_s * 1_000_000


def _select_expired(execute: Execute, table: Table, now_us: int, *, items_max: int) -> list[Any]:
    if table.expiry is None:
        return []
    # Older than five years is taken for a mistake, and stays (AWS guide, "Using time to live").
    now_s = now_us // 1_000_000
    sql = (
        f"SELECT t.id, t.pk, t.sk, t.bytes, t.item FROM {schema.expiry_table(table.expiry.id)} e"
        f" CROSS JOIN {schema.item_table(table.id)} t ON t.id = e.item"
        " WHERE e.expires >= ? AND e.expires < ? ORDER BY e.expires LIMIT ?"
    )
    found = execute(sql, (now_s - limits.TTL_AGE_S_MAX, now_s, items_max))
    return take_rows(found, _BYTES_A_STEP)[0]
