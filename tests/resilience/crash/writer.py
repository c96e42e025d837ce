"""A process whose threads write and report each write after it was acknowledged. It runs until it is killed.

usage: python -m resilience.crash.writer FILE SEED WRITER:NUMBER...  (each thread's writer and its first operation)
"""

from __future__ import annotations

import os
import sys
import threading

from resilience.crash.perform import perform
from resilience.crash.workload import Workload
from singletable import Database


def write_on(db: Database, workload: Workload, writer: int, number: int) -> None:
    """Carry out one operation after the other. A report is one small write to the pipe, so it stays whole."""
    while True:
        outcome = perform(db, workload.operation(writer, number))
        os.write(1, f"{writer} {number} {outcome}\n".encode())
        number += 1


def _guarded(db: Database, workload: Workload, writer: int, number: int) -> None:
    # One thread that fails must end the process, or the others would hide it.
    try:
        write_on(db, workload, writer, number)
    except BaseException as error:
        os.write(2, f"writer {writer}: {type(error).__name__}: {error}\n".encode())
        os._exit(3)


def main(arguments: list[str]) -> None:
    path, seed, *starts = arguments
    db = Database.open(path)
    for start in starts:
        writer, number = map(int, start.split(":"))
        threading.Thread(target=_guarded, args=(db, Workload(int(seed)), writer, number)).start()


if __name__ == "__main__":
    main(sys.argv[1:])
