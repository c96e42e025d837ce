"""Backups as files: each is a database with one table, without a log."""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import apsw

from singletable import errors
from singletable.storage import schema
from singletable.storage.catalog import Execute, load_catalog
from singletable.storage.definitions import TableDefinition, encode_definition
from singletable.storage.file import failures
from singletable.storage.file.connections import connect_unchanging
from singletable.storage.file.durable_files import Progress, make_private_file
from singletable.storage.file.encryption import FileKey
from singletable.storage.file.formats import check_readable
from singletable.storage.file.page_copies import WrittenFile
from singletable.storage.file.page_sums import reserve_sums
from singletable.storage.images import PrimaryKey

_FORMATS: Final = (3, schema.FORMAT_VERSION)  # those of 3 have the same tables, and no sums in their pages
COPY: Final = "copy"
"""The schema name of a new backup's file in the connection that fills it."""


def require_file(path: str) -> None:
    if not os.path.isfile(path):
        raise errors.CorruptDatabaseError(
            f"the backup {path} is not there any more", hint="put the file back, or take another backup"
        )


@contextmanager
def open_backup(path: str, key: FileKey | None = None) -> Iterator[apsw.Connection]:
    """Open the file of a backup, which nobody writes to. SQLite's errors are raised as errors of ours."""
    require_file(path)
    try:
        connection = connect_unchanging(path, key)
        try:
            if check_readable(connection, path) not in _FORMATS:
                raise errors.CorruptDatabaseError(
                    f"{path} is of an older format than a backup can have", hint="take another backup"
                )
            yield connection
        finally:
            connection.close(True)
    except apsw.Error as error:
        raise failures.translate(error, path) from error


def backup_rows(
    path: str, key: FileKey | None, *, after: PrimaryKey | None
) -> Generator[tuple[bytes, bytes, int, bytes]]:
    """Yield the items (pk, sk, bytes, raw) of a backup, in the order of their keys, behind `after`."""
    with open_backup(path, key) as connection:
        (table,) = load_catalog(connection.execute)
        sql = (
            f"SELECT pk, sk, bytes, item FROM {schema.item_table(table.id)} WHERE (pk, sk) > (?, ?)"
            " ORDER BY pk, sk"
        )
        yield from connection.execute(sql, after or PrimaryKey(b"", b""))


# --- writing one --------------------------------------------------------------------------------


class BackupWriter:
    """A file that becomes the backup of one table. Errors of its disk are told by its path."""

    def __init__(self, path: str, key: FileKey | None = None) -> None:
        self._written = WrittenFile(path, key)
        self._key = key
        self.path = path

    def attach(self, execute: Execute) -> None:
        """Make the file, and show it to a connection that is in no transaction."""
        make_private_file(self.path)
        with self._told():
            self._with_file(lambda connection: None)
            address = f"file:{urllib.parse.quote(self.path)}?vfs={self._written.vfs}"
            if self._key is None:
                execute(f"ATTACH ? AS {COPY}", (address,)).fetchall()
            else:
                execute(f"ATTACH ? AS {COPY} KEY ?", (f"{address}&cipher=aegis", self._key.text)).fetchall()
            execute(
                f"PRAGMA {COPY}.journal_mode = OFF; PRAGMA {COPY}.synchronous = OFF; PRAGMA {COPY}.mmap_size = 0"
            ).fetchall()

    def fill(self, execute: Execute, definition: TableDefinition) -> None:
        """Copy a table as the transaction of that connection sees it, and end the transaction."""
        with self._told():
            self._with_file(lambda connection: connection.execute(_create(definition)).fetchall())
            names = [schema.item_table(definition.id)]
            names += [schema.index_table(index.id) for index in definition.indexes]
            for name in names:
                # Between tables of one form, SQLite copies rows without looking into them.
                execute(f"INSERT INTO {COPY}.{name} SELECT * FROM main.{name}").fetchall()
            stores = ", ".join(str(store_id) for store_id in _ids(definition))
            for register, column in (("counter", "id"), ("backfill", "index_id")):
                execute(
                    f"INSERT INTO {COPY}.{register} SELECT * FROM main.{register} WHERE {column} IN ({stores})"
                ).fetchall()
            execute(
                f"UPDATE {COPY}.meta SET value = (SELECT value FROM main.meta WHERE name = 'next_id')"
                " WHERE name = 'next_id'"
            ).fetchall()
            execute(
                f"INSERT INTO {COPY}.catalog(name, id, definition) VALUES (?, ?, ?)",
                (definition.name, definition.id, encode_definition(_bare(definition))),
            ).fetchall()
            execute("COMMIT").fetchall()

    def verify(self, progress: Progress) -> str:
        """Compare the file on the disk with the written pages; return its SHA-256. It must not be open."""
        try:
            return self._written.verify(progress)
        except OSError as error:
            raise failures.failed_files(error, self.path) from error

    def close(self) -> None:
        self._written.forget()

    def _with_file(self, work: Callable[[apsw.Connection], object]) -> None:
        connection = self._written.connect()
        try:
            if self._key is None and not os.path.getsize(self.path):
                reserve_sums(connection)
            connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN").fetchall()
            if not os.path.getsize(self.path):
                connection.execute(schema.CREATE + schema.CREATE_REGISTERS).fetchall()
            work(connection)
            connection.execute("COMMIT").fetchall()
        finally:
            connection.close(True)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            raise failures.translate(error, self.path) from error


def _create(definition: TableDefinition) -> str:
    indexes = "".join(schema.create_index_table(index.id) for index in definition.indexes)
    return schema.create_item_table(definition.id) + indexes


def _ids(definition: TableDefinition) -> list[int]:
    return [definition.id, *(index.id for index in definition.indexes)]


def _bare(definition: TableDefinition) -> TableDefinition:
    """Leave out stream, time to live, recovery and restore state: a restored table gets none of them."""
    return replace(
        definition,
        stream=None,
        stream_label_us=None,
        ttl=None,
        ttl_changed_us=None,
        recovery=None,
        restore=None,
        deleting_us=None,
    )
