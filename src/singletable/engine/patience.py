"""How much a request may do where others wait for it to end: on the event loop of a server.

How long a request is shows only while it is carried out. One that turns out to be long is given up, and done again
by somebody who has the time.
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
