"""Clients that write down what they asked, what they got, and when.

The times are of the one clock that all processes of a machine share, so a history may have many processes.
"""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Final

from resilience.torture.linearizable import Model, Step, check
from resilience.torture.objects import (
    ACCOUNTS,
    CREATE,
    Asked,
    Bank,
    Counter,
    Name,
    ask_bank,
    ask_counter,
    ask_name,
    open_bank,
)
from resilience.torture.table_client import DisconnectedError, TableClient
from resilience.torture.target import Target, environment, python

if TYPE_CHECKING:
    from pathlib import Path

    from singletable.server import Address

COUNTERS: Final = 3
NAMES: Final = 3
BANKS: Final = 2
RECORD_S_MAX: Final = 120.0

History = dict[str, list[Step]]  # of each object, by its name


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object: its model, and how it is asked."""

    model: Model
    ask: Callable[[TableClient, str, Asked], Any]


KINDS: Final = {
    "counter": Kind(Counter(), ask_counter),
    "name": Kind(Name(), ask_name),
    "bank": Kind(Bank(), ask_bank),
}


@dataclass
class Recorder:
    """One client: a connection, and its own dice. Every request it sends is another than all before."""

    client: int
    seed: int
    steps: list[tuple[str, Step]] = field(default_factory=list)
    problem: str | None = None
    _seen: dict[str, Any] = field(default_factory=dict)

    def record(self, address: Address, count: int, after: int = 0) -> None:
        """Ask so many times, or until the connection breaks."""
        random = Random(f"{self.seed}/{self.client}/{after}")
        try:
            with TableClient(address) as client:
                for number in range(after, after + count):
                    name, asked = self._next(random, number)
                    if not self._ask(client, name, asked):
                        return
        except DisconnectedError:
            return
        except BaseException as error:
            self.problem = f"client {self.client}: {type(error).__name__}: {error}"

    def _ask(self, client: TableClient, name: str, asked: Asked) -> bool:
        kind = KINDS[name.partition("#")[0]]
        began = time.monotonic_ns()
        try:
            answered = kind.ask(client, name, asked)
        except DisconnectedError:
            if asked[0] != "read":
                self.steps.append((name, Step(asked, None, began, None)))
            return False
        self.steps.append((name, Step(asked, answered, began, time.monotonic_ns())))
        if asked[0] in ("read", "add"):
            self._seen[name] = answered
        return True

    def _next(self, random: Random, number: int) -> tuple[str, Asked]:
        kind = random.choice(("counter", "name", "bank", "bank"))
        if kind == "bank":
            return f"bank#{random.randrange(BANKS)}", bank_request(random)
        if kind == "name":
            name = f"name#{random.randrange(NAMES)}"
            who = f"client {self.client}"
            return name, random.choice((("claim", who), ("release", who), ("read",)))
        name = f"counter#{random.randrange(COUNTERS)}"
        new = self.client * 1_000_000 + number
        swap = ("swap", self._seen.get(name), new)
        return name, random.choice((("add", random.randint(1, 5)), swap, swap, ("read",)))


def bank_request(random: Random) -> Asked:
    if random.random() < 0.3:
        return ("read",)
    source, target, guard = random.sample(range(ACCOUNTS), 3)
    return ("transfer", source, target, random.randint(1, 8), random.choice((source, guard)))


# --- many clients -----------------------------------------------------------------------------------


def record_in_threads(
    recorders: Iterable[Recorder], addresses: list[Address], count: int, after: int = 0
) -> Callable[[], None]:
    """Let every client ask, in a thread of its own; return how to wait for them."""
    recorders = list(recorders)
    threads = [
        threading.Thread(target=recorder.record, args=(addresses[at % len(addresses)], count, after))
        for at, recorder in enumerate(recorders)
    ]
    for thread in threads:
        thread.start()

    def wait() -> None:
        for thread in threads:
            thread.join(RECORD_S_MAX)
            assert not thread.is_alive(), "a client hangs"
        problems = [recorder.problem for recorder in recorders if recorder.problem]
        assert not problems, problems

    return wait


def record_in_processes(
    processes: int, clients: int, addresses: list[Address], count: int, seed: int
) -> History:
    """Let several processes with several clients each ask; return what all of them recorded."""
    where = [f"{address.host}:{address.port}" for address in addresses]
    children = [
        subprocess.Popen(
            python(
                "-m",
                "resilience.torture.recorder",
                *map(str, (seed, count, process * clients, clients)),
                *where[process % len(where) :],
                *where[: process % len(where)],
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        for process in range(processes)
    ]
    history: History = defaultdict(list)
    try:
        for child in children:
            printed, said = child.communicate(timeout=RECORD_S_MAX)
            assert child.returncode == 0, said.decode()
            for name, step in _read(printed):
                history[name].append(step)
    finally:
        for child in children:
            child.kill()
            child.communicate()
    return history


def written(name: str, step: Step) -> str:
    """A step as a line of text."""
    return json.dumps([name, step.asked, step.answered, step.began, step.ended])


def _read(printed: bytes) -> Iterator[tuple[str, Step]]:
    for line in printed.splitlines():
        name, asked, answered, began, ended = json.loads(line)
        yield (
            name,
            Step(tuple(asked), tuple(answered) if isinstance(answered, list) else answered, began, ended),
        )


# --- the verdict --------------------------------------------------------------------------------------


def gather(recorders: Iterable[Recorder]) -> History:
    history: History = defaultdict(list)
    for recorder in recorders:
        for name, step in recorder.steps:
            history[name].append(step)
    return history


def assert_linearizable(history: History) -> int:
    """Assert it of every object; return how many steps were explained."""
    explained = 0
    for name, steps in sorted(history.items()):
        verdict = check(KINDS[name.partition("#")[0]].model, steps)
        assert verdict, f"{name}: {verdict}"
        explained += verdict.explained
    return explained


# --- whole runs ---------------------------------------------------------------------------------------


def prepare(address: Address) -> None:
    """Create the table, and the banks with money in them."""
    with TableClient(address) as client:
        client.ask("CreateTable", **CREATE)
        for number in range(BANKS):
            open_bank(client, f"bank#{number}")


def record_beside_servers(
    directory: Path, seed: int, *, servers: int, count: int, processes: int = 3, clients: int = 4
) -> int:
    """Let clients of several processes ask several servers of one file; return how many steps were explained."""
    with ExitStack() as running:
        targets = [running.enter_context(Target(directory)) for _ in range(servers)]
        prepare(targets[0].address)
        history = record_in_processes(processes, clients, [target.address for target in targets], count, seed)
        for target in targets:
            target.assert_well()
            target.stop()
    return assert_linearizable(history)


def record_across_kills(
    directory: Path, seed: int, *, rounds: int, clients: int = 8, servers: int = 1
) -> int:
    """Kill the servers in each round; requests without an answer may have happened. Returns what was explained."""
    random = Random(seed)
    recorders = [Recorder(client, seed) for client in range(clients)]
    for number in range(rounds):
        with ExitStack() as running:
            targets = [running.enter_context(Target(directory)) for _ in range(servers)]
            if number == 0:
                prepare(targets[0].address)
            before = sum(len(recorder.steps) for recorder in recorders)
            wait = record_in_threads(
                recorders, [target.address for target in targets], 10_000, number * 10_000
            )
            wanted = before + random.randint(20, 200)
            ends_s = time.monotonic() + RECORD_S_MAX
            while sum(len(recorder.steps) for recorder in recorders) < wanted and time.monotonic() < ends_s:
                targets[0].ping()
            for target in targets:
                target.process.send_signal(signal.SIGKILL)
            wait()
    with Target(directory) as target:
        record_in_threads(recorders, [target.address], 20, rounds * 10_000)()
        target.stop()
    return assert_linearizable(gather(recorders))
