"""The arguments of `seed`. Imports nothing heavy."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from datetime import date
from typing import Any, Final

from singletable.cli.targets import add_target_and_opening

_EXAMPLES = """\
examples:
  singletable seed kefir                          about a thousand items, into the file kefir.db
  singletable seed kefir --size large             about 250,000
  singletable seed lunch_cache --target http://127.0.0.1:8000
  singletable seed kefir --day 2026-03-04 --json  the same data, whenever it is run
  singletable seed all --size large               all systems that are installed, into the file all.db

The table is made if it is not there. One that has items is left alone, unless --add allows it: what is there under
the same keys is written over then, and everything else stays. So a seed that was interrupted is gone on with.
Of all systems none is written if one of the tables has items.

exit codes: 0, 1 if the table has items already, 2 for wrong use or a failure
"""

ALL: Final = "all"  # instead of the name of a system

# Data reaches back and ahead by more than a year, and years have four digits.
_YEARS: Final = range(2001, 9001)

Add = Callable[..., argparse.ArgumentParser]


def add_seed(commands: Any, add: Add) -> None:
    """Describe `seed`."""
    seed = add(commands, "seed", "fill the table of a system with made-up data", _EXAMPLES)
    seed.add_argument(
        "system", metavar="SYSTEM", help="a system that is installed, as kefir or lunch_cache; or all"
    )
    seed.add_argument(
        "--size", choices=("small", "large"), default="small", help="how much of it (default: %(default)s)"
    )
    seed.add_argument(
        "--day", metavar="YYYY-MM-DD", type=_day, help="the day that the data is of (default: today, in UTC)"
    )
    add_target_and_opening(seed)
    seed.add_argument("--add", action="store_true", help="also into a table that has items")
    seed.add_argument("--json", action="store_true", help="print what was written as JSON")


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day, as 2026-03-04") from None
    if day.year not in _YEARS:
        raise argparse.ArgumentTypeError(f"{text!r} is not in the years {_YEARS[0]} to {_YEARS[-1]}")
    return day
