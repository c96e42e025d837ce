"""How long do others wait while a server does something large?

One client gets and one puts, each a request every millisecond or so, first while all is quiet and then beside
the work. A stall is by how much the longest wait of a client exceeds its median wait when all is quiet.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import http_servers
from benchmarks.http_client import Client
from benchmarks.http_probe import DISK, Probe
from benchmarks.http_requests import (
    GET,
    PUT,
    load_table,
    make_source,
    put_all,
    write_bodies,
)
from benchmarks.http_results import Latencies, percentile
from benchmarks.http_servers import DURABLE, IN_MEMORY, Server
from benchmarks.payloads import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.http_requests import Bodies
    from benchmarks.payloads import Item

ITEMS = 2_000
PHASE_S = 8.0
QUICK_PHASE_S = 2.0
SCANNED_ITEMS = 50_000
SCANNERS = 2
BACKFILLED_ITEMS = 100_000
BACKFILL_S_MAX = 120.0
LARGE_ITEMS = 25
LARGE_ITEM_BYTES = 300_000
LOGGED_KEYS = 20_000
LOGGED_ITEM_BYTES = 4_000
STALL_MS_MAX = 50.0

SMALL = "small"
LARGE = "large"
INDEXED = "indexed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Work to stand beside: what it needs in the database, and what does it until the event is set."""

    name: str
    prepare: Callable[[Client], None]
    work: Callable[[int, threading.Event], None]
    workers: int = 1
    ends_itself: bool = False
    on_disk_only: bool = False


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Latencies]:
    """Measure every case, on disk and in memory."""
    http_servers.require_linux()
    bodies = write_bodies(directory, make_source(items=ITEMS))
    phase_s = QUICK_PHASE_S if quick else PHASE_S
    results: list[Latencies] = []
    for kind in (DURABLE, IN_MEMORY):
        with http_servers.serving(kind, directory) as server:
            load_table(server.port, make_source(items=ITEMS))
            bench = StallBench(server, bodies, directory, phase_s=phase_s, say=say)
            for case in CASES:
                if kind is DURABLE or not case.on_disk_only:
                    results += bench.measure(case)
    return results


class StallBench:
    """One server and its two probes."""

    def __init__(
        self,
        server: Server,
        bodies: dict[str, Bodies],
        directory: Path,
        *,
        phase_s: float,
        say: Callable[[str], None],
    ) -> None:
        self.server = server
        self.directory = directory
        self.bodies = bodies
        self.phase_s = phase_s
        self.say = say

    def measure(self, case: Case) -> list[Latencies]:
        self.say(f"{self.server.name}: preparing {case.name}")
        client = Client(self.server.port)
        case.prepare(client)
        client.close()
        http_servers.settle([self.server])
        self.say(f"{self.server.name}: {case.name}")
        quiet = self._waits(None)
        beside = self._waits(case)
        return [
            self._result(case, client_name, quiet[client_name], beside[client_name]) for client_name in quiet
        ]

    def _waits(self, case: Case | None) -> dict[str, list[float]]:
        probes = [Probe.of_server(self.server.port, self.bodies[operation]) for operation in (GET, PUT)]
        if self.server.kind is DURABLE:
            probes.append(Probe.of_disk(self.directory / "probe"))
        for probe in probes:
            probe.go()
        if case is None:
            time.sleep(self.phase_s)
        else:
            with working(case, self.server.port) as workers:
                if case.ends_itself:
                    for worker in workers:
                        worker.join()
                else:
                    time.sleep(self.phase_s)
        return {probe.name: probe.finish() for probe in probes}

    def _result(self, case: Case, client: str, quiet_ms: list[float], waits_ms: list[float]) -> Latencies:
        quiet_p50_ms = percentile(quiet_ms, 50)
        return Latencies(
            server=self.server.name,
            beside=case.name,
            client=client,
            requests=len(waits_ms),
            quiet_p50_ms=round(quiet_p50_ms, 2),
            quiet_max_ms=round(quiet_ms[-1], 2),
            p50_ms=round(percentile(waits_ms, 50), 2),
            p99_ms=round(percentile(waits_ms, 99), 2),
            max_ms=round(waits_ms[-1], 2),
            stall_ms=round(waits_ms[-1] - quiet_p50_ms, 2),
            stall_ms_max=None if client == DISK else STALL_MS_MAX,
        )


class Worker(threading.Thread):
    """Does the work of a case; what it failed with is raised by `check`."""

    def __init__(self, case: Case, port: int, stopped: threading.Event) -> None:
        super().__init__()
        self.case = case
        self.port = port
        self.stopped = stopped
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            self.case.work(self.port, self.stopped)
        except Exception as error:
            self.failure = error

    def check(self) -> None:
        if self.failure is not None:
            raise self.failure


@contextmanager
def working(case: Case, port: int) -> Iterator[list[Worker]]:
    stopped = threading.Event()
    workers = [Worker(case, port, stopped) for _ in range(case.workers)]
    for worker in workers:
        worker.start()
    try:
        yield workers
    finally:
        stopped.set()
        for worker in workers:
            worker.join()
    for worker in workers:
        worker.check()


# --- the work ------------------------------------------------------------------------------------------------


class Text:
    """Text that differs everywhere each time: SQLite writes no page that already has the same bytes."""

    def __init__(self) -> None:
        self.random = random.Random(SEED)
        self.characters = self.random.randbytes(LARGE_ITEM_BYTES).hex()

    def next(self, length: int) -> str:
        start = self.random.randrange(len(self.characters) - length)
        return self.characters[start : start + length]


def create_table(client: Client, name: str) -> None:
    client.call(
        "CreateTable",
        TableName=name,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )


def small_items(count: int) -> Iterator[Item]:
    for number in range(count):
        yield {
            "PK": {"S": f"item/{number * 7919 % count:08d}"},
            "Colour": {"S": f"colour/{number % 1000}"},
            "Count": {"N": str(number)},
        }


def prepare_scans(client: Client) -> None:
    create_table(client, SMALL)
    put_all(client, SMALL, small_items(SCANNED_ITEMS))


def scan(port: int, stopped: threading.Event) -> None:
    """Scan the table, page by page, with a filter that nothing passes."""
    client = Client(port)
    start: dict[str, Any] = {}
    while not stopped.is_set():
        page = client.call(
            "Scan",
            TableName=SMALL,
            FilterExpression="contains(Colour, :c) AND #n < :n",
            ExpressionAttributeNames={"#n": "Count"},
            ExpressionAttributeValues={":c": {"S": "none"}, ":n": {"N": "1000"}},
            **start,
        )
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]} if "LastEvaluatedKey" in page else {}


def prepare_large_batches(client: Client) -> None:
    create_table(client, LARGE)


def write_large_batches(port: int, stopped: threading.Event) -> None:
    client = Client(port)
    text = Text()
    while not stopped.is_set():
        items = (
            {"PK": {"S": f"large/{position}"}, "Payload": {"S": text.next(LARGE_ITEM_BYTES)}}
            for position in range(LARGE_ITEMS)
        )
        put_all(client, LARGE, items)


def prepare_backfill(client: Client) -> None:
    create_table(client, INDEXED)
    put_all(client, INDEXED, small_items(BACKFILLED_ITEMS))


def backfill(port: int, stopped: threading.Event) -> None:
    """Have an index made over all items, and wait until it is filled."""
    client = Client(port)
    client.call(
        "UpdateTable",
        TableName=INDEXED,
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "Colour")],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "ByColour",
                    "KeySchema": [{"AttributeName": "Colour", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    )
    end_s = time.monotonic() + BACKFILL_S_MAX
    while time.monotonic() < end_s:
        table = client.call("DescribeTable", TableName=INDEXED)["Table"]
        if table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE" or stopped.wait(0.05):
            return
    raise TimeoutError("the index was not filled")


def fill_the_log(port: int, stopped: threading.Event) -> None:
    """Write over items all over a table, so that every checkpoint has many pages to copy."""
    client = Client(port)
    text = Text()
    while not stopped.is_set():
        items = (
            {"PK": {"S": f"logged/{key}"}, "Payload": {"S": text.next(LOGGED_ITEM_BYTES)}}
            for key in text.random.sample(range(LOGGED_KEYS), 25)
        )
        put_all(client, LARGE, items)


CASES = (
    Case(
        name=f"{SCANNERS} filtered scans of {SCANNED_ITEMS:,} items",
        prepare=prepare_scans,
        work=scan,
        workers=SCANNERS,
    ),
    Case(
        name=f"batches of {LARGE_ITEMS} x {LARGE_ITEM_BYTES // 1000} KB",
        prepare=prepare_large_batches,
        work=write_large_batches,
    ),
    Case(
        name=f"an index filled over {BACKFILLED_ITEMS:,} items",
        prepare=prepare_backfill,
        work=backfill,
        ends_itself=True,
    ),
    Case(
        name="checkpoints after many writes",
        prepare=lambda client: None,
        work=fill_the_log,
        on_disk_only=True,
    ),
)
