"""Threads for long work that must not hold up requests: large backups, deletions, verifying files."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from singletable.storage.file import failures

_HALT_S_MAX: Final = 30.0


class BackupWorkers:
    """The threads of a database that do long work. When it is closed, they are told to stop, and waited for."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._changing = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}

    def start(self, name: str, work: Callable[[], None]) -> bool:
        """Do something in a thread, unless that is being done. Return False if the database is being closed."""

        def run() -> None:
            try:
                work()
            finally:
                with self._changing:
                    self._threads.pop(name, None)

        with self._changing:  # a waiter finds only threads that have been started
            if self.stopping.is_set():
                return False
            if name not in self._threads:
                thread = threading.Thread(target=run, name=f"singletable-{name}", daemon=True)
                thread.start()
                self._threads[name] = thread
            return True

    def wait(self) -> None:
        """Wait until nothing is being done."""
        while True:
            with self._changing:
                thread = next(iter(self._threads.values()), None)
            if thread is None or thread is threading.current_thread():
                return
            thread.join()

    def stop(self) -> None:
        """Let everything end soon, and wait for that; nothing is started any more."""
        with self._changing:
            self.stopping.set()
        self.wait()

    def forget(self) -> None:
        """In a forked child there are none; the parent's go on with the work."""
        is_stopping, self.stopping = self.stopping.is_set(), threading.Event()
        if is_stopping:
            self.stopping.set()
        self._changing = threading.Lock()
        self._threads = {}


# --- giving up copies of tables: when their process forks, and when their database is closed ------


class GivenUpError(Exception):
    """A copy has ended before it was whole."""


class Copiers:
    """How many connections copy, and whether they are to end.

    A fork cannot wait until a large table is copied, and SQLite forbids to carry a connection into a child. So a
    copier checks between two pieces whether it must end; after the fork it begins anew.
    """

    def __init__(self, stopping: threading.Event) -> None:
        """When `stopping` is set, the database is being closed."""
        self._stopping = stopping
        self._changing = threading.Condition()
        self._connections = 0
        self._is_halted = False

    def wait_to_begin(self) -> None:
        """Wait until a fork is over. The caller must hold no connection: the fork waits for that."""
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
        """Tell whether copiers must close their connections now."""
        return self._is_halted or self._stopping.is_set()

    # --- called by a fork -------------------------------------------------------------------

    def halt(self) -> None:
        """Let all connections be closed, and none be opened until `go_on`."""
        with self._changing:
            self._is_halted = True
            self._changing.wait_for(lambda: not self._connections, timeout=_HALT_S_MAX)

    def go_on(self) -> None:
        with self._changing:
            self._is_halted = False
            self._changing.notify_all()
