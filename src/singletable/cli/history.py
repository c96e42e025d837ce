"""`singletable history`: the versions of an item, and what each has changed."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import orjson

from singletable.cli.item_keys import read_item_key
from singletable.cli.messages import database_line, say
from singletable.cli.stream_text import decoded, name_text, time_text, value_text
from singletable.clock import SystemClock
from singletable.engine.history import changes, history
from singletable.errors import DatabaseError
from singletable.storage.clock_doubt import believed_us
from singletable.storage.viewing import FileView

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from singletable.engine.history import StoredVersion
    from singletable.storage.catalog import Catalog
    from singletable.storage.tables import Table

FOUND = 0
NO_VERSIONS = 1


def run(arguments: argparse.Namespace) -> int:
    """Print the versions of one item."""
    with FileView(arguments.file) as file:
        table = file.read(lambda execute, catalog: _table(catalog, arguments.table, arguments.file))
        key = read_item_key(arguments.key, table)
        now_us = SystemClock().now_us()
        kept_us = file.read(lambda execute, catalog: believed_us(execute, now_us))
        versions = history(file.read, table.name, key, now_us=now_us, kept_us=kept_us)
        if arguments.oldest_first:
            versions = iter(list(versions)[::-1])
        code = NO_VERSIONS
        for version in islice(versions, arguments.limit):
            code = FOUND
            print(_as_json(version) if arguments.json else "\n".join(_lines(version)))
    if code == NO_VERSIONS:
        say("the item has not changed since the past of its table is kept")
    return code


def _table(catalog: Catalog, name: str, file: str) -> Table:
    table = catalog.get(name)
    if table is None:
        known = ", ".join(catalog.names())
        raise DatabaseError(
            f"{file} has no table {name!r}",
            hint=f"its tables: {known}" if known else "it has no tables at all",
        )
    if table.definition.recovery is None:
        raise DatabaseError(
            f"the past of table {name!r} is not kept: point-in-time recovery is off",
            hint="turn it on: "
            + database_line(
                file,
                f'update_continuous_backups(TableName="{name}", '
                'PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})',
            ),
        )
    return table


def _lines(version: StoredVersion) -> Iterator[str]:
    yield f"{time_text(version.at_us)}  {version.event}"
    for name, (before, after) in changes(decoded(version.before), decoded(version.after)).items():
        shown = name_text(name)
        if before is None:
            yield f"  + {shown}: {value_text(after)}"
        elif after is None:
            yield f"  - {shown}: {value_text(before)}"
        else:
            yield f"    {shown}: {value_text(before)} -> {value_text(after)}"


def _as_json(version: StoredVersion) -> str:
    before, after = decoded(version.before), decoded(version.after)
    return orjson.dumps(
        {
            "at": time_text(version.at_us),
            "event": version.event,
            "changes": {
                name: {"before": old, "after": new} for name, (old, new) in changes(before, after).items()
            },
            "before": before or None,
            "after": after or None,
        }
    ).decode()
