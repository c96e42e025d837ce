"""Load by wrk: short bursts of one operation, in which every single answer has to be a 200."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.http_client import HOST
from benchmarks.http_servers import MissingToolError

if TYPE_CHECKING:
    from benchmarks.http_requests import Bodies

SCRIPT = Path(__file__).with_name("http_load.lua")
TIMEOUT_S = 30
NUMBERS_PER_BURST = 10_000_000
# Twelve digits, as the script writes them, and none of them a leading zero.
FIRST_NUMBERS = itertools.count(100_000_000_000, NUMBERS_PER_BURST)


class BurstError(Exception):
    """A burst in which something else than a 200 came back, or too little: its rate would mean nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """What wrk measured."""

    requests: int
    rate: float
    p50_ms: float
    p99_ms: float


def require_wrk() -> None:
    """Say what to install if wrk is missing."""
    if shutil.which("wrk") is None:
        raise MissingToolError(
            "wrk was not found", "the load comes from it: apt install wrk, or brew install wrk"
        )


class Load:
    """A burst under way, so that two can run at the same time."""

    def __init__(self, name: str, port: int, bodies: Bodies, *, connections: int, seconds: int) -> None:
        self.name = name
        self.port = port
        self.bodies = bodies
        self.connections = connections
        self.process = self._start(seconds)

    def _start(self, seconds: int, *more: str) -> subprocess.Popen[str]:
        first = next(FIRST_NUMBERS)
        command = ["wrk", "--threads", "1", "--connections", str(self.connections), "--duration", f"{seconds}s",
                   "--timeout", f"{TIMEOUT_S}s", "--script", str(SCRIPT), f"http://{HOST}:{self.port}", "--",
                   str(self.bodies.path), self.bodies.operation, str(first % 1_000_003), str(first),
                   *more]  # fmt: skip
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self) -> Burst:
        """Wait for the end; raise BurstError unless every answer was a whole 200."""
        output, _ = self.process.communicate()
        lines = [line for line in output.splitlines() if line.startswith("{")]
        if self.process.returncode != 0 or len(lines) != 1:
            raise BurstError(f"wrk failed against {self.name}: {output.strip()}")
        measured = json.loads(lines[0])
        self._check(measured)
        return Burst(
            requests=measured["requests"],
            rate=measured["requests"] / measured["duration_us"] * 1e6,
            p50_ms=measured["p50_us"] / 1000,
            p99_ms=measured["p99_us"] / 1000,
        )

    def _check(self, measured: dict[str, Any]) -> None:
        failed = {
            kind: measured[kind]
            for kind in ("connect", "read", "write", "status", "timeout")
            if measured[kind]
        }
        where = f"{self.name}, {self.bodies.operation}"
        if failed:
            what = f" It answered {self._bad_answer()}" if "status" in failed else ""
            raise BurstError(f"{where}: of {measured['requests']} requests failed {failed}.{what}")
        if measured["requests"] == 0:
            raise BurstError(f"{where}: no request was answered")
        bytes_mean = measured["bytes"] / measured["requests"]
        if bytes_mean < self.bodies.answer_bytes_min:
            raise BurstError(
                f"{where}: an answer has {bytes_mean:.0f} bytes, and should have {self.bodies.answer_bytes_min}"
            )

    def _bad_answer(self) -> str:
        output, _ = self._start(1, "show").communicate()
        shown = [line for line in output.splitlines() if line[:3].isdigit() and line[3:5] == ": "]
        return shown[0][:1000] if shown else "with 200 to everything when asked again"


def burst(name: str, port: int, bodies: Bodies, *, connections: int, seconds: int) -> Burst:
    """Load one server and wait for the result."""
    return Load(name, port, bodies, connections=connections, seconds=seconds).finish()
