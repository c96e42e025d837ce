"""Typed results. An item is its stored bytes wherever nothing needed it decoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from singletable.capacity.consumed import Consumed
from singletable.values.types import Item, Value

StoredItem = bytes | Item


@dataclass(slots=True)
class CollectionSize:
    """How many whole gigabytes the items under one partition key have, with their local index entries."""

    table: str
    partition_name: str
    partition: Value
    gigabytes: int


@dataclass(slots=True)
class GetResult:
    item: StoredItem | None
    consumed: Consumed


@dataclass(slots=True)
class WriteResult:
    consumed: Consumed
    attributes: StoredItem | None = None
    collection: CollectionSize | None = None


@dataclass(slots=True)
class ResultPage:
    """A page of a query or scan. `items` is None when only the counts were asked for.

    `last` is the item that a full page ended with, as it is stored; its attributes `key_names` are the cursor.
    """

    items: list[StoredItem] | None
    count: int
    scanned: int
    last: bytes | None
    key_names: tuple[str, ...]
    consumed: Consumed


@dataclass(slots=True)
class BatchGetResult:
    items: dict[str, list[StoredItem]]
    unprocessed: dict[str, list[int]]
    """By table, the positions in the request of the keys that were throttled, or did not fit into the answer."""
    consumed: list[Consumed] = field(default_factory=list)


@dataclass(slots=True)
class WritesResult:
    """Of a batch or a transaction of writes. A transaction repeated with its token has read, not written."""

    consumed: list[Consumed]
    collections: list[CollectionSize] = field(default_factory=list)
    is_repeated: bool = False
    unprocessed: Sequence[int] = ()
    """The positions in the request of the writes of a batch that were throttled."""


@dataclass(slots=True)
class TransactGetResult:
    items: Sequence[StoredItem | None]
    consumed: list[Consumed]
