"""A client that asks again and again, a millisecond apart, and notes each wait.

    python -m benchmarks.http_probe PORT OPERATION BODIES FIRST
    python -m benchmarks.http_probe --disk FILE

It is a process of its own, so that nothing but the server and the machine makes it wait. With --disk it asks
no server: it appends 1 KB to a file and syncs it, which tells how long the disk itself makes others wait. It
says that it is ready, and asks from the first line on its input until the input ends; then it prints all
waits in milliseconds, as JSON.
"""

from __future__ import annotations

import gc
import itertools
import json
import random
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.floor import BareAppend
from benchmarks.http_client import Client
from benchmarks.http_load import FIRST_NUMBERS
from benchmarks.http_requests import UNIQUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.http_requests import Bodies

DISK = "append of 1 KB + fdatasync"
PAUSE_S = 0.001
DISK_PAUSE_S = 0.01  # it is not to be a load
APPEND = b"x" * 1024


class Probe:
    """A probe in a process of its own."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.http_probe", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    @classmethod
    def of_server(cls, port: int, bodies: Bodies) -> Probe:
        first = str(next(FIRST_NUMBERS))
        return cls(bodies.operation, str(port), bodies.operation, str(bodies.path), first)

    @classmethod
    def of_disk(cls, file: Path) -> Probe:
        return cls(DISK, "--disk", str(file))

    def go(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("a probe did not start")
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def finish(self) -> list[float]:
        """Stop asking; return the waits in milliseconds, the shortest first."""
        output, _ = self.process.communicate()
        if self.process.returncode != 0:
            raise RuntimeError(f"the probe of {self.name} failed")
        waits_ms: list[float] = json.loads(output)
        return sorted(waits_ms)


def ask_until_input_ends(
    ask: Callable[[bytes], object], bodies: Iterator[bytes], pause_s: float
) -> list[float]:
    gc.freeze()
    gc.disable()
    print("ready", flush=True)
    sys.stdin.readline()
    waits_ms: list[float] = []
    for body in bodies:
        started_s = time.perf_counter()
        ask(body)
        waits_ms.append((time.perf_counter() - started_s) * 1000)
        readable, _, _ = select.select([sys.stdin], [], [], pause_s)
        if readable:
            break
    return waits_ms


def probe_server(port: int, operation: str, path: Path, first: int) -> list[float]:
    lines = path.read_text(encoding="ascii").splitlines()
    choose = random.Random(first).choice
    bodies = (choose(lines).replace(UNIQUE, str(number)).encode() for number in itertools.count(first))
    client = Client(port)
    client.send(operation, next(bodies))
    return ask_until_input_ends(lambda body: client.send(operation, body), bodies, PAUSE_S)


def probe_disk(path: Path) -> list[float]:
    append = BareAppend(path)
    return ask_until_input_ends(append.append, itertools.repeat(APPEND), DISK_PAUSE_S)


def main(arguments: list[str]) -> None:
    if arguments[0] == "--disk":
        waits_ms = probe_disk(Path(arguments[1]))
    else:
        port, operation, bodies, first = arguments
        waits_ms = probe_server(int(port), operation, Path(bodies), int(first))
    print(json.dumps(waits_ms))


if __name__ == "__main__":
    main(sys.argv[1:])
