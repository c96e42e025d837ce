"""Reports about a consumer: its status, the changes that it missed, its dead letters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import orjson

from singletable.clock import Clock
from singletable.engine.stream_records import sequence_number
from singletable.storage import consumers
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.consumers import DeadRow, Registered
from singletable.storage.log import select_end, select_start
from singletable.storage.reading import snapshot
from singletable.storage.tables import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerStatus:
    """The status of a consumer."""

    table: str
    name: str
    position: str | None
    """The sequence number of the last record that it is done with; None before the first."""
    records_behind: int
    """How many records of the log it has still to look at."""
    seconds_behind: float
    """How old the oldest of them is."""
    dead_letters: int
    missed: int
    """How many records were trimmed before it came to them."""
    holder: str | None
    """Who runs its handler; None while nobody does, also because there is nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Changes that a consumer will not see: they were trimmed, or never logged."""

    table: str
    name: str
    reason: Literal["trimmed", "not logged"]
    records: int | None
    """How many; None where they were never logged, and nobody knows."""
    first: str | None
    """The sequence numbers of the first and the last of them, where they had any."""
    last: str | None
    after: datetime
    """They were made after that: the last change that the consumer knows, or the beginning of the log."""
    before: datetime
    """And before that: the oldest change that is kept, or the moment at which logging was turned on again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A record that a handler could not handle, as it was given to it."""

    sequence_number: str
    record: dict[str, Any]
    error: str
    tries: int
    """How often the handler was given it, alone or with others."""
    put_aside: datetime


class Redriven(NamedTuple):
    """The result of running a handler again over dead letters."""

    succeeded: int
    failed: int


def moment(at_us: int) -> datetime:
    return datetime.fromtimestamp(at_us / 1_000_000, UTC)


def dead_letter(row: DeadRow) -> DeadLetter:
    return DeadLetter(
        sequence_number=sequence_number(row.seq),
        record=orjson.loads(row.record),
        error=row.error,
        tries=row.tries,
        put_aside=moment(row.at_us),
    )


def read_statuses(
    execute: Execute, catalog: Catalog, clock: Clock, *, table: str | None = None
) -> list[ConsumerStatus]:
    """Return the status of all consumers of a database, or of those of one table."""
    with snapshot(execute):
        named = [(catalog.with_id(row.table_id), row) for row in consumers.select_consumers(execute)]
        return [
            _status(execute, found.name, row, clock)
            for found, row in named
            if found is not None and table in (None, found.name)
        ]


def read_status(
    execute: Execute, table: Table, name: str, clock: Clock, *, position: int | None
) -> ConsumerStatus | None:
    """Return the status of one consumer; at `position`, if its runner is ahead of the stored one."""
    with snapshot(execute):
        row = consumers.select_consumer(execute, table.id, name)
        if row is None:
            return None
        known = row if position is None else row._replace(position=max(position, row.position))
        return _status(execute, table.name, known, clock)


def _status(execute: Execute, table: str, row: Registered, clock: Clock) -> ConsumerStatus:
    start = select_start(execute, row.table_id)
    oldest = row.position + 1 if start is None else max(row.position + 1, start)
    behind = max(0, select_end(execute, row.table_id).seq - oldest + 1)
    oldest_us = consumers.select_time(execute, row.table_id, oldest) if behind else None
    return ConsumerStatus(
        table=table,
        name=row.name,
        position=sequence_number(row.position) if row.position else None,
        records_behind=behind,
        seconds_behind=0.0 if oldest_us is None else max(0, clock.now_us() - oldest_us) / 1_000_000,
        dead_letters=consumers.count_dead(execute, row.table_id, row.name),
        missed=row.missed,
        holder=row.holder(clock.elapsed_us()),
    )
