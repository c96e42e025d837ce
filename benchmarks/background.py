"""How long a piece of each kind of background work holds the writer: filling, sweeping, trimming, taking away.

Nobody else writes meanwhile, so the time of a piece is what a request that comes at its beginning waits for it,
COMMIT and fsync included. Time is moved on by hours at once, so that everything is due.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from benchmarks import payloads
from benchmarks.engine_speed import BATCH_ITEMS
from benchmarks.measure import Reading, Result
from benchmarks.payloads import TABLE, Payloads, Size
from singletable import Database
from singletable.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from singletable.storage.chores.background import AnyChore, Background, Step

ITEMS: Final = 200_000
ITEMS_QUICK: Final = 20_000
LARGE: Final = Size(name="300 KB", lines=2, note_characters=300_000)
LARGE_ITEMS: Final = 400
LARGE_ITEMS_QUICK: Final = 100
HOLD_MS_MAX: Final = 50.0
DAY_S: Final = 24 * 3600
ATTRIBUTE: Final = "expires"

NAMES: Final = {
    "backfilling": "filling an index",
    "sweeping": "sweeping expired items",
    "trimming": "trimming the log",
    "reclaiming": "taking a deleted table away",
}


class MovedClock(SystemClock):
    """The machine's clock, moved on by hand as if time had passed."""

    def __init__(self) -> None:
        self.ahead_us = 0

    def now_us(self) -> int:
        return super().now_us() + self.ahead_us

    def elapsed_us(self) -> int:
        return super().elapsed_us() + self.ahead_us

    def move(self, seconds: int) -> None:
        self.ahead_us += seconds * 1_000_000


class Holds:
    """Notes how long each piece of a database's background work held the writer."""

    def __init__(self, background: Background) -> None:
        self.longest_ms: dict[str, float] = {}
        self.pieces: dict[str, int] = {}
        self._do = background._do
        background._do = self._timed  # type: ignore[method-assign]

    def _timed(self, chore: AnyChore, step: Step) -> Any:
        started_s = time.perf_counter()
        try:
            return self._do(chore, step)
        finally:
            held_ms = (time.perf_counter() - started_s) * 1000
            name = getattr(chore, "__name__", "").rpartition(".")[2]
            self.longest_ms[name] = max(held_ms, self.longest_ms.get(name, 0.0))
            self.pieces[name] = self.pieces.get(name, 0) + 1


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Have every chore done on a table of small and on one of large items."""
    results: list[Result] = []
    for size, items in (
        (payloads.ONE_KB, ITEMS_QUICK if quick else ITEMS),
        (LARGE, LARGE_ITEMS_QUICK if quick else LARGE_ITEMS),
    ):
        say(f"loading {items:,} items of {size.name}")
        holds = _work_through(directory / f"background-{items}.db", Payloads(size, items=items), say)
        for chore, name in NAMES.items():
            results.append(
                Reading(
                    name=f"longest hold of the writer, {name}, {items:,} items of {size.name} "
                    f"({holds.pieces[chore]:,} pieces)",
                    unit="ms",
                    value=round(holds.longest_ms[chore], 1),
                    value_max=HOLD_MS_MAX,
                )
            )
    return results


def _work_through(path: Path, source: Payloads, say: Callable[[str], None]) -> Holds:
    clock = MovedClock()
    with Database.open(path, durability="relaxed", clock=clock) as database:
        _load(database, source, clock)
    with Database.open(path, clock=clock) as database:
        background = database._session.store.background
        holds = Holds(background)
        say(NAMES["backfilling"])
        _add_index(database)
        wait_until(lambda: _index_is_active(database))
        say(NAMES["sweeping"])
        clock.move(DAY_S)
        background.wake()
        wait_until(lambda: _items(database) == source.items // 2)
        say(NAMES["trimming"])
        clock.move(2 * DAY_S)
        background.wake()
        wait_until(lambda: _log_entries(database) <= 1)
        say(NAMES["reclaiming"])
        database.delete_table(TableName=TABLE)
        wait_until(lambda: not _is_dropping(database))
    path.unlink()
    return holds


def _load(database: Database, source: Payloads, clock: MovedClock) -> None:
    """Put every item; half of them expire in an hour. A stream keeps what happens to them."""
    definition = {name: value for name, value in payloads.TABLE_DEFINITION.items() if "Indexes" not in name}
    definition["AttributeDefinitions"] = definition["AttributeDefinitions"][:2]
    view: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    database.create_table(**definition, StreamSpecification=view)
    wanted: Any = {"AttributeName": ATTRIBUTE, "Enabled": True}
    database.update_time_to_live(TableName=TABLE, TimeToLiveSpecification=wanted)
    expires = {"N": str(clock.now_us() // 1_000_000 + 3600)}
    for numbers in _batches(source.numbers_shuffled()):
        batch: list[Any] = []
        for number in numbers:
            item = source.item(number)
            if number % 2:
                item[ATTRIBUTE] = expires
            batch.append({"PutRequest": {"Item": item}})
        database.batch_write_item(RequestItems={TABLE: batch})


def _batches(numbers: Any) -> Iterator[Any]:
    for first in range(0, len(numbers), BATCH_ITEMS):
        yield numbers[first : first + BATCH_ITEMS]


def _add_index(database: Database) -> None:
    (index,) = payloads.TABLE_DEFINITION["GlobalSecondaryIndexes"]
    database.update_table(
        TableName=TABLE,
        AttributeDefinitions=payloads.TABLE_DEFINITION["AttributeDefinitions"],
        GlobalSecondaryIndexUpdates=[{"Create": index}],
    )


def _index_is_active(database: Database) -> bool:
    indexes = database.describe_table(TableName=TABLE)["Table"]["GlobalSecondaryIndexes"]
    return bool(indexes[0]["IndexStatus"] == "ACTIVE")


def _items(database: Database) -> int:
    return database.describe_table(TableName=TABLE)["Table"]["ItemCount"]


def _log_entries(database: Database) -> int:
    def count(execute: Any, catalog: Any) -> int:
        sql = f"SELECT count(*) FROM log_{catalog.get(TABLE).id}"
        return int(execute(sql).fetchall()[0][0])

    return database._session.store.read(count)


def _is_dropping(database: Database) -> bool:
    sql = "SELECT count(*) FROM dropped"
    return bool(database._session.store.read(lambda execute, catalog: execute(sql).fetchall()[0][0]))


def wait_until(holds: Callable[[], bool], *, seconds_max: float = 600.0) -> None:
    """Ask now and then until something holds."""
    pause = threading.Event()
    end_s = time.monotonic() + seconds_max
    while not holds():
        if time.monotonic() > end_s:
            raise TimeoutError("the background work does not end")
        pause.wait(0.02)
