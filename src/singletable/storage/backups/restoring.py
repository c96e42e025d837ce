"""Filling a restored table with the items of its source: a chore of the background.

The source is another table at a moment, or a backup file. Writers do not change either of them: the table at that
moment can be computed from any later state and its log, which is not trimmed meanwhile. So the items are copied in
the order of their keys, a few in each piece, and the position is stored with them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from singletable import errors, limits
from singletable.errors.base import sentence_of
from singletable.storage.backups.files import backup_rows, require_file
from singletable.storage.backups.folder import BackupRecord, read_beside
from singletable.storage.backups.workers import BackupWorkers, GivenUpError
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.changes import Change
from singletable.storage.file.durable_files import sha256_of
from singletable.storage.file.encryption import FileKey
from singletable.storage.file.failures import failed_files
from singletable.storage.images import Image, PrimaryKey
from singletable.storage.past import past_rows
from singletable.storage.tables import Table
from singletable.storage.transaction import Read, Transaction, Write
from singletable.values.sizes import item_bytes

_log = logging.getLogger("singletable.backups")

_ITEMS_A_STEP: Final = 124  # rows that are read in pieces of 4, 8, 16, 32 and 64
_FIRST_PIECE_ITEMS: Final = 4
_BYTES_A_STEP: Final = limits.MIB
_COLUMNS: Final = "table_id, source_id, at, path, pk, sk"
# The position before the first item; and the position of a backup that is not verified yet.
_BEGIN: Final = PrimaryKey(b"", b"\x01")
_UNVERIFIED: Final = PrimaryKey(b"", b"")
_IS_UNVERIFIED: Final = "path IS NOT NULL AND pk = x'' AND sk = x''"
_SELECT: Final = f"SELECT {_COLUMNS} FROM restore WHERE NOT ({_IS_UNVERIFIED}) ORDER BY table_id LIMIT 1"
_SELECT_UNVERIFIED: Final = f"SELECT table_id, path FROM restore WHERE {_IS_UNVERIFIED}"
_INSERT: Final = f"INSERT INTO restore({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_MOVE: Final = "UPDATE restore SET pk = ?, sk = ? WHERE table_id = ?"
_DELETE: Final = "DELETE FROM restore WHERE table_id = ?"

_RETRY_S: Final = 5.0


class RestoreSource(NamedTuple):
    """Where the items come from: a table of this database at a moment, or the file of a backup."""

    at_us: int
    table_id: int | None = None
    path: str | None = None
    is_verified: bool = True  # whether the file is known to be sound; if not, `mark_verified` follows


class _Restore(NamedTuple):
    table_id: int
    source_id: int | None
    at_us: int
    path: str | None
    pk: bytes
    sk: bytes

    @property
    def position(self) -> PrimaryKey | None:
        """The key of the last item that was copied."""
        return PrimaryKey(self.pk, self.sk) if self.pk else None


def save_restore(transaction: Transaction, table_id: int, source: RestoreSource) -> None:
    """Store that a new table is to be filled."""
    transaction.is_dirty = True
    position = _BEGIN if source.is_verified else _UNVERIFIED
    transaction.execute(_INSERT, (table_id, source.table_id, source.at_us, source.path, *position))


def select_unverified(execute: Execute) -> list[tuple[int, str]]:
    """Return the tables that wait until the file of their backup is verified: their ids, and the file."""
    rows: list[Any] = execute(_SELECT_UNVERIFIED).fetchall()
    return rows


def mark_verified(transaction: Transaction, table_id: int) -> None:
    """Let a table be filled from its file. Nothing happens if another process has let it."""
    if table_id in dict(select_unverified(transaction.execute)):
        transaction.is_dirty = True
        transaction.execute(_MOVE, (*_BEGIN, table_id))


def abandon(transaction: Transaction, table_id: int, error: Exception) -> None:
    """Take a table away that cannot be filled. Nothing happens if another process has done so."""
    table = transaction.catalog.with_id(table_id)
    if table is None or not table.definition.is_restoring:
        return
    _log.error("table %s was not restored: %s", table.name, sentence_of(error))
    transaction.is_dirty = True
    transaction.execute(_DELETE, (table.id,))
    transaction.delete_table(table)


def is_restored_from(execute: Execute, table_id: int) -> bool:
    """Tell whether a table is being read for a restore: its log must go on, and it must stay."""
    return next(execute("SELECT 1 FROM restore WHERE source_id = ?", (table_id,)), None) is not None


def is_backup_restored(execute: Execute, path: str) -> bool:
    """Tell whether the file of a backup is being read for a restore: it must stay."""
    return next(execute("SELECT 1 FROM restore WHERE path = ?", (path,)), None) is not None


def is_due(execute: Execute, catalog: Catalog, now_us: int) -> bool:
    """Tell whether a table is being restored, and its source is known to be sound."""
    return next(execute(_SELECT), None) is not None


def step(transaction: Transaction, now_us: int) -> bool:
    """Copy the next items of a restored table. Return whether nothing is left."""
    row = next(transaction.execute(_SELECT), None)
    if row is None:
        return True
    restore = _Restore._make(row)
    table = transaction.catalog.with_id(restore.table_id)
    assert table is not None
    try:
        images, is_end = _next_images(transaction, restore)
    except (
        errors.NotADatabaseError,
        errors.CorruptDatabaseError,
        errors.NewerFormatError,
        errors.FileKeyError,
    ) as error:
        abandon(transaction, table.id, error)  # the file is no backup any more
        return False
    for key, image in images:
        transaction.apply(Change(table, key, None, image, transaction.now_us))
    if is_end:
        _finish(transaction, table)
    else:
        transaction.execute(_MOVE, (*images[-1][0], table.id))
    return False


def _finish(transaction: Transaction, table: Table) -> None:
    transaction.is_dirty = True
    transaction.execute(_DELETE, (table.id,))
    restore = table.definition.restore
    assert restore is not None
    transaction.save(replace(table.definition, restore=replace(restore, in_progress=False)))


def _next_images(transaction: Transaction, restore: _Restore) -> tuple[list[tuple[PrimaryKey, Image]], bool]:
    """Return the next items, as many as are copied in one step, and whether there are no more."""
    images: list[tuple[PrimaryKey, Image]] = []
    read_bytes = 0
    with closing(_images(transaction, restore)) as found:
        for key, image in found:
            images.append((key, image))
            read_bytes += image.item_bytes
            if len(images) == _ITEMS_A_STEP or read_bytes >= _BYTES_A_STEP:
                return images, False
    return images, True


def _images(transaction: Transaction, restore: _Restore) -> Generator[tuple[PrimaryKey, Image]]:
    if restore.path is not None:
        for pk, sk, size, raw in backup_rows(restore.path, transaction.key, after=restore.position):
            yield PrimaryKey(pk, sk), Image(raw, size)
        return
    assert restore.source_id is not None
    source = transaction.catalog.with_id(restore.source_id)
    assert source is not None
    past = past_rows(
        transaction.execute, source, restore.at_us, after=restore.position, first_rows=_FIRST_PIECE_ITEMS
    )
    for pk, sk, raw in past:
        item = orjson.loads(raw)
        yield PrimaryKey(pk, sk), Image(raw, item_bytes(item), item)


# --- verifying the file of a backup before a table is restored from it ----------------------------


def verify_size(path: str, record: BackupRecord) -> None:
    """Raise unless the file of a backup is as long as the one that was made."""
    require_file(path)
    if os.path.getsize(path) != record.file_bytes:
        raise _damaged(path, "length")


def verify_contents(path: str, record: BackupRecord, must_end: Callable[[], bool] = lambda: False) -> None:
    """Raise unless the file of a backup is the one that was made; a GivenUpError when it has to end before."""

    def progress(done: int, total: int) -> None:
        if must_end():
            raise GivenUpError

    require_file(path)
    try:
        is_sound = sha256_of(path, progress) == record.sha256
    except OSError as error:
        raise failed_files(error, path) from error
    if not is_sound:
        raise _damaged(path, "SHA-256")


def _damaged(path: str, what: str) -> errors.CorruptDatabaseError:
    return errors.CorruptDatabaseError(
        f"the backup {path} is damaged: its {what} is not that of the file that was made",
        hint="restore another backup; `singletable check` tells what of this one can still be read",
    )


class Verifying:
    """Verifies, in threads, the backup files that restores wait for.

    A small file is verified within the request. A large file takes minutes: a thread verifies it, while the new
    table exists and is not filled yet. The result is stored; after a kill in between, the file is verified again.
    """

    def __init__(
        self,
        read: Read,
        write: Write,
        workers: BackupWorkers,
        then: Callable[[], None],
        key: FileKey | None = None,
    ) -> None:
        """Call `then` when a table can be filled."""
        self._read = read
        self._write = write
        self._workers = workers
        self._then = then
        self._key = key

    def start(self) -> None:
        """Verify all files that are not verified, each in a thread."""
        for table_id, path in self._read(lambda execute, catalog: select_unverified(execute)):
            self._workers.start(f"verify-{table_id}", partial(self._verify_in_time, table_id, path))

    def _verify_in_time(self, table_id: int, path: str) -> None:
        stopping = self._workers.stopping
        while not stopping.is_set():
            try:
                self._verify(table_id, path)
                return
            except (GivenUpError, errors.DatabaseClosedError):
                return  # the next open verifies it
            except Exception as error:  # any error: it is tried again
                _log.error("the backup %s could not be verified yet: %s", path, sentence_of(error))
            stopping.wait(_RETRY_S)

    def _verify(self, table_id: int, path: str) -> None:
        try:
            record = read_beside(path, self._key)
            if record is None:
                raise errors.CorruptDatabaseError(f"the backup {path} has no description any more")
            verify_contents(path, record, self._workers.stopping.is_set)
        except (errors.CorruptDatabaseError, errors.NewerFormatError, errors.FileKeyError) as error:
            damage = error
            self._write(lambda transaction: abandon(transaction, table_id, damage))
        else:
            self._write(lambda transaction: mark_verified(transaction, table_id))
        self._then()
