"""Items as they are stored: their place, their bytes, and, when somebody needs them, their attributes."""

from __future__ import annotations

from typing import NamedTuple
from zlib import adler32

import orjson

from singletable.values.native import has_binary
from singletable.values.types import Item


def encode_item(item: Item) -> bytes:
    """Return the stored bytes of an item: JSON in wire form, behind a space if it holds binary values."""
    raw = orjson.dumps(item)
    return b" " + raw if has_binary(raw) else raw


def _sum_of_bytes(raw: bytes) -> int:
    # The lower half of this checksum is just that, modulo 65521, and takes a tenth of the time of decoding.
    return adler32(raw) & 0xFFFF


class PrimaryKey(NamedTuple):
    """Where an item stands: the stored partition column and the order-preserving sort bytes."""

    partition: bytes
    sort: bytes


class Image:
    """An item at one moment: its stored bytes, its size by AWS's rules, and, when needed, its attributes."""

    __slots__ = ("_item", "item_bytes", "raw")

    def __init__(self, raw: bytes, item_bytes: int, item: Item | None = None) -> None:
        self.raw = raw
        self.item_bytes = item_bytes
        self._item = item

    @classmethod
    def of(cls, item: Item, item_bytes: int) -> Image:
        return cls(encode_item(item), item_bytes, item)

    @property
    def item(self) -> Item:
        if self._item is None:
            self._item = orjson.loads(self.raw)
        return self._item

    def holds_same_as(self, other: Image) -> bool:
        """Tell whether two images hold the same attributes, in any order of attributes and of members of maps.

        Numbers and sets are stored in a canonical form, so equal values have equal texts. The bytes nearly always
        decide: another order has the same bytes, so the same length and the same sum, and only then are items
        compared.
        """
        if self.raw == other.raw:
            return True
        return (
            len(self.raw) == len(other.raw)
            and _sum_of_bytes(self.raw) == _sum_of_bytes(other.raw)
            and self.item == other.item
        )


class StoredImage(Image):
    """An item as it stands in its table, with the id of its row."""

    __slots__ = ("row_id",)

    def __init__(self, row_id: int, item_bytes: int, raw: bytes) -> None:
        super().__init__(raw, item_bytes)
        self.row_id = row_id
