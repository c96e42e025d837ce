"""Where time comes from, and how long to wait between tries.

Nothing else in the package asks the operating system what time it is.
"""

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


def backoff_s(failures: int, first_s: float, longest_s: float) -> float:
    """Return the longest pause after so many failures: each is twice the one before (exponential backoff).

    Jitter is the caller's: to wait a random part of it, lest those who failed together come back together.
    """
    return min(longest_s, first_s * 2.0 ** min(failures - 1, 64))


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
# Nobody is asked after a weekend or a week away. A clock that is wrong by more takes away what cannot come back.
UNCONFIRMED_US_MAX: Final = 7 * 24 * 3600 * 1_000_000


class SteadyTime:
    """The time by which things are thrown away. A clock that jumps ahead is believed only after an hour.

    So a clock that is wrong for a while expires and trims nothing that has to stay. One that was put back is
    believed at once: everything stays longer then.

    What passes while nobody has a file open cannot be told from a jump. So a file keeps the newest time that was
    believed (`start_from`). A clock that is more than a week ahead of that, at open or later, is held: it is
    believed when somebody has confirmed it. Until then time goes on from the newest that was believed.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        # Of the wall clock, as far as it is believed.
        self._offset_us = self._clock_offset_us()[1]
        self._ahead_since_us: int | None = None
        # The largest that was believed, here or elsewhere. None: nothing has to be confirmed, as in memory.
        self._trusted_us: int | None = None

    def start_from(self, trusted_us: int | None) -> None:
        """Go on from the newest time that was believed of a file; None if it does not know any."""
        elapsed_us, offset_us = self._clock_offset_us()
        self._trusted_us = offset_us if trusted_us is None else trusted_us - elapsed_us
        if offset_us > self._trusted_us + UNCONFIRMED_US_MAX:
            self._offset_us = self._trusted_us
            self._ahead_since_us = elapsed_us - _TRUSTED_AFTER_US

    def learn(self, trusted_us: int) -> None:
        """Learn of a time that another process believes."""
        if self._trusted_us is not None:
            self._trusted_us = max(self._trusted_us, trusted_us - self._clock.elapsed_us())

    def believe(self) -> None:
        """Believe the clock as it is: somebody has confirmed it, or there is nothing that it could take away."""
        self._offset_us = offset_us = self._clock_offset_us()[1]
        self._ahead_since_us = None
        if self._trusted_us is not None:
            self._trusted_us = offset_us

    def is_held(self) -> bool:
        """Tell whether the clock is so far ahead that somebody has to confirm it."""
        self.now_us()
        elapsed_us, offset_us = self._clock_offset_us()
        ahead_since_us = self._ahead_since_us  # read once: other threads ask for the time too
        return (
            ahead_since_us is not None
            and elapsed_us - ahead_since_us >= _TRUSTED_AFTER_US
            and self._is_doubtful(offset_us)
        )

    def now_us(self) -> int:
        elapsed_us, offset_us = self._clock_offset_us()
        if offset_us > self._offset_us + _AHEAD_US_MAX:
            ahead_since_us = self._ahead_since_us
            if ahead_since_us is None:
                self._ahead_since_us = ahead_since_us = elapsed_us
            if elapsed_us - ahead_since_us < _TRUSTED_AFTER_US or self._is_doubtful(offset_us):
                return self._offset_us + elapsed_us
        self._ahead_since_us = None
        self._offset_us = offset_us
        if self._trusted_us is not None:
            self._trusted_us = max(self._trusted_us, offset_us)
        return offset_us + elapsed_us

    def _clock_offset_us(self) -> tuple[int, int]:
        # The clock that nobody can put forward is read first: a process that is stopped between the two then sees
        # a jump ahead, which is not there when it looks again.
        elapsed_us = self._clock.elapsed_us()
        return elapsed_us, self._clock.now_us() - elapsed_us

    def _is_doubtful(self, offset_us: int) -> bool:
        return self._trusted_us is not None and offset_us > self._trusted_us + UNCONFIRMED_US_MAX
