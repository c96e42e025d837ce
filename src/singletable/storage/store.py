"""A database file as the engine sees it: read from many threads, written by one group at a time."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import apsw

from singletable import errors, limits
from singletable.clock import Clock, ManualClock
from singletable.storage import failures, fork, reclaiming
from singletable.storage.background import Background, has_chores
from singletable.storage.backup_folder import BackupFolder
from singletable.storage.backup_making import Backups
from singletable.storage.catalog import Catalog, Execute, catalog_version, load_catalog
from singletable.storage.connections import Place, Reader, Readers, connect, create_file
from singletable.storage.formats import check_not_upgraded, prepare
from singletable.storage.log import select_logs
from singletable.storage.propagation import Propagation
from singletable.storage.reading import (
    PartitionRange,
    Rows,
    SegmentRange,
    select_item,
    select_rows,
    snapshot,
)
from singletable.storage.times import newest_known_us
from singletable.storage.transaction import PostponedError, Transaction
from singletable.storage.turns import Turns

T = TypeVar("T")

_log = logging.getLogger("singletable.storage")

# A request reads again when the catalog has changed meanwhile. So often in a row it cannot have.
_CATALOG_TRIES_MAX = 100


class Written(Generic[T]):
    """One request's part of a write group, and what became of it."""

    __slots__ = ("error", "is_done", "is_postponed", "result", "work")

    def __init__(self, work: Callable[[Transaction], T]) -> None:
        self.work = work
        self.result: T
        self.error: Exception | None = None
        self.is_done = False
        self.is_postponed = False  # it is to be run by somebody who can wait for it

    def fail(self, error: Exception) -> None:
        self.error = error
        self.is_done = True

    def get(self) -> T:
        """Return the result of a request that is done, or raise what it failed with."""
        if self.error is not None:
            try:
                raise self.error
            finally:
                self.error = (
                    None  # which knows this frame, and so this object: nothing is to wait for a collection
                )
        return self.result


class OpenGroup(Generic[T]):
    """Requests that were carried out, and are not committed yet."""

    __slots__ = ("jobs", "left_out", "transaction")

    def __init__(self, jobs: list[Written[T]]) -> None:
        self.jobs = jobs
        self.left_out: list[int] = []  # the positions of those that were not carried out: they read too much
        self.transaction: Transaction | None = None  # None: there is nothing to commit, or it has failed

    def leave_out_postponed(self) -> None:
        self.left_out = [position for position, job in enumerate(self.jobs) if job.is_postponed]
        if self.left_out:
            self.jobs = [job for job in self.jobs if not job.is_postponed]


class _JobFailedError(Exception):
    """A request failed by itself after it had begun to write: its group is undone, and tried without it."""

    def __init__(self, job: Written[Any], error: Exception) -> None:
        super().__init__()
        self.job = job
        self.error = error


class Store:
    """One database. `read` and `write` take a function and run it; both are safe from any thread.

    There is one writer: whoever holds its lock carries out every request that waits, in one transaction with
    one COMMIT, so that writes that arrive together share an fsync. Readers have their own connections and
    never see uncommitted rows. A database in memory has one connection, which reads and writes take in turns.
    """

    def __init__(
        self,
        place: Place,
        clock: Clock,
        *,
        index_delay_us: int = 0,
        sweep_s: float | None = 1.0,
        on_expired: Callable[[str, int], None] | None = None,
    ) -> None:
        self.path = place.path
        self.clock = clock
        self.propagation = Propagation(delay_us=index_delay_us, clock=clock) if index_delay_us else None
        self.select_item = select_item
        self._place = place
        self._waiting: deque[Written[Any]] = deque()
        self._writing = threading.Lock()
        self._turns = Turns()
        self._writer: apsw.Connection | None = None
        self._writer_seen = -1
        self._is_committing = False
        self._last_us = 0
        self._is_closed = False
        self._lost_by_fork = False
        self._readers = None if place.in_memory else Readers(place)
        self._publishing = threading.Lock()
        self._listeners: tuple[Callable[[], None], ...] = ()
        self.catalog = Catalog(0, {})
        self._on_expired = on_expired
        self.background = Background(self.read, self.write, clock, sweep_s=sweep_s)
        self.backups = Backups(BackupFolder(place.backups), self, clock)
        self._open()
        self.backups.clean()
        fork.watch(self)
        if isinstance(clock, ManualClock):
            clock.follow(self.background)

    # --- reading -------------------------------------------------------------------

    def read(self, work: Callable[[Execute, Catalog], T]) -> T:
        """Run `work` with a connection that reads, and the catalog that was valid for what it read.

        `work` may run twice: when another process has changed the catalog meanwhile.
        """
        if self._readers is None:
            return self._read_memory(work)
        try:
            reader = self._readers.take()
            try:
                result = self._read(reader, work)
            except Exception:
                self._readers.give(reader)
                raise
            # After an interrupt (no Exception) the reader may be in the middle of something: it is not kept.
            self._readers.give(reader)
            return result
        except apsw.Error as error:
            raise failures.translate(error, self.path) from error

    def select_rows(self, execute: Execute, wanted: PartitionRange | SegmentRange) -> Rows:
        """Return the items of a range; of a global index, as it is with its delay."""
        lagging = self.propagation
        return select_rows(execute, wanted) if lagging is None else lagging.select(execute, wanted)

    def read_catalog(self, work: Callable[[Catalog], T]) -> T:
        """Run `work` with the catalog, as it is stored now."""

        def read(execute: Execute, catalog: Catalog) -> T:
            catalog_version(execute)  # only after a read does a connection know of changes by others
            return work(catalog)

        return self.read(read)

    def catalog_now(self) -> Catalog:
        """Return the catalog as it is stored now."""
        return self.read_catalog(lambda catalog: catalog)

    def _read(self, reader: Reader, work: Callable[[Execute, Catalog], T]) -> T:
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

    def _is_current(self, reader: Reader, catalog: Catalog) -> bool:
        """Tell whether a catalog is still the stored one; if not, load that."""
        version = self._stored_version(reader.execute)
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
            finally:
                self._roll_back()  # of a snapshot that an interrupt left open

    # --- copying -----------------------------------------------------------------------

    def take_reader(self) -> Reader | None:
        """Return a connection that is used for nothing else; None in memory, where there is only one for all."""
        if self._readers is None:
            return None
        try:
            return self._readers.take()
        except apsw.Error as error:
            raise failures.translate(error, self.path) from error

    def end_reader(self, reader: Reader) -> None:
        """Close a connection that `take_reader` has returned."""
        if self._readers is not None:
            self._readers.forget(reader)

    def hold_together(self, readers: Sequence[Reader]) -> None:
        """Let connections keep to one state of the file, the same for all: nobody commits meanwhile."""

        def work(transaction: Transaction) -> None:
            for reader in readers:
                reader.hold()

        self.write(work)

    # --- writing ---------------------------------------------------------------------

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in the next write transaction, and return its result when that is committed.

        `work` plans first and writes then. What it raises fails this request alone. It may run again, when
        another request of its group has failed in the middle of writing.
        """
        return self.write_together((work,))[0].get()

    def write_together(self, works: Sequence[Callable[[Transaction], T]]) -> list[Written[T]]:
        """Run several requests, which share transactions as far as they fit; return them when all are done."""
        jobs = [Written(work) for work in works]
        try:
            self._waiting.extend(jobs)
            with self._writing:
                while not all(job.is_done for job in jobs):
                    self._write_group()
        except BaseException:
            for job in jobs:
                job.is_done = True  # interrupted: nobody waits for it any more
            raise
        return jobs

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each COMMIT of this process that has logged a change. It must not wait."""
        with self._publishing:
            self._listeners = (*self._listeners, listener)

    def listen_no_more(self, listener: Callable[[], None]) -> None:
        with self._publishing:
            self._listeners = tuple(known for known in self._listeners if known != listener)

    # --- writing in two steps, for a caller that must not wait for the disk -------------------------

    def apply_together(self, works: Sequence[Callable[[Transaction], T]]) -> OpenGroup[T] | None:
        """Run requests in one transaction, and leave it open for `commit_together`, which waits for the disk.

        Nobody else writes until then, so that must follow in any case. Requests that read much are left out.
        None: it would have to wait, for another thread or process; nothing is done then.
        """
        if self._turns.is_contended() or not self._writing.acquire(blocking=False):
            return None
        try:
            with self._turns.impatient():
                writer = self._begin()
        except Exception:
            self._writing.release()
            return None  # who has the time to wait learns what is wrong
        group = OpenGroup([Written(work) for work in works])
        try:
            group.transaction = self._attempt(
                group.jobs, lambda: self._apply(writer, group.jobs, room=limits.SHORT_TRANSACTION_BYTES)
            )
        except BaseException:
            self._writing.release()
            raise
        group.leave_out_postponed()
        return group

    def commit_together(self, group: OpenGroup[T]) -> list[Written[T]]:
        """Commit what `apply_together` has left open; return its requests, which are all done then."""
        try:
            transaction = group.transaction
            if transaction is not None:
                self._attempt(group.jobs, lambda: self._commit(transaction, group.jobs))
            self._waiting.extend([job for job in group.jobs if not job.is_done])
            while not all(job.is_done for job in group.jobs):
                self._write_group()
        except BaseException:
            for job in group.jobs:
                job.is_done = True  # interrupted: nobody waits for it any more
            raise
        finally:
            self._writing.release()
        return group.jobs

    # --- one transaction ------------------------------------------------------------------------

    def _write_group(self) -> None:
        """Carry out the requests that wait, in one transaction. Each is done afterwards, or waits on."""
        waiting = self._waiting
        while waiting and waiting[0].is_done:
            waiting.popleft()
        group = [job for job in list(waiting)[: limits.WRITE_GROUP_MAX] if not job.is_done]
        transaction = self._attempt(group, lambda: self._apply(self._begin(), group))
        if transaction is not None:
            self._attempt(group, lambda: self._commit(transaction, group))
        while waiting and waiting[0].is_done:
            waiting.popleft()  # so that nothing holds on to requests that have been answered

    def _attempt(self, group: Sequence[Written[Any]], step: Callable[[], T]) -> T | None:
        """Do one step of a transaction. If it fails, nothing of the transaction stays; who is done knows why."""
        self._is_committing = False
        try:
            return step()
        except apsw.Error as error:
            self._roll_back()
            for job in group:
                job.fail(failures.translate(error, self.path))
        except _JobFailedError as failed:
            self._roll_back()
            failed.job.fail(failed.error)
        except Exception as error:
            self._roll_back()
            for job in group:
                job.fail(error)
        except BaseException:
            # Interrupted. The transaction is over only if its COMMIT has returned.
            if self._is_committing and self._writer is not None and not self._writer.in_transaction:
                _finish(group)
            else:
                self._roll_back()
            raise
        return None

    def _begin(self) -> apsw.Connection:
        writer = self._open_writer()
        self._turns.leave_gap()
        writer.execute("BEGIN IMMEDIATE")
        return writer

    def _apply(
        self, writer: apsw.Connection, group: Sequence[Written[Any]], *, room: int | None = None
    ) -> Transaction | None:
        """Run requests in a transaction that has begun. None if there is nothing to commit: all are done.

        Who reads more than there is `room` for is postponed: neither done, nor failed.
        """
        if writer.data_version() != self._writer_seen:
            self._catch_up(writer)
        clock_us, last_us = self.clock.now_us(), self._last_us
        # Behind a clock that was put back, each transaction has a time of its own all the same.
        now_us = clock_us if clock_us >= last_us else last_us + 1
        transaction = Transaction(writer, self.catalog, now_us, clock_us)
        if self.propagation is not None:
            transaction.changes = []
        transaction.room = room
        wrote = False
        for job in group:
            transaction.is_dirty = False
            job.error = None
            try:
                job.result = job.work(transaction)
            except apsw.Error:
                raise
            except PostponedError:
                job.is_postponed = True
            except Exception as error:
                if transaction.is_dirty:
                    raise _JobFailedError(job, error) from error
                job.error = error
            wrote |= transaction.is_dirty
        if not wrote:
            # Nothing was written, but what was read is answered only as committed state.
            writer.execute("ROLLBACK")
            _finish(group)
            return None
        transaction.flush_counts()
        return transaction

    def _commit(self, transaction: Transaction, group: Sequence[Written[Any]]) -> None:
        writer = transaction.connection
        self._is_committing = True
        if self.propagation is None or not transaction.changes:
            writer.execute("COMMIT")
        else:
            with self.propagation.committing(transaction.changes):
                writer.execute("COMMIT")
        _finish(group)
        self._writer_seen = writer.data_version()
        self._last_us = transaction.now_us
        if transaction.catalog is not self.catalog:
            self._publish(transaction.catalog)
        if transaction.expired or transaction.has_logged:
            self._tell(transaction)

    def _tell(self, transaction: Transaction) -> None:
        """Tell what was committed. Nobody who is told can undo it: what they raise fails no request."""
        try:
            if self._on_expired is not None:
                for table, items in transaction.expired.items():
                    self._on_expired(table, items)
            if transaction.has_logged:
                for listener in self._listeners:
                    listener()
        except Exception:
            _log.exception("%s: somebody could not be told of a change", self.path)

    def _stored_version(self, execute: Execute) -> int:
        """Return the version of the stored catalog, unless a newer release has changed the file's format."""
        check_not_upgraded(execute, self.path)
        return catalog_version(execute)

    def _catch_up(self, writer: apsw.Connection) -> None:
        """Learn what other processes have done since the last transaction of this one."""
        if self._stored_version(writer.execute) != self.catalog.version:
            self._publish(load_catalog(writer.execute))
        self._last_us = max(self._last_us, newest_known_us(writer.execute, self.catalog))
        self._writer_seen = writer.data_version()

    def _roll_back(self) -> None:
        if self._writer is not None and self._writer.in_transaction:
            try:
                self._writer.execute("ROLLBACK")
            except apsw.Error:
                self._disconnect_writer()

    def _publish(self, catalog: Catalog) -> None:
        """Make a newer catalog the one that requests use. One read before another's commit comes too late."""
        with self._publishing:
            if catalog.version > self.catalog.version:
                self.catalog = catalog
        if has_chores(catalog):
            self.background.wake()

    # --- opening and closing -----------------------------------------------------------

    def _open(self) -> None:
        try:
            if not self._place.in_memory:
                create_file(self.path)
            # Held, because the background thread may be woken here, and waits for its turn.
            with self._writing:
                self._writer = connect(self._place, self._turns)
                prepare(self._writer, self._place, self.clock.now_us())
                with self._writer:
                    self._catch_up(self._writer)
                    is_idle = self._is_idle(self._writer.execute)
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

    def _is_idle(self, execute: Execute) -> bool:
        """Tell whether nothing is left to do, also of tables that are deleted."""
        is_reclaimed = not reclaiming.is_due(execute, self.catalog, 0)
        return is_reclaimed and not has_chores(self.catalog) and not select_logs(execute)

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
            if has_chores(self.catalog):
                self.background.wake()  # in a forked child there is no thread yet, and its parent may end
        return self._writer

    def _disconnect_writer(self) -> None:
        if self._writer is not None:
            self._writer.close(True)
            self._writer = None

    def close(self) -> None:
        """Wait for the requests under way, and close the file. Closing twice does nothing."""
        self.backups.close()
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
            self._listeners = ()
            self.background.forget_thread()
            self.backups.forget_threads()
            if self._place.in_memory and self._writer is not None:
                fork.keep_from_closing(self._writer)
                self._writer = None
                self._lost_by_fork = True
        if self._readers is not None:
            self._readers.resume()
        self._writing.release()


def _finish(group: Sequence[Written[Any]]) -> None:
    for job in group:
        job.is_done = not job.is_postponed
