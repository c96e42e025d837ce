"""A table as the store uses it: its definition with the SQL and the key functions that follow from it.

Built once for each version of the catalog; nothing here changes afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from singletable import limits
from singletable.storage import schema
from singletable.storage.definitions import IndexDefinition, KeyAttribute, TableDefinition, TtlDefinition
from singletable.storage.images import Image, PrimaryKey
from singletable.values.keys import (
    HASH_BYTES,
    composite_key_bytes,
    key_bytes,
    key_payload,
    partition_bytes,
)
from singletable.values.sizes import item_bytes, value_bytes
from singletable.values.types import Item, Value

EntryKey = tuple[bytes, bytes]
_Part = Callable[[Item], bytes | None]

_SECONDS_END: Final = 1 << 62  # beyond that, no integer column of SQLite can hold it


class Expiry:
    """How a table knows when its items expire."""

    __slots__ = ("attribute", "delete_entry", "id", "insert_entry", "is_ready")

    def __init__(self, definition: TtlDefinition) -> None:
        self.id = definition.id
        self.attribute = definition.attribute
        self.is_ready = definition.is_ready
        self.insert_entry = schema.insert_expiry(self.id)
        self.delete_entry = schema.delete_expiry(self.id)

    def time_of(self, item: Item) -> int | None:
        """Return the second at which an item expires; None when it does not.

        An attribute of any type but Number is ignored, not an error (AWS guide, "Using time to live").
        """
        value = item.get(self.attribute)
        number = None if value is None else value.get("N")
        if number is None:
            return None
        seconds = int(number) if number.isdigit() and len(number) < 19 else _whole(number)
        return seconds if -_SECONDS_END < seconds < _SECONDS_END else None


def _whole(number: str) -> int:
    value = Decimal(number)
    return int(value) if abs(value) < _SECONDS_END else _SECONDS_END


class Index:
    """A secondary index: which items it holds, in which order, and how large they are in it."""

    __slots__ = (
        "_partition_part",
        "_sort_part",
        "definition",
        "delete_entry",
        "id",
        "insert_entry",
        "insert_missing_entry",
        "is_ready",
        "key_characters_safe",
        "key_types",
        "name",
        "projected_names",
        "source",
    )

    def __init__(self, definition: IndexDefinition, table: TableDefinition) -> None:
        self.definition = definition
        self.id = definition.id
        self.name = definition.name
        self.is_ready = definition.status == "ACTIVE"
        self.key_types = tuple((attribute.name, attribute.type) for attribute in definition.key.attributes)
        # A text of so many characters fits into the key in any encoding, beside any other parts of the key.
        parts_max = max(len(definition.key.partition), len(definition.key.sort))
        self.key_characters_safe = limits.SORT_KEY_BYTES_MAX // (4 * parts_max)
        self.projected_names = _projected_names(definition, table)
        self._partition_part = _key_part(definition.key.partition, limits.PARTITION_KEY_BYTES_MAX)
        self._sort_part = _key_part(definition.key.sort, limits.SORT_KEY_BYTES_MAX)
        self.insert_entry = schema.insert_entry(self.id)
        self.insert_missing_entry = schema.insert_missing_entry(self.id)
        self.delete_entry = schema.delete_entry(self.id)
        self.source = schema.index_source(self.id, table.id)

    def entry_key(self, item: Item) -> EntryKey | None:
        """Return where the item stands in the index; None when a key attribute is missing or unfit."""
        partition = self._partition_part(item)
        if partition is None:
            return None
        sort = self._sort_part(item)
        return None if sort is None else (partition_bytes(partition), sort)

    def projected_bytes(self, image: Image) -> int:
        """Return the size of an item's projection into the index."""
        return image.item_bytes if self.projected_names is None else item_bytes(self.project(image.item))

    def differs(self, before: Image, after: Image) -> bool:
        """Tell whether an item's projection into the index has changed."""
        if before.raw == after.raw:
            return False
        return self.project(before.item) != self.project(after.item)

    def project(self, item: Item) -> Item:
        """Return the item's projection into the index."""
        if self.projected_names is None:
            return item
        return {name: value for name, value in item.items() if name in self.projected_names}


class Table:
    """A table of the catalog, ready for use."""

    __slots__ = (
        "definition",
        "delete_item",
        "expiry",
        "id",
        "index_by_name",
        "indexes",
        "insert_item",
        "insert_log",
        "key_names",
        "logs_changes",
        "name",
        "partition_name",
        "partition_type",
        "select_image",
        "select_item",
        "sort_name",
        "sort_type",
        "source",
        "update_item",
    )

    def __init__(self, definition: TableDefinition) -> None:
        self.definition = definition
        self.id = definition.id
        self.name = definition.name
        self.key_names = definition.key.names
        self.logs_changes = definition.logs_changes
        self.partition_name = definition.key.partition[0].name
        self.partition_type = definition.key.partition[0].type
        sort = definition.key.sort
        self.sort_name = sort[0].name if sort else None
        self.sort_type = sort[0].type if sort else None
        self.indexes = tuple(Index(index, definition) for index in definition.indexes)
        self.index_by_name = {index.name: index for index in self.indexes}
        self.expiry = None if definition.ttl is None else Expiry(definition.ttl)
        self.source = schema.item_source(self.id)
        self.insert_log = schema.insert_entry_of_log(self.id)
        self.select_item = schema.select_item(self.id)
        self.select_image = schema.select_image(self.id)
        self.insert_item = schema.insert_item(self.id)
        self.update_item = schema.update_item(self.id)
        self.delete_item = schema.delete_item(self.id)

    def has_index(self, name: object) -> bool:
        return isinstance(name, str) and name in self.index_by_name

    def key_of(self, item: Item) -> PrimaryKey:
        """Return the key of an item. Its key attributes must be valid already."""
        partition = key_bytes(self.partition_type, item[self.partition_name][self.partition_type])
        if self.sort_name is None or self.sort_type is None:
            return PrimaryKey(partition_bytes(partition), b"")
        sort = key_bytes(self.sort_type, item[self.sort_name][self.sort_type])
        return PrimaryKey(partition_bytes(partition), sort)

    def key_attributes(self, key: PrimaryKey) -> Item:
        """Return the key attributes that `key_of` has made these columns from."""
        partition = key_payload(self.partition_type, key.partition[HASH_BYTES:])
        attributes: dict[str, Value] = {self.partition_name: {self.partition_type: partition}}
        if self.sort_name is not None and self.sort_type is not None:
            attributes[self.sort_name] = {self.sort_type: key_payload(self.sort_type, key.sort)}
        return attributes


def _projected_names(index: IndexDefinition, table: TableDefinition) -> frozenset[str] | None:
    if index.projection.kind == "ALL":
        return None
    return frozenset((*table.key.names, *index.key.names, *index.projection.attributes))


def _key_part(attributes: Sequence[KeyAttribute], bytes_max: int) -> _Part:
    """Return a function from an item to the bytes of one half of an index key.

    An item that lacks one of the attributes is left out of the index. So is one that cannot be a key there
    (another type, empty, too long): new writes of such items are refused, but an index may be added to a table
    that holds some (AWS guide, "Detecting and correcting index key violations").
    """
    if not attributes:
        return lambda item: b""
    if len(attributes) == 1:
        return _single_part(attributes[0], bytes_max)

    key_types = [(attribute.name, attribute.type) for attribute in attributes]

    def several(item: Item) -> bytes | None:
        parts: list[bytes] = []
        size = 0  # the limit is for all attributes of the half together
        for name, key_type in key_types:
            value = item.get(name)
            payload = None if value is None else value.get(key_type)
            if value is None or not payload:
                return None
            size += value_bytes(value)
            parts.append(key_bytes(key_type, payload))
        return composite_key_bytes(parts) if size <= bytes_max else None

    return several


def _single_part(attribute: KeyAttribute, bytes_max: int) -> _Part:
    name, key_type = attribute.name, attribute.type

    def part(item: Item) -> bytes | None:
        value = item.get(name)
        if value is None:
            return None
        payload = value.get(key_type)
        if not payload:
            return None
        encoded = key_bytes(key_type, payload)
        return encoded if len(encoded) <= bytes_max else None

    return part
