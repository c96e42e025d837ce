"""PutItem, GetItem, UpdateItem, DeleteItem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import orjson

from singletable.capacity.consumed import Consumed
from singletable.capacity.units import read_units
from singletable.engine.charges import failed_charge, read_charge, write_charges
from singletable.engine.collections import collection_size
from singletable.engine.keys import (
    check_key_paths,
    key_of_item,
    key_of_request,
    require_table,
)
from singletable.engine.patience import Patience
from singletable.engine.plans import (
    check_update_charge,
    check_update_spares_key,
    consumed_by_write,
    plan,
    returned_attributes,
)
from singletable.engine.requests import GetItem, PutItem, UpdateItem, Write
from singletable.engine.results import GetResult, WriteResult
from singletable.engine.throttling import Throttle
from singletable.errors import ConditionFailedError
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.reading import Reads
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction


def get_item(
    store: Reads, request: GetItem, patience: Patience | None = None, throttle: Throttle | None = None
) -> GetResult:
    """Read one item by its key."""

    def work(execute: Execute, catalog: Catalog) -> GetResult:
        table = require_table(catalog, request.table)
        key = key_of_request(table, request.key)
        if request.projection is not None:
            check_key_paths(table, request.projection)
        row = store.select_item(execute, table, key)
        item_bytes, raw = row or _NO_ROW
        if patience is not None:
            patience.check(item_bytes, decodes=request.projection is not None)
        units = read_units(item_bytes, consistent=request.consistent)
        if throttle is not None:
            throttle.pay("Read", [read_charge(table, None, key.partition, units)])
        if raw is None:
            return GetResult(None, Consumed(table.name, units))
        return GetResult(
            raw if request.projection is None else request.projection.apply(orjson.loads(raw)),
            Consumed(table.name, units),
        )

    return store.read(work)


_NO_ROW: Final = (0, None)


def item_write(request: Write, throttle: Throttle | None = None) -> Callable[[Transaction], WriteResult]:
    """Return the work of one PutItem, UpdateItem or DeleteItem in its transaction."""

    def work(transaction: Transaction) -> WriteResult:
        table = require_table(transaction.catalog, request.table)
        if isinstance(request, UpdateItem):
            check_update_charge(request)
        key = key_of_write(table, request)
        stored = transaction.get(table, key)
        try:
            change = plan(request, table, key, stored, transaction.now_us)
        except ConditionFailedError as error:
            charge = failed_charge(request, table, key, stored)
            if throttle is not None:
                throttle.pay("Write", [charge])
            error.units = {table.name: charge.units}
            raise
        consumed = consumed_by_write(change)
        if throttle is not None:
            throttle.pay("Write", write_charges(change, consumed))
        transaction.apply(change)
        return WriteResult(
            consumed,
            None if request.returns == "NONE" else returned_attributes(request, change),
            collection_size(transaction, change) if request.reports_collections else None,
        )

    return work


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
