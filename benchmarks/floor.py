"""The least that the work can cost: bare SQL on a copy of the engine's own file, and a bare append.

The floor knows beforehand what the engine has to find out: the key columns, the encoded item, whether the
item exists, and which index entry it replaces. It validates nothing.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from singletable.storage import schema
from singletable.storage.file.connections import Durability, Location, connect

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.payloads import Item

PAGE_ITEMS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """An item ready to be written, and the index entry it has now (None: the item is new)."""

    pk: bytes
    sk: bytes
    item: bytes
    entry: tuple[bytes, bytes]
    entry_before: tuple[bytes, bytes] | None


def partition_column(text: str) -> bytes:
    key = text.encode()
    return zlib.crc32(key).to_bytes(4, "big") + key


def key_columns(key: Item) -> tuple[bytes, bytes]:
    return partition_column(key["PK"]["S"]), key["SK"]["S"].encode()


def entry_columns(item: Item) -> tuple[bytes, bytes]:
    return partition_column(item["GSI1PK"]["S"]), item["GSI1SK"]["S"].encode()


def row_of(item: Item, *, replaced: Item | None = None) -> Row:
    pk, sk = key_columns(item)
    return Row(
        pk=pk,
        sk=sk,
        item=orjson.dumps(item),
        entry=entry_columns(item),
        entry_before=None if replaced is None else entry_columns(replaced),
    )


class BareSql:
    """A connection of its own to a file that the engine made, with one table and one index."""

    def __init__(self, path: Path, *, durability: Durability) -> None:
        self.connection = connect(Location(str(path), durability))
        self.execute = self.connection.execute
        self.table_id, self.index_id = table_id, index_id = self._ids()
        items = schema.item_table(table_id)
        self.select_one = f"SELECT item FROM {items} WHERE pk = ? AND sk = ?"
        self.select_page = f"SELECT item FROM {items} WHERE pk = ? ORDER BY sk LIMIT {PAGE_ITEMS}"
        self.select_index_page = (
            f"SELECT t.item FROM {schema.index_source(index_id, table_id)} "
            f"WHERE i.ipk = ? ORDER BY i.isk, i.pk, i.sk LIMIT {PAGE_ITEMS}"
        )
        self.insert_item = schema.insert_item(table_id)
        self.update_item = f"UPDATE {items} SET bytes = ?, item = ? WHERE pk = ? AND sk = ? RETURNING id"
        self.insert_entry = schema.insert_entry(index_id)
        self.delete_entry = schema.delete_entry(index_id)

    def _ids(self) -> tuple[int, int]:
        names = [name for (name,) in self.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        (table_id,) = [int(name[5:]) for name in names if name.startswith("item_")]
        (index_id,) = [int(name[6:]) for name in names if name.startswith("index_")]
        return table_id, index_id

    def get(self, key: tuple[bytes, bytes]) -> Any:
        ((raw,),) = self.execute(self.select_one, key)
        return orjson.loads(raw)

    def query(self, partition: bytes) -> list[Any]:
        loads = orjson.loads
        return [loads(raw) for (raw,) in self.execute(self.select_page, (partition,))]

    def query_index(self, partition: bytes) -> list[Any]:
        loads = orjson.loads
        return [loads(raw) for (raw,) in self.execute(self.select_index_page, (partition,))]

    def put(self, row: Row) -> None:
        """Write the item and its index entry."""
        self.execute("BEGIN IMMEDIATE")
        self._write(row)
        self.execute("COMMIT")

    def put_and_count(self, row: Row) -> None:
        """Write also what the engine keeps count of: the items and bytes of the table and of the index."""
        self.execute("BEGIN IMMEDIATE")
        self._write(row)
        items = 0 if row.entry_before else 1
        self.execute(schema.ADD_TO_COUNTER, (items, len(row.item), self.table_id))
        self.execute(schema.ADD_TO_COUNTER, (items, len(row.item), self.index_id))
        self.execute("COMMIT")

    def _write(self, row: Row) -> None:
        execute = self.execute
        if row.entry_before is None:
            execute(self.insert_item, (row.pk, row.sk, len(row.item), row.item))
            row_id = self.connection.last_insert_rowid()
        else:
            ((row_id,),) = execute(self.update_item, (len(row.item), row.item, row.pk, row.sk))
        if row.entry != row.entry_before:
            if row.entry_before is not None:
                execute(self.delete_entry, (*row.entry_before, row.pk, row.sk))
            execute(self.insert_entry, (*row.entry, row.pk, row.sk, row_id))

    def close(self) -> None:
        self.connection.close()


class BareAppend:
    """A file that only grows: each item is written at its end and forced to the disk."""

    def __init__(self, path: Path) -> None:
        self.descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def append(self, data: bytes) -> None:
        os.write(self.descriptor, data)
        os.fdatasync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)
