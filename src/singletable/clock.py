"""Where time comes from. Nothing else in the package asks the operating system what time it is."""

from __future__ import annotations

import time
import weakref
from typing import Final, Protocol


class Clock(Protocol):
    """A source of time."""

    def now_us(self) -> int:
        """Return microseconds since the Unix epoch, by a clock that may be put forward and back."""
        ...

    def elapsed_us(self) -> int:
        """Return microseconds since some moment, by a clock that nobody can put forward or back."""
        ...


# The one that goes on while the machine sleeps, where there is one.
_ELAPSED: Final = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


class SystemClock:
    """The clock of the machine."""

    __slots__ = ()

    def now_us(self) -> int:
        return time.time_ns() // 1000

    def elapsed_us(self) -> int:
        return (time.monotonic_ns() if _ELAPSED is None else time.clock_gettime_ns(_ELAPSED)) // 1000


class Follower(Protocol):
    """Somebody who has something to do when time has passed."""

    def time_moved(self) -> None: ...


class ManualClock:
    """A clock that moves only when told to; for tests and replays.

    When `advance` returns, the databases that were opened with the clock have done what had become due: expired
    items are gone, old records trimmed.
    """

    def __init__(self, time_us: int = 1_700_000_000_000_000) -> None:
        self.time_us = time_us
        self._elapsed_us = 0
        self._followers: weakref.WeakSet[Follower] = weakref.WeakSet()

    def now_us(self) -> int:
        return self.time_us

    def elapsed_us(self) -> int:
        return self._elapsed_us

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        passed_us = int(seconds * 1_000_000)
        self.time_us += passed_us
        self._elapsed_us += max(passed_us, 0)
        for follower in list(self._followers):
            follower.time_moved()

    def jump(self, seconds: float) -> None:
        """Put the clock forward or back, without any time passing."""
        self.time_us += int(seconds * 1_000_000)

    def follow(self, follower: Follower) -> None:
        self._followers.add(follower)


_AHEAD_US_MAX: Final = 10 * 1_000_000
_TRUSTED_AFTER_US: Final = 3600 * 1_000_000


class SteadyTime:
    """The time by which things are thrown away. A clock that jumps ahead is believed only after an hour.

    So a clock that is wrong for a while expires and trims nothing that has to stay. One that was put back is
    believed at once: everything stays longer then. What passes while nobody has the database open cannot be
    told from a jump, and counts.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Of the wall clock, as far as it is believed. The other one is read first, here and below: a process that
        # is stopped between the two then sees a jump ahead, which is not there when it looks again.
        elapsed_us = clock.elapsed_us()
        self._offset_us = clock.now_us() - elapsed_us
        self._ahead_since_us: int | None = None

    def now_us(self) -> int:
        elapsed_us = self._clock.elapsed_us()
        now_us = self._clock.now_us()
        offset_us = now_us - elapsed_us
        if offset_us > self._offset_us + _AHEAD_US_MAX:
            ahead_since_us = self._ahead_since_us
            if ahead_since_us is None:
                self._ahead_since_us = ahead_since_us = elapsed_us
            if elapsed_us - ahead_since_us < _TRUSTED_AFTER_US:
                return self._offset_us + elapsed_us
        self._ahead_since_us = None
        self._offset_us = offset_us
        return now_us
