"""A clock that is further ahead of what a file has seen than is believed: what it would take away if it were.

A file knows the newest time that was believed of a clock, to the hour. One that is more than a week ahead of it is
wrong, or the file was not open for so long: that cannot be told from here. So nothing is thrown away by it until
somebody has confirmed it, who is told first what that will be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final

from singletable import errors, limits
from singletable.clock import UNCONFIRMED_US_MAX
from singletable.storage import schema
from singletable.storage.backup_folder import BackupFolder
from singletable.storage.backup_records import PRUNED, BackupKey
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.format_copies import old_copies
from singletable.storage.log import select_logs, select_start, seq_at, time_of
from singletable.storage.reading import snapshot
from singletable.storage.sweeping import count_expired
from singletable.storage.transaction import Transaction
from singletable.storage.trimming import count_trimmable

TRUSTED_EVERY_US: Final = 3600 * 1_000_000
"""How far the stored time may lie behind: each note of it is a write."""

_SECOND_US: Final = 1_000_000
_STREAM_KEPT_US: Final = limits.STREAM_KEPT_S * _SECOND_US
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_COPIES: Final = "the whole file, before an upgrade"


@dataclass(frozen=True, slots=True)
class Taken:
    """So many things of one table that would go, with the times of the first and the last of them."""

    table: str
    count: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDoubt:
    """A clock that nobody has confirmed, and what would go if it were believed."""

    clock: datetime
    """What the clock says."""
    seen: datetime
    """The newest time that was believed, to the hour: the file was last open then."""
    expired_items: tuple[Taken, ...]
    """Items whose time to live would be over. Their times are those at which they expire."""
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
        """What is wrong, for a log."""
        return (
            f"the clock says {self.clock:%Y-%m-%d %H:%M} UTC, {self.ahead.days} days after the newest time that "
            f"this file has seen ({self.seen:%Y-%m-%d %H:%M}). Nothing expires or is trimmed by it until somebody "
            "confirms it: `singletable clock FILE` and Database.clock_doubt say what would go"
        )


# --- what the file knows ------------------------------------------------------------------------


def trusted_us(execute: Execute) -> int | None:
    """Return the newest time that was believed of a clock; None in a file that no release has noted it in."""
    return _number(execute, schema.TRUSTED)


def believed_us(execute: Execute, clock_us: int) -> int:
    """Return the time by which things are thrown away, for who only looks at a file."""
    trusted = trusted_us(execute)
    return clock_us if trusted is None or clock_us <= trusted + UNCONFIRMED_US_MAX else trusted


def note_trusted(transaction: Transaction, now_us: int) -> None:
    """Let the file know a time that is believed. It goes on, and never back."""
    transaction.execute(schema.NOTE_TRUSTED, (now_us,))


def confirm_trusted(transaction: Transaction, clock_us: int) -> None:
    """Let the file know a time that somebody has confirmed, also one that lies before what it has seen."""
    transaction.is_dirty = True
    transaction.execute(schema.CONFIRM_TRUSTED, (clock_us,))


def note_backups_kept(
    read: Callable[[Callable[[Execute, Catalog], bool]], bool],
    write: Callable[[Callable[[Transaction], None]], None],
    keep_s: int,
) -> None:
    """Let the file know for how long a schedule keeps backups: who is told what would go has no schedule."""

    def work(transaction: Transaction) -> None:
        transaction.is_dirty = True
        transaction.execute(schema.NOTE_BACKUPS_KEPT, (keep_s,))

    if not read(lambda execute, _: _number(execute, schema.BACKUPS_KEPT) == keep_s):
        write(work)


def _number(execute: Execute, sql: str) -> int | None:
    row = next(execute(sql), None)
    return None if row is None else int(row[0])


# --- what would go ------------------------------------------------------------------------------


def look_for_doubt(
    execute: Execute, catalog: Catalog, folder: BackupFolder, clock_us: int
) -> ClockDoubt | None:
    """Return what whoever opens a file has to confirm; None if the clock is believed there."""
    if believed_us(execute, clock_us) == clock_us:
        return None
    doubt = find_doubt(execute, catalog, folder, clock_us)
    return None if doubt.takes_nothing else doubt


def find_doubt(execute: Execute, catalog: Catalog, folder: BackupFolder, clock_us: int) -> ClockDoubt:
    """Return what a clock would take away, if it were believed."""
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
    """Tell what backup_folder.clean and the pruning of a schedule would do with a backup."""
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
