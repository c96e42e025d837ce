"""`singletable clock`: is the clock believed, what would it take away, and confirming it."""

from __future__ import annotations

import json
import logging
import sys
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.arguments import add_backups, add_key, file_name
from singletable.cli.messages import WrongUseError, say
from singletable.clock import SystemClock
from singletable.database import Database
from singletable.storage.clock_doubt import CLOCK_LOG, look_for_doubt

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from datetime import datetime

    from singletable.storage.clock_doubt import ClockDoubt, Taken

EXAMPLES = """\
examples:
  singletable clock app.db
  singletable clock app.db --confirm
  singletable clock app.db --confirm --yes --json

A clock that is more than a week ahead of what the file has seen is wrong, or the file was not open for so long.
Nothing expires or is trimmed by it until it is confirmed, here or with Database.confirm_clock. Others may use the
file meanwhile: a server that has it open believes the clock a second later.

exit codes: 0 the clock is believed, or confirmed now; 1 it has to be confirmed; 2 for wrong use or a failure
"""

BELIEVED = 0
HELD = 1

_KINDS: Final = {
    "expired_items": ("expired item", "expired items"),
    "log_entries": ("logged change", "logged changes"),
    "stream_records": ("stream record", "stream records"),
    "backups": ("backup", "backups"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `clock`."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="the database")
    add_key(parser)
    parser.add_argument(
        "--confirm", action="store_true", help="believe the clock, and take away what that makes too old"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before something is taken away")
    add_backups(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Say what the clock would take away; take it away, if that is confirmed."""
    doubt = look_for_doubt(arguments.file, arguments.backups, SystemClock().now_us())
    if doubt is not None and not arguments.json:
        for line in _lines(doubt):
            print(line)
    is_confirmed = arguments.confirm and (
        doubt is None or arguments.yes or _is_confirmed(doubt, arguments.file)
    )
    if is_confirmed:
        _confirm(arguments.file, arguments.backups)
    if arguments.json:
        print(json.dumps(_data(arguments.file, doubt, is_confirmed=is_confirmed)))
    say(_verdict(arguments.file, doubt, is_confirmed=is_confirmed))
    return BELIEVED if doubt is None or is_confirmed else HELD


def _confirm(file: str, backups: str | None) -> None:
    log = logging.getLogger(CLOCK_LOG)
    level = log.level
    log.setLevel(logging.ERROR)  # to be warned is for those who have not confirmed it
    try:
        with Database.open(file, backups=backups) as database:
            database.confirm_clock()
    finally:
        log.setLevel(level)


def _is_confirmed(doubt: ClockDoubt, file: str) -> bool:
    what = f"what the clock makes too old is taken away from {file}"
    if sys.stdin is None or not sys.stdin.isatty():
        raise WrongUseError(f"{what}, and nobody can be asked", hint="run it with --yes")
    print(f"{what}. Is it really {doubt.clock:%d %B %Y}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _lines(doubt: ClockDoubt) -> Iterator[str]:
    for kind, (one, many) in _KINDS.items():
        for taken in _taken(doubt, kind):
            words = one if taken.count == 1 else many
            yield f"{taken.table}: {taken.count:,} {words}, {_time(taken.first)} to {_time(taken.last)}"


def _verdict(file: str, doubt: ClockDoubt | None, *, is_confirmed: bool) -> str:
    if is_confirmed:
        return f"the clock is confirmed for {file}" + ("" if doubt is None else ": all that is taken away")
    if doubt is None:
        return f"the clock is believed for {file}: there is nothing to confirm"
    return (
        f"the clock is {doubt.ahead.days} days ahead of the newest time that {file} has seen "
        f"({_time(doubt.seen)}): all that stays until you confirm the clock\n\n"
        "hint: if the clock is right, run it again with --confirm; if it is wrong, put it right: nothing is lost"
    )


def _data(file: str, doubt: ClockDoubt | None, *, is_confirmed: bool) -> dict[str, Any]:
    taken = {
        kind: [
            {"table": one.table, "count": one.count, "from": _time(one.first), "to": _time(one.last)}
            for one in _taken(doubt, kind)
        ]
        for kind in _KINDS
    }
    return {
        "file": file,
        "held": doubt is not None and not is_confirmed,
        "confirmed": is_confirmed,
        "clock": None if doubt is None else _time(doubt.clock),
        "seen": None if doubt is None else _time(doubt.seen),
        "takes": taken,
    }


def _taken(doubt: ClockDoubt | None, kind: str) -> tuple[Taken, ...]:
    found: tuple[Taken, ...] = () if doubt is None else getattr(doubt, kind)
    return found


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
