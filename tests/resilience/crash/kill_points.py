"""Run a workload many times, each killed at another write or truncate, in the middle of it.

usage: python -m resilience.crash.kill_points SEED LARGE LARGE_BYTES FIRST LAST DIRECTORY:CALL...

Each directory holds a copy of the same database. What was acknowledged is appended to the file "reports" in
it. A run is a fork of this process, which has no other threads and no database open: that is forty times
faster than a fresh Python.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from resilience.crash.faulty_disk import Fault, faulty_disk
from resilience.crash.perform import perform
from resilience.crash.workload import Workload
from singletable import Database

SURVIVED = "survived"


def run(directory: Path, workload: Workload, first: int, last: int, kill_at: int) -> None:
    """Carry out the operations until the process is killed."""
    reports = os.open(directory / "reports", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    path = directory / "app.db"
    with faulty_disk(path) as disk:
        disk.arm(Fault.KILL, at=kill_at)
        with Database.open(path) as db:
            for number in range(first, last + 1):
                outcome = perform(db, workload.operation(0, number))
                os.write(reports, f"{number} {outcome}\n".encode())
    os.write(reports, f"{SURVIVED}\n".encode())


def main(arguments: list[str]) -> None:
    seed, large, large_bytes, first, last, *runs = arguments
    workload = Workload(int(seed), float(large), int(large_bytes))
    for entry in runs:
        directory, _, kill_at = entry.rpartition(":")
        child = os.fork()
        if child == 0:
            run(Path(directory), workload, int(first), int(last), int(kill_at))
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
