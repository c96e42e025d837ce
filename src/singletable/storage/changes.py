"""Every write is one value: an item before it, and the item after it."""

from __future__ import annotations

from typing import Final, NamedTuple

from singletable.storage.images import Image, PrimaryKey, StoredImage
from singletable.storage.tables import EntryKey, Index, Table


class EntryMove(NamedTuple):
    """Where an item stood in an index, and where it is to stand (None: nowhere)."""

    in_index: Index
    old: EntryKey | None
    new: EntryKey | None


_NO_MOVES: Final[tuple[EntryMove, ...]] = ()


class Change:
    """One item's step from `before` to `after` (None: it does not exist), at a time that never goes back.

    Index entries, place in the order of expiry, log entry, counts and units are functions of this value;
    `Transaction.apply` writes them together.
    """

    __slots__ = ("after", "at_us", "before", "is_expiry", "key", "moves", "table")

    def __init__(
        self,
        table: Table,
        key: PrimaryKey,
        before: StoredImage | None,
        after: Image | None,
        at_us: int,
        *,
        is_expiry: bool = False,
    ) -> None:
        self.table = table
        self.key = key
        self.before = before
        self.after = after
        self.at_us = at_us
        self.is_expiry = is_expiry  # deleted because the item has expired, not by a client
        self.moves = _moves(table, before, after) if table.indexes else _NO_MOVES


def _moves(table: Table, before: Image | None, after: Image | None) -> tuple[EntryMove, ...]:
    return tuple(
        [
            EntryMove(
                index,
                None if before is None else index.entry_key(before.item),
                None if after is None else index.entry_key(after.item),
            )
            for index in table.indexes
        ]
    )
