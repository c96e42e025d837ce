"""Ids that are unique everywhere, and in one process each is greater than those before it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from secrets import randbits
from threading import Lock
from uuid import UUID

NewId = Callable[[], str]


class OrderedIds:
    """Makes UUIDs of version 7 (RFC 9562): milliseconds first, then chance.

    Keys that end with such an id keep the order in which things happened, even within a millisecond. Two processes
    may disagree about that by chance, as their clocks do.
    """

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._last = 0
        self._lock = Lock()

    def __call__(self) -> str:
        """Return the next id."""
        milliseconds = int(self._now().timestamp() * 1000)
        version, variant = 0x7 << 76, 0b10 << 62
        fresh = milliseconds << 80 | version | randbits(12) << 64 | variant | randbits(62)
        with self._lock:
            self._last = max(fresh, self._last + 1)
            return str(UUID(int=self._last))
