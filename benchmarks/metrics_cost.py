"""What it costs to count a request: `python -m benchmarks.metrics_cost`.

The figures are the least of many rounds, in nanoseconds a call: what the work costs on a machine that does
nothing else at that moment. The empty call is there to compare with; it is not taken off.
"""

from __future__ import annotations

import threading
import timeit
from typing import TYPE_CHECKING

from singletable.capacity.consumed import Consumed
from singletable.metrics import Failure, Metrics, to_prometheus

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = 20_000
ROUNDS = 30
LATENCIES_S = tuple(0.00002 * 1.01**step for step in range(500))  # 20 us to 3 ms
TABLES = 100
THREADS = 4

ONE_TABLE = (Consumed("orders", 0.5),)
WITH_INDEX = (Consumed("orders", 1.0, global_units={"by-stage": 1.0}),)
THREE_TABLES = (Consumed("orders", 1.0), Consumed("customers", 1.0), Consumed("products", 1.0))


def main() -> None:
    metrics = Metrics()
    for text, call in {
        "an empty call": lambda latency_s: nothing("GetItem", "orders", latency_s, ONE_TABLE),
        "GetItem": lambda latency_s: metrics.succeeded("GetItem", "orders", latency_s, ONE_TABLE),
        "PutItem, one global index": lambda latency_s: metrics.succeeded(
            "PutItem", "orders", latency_s, WITH_INDEX
        ),
        "Query, 25 items": lambda latency_s: metrics.succeeded("Query", "orders", latency_s, ONE_TABLE, 25),
        "BatchGetItem, three tables": lambda latency_s: metrics.succeeded(
            "BatchGetItem", None, latency_s, THREE_TABLES
        ),
        "DescribeTable": lambda latency_s: metrics.succeeded("DescribeTable", "orders", latency_s),
        "a user error": lambda latency_s: metrics.failed("GetItem", "orders", Failure.USER_ERROR),
    }.items():
        print(f"{text:42} {least_ns(call):8.0f} ns")
    print(f"{f'GetItem, {THREADS} threads at once':42} {threads_ns(metrics):8.0f} ns")
    fill(metrics)
    snapshot = metrics.snapshot()
    print(f"{f'snapshot of {TABLES} tables':42} {least_of(metrics.snapshot) * 1e3:8.2f} ms")
    print(f"{'the same for Prometheus':42} {least_of(lambda: to_prometheus(snapshot)) * 1e3:8.2f} ms")


def nothing(operation: str, table: str | None, latency_s: float, consumed: object) -> None:
    """What is called and does nothing."""


def least_ns(call: Callable[[float], None]) -> float:
    def run() -> None:
        for _ in range(CALLS // len(LATENCIES_S)):
            for latency_s in LATENCIES_S:
                call(latency_s)

    return least_of(run) / CALLS * 1e9


def threads_ns(metrics: Metrics) -> float:
    """Of all calls together: the interpreter runs one thread at a time."""

    def count() -> None:
        for _ in range(CALLS // len(LATENCIES_S)):
            for latency_s in LATENCIES_S:
                metrics.succeeded("GetItem", "orders", latency_s, ONE_TABLE)

    def run() -> None:
        threads = [threading.Thread(target=count) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return least_of(run) / (CALLS * THREADS) * 1e9


def fill(metrics: Metrics) -> None:
    for number in range(TABLES):
        name = f"table-{number}"
        for operation in ("GetItem", "PutItem", "Query"):
            for latency_s in LATENCIES_S:
                metrics.succeeded(operation, name, latency_s, (Consumed(name, 1.0),))


def least_of(run: Callable[[], object]) -> float:
    return min(timeit.repeat(run, number=1, repeat=ROUNDS))


if __name__ == "__main__":
    main()
