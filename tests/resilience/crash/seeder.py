"""Run `singletable seed`, or what a demo runs, many times, each killed at another write or truncate.

usage: python -m resilience.crash.seeder seed SYSTEM DAY FILE:CALL...
       python -m resilience.crash.seeder demo SYSTEM DAY FILE:CALL...

A call of 0 kills nobody: then the number of calls that it took is printed. A run is a fork of this process, which
has no other threads and no database open.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from resilience.crash.faulty_disk import Fault, faulty_disk
from singletable import Database
from singletable.cli import main as singletable
from singletable.cli.demo import run_systems
from singletable.systems import find_system


def seed(system: str, day: str, file: str) -> None:
    with redirect_stdout(StringIO()):
        assert singletable(["seed", system, "--day", day, "--target", file, "--json"]) == 0


def demo(system: str, day: str, file: str) -> None:
    """Begin to run a system, of today, as a demo does before it serves."""
    with Database.open(file) as database, run_systems(database, [find_system(system)]):
        pass


def run_killed(work: Callable[[str, str, str], None], system: str, day: str, file: str, kill_at: int) -> None:
    """Work on a file until the process is killed."""
    with faulty_disk(Path(file)) as disk:
        if kill_at:
            disk.arm(Fault.KILL, at=kill_at)
        work(system, day, file)
        print(len(disk.calls), flush=True)


def main(what: str, system: str, day: str, *runs: str) -> None:
    find_system(system)  # imported once, for all
    for run in runs:
        file, _, kill_at = run.rpartition(":")
        child = os.fork()
        if child == 0:
            run_killed({"seed": seed, "demo": demo}[what], system, day, file, int(kill_at))
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
