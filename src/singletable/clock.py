"""Where time comes from. Nothing else in the package asks the operating system what time it is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


class Clock(Protocol):
    """A source of wall-clock time."""

    def now_us(self) -> int:
        """Return microseconds since the Unix epoch."""
        ...


class SystemClock:
    """The clock of the machine."""

    __slots__ = ()

    def now_us(self) -> int:
        return time.time_ns() // 1000


@dataclass(slots=True)
class ManualClock:
    """A clock that moves only when told to; for tests and replays."""

    time_us: int = 1_700_000_000_000_000

    def now_us(self) -> int:
        return self.time_us

    def advance(self, seconds: float) -> None:
        self.time_us += int(seconds * 1_000_000)
