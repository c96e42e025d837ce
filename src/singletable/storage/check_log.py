"""Verify the logs: their order, the chain of each item's images, the last of them against the item itself."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.storage import schema
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.check_streams import check_registers
from singletable.storage.images import PrimaryKey
from singletable.storage.log import (
    COLUMNS,
    EVENTS,
    EXPIRED,
    INSERTED,
    REMOVED,
    Entry,
    select_logs,
)
from singletable.storage.problems import Problem
from singletable.storage.reading import select_item
from singletable.storage.tables import Table


def check_log(execute: Execute, catalog: Catalog) -> Iterator[Problem]:
    """Yield what is wrong with the logs of a database."""
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
    """Each entry of an item begins where the one before has left it; the last one, at the item as it is.

    What an entry left is written in it only while a stream is on; else it is known only whether there was an item.
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
