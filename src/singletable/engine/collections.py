"""Item collections: the items under one partition key of a table with local indexes (ItemCollectionMetrics)."""

from __future__ import annotations

from collections.abc import Iterable

from singletable.engine.results import CollectionSize
from singletable.storage.changes import Change
from singletable.storage.images import Image
from singletable.storage.reading import PartitionRange, select_partition
from singletable.storage.transaction import Transaction


def collection_size(transaction: Transaction, change: Change) -> CollectionSize | None:
    """Return the size of the collection that a change belongs to; None for a table without local indexes."""
    table = change.table
    local = [index for index in table.indexes if not index.definition.is_global]
    image = change.after or change.before
    if not local or image is None:
        return None
    partition = change.key.partition
    rows = select_partition(transaction.execute, PartitionRange(table=table, index=None, partition=partition))
    total = sum(item_bytes for item_bytes, _ in rows)
    for index in local:
        entries = PartitionRange(table=table, index=index, partition=partition)
        for item_bytes, raw in select_partition(transaction.execute, entries):
            total += index.projected_bytes(Image(raw, item_bytes))
    return CollectionSize(table.name, table.partition_name, image.item[table.partition_name], total)


def collection_sizes(transaction: Transaction, changes: Iterable[Change]) -> list[CollectionSize]:
    """Return the size of each collection that changes belong to, once."""
    by_place = {(change.table.id, change.key.partition): change for change in changes}
    sizes = (collection_size(transaction, change) for change in by_place.values())
    return [size for size in sizes if size is not None]
