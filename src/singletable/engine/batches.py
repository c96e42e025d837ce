"""BatchGetItem and BatchWriteItem."""

from __future__ import annotations

from collections.abc import Callable

from singletable import limits
from singletable.capacity.consumed import Consumed, by_table
from singletable.capacity.units import read_units
from singletable.engine.collections import collection_sizes
from singletable.engine.keys import check_key_paths, key_of_request, require_table
from singletable.engine.patience import OutOfPatienceError, Patience
from singletable.engine.plans import consumed_by_write, plan
from singletable.engine.requests import BatchGetItem, BatchGetTable, BatchWriteItem, DeleteItem, PutItem
from singletable.engine.results import BatchGetResult, StoredItem, WritesResult
from singletable.errors import ValidationError
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.changes import Change
from singletable.storage.images import PrimaryKey
from singletable.storage.reading import select_image
from singletable.storage.store import Store
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction


def batch_get_item(store: Store, request: BatchGetItem, patience: Patience | None = None) -> BatchGetResult:
    """Read up to 100 items, or 16 MB of them; the rest is left unprocessed."""

    def work(execute: Execute, catalog: Catalog) -> BatchGetResult:
        wanted = [_wanted(catalog, part) for part in request.tables]
        result = BatchGetResult({part.table: [] for part in request.tables}, {})
        room = limits.BATCH_GET_BYTES_MAX
        for part, (table, keys) in zip(request.tables, wanted, strict=True):
            room = _read_table(execute, part, table, keys, result, room)
            if patience is not None and limits.BATCH_GET_BYTES_MAX - room > patience.read_bytes:
                raise OutOfPatienceError
        return result

    return store.read(work)


def _wanted(catalog: Catalog, part: BatchGetTable) -> tuple[Table, list[PrimaryKey]]:
    table = require_table(catalog, part.table)
    check_key_paths(table, part.projection)
    return table, [key_of_request(table, key) for key in part.keys]


def _read_table(
    execute: Execute,
    part: BatchGetTable,
    table: Table,
    keys: list[PrimaryKey],
    result: BatchGetResult,
    room: int,
) -> int:
    """Read the items of one table into the result, and return how many bytes of room are left."""
    items: list[StoredItem] = result.items[part.table]
    units = 0.0
    for number, key in enumerate(keys):
        image = select_image(execute, table, key)
        size = image.item_bytes if image else 0
        if size > room:
            result.unprocessed[part.table] = list(range(number, len(keys)))
            room = 0
            break
        room -= size
        units += read_units(size, consistent=part.consistent)
        if image is not None:
            items.append(image.raw if part.projection is None else part.projection.apply(image.item))
    result.consumed.append(Consumed(table.name, units))
    return room


def batch_write(request: BatchWriteItem) -> Callable[[Transaction], WritesResult]:
    """Return what a BatchWriteItem does: each write stands for itself, but here they are written together."""

    def work(transaction: Transaction) -> WritesResult:
        changes = _plan_writes(transaction, request)
        for change in changes:
            transaction.apply(change)
        return WritesResult(
            by_table(consumed_by_write(change) for change in changes),
            collection_sizes(transaction, changes) if request.reports_collections else [],
        )

    return work


def _plan_writes(transaction: Transaction, request: BatchWriteItem) -> list[Change]:
    tables = [require_table(transaction.catalog, write.table) for write in request.writes]
    keys = [_key(table, write) for table, write in zip(tables, request.writes, strict=True)]
    places = [(table.id, key) for table, key in zip(tables, keys, strict=True)]
    if len(set(places)) != len(places):
        raise ValidationError("Provided list of item keys contains duplicates")
    return [
        plan(write, table, key, transaction.get(table, key), transaction.now_us)
        for write, table, key in zip(request.writes, tables, keys, strict=True)
    ]


def _key(table: Table, write: PutItem | DeleteItem) -> PrimaryKey:
    """Return the key that a write is about. Unlike PutItem, a batch says one thing of all keys that are wrong."""
    if isinstance(write, DeleteItem):
        return key_of_request(table, write.key)
    return key_of_request(table, {name: write.item[name] for name in table.key_names if name in write.item})
