"""Making backups of tables while writers go on: each from a connection that keeps to one state of the file.

A database in memory has one connection, so there a table is copied while writers wait.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Protocol, TypeVar

import apsw

from singletable import errors, limits
from singletable.clock import Clock, SteadyTime
from singletable.storage import failures
from singletable.storage.backup_files import COPY, BackupWriter
from singletable.storage.backup_folder import BackupFolder
from singletable.storage.backup_records import BackupKey, BackupRecord, BackupType, Origin
from singletable.storage.catalog import Catalog, Execute, load_catalog
from singletable.storage.connections import Reader
from singletable.storage.definitions import TableDefinition
from singletable.storage.reading import select_counts

T = TypeVar("T")

_log = logging.getLogger("singletable.backups")


class Connecting(Protocol):
    """What the database gives to those who copy from it."""

    def take_reader(self) -> Reader | None:
        """Return a connection that is used for nothing else; None where there is only one for all."""
        ...

    def end_reader(self, reader: Reader) -> None: ...

    def hold_together(self, readers: Sequence[Reader]) -> None:
        """Let connections keep to one state of the file, the same for all."""
        ...

    def read(self, work: Callable[[Execute, Catalog], T], /) -> T: ...


class WantedBackup:
    """A backup that is to be made."""

    __slots__ = ("created_us", "expires_us", "key", "name", "origin", "type")

    def __init__(
        self,
        key: BackupKey,
        name: str,
        created_us: int,
        *,
        origin: Origin = "request",
        expires_us: int | None = None,
    ) -> None:
        self.key = key
        self.name = name
        self.created_us = created_us
        self.origin: Origin = origin
        self.type: BackupType = key.type
        self.expires_us = expires_us


class _Making:
    """One backup under way. Whatever goes wrong, `close` leaves nothing of it."""

    def __init__(self, folder: BackupFolder, database: Connecting, wanted: WantedBackup) -> None:
        self.key = wanted.key
        self._folder = folder
        self._database = database
        self._wanted = wanted
        self._stack = ExitStack()
        with ExitStack() as stack:
            self._writer = BackupWriter(stack.enter_context(folder.making(wanted.key)))
            stack.callback(self._writer.close)
            self._stack = stack.pop_all()
        self._reader: Reader | None = None
        self.record: BackupRecord

    def attach(self, reader: Reader) -> Reader:
        """Let a connection write to the new file, and read the table from where it will keep to."""
        self._reader = reader
        reader.execute("PRAGMA query_only = OFF").fetchall()
        self._writer.attach(reader.execute)
        return reader

    def look(self) -> BackupRecord:
        """Find out what is backed up, now that the connection keeps to one state."""
        assert self._reader is not None
        catalog = load_catalog(self._reader.execute)
        return self._found(self._reader.execute, catalog)

    def copy(self) -> None:
        """Copy the table, and let go of the database."""
        assert self._reader is not None
        self._writer.fill(self._reader.execute, self.record.definition)
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

    def publish(self) -> BackupRecord:
        """Verify the file, and let the backup exist."""
        with self._stack:
            path = self._folder.data_path(self.key)
            sha256 = self._writer.verify()
            self.record = replace(self.record, sha256=sha256, file_bytes=_size(path))
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
            type=wanted.type,
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
            self._database.end_reader(reader)


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

    def __init__(self, folder: BackupFolder, database: Connecting, clock: Clock) -> None:
        self.folder = folder
        self.steady = SteadyTime(clock)
        self.stopping = threading.Event()
        self._database = database
        self._changing = threading.Lock()
        self._running: dict[BackupKey, BackupRecord] = {}
        self._threads: set[threading.Thread] = set()

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
        """Remove what interrupted makers have left. A folder that cannot be read is told to whoever makes one."""
        with contextlib.suppress(errors.DatabaseError):
            self.folder.clean(self.steady.now_us())

    # --- making -----------------------------------------------------------------------------------

    def make(self, wanted: Sequence[WantedBackup], *, wait: bool = False) -> list[BackupRecord]:
        """Back up tables as they are at one moment, now. Large ones are copied in a thread, unless `wait`.

        What is returned of those says that they are not made yet. When one cannot be begun, none of them is made;
        when one cannot be copied, the others are, and it is raised.
        """
        self.clean()
        with ExitStack() as stack:
            making: list[_Making] = []
            for one in wanted:
                making.append(_Making(self.folder, self._database, one))
                stack.callback(making[-1].close)
            readers = self._attach(making)
            if readers is None:
                self._database.read(lambda execute, catalog: _copy_all(making, execute, catalog))
                return [one.publish() for one in making]
            self._database.hold_together(readers)
            records = [_translated(one.look) for one in making]
            if wait or sum(record.item_bytes for record in records) <= limits.SMALL_BACKUP_BYTES:
                return self._finish_here(making)
            with self._changing:
                self._running.update({record.key: record for record in records})
            stack.callback(self._run_no_more, records)
            self.start(lambda: self._finish_all(making))
            stack.pop_all()
        return records

    def _attach(self, making: Sequence[_Making]) -> list[Reader] | None:
        readers: list[Reader] = []
        for one in making:
            reader = self._database.take_reader()
            if reader is None:
                return None
            readers.append(one.attach(reader))
        return readers

    def _finish_here(self, making: Sequence[_Making]) -> list[BackupRecord]:
        records: list[BackupRecord] = []
        failed: errors.SingleTableError | None = None
        for one in making:
            try:
                records.append(self._finish(one))
            except errors.SingleTableError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return records

    def _finish(self, making: _Making) -> BackupRecord:
        try:
            _translated(making.copy)
            return making.publish()
        finally:
            making.close()
            self._run_no_more([making])

    def _run_no_more(self, backups: Sequence[_Making | BackupRecord]) -> None:
        with self._changing:
            for one in backups:
                self._running.pop(one.key, None)

    def _finish_all(self, making: list[_Making]) -> None:
        while making:
            one = making.pop(0)
            try:
                self._finish(one)
            except Exception as error:
                _log.error("the backup %s of table %s was not made: %s", one.key.id, one.key.table, error)

    # --- threads ------------------------------------------------------------------------------------

    def start(self, work: Callable[[], None]) -> None:
        """Do something in a thread that the end of the database waits for."""

        def run() -> None:
            try:
                work()
            finally:
                with self._changing:
                    self._threads.discard(thread)

        thread = threading.Thread(target=run, name="singletable-backup", daemon=True)
        with self._changing:  # whoever waits finds a thread that has been started
            thread.start()
            self._threads.add(thread)

    def wait(self) -> None:
        """Wait until nothing is being made here."""
        while True:
            with self._changing:
                thread = next(iter(self._threads), None)
            if thread is None or thread is threading.current_thread():
                return
            thread.join()

    def close(self) -> None:
        """Let what is being made be finished; a temporary folder goes."""
        self.stopping.set()
        self.wait()
        self.folder.close()

    def forget_threads(self) -> None:
        """In a forked child there are none; the parent's go on with the work."""
        self._changing = threading.Lock()
        self._running = {}
        self._threads = set()
        self.folder.leave_to_parent()


def _copy_all(making: Sequence[_Making], execute: Execute, catalog: Catalog) -> None:
    for one in making:
        one.copy_all_at_once(execute, catalog)


def _translated(work: Callable[[], T]) -> T:
    try:
        return work()
    except apsw.Error as error:
        raise failures.translate(error, "the database") from error
