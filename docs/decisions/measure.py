"""Measure the alternatives that the decisions in this directory chose between.

usage: python docs/decisions/measure.py [--quick] [entries] [groups] [counts] [fork]

The contenders of one table run in turns, so that a noisy second hits them all. Times are medians.
"""

from __future__ import annotations

import argparse
import itertools
import os
import queue
import random
import statistics
import sys
import tempfile
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import apsw

from singletable import Database

ITEM_BYTES = 1024
PAGE_ITEMS = 25
BUCKETS = 200  # partitions of the index
Run = Callable[[], object]
Row = tuple[bytes, bytes, bytes]  # partition column, sort bytes, item


def connect(path: Path, *, synchronous: str = "NORMAL") -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(30_000)
    connection.execute(
        f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; PRAGMA secure_delete = OFF;"
        "PRAGMA mmap_size = 1099511627776"
    ).fetchall()
    return connection


def interleaved_us(contenders: dict[str, Run], *, rounds: int) -> dict[str, float]:
    """Call everybody in turn; return the median of each in microseconds."""
    durations_ns: dict[str, list[int]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            start_ns = time.perf_counter_ns()
            run()
            durations_ns[name].append(time.perf_counter_ns() - start_ns)
    return {name: statistics.median(values) / 1000 for name, values in durations_ns.items()}


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"\n**{title}**\n")
    for cells in (head, ["---"] * len(head), *rows):
        print(f"| {' | '.join(cells)} |")
    sys.stdout.flush()


# --- entries: do index entries hold a reference, or a copy of the item? --------------------------------

_ITEMS = (
    "CREATE TABLE t(id INTEGER PRIMARY KEY, pk BLOB NOT NULL, sk BLOB NOT NULL, item BLOB NOT NULL);"
    "CREATE UNIQUE INDEX t_key ON t(pk, sk);"
)
_SHAPES = {
    "reference": _ITEMS + "CREATE TABLE i(ipk BLOB, isk BLOB, pk BLOB, sk BLOB, item INTEGER NOT NULL,"
    " PRIMARY KEY (ipk, isk, pk, sk)) WITHOUT ROWID;",
    "copy": _ITEMS + "CREATE TABLE i(id INTEGER PRIMARY KEY, ipk BLOB, isk BLOB, pk BLOB, sk BLOB,"
    " item BLOB NOT NULL); CREATE UNIQUE INDEX i_key ON i(ipk, isk, pk, sk);",
}
_PAGES = {
    "reference": "SELECT t.item FROM i CROSS JOIN t ON t.id = i.item WHERE i.ipk = ? ORDER BY i.isk LIMIT 25",
    "copy": "SELECT item FROM i WHERE ipk = ? ORDER BY isk LIMIT 25",
}


def keyed(number: int) -> tuple[bytes, bytes]:
    text = b"user#%08d" % number
    return zlib.crc32(text).to_bytes(4, "big") + text, b"profile"


def bucket_of(number: int) -> bytes:
    return b"bucket#%04d" % (number % BUCKETS)


class IndexedFile:
    """A table of items with one index, in one of two shapes."""

    def __init__(self, path: Path, shape: str) -> None:
        self.path, self.shape = path, shape
        self.connection = connect(path)
        self.connection.execute(_SHAPES[shape]).fetchall()

    def insert(self, number: int, item: bytes) -> None:
        execute, (pk, sk) = self.connection.execute, keyed(number)
        execute("INSERT INTO t(pk, sk, item) VALUES (?, ?, ?)", (pk, sk, item))
        held = self.connection.last_insert_rowid() if self.shape == "reference" else item
        columns = (bucket_of(number), b"%08d" % number, pk, sk, held)
        execute("INSERT INTO i(ipk, isk, pk, sk, item) VALUES (?, ?, ?, ?, ?)", columns)

    def overwrite(self, number: int, item: bytes) -> None:
        """Replace an item whose index key stays what it was."""
        execute, key = self.connection.execute, keyed(number)
        (row_id,) = next(execute("SELECT id FROM t WHERE pk = ? AND sk = ?", key))
        execute("UPDATE t SET item = ? WHERE id = ?", (item, row_id))
        if self.shape == "copy":
            place = (bucket_of(number), b"%08d" % number, *key)
            execute("UPDATE i SET item = ? WHERE ipk = ? AND isk = ? AND pk = ? AND sk = ?", (item, *place))

    def inserting(self, count: int) -> Run:
        numbers = itertools.count(count)
        return lambda: self.in_transaction(self.insert, next(numbers))

    def overwriting(self, count: int) -> Run:
        pick = random.Random(2).randrange
        return lambda: self.in_transaction(self.overwrite, pick(count))

    def paging(self) -> Run:
        pick = random.Random(2).randrange
        return lambda: self.connection.execute(_PAGES[self.shape], (bucket_of(pick(BUCKETS)),)).fetchall()

    def in_transaction(self, write: Callable[[int, bytes], None], number: int) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        write(number, os.urandom(ITEM_BYTES))
        self.connection.execute("COMMIT")


def measure_entries(directory: Path, *, quick: bool) -> None:
    count, rounds = (6_000, 20) if quick else (100_000, 2_000)
    files = {shape: IndexedFile(directory / f"{shape}.db", shape) for shape in _SHAPES}
    numbers = random.Random(1).sample(range(count), count)
    for file in files.values():
        with file.connection:
            for number in numbers:
                file.insert(number, os.urandom(ITEM_BYTES))
    inserts = interleaved_us({shape: file.inserting(count) for shape, file in files.items()}, rounds=rounds)
    overwrites = interleaved_us(
        {shape: file.overwriting(count) for shape, file in files.items()}, rounds=rounds
    )
    pages = interleaved_us({shape: file.paging() for shape, file in files.items()}, rounds=rounds)
    rows = []
    for shape, file in files.items():
        file.connection.close()
        times = [f"{medians[shape]:.0f}" for medians in (inserts, overwrites, pages)]
        rows.append([shape, *times, f"{file.path.stat().st_size / 1e6:.0f}"])
    print_table(
        f"Index entries, {count:,} items of 1 KB, relaxed, us",
        ["an entry holds", "put, new", "put, overwrites", f"{PAGE_ITEMS} through the index", "file MB"],
        rows,
    )


# --- groups: who writes for the requests that wait? ------------------------------------------------------

_PUT = "INSERT OR REPLACE INTO t(pk, sk, item) VALUES (?, ?, ?)"
_GROUP_MAX = 64
THREADS = (1, 4, 16)


@dataclass(slots=True)
class Job:
    row: Row
    is_done: bool = False


class Alone:
    """Every request has a transaction of its own."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.lock = threading.Lock()

    def put(self, row: Row) -> None:
        with self.lock:
            self.commit([row])

    def commit(self, rows: Sequence[Row]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        for row in rows:
            self.connection.execute(_PUT, row)
        self.connection.execute("COMMIT")

    def close(self) -> None:
        self.connection.close()


class CallerRuns(Alone):
    """Whoever holds the lock writes for all who wait."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.waiting: deque[Job] = deque()

    def put(self, row: Row) -> None:
        job = Job(row)
        self.waiting.append(job)
        with self.lock:
            while not job.is_done:
                group = [self.waiting.popleft() for _ in range(min(len(self.waiting), _GROUP_MAX))]
                self.commit([member.row for member in group])
                for member in group:
                    member.is_done = True


class WriterThread(Alone):
    """One thread writes for all; a request waits for its future."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__(connection)
        self.jobs: queue.SimpleQueue[tuple[Row, Future[None]] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def put(self, row: Row) -> None:
        done: Future[None] = Future()
        self.jobs.put((row, done))
        done.result()

    def run(self) -> None:
        while (job := self.jobs.get()) is not None:
            group = [job]
            while len(group) < _GROUP_MAX and not self.jobs.empty() and (more := self.jobs.get()):
                group.append(more)
            self.commit([row for row, _ in group])
            for _, done in group:
                done.set_result(None)

    def close(self) -> None:
        self.jobs.put(None)
        self.thread.join()
        super().close()


class Pace(NamedTuple):
    """How puts went: of the wall clock, and of the processor, which other processes do not disturb."""

    per_s: float
    cpu_us: float


def pace_of(writer: Alone, *, threads: int, seconds: float) -> Pace:
    stop = threading.Event()
    counts = [0] * threads

    def work(number: int) -> None:
        pick = random.Random(number)
        while not stop.is_set():
            writer.put((*keyed(pick.randrange(1_000_000)), os.urandom(ITEM_BYTES)))
            counts[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    started_s, started_cpu_s = time.perf_counter(), time.process_time()
    for worker in workers:
        worker.start()
    time.sleep(seconds)
    stop.set()
    for worker in workers:
        worker.join()
    puts = sum(counts)
    used_s = time.process_time() - started_cpu_s
    return Pace(puts / (time.perf_counter() - started_s), used_s * 1e6 / puts)


def measure_groups(directory: Path, *, quick: bool) -> None:
    kinds: dict[str, type[Alone]] = {
        "a transaction each": Alone,
        "the caller writes for all who wait": CallerRuns,
        "a writer thread": WriterThread,
    }
    seconds, rounds = (0.02, 1) if quick else (0.5, 10)
    for synchronous, word in (("FULL", "durable"), ("NORMAL", "relaxed")):
        paces: dict[tuple[str, int], list[Pace]] = {}
        writers = {}
        for number, (name, kind) in enumerate(kinds.items()):
            connection = connect(directory / f"{word}{number}.db", synchronous=synchronous)
            connection.execute(_ITEMS).fetchall()
            writers[name] = kind(connection)
        for _, threads, (name, writer) in itertools.product(range(rounds), THREADS, writers.items()):
            paces.setdefault((name, threads), []).append(pace_of(writer, threads=threads, seconds=seconds))
        for writer in writers.values():
            writer.close()
        print_paces(f"Puts a second, {word} (and microseconds of the processor for each)", kinds, paces)


def print_paces(title: str, names: Iterable[str], paces: dict[tuple[str, int], list[Pace]]) -> None:
    rows = []
    for name in names:
        cells = []
        for threads in THREADS:
            measured = paces[name, threads]
            per_s = statistics.median(pace.per_s for pace in measured)
            cpu_us = statistics.median(pace.cpu_us for pace in measured)
            cells.append(f"{per_s:,.0f} ({cpu_us:.0f} us)")
        rows.append([name, *cells])
    print_table(title, ["", "1 thread", "4 threads", "16 threads"], rows)


# --- counts: with every item, or once for the group? -----------------------------------------------------


def measure_counts(directory: Path, *, quick: bool) -> None:
    rounds = 5 if quick else 400
    contenders = {}
    connections = []
    for name in ("with every item", "once for the group"):
        connection = connect(directory / f"counts {name}.db")
        connection.execute(_SHAPES["reference"]).fetchall()
        connection.execute("CREATE TABLE counter(id INTEGER PRIMARY KEY, items INTEGER, bytes INTEGER)")
        connection.execute("INSERT INTO counter VALUES (1, 0, 0), (2, 0, 0)")
        connections.append(connection)
        contenders[name] = counted_batches(connection, each=name == "with every item")
    medians = interleaved_us(contenders, rounds=rounds)
    for connection in connections:
        connection.close()
    print_table(
        f"{PAGE_ITEMS} new items with one index entry each in one transaction, relaxed, us",
        ["the counts are written", "us"],
        [[name, f"{median:.0f}"] for name, median in medians.items()],
    )


def counted_batches(connection: apsw.Connection, *, each: bool) -> Run:
    execute = connection.execute
    numbers = iter(random.Random(3).sample(range(10_000_000), 100_000))

    def count(items: int) -> None:
        for store_id in (1, 2):
            columns = (items, items * ITEM_BYTES, store_id)
            execute("UPDATE counter SET items = items + ?, bytes = bytes + ? WHERE id = ?", columns)

    def run() -> None:
        execute("BEGIN IMMEDIATE")
        for _ in range(PAGE_ITEMS):
            pk, sk = keyed(next(numbers))
            execute("INSERT INTO t(pk, sk, item) VALUES (?, ?, ?)", (pk, sk, os.urandom(ITEM_BYTES)))
            entry = (pk[:5], sk, pk, sk, connection.last_insert_rowid())
            execute("INSERT INTO i(ipk, isk, pk, sk, item) VALUES (?, ?, ?, ?, ?)", entry)
            if each:
                count(1)
        if not each:
            count(PAGE_ITEMS)
        execute("COMMIT")

    return run


# --- fork: what does it cost to close the connections? -----------------------------------------------------


def measure_fork(directory: Path, *, quick: bool) -> None:
    rounds = 3 if quick else 200
    key = {"id": {"S": "a"}}

    def fork() -> None:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)

    bare_us = interleaved_us({"bare": fork}, rounds=rounds)["bare"]
    with closing(Database.open(directory / "fork.db")) as database:
        database.create_table(
            TableName="notes",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )

        def get() -> None:
            database.get_item(TableName="notes", Key=key)

        get()
        medians = interleaved_us({"fork": fork, "first get": get, "next get": get}, rounds=rounds)
    print_table(
        "A fork and the gets after it, us",
        ["fork, no database", "fork, a database open", "the first get after it", "the next get"],
        [[f"{bare_us:.0f}", *(f"{medians[name]:.0f}" for name in ("fork", "first get", "next get"))]],
    )


MEASUREMENTS = {
    "entries": measure_entries,
    "groups": measure_groups,
    "counts": measure_counts,
    "fork": measure_fork,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", choices=[[], *MEASUREMENTS], metavar="NAME", help="what to measure"
    )
    parser.add_argument("--quick", action="store_true", help="only see that it runs")
    arguments = parser.parse_args()
    for name in arguments.names or MEASUREMENTS:
        with tempfile.TemporaryDirectory(prefix="decisions-") as directory:
            MEASUREMENTS[name](Path(directory), quick=arguments.quick)


if __name__ == "__main__":
    main()
