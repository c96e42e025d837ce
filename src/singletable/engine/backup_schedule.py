"""Backups at a rate: of all tables, once in each week, day or number of hours; and pruning those that are old.

The folder alone tells when the last backup was made. So nothing is skipped or repeated when a server is stopped
and started, and two servers on one file make one backup.
"""

from __future__ import annotations

import logging
import re
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from singletable.clock import ManualClock
from singletable.engine.backups import NewSuffix, backup_all, delete_backup
from singletable.errors import BackupInUseError, BackupNotFoundError, DatabaseClosedError, SingleTableError
from singletable.errors.base import sentence_of
from singletable.storage.backups.folder import PRUNED, BackupKey, BackupRecord
from singletable.storage.clock_doubt import note_backups_kept
from singletable.storage.file.formats import remove_old_copies
from singletable.storage.store import Store

_NAMED: Final = {"hourly": 3600, "daily": 24 * 3600, "weekly": 7 * 24 * 3600}
_INTERVAL: Final = re.compile(r"([1-9][0-9]{0,4})([hd])")
_UNITS_S: Final = {"h": 3600, "d": 24 * 3600}
# Slots of seven days begin on Mondays, all of them at midnight UTC.
_FIRST_MONDAY_US: Final = 4 * 24 * 3600 * 1_000_000

_LOOK_S: Final = 60.0
_LOOK_S_MAX: Final = 3600.0  # when it has failed again and again

_log = logging.getLogger("singletable.backups")


def interval_s(given: str | timedelta) -> int:
    """Return the seconds of "weekly", "daily", "36h", "90d"; raise ValueError for any other text."""
    if isinstance(given, timedelta):
        if given < timedelta(hours=1):
            raise ValueError(f"{given} is too short: an hour is the least")
        return int(given.total_seconds())
    if not isinstance(given, str):
        raise TypeError(f"{given!r} is no interval: a text as 'weekly', '12h' or '90d', or a timedelta")
    if given in _NAMED:
        return _NAMED[given]
    match = _INTERVAL.fullmatch(given)
    if match is None:
        raise ValueError(f"{given!r} is no interval: weekly, daily, or a number of hours or days as 12h, 90d")
    return int(match[1]) * _UNITS_S[match[2]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupRate:
    """How often backups are made, and for how long those are kept."""

    every_s: int
    keep_s: int

    @classmethod
    def of(cls, *, every: str | timedelta, keep: str | timedelta) -> BackupRate:
        """Return a rate by its intervals; raise ValueError where a backup would go before the next is made."""
        rate = cls(every_s=interval_s(every), keep_s=interval_s(keep))
        if rate.keep_s < rate.every_s:
            raise ValueError(
                f"{keep} is shorter than {every}: a backup has to be kept until the next one is made"
            )
        return rate

    def slot(self, at_us: int) -> int:
        """Return the number of the week, day or other span that a moment lies in."""
        return (at_us - _FIRST_MONDAY_US) // (self.every_s * 1_000_000)


def run_due(store: Store, rate: BackupRate, new_suffix: NewSuffix) -> list[BackupRecord]:
    """Make the backups that this span lacks, and prune. Return those that were made."""
    store.watch_clock()
    kept_us = now_us = store.backups.steady.now_us()
    if store.backups.steady.is_held():
        # Making a backup deletes nothing. One that a wrong clock has made does not count later (_covered).
        now_us = store.clock.now_us()
    with store.backups.folder.scheduling() as is_ours:
        if not is_ours:
            return []  # another process is at it
        note_backups_kept(store.read, store.write, rate.keep_s)
        covered = _covered(store, rate, now_us)
        at = datetime.fromtimestamp(now_us // 1_000_000, UTC).strftime("%Y%m%dT%H%M%SZ")
        made = backup_all(
            store,
            label=f"scheduled-{at}",
            origin="schedule",
            created_us=now_us,
            new_suffix=new_suffix,
            is_wanted=lambda uuid: uuid not in covered,
        )
        prune(store, rate, kept_us)
        return made


def _covered(store: Store, rate: BackupRate, now_us: int) -> set[str]:
    """Return the tables that have their backup, by their uuids.

    One of the next span counts: a clock that was put back a little repeats nothing. One of later spans does not:
    it was made while the clock was wrong.
    """
    slot = rate.slot(now_us)
    covered: set[str] = set()
    for key in store.backups.folder.existing():
        if slot <= rate.slot(key.created_ms * 1000) <= slot + 1:
            record = _readable(store, key)
            if record is not None and record.origin == "schedule":
                covered.add(record.definition.uuid)
    return covered


def prune(store: Store, rate: BackupRate, now_us: int) -> None:
    """Delete backups of a schedule or a migration that are older than they are kept for, and no others."""
    before_us = now_us - rate.keep_s * 1_000_000
    for key in store.backups.folder.existing():
        if key.created_ms * 1000 > before_us or key.type != "USER":
            continue
        record = _readable(store, key)
        if record is not None and record.origin in PRUNED:
            with suppress(BackupInUseError, BackupNotFoundError):
                delete_backup(store, key, key.id)
    remove_old_copies(store.backups.folder.path, before_us)


def _readable(store: Store, key: BackupKey) -> BackupRecord | None:
    try:
        return store.backups.folder.read(key)
    except SingleTableError as error:
        _log.warning("a backup was passed over: %s", sentence_of(error))
        return None


class BackupSchedule:
    """Makes backups at a rate, in a thread, until it is stopped.

    Under a manual clock there is no thread: due backups are made when the clock is moved.
    """

    def __init__(self, store: Store, rate: BackupRate, new_suffix: NewSuffix) -> None:
        self.rate = rate
        self._store = store
        self._new_suffix = new_suffix
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        if isinstance(store.clock, ManualClock):
            store.clock.follow(self)
            self.time_moved()
        else:
            self._thread = threading.Thread(target=self._run, name="singletable-schedule", daemon=True)
            self._thread.start()

    def run_due(self) -> list[BackupRecord]:
        """Make the backups that are due now, and prune; errors are raised."""
        return run_due(self._store, self.rate, self._new_suffix)

    def time_moved(self) -> None:
        if not self._stop.is_set():
            self._try()

    def stop(self) -> None:
        """Stop the schedule, after the backups under way are finished."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        wait_s = _LOOK_S
        while not self._stop.is_set():
            wait_s = _LOOK_S if self._try() else min(2 * wait_s, _LOOK_S_MAX)
            self._stop.wait(wait_s)

    def _try(self) -> bool:
        try:
            self.run_due()
        except DatabaseClosedError:
            self._stop.set()
        except Exception as error:  # any error: the next backups are tried
            _log.error("scheduled backups were not made, and are tried again: %s", sentence_of(error))
            return False
        return True
