"""`singletable check`: is a file what it should be?"""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING

from singletable.cli.arguments import add_backups, add_key, file_name
from singletable.cli.messages import say
from singletable.cli.output import show_status, wipe_status
from singletable.clock import SystemClock
from singletable.errors import SingleTableError
from singletable.storage.check import check_file
from singletable.storage.clock_doubt import look_for_doubt

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from singletable.storage.check_log import Problem

EXAMPLES = """\
examples:
  singletable check app.db
  singletable check app.db --json | jq .problems

exit codes: 0 the file is sound, 1 it has problems (one line each), 2 it cannot be read
"""

SOUND = 0
HAS_PROBLEMS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `check`."""
    parser.add_argument("file", metavar="FILE", type=file_name, help="the database")
    add_key(parser)
    add_backups(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Check one file; print one line for each problem."""
    problems = _check(arguments.file)
    if arguments.json:
        found = [{"where": problem.where, "what": problem.what} for problem in problems]
        held = _is_clock_held(arguments.file, arguments.backups)
        result = {"file": arguments.file, "sound": not problems, "problems": found, "clock_held": held}
        print(json.dumps(result))
    else:
        for problem in problems:
            print(f"{problem.where}: {problem.what}")
        say(f"{arguments.file} {_verdict(len(problems))}")
        if _is_clock_held(arguments.file, arguments.backups):
            command = ["singletable", "clock", arguments.file]
            if arguments.backups is not None:
                command += ["--backups", arguments.backups]
            say(f"nothing expires or is trimmed until the clock is confirmed: see {shlex.join(command)}")
    return HAS_PROBLEMS if problems else SOUND


def _is_clock_held(file: str, backups: str | None) -> bool:
    """Tell whether the clock is too far ahead of the file to be believed. It is no problem of the file."""
    try:
        return look_for_doubt(file, backups, SystemClock().now_us()) is not None
    except SingleTableError:
        return False  # of a damaged file, or an old one, it cannot be told


def _verdict(problem_count: int) -> str:
    if problem_count == 0:
        return "is sound"
    return "has 1 problem" if problem_count == 1 else f"has {problem_count} problems"


def _check(file: str) -> list[Problem]:
    if sys.stderr is None or not sys.stderr.isatty():
        return check_file(file)
    try:
        return check_file(file, progress=_progress())
    finally:
        wipe_status()


def _progress() -> Callable[[int, int], None]:
    shown_percent = -1

    def show(done: int, total: int) -> None:
        nonlocal shown_percent
        percent = 100 * done // total if total else 100
        if percent != shown_percent:
            shown_percent = percent
            show_status(f"checking {percent:3} %")

    return show
