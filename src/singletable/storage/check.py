"""Verify a database: its structure, every index entry against its item and back, counts, and the log.

It trusts nothing that the engine keeps up to date: everything is computed again from the items.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

import apsw
import orjson

from singletable import errors
from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute, load_catalog, scalar
from singletable.storage.check_log import Problem, check_log
from singletable.storage.definitions import decode_definition
from singletable.storage.file import failures
from singletable.storage.file.connections import connect_for_reading
from singletable.storage.file.encryption import FileKey
from singletable.storage.file.formats import check_readable
from singletable.storage.file.given_keys import key_of
from singletable.storage.file.page_sums import damaged_place, is_damage
from singletable.storage.file.write_ahead_log import check_log_belongs, find_damaged_frame
from singletable.storage.images import Image, encode_item
from singletable.storage.log import select_logs
from singletable.storage.reading import UNREADABLE, Counts, select_counts, snapshot
from singletable.storage.scrub import find_damaged_pages
from singletable.storage.tables import Expiry, Index, Table
from singletable.values.reading import read_item

Progress = Callable[[int, int], None]

_PROBLEMS_MAX = 100  # a damaged file may have millions; the first ones tell
_PROGRESS_ROWS = 1_000
_SELECT_NEXT_ID = "SELECT value FROM meta WHERE name = 'next_id'"
_FIXED_TABLES = (
    *("meta", "catalog", "counter", "backfill", "dropped", "token"),
    *("log", "stream", "shard", "consumer", "dead_letter", "restore"),
)


class _Step(NamedTuple):
    """Progress within one table of several."""

    progress: Progress
    done: int
    total: int

    def tell(self, rows: int) -> None:
        if rows % _PROGRESS_ROWS == 0:
            self.progress(self.done + rows, self.total)


def check_file(
    path: str | os.PathLike[str], progress: Progress | None = None, key: FileKey | None = None
) -> list[Problem]:
    """Verify a database file, also while others use it. An empty list means that the file is sound.

    Raises a DatabaseError where the file cannot be read as a database at all.
    """
    path = os.fspath(path)
    failures.require_file(path)
    key = key_of(path, key)
    try:
        check_log_belongs(path, key)
        connection = connect_for_reading(path, key)
        try:
            version = check_readable(connection, path)
            if version != schema.FORMAT_VERSION:
                raise errors.NotADatabaseError(
                    f"{path} has format {version}; only format {schema.FORMAT_VERSION} can be checked",
                    hint="open it once with Database.open, which upgrades it or makes it",
                )
            reason = find_damaged_frame(path) if key is None else None
            lost = [] if reason is None else [Problem("write-ahead log", reason)]
            return lost + _check(connection, progress, lambda: connect_for_reading(path, key))
        finally:
            connection.close()
    except apsw.Error as error:
        raise failures.translate(error, path) from error


def _check(
    connection: apsw.Connection, progress: Progress | None, connect: Callable[[], apsw.Connection]
) -> list[Problem]:
    """Look at the sums of all pages, and if they are right, at what the pages say.

    A connection to an encrypted file that has met a damaged page may fail with others too: each look has its own.
    """
    with closing(connect()) as looking:
        damaged = find_damaged_pages(looking)
    if not damaged:
        try:
            return check_connection(connection.execute, progress)
        except UNREADABLE as error:
            if not is_damage(error):
                raise
            place = damaged_place(error)  # in the log beside the file, or behind its end
            problems = [Problem(place, "its bytes are not those that were written")]
    else:
        problems = [Problem(f"page {page}", "its bytes are not those that were written") for page in damaged]
    try:
        problems += _unreadable(connection.execute, connect)
    except (*UNREADABLE, ValueError, LookupError, TypeError, AttributeError):
        problems.append(Problem("catalog", "it cannot be read, and nothing without it"))
    return problems[:_PROBLEMS_MAX]


def _unreadable(execute: Execute, connect: Callable[[], apsw.Connection]) -> Iterator[Problem]:
    catalog = load_catalog(execute)
    names = {schema.log_table(table.id): f"log of table {table.name}" for table in catalog}
    for table in catalog:
        names[schema.item_table(table.id)] = _where(table)
        names |= {schema.index_table(index.id): _where(table, index) for index in table.indexes}
    trees: list[Any] = execute("SELECT name, type, tbl_name FROM sqlite_schema WHERE rootpage > 0").fetchall()
    for name, kind, of in trees:
        sql = (
            f"SELECT * FROM {of} NOT INDEXED" if kind == "table" else f"SELECT 1 FROM {of} INDEXED BY {name}"
        )
        if name.startswith("sqlite_autoindex"):
            continue  # is the table itself, where that has no row ids
        try:
            with closing(connect()) as reading:
                for _ in reading.execute(sql):
                    pass
        except UNREADABLE:
            part = "" if kind == "table" else ", by which items are found,"
            yield Problem(names.get(of, f"internal table {of}"), f"a part of it{part} cannot be read")


def check_connection(execute: Execute, progress: Progress | None = None) -> list[Problem]:
    """Verify the database behind a connection, as of one moment."""
    problems: list[Problem] = []
    with snapshot(execute):
        try:
            for problem in _problems(execute, progress or _no_progress):
                problems.append(problem)
                if len(problems) >= _PROBLEMS_MAX:
                    problems.append(Problem("check", f"stopped after {_PROBLEMS_MAX} problems"))
                    break
        except (
            apsw.CorruptError,
            apsw.SQLError,
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
        ) as error:
            problems.append(Problem("structure", f"{type(error).__name__}: {error}"))
    return problems


def _no_progress(done: int, total: int) -> None:
    pass


def _problems(execute: Execute, progress: Progress) -> Iterator[Problem]:
    damaged = False
    for (text,) in execute("PRAGMA integrity_check(20)").fetchall():
        if text != "ok":
            damaged = True
            yield Problem("structure", str(text))
    if damaged:
        return  # further findings would only repeat this one in other words
    try:
        catalog = load_catalog(execute)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        yield Problem("catalog", f"a table definition cannot be read: {error}")
        return
    missing = list(_check_tables(execute, catalog))
    yield from missing
    if missing:
        return
    yield from _check_ids(execute, catalog)
    total = sum(select_counts(execute, table.id).items for table in catalog)
    done = 0
    for table in catalog:
        yield from _check_table(execute, table, _Step(progress, done, total))
        done += select_counts(execute, table.id).items
    yield from check_log(execute, catalog)
    progress(total, total)


def _check_tables(execute: Execute, catalog: Catalog) -> Iterator[Problem]:
    """Compare the SQLite tables that are there with those that the catalog asks for."""
    present = {row[0] for row in execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    dropped = {row[0] for row in execute("SELECT name FROM dropped")}
    named: set[str] = set()
    for table in catalog:
        named.add(schema.item_table(table.id))
        named.update(schema.index_table(index.id) for index in table.indexes)
        if table.expiry is not None:
            named.add(schema.expiry_table(table.expiry.id))
    named.update(schema.log_table(table_id) for table_id in select_logs(execute))
    wanted = {*_FIXED_TABLES, *dropped, *named}
    for name in sorted(wanted - present):
        yield Problem("structure", f"table {name} is missing")
    for name in sorted(present - wanted):
        if not name.startswith("sqlite_"):
            yield Problem("structure", f"table {name} belongs to nothing in the catalog")
    for name in sorted(named & dropped):
        yield Problem("structure", f"table {name} is in use, and marked as dropped")


def _check_ids(execute: Execute, catalog: Catalog) -> Iterator[Problem]:
    """Compare the ids of the catalog with those that other rows speak of."""
    rows: list[Any] = execute("SELECT name, id, definition FROM catalog").fetchall()
    for name, table_id, text in rows:
        definition = decode_definition(text)
        if (name, table_id) != (definition.name, definition.id):
            yield Problem("catalog", f"the row of {name} holds the definition of {definition.name}")
    filling = {row[0] for row in execute("SELECT index_id FROM backfill")}
    ids: list[int] = []
    expiring: list[int] = []
    for table in catalog:
        ids += [table.id, *(index.id for index in table.indexes)]
        for index in table.indexes:
            if index.is_ready == (index.id in filling):
                yield Problem(_where(table, index), "its status and its backfill position disagree")
        if table.expiry is not None:
            expiring.append(table.expiry.id)
            if table.expiry.is_ready == (table.expiry.id in filling):
                yield Problem(_where(table), "the status of its expiry and its backfill position disagree")
    ids += expiring
    streams = [row[0] for row in execute("SELECT id FROM stream")]
    newest = max((*ids, *streams, *select_logs(execute)), default=0)
    named = [*ids, *streams]
    if len(set(named)) != len(named) or newest >= scalar(execute(_SELECT_NEXT_ID)):
        yield Problem("catalog", "an id is used twice, or would be")
    counted = {row[0] for row in execute("SELECT id FROM counter")}
    for unknown in sorted((counted | filling) - set(ids)):
        yield Problem("catalog", f"id {unknown} is counted or filled, and belongs to no table or index")


def _where(table: Table, index: Index | None = None) -> str:
    return f"table {table.name}" if index is None else f"table {table.name}, index {index.name}"


def _check_table(execute: Execute, table: Table, step: _Step) -> Iterator[Problem]:
    items = total_bytes = 0
    expected = {index.id: [0, 0] for index in table.indexes}
    filled_to = {index.id: _filled_to(execute, index.id) for index in table.indexes}
    expiring = None if table.expiry is None else _Expiring(execute, table.expiry)
    for row_id, pk, sk, size, raw in execute(
        f"SELECT id, pk, sk, bytes, item FROM {schema.item_table(table.id)}"
    ):
        items += 1
        total_bytes += size
        step.tell(items)
        where = f"{_where(table)}, row {row_id}"
        try:
            image = Image(raw, size, orjson.loads(raw))
            item, item_bytes = read_item(image.item, native=False)
            if encode_item(item) != raw:
                yield Problem(where, "its item is not stored in the normal form")
            if table.key_of(item) != (pk, sk):
                yield Problem(where, "its key columns do not match the item")
            if item_bytes != size:
                yield Problem(where, f"its size is {item_bytes}, but {size} is stored")
        except (ValueError, KeyError, TypeError, AttributeError, errors.ApiError) as error:
            yield Problem(where, f"the item cannot be read: {error}")
            continue
        for index in table.indexes:
            entry = index.entry_key(image.item)
            if entry is None:
                continue
            found = next(execute(_select_entry(index), (*entry, pk, sk)), None)
            if found is not None and found[0] == row_id:
                expected[index.id][0] += 1
                expected[index.id][1] += index.projected_bytes(image)
            elif found is not None or row_id <= filled_to[index.id]:
                yield Problem(where, f"its entry in index {index.name} is missing or wrong")
        if expiring is not None:
            yield from expiring.check(image, row_id, where)
    yield from _check_counts(execute, table.id, Counts(items, total_bytes), _where(table))
    if expiring is not None:
        yield from expiring.check_all(_where(table))
    for index in table.indexes:
        yield from _check_index(execute, table, index, Counts(*expected[index.id]))


def _filled_to(execute: Execute, store_id: int) -> int:
    row = next(execute(schema.SELECT_BACKFILL, (store_id,)), None)
    return (1 << 63) if row is None else row[0]


class _Expiring:
    """The items of a table in the order of their expiry, beside the items themselves."""

    def __init__(self, execute: Execute, expiry: Expiry) -> None:
        self._execute = execute
        self._expiry = expiry
        self._name = schema.expiry_table(expiry.id)
        self._filled_to = _filled_to(execute, expiry.id)
        self._right = 0

    def check(self, image: Image, row_id: int, where: str) -> Iterator[Problem]:
        expires_s = self._expiry.time_of(image.item)
        if expires_s is None:
            return
        sql = f"SELECT 1 FROM {self._name} WHERE expires = ? AND item = ?"
        if next(self._execute(sql, (expires_s, row_id)), None) is not None:
            self._right += 1
        elif row_id <= self._filled_to:
            yield Problem(where, "it is missing among the items that expire")

    def check_all(self, where: str) -> Iterator[Problem]:
        """Every right entry was found from its item; any further one has no right to be there."""
        entries = scalar(self._execute(f"SELECT count(*) FROM {self._name}"))
        if entries != self._right:
            yield Problem(where, f"{entries - self._right} entries of expiring items stand for no item")


def _select_entry(index: Index) -> str:
    name = schema.index_table(index.id)
    return f"SELECT item FROM {name} WHERE ipk = ? AND isk = ? AND pk = ? AND sk = ?"


def _check_index(execute: Execute, table: Table, index: Index, expected: Counts) -> Iterator[Problem]:
    """Every right entry was found from its item; any further one has no right to be there."""
    where = _where(table, index)
    entries = scalar(execute(f"SELECT count(*) FROM {schema.index_table(index.id)}"))
    if entries != expected.items:
        yield Problem(where, f"{entries - expected.items} entries have no item that they stand for")
    yield from _check_counts(execute, index.id, expected, where)


def _check_counts(execute: Execute, store_id: int, actual: Counts, where: str) -> Iterator[Problem]:
    stored = select_counts(execute, store_id)
    if stored != actual:
        yield Problem(
            where,
            f"it holds {actual.items} items of {actual.item_bytes} bytes, "
            f"but {stored.items} items of {stored.item_bytes} bytes are counted",
        )
