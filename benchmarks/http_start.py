"""What a server costs that does nothing yet: the time to its first answer, its memory, a thousand connections."""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from typing import TYPE_CHECKING

from benchmarks import http_servers
from benchmarks.http_client import HOST, content_length, whole_request
from benchmarks.http_load import burst, require_wrk
from benchmarks.http_requests import (
    GET,
    OPERATIONS,
    Bodies,
    load_table,
    make_source,
    write_bodies,
)
from benchmarks.http_results import LeftOut, percentile
from benchmarks.http_servers import DURABLE, IN_MEMORY, Kind, Server, ServerError
from benchmarks.measure import Reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ITEMS = 2_000
STARTS = 15
QUICK_STARTS = 5
PEER_STARTS = 3
BURST_S = 2
QUICK_BURST_S = 1
BURST_CONNECTIONS = 16
OPEN_CONNECTIONS = 1_000
ASKING_CONNECTIONS = 10
ASKING_S = 5.0
OPENING_AT_ONCE = 50
ANSWER_S_MAX = 10.0

START_MS_MAX = 300.0
RESIDENT_MB_MAX = 60.0


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Reading | LeftOut]:
    """Measure starts and idle memory, also of peers; then connections."""
    http_servers.require_linux()
    require_wrk()
    results: list[Reading | LeftOut] = []
    for kind in (IN_MEMORY, DURABLE):
        say(f"starting {kind.name}")
        results += starts(kind, directory, count=QUICK_STARTS if quick else STARTS, has_goals=True)
    for kind in http_servers.PEERS:
        if kind.place == IN_MEMORY.place:
            say(f"starting {kind.name}")
            try:
                results += starts(kind, directory, count=PEER_STARTS, has_goals=False)
            except ServerError as error:
                results.append(LeftOut(server=kind.name, why=str(error)))
    return [*results, *under_load(directory, seconds=QUICK_BURST_S if quick else BURST_S, say=say)]


def starts(kind: Kind, directory: Path, *, count: int, has_goals: bool) -> list[Reading]:
    """Time from exec to the first answer; one start more is made before, which is not counted."""
    durations_ms = []
    resident_mb = []
    for number in range(count + 1):
        server = http_servers.start(kind, directory)
        try:
            server.await_answer()
            duration_ms = (time.perf_counter() - server.started_s) * 1000
            http_servers.settle([server])
            if number:
                durations_ms.append(duration_ms)
                resident_mb.append(http_servers.resident_mb(server.pid))
        finally:
            server.stop()
    start_ms_max, resident_mb_max = (START_MS_MAX, RESIDENT_MB_MAX) if has_goals else (None, None)
    return [
        reading(f"{kind.name}: start to the first answer", "ms", durations_ms, start_ms_max),
        reading(f"{kind.name}: memory when idle", "MB", resident_mb, resident_mb_max),
    ]


def reading(name: str, unit: str, values: list[float], value_max: float | None) -> Reading:
    return Reading(
        name=name,
        unit=unit,
        value=round(statistics.median(values), 1),
        low=round(min(values), 1),
        high=round(max(values), 1),
        value_max=value_max,
    )


def under_load(directory: Path, *, seconds: int, say: Callable[[str], None]) -> list[Reading]:
    """Measure what is left after a burst of everything; then many connections."""
    bodies = write_bodies(directory, make_source(items=ITEMS))
    with http_servers.serving(DURABLE, directory) as server:
        say(f"loading {ITEMS:,} items of 1 KB, and a burst of every operation")
        load_table(server.port, make_source(items=ITEMS))
        for operation in OPERATIONS:
            burst(server.name, server.port, bodies[operation], connections=BURST_CONNECTIONS, seconds=seconds)
        http_servers.settle([server])
        resident_mb = http_servers.resident_mb(server.pid)
        say(f"{OPEN_CONNECTIONS:,} connections, of which {ASKING_CONNECTIONS} ask")
        return [
            reading(f"{server.name}: memory after a burst", "MB", [resident_mb], RESIDENT_MB_MAX),
            *asyncio.run(hold_connections(server, bodies[GET])),
        ]


# --- connections ---------------------------------------------------------------------------------------------


class Asker:
    """A connection that asks for one item at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> None:
        self.reader = reader
        self.writer = writer
        self.request = request

    @classmethod
    async def open(cls, port: int, request: bytes) -> Asker:
        reader, writer = await asyncio.open_connection(HOST, port)
        return cls(reader, writer, request)

    async def ask(self) -> float:
        """Return how long the answer took, in milliseconds; raise OSError or EOFError if there is none."""
        started_s = time.perf_counter()
        self.writer.write(self.request)
        async with asyncio.timeout(ANSWER_S_MAX):
            head = await self.reader.readuntil(b"\r\n\r\n")
            await self.reader.readexactly(content_length(head))
        if not head.startswith(b"HTTP/1.1 200"):
            raise EOFError(f"the answer was {head[:40]!r}")
        return (time.perf_counter() - started_s) * 1000


async def hold_connections(server: Server, bodies: Bodies) -> list[Reading]:
    """Open many connections, let a few ask for some seconds, then ask once on every one of them."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with bodies.path.open("rb") as file:
        request = whole_request(bodies.operation, file.readline().strip())
    askers: list[Asker] = []
    lost = 0
    for first in range(0, OPEN_CONNECTIONS, OPENING_AT_ONCE):
        count = min(OPENING_AT_ONCE, OPEN_CONNECTIONS - first)
        opened = await asyncio.gather(*(opened_asker(server.port, request) for _ in range(count)))
        askers += [asker for asker in opened if asker is not None]
    lost += OPEN_CONNECTIONS - len(askers)
    waits_ms: list[float] = []
    for several in await asyncio.gather(*(keep_asking(asker) for asker in askers[:ASKING_CONNECTIONS])):
        waits_ms += several
    for asker in askers:
        lost += not await still_answers(asker)
    resident_mb = http_servers.resident_mb(server.pid)
    for asker in askers:
        asker.writer.close()
    name = f"{server.name}: of {OPEN_CONNECTIONS:,} connections"
    ordered = sorted(waits_ms)
    return [
        Reading(name=f"{name}, refused or lost", unit="connections", value=lost, value_max=0),
        Reading(
            name=f"{name}, {ASKING_CONNECTIONS} ask: wait for a get, p50",
            unit="ms",
            value=round(percentile(ordered, 50), 2),
        ),
        Reading(
            name=f"{name}, {ASKING_CONNECTIONS} ask: wait for a get, p99",
            unit="ms",
            value=round(percentile(ordered, 99), 2),
        ),
        reading(f"{server.name}: memory with {OPEN_CONNECTIONS:,} connections", "MB", [resident_mb], None),
    ]


async def opened_asker(port: int, request: bytes) -> Asker | None:
    try:
        asker = await Asker.open(port, request)
        await asker.ask()
    except (OSError, EOFError, TimeoutError):
        return None
    return asker


async def keep_asking(asker: Asker) -> list[float]:
    end_s = time.monotonic() + ASKING_S
    waits_ms = []
    while time.monotonic() < end_s:
        waits_ms.append(await asker.ask())
    return waits_ms


async def still_answers(asker: Asker) -> bool:
    try:
        await asker.ask()
    except (OSError, EOFError, TimeoutError):
        return False
    return True
