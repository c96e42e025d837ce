"""Servers to measure: this one in its three ways to keep data, and the engines of scripts/with_peer.py.

Each is a process of its own with its usual settings. What cannot be installed or started here is left out.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import singletable
from benchmarks.http_client import Client
from benchmarks.http_results import LeftOut

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.append(str(SCRIPTS))

import with_peer  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

free_port = with_peer.free_port
START_S: Final = 60.0
POLL_S: Final = 0.001
TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
IDLE_CPU: Final = 0.1  # cores
IDLE_S: Final = 0.1
SETTLE_S_MAX: Final = 5.0


class MissingToolError(Exception):
    """Something that a benchmark needs is not on this machine."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.hint = hint


class ServerError(Exception):
    """A server did not start, or ended when it should not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A way to run an engine: where it keeps data, when that is on disk, and its command at a port."""

    engine: str
    place: str  # "memory" or "disk"
    way: str
    command: Callable[[Path, int], list[str]]  # given a directory for its data
    version: Callable[[], str]
    environment: Callable[[int], dict[str, str]] = field(default=lambda port: {})

    @property
    def name(self) -> str:
        return f"{self.engine}, {self.way}" if self.way else self.engine


def _singletable(*options: str) -> Callable[[Path, int], list[str]]:
    def command(directory: Path, port: int) -> list[str]:
        where = [str(directory / "singletable.db")] if options else []
        return [sys.executable, "-m", "singletable", "serve", *where, "--port", str(port), *options]

    return command


def _peer(name: str, *, drop: tuple[str, ...] = (), more: Callable[[Path], list[str]] | None = None) -> Kind:
    """A peer as with_peer.py runs it, in memory; or, with more options, on disk."""
    peer = with_peer.PEERS[name]

    def command(directory: Path, port: int) -> list[str]:
        usual = peer.command(with_peer.installed(name, peer), port)
        options = more(directory) if more else []
        return [*(argument for argument in usual if argument not in drop), *options]

    return Kind(
        engine="DynamoDB Local" if name == "aws-local" else name,
        place="disk" if more else "memory",
        way="on disk" if more else "in memory",
        command=command,
        version=lambda: peer.full_version,
        environment=peer.environment,
    )


def _own(place: str, way: str, *options: str) -> Kind:
    return Kind(
        engine="singletable",
        place=place,
        way=way,
        command=_singletable(*options),
        version=lambda: singletable.__version__,
    )


IN_MEMORY: Final = _own("memory", "in memory")
DURABLE: Final = _own("disk", "durable", "--durability", "full")
RELAXED: Final = _own("disk", "relaxed", "--durability", "relaxed")
OWN: Final = (IN_MEMORY, DURABLE, RELAXED)
PEERS: Final = (
    _peer("dynoxide"),
    _peer("dynoxide", more=lambda directory: ["--db-path", str(directory / "dynoxide.db")]),
    _peer("dynalite"),
    _peer("dynalite", more=lambda directory: ["--path", str(directory / "dynalite")]),
    _peer("ministack"),
    _peer("moto"),
    _peer("aws-local"),
    _peer("aws-local", drop=("-inMemory",), more=lambda directory: ["-dbPath", str(directory)]),
)

NEVER: Final = "never synced"
# When a write is synced. In 50 puts, strace saw 50 fdatasync of durable, none of relaxed and of dynalite, 53
# fsync of dynoxide, 200 of DynamoDB Local.
KEEPS: Final = {
    "singletable, durable": "synced before the answer",
    "singletable, relaxed": "synced soon after",
    "dynalite, on disk": NEVER,
    "dynoxide, on disk": "synced before the answer",
    "DynamoDB Local, on disk": "synced before the answer",
}


class Server:
    """A running server."""

    def __init__(self, kind: Kind, command: list[str], port: int, log: Path) -> None:
        self.kind = kind
        self.name = kind.name
        self.port = port
        self.log = log
        with log.open("wb") as output:
            self.started_s = time.perf_counter()
            self.process = subprocess.Popen(
                command,
                env={**os.environ, **kind.environment(port)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def check_alive(self) -> None:
        if self.process.poll() is not None:
            raise ServerError(f"{self.name} ended with {self.process.returncode}: {self.last_words()}")

    def last_words(self) -> str:
        return self.log.read_text(errors="replace")[-1000:].strip() or "it said nothing"

    def await_answer(self) -> None:
        """Wait until a request is answered. Asks every millisecond."""
        end_s = time.monotonic() + START_S
        while time.monotonic() < end_s:
            self.check_alive()
            client = Client(self.port)
            try:
                client.call("ListTables")
            except (OSError, http.client.HTTPException):
                time.sleep(POLL_S)
            else:
                return
            finally:
                client.close()
        raise ServerError(f"{self.name} does not answer: {self.last_words()}")

    def stop(self) -> None:
        with_peer.stop(self.process)


def start(kind: Kind, directory: Path) -> Server:
    """Start a server with a fresh directory for its data; it may not answer yet."""
    port = free_port()
    data = directory / kind.name.replace(", ", "-").replace(" ", "-")
    data.mkdir(exist_ok=True)
    log = data.with_suffix(".log")
    try:
        command = kind.command(data, port)
    except with_peer.UnavailableError as error:
        raise ServerError(f"{error}; {error.hint}") from None
    return Server(kind, command, port, log)


@contextmanager
def serving(kind: Kind, directory: Path) -> Iterator[Server]:
    """Run one server that has to start."""
    server = start(kind, directory)
    try:
        server.await_answer()
        yield server
    finally:
        server.stop()


@contextmanager
def all_serving(
    kinds: tuple[Kind, ...], directory: Path, say: Callable[[str], None]
) -> Iterator[tuple[list[Server], list[LeftOut]]]:
    """Run several servers at once. Peers that cannot run here are left out; ours have to run."""
    servers: list[Server] = []
    left_out: list[LeftOut] = []
    try:
        for kind in kinds:
            try:
                servers.append(start(kind, directory))
                servers[-1].await_answer()
            except ServerError as error:
                if kind in OWN:
                    raise
                if servers[-1].kind is kind:
                    servers.pop().stop()
                left_out.append(LeftOut(server=kind.name, why=str(error)))
                say(f"left out: {kind.name}: {error}")
        yield servers, left_out
    finally:
        for server in servers:
            server.stop()


# --- what processes use, as Linux tells it ------------------------------------------------------------------


def require_linux() -> None:
    """Say that CPU time and memory of processes are read from /proc."""
    if not Path("/proc/self/stat").exists():
        raise MissingToolError("/proc was not found", "what processes use is read from it: run this on Linux")


def cpu_s(*pids: int) -> list[float]:
    """The CPU time of each process with its descendants."""
    stats = _stats()
    return [
        sum(int(stats[each][11]) + int(stats[each][12]) for each in _family(pid, stats)) / TICKS_PER_S
        for pid in pids
    ]


def busy_s() -> float:
    """The CPU time that the whole machine has worked: user, nice, system, interrupts; not idle, not stolen."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return sum(int(fields[index]) for index in (1, 2, 3, 6, 7)) / TICKS_PER_S


def resident_mb(pid: int) -> float:
    """The memory that a process and its descendants have in RAM."""
    stats = _stats()
    return sum(int(stats[each][21]) for each in _family(pid, stats)) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _family(pid: int, stats: dict[int, list[str]]) -> list[int]:
    found = [pid] if pid in stats else []
    for parent in found:
        found += [child for child, fields in stats.items() if int(fields[1]) == parent]
    return found


def _stats() -> dict[int, list[str]]:
    """Of every process the fields of /proc/PID/stat that stand behind its name, from the state on."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
    return stats


def settle(servers: Sequence[Server]) -> None:
    """Wait until no server works any more, after what was asked of it (compactions, collections)."""
    os.sync()
    pids = [server.pid for server in servers]
    end_s = time.monotonic() + SETTLE_S_MAX
    while time.monotonic() < end_s:
        before_s = sum(cpu_s(*pids))
        time.sleep(IDLE_S)
        if sum(cpu_s(*pids)) - before_s <= IDLE_CPU * IDLE_S:
            return
