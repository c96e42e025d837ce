"""Do readers notice a slow disk? Gets alone, and gets while others put, on a disk whose sync takes 3 ms longer.

The phases take turns. Reads are answered on the event loop and writes wait in threads, so what readers lose
is the processor's time that the writes need, not the disk's.
"""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING

import singletable
from benchmarks import http_servers
from benchmarks.http_load import Load, burst, require_wrk
from benchmarks.http_requests import GET, PUT, check_table, load_table, make_source, write_bodies
from benchmarks.http_results import Rate, RateRatio, ratio_of
from benchmarks.http_servers import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmarks.http_load import Burst

ITEMS = 4_000
SYNC_MS = 3
READERS = 12
WRITERS = 4
BURST_S = 2
ROUNDS = 10
QUICK_ROUNDS = 3
KEPT_MIN = 0.6

ALONE = "gets alone"
BESIDE = f"gets beside {WRITERS} writers"
WRITING = f"puts of {WRITERS} writers"


def command(directory: Path, port: int) -> list[str]:
    file = str(directory / "slow.db")
    module = [sys.executable, "-m", "benchmarks.slow_disk_server"]
    return [*module, file, "--port", str(port), "--sync-ms", str(SYNC_MS)]


SLOW_DISK = Kind(
    engine="singletable",
    place="disk",
    way=f"durable, sync of {SYNC_MS} ms",
    command=command,
    version=lambda: singletable.__version__,
)


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Rate | RateRatio]:
    """Measure in turns; the goal is on the share of their rate that gets keep."""
    http_servers.require_linux()
    require_wrk()
    rounds = QUICK_ROUNDS if quick else ROUNDS
    phases: dict[str, list[Burst]] = {ALONE: [], BESIDE: [], WRITING: []}
    with http_servers.serving(SLOW_DISK, directory) as server:
        say(f"loading {ITEMS:,} items of 1 KB")
        load_table(server.port, make_source(items=ITEMS))
        check_table(server.port, make_source(items=ITEMS))
        bodies = write_bodies(directory, make_source(items=ITEMS))
        for number in range(rounds + 1):
            say(f"round {number} of {rounds}" if number else "warm-up")
            http_servers.settle([server])
            alone = burst(ALONE, server.port, bodies[GET], connections=READERS, seconds=BURST_S)
            http_servers.settle([server])
            writing = Load(WRITING, server.port, bodies[PUT], connections=WRITERS, seconds=BURST_S)
            beside = Load(BESIDE, server.port, bodies[GET], connections=READERS, seconds=BURST_S)
            measured = {ALONE: alone, BESIDE: beside.finish(), WRITING: writing.finish()}
            if number:
                for phase, each in measured.items():
                    phases[phase].append(each)
    kept = ratio_of(
        GET,
        server=BESIDE,
        rates=[each.rate for each in phases[BESIDE]],
        against=ALONE,
        rates_against=[each.rate for each in phases[ALONE]],
        ratio_min=KEPT_MIN,
    )
    return [*(rate_of(phase, bursts) for phase, bursts in phases.items()), kept]


def rate_of(phase: str, bursts: Sequence[Burst]) -> Rate:
    rates = [each.rate for each in bursts]
    return Rate(
        operation=PUT if phase == WRITING else GET,
        server=phase,
        rate=round(statistics.median(rates), 1),
        rate_low=round(min(rates), 1),
        rate_high=round(max(rates), 1),
        p50_ms=round(statistics.median(each.p50_ms for each in bursts), 3),
        p99_ms=round(statistics.median(each.p99_ms for each in bursts), 3),
        requests=sum(each.requests for each in bursts),
    )
