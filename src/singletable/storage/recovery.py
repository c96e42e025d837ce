"""How far back a table can be brought: the span of times for which its log has all that is needed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, NamedTuple

from singletable.clock import Clock
from singletable.errors import InvalidRestoreTimeError
from singletable.storage.catalog import Execute
from singletable.storage.definitions import RecoveryDefinition
from singletable.storage.log import select_end, select_oldest, seq_at, time_of
from singletable.storage.tables import Table

_DAY_US: Final = 24 * 3600 * 1_000_000


class RecoveryWindow(NamedTuple):
    """The first and the last moment of a table that can be brought back."""

    earliest_us: int
    latest_us: int

    def holds(self, at_us: int) -> bool:
        return self.earliest_us <= at_us <= self.latest_us


def recovery_window(
    execute: Execute, table: Table, recovery: RecoveryDefinition, *, now_us: int, kept_us: int
) -> RecoveryWindow:
    """Return the span of a table whose recovery is on.

    `now_us` is what the clock says; `kept_us` the time by which entries are thrown away, which does not follow a
    clock that jumps ahead at once.
    """
    started_us = max(recovery.since_us, min(now_us, kept_us) - recovery.days * _DAY_US)
    earliest_us = max(started_us, _trimmed_us(execute, table))
    # Behind a clock that was put back, changes have times that it has not come to yet.
    return RecoveryWindow(earliest_us, max(now_us, earliest_us, select_end(execute, table.id).at_us))


def _trimmed_us(execute: Execute, table: Table) -> int:
    """Return up to when entries are missing, 0 if none ever was taken away.

    The oldest that is kept lies before what was needed when the others went (trimming.py), so this matters only
    where the clock was put back since.
    """
    oldest = select_oldest(execute, table.id)
    return 0 if oldest is None or oldest.seq == 1 else oldest.at_us


def require_dated(execute: Execute, table: Table, window: RecoveryWindow, at_us: int, clock: Clock) -> None:
    """Refuse a moment of which the log cannot tell what was there: later changes have dates that are yet to come.

    A clock that was ahead has dated them, and those behind them, whose times may not be earlier. Whether they were
    made before the moment or after it, nobody knows. Up to the last change that the clock has come to, the past is
    exact; from the first that it has not, it follows the dates of the changes.
    """
    now_us = clock.now_us()  # read behind the log: to the date of a change that is made just now it has come
    if window.latest_us <= now_us or select_end(execute, table.id).at_us <= now_us:
        return
    exact = seq_at(execute, table.id, now_us)
    exact_us = -(-window.earliest_us // 1000) * 1000  # as it is told: in milliseconds, and not too early
    if exact:
        exact_us = max(exact_us, time_of(execute, table.id, exact))
    ahead_us = time_of(execute, table.id, exact + 1) if exact else _oldest_us(execute, table)
    if exact_us < at_us < ahead_us:
        raise InvalidRestoreTimeError(
            f"What the table {table.name} held at {moment_text(at_us)} cannot be told: its changes since "
            f"{moment_text(exact_us)} are dated {moment_text(ahead_us)} and later, by a clock that was ahead. Its "
            f"past can be seen up to {moment_text(exact_us)} and, by those dates, from {moment_text(ahead_us)} to "
            f"{moment_text(window.latest_us)}, which is the table as it is now"
        )


def _oldest_us(execute: Execute, table: Table) -> int:
    oldest = select_oldest(execute, table.id)
    return 0 if oldest is None else oldest.at_us


def moment_text(at_us: int) -> str:
    """Return a moment for people: whole seconds where it is one, microseconds where it is not."""
    try:
        moment = datetime.fromtimestamp(at_us // 1_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{at_us / 1_000_000:g} seconds since 1970"
    fraction = f".{at_us % 1_000_000:06}" if at_us % 1_000_000 else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"
