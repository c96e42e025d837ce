"""A clock that is suspiciously far ahead of the times in a file, and what it would delete if it were believed.

A file stores the newest time of the clock that was believed, to the hour. If the clock is more than a week ahead
of that, either it is wrong or the file was not open for so long; we cannot tell which. So nothing is deleted by
this clock until somebody confirms it, and we first tell them what would be deleted.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from singletable import errors, limits
from singletable.clock import UNCONFIRMED_US_MAX, Clock, SteadyTime
from singletable.storage import schema
from singletable.storage.backups.folder import PRUNED, BackupFolder, BackupKey
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.chores.sweeping import count_expired
from singletable.storage.chores.trimming import count_trimmable
from singletable.storage.file.connections import Location
from singletable.storage.file.encryption import FileKey
from singletable.storage.file.formats import old_copies
from singletable.storage.file.given_keys import key_of
from singletable.storage.file.viewing import FileView
from singletable.storage.log import select_logs, select_start, seq_at, time_of
from singletable.storage.reading import snapshot
from singletable.storage.transaction import Read, Transaction, Write

CLOCK_LOG: Final = "singletable.storage.clock"
"""The logger that warns when a file is opened with a held clock."""

_TRUSTED_EVERY_US: Final = 3600 * 1_000_000  # how far the stored time may lie behind: storing it is a write

_SECOND_US: Final = 1_000_000
_NOTE_AGAIN_US: Final = 60 * _SECOND_US  # after the time of the clock could not be written to the file
_STREAM_KEPT_US: Final = limits.STREAM_KEPT_S * _SECOND_US
# Errors that prevent a write for now, and say nothing about reads.
_PASSING: Final = (
    errors.DiskFullError,
    errors.StorageFailedError,
    errors.ReadOnlyDatabaseError,
    errors.DatabaseBusyError,
)
_log = logging.getLogger(CLOCK_LOG)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_COPIES: Final = "the whole file, before an upgrade"


@dataclass(frozen=True, slots=True)
class Taken:
    """How many things of one table would be deleted, with the times of the first and the last of them."""

    table: str
    count: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDoubt:
    """A clock that nobody has confirmed, and the things that would be deleted if it were believed."""

    clock: datetime
    """The time of the clock."""
    seen: datetime
    """The newest time that was believed, to the hour: the file was last open then."""
    expired_items: tuple[Taken, ...]
    """Items that would count as expired, with the times at which they expire."""
    log_entries: tuple[Taken, ...]
    """Changes that recovery, consumers and streams would no longer need."""
    stream_records: tuple[Taken, ...]
    """Records that streams would no longer show, whether or not recovery keeps the changes."""
    backups: tuple[Taken, ...]
    """Backups of a schedule, of migrations and of deleted tables that would be too old."""

    @property
    def takes_nothing(self) -> bool:
        return not (self.expired_items or self.log_entries or self.stream_records or self.backups)

    @property
    def ahead(self) -> timedelta:
        return self.clock - self.seen

    @property
    def sentence(self) -> str:
        """The doubt in a sentence, for a log."""
        return (
            f"the clock says {self.clock:%Y-%m-%d %H:%M} UTC, {self.ahead.days} days after the newest time that "
            f"this file has seen ({self.seen:%Y-%m-%d %H:%M}). Nothing expires or is trimmed by it until somebody "
            "confirms it: `singletable clock FILE` and Database.clock_doubt say what would go"
        )


# --- the stored time ----------------------------------------------------------------------------


def trusted_us(execute: Execute) -> int | None:
    """Return the newest time of the clock that was believed; None if no release has noted one in this file."""
    return _number(execute, schema.TRUSTED)


def believed_us(execute: Execute, clock_us: int) -> int:
    """Return the time by which things are deleted, for a command that only reads a file."""
    trusted = trusted_us(execute)
    return clock_us if trusted is None or clock_us <= trusted + UNCONFIRMED_US_MAX else trusted


def note_backups_kept(
    read: Callable[[Callable[[Execute, Catalog], bool]], bool],
    write: Callable[[Callable[[Transaction], None]], None],
    keep_s: int,
) -> None:
    """Store for how long a schedule keeps backups, for commands that have no schedule and report a doubt."""

    def work(transaction: Transaction) -> None:
        transaction.is_dirty = True
        transaction.execute(schema.NOTE_BACKUPS_KEPT, (keep_s,))

    if not read(lambda execute, _: _number(execute, schema.BACKUPS_KEPT) == keep_s):
        write(work)


def _number(execute: Execute, sql: str) -> int | None:
    row = next(execute(sql), None)
    return None if row is None else int(row[0])


# --- things that would be deleted ---------------------------------------------------------------


def look_for_doubt(
    path: str, backups: str | None, clock_us: int, key: FileKey | None = None
) -> ClockDoubt | None:
    """Return the doubt that must be confirmed when a file is opened; None if the clock is believed there.

    `backups` is the folder of its backups, where that is not the one beside it.
    """
    key = key_of(path, key)
    folder = BackupFolder(backups or f"{os.path.abspath(path)}.backups", key)

    def look(execute: Execute, catalog: Catalog) -> ClockDoubt | None:
        if believed_us(execute, clock_us) == clock_us:
            return None
        doubt = find_doubt(execute, catalog, folder, clock_us)
        return None if doubt.takes_nothing else doubt

    with FileView(path, key) as view:
        return view.read(look)


def find_doubt(execute: Execute, catalog: Catalog, folder: BackupFolder, clock_us: int) -> ClockDoubt:
    """Return the things that a clock would delete, if it were believed."""
    with snapshot(execute):
        seen_us = trusted_us(execute)
        seen_us = clock_us if seen_us is None else seen_us
        kept_s = _number(execute, schema.BACKUPS_KEPT)
        names = _names(execute, catalog)
        logs = [(table_id, names.get(table_id, "a deleted table")) for table_id in select_logs(execute)]
        return ClockDoubt(
            clock=_moment(clock_us),
            seen=_moment(seen_us),
            expired_items=tuple(_expired(execute, catalog, clock_us)),
            log_entries=tuple(
                taken
                for table_id, name in logs
                for taken in _entries(
                    execute, table_id, name, count_trimmable(execute, catalog, table_id, clock_us)
                )
            ),
            stream_records=tuple(
                taken
                for table_id, name in logs
                for taken in _entries(execute, table_id, name, _hidden(execute, table_id, seen_us, clock_us))
            ),
            backups=tuple(_backups(folder, clock_us, kept_s)),
        )


def _expired(execute: Execute, catalog: Catalog, clock_us: int) -> Iterator[Taken]:
    for table in catalog:
        items, first_us, last_us = count_expired(execute, table, clock_us)
        if items:
            yield Taken(table.name, items, _moment(first_us), _moment(last_us))


def _entries(execute: Execute, table_id: int, name: str, numbers: range) -> Iterator[Taken]:
    if numbers:
        first_us, last_us = (time_of(execute, table_id, seq) for seq in (numbers[0], numbers[-1]))
        yield Taken(name, len(numbers), _moment(first_us), _moment(last_us))


def _hidden(execute: Execute, table_id: int, seen_us: int, clock_us: int) -> range:
    """Return the numbers of the records that a stream showed when the file was last open, and would no longer."""
    sql = "SELECT 1 FROM stream WHERE table_id = ? AND (ended IS NULL OR ended >= ?) LIMIT 1"
    start = select_start(execute, table_id)
    shown_us = seen_us - _STREAM_KEPT_US
    if start is None or next(execute(sql, (table_id, shown_us)), None) is None:
        return range(0)
    first = max(start, seq_at(execute, table_id, shown_us - 1) + 1)
    return range(first, seq_at(execute, table_id, clock_us - _STREAM_KEPT_US - 1) + 1)


def _backups(folder: BackupFolder, clock_us: int, kept_s: int | None) -> Iterator[Taken]:
    try:
        existing = folder.existing()
    except errors.DatabaseError:
        return  # nobody else can read the folder either
    found = sorted(
        (key.table, key.created_ms * 1000) for key in existing if _has_to_go(folder, key, clock_us, kept_s)
    )
    if kept_s is not None:
        found += sorted(
            (_COPIES, at_us) for _, at_us in old_copies(folder.path, clock_us - kept_s * _SECOND_US)
        )
    for table, backups in groupby(found, key=lambda backup: backup[0]):
        times_us = [at_us for _, at_us in backups]
        yield Taken(table, len(times_us), _moment(times_us[0]), _moment(times_us[-1]))


def _has_to_go(folder: BackupFolder, key: BackupKey, clock_us: int, kept_s: int | None) -> bool:
    """Tell whether BackupFolder.clean or the pruning of a schedule would remove a backup."""
    age_us = clock_us - key.created_ms * 1000
    if key.type == "SYSTEM":
        return age_us >= limits.SYSTEM_BACKUP_S * _SECOND_US
    if kept_s is None or age_us < kept_s * _SECOND_US:
        return False
    try:
        record = folder.read(key)
    except errors.SingleTableError:
        return False  # it is passed over
    return record is not None and record.origin in PRUNED


def _names(execute: Execute, catalog: Catalog) -> dict[int, str]:
    """Return the names of tables, also of those that are deleted and have a stream that is shown."""
    rows: list[Any] = execute("SELECT table_id, table_name FROM stream").fetchall()
    return dict(rows) | {table.id: table.name for table in catalog}


def _moment(at_us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=at_us)


# --- an open database ---------------------------------------------------------------------------


class ClockTrust:
    """Whether an open database believes its clock, and the believed time that its file stores."""

    def __init__(
        self,
        place: Location,
        clock: Clock,
        steady: SteadyTime,
        read: Read,
        write: Write,
        folder: BackupFolder,
    ) -> None:
        self.due_us = 0  # by the clock: the commit of a transaction from then on stores the believed time
        self._place = place
        self._clock = clock
        self._steady = steady
        self._read = read
        self._write = write
        self._folder = folder
        self._note_again_us = 0  # by elapsed time; until then, no write is made for that alone
        self._unproven_until_us = 0  # by elapsed time; until then, the believed time is not stored
        self._has_told = False
        self._telling = threading.Lock()

    def start(self, execute: Execute) -> None:
        """Begin with the time that a file stores, before anything is deleted by this clock."""
        trusted = trusted_us(execute)
        self._steady.start_from(trusted)
        self.due_us = (trusted or 0) + _TRUSTED_EVERY_US

    def doubt(self) -> ClockDoubt | None:
        """Return the things that a held clock would delete; None if the clock is believed.

        A clock that would delete nothing needs no confirmation: it is believed.
        """
        if not self._steady.is_held():
            return None
        clock_us = self._clock.now_us()
        doubt = self._read(lambda execute, catalog: find_doubt(execute, catalog, self._folder, clock_us))
        if doubt.takes_nothing:
            self._steady.believe()
            # Only this process believes it. The time is stored after an hour: a clock that is put right before
            # that leaves no trace. Until then another open holds such a clock, if it could delete something.
            self._unproven_until_us = self._clock.elapsed_us() + _TRUSTED_EVERY_US
            return None
        return doubt

    def confirm(self) -> ClockDoubt | None:
        """Believe the clock as it is, also in processes that have the file open; return the doubt of before."""

        def store(transaction: Transaction) -> None:
            transaction.is_dirty = True
            transaction.execute(schema.CONFIRM_TRUSTED, (self._clock.now_us(),))

        doubt = self.doubt()
        if not self._place.in_memory:
            self._write(store)
        self._steady.believe()
        return doubt

    def watch(self) -> None:
        """Read the time that other processes believe, and store the time that this one believes."""
        if self._place.in_memory:
            return
        trusted = self._read(lambda execute, catalog: trusted_us(execute))
        if trusted is not None:
            self._steady.learn(trusted)
        self.tell()
        elapsed_us = self._clock.elapsed_us()
        if self._clock.now_us() >= self.due_us and elapsed_us >= self._note_again_us:
            try:
                self._write(_touch)
            except _PASSING:  # no chore waits for that
                self._note_again_us = elapsed_us + _NOTE_AGAIN_US

    def note(self, transaction: Transaction) -> None:
        """Store the believed time, which is due. The stored time never goes back."""
        if not self._place.in_memory and self._clock.elapsed_us() >= self._unproven_until_us:
            transaction.execute(schema.NOTE_TRUSTED, (self._steady.now_us(),))
        self.due_us = transaction.clock_us + _TRUSTED_EVERY_US

    def tell(self) -> None:
        """Tell, once, that the clock is not believed."""
        with self._telling:
            doubt = None if self._has_told and self._steady.is_held() else self.doubt()
            if doubt is not None:
                _log.warning("%s: %s", self._place.path, doubt.sentence)
            self._has_told = self._steady.is_held()

    def after_fork_in_child(self) -> None:
        self._telling = threading.Lock()


def _touch(transaction: Transaction) -> None:
    """Write nothing itself: the commit of any dirty transaction stores the believed time when that is due."""
    transaction.is_dirty = True
