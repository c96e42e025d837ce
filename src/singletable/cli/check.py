"""`singletable check`: is a file what it should be?"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from singletable.cli.messages import say
from singletable.cli.output import show_status, wipe_status
from singletable.storage.check import check_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from singletable.storage.problems import Problem

SOUND = 0
HAS_PROBLEMS = 1


def run(arguments: argparse.Namespace) -> int:
    """Check one file; print one line for each problem."""
    problems = _check(arguments.file)
    if arguments.json:
        found = [{"where": problem.where, "what": problem.what} for problem in problems]
        print(json.dumps({"file": arguments.file, "sound": not problems, "problems": found}))
    else:
        for problem in problems:
            print(f"{problem.where}: {problem.what}")
        say(f"{arguments.file} {_verdict(len(problems))}")
    return HAS_PROBLEMS if problems else SOUND


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
