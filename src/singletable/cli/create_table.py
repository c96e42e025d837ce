"""`singletable create-table`: make the table of a design, or give the one that is there the declared settings."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from singletable.cli.messages import error_data, say, say_failure
from singletable.cli.patterns.finding import find_source
from singletable.cli.targets import add_design_and_target, given_capabilities
from singletable.errors import TableDiffersError

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
examples:
  singletable create-table app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod
  singletable create-table app.kefir:Kefir kefir.db --json | jq .skipped

A table that is there gets the settings that the design declares. Its keys and indexes are not changed: that takes
a migration.

exit codes: 0 the table is as the design says, 1 its keys or indexes are others, 2 for wrong use or a failure
"""

DONE = 0
DIFFERS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `create-table`."""
    add_design_and_target(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make one table; print one line for each thing that was done."""
    source = find_source(arguments.design)
    environment = source.environment_with(arguments.env)
    try:
        with source.design.open(
            arguments.target,
            create=False,
            capabilities=given_capabilities(arguments, arguments.target),
            **environment,
        ) as db:
            report = db.create_table()
    except TableDiffersError as error:
        if arguments.json:
            found = [asdict(difference) for difference in error.differences]
            refused = {"applied": [], "skipped": [], "differences": found, "error": error_data(error)}
            print(json.dumps(refused))
        say_failure(error)
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
