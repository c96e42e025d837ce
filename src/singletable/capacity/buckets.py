"""A token bucket: how much can be consumed at once, and how fast that comes back.

A request is admitted while anything is left, and its cost is taken afterwards, since the cost of a read is known
only when it is done. So the level may fall below zero, and later requests are refused until the debt is paid back.

Time is an argument. All figures are whole numbers inside, so that nothing is lost by rounding: a unit has a
million parts, and a rate of one unit a second brings one part with each microsecond.
"""

from __future__ import annotations

from typing import Final

_PARTS: Final = 1_000_000


class TokenBucket:
    """Units that come back at a rate, up to a depth."""

    __slots__ = ("_at_us", "_depth", "_level", "_rate")

    def __init__(self, *, rate: int, depth: int, level: int, at_us: int) -> None:
        self._rate = rate
        self._depth = depth * _PARTS
        self._level = min(level, depth) * _PARTS
        self._at_us = at_us

    def level(self, now_us: int) -> float:
        """Return how many units are left; a debt is negative."""
        self._refill(now_us)
        return self._level / _PARTS

    def admits(self, now_us: int) -> bool:
        """Tell whether a request may be carried out. Its cost need not be known."""
        self._refill(now_us)
        return self._level > 0

    def is_full(self, now_us: int) -> bool:
        """Tell whether the bucket is full: then a new one would be the same."""
        self._refill(now_us)
        return self._level == self._depth

    def charge(self, units: float, now_us: int) -> None:
        """Take the cost of a request."""
        self._refill(now_us)
        self._level -= round(units * _PARTS)

    def change(self, *, rate: int, depth: int, now_us: int) -> None:
        """Change rate and depth. Saved units stay, up to the new depth; so does a debt."""
        self._refill(now_us)
        self._rate = rate
        self._depth = depth * _PARTS
        self._level = min(self._level, self._depth)

    def _refill(self, now_us: int) -> None:
        passed_us = now_us - self._at_us
        if passed_us > 0:  # else the clock was put back: the level stays
            self._level = min(self._level + self._rate * passed_us, self._depth)
            self._at_us = now_us
