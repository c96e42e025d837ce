"""How much a request may read on the event loop of a server, where all others wait for it.

The length of a request shows only while it runs. One that turns out to be long is given up, and run again in a
thread.
"""

from __future__ import annotations

from dataclasses import dataclass


class OutOfPatienceError(Exception):
    """The request is longer than its caller can wait."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The bounds of a short read."""

    rows: int
    read_bytes: int
    decoded_rows: int  # that are filtered, projected or narrowed: each costs ten times as much
    decoded_bytes: int

    def rows_max(self, *, decodes: bool) -> int:
        return self.decoded_rows if decodes else self.rows

    def check(self, read_bytes: int, *, decodes: bool) -> None:
        """Give up a request that has read so much."""
        if read_bytes > (self.decoded_bytes if decodes else self.read_bytes):
            raise OutOfPatienceError
