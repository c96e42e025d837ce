"""A bound on what all connections together may make a server hold: bodies that arrive, answers that nobody takes.

Where it is too much, those lose theirs who have held it the longest. So clients that begin to send and do not go
on, or ask and do not read, can take the room from each other, but not from those who do.
"""

from __future__ import annotations

from collections.abc import Callable

Cut = Callable[[], None]


class Budget:
    """So many bytes. Who holds some is known by the function that ends its connection."""

    __slots__ = ("_held", "_left", "_total")

    def __init__(self, total: int) -> None:
        self._total = total
        self._left = total
        self._held: dict[Cut, int] = {}  # the longest held first

    @property
    def used(self) -> int:
        return self._total - self._left

    def take(self, amount: int, cut: Cut) -> bool:
        """Take more bytes, if need be from others. False: there are too few even so."""
        while amount > self._left:
            longest = next((other for other in self._held if other != cut), None)
            if longest is None:
                return False
            self.release(longest)
            longest()
        self._left -= amount
        self._held[cut] = self._held.get(cut, 0) + amount
        return True

    def release(self, cut: Cut) -> None:
        """Give back all that a connection holds."""
        self._left += self._held.pop(cut, 0)

    def settle(self, cut: Cut) -> int:
        """Let nobody take from a connection any more what it holds; return how much that is, to be given back."""
        return self._held.pop(cut, 0)

    def give(self, amount: int) -> None:
        """Give back what was settled."""
        self._left += amount
