"""The arguments of `singletable migrate`. Imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from singletable.cli.targets import add_design, add_opening

_EXAMPLES = """\
examples:
  singletable migrate plan app.kefir:Kefir                          what has changed since the newest migration
  singletable migrate new app.kefir:Kefir "Add status index"        write that as the next one
  singletable migrate run app.kefir:Kefir kefir.db --dry-run        read everything, count, write nothing
  singletable migrate run app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod --rate 200
  singletable migrate status app.kefir:Kefir kefir.db
  singletable migrate verify app.kefir:Kefir kefir.db
  singletable migrate run kefir old.db                              those that come with a system that is installed

MODULE:DESIGN is a class in a module that Python finds from here. TARGET is a file, an URL, or dynamodb://REGION.
"""
_NEW_EXAMPLES = """\
examples:
  singletable migrate new app.kefir:Kefir "First version"
  singletable migrate new app.kefir:Kefir "Adopt the old table" --every-item
  singletable migrate new app.shop:Shop "Call it status" --rename Order.state=status
  singletable migrate new app.kefir:Kefir "Fill in receipts" --function app.receipts:fill_in

Nothing is written when nothing has changed that concerns items. --every-item is for items that other code has
written: without discriminator, or with times to the second in their keys. --function is for what no comparison can
know: it is handed the open design and an entity, and returns the writes that are missing.

exit codes: 0, 1 the plan is blocked: somebody has to say what is meant, 2 for wrong use or a failure
"""
_PLAN_EXAMPLES = """\
examples:
  singletable migrate plan app.kefir:Kefir
  singletable migrate plan app.kefir:Kefir --json | jq '.steps[].says'
  singletable migrate plan app.shop:Shop --rename Order.state=status --remove Order.note

Steps are numbered; below them stands what has changed and needs none.

exit codes: 0, 1 the plan is blocked: somebody has to say what is meant, 2 for wrong use or a failure
"""
_STATUS_EXAMPLES = """\
examples:
  singletable migrate status app.kefir:Kefir kefir.db
  singletable migrate status app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod --json

exit codes: 0 all are done, 1 some are not, 2 for wrong use or a failure
"""
_RUN_EXAMPLES = """\
examples:
  singletable migrate run app.kefir:Kefir kefir.db --dry-run
  singletable migrate run app.kefir:Kefir http://127.0.0.1:8000 --env stage=dev --rate 50items
  singletable migrate run app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod --rate 200 --to 0002

It can be stopped at any time, and goes on where it stood. Steps that destroy something are asked about, or need
--yes. So is a migration by which items would expire at once, before it writes anything; --keep-expired keeps them.

exit codes: 0 all is done, 1 it stopped before something is destroyed or expires, or items differ, cannot be
changed or are of no entity, 2 a failure
"""
_VERIFY_EXAMPLES = """\
examples:
  singletable migrate verify app.kefir:Kefir kefir.db
  singletable migrate verify app.kefir:Kefir http://127.0.0.1:8000 --env stage=dev --json | jq .differing

exit codes: 0 every item is as the design says, 1 some are not, or of no entity, 2 for wrong use or a failure
"""

Add = Callable[[Any, str, str, str], argparse.ArgumentParser]


def add_migrate(commands: Any, add: Add) -> None:
    """Describe the command and what is below it."""
    migrate = add(commands, "migrate", "bring a table to another version of its design", _EXAMPLES)
    below = migrate.add_subparsers(
        dest="migrate_command", metavar="COMMAND", required=True, parser_class=type(migrate)
    )
    _add_new(below, add)
    _add_plan(below, add)
    _add_run(below, add)
    status = add(below, "status", "list migrations, and what the table says of them", _STATUS_EXAMPLES)
    _add_design(status)
    _add_target(status)
    _add_folder(status)
    verify = add(below, "verify", "look at every item: is it as the design says?", _VERIFY_EXAMPLES)
    _add_design(verify)
    _add_target(verify)
    _add_rate(verify)
    _add_shared_table(verify)


def _add_new(below: Any, add: Add) -> None:
    new = add(
        below, "new", "write what has changed since the newest migration as the next one", _NEW_EXAMPLES
    )
    _add_design(new)
    new.add_argument("title", metavar="TITLE", help="what it is for, in a few words")
    _add_folder(new)
    _add_every_item(new)
    _add_choices(new)


def _add_plan(below: Any, add: Add) -> None:
    plan = add(below, "plan", "print what `new` would write", _PLAN_EXAMPLES)
    _add_design(plan)
    _add_folder(plan)
    _add_every_item(plan)
    _add_choices(plan)


def _add_run(below: Any, add: Add) -> None:
    run = add(below, "run", "run the migrations that a table has not seen", _RUN_EXAMPLES)
    _add_design(run)
    _add_target(run)
    _add_folder(run)
    _add_rate(run)
    run.add_argument("--dry-run", action="store_true", help="read everything, count, write nothing")
    run.add_argument("--to", metavar="ID", help="stop after this one; its number is enough")
    run.add_argument("--segments", metavar="COUNT", type=_count, default=1, help="read so many parts at once")
    run.add_argument(
        "--keep-expired",
        action="store_true",
        help="keep items that would expire at once: they get no time to live",
    )
    run.add_argument(
        "--yes", action="store_true", help="do not ask before something is destroyed, or expires at once"
    )
    _add_shared_table(run)


def _add_design(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a file, an URL, or dynamodb://REGION")
    add_opening(parser)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", help="where the migrations are (default: those of the system, or scripts/migrations)"
    )


def _add_every_item(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--every-item",
        action="store_true",
        help="bring a table that other code has made, and the items of all entities, to the form of the design",
    )
    parser.add_argument(
        "--function",
        metavar="MODULE:FUNCTION",
        action="append",
        default=[],
        help="call a function for the items that are there, and write what it returns; may be given again",
    )


def _add_choices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rename",
        metavar="ENTITY.OLD=NEW",
        type=_rename,
        action="append",
        default=[],
        help="a field that has another name now: its values are copied; may be given several times",
    )
    parser.add_argument(
        "--remove",
        metavar="ENTITY.FIELD",
        action="append",
        default=[],
        help="a field that is gone, whose attribute is to be removed from the items; may be given several times",
    )
    parser.add_argument(
        "--accept",
        metavar="WHERE",
        action="append",
        default=[],
        help="what blocks the plan, and is meant; the run checks it before it writes; may be given several times",
    )


def _add_shared_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shared-table",
        action="store_true",
        help="items of no entity are those of other programs, and are left alone (default: they are a failure)",
    )


def _rename(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not (old.count(".") == 1 and all(map(str.isidentifier, (*old.split("."), new)))):
        raise argparse.ArgumentTypeError(f"{text!r} is no rename, as Order.state=status")
    return old, new


def _add_rate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rate",
        metavar="RATE",
        help="at most so many units a second, or items, as 50items (default: no limit)",
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1000):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 1000")
    return int(text)
