"""`singletable create-table`: make the table of a design, or give the one that is there the declared settings."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from singletable.cli.design_modules import load_design
from singletable.cli.messages import say, say_error
from singletable.errors import TableDiffersError

if TYPE_CHECKING:
    import argparse

DONE = 0
DIFFERS = 1


def run(arguments: argparse.Namespace) -> int:
    """Make one table; print one line for each thing that was done."""
    design = load_design(arguments.design)
    try:
        with design.open(arguments.target, create=False, **dict(arguments.env)) as db:
            report = db.create_table()
    except TableDiffersError as error:
        if arguments.json:
            found = [asdict(difference) for difference in error.differences]
            print(json.dumps({"applied": [], "skipped": [], "differences": found}))
        say_error(error.message, hint=error.hint)
        return DIFFERS
    if arguments.json:
        print(json.dumps({**asdict(report), "differences": []}))
        return DONE
    for what in report.applied:
        print(what)
    for what in report.skipped:
        say(f"skipped: {what}")
    say(f"{report.table} is as the design says" if not report.applied else f"{report.table} is ready")
    return DONE
