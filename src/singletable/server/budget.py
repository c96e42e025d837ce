"""A bound on the memory that all connections together hold: bodies that arrive, answers that clients do not read.

When the bytes run out, the connections that have not moved for the longest time are cut, and lose theirs. So
clients that begin to send and stop, or ask and do not read, take the room from each other, but not from clients
that go on.
"""

from __future__ import annotations

from collections.abc import Callable

Cut = Callable[[], None]


class Budget:
    """A number of bytes to share. Each holder is known by the function that cuts its connection."""

    __slots__ = ("_held", "_held_bytes", "_left", "_total")

    def __init__(self, total: int) -> None:
        self._total = total
        self._left = total
        self._held: dict[Cut, int] = {}  # the longest without a move comes first
        self._held_bytes = 0

    @property
    def used(self) -> int:
        return self._total - self._left

    def take(self, amount: int, cut: Cut) -> bool:
        """Take more bytes, if need be from others. False: there are too few, and all held bytes are given back."""
        own_bytes = self.settle(cut)
        if amount > self._left + self._held_bytes:
            self._left += own_bytes
            return False
        while amount > self._left:
            longest = next(iter(self._held))
            self.release(longest)
            longest()
        self._left -= amount
        self._held[cut] = own_bytes + amount
        self._held_bytes += own_bytes + amount
        return True

    def release(self, cut: Cut) -> None:
        """Give back all that a connection holds."""
        self._left += self.settle(cut)

    def settle(self, cut: Cut) -> int:
        """Protect the bytes that a connection holds from others; return their number, for `give`."""
        held_bytes = self._held.pop(cut, 0)
        self._held_bytes -= held_bytes
        return held_bytes

    def give(self, amount: int) -> None:
        """Give back bytes that were settled."""
        self._left += amount
