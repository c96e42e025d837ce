"""Giving up copies of tables: when their process forks, and when their database is closed.

A fork cannot wait until a large table is copied, and SQLite forbids to carry a connection into a child. So those
who copy look between two pieces whether they are to end; after the fork they begin anew.
"""

from __future__ import annotations

import threading
from typing import Final

from singletable.storage import failures

_HALT_S_MAX: Final = 30.0


class GivenUpError(Exception):
    """A copy has ended before it was whole."""


class Copiers:
    """How many connections copy, and whether they are to end."""

    def __init__(self, stopping: threading.Event) -> None:
        """When `stopping` is set, the database is being closed."""
        self._stopping = stopping
        self._changing = threading.Condition()
        self._connections = 0
        self._is_halted = False

    def wait_to_begin(self) -> None:
        """Wait until a fork is over. Who holds a connection must not wait for it."""
        with self._changing:
            self._changing.wait_for(lambda: not self._is_halted)
        if self._stopping.is_set():
            raise failures.closed("the database")

    def begin(self) -> None:
        """Let a connection be used to copy, until `end`."""
        with self._changing:
            if self.must_end():
                raise GivenUpError
            self._connections += 1

    def end(self) -> None:
        with self._changing:
            self._connections -= 1
            self._changing.notify_all()

    def must_end(self) -> bool:
        """Tell whether those who hold a connection are to let go of it."""
        return self._is_halted or self._stopping.is_set()

    # --- by whoever forks -------------------------------------------------------------------

    def halt(self) -> None:
        """Let all connections be closed, and none be opened until `go_on`."""
        with self._changing:
            self._is_halted = True
            self._changing.wait_for(lambda: not self._connections, timeout=_HALT_S_MAX)

    def go_on(self) -> None:
        with self._changing:
            self._is_halted = False
            self._changing.notify_all()
