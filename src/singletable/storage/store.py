"""A database file as the engine sees it: read from many threads, written by one group at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

import apsw

from singletable import errors, limits
from singletable.clock import Clock
from singletable.storage import failures, fork, schema
from singletable.storage.background import Background, has_work
from singletable.storage.catalog import Catalog, Execute, catalog_version, load_catalog
from singletable.storage.connections import Place, Reader, Readers, connect, create_file
from singletable.storage.formats import prepare
from singletable.storage.reading import snapshot
from singletable.storage.transaction import Transaction
from singletable.storage.turns import Turns

T = TypeVar("T")

# A request reads again when the catalog has changed meanwhile. So often in a row it cannot have.
_CATALOG_TRIES_MAX = 100


class _Job(Generic[T]):
    """One request's part of a write group, and what became of it."""

    __slots__ = ("error", "is_done", "result", "work")

    def __init__(self, work: Callable[[Transaction], T]) -> None:
        self.work = work
        self.result: T
        self.error: BaseException | None = None
        self.is_done = False


class Store:
    """One database. `read` and `write` take a function and run it; both are safe from any thread.

    There is one writer: whoever holds its lock carries out every request that waits, in one transaction with
    one COMMIT, so that writes that arrive together share an fsync. Readers have their own connections and
    never see uncommitted rows. A database in memory has one connection, which reads and writes take in turns.
    """

    def __init__(self, place: Place, clock: Clock) -> None:
        self.path = place.path
        self.clock = clock
        self._place = place
        self._waiting: deque[_Job[object]] = deque()
        self._writing = threading.Lock()
        self._turns = Turns()
        self._writer: apsw.Connection | None = None
        self._writer_seen = -1
        self._last_us = 0
        self._is_closed = False
        self._lost_by_fork = False
        self._readers = None if place.in_memory else Readers(place)
        self._publishing = threading.Lock()
        self.catalog = Catalog(0, {})
        self.background = Background(self.write, clock)
        self._open()
        fork.watch(self)

    # --- reading -------------------------------------------------------------------

    def read(self, work: Callable[[Execute, Catalog], T]) -> T:
        """Run `work` with a connection that reads, and the catalog that was valid for what it read.

        `work` may run twice: when another process has changed the catalog meanwhile.
        """
        if self._readers is None:
            return self._read_memory(work)
        reader: Reader | None = None
        try:
            reader = self._readers.take()
            for _ in range(_CATALOG_TRIES_MAX):
                catalog = self.catalog
                try:
                    result = work(reader.execute, catalog)
                except (errors.ApiError, apsw.SQLError):
                    # It may be wrong only because the catalog is out of date.
                    if self._is_current(reader, catalog):
                        raise
                    continue
                if reader.data_version() == reader.seen or self._is_current(reader, catalog):
                    return result
            raise apsw.CorruptError("the catalog does not come to rest")
        except apsw.Error as error:
            raise failures.translate(error, self.path) from error
        finally:
            if reader is not None:
                self._readers.give(reader)

    def _is_current(self, reader: Reader, catalog: Catalog) -> bool:
        """Tell whether a catalog is still the stored one; if not, load that."""
        version = catalog_version(reader.execute)
        seen = reader.data_version()
        if version == catalog.version:
            reader.seen = seen
            return True
        if version > self.catalog.version:
            with snapshot(reader.execute):
                self._publish(load_catalog(reader.execute))
        return False

    def _read_memory(self, work: Callable[[Execute, Catalog], T]) -> T:
        with self._writing:
            try:
                return work(self._open_writer().execute, self.catalog)
            except apsw.Error as error:
                raise failures.translate(error, self.path) from error

    # --- writing ---------------------------------------------------------------------

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in the next write transaction, and return its result when that is committed.

        An ApiError that `work` raises before it has written anything fails this request alone.
        """
        job = _Job(work)
        self._waiting.append(job)  # type: ignore[arg-type]
        with self._writing:
            while not job.is_done:
                self._write_group()
        if job.error is not None:
            raise job.error
        return job.result

    def _write_group(self) -> None:
        waiting = self._waiting
        group = [waiting.popleft()]
        while waiting and len(group) < limits.WRITE_GROUP_MAX:
            group.append(waiting.popleft())
        try:
            writer = self._open_writer()
            self._run(writer, group)
        except BaseException as error:
            self._abandon(group, error)
            if not isinstance(error, Exception):
                raise
        finally:
            for job in group:
                job.is_done = True

    def _run(self, writer: apsw.Connection, group: list[_Job[object]]) -> None:
        execute = writer.execute
        self._turns.leave_gap()
        execute("BEGIN IMMEDIATE")
        if writer.data_version() != self._writer_seen:
            self._catch_up(writer)
        transaction = Transaction(writer, self.catalog, max(self.clock.now_us(), self._last_us))
        wrote = False
        for job in group:
            transaction.is_dirty = False
            try:
                job.result = job.work(transaction)
            except apsw.Error:
                raise
            except Exception as error:
                if transaction.is_dirty:
                    raise AssertionError("a request failed after it had begun to write") from error
                job.error = error
            wrote |= transaction.is_dirty
        if not wrote:
            # Nothing was written, but what was read is answered only as committed state.
            execute("ROLLBACK")
            return
        transaction.flush_counts()
        execute("COMMIT")
        self._writer_seen = writer.data_version()
        self._last_us = transaction.now_us
        if transaction.catalog is not self.catalog:
            self._publish(transaction.catalog)

    def _catch_up(self, writer: apsw.Connection) -> None:
        """Learn what other processes have done since the last transaction of this one."""
        if catalog_version(writer.execute) != self.catalog.version:
            self._publish(load_catalog(writer.execute))
        self._last_us = max(self._last_us, next(writer.execute(schema.LAST_LOG_TIME), (0,))[0])
        self._writer_seen = writer.data_version()

    def _abandon(self, group: list[_Job[object]], error: BaseException) -> None:
        """Undo a group: every member fails, also those whose part had gone well."""
        if self._writer is not None and self._writer.in_transaction:
            try:
                self._writer.execute("ROLLBACK")
            except apsw.Error:
                self._disconnect_writer()
        for job in group:
            # Each request raises an error of its own, in its own thread.
            if isinstance(error, apsw.Error):
                job.error = failures.translate(error, self.path)
            else:
                job.error = error if isinstance(error, Exception) else failures.interrupted(self.path)

    def _publish(self, catalog: Catalog) -> None:
        """Make a newer catalog the one that requests use. One read before another's commit comes too late."""
        with self._publishing:
            if catalog.version > self.catalog.version:
                self.catalog = catalog
        if has_work(catalog):
            self.background.wake()

    # --- opening and closing -----------------------------------------------------------

    def _open(self) -> None:
        try:
            if not self._place.in_memory:
                create_file(self.path)
            # Held, because the background thread may be woken here, and waits for its turn.
            with self._writing:
                self._writer = connect(self._place, self._turns)
                prepare(self._writer, self._place)
                with self._writer:
                    self._catch_up(self._writer)
                    is_idle = next(self._writer.execute(schema.SELECT_DROPPED), None) is None
        except apsw.Error as error:
            self._disconnect_writer()
            raise failures.translate(error, self.path) from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            self._disconnect_writer()
            raise failures.not_understood(self.path) from error
        except BaseException:
            self._disconnect_writer()
            raise
        if not is_idle:
            self.background.wake()

    def _open_writer(self) -> apsw.Connection:
        if self._writer is None:
            if self._lost_by_fork:
                raise errors.ForkedDatabaseError(
                    "this in-memory database belongs to the parent process",
                    hint="open a database in the child, or use a file: a forked child can go on with that",
                )
            if self._is_closed:
                raise failures.closed(self.path)
            self._writer = connect(self._place, self._turns)
            self._writer_seen = -1
        return self._writer

    def _disconnect_writer(self) -> None:
        if self._writer is not None:
            self._writer.close(True)
            self._writer = None

    def close(self) -> None:
        """Wait for the requests under way, and close the file. Closing twice does nothing."""
        self.background.stop()
        with self._writing:
            self._is_closed = True
            if self._readers is not None:
                self._readers.close()
            self._disconnect_writer()

    # --- forking -------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Finish what is under way and disconnect: SQLite forbids to carry a connection into a child."""
        self._writing.acquire()
        if self._readers is not None:
            self._readers.pause()
            self._disconnect_writer()

    def after_fork(self, *, in_child: bool) -> None:
        """Let requests go on; each side connects anew with its next one."""
        if in_child:
            self._waiting.clear()  # of threads that exist in the parent only
            self._publishing = threading.Lock()
            self.background.forget_thread()
            if self._place.in_memory and self._writer is not None:
                fork.keep_from_closing(self._writer)
                self._writer = None
                self._lost_by_fork = True
        if self._readers is not None:
            self._readers.resume()
        self._writing.release()
