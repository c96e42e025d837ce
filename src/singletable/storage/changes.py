"""Every write is one value: what an item was, and what it is to be."""

from __future__ import annotations

from dataclasses import dataclass

from singletable.storage.images import Image, PrimaryKey, Stored
from singletable.storage.tables import Table


@dataclass(frozen=True, slots=True)
class Change:
    """One item's step from `before` to `after` (None: it does not exist), at a time that never goes back.

    Index entries, log entry and counts are functions of this value; `Transaction.apply` writes them together.
    """

    table: Table
    key: PrimaryKey
    before: Stored | None
    after: Image | None
    at_us: int
