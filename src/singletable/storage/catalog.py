"""The tables of a database at one moment. Immutable: a change of a table makes a new catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import apsw

from singletable.storage import schema
from singletable.storage.definitions import TableDefinition, decode_definition
from singletable.storage.tables import Table

Execute = Callable[..., apsw.Cursor]


class Catalog:
    """The tables by name, and the version of the stored catalog that they were read from."""

    __slots__ = ("_by_id", "_ready", "_tables", "version")

    def __init__(self, version: int, tables: dict[str, Table]) -> None:
        self.version = version
        self._tables = tables
        self._ready = {name: table for name, table in tables.items() if table.definition.is_ready}
        self._by_id = {table.id: table for table in tables.values()}

    def get(self, name: str) -> Table | None:
        """Return a table that can be read and written."""
        return self._ready.get(name)

    def named(self, name: str) -> Table | None:
        """Return a table, also one that is still being restored."""
        return self._tables.get(name)

    def with_id(self, table_id: int) -> Table | None:
        return self._by_id.get(table_id)

    def __iter__(self) -> Iterator[Table]:
        return iter(self._tables.values())

    def names(self) -> list[str]:
        """Return the names of all tables, sorted."""
        return sorted(self._tables)

    def with_table(self, version: int, definition: TableDefinition) -> Catalog:
        return Catalog(version, {**self._tables, definition.name: Table(definition)})

    def without_table(self, version: int, name: str) -> Catalog:
        return Catalog(version, {key: table for key, table in self._tables.items() if key != name})


def load_catalog(execute: Execute) -> Catalog:
    """Read the catalog as it is stored. Call it inside a transaction: it takes two statements."""
    version = catalog_version(execute)
    definitions = (decode_definition(row[0]) for row in execute(schema.SELECT_CATALOG))
    return Catalog(version, {definition.name: Table(definition) for definition in definitions})


def catalog_version(execute: Execute) -> int:
    return int(scalar(execute(schema.CATALOG_VERSION)))


def scalar(cursor: apsw.Cursor) -> Any:
    """Return the first column of a statement's only row."""
    return cursor.fetchall()[0][0]
