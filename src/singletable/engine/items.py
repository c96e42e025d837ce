"""PutItem, GetItem, UpdateItem, DeleteItem."""

from __future__ import annotations

from singletable.capacity.consumed import Consumed
from singletable.capacity.units import read_units
from singletable.engine.collections import collection_size
from singletable.engine.keys import (
    check_key_paths,
    key_of_item,
    key_of_request,
    require_table,
)
from singletable.engine.plans import (
    check_update_charge,
    check_update_spares_key,
    consumed_by_write,
    plan,
    returned_attributes,
)
from singletable.engine.requests import GetItem, PutItem, UpdateItem, Write
from singletable.engine.results import GetResult, StoredItem, WriteResult
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.reading import select_image, select_raw
from singletable.storage.store import Store
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction


def get_item(store: Store, request: GetItem) -> GetResult:
    """Read one item by its key."""

    def work(execute: Execute, catalog: Catalog) -> GetResult:
        table = require_table(catalog, request.table)
        key = key_of_request(table, request.key)
        if request.projection is None and request.report == "NONE":
            return GetResult(select_raw(execute, table, key))
        check_key_paths(table, request.projection)
        return read_item(execute, table, key, request)

    return store.read(work)


def read_item(execute: Execute, table: Table, key: PrimaryKey, request: GetItem) -> GetResult:
    """Read one item, projected, and with what it consumed."""
    image = select_image(execute, table, key)
    item: StoredItem | None = None
    if image is not None:
        item = image.raw if request.projection is None else request.projection.apply(image.item)
    units = read_units(image.item_bytes if image else 0, consistent=request.consistent)
    return GetResult(item, Consumed(table=table.name, table_units=units))


def write_item(store: Store, request: Write) -> WriteResult:
    """Carry out one PutItem, UpdateItem or DeleteItem."""

    def work(transaction: Transaction) -> WriteResult:
        table = require_table(transaction.catalog, request.table)
        if isinstance(request, UpdateItem):
            check_update_charge(request)
        key = key_of_write(table, request)
        change = plan(request, table, key, transaction.get(table, key), transaction.now_us)
        transaction.apply(change)
        if request.returns == "NONE" and request.report == "NONE" and not request.reports_collections:
            return _DONE
        return WriteResult(
            returned_attributes(request, change),
            consumed_by_write(change) if request.report != "NONE" else None,
            collection_size(transaction, change) if request.reports_collections else None,
        )

    return store.write(work)


def key_of_write(table: Table, request: Write) -> PrimaryKey:
    """Return the key that a write is about, checked against its table."""
    if isinstance(request, PutItem):
        key = key_of_item(table, request.item)
    else:
        key = key_of_request(table, request.key)
        if isinstance(request, UpdateItem) and request.update is not None:
            check_update_spares_key(request, table)
            check_key_paths(table, request.update)
    if request.condition is not None:
        check_key_paths(table, request.condition)
    return key


_DONE = WriteResult()
