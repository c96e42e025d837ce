"""Get, query and put against their floors: one table, one index, items of 1 KB and of 3 KB."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from benchmarks import payloads
from benchmarks.floor import PAGE_ITEMS, BareAppend, BareSql, Row, key_columns, partition_column, row_of
from benchmarks.measure import Contender, Plan, Result, compare, interleave
from benchmarks.payloads import INDEX, TABLE, Item, Payloads, Size
from singletable import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from singletable.wire import types

ITEMS = 100_000
ITEMS_QUICK = 10_000
SIZES = (payloads.ONE_KB, payloads.THREE_KB)

GET_PLAN = Plan(rounds=20, turns=40, calls=25)
QUERY_PLAN = Plan(rounds=20, turns=20, calls=10)
# One call a turn: a program puts the item that it has just made.
PUT_PLAN = Plan(rounds=20, turns=240, calls=1)
DURABLE_PLAN = Plan(rounds=20, turns=80, calls=1)
# Until the first checkpoint, after some 300 puts, SQLite's log grows with each commit, and a growing file
# costs a file system twice the sync of one that is written over. Every opening of a file begins so.
JUST_OPENED_PLAN = Plan(rounds=5, turns=40, calls=1)
GROWN_PLAN = Plan(rounds=1, turns=400, calls=1)
QUICK_DIVISOR = 2

GET_RATIO_MAX = 2.0
QUERY_RATIO_MAX = 1.4
RELAXED_PUT_RATIO_MAX = 2.2
DURABLE_PUT_RATIO_MAX = 1.8

BATCH_ITEMS = 25


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure both sizes of items."""
    results: list[Result] = []
    divisor = QUICK_DIVISOR if quick else 1
    for size in SIZES:
        bench = SpeedBench(directory, size, items=ITEMS_QUICK if quick else ITEMS)
        say(f"loading {bench.payloads.items:,} items of {size.name}")
        bench.load()
        say(f"get and query, {size.name}")
        results += bench.reads(divisor)
        say(f"put, {size.name}")
        results += bench.relaxed_puts(divisor)
        results += bench.durable_puts(divisor)
        bench.remove_files()
    return results


def load(database: Database, items: Iterable[Item]) -> None:
    """Create the table and put every item, a batch to a transaction."""
    database.create_table(**payloads.TABLE_DEFINITION)
    batch: list[types.WriteRequest] = []
    for item in items:
        batch.append({"PutRequest": {"Item": item}})
        if len(batch) == BATCH_ITEMS:
            database.batch_write_item(RequestItems={TABLE: batch})
            batch = []
    if batch:
        database.batch_write_item(RequestItems={TABLE: batch})


class Puts:
    """An endless mixture: half new items, a quarter overwriting in place, a quarter moving in the index."""

    def __init__(self, source: Payloads) -> None:
        self.payloads = source
        self.new_numbers = [source.items + number for number in source.numbers_shuffled()]
        self.buckets: dict[int, int] = {}
        self.made = 0

    def next(self) -> tuple[Item, Row]:
        """Make the next item, and the same as a row for the floor."""
        self.made += 1
        if self.made % 2:
            item = self.payloads.item(self.new_numbers.pop())
            return item, row_of(item)
        number = self.payloads.random.randrange(self.payloads.items)
        bucket_before = self.buckets.get(number, self.payloads.usual_bucket(number))
        moves = self.made % 4 == 0
        bucket = (bucket_before + 1) % self.payloads.buckets if moves else bucket_before
        self.buckets[number] = bucket
        item = self.payloads.item(number, bucket=bucket)
        return item, row_of(item, replaced=self.payloads.item(number, bucket=bucket_before))


class SpeedBench:
    """One size of items: the engine's file, and copies of it for the floor and for durable writes."""

    def __init__(self, directory: Path, size: Size, *, items: int) -> None:
        self.size = size
        self.payloads = Payloads(size, items=items)
        self.engine_path = directory / "engine.db"
        self.floor_path = directory / "floor.db"
        self.counting_floor_path = directory / "counting-floor.db"
        self.durable_path = directory / "durable.db"
        self.durable_floor_path = directory / "durable-floor.db"
        self.append_path = directory / "append"
        self.copies = (self.floor_path, self.counting_floor_path, self.durable_path, self.durable_floor_path)

    def load(self) -> None:
        with Database.open(str(self.engine_path), durability="relaxed") as database:
            load(database, self.payloads.all_items_shuffled())
        assert not self.engine_path.with_name("engine.db-wal").exists(), "a closed file stands alone"
        for copy in self.copies:
            shutil.copyfile(self.engine_path, copy)

    def remove_files(self) -> None:
        for path in (self.engine_path, self.append_path, *self.copies):
            for file in path.parent.glob(f"{path.name}*"):
                file.unlink()

    def reads(self, divisor: int) -> list[Result]:
        floor = BareSql(self.floor_path, durability="relaxed")
        try:
            with Database.open(str(self.engine_path), durability="relaxed") as database:
                self._agree(database, floor)
                return [
                    self._gets(database, floor, GET_PLAN.shorter(divisor)),
                    self._queries(database, floor, QUERY_PLAN.shorter(divisor)),
                    self._index_queries(database, floor, QUERY_PLAN.shorter(divisor)),
                ]
        finally:
            floor.close()

    def relaxed_puts(self, divisor: int) -> list[Result]:
        floor = BareSql(self.floor_path, durability="relaxed")
        counting_floor = BareSql(self.counting_floor_path, durability="relaxed")
        try:
            with Database.open(str(self.engine_path), durability="relaxed") as database:
                subject = self._engine_puts(database)
                bare = self._bare_puts("bare SQL", floor.put)
                counting = self._bare_puts("bare SQL, counts too", counting_floor.put_and_count)
                interleave((subject, bare, counting), PUT_PLAN.shorter(divisor))
        finally:
            floor.close()
            counting_floor.close()
        name = f"put, relaxed, {self.size.name}"
        return [
            compare(name, subject=subject, floor=bare, ratio_max=RELAXED_PUT_RATIO_MAX),
            compare(name, subject=subject, floor=counting),
        ]

    def durable_puts(self, divisor: int) -> list[Result]:
        floor = BareSql(self.durable_floor_path, durability="full")
        append = BareAppend(self.append_path)
        puts = Puts(self.payloads)
        try:
            with Database.open(str(self.durable_path), durability="full") as database:
                subject = self._engine_puts(database)
                bare = self._bare_puts("bare SQL", floor.put)
                raw = Contender(
                    name="append + fdatasync", prepare=lambda: puts.next()[1].item, run=append.append
                )
                contenders = (subject, bare, raw)
                interleave(contenders, JUST_OPENED_PLAN, warm_up=False)
                name = f"put, durable, file just opened, {self.size.name}"
                results = [
                    compare(name, subject=subject, floor=raw),
                    compare(name, subject=subject, floor=bare),
                ]
                interleave(contenders, GROWN_PLAN, warm_up=False)
                interleave(contenders, DURABLE_PLAN.shorter(divisor))
        finally:
            floor.close()
            append.close()
        name = f"put, durable, {self.size.name}"
        return [
            compare(name, subject=subject, floor=raw, ratio_max=DURABLE_PUT_RATIO_MAX),
            compare(name, subject=subject, floor=bare),
            *results,
        ]

    def _gets(self, database: Database, floor: BareSql, plan: Plan) -> Result:
        get_item = database.get_item
        subject = Contender(
            name="engine",
            prepare=lambda: payloads.key_of(self._any_number()),
            run=lambda key: get_item(TableName=TABLE, Key=key),
        )
        bare = Contender(
            name="point read + decode",
            prepare=lambda: key_columns(payloads.key_of(self._any_number())),
            run=floor.get,
        )
        interleave((subject, bare), plan)
        return compare(f"get, {self.size.name}", subject=subject, floor=bare, ratio_max=GET_RATIO_MAX)

    def _queries(self, database: Database, floor: BareSql, plan: Plan) -> Result:
        subject = Contender(
            name="engine",
            prepare=lambda: {":p": {"S": payloads.partition_key(self._any_number())}},
            run=query_of(database),
        )
        bare = Contender(
            name="range read + decode",
            prepare=lambda: partition_column(payloads.partition_key(self._any_number())),
            run=floor.query,
        )
        interleave((subject, bare), plan)
        name = f"query of {PAGE_ITEMS}, {self.size.name}"
        return compare(name, subject=subject, floor=bare, ratio_max=QUERY_RATIO_MAX)

    def _index_queries(self, database: Database, floor: BareSql, plan: Plan) -> Result:
        subject = Contender(
            name="engine",
            prepare=lambda: {":p": {"S": payloads.bucket_key(self._any_bucket())}},
            run=index_query_of(database),
        )
        bare = Contender(
            name="range read + decode",
            prepare=lambda: partition_column(payloads.bucket_key(self._any_bucket())),
            run=floor.query_index,
        )
        interleave((subject, bare), plan)
        name = f"query of {PAGE_ITEMS} through the index, {self.size.name}"
        return compare(name, subject=subject, floor=bare, ratio_max=QUERY_RATIO_MAX)

    def _engine_puts(self, database: Database) -> Contender:
        put_item = database.put_item
        puts = Puts(self.payloads)
        return Contender(
            name="engine",
            prepare=lambda: puts.next()[0],
            run=lambda item: put_item(TableName=TABLE, Item=item),
        )

    def _bare_puts(self, name: str, run: Callable[[Row], None]) -> Contender:
        puts = Puts(self.payloads)
        return Contender(name=name, prepare=lambda: puts.next()[1], run=run)

    def _agree(self, database: Database, floor: BareSql) -> None:
        """See to it that both sides do the same work."""
        for _ in range(10):
            number, bucket = self._any_number(), payloads.bucket_key(self._any_bucket())
            partition = payloads.partition_key(number)
            key = payloads.key_of(number)
            assert database.get_item(TableName=TABLE, Key=key)["Item"] == floor.get(key_columns(key))
            page = query_of(database)({":p": {"S": partition}})["Items"]
            assert page == floor.query(partition_column(partition))
            page = index_query_of(database)({":p": {"S": bucket}})["Items"]
            assert page == floor.query_index(partition_column(bucket))
            assert len(page) == PAGE_ITEMS

    def _any_number(self) -> int:
        return self.payloads.random.randrange(self.payloads.items)

    def _any_bucket(self) -> int:
        return self.payloads.random.randrange(self.payloads.buckets)


def query_of(database: Database) -> Callable[[Any], Any]:
    """A query of one page of a partition of the table, given the expression's values."""
    query = database.query
    return lambda values: query(
        TableName=TABLE,
        KeyConditionExpression="PK = :p",
        ExpressionAttributeValues=values,
        Limit=PAGE_ITEMS,
    )


def index_query_of(database: Database) -> Callable[[Any], Any]:
    """A query of one page of a partition of the index, given the expression's values."""
    query = database.query
    return lambda values: query(
        TableName=TABLE,
        IndexName=INDEX,
        KeyConditionExpression="GSI1PK = :p",
        ExpressionAttributeValues=values,
        Limit=PAGE_ITEMS,
    )
