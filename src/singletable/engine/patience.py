"""How much a read may do where others wait for it to end: on the event loop of a server.

How long a read is shows only while it is done. One that turns out to be long is given up, and done again by
somebody who has the time.
"""

from __future__ import annotations

from dataclasses import dataclass


class OutOfPatienceError(Exception):
    """The read is longer than its caller can wait."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The bounds of a short read."""

    rows: int
    decoded_rows: int  # that are filtered or narrowed: each costs ten times as much
    read_bytes: int

    def rows_max(self, *, decodes: bool) -> int:
        return self.decoded_rows if decodes else self.rows
