"""A database file as the engine sees it: read from many threads, written by one group at a time."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from secrets import randbits
from typing import Any, TypeVar

import apsw

from singletable import errors, limits
from singletable.clock import Clock, ManualClock, SteadyTime
from singletable.storage import failures, fork, reclaiming
from singletable.storage.background import Background, has_chores
from singletable.storage.backup_folder import BackupFolder
from singletable.storage.backup_making import Backups
from singletable.storage.catalog import Catalog, Execute, catalog_version, load_catalog
from singletable.storage.clock_doubt import (
    TRUSTED_EVERY_US,
    ClockDoubt,
    confirm_trusted,
    find_doubt,
    note_trusted,
    trusted_us,
)
from singletable.storage.connections import OpenFiles, Place, Reader, Readers, connect, create_file
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
from singletable.storage.times import ChangeTimes
from singletable.storage.transaction import BehindLogError, PostponedError, Transaction
from singletable.storage.turns import Turns
from singletable.storage.verifying import Verifying
from singletable.storage.workers import Workers
from singletable.storage.write_ahead_log import LogMarks, check_log_belongs, new_mark, write_mark
from singletable.storage.write_groups import JobFailedError, OpenGroup, Written, finish

T = TypeVar("T")

_log = logging.getLogger("singletable.storage")

# A request reads again when the catalog has changed meanwhile. So often in a row it cannot have.
_CATALOG_TRIES_MAX = 100

# What keeps a write from being made now, and says nothing about what is read.
_PASSING = (
    errors.DiskFullError,
    errors.StorageFailedError,
    errors.ReadOnlyDatabaseError,
    errors.DatabaseBusyError,
)


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
        self._turns = Turns(place.path)
        self._writer: apsw.Connection | None = None
        self._log_marks: LogMarks | None = None
        self._writer_seen = -1
        self._is_committing = False
        self._times = ChangeTimes()
        self._is_closed = False
        self._lost_by_fork = False
        self._files = None if place.in_memory else OpenFiles(place.path)
        self._readers = None if self._files is None else Readers(place, self._files)
        self._publishing = threading.Lock()
        self._listeners: tuple[Callable[[], None], ...] = ()
        self.catalog = Catalog(0, {})
        self._on_expired = on_expired
        self._steady = steady = SteadyTime(clock)
        self._trusted_due_us = 0  # when the clock has come there, the file is told what is believed of it
        self._unproven_until_us = 0  # of the time that has elapsed; until then the file is told nothing of it
        self._has_told_doubt = False
        self._telling = threading.Lock()
        self.background = Background(
            self.read, self.write, clock, steady, sweep_s=sweep_s, on_look=self._start_long_work
        )
        self.workers = Workers()
        self.backups = Backups(BackupFolder(place.backups), self, self.workers, steady)
        self.verifying = Verifying(self.read, self.write, self.workers, self.background.begin)
        self.on_look: Callable[[], None] | None = None
        self._open()
        self.backups.clean()
        self._tell_doubt()
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
        except JobFailedError as failed:
            self._roll_back()
            failed.job.fail(failed.error)
        except BehindLogError as behind:
            self._roll_back()
            self._times.stand_behind(behind.newest_us)  # nobody has failed: all are tried again
        except Exception as error:
            self._roll_back()
            for job in group:
                job.fail(error)
        except BaseException:
            # Interrupted. The transaction is over only if its COMMIT has returned.
            if self._is_committing and self._writer is not None and not self._writer.in_transaction:
                finish(group)
            else:
                self._roll_back()
            raise
        return None

    def _begin(self) -> apsw.Connection:
        writer = self._open_writer()
        if self._files is not None and self._files.are_moved:
            self._files.check()
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
        clock_us, times = self.clock.now_us(), self._times
        transaction = Transaction(writer, self.catalog, times.next_us(clock_us), clock_us, times.known_logs)
        if self.propagation is not None:
            transaction.changes = []
        transaction.room = room
        wrote = False
        for job in group:
            transaction.is_dirty = False
            job.error = None
            try:
                job.result = job.work(transaction)
            except (apsw.Error, BehindLogError):
                raise
            except PostponedError:
                job.is_postponed = True
            except Exception as error:
                if transaction.is_dirty:
                    raise JobFailedError(job, error) from error
                job.error = error
            wrote |= transaction.is_dirty
        if not wrote:
            # Nothing was written, but what was read is answered only as committed state.
            writer.execute("ROLLBACK")
            finish(group)
            return None
        transaction.flush_counts()
        times.note(transaction)
        if clock_us >= self._trusted_due_us:
            self._note_trusted(transaction)
        if self._log_marks is not None and self._log_marks.is_due:
            write_mark(writer.execute, new_mark(randbits))
        return transaction

    def _commit(self, transaction: Transaction, group: Sequence[Written[Any]]) -> None:
        writer = transaction.connection
        self._is_committing = True
        if self.propagation is None or not transaction.changes:
            writer.execute("COMMIT")
        else:
            with self.propagation.committing(transaction.changes):
                writer.execute("COMMIT")
        if self._files is not None:
            self._files.check_if_due()  # what is acknowledged is in the file that others will open
        finish(group)
        self._writer_seen = writer.data_version()
        self._times.committed(transaction)
        if transaction.catalog is not self.catalog:
            self._publish(transaction.catalog)
        if transaction.expired or transaction.has_logged:
            self._tell(transaction)
        if self._log_marks is not None:
            self._log_marks.committed()

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
        self._times.learn_noted(writer.execute)
        if self._log_marks is not None:
            self._log_marks.is_shared = True
        self._writer_seen = writer.data_version()

    def _roll_back(self) -> None:
        if self._writer is not None and self._writer.in_transaction:
            try:
                self._trusted_due_us = 0  # what was noted of it is undone too
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

    def _start_long_work(self) -> None:
        """Start what is to be done in threads, and what others have left who have ended."""
        self.watch_clock()
        self.verifying.start()
        if self.on_look is not None:
            self.on_look()

    # --- the clock ------------------------------------------------------------------------

    def clock_doubt(self) -> ClockDoubt | None:
        """Return what a clock that is held would take away; None where it is believed.

        Where it would take away nothing, there is nothing to confirm: it is believed.
        """
        if not self._steady.is_held():
            return None
        folder, clock_us = self.backups.folder, self.clock.now_us()
        doubt = self.read(lambda execute, catalog: find_doubt(execute, catalog, folder, clock_us))
        if doubt.takes_nothing:
            self._steady.believe()
            # By this process. The file is told after an hour: what was put right before that counts for nothing,
            # and such a clock is held when there is something that it could take away.
            self._unproven_until_us = self.clock.elapsed_us() + TRUSTED_EVERY_US
            return None
        return doubt

    def is_clock_held(self) -> bool:
        """Tell whether nothing is thrown away by the clock until somebody confirms it."""
        return self._steady.is_held()

    def confirm_clock(self) -> ClockDoubt | None:
        """Believe the clock as it is, also in processes that have the file open; do what is due by it.

        Return what that has taken away, as far as the clock was held.
        """
        doubt = self.clock_doubt()
        if not self._place.in_memory:
            self.write(lambda transaction: confirm_trusted(transaction, self.clock.now_us()))
        self._steady.believe()
        self.backups.clean()
        self.background.time_moved()
        return doubt

    def watch_clock(self) -> None:
        """Learn what other processes believe of the clock, and let them know what this one does."""
        if self._place.in_memory:
            return
        trusted = self.read(lambda execute, catalog: trusted_us(execute))
        if trusted is not None:
            self._steady.learn(trusted)
        self._tell_doubt()
        if self.clock.now_us() >= self._trusted_due_us:
            with contextlib.suppress(*_PASSING):  # nothing that is due waits for that
                self.write(_touch)

    def _note_trusted(self, transaction: Transaction) -> None:
        if not self._place.in_memory and self.clock.elapsed_us() >= self._unproven_until_us:
            note_trusted(transaction, self._steady.now_us())
        self._trusted_due_us = transaction.clock_us + TRUSTED_EVERY_US

    def _tell_doubt(self) -> None:
        """Tell, once, that the clock is not believed."""
        with self._telling:
            doubt = None if self._has_told_doubt and self._steady.is_held() else self.clock_doubt()
            if doubt is not None:
                _log.warning("%s: %s", self.path, doubt.sentence)
            self._has_told_doubt = self._steady.is_held()

    # --- opening and closing -----------------------------------------------------------

    def _open(self) -> None:
        try:
            if not self._place.in_memory:
                check_log_belongs(self.path)
                create_file(self.path)
            # Held, because the background thread may be woken here, and waits for its turn.
            with self._writing:
                if self._files is not None:
                    self._files.learn()
                self._writer = connect(self._place, self._turns)
                prepare(self._writer, self._place, self.clock.now_us())
                if not self._place.in_memory:
                    # Before the background thread is woken: it throws away what the time says.
                    trusted = trusted_us(self._writer.execute)
                    self._steady.start_from(trusted)
                    self._trusted_due_us = (trusted or 0) + TRUSTED_EVERY_US
                with self._writer:
                    self._catch_up(self._writer)
                    self._times.learn_all(self._writer.execute)
                    is_idle = self._is_idle(self._writer.execute)
                if self._files is not None:
                    self._files.learn_beside()
                    self._log_marks = LogMarks(self._writer, self.path)
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
            self._writer = self._connect_again()
            self._writer_seen = -1
            if has_chores(self.catalog):
                self.background.wake()  # in a forked child there is no thread yet, and its parent may end
        return self._writer

    def _connect_again(self) -> apsw.Connection:
        """Connect after a fork or a failure, to the file that was open before and to no other."""
        assert self._files is not None, "a database in memory has one connection for all of its life"
        self._files.check()
        writer = connect(self._place, self._turns)
        try:
            writer.execute("PRAGMA user_version").fetchall()  # so that SQLite opens its files beside it
            self._files.learn_beside()
            self._log_marks = LogMarks(writer, self.path)
        except BaseException:
            writer.close(True)
            raise
        return writer

    def _disconnect_writer(self) -> None:
        if self._files is not None:
            self._files.forget_beside()
        if self._writer is not None:
            self._writer.close(True)
            self._writer = None

    def trouble(self) -> errors.DatabaseError | None:
        """Return why nothing is written any more; None while all is well."""
        return None if self._files is None else self._files.look()

    def give_up_long_work(self) -> None:
        """Let what takes long end without a trace, as backups under way; `close` waits for that."""
        self.workers.stopping.set()

    def close(self) -> None:
        """Wait for the requests under way, and close the file. Closing twice does nothing."""
        self.workers.stop()
        self.backups.folder.close()
        self.background.stop()
        with self._writing:
            self._is_closed = True
            if self._readers is not None:
                self._readers.close()
            self._disconnect_writer()

    # --- forking -------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Finish what is under way and disconnect: SQLite forbids to carry a connection into a child."""
        self.backups.before_fork()  # first: who copies may wait for the writer
        self._writing.acquire()
        if self._readers is not None:
            self._readers.pause()
            self._disconnect_writer()

    def after_fork(self, *, in_child: bool) -> None:
        """Let requests go on; each side connects anew with its next one."""
        if in_child:
            self._waiting.clear()  # of threads that exist in the parent only
            self._publishing = threading.Lock()
            self._telling = threading.Lock()
            self._listeners = ()
            self.background.forget_thread()
            self.workers.forget()
            if self._place.in_memory and self._writer is not None:
                fork.keep_from_closing(self._writer)
                self._writer = None
                self._lost_by_fork = True
        if self._readers is not None:
            self._readers.resume()
        self._writing.release()
        self.backups.after_fork(in_child=in_child)


def _touch(transaction: Transaction) -> None:
    """Write nothing of its own: with each transaction that has something to commit, what is due is noted."""
    transaction.is_dirty = True
