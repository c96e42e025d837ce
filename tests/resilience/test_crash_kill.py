"""Processes that are killed while they write lose nothing that they had acknowledged."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from resilience.crash.children import Reports, Stepper, start
from resilience.crash.model import Progress
from resilience.crash.tables import create_all, create_plain
from resilience.crash.verify import verify_file
from resilience.crash.workload import Workload
from singletable import Database


@dataclass
class CrashLoop:
    """One file, written by processes that are killed again and again."""

    path: Path
    seed: int
    processes: int = 1
    threads: int = 4
    progresses: dict[int, Progress] = field(init=False)

    def __post_init__(self) -> None:
        workload = Workload(self.seed)
        writers = range(self.processes * self.threads)
        self.progresses = {writer: Progress(workload, writer) for writer in writers}
        with Database.open(self.path) as db:
            create_all(db)

    def kill_after(self, reports_max: int) -> None:
        """Start the writers, kill them after so many reports, and verify the file."""
        with Reports([self._start(process) for process in range(self.processes)]) as reports:
            for count, line in enumerate(reports.lines(), 1):
                self._take(line)
                if count == reports_max:
                    reports.kill()  # what stands in the pipe was acknowledged too, so reading goes on
            reports.assert_killed()
        verify_file(self.path, self.progresses.values())
        for progress in self.progresses.values():
            progress.restarted()

    def _start(self, process: int) -> subprocess.Popen[bytes]:
        writers = range(process * self.threads, (process + 1) * self.threads)
        starts = [f"{writer}:{self.progresses[writer].acknowledged + 1}" for writer in writers]
        return start("writer", self.path, self.seed, *starts)

    def _take(self, line: str) -> None:
        writer, number, outcome = line.split()
        self.progresses[int(writer)].acknowledge(int(number), outcome)


def _kill_repeatedly(loop: CrashLoop, kills: int) -> None:
    random = Random(loop.seed)
    for _ in range(kills):
        loop.kill_after(random.choice((1, random.randint(2, 30), random.randint(30, 400))))


def test_killed_writer_threads_lose_nothing(tmp_path: Path) -> None:
    _kill_repeatedly(CrashLoop(tmp_path / "killed.db", seed=1), kills=7)


def test_two_killed_processes_lose_nothing(tmp_path: Path) -> None:
    _kill_repeatedly(CrashLoop(tmp_path / "killed.db", seed=2, processes=2, threads=2), kills=3)


def test_request_token_survives_a_kill(tmp_path: Path) -> None:
    """A client that got no answer sends its transaction again, and it is carried out once."""
    path = tmp_path / "killed.db"
    with Database.open(path) as db:
        create_plain(db, "things")
    update = {
        "TableName": "things",
        "Key": {"PK": {"S": "a"}},
        "UpdateExpression": "ADD Visits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    for _ in range(2):
        stepper = Stepper(path)
        try:
            stepper.ask("transact_write_items", TransactItems=[{"Update": update}], ClientRequestToken="once")
        finally:
            stepper.kill()
    with Database.open(path) as db:
        assert db.get_item(TableName="things", Key={"PK": {"S": "a"}})["Item"]["Visits"] == {"N": "1"}


@pytest.mark.soak
@pytest.mark.parametrize(("seed", "processes", "threads"), [(11, 1, 6), (12, 2, 3), (13, 3, 1)])
def test_nothing_is_lost_in_a_hundred_kills(tmp_path: Path, seed: int, processes: int, threads: int) -> None:
    loop = CrashLoop(tmp_path / "killed.db", seed, processes, threads)
    _kill_repeatedly(loop, kills=100)
