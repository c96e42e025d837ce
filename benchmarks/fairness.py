"""How long a write waits when two processes write to one file as fast as they can.

    python -m benchmarks.fairness [SECONDS]

Each variant runs two processes on a fresh file. A wait is the time from a call to its acknowledgement, so it
holds the work itself and the fsync, too. The bound is 250 ms for every single write.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from benchmarks.measure import Reading, Result

if TYPE_CHECKING:
    from singletable import Database

SECONDS = 5.0
BOUND_MS = 250.0
BACKFILL_ITEMS = 100_000
TABLE = "things"

Durability = Literal["full", "relaxed"]


@dataclass(frozen=True, slots=True)
class Variant:
    """What the two processes do."""

    name: str
    durability: Durability
    workers: tuple[str, str]


VARIANTS = (
    Variant("durable small puts", "full", ("put", "put")),
    Variant("relaxed small puts", "relaxed", ("put", "put")),
    Variant("durable batches of 25 x 100 KB", "full", ("batch", "batch")),
    Variant("backfill of 100,000 items against puts", "full", ("backfill", "put")),
)


# --- the processes ---------------------------------------------------------------------


def _put(db: Database, name: str, number: int) -> None:
    key = f"{name}/{number % 10_000}"
    db.put_item(TableName=TABLE, Item={"PK": {"S": key}, "Payload": {"S": f"{number:01000}"}})


def _batch(db: Database, name: str, number: int) -> None:
    payload = {"S": f"{number:0100000}"}
    requests: list[Any] = [
        {"PutRequest": {"Item": {"PK": {"S": f"{name}/{slot}"}, "Payload": payload}}} for slot in range(25)
    ]
    db.batch_write_item(RequestItems={TABLE: requests})


def _measure(
    db: Database, name: str, write: Callable[[Database, str, int], None], seconds: float
) -> list[float]:
    waits_ms: list[float] = []
    end = time.perf_counter() + seconds
    started = time.perf_counter()
    while started < end:
        write(db, name, len(waits_ms))
        now = time.perf_counter()
        waits_ms.append((now - started) * 1000)
        started = now
    return waits_ms


def _backfill(db: Database, name: str, seconds: float) -> list[float]:
    """Have an index filled, and put an item now and then meanwhile; return how long those puts waited."""
    index: Any = {
        "IndexName": "ByColour",
        "KeySchema": [{"AttributeName": "Colour", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    db.update_table(
        TableName=TABLE,
        AttributeDefinitions=[
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "Colour", "AttributeType": "S"},
        ],
        GlobalSecondaryIndexUpdates=[{"Create": index}],
    )
    pause = threading.Event()
    waits_ms: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        _put(db, name, len(waits_ms))
        waits_ms.append((time.perf_counter() - started) * 1000)
        table = db.describe_table(TableName=TABLE)["Table"]
        if table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE":
            break
        pause.wait(0.005)
    return waits_ms


def work(path: str, durability: str, kind: str, name: str, seconds: float) -> list[float]:
    """Be one of the processes: wait for a line on stdin, then write for so long; return each wait."""
    from singletable import Database

    with Database.open(path, durability=cast("Durability", durability)) as db:
        print("ready", flush=True)
        sys.stdin.readline()
        if kind == "backfill":
            return _backfill(db, name, seconds)
        return _measure(db, name, _batch if kind == "batch" else _put, seconds)


# --- the measurement ----------------------------------------------------------------------


def _prepare(path: Path, variant: Variant) -> None:
    from singletable import Database

    with Database.open(path, durability="relaxed") as db:
        db.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        if "backfill" not in variant.workers:
            return
        for requests in _filling():
            db.batch_write_item(RequestItems={TABLE: requests})


def _filling() -> Iterator[list[Any]]:
    for first in range(0, BACKFILL_ITEMS, 25):
        items = (
            {
                "PK": {"S": f"item/{number * 7919 % BACKFILL_ITEMS}"},
                "Colour": {"S": f"colour/{number % 1000}"},
                "Payload": {"S": f"{number:0200}"},
            }
            for number in range(first, first + 25)
        )
        yield [{"PutRequest": {"Item": item}} for item in items]


def _start(path: Path, variant: Variant, kind: str, name: str, seconds: float) -> subprocess.Popen[str]:
    arguments = [str(path), variant.durability, kind, name, str(seconds)]
    command = [sys.executable, "-m", "benchmarks.fairness", "--worker", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _run_variant(variant: Variant, seconds: float, parent: Path | None) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory(prefix="fairness-", dir=parent) as directory:
        path = Path(directory) / "fairness.db"
        _prepare(path, variant)
        names = [f"{kind} {number}" for number, kind in enumerate(variant.workers, 1)]
        processes = [
            _start(path, variant, kind, name, seconds)
            for kind, name in zip(variant.workers, names, strict=True)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        waits = [json.loads(process.communicate()[0]) for process in processes]
    return {name: _summary(waits_ms) for name, waits_ms in zip(names, waits, strict=True)}


def _summary(waits_ms: list[float]) -> dict[str, float]:
    ordered = sorted(waits_ms)
    return {
        "writes": len(ordered),
        "p50_ms": round(ordered[len(ordered) // 2], 2),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)], 2),
        "max_ms": round(ordered[-1], 2),
    }


def run(seconds: float = SECONDS, directory: Path | None = None) -> dict[str, Any]:
    """Measure every variant; return for each process its writes and waits, and whether all kept the bound."""
    variants = {variant.name: _run_variant(variant, seconds, directory) for variant in VARIANTS}
    longest_ms = max(process["max_ms"] for variant in variants.values() for process in variant.values())
    return {"variants": variants, "max_ms": longest_ms, "within_bound": longest_ms <= BOUND_MS}


def run_suite(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure every variant as a suite of `python -m benchmarks`."""
    say("two writing processes on one file")
    measured = run(SECONDS / 5 if quick else SECONDS, directory)
    return [
        Reading(
            name=f"longest wait, two processes: {name}",
            unit="ms",
            value=max(process["max_ms"] for process in processes.values()),
            value_max=BOUND_MS,
        )
        for name, processes in measured["variants"].items()
    ]


def _print(result: dict[str, Any]) -> None:
    print(f"{'variant':<42}{'process':<12}{'writes':>8}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}")
    for name, processes in result["variants"].items():
        for process, summary in processes.items():
            figures = f"{summary['p50_ms']:>9}{summary['p99_ms']:>9}{summary['max_ms']:>9}"
            print(f"{name:<42}{process:<12}{summary['writes']:>8}{figures}")
    verdict = "kept" if result["within_bound"] else "broken"
    print(f"longest wait {result['max_ms']} ms; the bound of {BOUND_MS:.0f} ms is {verdict}")


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--worker"]:
        path, durability, kind, name, seconds = arguments[1:]
        print(json.dumps(work(path, durability, kind, name, float(seconds))))
        return
    _print(run(float(arguments[0]) if arguments else SECONDS))


if __name__ == "__main__":
    main(sys.argv[1:])
