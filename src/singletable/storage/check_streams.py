"""Verify the registers of streams and their shards, of consumers, and of restores, against logs and catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from singletable.storage.catalog import Catalog, Execute
from singletable.storage.log import LogEnd, select_end
from singletable.storage.problems import Problem
from singletable.storage.streams import Shard, Stream, select_shards, select_streams


def check_registers(execute: Execute, catalog: Catalog, logs: Iterable[int]) -> Iterator[Problem]:
    """Yield what is wrong with what is known of the logs of a database."""
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
    """Children go on with all that a shard held, where it ended; only the end of a stream leaves it at that."""
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


# --- who reads logs -----------------------------------------------------------------------------


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
