"""A server that is killed, or stopped, under many writers; and what must be in its file afterwards.

The writers are those of the crash tests (puts, updates, deletes, batches, transactions, a shared counter), each
with a connection of its own, so that many writes share a commit; and some that send many writes ahead.
"""

from __future__ import annotations

import signal
import threading
from collections import Counter
from typing import TYPE_CHECKING

from resilience.crash.model import Progress
from resilience.crash.perform import perform
from resilience.crash.tables import create_all
from resilience.crash.verify import assert_sound, verify_database
from resilience.crash.workload import Workload
from resilience.torture.pipelines import CREATE, Sequence, start_all, verify
from resilience.torture.table_client import DisconnectedError, TableClient
from resilience.torture.target import Target
from singletable import Database

if TYPE_CHECKING:
    from pathlib import Path

    from singletable.server import Address

FILE = "killed.db"
ROUND_S_MAX = 60.0


class KillLoop:
    """One file behind one or several servers, which end again and again in the middle of writes."""

    def __init__(
        self, directory: Path, seed: int, *, writers: int = 16, ahead: int = 3, servers: int = 1
    ) -> None:
        self._directory = directory
        self._path = directory / FILE
        self._servers = servers
        self._progresses = [Progress(Workload(seed), writer) for writer in range(writers)]
        self._sequences = [Sequence(f"sequence-{number}") for number in range(ahead)]
        self._furthest: dict[str, int] = {}
        self._lock = threading.Lock()
        self._enough = threading.Event()
        self._problems: list[str] = []
        self.acknowledged: Counter[str] = Counter()
        with Database.open(self._path) as db:
            create_all(db)
            db.create_table(**CREATE)

    def end_after(self, writes: int, number: signal.Signals) -> None:
        """Start the servers and writers, end the servers after so many writes, and verify the file."""
        wanted = self.acknowledged.total() + writes
        self._enough.clear()
        targets = [Target(self._directory, FILE) for _ in range(self._servers)]
        try:
            threads = [
                threading.Thread(
                    target=self._write, args=(progress, targets[at % len(targets)].address, wanted)
                )
                for at, progress in enumerate(self._progresses)
            ]
            for thread in threads:
                thread.start()
            threads += start_all(self._sequences, targets[0].address)
            is_enough = self._enough.wait(ROUND_S_MAX)
            for target in targets:
                target.process.send_signal(number)
            for thread in threads:
                thread.join(ROUND_S_MAX)
                assert not thread.is_alive(), "a writer hangs"
            assert not self._problems, self._problems
            assert is_enough, f"only {self.acknowledged.total()} of {wanted} writes in {ROUND_S_MAX} s"
            for target in targets:
                target.assert_ends(number)
                assert not target.said(), target.said()
        finally:
            for target in targets:
                target.close()
        self.verify()
        for progress in self._progresses:
            progress.restarted()

    def _write(self, progress: Progress, address: Address, wanted: int) -> None:
        try:
            with TableClient(address) as client:
                while True:
                    operation = progress.in_flight
                    outcome = perform(client.as_database(), operation)
                    progress.acknowledge(progress.acknowledged + 1, outcome)
                    with self._lock:
                        self.acknowledged[type(operation).__name__] += 1
                        if self.acknowledged.total() >= wanted:
                            self._enough.set()
        except DisconnectedError:
            return
        except BaseException as error:
            self._problems.append(f"writer {progress.writer}: {type(error).__name__}: {error}")
            self._enough.set()

    def verify(self) -> None:
        """Assert that the file holds what was acknowledged, and nothing by halves."""
        assert_sound(self._path)
        with Database.open(self._path) as db:
            verify_database(db, self._progresses)
            verify(db, self._sequences, self._furthest)
        assert_sound(self._path)
