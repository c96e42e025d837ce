"""Making a file, recognising one, and bringing an older one up to date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import apsw
import orjson

from singletable import errors
from singletable.storage import schema
from singletable.storage.catalog import Execute, scalar
from singletable.storage.connections import Place
from singletable.storage.images import encode_item


def _mark_binary_items(execute: Execute) -> None:
    """Format 2 stores a space before items that hold binary values, in tables and in the log."""
    tables = [schema.item_table(row[0]) for row in execute("SELECT id FROM catalog")]
    columns = [(table, "id", "item") for table in tables]
    for table, row_id, column in (*columns, ("log", "seq", "before"), ("log", "seq", "after")):
        update = f"UPDATE {table} SET {column} = ? WHERE {row_id} = ?"
        for number, raw in execute(f"SELECT {row_id}, {column} FROM {table} WHERE {column} IS NOT NULL"):
            marked = encode_item(orjson.loads(raw))
            if marked != raw:
                execute(update, (marked, number))


# From each older format version, the step to the next. A step runs inside the transaction that upgrades.
UPGRADES: Final[Mapping[int, Callable[[Execute], None]]] = {1: _mark_binary_items}


def prepare(connection: apsw.Connection, place: Place) -> None:
    """Make the database if the file is empty, upgrade it if it is old, refuse it if it is not ours."""
    if connection.readonly("main"):
        raise errors.ReadOnlyDatabaseError(
            f"{place.path} cannot be written", hint="check the permissions of the file and of its directory"
        )
    if _is_current(connection, place):
        return
    if not place.in_memory:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _is_current(connection, place):  # another process may have been faster
            _create_or_upgrade(connection.execute)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def format_version(execute: Execute) -> int:
    return int(scalar(execute("PRAGMA user_version")))


def check_recognised(execute: Execute, path: str) -> None:
    """Raise unless the file is empty or a singletable database of a format that this release knows."""
    application = scalar(execute("PRAGMA application_id"))
    version = format_version(execute)
    is_empty = not scalar(execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema)"))
    if application != schema.APPLICATION_ID and not (is_empty and application == version == 0):
        raise errors.NotADatabaseError(
            f"{path} is an SQLite database, but not one of singletable",
            hint="give the path of a database made by singletable, or of a file that does not exist yet",
        )
    if version > schema.FORMAT_VERSION:
        raise errors.NewerFormatError(
            f"{path} has format {version}; this release reads formats up to {schema.FORMAT_VERSION}",
            hint="upgrade singletable: pip install --upgrade singletable",
        )


def _is_current(connection: apsw.Connection, place: Place) -> bool:
    check_recognised(connection.execute, place.path)
    return format_version(connection.execute) == schema.FORMAT_VERSION


def _create_or_upgrade(execute: Execute) -> None:
    version = format_version(execute)
    if version == 0:
        execute(schema.CREATE).fetchall()
        return
    while version < schema.FORMAT_VERSION:
        UPGRADES[version](execute)
        version += 1
        execute(f"PRAGMA user_version = {version}").fetchall()
