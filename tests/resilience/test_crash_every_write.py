"""A process that dies in the middle of any write or truncate leaves a database that is whole."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from resilience.crash import children
from resilience.crash.almost_full_log import Template, make_template
from resilience.crash.faulty_disk import faulty_disk
from resilience.crash.kill_points import SURVIVED
from resilience.crash.perform import perform
from resilience.crash.verify import verify_file
from resilience.crash.workload import Workload
from singletable import Database

WORKLOAD = Workload(7, large=0.1, large_bytes=60_000)
OPERATIONS = 30


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return make_template(tmp_path_factory.mktemp("template"), WORKLOAD)


def _count_calls(template: Template, directory: Path) -> int:
    path = template.copy_to(directory)
    with faulty_disk(path) as disk:
        with Database.open(path) as db:
            for number in range(template.operations + 1, template.operations + 1 + OPERATIONS):
                perform(db, WORKLOAD.operation(0, number))
        files = {call.file for call in disk.calls}
        assert files == {"", "-wal", "-shm"}, "a commit, a checkpoint and the shared memory are to be met"
        return len(disk.calls)


def _die_and_verify(template: Template, tmp_path: Path, kill_points: list[int]) -> None:
    runs = []
    for kill_at in kill_points:
        directory = tmp_path / f"{kill_at}"
        directory.mkdir()
        template.copy_to(directory)
        runs.append(f"{directory}:{kill_at}")
    first = template.operations + 1
    last = template.operations + OPERATIONS
    arguments = (WORKLOAD.seed, WORKLOAD.large, WORKLOAD.large_bytes, first, last)
    children.run("kill_points", *map(str, arguments), *runs)
    for kill_at in kill_points:
        _verify_run(template, tmp_path / f"{kill_at}")


def _verify_run(template: Template, directory: Path) -> None:
    reports = (directory / "reports").read_text().splitlines()
    assert SURVIVED not in reports, "the process was not killed"
    progress = template.progress()
    for report in reports:
        number, outcome = report.split()
        progress.acknowledge(int(number), outcome)
    verify_file(directory / "app.db", [progress])


def test_death_in_the_middle_of_a_write_loses_nothing(template: Template, tmp_path: Path) -> None:
    counting = tmp_path / "counting"
    counting.mkdir()
    calls = _count_calls(template, counting)
    _die_and_verify(template, tmp_path, sorted(Random(7).sample(range(1, calls + 1), 40)))


@pytest.mark.soak
def test_death_in_the_middle_of_every_write_loses_nothing(template: Template, tmp_path: Path) -> None:
    counting = tmp_path / "counting"
    counting.mkdir()
    calls = _count_calls(template, counting)
    for start in range(1, calls + 1, 100):
        _die_and_verify(template, tmp_path, list(range(start, min(start + 100, calls + 1))))
