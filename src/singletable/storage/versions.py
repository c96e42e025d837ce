"""The versions of one item, newest first: its entries in the log, each with the item as it was afterwards."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from singletable.storage import schema
from singletable.storage.catalog import Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.log import Entry
from singletable.storage.reading import select_item, snapshot
from singletable.storage.tables import Table

_LAST: Final = (1 << 63) - 1


class OlderThan(NamedTuple):
    """From where a list of versions goes on: behind this entry, before which the item was so."""

    seq: int
    at_us: int
    before: bytes | None


def select_versions(
    execute: Execute,
    table: Table,
    key: PrimaryKey,
    *,
    since_us: int,
    older_than: OlderThan | None,
    rows_max: int,
) -> list[Entry]:
    """Return entries of an item, newest first, with the item after each of them, also where no stream was on."""
    sql = (
        f"SELECT seq, at, event, pk, sk, before, NULL FROM {schema.log_table(table.id)}"
        " WHERE pk = ? AND sk = ? AND at >= ? AND (at, seq) < (?, ?) ORDER BY at DESC, seq DESC LIMIT ?"
    )
    with snapshot(execute):
        if older_than is None:
            current = select_item(execute, table, key)
            older_than = OlderThan(_LAST, _LAST, None if current is None else current[1])
        values = (*key, since_us, older_than.at_us, older_than.seq, rows_max)
        rows: list[Any] = execute(sql, values).fetchall()
    newer = older_than.before
    found: list[Entry] = []
    for row in rows:
        entry = Entry._make(row)._replace(after=newer)
        found.append(entry)
        newer = entry.before
    return found
