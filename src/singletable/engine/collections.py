"""Item collections: the items under one partition key of a table with local indexes (ItemCollectionMetrics)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from singletable.engine.results import CollectionSize
from singletable.storage.changes import Change
from singletable.storage.images import Image
from singletable.storage.reading import PartitionRange, select_partition
from singletable.storage.tables import Index
from singletable.storage.transaction import Transaction

_GIGABYTE: Final = 1024**3


def collection_size(transaction: Transaction, change: Change) -> CollectionSize | None:
    """Return the size of the collection that a change belongs to.

    None for a table without local indexes, and for a write that changed nothing: the answer is about the
    collections "that were modified during the operation" (API reference).
    """
    table = change.table
    local = [index for index in table.indexes if not index.definition.is_global]
    image = change.after or change.before
    if not local or image is None:
        return None
    partition = image.item[table.partition_name]
    gigabytes = _gigabytes(transaction, change, local)
    return CollectionSize(table.name, table.partition_name, partition, gigabytes)


def _gigabytes(transaction: Transaction, change: Change, local: Sequence[Index]) -> int:
    """Return how many whole gigabytes a collection has: its items, and their entries in local indexes.

    No collection is larger than its table with its local indexes, and their sizes are counted. So the partition is
    read only in a table of more than a gigabyte.
    """
    table, partition = change.table, change.key.partition
    stores = (table.id, *(index.id for index in local))
    if sum(transaction.counts(store).item_bytes for store in stores) < _GIGABYTE:
        return 0
    rows = select_partition(transaction.execute, PartitionRange(table=table, index=None, partition=partition))
    total: int = sum(item_bytes for item_bytes, _ in rows)
    for index in local:
        entries = PartitionRange(table=table, index=index, partition=partition)
        for item_bytes, raw in select_partition(transaction.execute, entries):
            total += index.projected_bytes(Image(raw, item_bytes))
    return total // _GIGABYTE


def collection_sizes(transaction: Transaction, changes: Iterable[Change]) -> list[CollectionSize]:
    """Return the size of each collection that changes belong to, once."""
    by_place: dict[tuple[int, bytes], Change] = {}
    for change in changes:
        if change.before or change.after:
            by_place.setdefault((change.table.id, change.key.partition), change)
    sizes = (collection_size(transaction, change) for change in by_place.values())
    return [size for size in sizes if size is not None]
