"""Verifying the file of a backup before a table is restored from it.

A small one is verified within the request. To read a large one takes minutes: it is done in a thread, while the
table is there and is not filled yet. That it was done is stored; after a kill it is done again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol, TypeVar

from singletable import errors
from singletable.errors.base import sentence_of
from singletable.storage.backup_files import require_file
from singletable.storage.backup_folder import read_beside
from singletable.storage.backup_records import BackupRecord
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.durable_files import sha256_of
from singletable.storage.failures import failed_files
from singletable.storage.giving_up import GivenUpError
from singletable.storage.restoring import abandon, mark_verified, select_unverified
from singletable.storage.transaction import Transaction
from singletable.storage.workers import Workers

_RETRY_S: Final = 5.0

T = TypeVar("T")

_log = logging.getLogger("singletable.backups")


class Read(Protocol):
    def __call__(self, work: Callable[[Execute, Catalog], T], /) -> T: ...


class Write(Protocol):
    def __call__(self, work: Callable[[Transaction], T], /) -> T: ...


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
    """Verifies in threads what restores wait for."""

    def __init__(self, read: Read, write: Write, workers: Workers, then: Callable[[], None]) -> None:
        """Call `then` when a table can be filled."""
        self._read = read
        self._write = write
        self._workers = workers
        self._then = then

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
            except Exception as error:  # whatever it is, it is tried again
                _log.error("the backup %s could not be verified yet: %s", path, sentence_of(error))
            stopping.wait(_RETRY_S)

    def _verify(self, table_id: int, path: str) -> None:
        try:
            record = read_beside(path)
            if record is None:
                raise errors.CorruptDatabaseError(f"the backup {path} has no description any more")
            verify_contents(path, record, self._workers.stopping.is_set)
        except (errors.CorruptDatabaseError, errors.NewerFormatError) as error:
            damage = error
            self._write(lambda transaction: abandon(transaction, table_id, damage))
        else:
            self._write(lambda transaction: mark_verified(transaction, table_id))
        self._then()
