"""Fixtures that every engine test uses: a database in memory and one in a file, each checked afterwards."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.check import check_file
from support.warm_commands import warm_commands

# How long an example takes says nothing on a busy machine; what it finds must be found again.
# A failure is made small, but not explained: that takes minutes.
settings.register_profile(
    "singletable", deadline=None, derandomize=True, max_examples=50, phases=set(Phase) - {Phase.explain}
)
settings.load_profile("singletable")

# A shell lets what it runs in the background ignore Ctrl-C, and programs inherit that; tests interrupt theirs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What is imported and collected stays to the end: the garbage collector need not look through it.
gc.disable()


def pytest_collection_finish() -> None:
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    """Where `db` is. Rooms whose tests cannot tell the difference say so in a conftest of their own."""
    found: str = request.param
    return found


@pytest.fixture
def db(place: str, tmp_path: Path, clock: ManualClock) -> Iterator[Database]:
    """A fresh database, verified from the outside when the test is over."""
    path = ":memory:" if place == "memory" else str(tmp_path / "test.db")
    with Database.open(path, durability="relaxed", clock=clock) as database:
        yield database
        assert database.check() == []
    if path != ":memory:":
        assert check_file(path) == []


@pytest.fixture(scope="module")
def calm_db() -> Iterator[Database]:
    """A database in memory for a whole module: for requests that are refused, or that only read."""
    with Database.open(":memory:", clock=ManualClock()) as database:
        yield database
        assert database.check() == []


@pytest.fixture(scope="session")
def warm_programs() -> Iterator[Path]:
    """A directory with a `python` and a `singletable` that start at once."""
    with warm_commands() as programs:
        yield programs
