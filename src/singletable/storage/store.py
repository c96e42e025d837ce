"""A database file as the engine sees it: read from many threads, written by one group at a time."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from secrets import randbits
from typing import Any, TypeVar

import apsw

from singletable import errors, limits
from singletable.clock import Clock, ManualClock, SteadyTime
from singletable.storage import fork
from singletable.storage.backups.folder import BackupFolder
from singletable.storage.backups.making import Backups
from singletable.storage.backups.restoring import Verifying
from singletable.storage.backups.workers import BackupWorkers
from singletable.storage.catalog import Catalog, Execute, catalog_version, load_catalog
from singletable.storage.chores import reclaiming
from singletable.storage.chores.background import Background, has_chores
from singletable.storage.clock_doubt import ClockDoubt, ClockTrust
from singletable.storage.file import failures
from singletable.storage.file.connections import Location, ReadConnection, Readers, connect, create_file
from singletable.storage.file.encryption import FileKey
from singletable.storage.file.formats import check_not_upgraded, prepare
from singletable.storage.file.open_files import OpenFiles
from singletable.storage.file.page_sums import has_sums, is_damage, is_of_read
from singletable.storage.file.turns import Turns
from singletable.storage.file.write_ahead_log import (
    LogMarks,
    check_log_belongs,
    check_log_whole,
    new_mark,
    write_mark,
)
from singletable.storage.log import select_logs
from singletable.storage.propagation import Propagation
from singletable.storage.reading import (
    PartitionRange,
    SegmentRange,
    StoredRows,
    select_item,
    select_rows,
    snapshot,
)
from singletable.storage.scrub import Scrub
from singletable.storage.transaction import BehindLogError, ChangeTimes, PostponedError, Transaction
from singletable.storage.write_groups import GroupedWrite, JobFailedError, OpenGroup, finish

T = TypeVar("T")

_log = logging.getLogger("singletable.storage")

# A request reads again when the catalog has changed meanwhile. So often in a row it cannot have.
_CATALOG_TRIES_MAX = 100


class Store:
    """One database. `read` and `write` take a function and run it; both are safe from any thread.

    There is one writer (group commit): the thread that holds its lock carries out every waiting request, in one
    transaction with one COMMIT, so that writes that arrive together share an fsync. Readers have their own
    connections and never see uncommitted rows. A database in memory has one connection, which reads and writes
    take in turns.
    """

    def __init__(
        self,
        place: Location,
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
        self._waiting: deque[GroupedWrite[Any]] = deque()
        self._writing = threading.Lock()
        self._turns = Turns(place.path)
        self._writer: apsw.Connection | None = None
        self._log_marks: LogMarks | None = None
        self._writer_seen = -1
        self._is_committing = False
        self._times = ChangeTimes()
        self._is_closed = False
        self._lost_by_fork = False
        self._log_damage: errors.DatabaseError | None = None  # the reason why nothing is written any more
        self._files = None if place.in_memory else OpenFiles(place.path, place.key)
        self._readers = None if self._files is None else Readers(place, self._files.check)
        self._publishing = threading.Lock()
        self._listeners: tuple[Callable[[], None], ...] = ()
        self.catalog = Catalog(0, {})
        self._on_expired = on_expired
        self._steady = steady = SteadyTime(clock)
        self.background = Background(
            self.read, self.write, clock, steady, sweep_s=sweep_s, on_look=self._start_long_work
        )
        self.workers = BackupWorkers()
        self.backups = Backups(BackupFolder(place.backups, place.key), self, self.workers, steady)
        self._trust = ClockTrust(place, clock, steady, self.read, self.write, self.backups.folder)
        self.verifying = Verifying(self.read, self.write, self.workers, self.background.begin, place.key)
        self.scrub = Scrub(self, self.workers)
        self.damaged_reads = 0  # requests that needed a damaged page
        self.on_look: Callable[[], None] | None = None
        self._open()
        self.backups.clean()
        self._trust.tell()
        fork.watch(self)
        if isinstance(clock, ManualClock):
            clock.follow(self.background)

    @property
    def key(self) -> FileKey | None:
        """The key of the file; None if it is not encrypted."""
        return self._place.key

    @property
    def may_say_encrypted(self) -> bool:
        """Whether a table is said to be encrypted as it asks: not in a plain file. Memory has nothing at rest."""
        return self._place.in_memory or self._place.key is not None

    # --- reading -------------------------------------------------------------------

    def read(self, work: Callable[[Execute, Catalog], T]) -> T:
        """Run `work` with a read connection, and the catalog that was valid for its reads.

        `work` may run twice: when another process has changed the catalog meanwhile.
        """
        if self._readers is None:
            return self._read_memory(work)
        try:
            reader = self._readers.take()
            try:
                result = self._read(reader, work)
            except Exception as error:
                if self._is_spoilt_by(error):
                    self._readers.forget(reader)
                else:
                    self._readers.give(reader)
                raise
            # After an interrupt (no Exception) the reader may be in the middle of something: it is not kept.
            self._readers.give(reader)
            return result
        except apsw.Error as error:
            raise self._translate(error) from error

    def select_rows(self, execute: Execute, wanted: PartitionRange | SegmentRange) -> StoredRows:
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

    def _read(self, reader: ReadConnection, work: Callable[[Execute, Catalog], T]) -> T:
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

    def _is_current(self, reader: ReadConnection, catalog: Catalog) -> bool:
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

    def take_reader(self) -> ReadConnection | None:
        """Return a connection that is used for nothing else; None in memory, where there is only one for all."""
        if self._readers is None:
            return None
        try:
            return self._readers.take()
        except apsw.Error as error:
            raise failures.translate(error, self.path) from error

    def new_reader(self) -> ReadConnection | None:
        """Return a connection that no request has used, to be ended by `end_reader`; None in memory."""
        if self._readers is None:
            return None
        try:
            return self._readers.take_new()
        except apsw.Error as error:
            raise failures.translate(error, self.path) from error

    def end_reader(self, reader: ReadConnection) -> None:
        """Close a connection that `take_reader` has returned."""
        if self._readers is not None:
            self._readers.forget(reader)

    def hold_together(self, readers: Sequence[ReadConnection]) -> None:
        """Begin a snapshot on each connection, all of one state of the file: nobody commits meanwhile."""

        def work(transaction: Transaction) -> None:
            for reader in readers:
                reader.hold()

        self.write(work)

    # --- writing ---------------------------------------------------------------------

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in the next write transaction, and return its result when that is committed.

        `work` plans first and writes then. An error that it raises fails this request alone. It may run again,
        when another request of its group has failed in the middle of writing.
        """
        return self.write_together((work,))[0].get()

    def write_together(self, works: Sequence[Callable[[Transaction], T]]) -> list[GroupedWrite[T]]:
        """Run several requests, which share transactions as far as they fit; return them when all are done."""
        jobs = [GroupedWrite(work) for work in works]
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

        Nobody else writes until then, so `commit_together` must follow in any case. Requests that read much are
        left out. Return None, with nothing done, if the caller would have to wait for another thread or process.
        """
        if self._turns.is_contended() or not self._writing.acquire(blocking=False):
            return None
        try:
            with self._turns.impatient():
                writer = self._begin()
        except Exception:
            self._writing.release()
            return None  # a caller that can wait gets the error
        group = OpenGroup([GroupedWrite(work) for work in works])
        try:
            group.transaction = self._attempt(
                group.jobs, lambda: self._apply(writer, group.jobs, room=limits.SHORT_TRANSACTION_BYTES)
            )
        except BaseException:
            self._writing.release()
            raise
        group.leave_out_postponed()
        return group

    def commit_together(self, group: OpenGroup[T]) -> list[GroupedWrite[T]]:
        """Commit the transaction that `apply_together` left open; return its requests, which are all done then."""
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

    def _attempt(self, group: Sequence[GroupedWrite[Any]], step: Callable[[], T]) -> T | None:
        """Do one step of a transaction. If it fails, roll back, and fail the requests concerned."""
        self._is_committing = False
        try:
            return step()
        except apsw.Error as error:
            self._roll_back()
            translated = self._translate(error)
            for job in group:
                job.fail(translated)
            if self._is_spoilt_by(error):
                self._disconnect_writer()
        except JobFailedError as failed:
            self._roll_back()
            failed.job.fail(failed.error)
            if self._is_spoilt_by(failed.__cause__):
                self._disconnect_writer()
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
        if self._log_damage is not None:
            raise self._log_damage
        if self._files is not None and self._files.are_moved:
            self._files.check()
        self._turns.leave_gap()
        writer.execute("BEGIN IMMEDIATE")
        return writer

    def _apply(
        self, writer: apsw.Connection, group: Sequence[GroupedWrite[Any]], *, room: int | None = None
    ) -> Transaction | None:
        """Run requests in a transaction that has begun. Return None if there is nothing to commit: all are done.

        A request that reads more than `room` bytes is postponed: it is neither done nor failed.
        """
        if writer.data_version() != self._writer_seen:
            self._catch_up(writer)
        clock_us, times = self.clock.now_us(), self._times
        transaction = Transaction(writer, self.catalog, times.next_us(clock_us), clock_us, times.known_logs)
        if self.propagation is not None:
            transaction.changes = []
        transaction.room = room
        transaction.key = self._place.key
        wrote = False
        for job in group:
            transaction.is_dirty = False
            job.error = None
            try:
                job.result = job.work(transaction)
            except apsw.Error as error:
                if is_damage(error):  # of a page that this request alone needs
                    raise JobFailedError(job, self._translate(error)) from error
                raise
            except BehindLogError:
                raise
            except PostponedError:
                job.is_postponed = True
            except Exception as error:
                if transaction.is_dirty:
                    raise JobFailedError(job, error) from error
                job.error = error
            wrote |= transaction.is_dirty
        if not wrote:
            # Nothing was written, but reads are answered only from committed state.
            writer.execute("ROLLBACK")
            finish(group)
            return None
        transaction.flush_counts()
        times.note(transaction)
        if clock_us >= self._trust.due_us:
            self._trust.note(transaction)
        if self._log_marks is not None and self._log_marks.is_due:
            write_mark(writer.execute, new_mark(randbits))
        return transaction

    def _commit(self, transaction: Transaction, group: Sequence[GroupedWrite[Any]]) -> None:
        writer = transaction.connection
        self._is_committing = True
        if self.propagation is None or not transaction.changes:
            writer.execute("COMMIT")
        else:
            with self.propagation.committing(transaction.changes):
                writer.execute("COMMIT")
        if self._files is not None:
            self._files.check_if_due()  # an acknowledged write is in the file that others will open
        finish(group)
        self._writer_seen = writer.data_version()
        self._times.committed(transaction)
        if transaction.catalog is not self.catalog:
            self._publish(transaction.catalog)
        if transaction.expired or transaction.has_logged:
            self._tell(transaction)
        if self._log_marks is not None:
            self._log_marks.committed()
            if self._log_marks.is_spoilt and self._place.key is not None:
                self._disconnect_writer()

    def _tell(self, transaction: Transaction) -> None:
        """Call the listeners after a commit. They cannot undo it: an error that they raise fails no request."""
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
        """Read the catalog and times that other processes have changed since this one's last transaction."""
        if self._stored_version(writer.execute) != self.catalog.version:
            self._publish(load_catalog(writer.execute))
        self._times.learn_noted(writer.execute)
        if self._log_marks is not None:
            self._log_marks.is_shared = True
        self._writer_seen = writer.data_version()

    def _is_spoilt_by(self, error: BaseException | None) -> bool:
        """Tell whether a connection is not used again: its cipher fails on, after a page it could not read."""
        return self._place.key is not None and error is not None and is_of_read(error)

    def _roll_back(self) -> None:
        if self._writer is not None and self._writer.in_transaction:
            try:
                self._trust.due_us = 0  # the stored time is rolled back too
                self._writer.execute("ROLLBACK")
            except apsw.Error:
                self._disconnect_writer()

    def _publish(self, catalog: Catalog) -> None:
        """Let requests use a newer catalog. An older one, read before another commit, is ignored."""
        with self._publishing:
            if catalog.version > self.catalog.version:
                self.catalog = catalog
        if has_chores(catalog):
            self.background.wake()

    def _start_long_work(self) -> None:
        """Start the work that runs in threads, also work that processes left when they ended."""
        self.watch_clock()
        self.verifying.start()
        if self.on_look is not None:
            self.on_look()

    # --- the clock ------------------------------------------------------------------------

    def clock_doubt(self) -> ClockDoubt | None:
        """Return the things that a held clock would delete; None if the clock is believed."""
        return self._trust.doubt()

    def is_clock_held(self) -> bool:
        """Tell whether the clock is held: nothing is deleted by it until somebody confirms it."""
        return self._steady.is_held()

    def confirm_clock(self) -> ClockDoubt | None:
        """Believe the clock as it is, and do the chores that are due by it.

        Return the things that a held clock has now deleted.
        """
        doubt = self._trust.confirm()
        self.backups.clean()
        self.background.time_moved()
        return doubt

    def watch_clock(self) -> None:
        """Read the time that other processes believe, and store the time that this one believes."""
        self._trust.watch()

    # --- opening and closing -----------------------------------------------------------

    def _open(self) -> None:
        try:
            if not self._place.in_memory:
                check_log_belongs(self.path, self._place.key)
                if self._place.key is None:
                    self._check_log()
                create_file(self.path)
            # Held, because the background thread may be woken here, and waits for its turn.
            with self._writing:
                if self._files is not None:
                    self._files.learn()
                self._writer = connect(self._place, self._turns)
                prepare(self._writer, self._place, self.clock.now_us())
                if not self._place.in_memory:
                    # Before the background thread is woken: it deletes things by this time.
                    self._trust.start(self._writer.execute)
                with self._writer:
                    self._catch_up(self._writer)
                    self._times.learn_all(self._writer.execute)
                    is_idle = self._is_idle(self._writer.execute)
                if self._files is not None:
                    self._files.learn_beside()
                    self._log_marks = self._watch_log(self._writer, self._files)
                if self._readers is not None:
                    self._readers.expects_sums = has_sums(self._writer)
        except apsw.Error as error:
            self._disconnect_writer()
            raise failures.translate_opening(error, self.path) from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            self._disconnect_writer()
            raise failures.not_understood(self.path) from error
        except BaseException:
            self._disconnect_writer()
            raise
        if not is_idle:
            self.background.wake()

    def _check_log(self) -> None:
        """Refuse a log of which SQLite would leave out acknowledged transactions, and say nothing.

        Where writes are not synced one by one, a power cut leaves such a log too.
        """
        try:
            check_log_whole(self.path)
        except errors.CorruptDatabaseError as error:
            if self._place.durability == "full":
                raise
            _log.warning("%s", error.message)

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
            self._log_marks = self._watch_log(writer, self._files)
        except BaseException:
            writer.close(True)
            raise
        return writer

    def _watch_log(self, writer: apsw.Connection, files: OpenFiles) -> LogMarks:
        return LogMarks(
            writer,
            self.path,
            may_checkpoint=files.may_checkpoint,
            has_checkpointed=files.learn_main,
            on_damage=self._stop_writing,
        )

    def _stop_writing(self, error: apsw.Error) -> None:
        """Acknowledge nothing more: behind a damaged place of the log, a restart would leave it out."""
        place = failures.translate(error, self.path).message.partition(": ")[2]
        self.damaged_reads += 1
        self._log_damage = errors.CorruptDatabaseError(
            f"{self.path}: nothing is written any more: {place}",
            hint="read what you need, stop what uses the file, and run `singletable repair` on it",
        )
        _log.error("%s", self._log_damage.message)

    def _disconnect_writer(self) -> None:
        if self._files is not None:
            if self._writer is not None and not self._files.may_save_at_close():
                self._writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._files.forget_beside()
        if self._writer is not None:
            self._writer.close(True)
            self._writer = None

    def trouble(self) -> errors.DatabaseError | None:
        """Return why nothing is written any more; None while all is well."""
        return self._log_damage or (None if self._files is None else self._files.look())

    def _translate(self, error: apsw.Error) -> errors.DatabaseError:
        """Return the user's error: if another program has changed a file, the error says so."""
        self.damaged_reads += is_damage(error)
        is_about_the_file = not isinstance(
            error, (apsw.FullError, apsw.BusyError, apsw.ConnectionClosedError)
        )
        return (self.trouble() if is_about_the_file else None) or failures.translate(error, self.path)

    def give_up_long_work(self) -> None:
        """Let long work, such as backups under way, end without a trace; `close` waits for that."""
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
        """Finish running requests and disconnect: SQLite forbids to carry a connection into a child."""
        self.backups.before_fork()  # first: a copier may wait for the writer
        self._writing.acquire()
        if self._readers is not None:
            self._readers.pause()
            self._disconnect_writer()
        if self._files is not None:
            self._files.before_fork()

    def after_fork(self, *, in_child: bool) -> None:
        """Let requests go on; each side connects anew with its next one."""
        if in_child:
            self._waiting.clear()  # of threads that exist in the parent only
            self._publishing = threading.Lock()
            self._trust.after_fork_in_child()
            self._listeners = ()
            self.background.forget_thread()
            self.workers.forget()
            if self._place.in_memory and self._writer is not None:
                fork.keep_from_closing(self._writer)
                self._writer = None
                self._lost_by_fork = True
        if self._files is not None:
            self._files.after_fork()
        if self._readers is not None:
            self._readers.resume()
        self._writing.release()
        self.backups.after_fork(in_child=in_child)
