"""Making backups of tables while writers go on: each is copied from a snapshot of the file.

A database in memory has one connection, so there a table is copied while writers wait.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Protocol, TypeVar

import apsw

from singletable import errors, limits
from singletable.clock import SteadyTime
from singletable.errors.base import sentence_of
from singletable.storage.backups.files import COPY, BackupWriter
from singletable.storage.backups.folder import BackupFolder, BackupKey, BackupRecord, Origin
from singletable.storage.backups.workers import BackupWorkers, Copiers, GivenUpError
from singletable.storage.catalog import Catalog, Execute, load_catalog
from singletable.storage.definitions import TableDefinition
from singletable.storage.file import failures
from singletable.storage.file.connections import ReadConnection
from singletable.storage.reading import select_counts

T = TypeVar("T")

_log = logging.getLogger("singletable.backups")


class Connecting(Protocol):
    """The part of the store that makers of backups need."""

    def take_reader(self) -> ReadConnection | None:
        """Return a connection that is used for nothing else; None where there is only one for all."""
        ...

    def end_reader(self, reader: ReadConnection) -> None: ...

    def hold_together(self, readers: Sequence[ReadConnection]) -> None:
        """Begin a snapshot on each connection: the same state of the file for all."""
        ...

    def read(self, work: Callable[[Execute, Catalog], T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class WantedBackup:
    """A backup that is to be made."""

    key: BackupKey
    name: str
    created_us: int
    _: KW_ONLY
    origin: Origin = "request"
    expires_us: int | None = None


class _Making:
    """One backup under way. After any failure, `close` removes all of it."""

    def __init__(
        self, folder: BackupFolder, database: Connecting, copiers: Copiers, wanted: WantedBackup
    ) -> None:
        self.key = wanted.key
        self._folder = folder
        self._database = database
        self._copiers = copiers
        self._wanted = wanted
        self._stack = ExitStack()
        with ExitStack() as stack:
            self._writer = BackupWriter(stack.enter_context(folder.making(wanted.key)), folder.key)
            stack.callback(self._writer.close)
            self._stack = stack.pop_all()
        self._reader: ReadConnection | None = None
        self.record: BackupRecord

    @property
    def is_connected(self) -> bool:
        return self._reader is not None

    def attach(self) -> ReadConnection | None:
        """Take a connection that writes to the new file, and will read the table from its snapshot."""
        self._copiers.begin()
        try:
            self._reader = self._database.take_reader()
        finally:
            if self._reader is None:
                self._copiers.end()
        if self._reader is not None:
            self._reader.execute("PRAGMA query_only = OFF").fetchall()
            self._writer.attach(self._reader.execute)
        return self._reader

    def load_catalog(self) -> Catalog:
        """Return the catalog of the connection's snapshot."""
        assert self._reader is not None
        return load_catalog(self._reader.execute)

    def look(self, catalog: Catalog) -> BackupRecord:
        """Read the definition and the counts of the table, now that the connection has its snapshot."""
        assert self._reader is not None
        return self._found(self._reader.execute, catalog)

    def copy(self) -> None:
        """Copy the table, and let go of the database."""
        assert self._reader is not None
        self._reader.end_when(self._copiers.must_end)
        try:
            self._writer.fill(self._reader.execute, self.record.definition)
        except errors.SingleTableError as error:
            if isinstance(error.__cause__, apsw.InterruptError):
                raise GivenUpError from None
            raise
        finally:
            self._let_go()

    def copy_all_at_once(self, execute: Execute, catalog: Catalog) -> None:
        """Copy the table through a connection that writers wait for."""
        self._writer.attach(execute)
        try:
            execute("BEGIN").fetchall()
            self._found(execute, catalog)
            self._writer.fill(execute, self.record.definition)
        finally:
            with contextlib.suppress(apsw.SQLError):
                execute("ROLLBACK").fetchall()  # of one that has failed
            execute(f"DETACH {COPY}").fetchall()

    def verify(self, must_end: Callable[[], bool]) -> None:
        """Compare the file on the disk with the pages that were written."""

        def progress(done: int, total: int) -> None:
            if must_end():
                raise GivenUpError

        sha256 = self._writer.verify(progress)
        self.record = replace(self.record, sha256=sha256, file_bytes=_size(self._writer.path))
        self._writer.close()

    def publish(self) -> BackupRecord:
        """Let the backup exist."""
        with self._stack:
            self._folder.publish(self.record)
        return self.record

    def close(self) -> None:
        self._let_go()
        self._stack.close()

    def _found(self, execute: Execute, catalog: Catalog) -> BackupRecord:
        wanted = self._wanted
        definition = _backed_up(catalog, wanted)
        counts = select_counts(execute, definition.id)
        self.record = BackupRecord(
            id=wanted.key.id,
            name=wanted.name,
            origin=wanted.origin,
            created_us=wanted.created_us,
            expires_us=wanted.expires_us,
            definition=definition,
            items=counts.items,
            item_bytes=counts.item_bytes,
        )
        return self.record

    def _let_go(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            try:
                self._database.end_reader(reader)
            finally:
                self._copiers.end()


def _size(path: str) -> int:
    with open(path, "rb") as file:
        return file.seek(0, 2)


def _backed_up(catalog: Catalog, wanted: WantedBackup) -> TableDefinition:
    table = catalog.named(wanted.key.table)
    # One that is being restored is not there yet (ack-api-quirks, DDB-TABLE-217).
    if table is None or table.definition.is_restoring:
        raise errors.TableNotFoundError(f"Table not found: {wanted.key.table}")
    return table.definition


class Backups:
    """The backups of a database: those in its folder, and those that are being made here."""

    def __init__(
        self, folder: BackupFolder, database: Connecting, workers: BackupWorkers, steady: SteadyTime
    ) -> None:
        self.folder = folder
        self.steady = steady
        self._database = database
        self._workers = workers
        self._copiers = Copiers(workers.stopping)
        self._changing = threading.Lock()
        self._running: dict[BackupKey, BackupRecord] = {}

    # --- looking --------------------------------------------------------------------------------

    def existing(self, table: str | None = None) -> list[BackupKey]:
        """Return the backups of a table or of all, with those that are being made here; the oldest first."""
        running = [key for key in self._running_keys() if table in (None, key.table)]
        return sorted({*self.folder.existing(table), *running})

    def find(self, key: BackupKey) -> BackupRecord | None:
        """Return a backup, also one that is being made here."""
        with self._changing:
            running = self._running.get(key)
        return running or self.folder.read(key)

    def is_running(self, key: BackupKey) -> bool:
        return key in self._running_keys()

    def _running_keys(self) -> list[BackupKey]:
        with self._changing:
            return list(self._running)

    def clean(self) -> None:
        """Remove the leftovers of interrupted makers. An unreadable folder is an error only for `make`."""
        with contextlib.suppress(errors.DatabaseError):
            self.folder.clean(self.steady.now_us())

    # --- making -----------------------------------------------------------------------------------

    def make(self, wanted: Sequence[WantedBackup], *, wait: bool = False) -> list[BackupRecord]:
        """Back up tables as they are at one moment, now. Large ones are copied in a thread, unless `wait`.

        The records of large ones say that they are still being made. When one backup cannot be begun, none is
        made. When one cannot be copied, the others are, and its error is raised. After a fork, the copies begin
        anew at a later moment.
        """
        self.clean()
        while True:
            self._copiers.wait_to_begin()
            try:
                return self._make(wanted, wait=wait)
            except GivenUpError:
                wanted = self._of_now(wanted)

    def _of_now(self, wanted: Sequence[WantedBackup]) -> list[WantedBackup]:
        """Return the backups to make after a fork: with the ids that were announced, but of this moment."""
        now_us = self.steady.now_us() // 1000 * 1000
        return [replace(one, created_us=max(now_us, one.created_us)) for one in wanted]

    def _make(self, wanted: Sequence[WantedBackup], *, wait: bool) -> list[BackupRecord]:
        with ExitStack() as stack:
            making: list[_Making] = []
            for one in wanted:
                making.append(_Making(self.folder, self._database, self._copiers, one))
                stack.callback(making[-1].close)
            readers = _attach(making)
            if readers is None:
                self._database.read(lambda execute, catalog: _copy_all(making, execute, catalog))
                return self._finish(making, are_copied=True)
            self._database.hold_together(readers)
            records = _translated(lambda: _look(making))
            if wait or sum(record.item_bytes for record in records) <= limits.SMALL_BACKUP_BYTES:
                return self._finish(making)
            self._run(records)
            stack.callback(self._run_no_more, records)
            if not self._workers.start(f"backup-{wanted[0].key.id}", lambda: self._work(making, wanted)):
                raise GivenUpError
            stack.pop_all()
        return records

    def _finish(self, making: Sequence[_Making], *, are_copied: bool = False) -> list[BackupRecord]:
        """Copy the tables, verify the copies, and then publish all backups.

        They are published last, so that a fork never leaves backups of two moments. If several fail, the first
        error is raised.
        """
        done: list[_Making] = []
        records: list[BackupRecord] = []
        failed: list[errors.SingleTableError] = []
        for one in making:
            with _collected(failed):
                if not are_copied:
                    _translated(one.copy)
                one.verify(lambda: self._must_end(making))
                done.append(one)
        for one in done:
            with _collected(failed):
                records.append(one.publish())
        if failed:
            raise failed[0]
        return records

    def _must_end(self, making: Sequence[_Making]) -> bool:
        """Tell whether to stop verifying. Once no copy holds a connection any more, a fork does not stop it."""
        if any(one.is_connected for one in making):
            return self._copiers.must_end()
        return self._workers.stopping.is_set()

    # --- in a thread ------------------------------------------------------------------------------

    def _work(self, making: Sequence[_Making], wanted: Sequence[WantedBackup]) -> None:
        keys = ", ".join(f"{one.key.id} of table {one.key.table}" for one in wanted)
        try:
            self._finish_or_repeat(making, wanted)
        except errors.DatabaseClosedError:
            _log.warning("the backup %s was given up: the database was closed", keys)
        except Exception as error:
            _log.error("the backup %s was not made: %s", keys, sentence_of(error))
        finally:
            self._run_no_more(wanted)

    def _finish_or_repeat(self, making: Sequence[_Making], wanted: Sequence[WantedBackup]) -> None:
        try:
            with ExitStack() as stack:
                for one in making:
                    stack.callback(one.close)
                self._finish(making)
        except GivenUpError:
            self.make(self._of_now(wanted), wait=True)

    def _run(self, records: Sequence[BackupRecord]) -> None:
        with self._changing:
            self._running.update({record.key: record for record in records})

    def _run_no_more(self, backups: Sequence[WantedBackup | BackupRecord]) -> None:
        with self._changing:
            for one in backups:
                self._running.pop(one.key, None)

    # --- forking ----------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Let no connection copy: copies under way are given up, and begun anew after the fork."""
        self._copiers.halt()

    def after_fork(self, *, in_child: bool) -> None:
        if in_child:  # where nothing is being made; the parent's threads go on
            self._copiers = Copiers(self._workers.stopping)
            self._changing = threading.Lock()
            self._running = {}
            self.folder.leave_to_parent()
        else:
            self._copiers.go_on()


def _attach(making: Sequence[_Making]) -> list[ReadConnection] | None:
    readers: list[ReadConnection] = []
    for one in making:
        reader = one.attach()
        if reader is None:
            return None
        readers.append(reader)
    return readers


def _look(making: Sequence[_Making]) -> list[BackupRecord]:
    catalog = making[0].load_catalog()  # that of all: they keep to the same state
    return [one.look(catalog) for one in making]


def _copy_all(making: Sequence[_Making], execute: Execute, catalog: Catalog) -> None:
    for one in making:
        one.copy_all_at_once(execute, catalog)


def _translated(work: Callable[[], T]) -> T:
    try:
        return work()
    except apsw.Error as error:
        raise failures.translate(error, "the database") from error


@contextmanager
def _collected(failed: list[errors.SingleTableError]) -> Iterator[None]:
    """Collect an error, so that the other backups go on."""
    try:
        yield
    except errors.SingleTableError as error:
        failed.append(error)
