"""`singletable history`: the versions of an item, and what each has changed."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from singletable.cli.arguments import add_file_and_table, count
from singletable.cli.messages import database_line, say
from singletable.cli.stream_text import decoded, name_text, time_text, value_text
from singletable.clock import SystemClock
from singletable.engine.history import changes, history
from singletable.errors import ApiError, DatabaseError
from singletable.storage.clock_doubt import believed_us
from singletable.storage.file.viewing import FileView
from singletable.wire.forms import JSON, take_key

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from singletable.engine.history import StoredVersion
    from singletable.storage.catalog import Catalog
    from singletable.storage.tables import Table
    from singletable.values.types import Item

EXAMPLES = """\
examples:
  singletable history app.db shop customer#1 profile
  singletable history app.db shop PK=customer#1 SK=profile
  singletable history app.db shop '{"PK": "customer#1", "SK": "profile"}' --json | jq .changes

KEY is the values of the table's key in their order, or NAME=VALUE, or JSON, plain or typed ({"PK": {"S": "…"}}).
Binary values are base64, with or without the b64 that stands in front of them where versions are printed.
Versions are kept while point-in-time recovery is on: update-continuous-backups turns it on.

exit codes: 0, 1 if no version is kept, 2 for wrong use or a failure
"""

FOUND = 0
NO_VERSIONS = 1


_TYPES = {"S": "a string", "N": "a number", "B": "bytes in base64"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `history`."""
    add_file_and_table(parser)
    parser.add_argument("key", metavar="KEY", nargs="+", help="the key of the item, in any of the ways below")
    parser.add_argument("--oldest-first", action="store_true", help="begin with the oldest that is kept")
    parser.add_argument("--limit", metavar="COUNT", type=count, help="print no more than so many")
    parser.add_argument("--json", action="store_true", help="print each version as one line of JSON")


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


# --- the key of an item as people write it --------------------------------------------------------------------


def read_item_key(words: Sequence[str], table: Table) -> Item:
    """Return the key that some words name: values in their order, NAME=VALUE, or JSON, plain or typed."""
    try:
        named = _from_json(words[0]) if len(words) == 1 and words[0].startswith("{") else _named(words, table)
        if sorted(named) != sorted(table.key_names):
            raise ValueError
        types = {attribute.name: attribute.type for attribute in table.definition.key.attributes}
        return take_key({name: _typed(value, types[name]) for name, value in named.items()}, JSON)
    except (ValueError, ApiError):
        attributes = table.definition.key.attributes
        wanted = " and ".join(f"{attribute.name}, {_TYPES[attribute.type]}" for attribute in attributes)
        example = " ".join(f"{attribute.name}=…" for attribute in attributes)
        raise DatabaseError(
            f"{' '.join(words)!r} is no key of the table {table.name}",
            hint=f"its key is {wanted}: write {example}",
        ) from None


def _from_json(text: str) -> dict[str, Any]:
    named: dict[str, Any] = json.loads(text)
    return named


def _named(words: Sequence[str], table: Table) -> dict[str, Any]:
    """Return the values by their names; those without a name stand in the order of the key."""
    named: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (equals and name in table.key_names):
            left = [name for name in table.key_names if name not in named]
            if not left:
                raise ValueError
            name, value = left[0], word
        named[name] = value
    return named


def _typed(value: Any, key_type: str) -> Any:
    if isinstance(value, dict):
        if value.keys() != {key_type}:
            raise ValueError
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError
    return {key_type: _base64(str(value)) if key_type == "B" else str(value)}


def _base64(text: str) -> str:
    """Return base64 that may be written b64"…", as versions are printed; a shell takes the quotes away."""
    # The length of base64 is a multiple of four: with three letters more it is none, so they are not part of it.
    return text[3:].strip('"') if text.startswith("b64") and len(text.replace('"', "")) % 4 == 3 else text
