"""Turns of several processes at the write lock.

SQLite has no queue for it: who waits must ask again and again, and a process that writes without a pause gives
the others only a gap of microseconds between two transactions. So the waiter asks often (SQLite's own
busy_timeout sleeps up to 100 ms, and waited 1.6 to 2.4 s), and a writer that has seen others at the lock takes
a turn of a few milliseconds, and then leaves them a gap that is wide enough. Who writes alone never pays.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_ASK_S: Final = 0.0002
_ASK_SELDOM_S: Final = 0.001
_ASK_OFTEN_TRIES: Final = 2_000
_WAIT_S_MAX: Final = 30.0
_TURN_S: Final = 0.005
_GAP_S: Final = 0.0005
_REMEMBER_S: Final = 0.25


class Turns:
    """The turns of one connection at the write lock."""

    __slots__ = ("_contended_s", "_is_patient", "_turn_began_s", "_waiting_since_s")

    def __init__(self) -> None:
        self._contended_s = float("-inf")
        self._turn_began_s = 0.0
        self._waiting_since_s = 0.0
        self._is_patient = True

    def wait(self, tries: int) -> bool:
        """Wait a little for the lock, and tell whether to ask again. SQLite calls it (a busy handler)."""
        now_s = time.monotonic()
        if tries == 0:
            self._waiting_since_s = now_s
        self._contended_s = self._turn_began_s = now_s
        if not self._is_patient:
            return False
        time.sleep(_ASK_S if tries < _ASK_OFTEN_TRIES else _ASK_SELDOM_S)
        return now_s - self._waiting_since_s < _WAIT_S_MAX

    def is_contended(self) -> bool:
        """Tell whether others were seen at the lock lately."""
        return time.monotonic() - self._contended_s < _REMEMBER_S

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Do not wait for the lock in this block: who cannot have it at once gets an error."""
        self._is_patient = False
        try:
            yield
        finally:
            self._is_patient = True

    def leave_gap(self) -> None:
        """Let others have the lock first, if any were seen at it lately and this turn has lasted."""
        now_s = time.monotonic()
        if now_s - self._contended_s < _REMEMBER_S and now_s - self._turn_began_s > _TURN_S:
            time.sleep(_GAP_S)
            self._turn_began_s = time.monotonic()
