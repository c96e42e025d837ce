"""The arguments of `singletable run`, but for those that a pattern has itself. Imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

from singletable.cli.targets import add_target_and_opening

_EXAMPLES = """\
examples:
  singletable run --list                                       all patterns of all systems
  singletable run kefir.batches_by_status --status active      on the file kefir.db
  singletable run kefir.batches_by_status --help               the options of a pattern
  singletable run lunch_cache.menu --restaurant niagara --year 2025 --week 3 --json
  singletable run kefir.due --target http://127.0.0.1:8000 --explain
  singletable run app.shop:Shop.orders --customer-id c1 --dry-run

PATTERN is SYSTEM.PATTERN or MODULE:DESIGN.PATTERN; - and _ are the same in it. It stands before its own options.
A page has 20 items; the command for the next one is printed with it, on stderr.
--json prints one object: items, by the names and with the values that are stored, numbers with all their digits;
cursor, units, read, thrown_away. With --all it prints an item a line, and the rest on stderr. What is kept for
bookkeeping, as the sum and the count of an average, is shown with --all-fields.

exit codes: 0, 1 if what was asked for by its key is not there or a write is refused, 2 for wrong use or a failure
"""

LIMIT_MAX: Final = 1_000_000

Add = Callable[..., argparse.ArgumentParser]


def add_run(commands: Any, add: Add) -> None:
    """Describe `run`. What its parser does not know is left to the pattern."""
    run = add(
        commands,
        "run",
        "run an access pattern of a system, or of any design",
        _EXAMPLES,
        usage="singletable run PATTERN [--PARAMETER VALUE ...] [options]\n       singletable run --list [SYSTEM]",
        add_help=False,
        allow_abbrev=False,
        leaves_rest=True,
    )
    run.add_argument("pattern", metavar="PATTERN", nargs="?", help="as kefir.batches_by_status")
    add_run_options(run)
    run.add_argument(
        "--list", action="store_true", help="list all patterns, or those of the system or MODULE:DESIGN given"
    )
    run.set_defaults(parser=run)


def add_run_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Describe the options that every pattern has."""
    parser.add_argument(
        "-h", "--help", action="store_true", help="show the options, of a pattern with its own"
    )
    add_target_and_opening(parser)
    parser.add_argument(
        "--limit", metavar="N", type=_limit, help="how many items there are at most on a page (default: 20)"
    )
    parser.add_argument("--cursor", metavar="CURSOR", help="where a page is to begin, as the one before says")
    parser.add_argument("--all", action="store_true", help="read everything, and print it as it comes")
    parser.add_argument("--newest-first", action="store_true", help="read from the end")
    parser.add_argument("--oldest-first", action="store_true", help="read from the beginning")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument(
        "--all-fields",
        action="store_true",
        help="show also what is kept for bookkeeping, as the sum and the count of an average",
    )
    parser.add_argument(
        "--explain", action="store_true", help="say which requests were sent, and their units"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the requests, and send none")
    parser.add_argument("--yes", action="store_true", help="do not ask before a pattern deletes something")


def reserved_options() -> frozenset[str]:
    """Return the options that no parameter of a pattern can be called by."""
    parser = argparse.ArgumentParser(add_help=False)
    add_run_options(parser)
    options = [option for action in parser._actions for option in action.option_strings]
    return frozenset((*options, "--list", "--debug"))


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and 1 <= int(text) <= LIMIT_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {LIMIT_MAX}")
    return int(text)
