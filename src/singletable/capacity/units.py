"""Read and write units of one item or page (AWS guide, "DynamoDB read and write operations")."""

from __future__ import annotations

from typing import Final

_READ_UNIT_BYTES: Final = 4096
_WRITE_UNIT_BYTES: Final = 1024
# A transaction prepares and commits each item. Its index entries are written once, after it: they cost in a
# transaction what they cost outside (measured by dynoxide's authors in eu-west-2, August 2026: a put that enters
# an index costs its table 2 and the index 1; moving a key of 1.5 KB costs the table 4 and the index 4. AWS's own
# example of `transact-write-items` adds up so, too).
_TRANSACTION_FACTOR: Final = 2


def read_units(read_bytes: int, *, consistent: bool) -> float:
    """Return the units of one read. Bytes are rounded up to 4 KB; an eventual read costs half."""
    blocks = max(1, -(-read_bytes // _READ_UNIT_BYTES))
    return float(blocks) if consistent else blocks / 2


def rounded_read_bytes(read_bytes: int) -> int:
    """Return the bytes that are charged for a read: rounded up to 4 KB."""
    return -(-read_bytes // _READ_UNIT_BYTES) * _READ_UNIT_BYTES


def transaction_read_units(read_bytes: int) -> float:
    return read_units(read_bytes, consistent=True) * _TRANSACTION_FACTOR


def write_units(before_bytes: int, after_bytes: int) -> float:
    """Return the units of one write: the larger of the old and the new item, in steps of 1 KB."""
    return float(max(1, -(-max(before_bytes, after_bytes) // _WRITE_UNIT_BYTES)))


def transaction_write_units(units: float) -> float:
    return units * _TRANSACTION_FACTOR


def index_write_units(
    before_bytes: int | None, after_bytes: int | None, *, key_moved: bool, changed: bool
) -> float:
    """Return the units of one item's write to an index (AWS guide, "Provisioned throughput considerations").

    A new or a removed entry is one write; an entry that moves to another key is removed and written again, two
    writes; an entry with changed projected attributes is one write; else there is none.
    """
    if before_bytes is None and after_bytes is None:
        return 0.0
    if before_bytes is None or after_bytes is None:
        return write_units(before_bytes or 0, after_bytes or 0)
    if key_moved:
        return write_units(before_bytes, 0) + write_units(0, after_bytes)
    return write_units(before_bytes, after_bytes) if changed else 0.0
