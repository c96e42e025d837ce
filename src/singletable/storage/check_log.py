"""Verify the log: its order, the chain of each item's images, and the last of them against the item itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.problems import Problem
from singletable.storage.reading import select_item
from singletable.storage.tables import Table
from singletable.storage.transaction import INSERTED, MODIFIED, REMOVED

_SELECT_ORDER = "SELECT seq, at, event, before IS NULL, after IS NULL FROM log ORDER BY seq"
_SELECT_CHAINS = (
    "SELECT seq, event, pk, sk, before, after FROM log WHERE table_id = ? AND at > ? ORDER BY pk, sk, seq"
)


class _Entry(NamedTuple):
    seq: int
    event: int
    pk: bytes
    sk: bytes
    before: bytes | None
    after: bytes | None

    @property
    def key(self) -> PrimaryKey:
        return PrimaryKey(self.pk, self.sk)


def check_log(execute: Execute, catalog: Catalog) -> Iterator[Problem]:
    """Yield what is wrong with the log of a database."""
    yield from _check_order(execute)
    for table in catalog:
        since_us = logged_since_us(table)
        if since_us is not None:
            yield from _check_chains(execute, table, since_us)


def logged_since_us(table: Table) -> int | None:
    """Return the moment from which every change of a table is in the log with both its images."""
    stream = table.definition.stream
    return None if stream is None else stream.created_us


def _check_order(execute: Execute) -> Iterator[Problem]:
    last_us = 0
    for seq, at_us, event, no_before, no_after in execute(_SELECT_ORDER):
        where = f"log entry {seq}"
        if at_us < last_us:
            yield Problem(where, "its time lies before that of the entry before it")
        last_us = at_us
        if event not in (INSERTED, MODIFIED, REMOVED):
            yield Problem(where, f"it has the unknown event {event}")
        elif bool(no_before) != (event == INSERTED) or (event == REMOVED and not no_after):
            yield Problem(where, "its images do not fit its event")


def _check_chains(execute: Execute, table: Table, since_us: int) -> Iterator[Problem]:
    previous: _Entry | None = None
    for row in execute(_SELECT_CHAINS, (table.id, since_us)):
        entry = _Entry._make(row)
        if previous is not None and previous.key == entry.key:
            if previous.after != entry.before:
                yield Problem(
                    f"table {table.name}, log entry {entry.seq}",
                    f"it begins from another state than entry {previous.seq} of the same item left",
                )
        elif previous is not None:
            yield from _check_last(execute, table, previous)
        previous = entry
    if previous is not None:
        yield from _check_last(execute, table, previous)


def _check_last(execute: Execute, table: Table, entry: _Entry) -> Iterator[Problem]:
    stored = select_item(execute, table, entry.key)
    if (None if stored is None else stored[1]) != entry.after:
        yield Problem(
            f"table {table.name}, log entry {entry.seq}", "it is the newest of its item, which is different"
        )
