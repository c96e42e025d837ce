"""A power cut at any moment leaves everything that was acknowledged, whatever the disk did with the rest."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from copy import copy
from pathlib import Path
from random import Random

import pytest

from resilience.crash.logged_work import LoggedWork, left_by
from resilience.crash.model import Progress
from resilience.crash.perform import perform
from resilience.crash.powercut_vfs import POWERCUT, PowerCutDisk, powercut_disk
from resilience.crash.tables import create_all
from resilience.crash.verify import (
    assert_indexes_agree,
    assert_sound,
    expected_items,
    read_tables,
    resolve,
    verify_file,
)
from resilience.crash.workload import Workload
from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.log import EXPIRED

# Large items fill the log fast, so that it is copied into the file (a checkpoint) several times.
LARGE_BYTES = 120_000


def _write(db: Database, progress: Progress) -> None:
    number = progress.acknowledged + 1
    progress.acknowledge(number, perform(db, progress.workload.operation(progress.writer, number)))


@contextmanager
def _power_cut(disk: PowerCutDisk, tmp_path: Path, random: Random | None) -> Iterator[Path]:
    """Yield the file as a power cut now would leave it."""
    directory = tmp_path / "image"
    directory.mkdir()
    disk.image(directory, random=random)
    yield directory / "app.db"
    shutil.rmtree(directory)


@pytest.mark.parametrize(
    ("seed", "operations"), [(1, 90), pytest.param(2, 1500, marks=pytest.mark.soak)], ids=["short", "long"]
)
def test_power_cut_after_any_acknowledged_write_loses_nothing(
    tmp_path: Path, seed: int, operations: int
) -> None:
    random = Random(seed)
    progress = Progress(Workload(seed, large=0.25, large_bytes=LARGE_BYTES), writer=0)
    with powercut_disk() as disk:
        db = Database.open(tmp_path / "app.db", vfs=POWERCUT)
        create_all(db)
        for number in range(operations):
            if number % 40 == 39:  # closing copies and deletes the log
                db.close()
                db = Database.open(tmp_path / "app.db", vfs=POWERCUT)
            _write(db, progress)
            with _power_cut(disk, tmp_path, random if number % 2 else None) as image:
                verify_file(image, [progress])
        db.close()
        assert disk.checkpointed_writes > 100, "the log was never copied into the file"


def test_power_cut_under_concurrent_writers_loses_nothing(tmp_path: Path) -> None:
    workload = Workload(3, large=0.25, large_bytes=LARGE_BYTES)
    progresses = [Progress(workload, writer) for writer in range(4)]
    random = Random(3)
    with powercut_disk() as disk, Database.open(tmp_path / "app.db", vfs=POWERCUT) as db:
        create_all(db)
        with _Writers(db, progresses) as writers:
            for _ in range(12):
                writers.wait_for(random.randint(1, 12))
                with ExitStack() as stack:
                    with writers.gate:
                        known = [copy(progress) for progress in progresses]
                        image = stack.enter_context(_power_cut(disk, tmp_path, random))
                    verify_file(image, known)


@pytest.mark.parametrize(
    ("seed", "steps"), [(6, 32), pytest.param(7, 400, marks=pytest.mark.soak)], ids=["short", "long"]
)
def test_power_cut_loses_nothing_of_a_log_and_of_those_who_live_by_it(
    tmp_path: Path, seed: int, steps: int
) -> None:
    """Neither a record nor a consumer's position; what has expired or was trimmed does not come back."""
    random = Random(seed)
    clock = ManualClock()
    with powercut_disk() as disk:
        db = Database.open(tmp_path / "app.db", vfs=POWERCUT, clock=clock)
        work = LoggedWork(db, clock)
        for number in range(1, steps + 1):
            if number % 15 == 0:
                db.close()
                db = Database.open(tmp_path / "app.db", vfs=POWERCUT, clock=clock)
                work.reopened(db)
            work.step(number)
            for unsynced in (None, random):
                with _power_cut(disk, tmp_path, unsynced) as image:
                    assert_sound(image)
                    with Database.open(image, clock=ManualClock(clock.time_us)) as found:
                        assert left_by(found) == left_by(db)
        log = left_by(db)["log"]
        assert log[0].seq > 1, "nothing was trimmed"
        assert EXPIRED in {entry.event for entry in log}, "nothing has expired"
        db.close()


class _Writers:
    """Threads that write on. Whoever holds the gate knows that each is at most one operation ahead."""

    def __init__(self, db: Database, progresses: list[Progress]) -> None:
        self.gate = threading.Lock()
        self._db = db
        self._stop = threading.Event()
        self._acknowledged = threading.Semaphore(0)
        self._pool = ThreadPoolExecutor(len(progresses))
        self._runs = [self._pool.submit(self._write_on, progress) for progress in progresses]

    def wait_for(self, writes: int) -> None:
        for _ in range(writes):
            assert self._acknowledged.acquire(timeout=60)

    def _write_on(self, progress: Progress) -> None:
        while not self._stop.is_set():
            number = progress.acknowledged + 1
            outcome = perform(self._db, progress.workload.operation(progress.writer, number))
            with self.gate:
                progress.acknowledge(number, outcome)
            self._acknowledged.release()

    def __enter__(self) -> _Writers:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._pool.shutdown()
        for run in self._runs:
            run.result()


@pytest.mark.parametrize("seed", [4, pytest.param(5, marks=pytest.mark.soak)])
def test_relaxed_durability_loses_only_the_newest_writes(tmp_path: Path, seed: int) -> None:
    """Relaxed, a power cut may take the last writes, but leaves the state after an earlier one, whole."""
    random = Random(seed)
    path = tmp_path / "app.db"
    progress = Progress(Workload(seed, large=0.25, large_bytes=LARGE_BYTES), writer=0)
    history = [copy(progress)]
    lost_writes = 0
    with Database.open(path) as db:
        create_all(db)
    with powercut_disk() as disk, Database.open(path, vfs=POWERCUT, durability="relaxed") as db:
        for _ in range(60):
            _write(db, progress)
            history.append(copy(progress))
            with _power_cut(disk, tmp_path, random) as image:
                lost_writes += _lost_writes(image, history)
    # If nothing were ever lost, this disk would forget to forget, and the other tests would prove nothing.
    assert lost_writes > 0


def _lost_writes(path: Path, history: list[Progress]) -> int:
    with Database.open(path, durability="relaxed") as db:
        found = read_tables(db)
        assert_indexes_agree(db)
    assert_sound(path)  # before, `check` tells what of the log is left out
    for lost, progress in enumerate(reversed(history)):
        if found == expected_items({progress.writer: resolve(progress, found)}):
            return lost
    raise AssertionError("the image is no state that ever was")
