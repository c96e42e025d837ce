"""Verify the logs: their order, the chain of each item's images, the last of them against the item itself.

And the registers of streams, shards, consumers and restores, against logs and catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.log import (
    COLUMNS,
    EVENTS,
    EXPIRED,
    INSERTED,
    REMOVED,
    Entry,
    LogEnd,
    select_end,
    select_logs,
)
from singletable.storage.reading import select_item
from singletable.storage.streams import Shard, Stream, select_shards, select_streams
from singletable.storage.tables import Table


class Problem(NamedTuple):
    """One finding: the place, and the problem there."""

    where: str
    what: str


def check_log(execute: Execute, catalog: Catalog) -> Iterator[Problem]:
    """Yield the problems of the logs of a database."""
    logs = select_logs(execute)
    for table in catalog:
        if table.logs_changes and table.id not in logs:
            yield Problem(f"table {table.name}", "its changes are to be logged, and it has no log")
    for table_id in logs:
        logged = catalog.with_id(table_id)
        where = f"log {table_id}" if logged is None else f"log of table {logged.name}"
        yield from _check_order(execute, table_id, where)
        if logged is not None and logged.logs_changes:
            yield from _check_chains(execute, logged)
    yield from check_registers(execute, catalog, logs)


def _check_order(execute: Execute, table_id: int, where: str) -> Iterator[Problem]:
    last_seq = last_us = 0
    sql = (
        f"SELECT seq, at, event, before IS NULL, after IS NULL FROM {schema.log_table(table_id)} ORDER BY seq"
    )
    for seq, at_us, event, no_before, no_after in execute(sql):
        if last_seq and seq != last_seq + 1:
            yield Problem(f"{where}, entry {seq}", f"it follows entry {last_seq}")
        if at_us < last_us:
            yield Problem(f"{where}, entry {seq}", "its time lies before that of the entry before it")
        last_seq, last_us = seq, at_us
        if event not in EVENTS:
            yield Problem(f"{where}, entry {seq}", f"it has the unknown event {event}")
        elif bool(no_before) != (event == INSERTED) or (event in (REMOVED, EXPIRED) and not no_after):
            yield Problem(f"{where}, entry {seq}", "its images do not fit its event")


def logged_since_us(table: Table) -> int:
    """Return the moment from which every change of a table is in its log."""
    stream, recovery = table.definition.stream, table.definition.recovery
    return min([needed.created_us for needed in (stream,) if needed] + [r.since_us for r in (recovery,) if r])


def _check_chains(execute: Execute, table: Table) -> Iterator[Problem]:
    """The old image of an entry is the new image of the item's entry before; the last new image is the item.

    An entry holds its new image only while a stream is on; otherwise it tells only whether there was an item.
    """
    sql = f"SELECT {COLUMNS} FROM {schema.log_table(table.id)} WHERE at > ? ORDER BY pk, sk, at, seq"
    previous: Entry | None = None
    for row in execute(sql, (logged_since_us(table),)):
        entry = Entry._make(row)
        if previous is not None and previous.key == entry.key:
            if not _leaves(previous, entry.before):
                yield Problem(
                    f"table {table.name}, log entry {entry.seq}",
                    f"it begins from another state than entry {previous.seq} of the same item left",
                )
        elif previous is not None:
            yield from _check_last(execute, table, previous)
        previous = entry
    if previous is not None:
        yield from _check_last(execute, table, previous)


def _leaves(entry: Entry, state: bytes | None) -> bool:
    if entry.after is not None:
        return entry.after == state
    return (state is None) == (entry.event in (REMOVED, EXPIRED))


def _check_last(execute: Execute, table: Table, entry: Entry) -> Iterator[Problem]:
    stored = select_item(execute, table, PrimaryKey(entry.pk, entry.sk))
    if not _leaves(entry, None if stored is None else stored[1]):
        yield Problem(
            f"table {table.name}, log entry {entry.seq}", "it is the newest of its item, which is different"
        )


# --- the registers: streams and their shards, consumers, restores ---------------------------------


def check_registers(execute: Execute, catalog: Catalog, logs: Iterable[int]) -> Iterator[Problem]:
    """Yield the problems of the registers: of streams, shards, consumers and restores."""
    ends = {table_id: select_end(execute, table_id) for table_id in logs}
    streams = select_streams(execute)
    for stream in streams:
        yield from _check_stream(execute, stream, ends)
    yield from _check_open_streams(catalog, streams)
    yield from _check_orphans(execute)
    yield from _check_consumers(execute, ends)
    yield from _check_restores(execute, catalog, ends)


# --- streams ------------------------------------------------------------------------------


def _check_stream(execute: Execute, stream: Stream, ends: dict[int, LogEnd]) -> Iterator[Problem]:
    where = f"stream {stream.id} of table {stream.table_name}"
    if stream.table_id not in ends:
        yield Problem(where, "its log is not there")
        return
    try:
        described = stream.table.definition
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        yield Problem(where, f"the definition of its table cannot be read: {error}")
        return
    if (described.id, described.name) != (stream.table_id, stream.table_name):
        yield Problem(where, "it holds the definition of another table")
    shards = select_shards(execute, stream.id)
    end = ends[stream.table_id].seq
    if any(shard.first > end + 1 or (shard.last or 0) > end for shard in shards):
        yield Problem(where, "a shard of it reaches beyond the log")
    if any((shard.last is None) != (shard.ended_us is None) for shard in shards):
        yield Problem(where, "a shard of it has ended, and has no end")
    still_open = [shard for shard in shards if shard.last is None]
    if stream.ended_us is not None and (still_open or not shards):
        yield Problem(where, "it has ended, and its shards have not, or are gone")
    if stream.ended_us is None and not _cover((0, 1), still_open):
        yield Problem(where, "its open shards do not hold each partition once")
    yield from _check_lineage(stream, shards, where)


def _check_lineage(stream: Stream, shards: list[Shard], where: str) -> Iterator[Problem]:
    """The children of a closed shard cover its partitions from its end on; the end of a stream leaves none."""
    for shard in shards:
        children = [child for child in shards if child.parent == shard.number]
        if shard.last is None or (not children and shard.ended_us == stream.ended_us):
            is_right = not children
        else:
            is_right = _cover((shard.part, shard.parts), children) and all(
                child.first == shard.last + 1 and child.number > shard.number for child in children
            )
        if not is_right:
            yield Problem(where, f"the shards that follow shard {shard.number} do not go on where it ended")


def _cover(whole: tuple[int, int], shards: list[Shard]) -> bool:
    """Tell whether shards hold each partition of a part of all partitions once. Parts are halves of halves."""
    part, parts = whole
    ranges = sorted((shard.part / shard.parts, (shard.part + 1) / shard.parts) for shard in shards)
    place = part / parts
    for low, high in ranges:
        if low != place:
            return False
        place = high
    return place == (part + 1) / parts


def _check_open_streams(catalog: Catalog, streams: list[Stream]) -> Iterator[Problem]:
    still_open = sorted(
        (stream.table_id, stream.table_name, stream.label_us, stream.view)
        for stream in streams
        if stream.ended_us is None
    )
    wanted = sorted(
        (table.id, table.name, table.definition.stream_label_us, table.definition.stream.view)
        for table in catalog
        if table.definition.stream is not None
    )
    if still_open != wanted:
        yield Problem("streams", "those that are on are not those of the tables")


def _check_orphans(execute: Execute) -> Iterator[Problem]:
    sql = "SELECT DISTINCT stream_id FROM shard WHERE stream_id NOT IN (SELECT id FROM stream)"
    rows: list[Any] = execute(sql).fetchall()
    for (stream_id,) in rows:
        yield Problem(f"stream {stream_id}", "it has shards, and is not there")


# --- readers of logs ----------------------------------------------------------------------------


def _check_consumers(execute: Execute, ends: dict[int, LogEnd]) -> Iterator[Problem]:
    sql = (
        "SELECT table_id, name, position FROM consumer"
        " UNION ALL SELECT table_id, consumer, seq FROM dead_letter"
    )
    rows: list[Any] = execute(sql).fetchall()
    for table_id, name, position in rows:
        if table_id not in ends:
            yield Problem(f"consumer {name} of log {table_id}", "its log is not there")
        elif not 0 <= position <= ends[table_id].seq:
            yield Problem(f"consumer {name} of log {table_id}", "it has seen more than there is")


def _check_restores(execute: Execute, catalog: Catalog, ends: dict[int, LogEnd]) -> Iterator[Problem]:
    rows: list[Any] = execute("SELECT table_id, source_id, path IS NULL FROM restore").fetchall()
    wanted = {table.id for table in catalog if table.definition.is_restoring}
    if {row[0] for row in rows} != wanted:
        yield Problem("restores", "those under way are not those of the tables")
    for table_id, source_id, no_path in rows:
        where = f"restore of table {table_id}"
        if (source_id is None) == bool(no_path):
            yield Problem(where, "it has no source, or two")
        if source_id is not None and (catalog.with_id(source_id) is None or source_id not in ends):
            yield Problem(where, "its source is not there, or has no log")
