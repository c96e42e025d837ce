"""What a sweep of expired items costs those who read meanwhile: in the process, and over the server.

A tenth of the items expire, in groups, one group in each round: the clock is moved on, gets are timed until the
group is gone, and then as many more while all is quiet. The ratio of a round is that of its two medians.
"""

from __future__ import annotations

import random
import select
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from benchmarks.background import ATTRIBUTE, HOLD_MS_MAX, Holds, MovedClock
from benchmarks.http_client import Client
from benchmarks.measure import (
    Contender,
    Reading,
    Result,
    compare,
    garbage_collected_between_rounds,
)
from benchmarks.payloads import SEED
from singletable import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ITEMS: Final = 1_000_000
ITEMS_QUICK: Final = 100_000
EXPIRING: Final = 10  # one item in so many
ROUNDS: Final = 10
ROUNDS_QUICK: Final = 4
STEP_S: Final = 3600
BATCH_ITEMS: Final = 25
TABLE: Final = "sessions"
RATIO_MAX: Final = 1.3


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure gets beside a sweep, in the process and over the server, each on a file of its own."""
    items, rounds = (ITEMS_QUICK, ROUNDS_QUICK) if quick else (ITEMS, ROUNDS)
    first, second = directory / "expiring.db", directory / "expiring-served.db"
    say(f"loading {items:,} items, of which {items // EXPIRING:,} expire")
    load(first, items, rounds)
    shutil.copyfile(first, second)
    say("gets in the process")
    results = _in_process(first, items, rounds)
    say("gets over the server")
    return [*results, *_over_server(second, items, rounds)]


# --- the table --------------------------------------------------------------------------------------


def load(path: Path, items: int, rounds: int) -> None:
    """Make a table of small items; every tenth expires, in one of the rounds, an hour apart."""
    now_s = int(time.time())
    with Database.open(path, durability="relaxed", ttl_sweep_s=None) as database:
        database.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        wanted: Any = {"AttributeName": ATTRIBUTE, "Enabled": True}
        database.update_time_to_live(TableName=TABLE, TimeToLiveSpecification=wanted)
        for first in range(0, items, BATCH_ITEMS):
            batch: list[Any] = [
                {"PutRequest": {"Item": _item(number, now_s, rounds)}}
                for number in range(first, first + BATCH_ITEMS)
            ]
            database.batch_write_item(RequestItems={TABLE: batch})


def _item(number: int, now_s: int, rounds: int) -> dict[str, Any]:
    item: dict[str, Any] = {
        "id": {"S": key_of(number)},
        "user": {"S": f"user-{number * 7919 % 1_000_003}"},
        "seen": {"N": str(now_s - number % 86_400)},
        "agent": {"S": "a browser of some kind, with its version " * 4},
    }
    if number % EXPIRING == 0:
        # Half an hour into a step, so that loading and measuring may take some time.
        item[ATTRIBUTE] = {"N": str(now_s + STEP_S // 2 + number // EXPIRING % rounds * STEP_S)}
    return item


def key_of(number: int) -> str:
    return f"session-{number * 7919 % 10_000_019:08d}"


def keys(items: int) -> Iterator[str]:
    """Yield keys of items that stay, all over the table."""
    choose = random.Random(SEED)
    while True:
        number = choose.randrange(items)
        if number % EXPIRING:
            yield key_of(number)


class Sweeps:
    """A database of which one group of items expires with each step."""

    def __init__(self, path: str, **settings: Any) -> None:
        self.clock = MovedClock()
        self.database = Database.open(path, clock=self.clock, **settings)
        self.background = self.database._session.store.background
        self.holds = Holds(self.background)

    def begin(self) -> None:
        self.clock.move(STEP_S)
        self.background.wake()

    @property
    def swept(self) -> int:
        return self.database.metrics().time_to_live_deleted_items(TABLE)


# --- in the process -------------------------------------------------------------------------------------


def _in_process(path: Path, items: int, rounds: int) -> list[Result]:
    sweeps = Sweeps(str(path))
    get_item = sweeps.database.get_item
    subject, floor = _contenders("get beside a sweep")
    chosen = keys(items)
    a_round = items // EXPIRING // rounds

    def get(key: str) -> object:
        return get_item(TableName=TABLE, Key={"id": {"S": key}})

    try:
        _time_calls(get, chosen, calls=2_000)
        started_s, swept_s = time.perf_counter(), 0.0
        with garbage_collected_between_rounds():
            for number in range(1, rounds + 1):
                started_s = time.perf_counter()
                sweeps.begin()
                beside: list[int] = []
                while sweeps.swept < number * a_round:
                    beside += _time_calls(get, chosen, calls=200)
                swept_s += time.perf_counter() - started_s
                subject.rounds_ns.append(beside)
                floor.rounds_ns.append(_time_calls(get, chosen, calls=len(beside)))
    finally:
        sweeps.database.close()
    name = f"get in the process, beside a sweep of {items // EXPIRING:,} of {items:,} items"
    return [
        compare(name, subject=subject, floor=floor, ratio_max=RATIO_MAX),
        Reading(
            name=f"longest hold of the writer by a piece of that sweep "
            f"({items // EXPIRING / swept_s:,.0f} items a second)",
            unit="ms",
            value=round(sweeps.holds.longest_ms["sweeping"], 1),
            value_max=HOLD_MS_MAX,
        ),
    ]


def _contenders(name: str) -> tuple[Contender, Contender]:
    return tuple(  # type: ignore[return-value]
        Contender(name=named, prepare=lambda: None, run=lambda _: None) for named in (name, "get, all quiet")
    )


def _time_calls(get: Callable[[str], object], chosen: Iterator[str], *, calls: int) -> list[int]:
    clock = time.perf_counter_ns
    durations_ns = []
    for _ in range(calls):
        key = next(chosen)
        start_ns = clock()
        get(key)
        durations_ns.append(clock() - start_ns)
    return durations_ns


# --- over the server --------------------------------------------------------------------------------------


def _over_server(path: Path, items: int, rounds: int) -> list[Result]:
    arguments = [str(path), str(items // EXPIRING // rounds)]
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.expiring_server", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    subject, floor = _contenders("GetItem beside a sweep")
    chosen = keys(items)
    try:
        client = Client(int(server.stdout.readline()))

        def get(key: str) -> object:
            body = f'{{"TableName": "{TABLE}", "Key": {{"id": {{"S": "{key}"}}}}}}'
            return client.send("GetItem", body.encode())

        _time_calls(get, chosen, calls=1_000)
        with garbage_collected_between_rounds():
            for _ in range(rounds):
                server.stdin.write("sweep\n")
                server.stdin.flush()
                beside: list[int] = []
                while not select.select([server.stdout], [], [], 0)[0]:
                    beside += _time_calls(get, chosen, calls=20)
                server.stdout.readline()
                subject.rounds_ns.append(beside)
                floor.rounds_ns.append(_time_calls(get, chosen, calls=len(beside)))
        client.close()
    finally:
        server.terminate()
        server.wait()
        server.stdin.close()
        server.stdout.close()
    name = f"GetItem over the server, beside a sweep of {items // EXPIRING:,} of {items:,} items"
    return [compare(name, subject=subject, floor=floor, ratio_max=RATIO_MAX)]
