"""`singletable repair`: bring back what a damaged file, its log, its indexes and its backups still have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.arguments import add_backups, file_name
from singletable.cli.messages import say
from singletable.cli.output import progress_bar
from singletable.clock import SystemClock
from singletable.storage.past import moment_text
from singletable.storage.repair.file import RepairReport, repair_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from singletable.storage.repair.rebuilt import BroughtBack, RepairedTable

EXAMPLES = """\
examples:
  singletable repair app.db
  singletable repair app.db --out repaired.db
  singletable repair app.db --backups /mnt/backups --json | jq .tables[].lost

FILE is replaced at once or not at all, and only if no process has it open. The damaged one is kept beside it.

exit codes: 0 the file is sound, or all is back; 1 something is lost, and listed; 2 it could not be repaired
"""

ALL_BACK: Final = 0
SOMETHING_LOST: Final = 1
_SHOWN_MAX: Final = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `repair`."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="the database")
    add_backups(parser)
    parser.add_argument(
        "--out", metavar="NEW", type=file_name, help="write the repaired database there, and leave FILE alone"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Repair one file; say what came of each table."""
    with progress_bar() as progress:
        report = repair_file(
            arguments.file,
            out=arguments.out,
            backups=arguments.backups,
            now_us=SystemClock().now_us(),
            progress=progress,
        )
    if arguments.json:
        print(json.dumps(_as_json(report)))
    else:
        _print(report)
    return ALL_BACK if report.is_all_back else SOMETHING_LOST


# --- JSON ---------------------------------------------------------------------------------------------


def _as_json(report: RepairReport) -> dict[str, Any]:
    return {
        "file": report.path,
        "sound": report.is_sound,
        "repaired": report.repaired,
        "damaged_kept": report.kept,
        "all_back": report.is_all_back,
        "damaged_pages": report.damaged_pages,
        "tables": [_table_as_json(table) for table in report.tables],
        "unattributed": [{"key": key, "tables": names} for key, names in report.unattributed],
        "notes": report.notes,
    }


def _table_as_json(table: RepairedTable) -> dict[str, Any]:
    return {
        "name": table.name,
        "kept": table.kept,
        "brought_back": [
            {
                "key": one.key,
                "source": one.recovered.source,
                "at_us": one.recovered.at_us,
                "may_be_older": one.recovered.may_be_older,
            }
            for one in table.brought_back
        ],
        "lost": table.lost,
        "lost_without_key": table.lost_without_key,
    }


# --- text ---------------------------------------------------------------------------------------------


def _print(report: RepairReport) -> None:
    if report.is_sound:
        say(f"{report.path} is sound")
        return
    for table in report.tables:
        print(_line(table))
    lines = list(_details(report))
    for line in lines[:_SHOWN_MAX]:
        print(line)
    if len(lines) > _SHOWN_MAX:
        say(f"{len(lines) - _SHOWN_MAX} more are listed with --json")
    for note in report.notes:
        print(f"note: {note}")
    pages = len(report.damaged_pages)
    say(f"{report.repaired} is repaired: {pages} of its pages {'was' if pages == 1 else 'were'} damaged")
    if report.kept is not None:
        say(f"the damaged file is kept as {report.kept}")


def _line(table: RepairedTable) -> str:
    counts = [f"{table.kept:,} items kept"]
    for source, named in (("log", "the log"), ("past", "the past"), ("backup", "a backup")):
        number = sum(one.recovered.source == source for one in table.brought_back)
        if number:
            counts.append(f"{number:,} brought back from {named}")
    counts.append(f"{len(table.lost):,} lost")
    if table.lost_without_key is None:
        counts.append("and perhaps others, whose keys and number are lost too")
    elif table.lost_without_key:
        counts.append(f"and {table.lost_without_key:,} more, whose keys are lost too")
    return f"table {table.name}: {', '.join(counts)}"


def _details(report: RepairReport) -> Iterator[str]:
    for table in report.tables:
        for key in table.lost:
            yield f"lost: {_text(key)} of table {table.name}"
    for key, names in report.unattributed:
        yield f"left out: {_text(key)}, which may be of table {' or '.join(names)}"
    for table in report.tables:
        for one in table.brought_back:
            yield f"brought back: {_text(one.key)} of table {table.name}, {_origin(one)}"


def _origin(one: BroughtBack) -> str:
    recovered = one.recovered
    where = {"log": "from the log", "past": "from the past", "backup": "from a backup"}[recovered.source]
    if recovered.may_be_older:
        return f"{where}, as it was at {moment_text(recovered.at_us)}; it may have changed since"
    return f"{where}, as it was"


def _text(key: dict[str, Any]) -> str:
    return json.dumps(key, separators=(",", ":"), ensure_ascii=False)
