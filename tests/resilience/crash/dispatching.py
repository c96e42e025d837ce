"""Send the due reminders of many Kefirs, each in a process that is killed at another write or truncate.

usage: python -m resilience.crash.dispatching NOW_S FILE:CALL...

What is pushed is appended to the file FILE.pushed, a reminder a line. A call of 0 kills nobody: then the number of
calls that it took is printed. A run is a fork of this process, which has no other threads and no database open.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from resilience.crash.faulty_disk import Fault, faulty_disk
from singletable import Database
from singletable.clock import ManualClock
from singletable_systems.kefir import Dispatcher, Kefir
from singletable_systems.kefir.services.push import Message, Ticket


class WrittenPush:
    """Appends what is pushed to a file, which outlives the process."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def send(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        for message in messages:
            os.write(self._file, f"{message.body}\n".encode())
        return [Ticket() for _ in messages]


def send_due(now_s: int, file: str, kill_at: int) -> None:
    """Send what is due, until the process is killed."""
    with faulty_disk(Path(file)) as disk:
        clock = ManualClock(now_s * 1_000_000)
        with Database.open(file, clock=clock) as database, Kefir.open(database, stage="test") as db:
            before = len(disk.calls)
            if kill_at:
                disk.arm(Fault.KILL, at=kill_at)
            Dispatcher(db, WrittenPush(f"{file}.pushed")).send_due()
            print(len(disk.calls) - before, flush=True)


def main(now_s: str, *runs: str) -> None:
    for run in runs:
        file, _, kill_at = run.rpartition(":")
        child = os.fork()
        if child == 0:
            send_due(int(now_s), file, int(kill_at))
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
