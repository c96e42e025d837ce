"""Random operations against our engine and a plain model: every answer and every index agrees."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import singletable
from resilience.model.endpoints import Endpoint
from resilience.model.machine_log import LogMachine
from resilience.model.machine_reads import ModelMachine
from singletable.storage.check import check_file

# The short run draws the same operations each time; the soak draws others.
SHORT = settings(
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)
SOAK = settings(SHORT, max_examples=2000, stateful_step_count=40, derandomize=False)


class MemoryMachine(ModelMachine):
    """The machine on a database in memory."""

    def open(self) -> Endpoint:
        return Endpoint(singletable.Database.open(":memory:"))

    def close(self) -> None:
        self.endpoint.client.close()


class FileMachine(ModelMachine):
    """The machine on a file, which is closed and opened again now and then, and checked from outside."""

    def open(self) -> Endpoint:
        self.folder = Path(tempfile.mkdtemp(prefix="singletable-model-"))
        return self.connect()

    def connect(self) -> Endpoint:
        return Endpoint(singletable.Database.open(str(self.folder / "model.db"), durability="relaxed"))

    @rule()
    def reopen(self) -> None:
        self.endpoint.client.close()
        self.endpoint = self.connect()
        for name in self.tables:
            self.await_indexes(name)

    def close(self) -> None:
        self.endpoint.client.close()
        problems = check_file(str(self.folder / "model.db"))
        shutil.rmtree(self.folder)
        assert not problems


class LogMemoryMachine(LogMachine):
    """The machine with streams, time to live, recovery and backups, on a database in memory."""

    def open(self) -> Endpoint:
        return Endpoint(singletable.Database.open(":memory:", clock=self.clock))

    def close(self) -> None:
        problems = self.endpoint.client.check()
        self.endpoint.client.close()
        assert not problems


class LogFileMachine(LogMachine):
    """The same on a file, which is closed and opened again now and then, and checked from outside."""

    def open(self) -> Endpoint:
        self.folder = Path(tempfile.mkdtemp(prefix="singletable-model-"))
        return self.connect()

    def connect(self) -> Endpoint:
        path = self.folder / "model.db"
        return Endpoint(singletable.Database.open(path, durability="relaxed", clock=self.clock))

    @rule()
    def reopen(self) -> None:
        self.endpoint.client.close()
        self.endpoint = self.connect()

    def close(self) -> None:
        self.endpoint.client.close()
        problems = check_file(str(self.folder / "model.db"))
        shutil.rmtree(self.folder)
        assert not problems


MACHINES: list[type[RuleBasedStateMachine]] = [MemoryMachine, FileMachine, LogMemoryMachine, LogFileMachine]
IDS = ["memory", "file", "log-memory", "log-file"]


# What differs in memory is where rows are read: it needs fewer examples than everything that stands above it.
@pytest.mark.parametrize(("machine", "examples"), list(zip(MACHINES, (15, 40, 15, 40), strict=True)), ids=IDS)
def test_random_operations_agree_with_the_model(machine: type[RuleBasedStateMachine], examples: int) -> None:
    run_state_machine_as_test(machine, settings=settings(SHORT, max_examples=examples))


@pytest.mark.soak
@pytest.mark.parametrize("machine", MACHINES, ids=IDS)
def test_many_random_operations_agree_with_the_model(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=SOAK)
