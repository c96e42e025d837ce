"""`singletable stream`: the changes of a table as they come, its consumers, and what they have put aside."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from singletable.cli.arguments import add_file_and_table, add_key, add_region_and_account, count, file_name
from singletable.cli.messages import database_line, say
from singletable.cli.parser import add_command
from singletable.cli.stream_text import decoded, json_text, name_text, time_text, value_text
from singletable.clock import SystemClock
from singletable.consumers.events import Presentation
from singletable.consumers.states import read_statuses
from singletable.engine.history import EVENTS
from singletable.engine.stream_records import sequence_number, sequence_position
from singletable.errors import ConsumerError, NotLoggedError
from singletable.limits import MIB
from singletable.storage.consumers import select_complete, select_consumer, select_dead
from singletable.storage.file.viewing import FileView
from singletable.storage.log import INSERTED, MODIFIED, select_end, select_logs, select_start
from singletable.storage.reading import snapshot
from singletable.wire.arns import partition_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from singletable.cli.parser import Parser
    from singletable.consumers import ConsumerStatus
    from singletable.storage.catalog import Catalog, Execute
    from singletable.storage.consumers import DeadRow
    from singletable.storage.log import Entry
    from singletable.storage.tables import Table

EXAMPLES = """\
examples:
  singletable stream tail app.db orders                       the changes of a table, as they come
  singletable stream tail app.db orders --no-follow --json    those that are there, for programs
  singletable stream consumers app.db
  singletable stream dead-letters app.db orders mailer
"""

_TAIL_EXAMPLES = """\
examples:
  singletable stream tail app.db orders
  singletable stream tail app.db orders --from start --limit 10
  singletable stream tail app.db orders --json | jq .dynamodb.NewImage

Other processes may be writing the file. --json prints each record as AWS Lambda passes it to a function.
"""

_CONSUMERS_EXAMPLES = """\
examples:
  singletable stream consumers app.db
  singletable stream consumers app.db orders --json | jq .records_behind
"""

_DEAD_LETTERS_EXAMPLES = """\
examples:
  singletable stream dead-letters app.db orders mailer
  singletable stream dead-letters app.db orders mailer --json | jq .error

db.redrive(table, name, handler) runs a handler over them again.
"""

_PAGE_RECORDS = 500
_PAGE_BYTES = 8 * MIB
_POLL_S = 0.2


def add_arguments(parser: Parser) -> None:
    """Describe `stream`."""
    below = parser.add_subparsers(dest="stream_command", metavar="COMMAND", required=True)
    tail = add_command(below, "tail", "print the changes of a table as they come", _TAIL_EXAMPLES)
    add_file_and_table(tail)
    tail.add_argument(
        "--from",
        dest="start",
        metavar="WHERE",
        type=_start,
        help="start: the oldest record that is kept; latest: what comes from now on; or the sequence number of a "
        "record (default: latest, or start with --no-follow)",
    )
    tail.add_argument(
        "--follow",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="wait for more when all is printed",
    )
    tail.add_argument("--limit", metavar="COUNT", type=count, help="end after so many records")
    add_region_and_account(tail)
    tail.add_argument("--json", action="store_true", help="print one record a line, as JSON")
    consumers = add_command(
        below, "consumers", "list consumers and how far they have come", _CONSUMERS_EXAMPLES
    )
    consumers.add_argument("file", metavar="FILE", type=file_name, help="the database")
    add_key(consumers)
    consumers.add_argument("table", metavar="TABLE", nargs="?", help="only those of this table")
    consumers.add_argument("--json", action="store_true", help="print one consumer a line, as JSON")
    dead = add_command(
        below, "dead-letters", "list the records that a consumer has put aside", _DEAD_LETTERS_EXAMPLES
    )
    add_file_and_table(dead)
    dead.add_argument("name", metavar="NAME", help="the consumer")
    dead.add_argument("--json", action="store_true", help="print one record a line, as JSON")


def _start(text: str) -> str:
    if text not in ("start", "latest") and not (text.isascii() and text.isdigit() and len(text) == 21):
        raise argparse.ArgumentTypeError(f"{text!r} is no start, latest or sequence number of 21 digits")
    return text


def run(arguments: argparse.Namespace) -> int:
    """Carry out one of the commands of `stream`."""
    with FileView(arguments.file) as file:
        match arguments.stream_command:
            case "tail":
                _tail(file, arguments, sleep=time.sleep)
            case "consumers":
                _list_consumers(file, arguments)
            case _:
                _list_dead_letters(file, arguments)
    return 0


# --- tail ---------------------------------------------------------------------------------------


class _Page(NamedTuple):
    """Some records, and where they come from; the table is None when it has been deleted."""

    table: Table | None
    start: int | None
    entries: list[Entry]


def _tail(file: FileView, arguments: argparse.Namespace, *, sleep: Callable[[float], object]) -> None:
    table, position = file.read(lambda execute, catalog: _begin(execute, catalog, arguments))
    left: int | None = arguments.limit
    while left != 0:
        rows_max = _PAGE_RECORDS if left is None else min(_PAGE_RECORDS, left)
        page = _read_page(file, table, position, rows_max)
        if page.start is not None and page.start > position + 1:
            _say_gone(position + 1, page.start)
        table = page.table or table
        _print_changes(page.entries, table, arguments)
        if page.entries:
            position = page.entries[-1].seq
            left = None if left is None else left - len(page.entries)
        elif page.table is None:
            say(f"table {table.name} was deleted")
            return
        elif not arguments.follow:
            return
        else:
            sleep(_POLL_S)


def _begin(execute: Execute, catalog: Catalog, arguments: argparse.Namespace) -> tuple[Table, int]:
    """Return the table, and the number behind which its records are printed."""
    table = _table(catalog, arguments.table)
    if table.id not in select_logs(execute):
        raise NotLoggedError(
            f"the changes of table {table.name!r} are not logged",
            hint="turn its stream on: "
            + database_line(
                arguments.file,
                f'update_table(TableName="{table.name}", '
                'StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})',
            ),
        )
    wanted: str = arguments.start or ("latest" if arguments.follow else "start")
    if wanted == "latest":
        return table, select_end(execute, table.id).seq
    if wanted == "start":
        return table, (select_start(execute, table.id) or 1) - 1
    return table, _numbered(wanted, table, select_end(execute, table.id).seq) - 1


def _numbered(wanted: str, table: Table, end: int) -> int:
    """Return the number of a record that is or was there; the first one also before it is."""
    seq = sequence_position(wanted)
    if seq is None or not 1 <= seq <= max(1, end):
        known = f"its last record has {sequence_number(end)}" if end else "it has no records yet"
        raise ConsumerError(
            f"{wanted} is no sequence number of table {table.name!r}",
            hint=f"{known}; --from start begins with the oldest that is kept, --from latest with what comes",
        )
    return seq


def _read_page(file: FileView, table: Table, position: int, rows_max: int) -> _Page:
    def read(execute: Execute, catalog: Catalog) -> _Page:
        with snapshot(execute):
            current = catalog.with_id(table.id)
            if table.id not in select_logs(execute):
                return _Page(None, None, [])
            entries = select_complete(
                execute, table.id, current, after=position, rows_max=rows_max, bytes_max=_PAGE_BYTES
            )
            return _Page(current, select_start(execute, table.id), entries)

    return file.read(read)


def _print_changes(entries: list[Entry], table: Table, arguments: argparse.Namespace) -> None:
    table_arn = (
        f"arn:{partition_of(arguments.region)}:dynamodb:{arguments.region}:{arguments.account}"
        f":table/{table.name}"
    )
    shown_as = Presentation(table, region=arguments.region, table_arn=table_arn)
    for entry in entries:
        if arguments.json:
            print(orjson.dumps(shown_as.record(entry)).decode())
        else:
            print(_change_text(entry, table))
    if entries:
        sys.stdout.flush()


def _change_text(entry: Entry, table: Table) -> str:
    """Return a change in one line."""
    before, after = decoded(entry.before), decoded(entry.after)
    item = after or before
    key = " ".join(f"{name_text(name)}={value_text(item[name])}" for name in table.key_names if name in item)
    changes = ", ".join(_differences(before, after, table)) if entry.event in (INSERTED, MODIFIED) else ""
    return "  ".join(part for part in (time_text(entry.at_us), EVENTS[entry.event], key, changes) if part)


def _differences(before: dict[str, Any], after: dict[str, Any], table: Table) -> Iterator[str]:
    for name in sorted((before.keys() | after.keys()) - set(table.key_names)):
        old, new = before.get(name), after.get(name)
        shown = name_text(name)
        if old == new:
            continue
        if old is None:
            yield f"{shown}={value_text(new)}" if not before else f"+{shown}={value_text(new)}"
        elif new is None:
            yield f"-{shown}"
        else:
            yield f"{shown}: {value_text(old)} -> {value_text(new)}"


def _say_gone(first: int, start: int) -> None:
    say(f"records {sequence_number(first)} to {sequence_number(start - 1)} are not kept any more")


# --- consumers and dead letters -----------------------------------------------------------------


def _list_consumers(file: FileView, arguments: argparse.Namespace) -> None:
    def read(execute: Execute, catalog: Catalog) -> list[ConsumerStatus]:
        table = None if arguments.table is None else _table(catalog, arguments.table).name
        return read_statuses(execute, catalog, SystemClock(), table=table)

    statuses = file.read(read)
    for status in statuses:
        if arguments.json:
            print(json.dumps(dataclasses.asdict(status)))
        else:
            print(
                f"{status.table}  {status.name}  {status.records_behind} records behind"
                f" ({status.seconds_behind:.1f} s)  {status.dead_letters} dead letters  {status.missed} missed"
                f"  {'idle' if status.holder is None else 'run by ' + status.holder}"
            )
    if not statuses:
        say("there are no consumers")


def _list_dead_letters(file: FileView, arguments: argparse.Namespace) -> None:
    def read(execute: Execute, catalog: Catalog) -> list[DeadRow]:
        table = _table(catalog, arguments.table)
        if select_consumer(execute, table.id, arguments.name) is None:
            raise ConsumerError(
                f"table {table.name!r} has no consumer {arguments.name!r}",
                hint=f"singletable stream consumers {shlex.quote(arguments.file)} lists those that there are",
            )
        return select_dead(execute, table.id, arguments.name)

    rows = file.read(read)
    for seq, at_us, text, error, tries in rows:
        record = orjson.loads(text)
        if arguments.json:
            shown = {
                "sequence_number": sequence_number(seq),
                "put_aside": time_text(at_us),
                "tries": tries,
                "error": error,
                "record": record,
            }
            print(orjson.dumps(shown).decode())
            continue
        keys = " ".join(
            f"{name_text(name)}={value_text(value)}" for name, value in record["dynamodb"]["Keys"].items()
        )
        first_line = json_text(error.partition("\n")[0])
        print(f"{time_text(at_us)}  {record['eventName']}  {keys}  after {tries} tries: {first_line}")
    if not rows:
        say(f"consumer {arguments.name} has put nothing aside")


def _table(catalog: Catalog, name: str) -> Table:
    table = catalog.named(name)
    if table is None:
        names = ", ".join(catalog.names()) or "none"
        raise ConsumerError(f"there is no table {name!r}", hint=f"the tables of this file: {names}")
    return table
