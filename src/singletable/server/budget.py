"""A bound on what all connections together may make a server hold: bodies that arrive, answers that nobody takes.

Where it is too much, those lose theirs who have taken no more for the longest time. So clients that begin to send
and do not go on, or ask and do not read, can take the room from each other, but not from those who do.
"""

from __future__ import annotations

from collections.abc import Callable

Cut = Callable[[], None]


class Budget:
    """So many bytes. Who holds some is known by the function that ends its connection."""

    __slots__ = ("_held", "_held_bytes", "_left", "_total")

    def __init__(self, total: int) -> None:
        self._total = total
        self._left = total
        self._held: dict[Cut, int] = {}  # who has not moved for the longest time comes first
        self._held_bytes = 0

    @property
    def used(self) -> int:
        return self._total - self._left

    def take(self, amount: int, cut: Cut) -> bool:
        """Take more bytes, if need be from others. False: there are too few; what it held is given back."""
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
        """Let nobody take from a connection any more what it holds; return how much that is, to be given back."""
        held_bytes = self._held.pop(cut, 0)
        self._held_bytes -= held_bytes
        return held_bytes

    def give(self, amount: int) -> None:
        """Give back what was settled."""
        self._left += amount
