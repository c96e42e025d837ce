"""BatchGetItem and BatchWriteItem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import orjson

from singletable import limits
from singletable.capacity.consumed import Consumed, by_table
from singletable.capacity.units import read_units
from singletable.engine.charges import read_charge, write_charges
from singletable.engine.collections import collection_sizes
from singletable.engine.keys import check_key_paths, key_of_request, require_table
from singletable.engine.patience import OutOfPatienceError, Patience
from singletable.engine.plans import consumed_by_write, plan
from singletable.engine.requests import BatchGetItem, BatchGetTable, BatchWriteItem, DeleteItem, PutItem
from singletable.engine.results import BatchGetResult, StoredItem, WritesResult
from singletable.engine.throttling import Throttle
from singletable.errors import ThrottledError, ValidationError
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.changes import Change
from singletable.storage.images import PrimaryKey
from singletable.storage.reading import Reads
from singletable.storage.store import Store
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction


def batch_get_item(
    store: Reads,
    request: BatchGetItem,
    patience: Patience | None = None,
    throttle: Throttle | None = None,
) -> BatchGetResult:
    """Read up to 100 items, or 16 MB of them; the rest is left unprocessed."""
    if throttle is not None and patience is not None:
        raise OutOfPatienceError  # an item that was read is paid for: it is not read once more by another

    def work(execute: Execute, catalog: Catalog) -> BatchGetResult:
        wanted = [_wanted(catalog, part) for part in request.tables]
        reading = _BatchReading(store, execute, patience, throttle)
        for part, (table, keys) in zip(request.tables, wanted, strict=True):
            reading.read_table(part, table, keys)
        if reading.refusals and len(reading.refusals) == sum(len(keys) for _, keys in wanted):
            raise reading.refusals[0]  # "if none of the items can be processed" (API reference)
        return reading.result

    return store.read(work)


def _wanted(catalog: Catalog, part: BatchGetTable) -> tuple[Table, list[PrimaryKey]]:
    table = require_table(catalog, part.table)
    check_key_paths(table, part.projection)
    return table, [key_of_request(table, key) for key in part.keys]


class _BatchReading:
    """A batch while it is read: the items found, the refusals, and how many bytes of room are left."""

    __slots__ = ("_execute", "_patience", "_store", "_throttle", "refusals", "result", "room")

    def __init__(
        self, store: Reads, execute: Execute, patience: Patience | None, throttle: Throttle | None
    ) -> None:
        self._store = store
        self._execute = execute
        self._patience = patience
        self._throttle = throttle
        self.result = BatchGetResult({}, {})
        self.refusals: list[ThrottledError] = []
        self.room = limits.BATCH_GET_BYTES_MAX

    def read_table(self, part: BatchGetTable, table: Table, keys: list[PrimaryKey]) -> None:
        items: list[StoredItem] = []
        unprocessed: list[int] = []
        table_units = 0.0
        for number, key in enumerate(keys):
            size, raw = self._store.select_item(self._execute, table, key) or (0, None)
            if size > self.room:
                unprocessed += range(number, len(keys))
                self.room = 0
                break
            units = read_units(size, consistent=part.consistent)
            if self._throttle is not None:
                refusal = self._throttle.take("Read", [read_charge(table, None, key.partition, units)])
                if refusal is not None:
                    self.refusals.append(refusal)
                    unprocessed.append(number)
                    continue
            self.room -= size
            table_units += units
            if self._patience is not None:
                read_bytes = limits.BATCH_GET_BYTES_MAX - self.room
                self._patience.check(read_bytes, decodes=part.projection is not None)
            if raw is not None:
                projection = part.projection
                items.append(raw if projection is None else projection.apply(orjson.loads(raw)))
        self.result.items[part.table] = items
        if unprocessed:
            self.result.unprocessed[part.table] = unprocessed
        self.result.consumed.append(Consumed(table.name, table_units))


def batch_write(
    request: BatchWriteItem, throttle: Throttle | None = None
) -> Callable[[Transaction], WritesResult]:
    """Return the work of a BatchWriteItem: independent writes, which here share one transaction."""

    def work(transaction: Transaction) -> WritesResult:
        changes = _plan_writes(transaction, request)
        unprocessed: list[int] = []
        if throttle is not None:
            unprocessed = _throttled(throttle, changes)
            changes = [change for number, change in enumerate(changes) if number not in unprocessed]
        for change in changes:
            transaction.apply(change)
        return WritesResult(
            by_table(consumed_by_write(change) for change in changes),
            collection_sizes(transaction, changes) if request.reports_collections else [],
            unprocessed=unprocessed,
        )

    return work


def is_large(request: BatchWriteItem) -> bool:
    """Tell whether a batch is so large that others would feel it, if it were written in one transaction."""
    return sum(map(_put_bytes, request.writes)) > limits.WRITE_PIECE_BYTES_MAX


def write_in_pieces(store: Store, request: BatchWriteItem) -> WritesResult:
    """Write a large batch in several transactions, so that other writers wait for one of them only.

    All of it is checked before any of it is written.
    """

    def check(transaction: Transaction) -> None:
        _plan_writes(transaction, request)

    store.write(check)
    parts = [store.write(batch_write(BatchWriteItem(writes=piece))) for piece in _pieces(request.writes)]
    return WritesResult(by_table(consumed for part in parts for consumed in part.consumed))


def _pieces(writes: Sequence[PutItem | DeleteItem]) -> Iterator[list[PutItem | DeleteItem]]:
    piece: list[PutItem | DeleteItem] = []
    piece_bytes = 0
    for write in writes:
        if piece and piece_bytes + _put_bytes(write) > limits.WRITE_PIECE_BYTES_MAX:
            yield piece
            piece, piece_bytes = [], 0
        piece.append(write)
        piece_bytes += _put_bytes(write)
    yield piece


def _put_bytes(write: PutItem | DeleteItem) -> int:
    return write.item_bytes if isinstance(write, PutItem) else 0


def _throttled(throttle: Throttle, changes: Sequence[Change]) -> list[int]:
    """Charge each change for itself. Return the positions of those that are refused; if all are, raise."""
    answers = [throttle.take("Write", write_charges(change, consumed_by_write(change))) for change in changes]
    refusals = [(number, refusal) for number, refusal in enumerate(answers) if refusal is not None]
    if len(refusals) == len(changes):
        raise refusals[0][1]
    return [number for number, _ in refusals]


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
