"""What checksums cost: the engine with those of pages and without, and bare SQL with several kinds of protection.

All files hold the same items, loaded in random order. Without sums, the engine reads as SQLite does by itself,
with its memory mapping; its file is a copy of one with sums, which nobody compares.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

import apsw
import apsw.sqlite_extra
from isal.isal_zlib import crc32

from benchmarks import payloads
from benchmarks.engine_speed import Puts, index_query_of, load, query_of
from benchmarks.floor import PAGE_ITEMS, BareSql, Row, key_columns, partition_column
from benchmarks.measure import Contender, Plan, Result, compare, interleave
from benchmarks.payloads import ONE_KB, TABLE, Payloads
from singletable import Database
from singletable.storage import schema, store
from singletable.storage.catalog import scalar
from singletable.storage.file import connections, formats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ITEMS: Final = 100_000
ITEMS_QUICK: Final = 10_000
READ_PLAN: Final = Plan(rounds=20, turns=30, calls=20)
QUERY_PLAN: Final = Plan(rounds=20, turns=20, calls=8)
PUT_PLAN: Final = Plan(rounds=20, turns=200, calls=1)
MIXED_PLAN: Final = Plan(rounds=20, turns=150, calls=1)
RATIO_MAX: Final = 1.05
PLAIN: Final = "without sums"


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure the engine, then bare SQL."""
    source = Payloads(ONE_KB, items=ITEMS_QUICK if quick else ITEMS)
    summed = directory / "summed.db"
    say(f"loading {source.items:,} items")
    with Database.open(str(summed), durability="relaxed") as database:
        load(database, source.all_items_shuffled())
    copies = [directory / f"{name}.db" for name in ("plain", "bare", "bare-summed")]
    for copy in copies:
        shutil.copyfile(summed, copy)
    divisor = 4 if quick else 1
    return [
        *_engine(summed, copies[0], source, divisor, say),
        *_bare(directory, copies[1], copies[2], source, divisor, say),
    ]


@contextmanager
def no_sums() -> Iterator[None]:
    """Let files that are opened now be read and written by SQLite's own layer, as if there were no sums."""
    with ExitStack() as stack:
        for module, name, value in (
            (connections, "summed", lambda: "unix"),
            (formats, "has_sums", lambda connection: True),
            (formats, "give_missing_sums", lambda connection: None),
            (store, "has_sums", lambda connection: False),
        ):
            stack.enter_context(patch.object(module, name, value))
        yield


# --- the engine -----------------------------------------------------------------------------------


def _engine(
    summed: Path, plain: Path, source: Payloads, divisor: int, say: Callable[[str], None]
) -> Iterator[Result]:
    with ExitStack() as stack:
        databases = {"with sums": stack.enter_context(Database.open(str(summed), durability="relaxed"))}
        databases["with sums"].get_item(TableName=TABLE, Key=payloads.key_of(0))  # so that it has a reader
        with no_sums():
            databases[PLAIN] = stack.enter_context(Database.open(str(plain), durability="relaxed"))
            for work, (name, plan) in _ENGINE_WORK.items():
                say(f"engine: {name}")
                contenders = [
                    _contender(label, work, database, source) for label, database in databases.items()
                ]
                interleave(contenders, plan.shorter(divisor))
                yield compare(name, subject=contenders[0], floor=contenders[1], ratio_max=RATIO_MAX)


def _contender(
    name: str, work: Callable[[Database, Payloads], Contender], database: Database, source: Payloads
) -> Contender:
    contender = work(database, source)
    contender.name = name
    return contender


def _gets(database: Database, source: Payloads) -> Contender:
    get_item = database.get_item
    return Contender(
        name="",
        prepare=lambda: payloads.key_of(source.random.randrange(source.items)),
        run=lambda key: get_item(TableName=TABLE, Key=key),
    )


def _queries(database: Database, source: Payloads) -> Contender:
    return Contender(
        name="",
        prepare=lambda: {":p": {"S": payloads.partition_key(source.random.randrange(source.items))}},
        run=query_of(database),
    )


def _index_queries(database: Database, source: Payloads) -> Contender:
    return Contender(
        name="",
        prepare=lambda: {":p": {"S": payloads.bucket_key(source.random.randrange(source.buckets))}},
        run=index_query_of(database),
    )


def _puts(database: Database, source: Payloads) -> Contender:
    put_item, puts = database.put_item, Puts(source)
    return Contender(
        name="", prepare=lambda: puts.next()[0], run=lambda item: put_item(TableName=TABLE, Item=item)
    )


def _gets_behind_puts(database: Database, source: Payloads) -> Contender:
    """Each get comes behind a put, whose commit makes the reader look at its file anew."""
    put_item, get_item, puts = database.put_item, database.get_item, Puts(source)

    def prepare() -> Any:
        put_item(TableName=TABLE, Item=puts.next()[0])
        return payloads.key_of(source.random.randrange(source.items))

    return Contender(name="", prepare=prepare, run=lambda key: get_item(TableName=TABLE, Key=key))


_ENGINE_WORK: Final = {
    _gets: ("get", READ_PLAN),
    _queries: (f"query of {PAGE_ITEMS}", QUERY_PLAN),
    _index_queries: (f"query of {PAGE_ITEMS} through the index", QUERY_PLAN),
    _puts: ("put, relaxed", PUT_PLAN),
    _gets_behind_puts: ("get behind a put", MIXED_PLAN),
}


# --- bare SQL ---------------------------------------------------------------------------------------


class RowChecked(BareSql):
    """A checksum of each item, kept by Python: it finds changed bytes of an item, and no item that is missing."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, durability="relaxed")
        items = schema.item_table(self.table_id)
        self.execute(f"ALTER TABLE {items} ADD COLUMN sum INTEGER").fetchall()
        rows: list[Any] = self.execute(f"SELECT id, item FROM {items}").fetchall()
        with self.connection:
            for row_id, item in rows:
                self.execute(f"UPDATE {items} SET sum = ? WHERE id = ?", (crc32(item), row_id))
        self.select_one = f"SELECT item, sum FROM {items} WHERE pk = ? AND sk = ?"
        self.select_page = f"SELECT item, sum FROM {items} WHERE pk = ? ORDER BY sk LIMIT {PAGE_ITEMS}"

    def get(self, key: tuple[bytes, bytes]) -> Any:
        ((raw, stored),) = self.execute(self.select_one, key)
        assert crc32(raw) == stored
        return raw

    def query(self, partition: bytes) -> list[Any]:
        rows: list[Any] = self.execute(self.select_page, (partition,)).fetchall()
        assert all(crc32(raw) == stored for raw, stored in rows)
        return rows


class Undecoded(BareSql):
    """Reads without decoding, so that what is measured is the reading."""

    def get(self, key: tuple[bytes, bytes]) -> Any:
        ((raw,),) = self.execute(self.select_one, key)
        return raw

    def query(self, partition: bytes) -> list[Any]:
        return self.execute(self.select_page, (partition,)).fetchall()


def _bare(
    directory: Path, plain: Path, summed: Path, source: Payloads, divisor: int, say: Callable[[str], None]
) -> Iterator[Result]:
    with no_sums():
        floors: dict[str, BareSql] = {"plain SQLite, memory mapped": Undecoded(plain, durability="relaxed")}
    floors["sums of pages"] = Undecoded(summed, durability="relaxed")
    rows = directory / "rows.db"
    shutil.copyfile(plain, rows)
    with no_sums():
        floors["CRC-32 of rows"] = RowChecked(rows)
    floors["SQLite's checksum VFS"] = _rewritten(directory / "cksum.db", plain, _checksum_vfs)
    floors["AEGIS, authenticated encryption"] = _rewritten(directory / "aegis.db", plain, _aegis)
    (base, *others) = floors
    works: list[tuple[str, Plan, Callable[[], Any], Callable[[BareSql], Callable[[Any], Any]]]] = [
        ("bare get", READ_PLAN, lambda: key_columns(payloads.key_of(_any(source))), lambda bare: bare.get),
        (
            f"bare query of {PAGE_ITEMS}",
            QUERY_PLAN,
            lambda: partition_column(payloads.partition_key(_any(source))),
            lambda bare: bare.query,
        ),
    ]
    for name, plan, prepare, run in works:
        say(name)
        contenders = {
            label: Contender(name=label, prepare=prepare, run=run(bare)) for label, bare in floors.items()
        }
        interleave(list(contenders.values()), plan.shorter(divisor))
        for label in others:
            yield compare(f"{name}: {label}", subject=contenders[label], floor=contenders[base])
    say("bare put")
    puts = {
        label: _bare_puts(label, bare, source)
        for label, bare in floors.items()
        if not isinstance(bare, RowChecked)
    }
    interleave(list(puts.values()), PUT_PLAN.shorter(divisor))
    for label in others:
        if label in puts:
            yield compare(f"bare put: {label}", subject=puts[label], floor=puts[base])
    for bare in floors.values():
        bare.close()


def _any(source: Payloads) -> int:
    return source.random.randrange(source.items)


def _bare_puts(name: str, bare: BareSql, source: Payloads) -> Contender:
    puts = Puts(source)
    put: Callable[[Row], None] = bare.put
    return Contender(name=name, prepare=lambda: puts.next()[1], run=put)


def _rewritten(path: Path, plain: Path, connect: Callable[[str], apsw.Connection]) -> BareSql:
    """Copy all tables into a file that another layer protects."""
    connection = connect(str(path))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL").fetchall()
    source = apsw.Connection(str(plain), flags=apsw.SQLITE_OPEN_READONLY, vfs="unix")
    objects: list[Any] = source.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    with connection:
        for _, _, sql in objects:
            connection.execute(sql).fetchall()
        for kind, name, _ in objects:
            if kind == "table":
                columns = scalar(source.execute("SELECT count(*) FROM pragma_table_info(?)", (name,)))
                marks = ", ".join("?" * columns)
                rows = source.execute(f"SELECT * FROM {name}")
                connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    source.close()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with patch("benchmarks.floor.connect", lambda place: connection):
        return Undecoded(path, durability="relaxed")


load_extension: Callable[[apsw.Connection, str], None] = apsw.sqlite_extra.load
_FLAGS: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI


def _checksum_vfs(path: str) -> apsw.Connection:
    loader = apsw.Connection(":memory:")
    load_extension(loader, "cksumvfs")
    loader.close()
    connection = apsw.Connection(path, flags=_FLAGS, vfs="cksmvfs")
    connection.reserve_bytes("main", 8)
    return connection


def _aegis(path: str) -> apsw.Connection:
    connection = apsw.Connection(path, flags=_FLAGS, vfs="multipleciphers-unix")
    connection.execute("PRAGMA cipher = 'aegis'; PRAGMA key = 'raw:" + "5a" * 32 + "'").fetchall()
    return connection
