"""The capacity units of a request, and where they are taken from: tables, global indexes and partitions.

A partition is one value of the partition key here: AWS isolates a hot key into a partition of its own (developer
guide, "Adaptive capacity"), so this is the worst case of a key. Local indexes stand in the partitions of their
table, and consume its units.
"""

from __future__ import annotations

from dataclasses import dataclass

from singletable.capacity.consumed import Consumed
from singletable.capacity.units import write_units
from singletable.engine.requests import Action, PutItem
from singletable.storage.changes import Change, EntryMove
from singletable.storage.images import PrimaryKey, StoredImage
from singletable.storage.tables import Index, Table


@dataclass(frozen=True, slots=True)
class Charge:
    """The units that a request takes from one partition, and from the table or global index of the partition.

    Without an index, the charge is the table's, including the units of its local indexes. Without a partition, it
    is a scan's.
    """

    table: Table
    index: Index | None
    partition: bytes | None
    units: float

    @property
    def store_id(self) -> int:
        return self.table.id if self.index is None else self.index.id


def read_charge(table: Table, index: Index | None, partition: bytes | None, units: float = 0.0) -> Charge:
    """Return the charge of a read. Through a local index, it is one of the table."""
    if index is not None and not index.definition.is_global:
        index = None
    return Charge(table, index, partition, units)


def write_charges(change: Change, consumed: Consumed) -> list[Charge]:
    """Return the charges of a change: of the table, and of each global index that it must update."""
    table_units = consumed.table_units + sum(consumed.local_units.values())
    charges = [Charge(change.table, None, change.key.partition, table_units)]
    for move in change.moves:
        units = consumed.global_units.get(move.in_index.name)
        if units:
            charges += _entry_charges(change, move, units)
    return charges


def _entry_charges(change: Change, move: EntryMove, units: float) -> list[Charge]:
    index, old, new = move
    if old is None or new is None or old[0] == new[0]:
        entry = new or old
        assert entry is not None
        return [Charge(change.table, index, entry[0], units)]
    assert change.before is not None
    removed = write_units(index.projected_bytes(change.before), 0)
    return [
        Charge(change.table, index, old[0], removed),
        Charge(change.table, index, new[0], units - removed),
    ]


def failed_charge(request: Action, table: Table, key: PrimaryKey, stored: StoredImage | None) -> Charge:
    """Return the charge of a write with a failed condition: the table is charged as if the condition had held.

    "The amount of consumed write capacity units depends on the size of the item. This item can be an existing item
    in the table or a new one" (developer guide, "DynamoDB read and write operations").
    """
    before = stored.item_bytes if stored else 0
    after = request.item_bytes if isinstance(request, PutItem) else 0
    return Charge(table, None, key.partition, write_units(before, after))
