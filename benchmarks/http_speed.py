"""Requests a second over HTTP: this server and its peers, all running, in short bursts one after another.

A round gives every server one burst of every operation; the servers take turns in an order that is shuffled
each time, and everything is idle before a burst begins. wrk holds 16 connections and asks again as soon as it
has an answer. There are two tables, each with one index, items of 1 KB and partitions of 25: in one the items have
many attributes, in the other one long text.
"""

from __future__ import annotations

import itertools
import random
import resource
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks import http_servers
from benchmarks.http_client import AnswerError
from benchmarks.http_load import Burst, burst, require_wrk
from benchmarks.http_requests import (
    GET,
    MANY_ATTRIBUTES,
    OPERATIONS,
    PUT,
    QUERY,
    SHAPES,
    UPDATE,
    Bodies,
    check_table,
    load_table,
    make_source,
    versions_written,
    write_bodies,
)
from benchmarks.http_results import LeftOut, Rate, RateRatio, ratio_of
from benchmarks.http_servers import DURABLE, IN_MEMORY, Server
from benchmarks.payloads import SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

ITEMS = 4_000
CONNECTIONS = 16
BURST_S = 2
SLOW_BURST_S = 6  # of those that answer fewer than SLOW_REQUESTS in a usual burst
SLOW_REQUESTS = 200
ROUNDS = 4
QUICK_ROUNDS = 2
BUSY_CORES_MAX = 0.25  # with anything but the server and the load; more is said

# How many times as fast as the other, with many attributes: the operation, ours, the other.
GOALS = {
    (GET, IN_MEMORY.name, "dynalite, in memory"): 3.0,
    (GET, IN_MEMORY.name, "ministack, in memory"): 12.0,
    (QUERY, IN_MEMORY.name, "dynalite, in memory"): 8.0,
    (QUERY, IN_MEMORY.name, "ministack, in memory"): 40.0,
    (PUT, DURABLE.name, "dynalite, on disk"): 2.0,
    (UPDATE, IN_MEMORY.name, "dynalite, in memory"): 3.0,
    (UPDATE, DURABLE.name, "dynalite, on disk"): 3.0,
}


@dataclass(slots=True)
class Series:
    """The bursts of one server with one operation on items of one shape, a round each."""

    server: Server
    operation: str
    shape: str
    seconds: int = BURST_S
    bursts: list[Burst] = field(default_factory=list)
    server_cpu: list[float] = field(default_factory=list)
    elsewhere_cpu: list[float] = field(default_factory=list)

    @property
    def rates(self) -> list[float]:
        return [each.rate for each in self.bursts]

    def end_warm_up(self) -> None:
        if self.bursts[-1].requests < SLOW_REQUESTS:
            self.seconds = SLOW_BURST_S
        self.bursts, self.server_cpu, self.elsewhere_cpu = [], [], []

    def result(self) -> Rate:
        return Rate(
            operation=self.operation,
            shape=self.shape,
            server=self.server.name,
            version=self.server.kind.version(),
            rate=round(statistics.median(self.rates), 1),
            rate_low=round(min(self.rates), 1),
            rate_high=round(max(self.rates), 1),
            p50_ms=round(statistics.median(each.p50_ms for each in self.bursts), 3),
            p99_ms=round(statistics.median(each.p99_ms for each in self.bursts), 3),
            requests=sum(each.requests for each in self.bursts),
            server_cpu=round(statistics.median(self.server_cpu), 2),
            elsewhere_cpu=round(max(self.elsewhere_cpu), 2),
        )


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Rate | RateRatio | LeftOut]:
    """Measure this server and every peer that runs here."""
    http_servers.require_linux()
    require_wrk()
    kinds = (*http_servers.OWN, *http_servers.PEERS)
    say(f"starting {len(kinds)} servers")
    with http_servers.all_serving(kinds, directory, say) as (servers, left_out):
        sizes = SHAPES.values()
        bodies = {
            shape: write_bodies(directory, make_source(items=ITEMS, size=size))
            for shape, size in SHAPES.items()
        }
        for server in servers:
            say(f"loading {ITEMS:,} items of 1 KB of each shape into {server.name}")
            for size in sizes:
                load_table(server.port, make_source(items=ITEMS, size=size))
                check_table(server.port, make_source(items=ITEMS, size=size))
        every = measure(
            servers,
            bodies,
            rounds=QUICK_ROUNDS if quick else ROUNDS,
            say=say,
        )
        for server, size in itertools.product(servers, sizes):
            check_table(server.port, make_source(items=ITEMS, size=size))
            if versions_written(server.port, size.table) == 0:
                raise AnswerError(f"{server.name} has written nothing into {size.table}")
    return [*(each.result() for each in every), *ratios(every), *left_out]


def measure(
    servers: Sequence[Server],
    bodies: dict[str, dict[str, Bodies]],
    *,
    rounds: int,
    say: Callable[[str], None],
) -> list[Series]:
    """Run the rounds, and one before them that is dropped."""
    works = list(itertools.product(OPERATIONS, SHAPES))
    every = [Series(server, operation, shape) for operation, shape in works for server in servers]
    order = random.Random(SEED)
    for number in range(rounds + 1):
        for operation, shape in works:
            turns = [series for series in every if (series.operation, series.shape) == (operation, shape)]
            order.shuffle(turns)
            say(f"{f'round {number} of {rounds}' if number else 'warm-up'}: {operation}, {shape}")
            for series in turns:
                measure_burst(series, servers, bodies[shape][operation], say)
        if number == 0:
            for series in every:
                series.end_warm_up()
    return every


def measure_burst(
    series: Series, servers: Sequence[Server], bodies: Bodies, say: Callable[[str], None]
) -> None:
    server = series.server
    http_servers.settle(servers)
    before = Busy.now(servers)
    series.bursts.append(
        burst(server.name, server.port, bodies, connections=CONNECTIONS, seconds=series.seconds)
    )
    busy = Busy.now(servers).cores_since(before)
    series.server_cpu.append(busy.of_servers_s[server.name])
    series.elsewhere_cpu.append(busy.machine_s - busy.load_s - busy.of_servers_s.pop(server.name))
    if series.elsewhere_cpu[-1] > BUSY_CORES_MAX:
        say(
            f"beside {server.name}, {series.elsewhere_cpu[-1]:.2f} cores were busy with something else: "
            f"{sum(busy.of_servers_s.values()):.2f} with the other servers"
        )
    for each in servers:
        each.check_alive()


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """CPU time until now: of the machine, of the load that has ended, and of each server."""

    at_s: float
    machine_s: float
    load_s: float
    of_servers_s: dict[str, float]

    @classmethod
    def now(cls, servers: Sequence[Server]) -> Busy:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        times_s = http_servers.cpu_s(*(server.pid for server in servers))
        return cls(
            at_s=time.monotonic(),
            machine_s=http_servers.busy_s(),
            load_s=ended.ru_utime + ended.ru_stime,
            of_servers_s=dict(zip((server.name for server in servers), times_s, strict=True)),
        )

    def cores_since(self, before: Busy) -> Busy:
        """The same as cores that were kept busy since then."""
        elapsed_s = self.at_s - before.at_s
        return Busy(
            at_s=self.at_s,
            machine_s=(self.machine_s - before.machine_s) / elapsed_s,
            load_s=(self.load_s - before.load_s) / elapsed_s,
            of_servers_s={
                name: (time_s - before.of_servers_s[name]) / elapsed_s
                for name, time_s in self.of_servers_s.items()
            },
        )


def ratios(every: Sequence[Series]) -> list[RateRatio]:
    """Set this server against each peer: in memory against in memory, durable against on disk."""
    found = []
    for series in every:
        if series.server.kind in http_servers.OWN:
            continue
        ours = IN_MEMORY if series.server.kind.place == IN_MEMORY.place else DURABLE
        work = (series.operation, series.shape)
        (subject,) = [
            each for each in every if each.server.kind is ours and (each.operation, each.shape) == work
        ]
        goal = GOALS.get((series.operation, ours.name, series.server.name))
        ratio = ratio_of(
            series.operation,
            server=ours.name,
            rates=subject.rates,
            against=series.server.name,
            rates_against=series.rates,
            ratio_min=goal if series.shape == MANY_ATTRIBUTES else None,
            shape=series.shape,
        )
        found.append(ratio)
    return found
