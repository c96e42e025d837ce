"""The arguments of commands that work on a design: `diff` and `create-table`. Imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from singletable.cli.targets import add_design, add_opening

_DIFF_EXAMPLES = """\
examples:
  singletable diff kefir kefir.db
  singletable diff app.kefir:Kefir kefir.db
  singletable diff app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod
  singletable diff app.kefir:Kefir http://127.0.0.1:8000 --env stage=dev --json | jq .differences

Nothing is changed. What the target does not know, as backups on DynamoDB Local, is not compared, and said.

exit codes: 0 the table is as the design says, 1 it differs (one line each), 2 for wrong use or a failure
"""

_CREATE_TABLE_EXAMPLES = """\
examples:
  singletable create-table app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod
  singletable create-table app.kefir:Kefir kefir.db --json | jq .skipped

A table that is there gets the settings that the design declares. Its keys and indexes are not changed: that takes
a migration.

exit codes: 0 the table is as the design says, 1 its keys or indexes are others, 2 for wrong use or a failure
"""

Add = Callable[[Any, str, str, str], argparse.ArgumentParser]


def add_diff(commands: Any, add: Add) -> None:
    """Describe `diff`."""
    diff = add(commands, "diff", "compare a table with its design", _DIFF_EXAMPLES)
    _add_design_and_target(diff)


def add_create_table(commands: Any, add: Add) -> None:
    """Describe `create-table`."""
    create = add(
        commands, "create-table", "make the table of a design, with all its settings", _CREATE_TABLE_EXAMPLES
    )
    _add_design_and_target(create)


def _add_design_and_target(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument("target", metavar="TARGET", help="a file, an URL, or dynamodb://REGION")
    add_opening(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
