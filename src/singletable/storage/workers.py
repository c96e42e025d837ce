"""Threads for what takes long and holds up no request: large backups, deletions, files that are verified."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Workers:
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

        with self._changing:  # whoever waits finds a thread that has been started
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
