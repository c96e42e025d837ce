"""Tables with a log, made and changed through the store itself: what streams, recovery and expiry stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from singletable.clock import ManualClock
from singletable.storage.catalog import Execute
from singletable.storage.changes import Change
from singletable.storage.check import check_connection
from singletable.storage.definitions import (
    KeyAttribute,
    KeySchema,
    RecoveryDefinition,
    StreamDefinition,
    TableDefinition,
    TtlDefinition,
)
from singletable.storage.file.connections import Location
from singletable.storage.images import Image
from singletable.storage.log import Entry, entries_after
from singletable.storage.store import Store
from singletable.storage.streams import Shard, Stream, next_label_us, select_shards, select_streams
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction
from singletable.values.sizes import item_bytes
from singletable.values.types import Item

T = TypeVar("T")
HOUR_S = 3600
DAY_S = 24 * HOUR_S
_ID = KeyAttribute("id", "S")


@dataclass
class Logged:
    """A store with tables whose key is `id`, and the clock that it goes by."""

    store: Store
    clock: ManualClock

    # --- tables ---------------------------------------------------------------------------

    def create(self, name: str = "t", **settings: Any) -> None:
        def work(transaction: Transaction) -> None:
            definition = TableDefinition(
                id=transaction.new_id(),
                name=name,
                uuid="u",
                created_us=transaction.now_us,
                key=KeySchema((_ID,)),
                attributes=(_ID,),
            )
            transaction.create_table(definition)
            transaction.alter_table(_changed(transaction, definition, settings))

        self.store.write(work)

    def alter(self, name: str = "t", **settings: Any) -> None:
        """Change a table: `stream` and `recovery_days` on or off, `ttl` to an attribute or None.

        Recovery begins anew, unless `recovery_since_us` says since when it goes on.
        """

        def work(transaction: Transaction) -> None:
            table = transaction.catalog.named(name)
            assert table is not None
            transaction.alter_table(_changed(transaction, table.definition, settings))

        self.store.write(work)

    def delete_table(self, name: str = "t") -> None:
        self.store.write(lambda transaction: transaction.delete_table(_named(transaction, name)))

    def table(self, name: str = "t") -> Table:
        table = self.store.catalog.named(name)
        assert table is not None
        return table

    # --- items -------------------------------------------------------------------------------

    def put(self, item_id: str, name: str = "t", **attributes: Any) -> None:
        """Put an item; numbers are given as they are, other values typed."""
        item: Item = {"id": {"S": item_id}}
        for attribute, value in attributes.items():
            item[attribute] = value if isinstance(value, dict) else {"N": str(value)}
        self.store.write(lambda transaction: put_item(transaction, name, item))

    def put_many(self, ids: Iterator[str], name: str = "t") -> None:
        def work(transaction: Transaction) -> None:
            for item_id in ids:
                put_item(transaction, name, {"id": {"S": item_id}})

        self.store.write(work)

    def delete(self, item_id: str, name: str = "t") -> None:
        def work(transaction: Transaction) -> None:
            table = _named(transaction, name)
            key = table.key_of({"id": {"S": item_id}})
            transaction.apply(Change(table, key, transaction.get(table, key), None, transaction.now_us))

        self.store.write(work)

    def ids(self, name: str = "t") -> list[str]:
        """Return the ids of the items that are there, sorted."""
        sql = f"SELECT json_extract(CAST(item AS TEXT), '$.id.S') FROM item_{self.table(name).id}"
        return sorted(row[0] for row in self.rows(sql))

    # --- what follows from them ----------------------------------------------------------------

    def rows(self, sql: str, *values: Any) -> list[Any]:
        return self.read(lambda execute: execute(sql, values).fetchall())

    def read(self, work: Callable[[Execute], T]) -> T:
        return self.store.read(lambda execute, catalog: work(execute))

    def execute(self, sql: str, *values: Any) -> None:
        def work(transaction: Transaction) -> None:
            transaction.is_dirty = True
            transaction.execute(sql, values).fetchall()

        self.store.write(work)

    def log(self, name: str = "t") -> list[Entry]:
        return self.log_of(self.table(name).id)

    def log_of(self, table_id: int) -> list[Entry]:
        return self.read(lambda execute: list(entries_after(execute, table_id, after=0, rows_max=100_000)))

    def seqs(self, name: str = "t") -> list[int]:
        return [entry.seq for entry in self.log(name)]

    def streams(self) -> list[Stream]:
        return self.read(lambda execute: select_streams(execute))

    def shards(self, stream: Stream | None = None) -> list[Shard]:
        """Return the shards of a stream; of the only one, if none is given."""
        if stream is None:
            (stream,) = self.streams()
        stream_id = stream.id
        return self.read(lambda execute: select_shards(execute, stream_id))

    def expiries(self, name: str = "t") -> list[tuple[int, str]]:
        """Return the items of a table in the order of their expiry, each with its time."""
        table = self.table(name)
        assert table.expiry is not None
        return [
            (expires, item_id)
            for expires, item_id in self.rows(
                f"SELECT expires, json_extract(CAST(t.item AS TEXT), '$.id.S') FROM expiry_{table.expiry.id} e"
                f" LEFT JOIN item_{table.id} t ON t.id = e.item ORDER BY expires, 2"
            )
        ]


def _changed(transaction: Transaction, table: TableDefinition, settings: dict[str, Any]) -> TableDefinition:
    now_us = transaction.now_us
    for name, value in settings.items():
        if name == "stream":
            view = StreamDefinition(view="NEW_AND_OLD_IMAGES", created_us=now_us) if value else None
            label_us = (
                next_label_us(transaction.execute, table.name, now_us) if value else table.stream_label_us
            )
            table = replace(table, stream=view, stream_label_us=label_us)
        elif name == "recovery_days":
            since_us = settings.get("recovery_since_us", now_us)
            table = replace(
                table, recovery=RecoveryDefinition(days=value, since_us=since_us) if value else None
            )
        elif name == "ttl":
            ttl = TtlDefinition(id=transaction.new_id(), attribute=value, is_ready=False) if value else None
            table = replace(table, ttl=ttl, ttl_changed_us=now_us)
    return table


def _named(transaction: Transaction, name: str) -> Table:
    table = transaction.catalog.named(name)
    assert table is not None
    return table


def put_item(transaction: Transaction, name: str, item: Item) -> None:
    """Put an item in a transaction."""
    table = _named(transaction, name)
    key = table.key_of(item)
    image = Image.of(item, item_bytes(item))
    transaction.apply(Change(table, key, transaction.get(table, key), image, transaction.now_us))


@contextmanager
def opened(path: Path | str, clock: ManualClock | None = None, **settings: Any) -> Iterator[Logged]:
    """Open a store; it is checked when the test is done with it."""
    clock = clock or ManualClock()
    store = Store(Location(str(path), "relaxed"), clock, **settings)
    try:
        yield Logged(store, clock)
        assert store.read(lambda execute, catalog: check_connection(execute)) == []
    finally:
        store.close()
