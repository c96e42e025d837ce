"""What a hundred times more items cost: get, query and memory, a small and a large file side by side.

Both files are read in turn in the same seconds, so that the ratio is that of the sizes alone. The floor is
read at both sizes too: it says how much of the growth is SQLite's and the machine's caches'.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import payloads
from benchmarks.engine_speed import load, query_of
from benchmarks.floor import PAGE_ITEMS, BareSql, key_columns, partition_column
from benchmarks.measure import Contender, Plan, Reading, Result, compare, interleave
from benchmarks.payloads import ONE_KB, TABLE, Payloads
from singletable import Database

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS_SMALL = 10_000
ITEMS_LARGE = 1_000_000
ITEMS_LARGE_QUICK = 100_000

# Long turns: a turn warms the processor's caches for its own file before most of its calls.
GET_PLAN = Plan(rounds=20, turns=5, calls=300)
QUERY_PLAN = Plan(rounds=20, turns=5, calls=60)

GET_GROWTH_MAX = 1.5
QUERY_GROWTH_MAX = 1.6
MEMORY_GROWTH_MAX = 1.1  # the same figure twice differs by a few hundredths
LEFT_BEHIND_MB_MAX = 1.0  # of 35,000 requests; a leak of one object a request is more

PROC_STATUS = Path("/proc/self/status")
MEMORY_GETS = 20_000
MEMORY_QUERIES = 10_000
MEMORY_PUTS = 5_000


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Load both files in processes of their own, then read them in turn."""
    sizes = (ITEMS_SMALL, ITEMS_LARGE_QUICK if quick else ITEMS_LARGE)
    memory: list[Result] = []
    for items in sizes:
        say(f"loading {items:,} items")
        in_child(load_file, file_of(directory, items), items)
    say("get and query at both sizes")
    small, large = (SizedFile(file_of(directory, items), items) for items in sizes)
    try:
        results = [*gets(small, large), *queries(small, large)]
    finally:
        small.close()
        large.close()
    if PROC_STATUS.exists():
        say("memory at both sizes")
        memory = memory_readings(directory, sizes)
    return [*results, *memory]


def file_of(directory: Path, items: int) -> str:
    return str(directory / f"items-{items}.db")


class SizedFile:
    """A file of a known number of items, open in the engine and to bare SQL."""

    def __init__(self, path: str, items: int) -> None:
        self.payloads = Payloads(ONE_KB, items=items)
        self.name = f"{items:,} items"
        self.database = Database.open(path, durability="relaxed")
        self.floor = BareSql(Path(path), durability="relaxed")

    def close(self) -> None:
        self.floor.close()
        self.database.close()

    def any_number(self) -> int:
        return self.payloads.random.randrange(self.payloads.items)

    def get(self) -> Contender:
        get_item = self.database.get_item
        return Contender(
            name=self.name,
            prepare=lambda: payloads.key_of(self.any_number()),
            run=lambda key: get_item(TableName=TABLE, Key=key),
        )

    def bare_get(self) -> Contender:
        return Contender(
            name=self.name,
            prepare=lambda: key_columns(payloads.key_of(self.any_number())),
            run=self.floor.get,
        )

    def query(self) -> Contender:
        return Contender(
            name=self.name,
            prepare=lambda: {":p": {"S": payloads.partition_key(self.any_number())}},
            run=query_of(self.database),
        )

    def bare_query(self) -> Contender:
        return Contender(
            name=self.name,
            prepare=lambda: partition_column(payloads.partition_key(self.any_number())),
            run=self.floor.query,
        )


def gets(small: SizedFile, large: SizedFile) -> list[Result]:
    engine = (small.get(), large.get())
    bare = (small.bare_get(), large.bare_get())
    interleave((*engine, *bare), GET_PLAN)
    return [
        compare("growth of get", subject=engine[1], floor=engine[0], ratio_max=GET_GROWTH_MAX),
        compare("growth of a bare point read + decode", subject=bare[1], floor=bare[0]),
    ]


def queries(small: SizedFile, large: SizedFile) -> list[Result]:
    engine = (small.query(), large.query())
    bare = (small.bare_query(), large.bare_query())
    interleave((*engine, *bare), QUERY_PLAN)
    name = f"query of {PAGE_ITEMS}"
    return [
        compare(f"growth of a {name}", subject=engine[1], floor=engine[0], ratio_max=QUERY_GROWTH_MAX),
        compare("growth of a bare range read + decode", subject=bare[1], floor=bare[0]),
    ]


# --- in a process of its own ------------------------------------------------------


def in_child(function: Callable[..., Any], *arguments: object) -> Any:
    """Run a function in a fresh process: its memory is its own, and is gone afterwards."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        return executor.submit(function, *arguments).result()


def load_file(path: str, items: int) -> None:
    with Database.open(path, durability="relaxed") as database:
        load(database, Payloads(ONE_KB, items=items).all_items_shuffled())


def memory_readings(directory: Path, sizes: tuple[int, ...]) -> list[Result]:
    """Anonymous memory after the same requests at each size; pages of the mapped file are not counted."""
    kb_by_size = {
        items: in_child(anonymous_kb_of_requests, file_of(directory, items), items) for items in sizes
    }
    readings: list[Result] = [
        Reading(name=f"memory after requests, {items:,} items", unit="MB", value=round(first / 1024, 1))
        for items, (first, _) in kb_by_size.items()
    ]
    small, large = kb_by_size[sizes[0]], kb_by_size[sizes[-1]]
    return [
        *readings,
        Reading(
            name="growth of memory",
            unit="x",
            value=round(large[0] / small[0], 3),
            value_max=MEMORY_GROWTH_MAX,
        ),
        Reading(
            name="memory that the same requests add when they come again",
            unit="MB",
            value=round((large[1] - large[0]) / 1024, 1),
            value_max=LEFT_BEHIND_MB_MAX,
        ),
    ]


def anonymous_kb_of_requests(path: str, items: int) -> tuple[int, int]:
    """Return the anonymous memory after many requests, and after as many more."""
    source = Payloads(ONE_KB, items=items, seed=payloads.SEED + 1)
    with Database.open(path, durability="relaxed") as database:
        request_much(database, source)
        first_kb = anonymous_kb()
        request_much(database, source)
        return first_kb, anonymous_kb()


def request_much(database: Database, source: Payloads) -> None:
    query = query_of(database)
    randrange, items = source.random.randrange, source.items
    for _ in range(MEMORY_GETS):
        database.get_item(TableName=TABLE, Key=payloads.key_of(randrange(items)))
    for _ in range(MEMORY_QUERIES):
        query({":p": {"S": payloads.partition_key(randrange(items))}})
    for _ in range(MEMORY_PUTS):
        database.put_item(TableName=TABLE, Item=source.item(randrange(items)))


def anonymous_kb() -> int:
    match = re.search(r"RssAnon:\s+(\d+) kB", PROC_STATUS.read_text())
    if match is None:
        sys.exit("this kernel does not tell the anonymous memory of a process")
    return int(match[1])
