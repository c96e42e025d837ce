"""`singletable seed`: fill the table of a system with made-up data, or those of all systems."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.messages import WrongUseError, say, say_error
from singletable.cli.output import Show, progress_bar
from singletable.cli.targets import add_target_and_opening, choose_target, given_capabilities, is_remote
from singletable.clock import SystemClock
from singletable.design.tables.definition import declared_table
from singletable.design.tables.drift import unsupported
from singletable.systems import Size, System, find_system, installed_systems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from singletable.design import Design, Loaded
    from singletable.systems import Seed

EXAMPLES = """\
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

DONE = 0
HAS_ITEMS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `seed`."""
    parser.add_argument(
        "system", metavar="SYSTEM", help="a system that is installed, as kefir or lunch_cache; or all"
    )
    parser.add_argument(
        "--size", choices=("small", "large"), default="small", help="how much of it (default: %(default)s)"
    )
    parser.add_argument(
        "--day", metavar="YYYY-MM-DD", type=_day, help="the day that the data is of (default: today, in UTC)"
    )
    add_target_and_opening(parser)
    parser.add_argument("--add", action="store_true", help="also into a table that has items")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no day, as 2026-03-04") from None
    if day.year not in _YEARS:
        raise argparse.ArgumentTypeError(f"{text!r} is not in the years {_YEARS[0]} to {_YEARS[-1]}")
    return day


def run(arguments: argparse.Namespace) -> int:
    """Fill one table, or those of all systems; print how many of each entity were written."""
    if arguments.system == ALL:
        return DONE if _run_all(arguments) else HAS_ITEMS
    system = find_system(arguments.system)
    target = choose_target(arguments.target, system.name)
    clock = SystemClock()
    environment: dict[str, Any] = {**system.environment, **dict(arguments.env)}
    capabilities = given_capabilities(arguments, target)
    with system.design.open(target, create=True, capabilities=capabilities, **environment) as db:
        _say_what_is_not_kept(db)
        if not arguments.add and has_items(db):
            _say_that_it_has_items(db, target)
            return HAS_ITEMS
        day: date = arguments.day or db.now().date()
        made = system.seed(arguments.size, day)
        began_us = clock.elapsed_us()
        with progress_bar() as show:
            loaded = fill(db, system, made, lambda done: show("seeding", done, made.count))
        took_s = (clock.elapsed_us() - began_us) / 1_000_000
        if arguments.json:
            print(json.dumps(_data(system, db, loaded, target, arguments.size, day, took_s)))
        else:
            print("\n".join(_lines(db, loaded, target, took_s)))
            say(f"singletable run --list {system.name} names what can be asked")
    return DONE


def _lines(db: Design, loaded: Loaded, target: str, took_s: float) -> list[str]:
    counts = _counts_in_order(db, loaded)
    width = max(map(len, counts), default=0)
    lines = [f"{name:<{width}} {count:>9,}" for name, count in counts.items()]
    items = f"{loaded.total:,} entities, {loaded.items:,} items"
    speed = f"{items} in {took_s:.1f} s: {_per_second(loaded.items, took_s):,} items a second"
    return [f"{db.session.table} on {target}", *lines, speed]


def _data(
    system: System, db: Design, loaded: Loaded, target: str, size: Size, day: date, took_s: float
) -> dict[str, object]:
    return {
        "system": system.name,
        "target": target,
        "table": db.session.table,
        "size": size,
        "day": day.isoformat(),
        "counts": _counts_in_order(db, loaded),
        "total": loaded.total,
        "items": loaded.items,
        "units": loaded.units,
        "seconds": round(took_s, 3),
        "per_second": _per_second(loaded.items, took_s),
    }


# --- the table of a system ------------------------------------------------------------------------------------


def has_items(db: Design) -> bool:
    """Tell whether there is an item in the table of a design."""
    params = {"TableName": db.session.table, "Limit": 1, "ConsistentRead": True}
    return bool(db.session.client.call("Scan", params)["Items"])


def _say_that_it_has_items(db: Design, target: str) -> None:
    say_error(
        f"the table {db.session.table} on {target} has items already",
        hint="--add writes all the same: over what has the same keys, beside everything else",
    )


def _say_what_is_not_kept(db: Design) -> None:
    declared = declared_table(db.catalog, db.session.table)
    for what in unsupported(declared, db.session.client.capabilities):
        say(f"{db.session.table} has no {what}: the target keeps none")


def fill(db: Design, system: System, made: Seed, progress: Callable[[int], object] | None = None) -> Loaded:
    """Write made-up data into the table of a system; tell how many entities are written."""
    loaded = db.load(made.entities, settled=made.is_settled, progress=progress)
    if made.is_settled and system.has_handlers and db.session.client.database is not None:
        # All that handlers would do has happened: their consumer begins with what is written from now on.
        db.consume(start="LATEST", background=False).stop()
    return loaded


def _counts_in_order(db: Design, loaded: Loaded) -> dict[str, int]:
    names = [entity.__name__ for entity in db.entities]
    return {name: loaded.counts[name] for name in names if name in loaded.counts}


def _per_second(count: int, took_s: float) -> int:
    return round(count / max(took_s, 0.001))


# --- all systems, in one target -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Filled:
    system: str
    table: str
    counts: dict[str, int]
    loaded: Loaded


@dataclass(frozen=True, slots=True)
class _Summary:
    target: str
    size: str
    day: date
    filled: Sequence[_Filled]
    took_s: float

    @property
    def total(self) -> int:
        return sum(each.loaded.total for each in self.filled)

    @property
    def items(self) -> int:
        return sum(each.loaded.items for each in self.filled)


def _run_all(arguments: argparse.Namespace) -> bool:
    """Fill all tables, and print what was written; False if one of them has items, and nothing is written then."""
    from singletable.database import Database  # the engine, which a table elsewhere does not need

    systems = list(installed_systems().values())
    target = choose_target(arguments.target, ALL)
    environments = _environments(systems, dict(arguments.env))
    capabilities = given_capabilities(arguments, target)
    with ExitStack() as stack:
        # A database is opened once: of ":memory:" there would be another one for each system.
        where = target if is_remote(target) else stack.enter_context(Database.open(target))
        opened = [
            (
                system,
                stack.enter_context(
                    system.design.open(where, create=True, capabilities=capabilities, **environment)
                ),
            )
            for system, environment in zip(systems, environments, strict=True)
        ]
        for _, db in opened:
            _say_what_is_not_kept(db)
        in_use = [] if arguments.add else [db for _, db in opened if has_items(db)]
        for db in in_use:
            _say_that_it_has_items(db, target)
        if in_use:
            return False
        summary = _fill_all(opened, target, arguments)
    if arguments.json:
        print(json.dumps(_data_of_all(summary)))
    else:
        print("\n".join(_lines_of_all(summary)))
        say("singletable run --list names what can be asked")
    return True


def _environments(systems: Sequence[System], given: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what the name of each table needs; what is given goes to those whose name has it."""
    unknown = sorted(set(given) - {name for system in systems for name in system.environment})
    if unknown:
        known = sorted({name for system in systems for name in system.environment})
        raise WrongUseError(
            f"no table's name has {unknown[0]}", hint=f"--env takes {', '.join(known) or 'nothing'} here"
        )
    return [{name: given.get(name, value) for name, value in each.environment.items()} for each in systems]


def _fill_all(
    opened: Sequence[tuple[System, Design]], target: str, arguments: argparse.Namespace
) -> _Summary:
    clock = SystemClock()
    day: date = arguments.day or opened[0][1].now().date()
    made = [system.seed(arguments.size, day) for system, _ in opened]
    began_us = clock.elapsed_us()
    filled = []
    with progress_bar() as show:
        bar = _Bar(show, sum(each.count for each in made))
        for (system, db), seed in zip(opened, made, strict=True):
            loaded = fill(db, system, seed, bar.show)
            bar.before += seed.count
            filled.append(_Filled(system.name, db.session.table, _counts_in_order(db, loaded), loaded))
    took_s = (clock.elapsed_us() - began_us) / 1_000_000
    return _Summary(target, arguments.size, day, filled, took_s)


@dataclass(slots=True)
class _Bar:
    """One bar over all systems."""

    draw: Show
    total: int
    before: int = 0

    def show(self, done: int) -> None:
        self.draw("seeding", self.before + done, self.total)


def _lines_of_all(summary: _Summary) -> list[str]:
    rows = [
        (each.system, f"{each.loaded.total:,}", f"{each.loaded.items:,}", each.table)
        for each in summary.filled
    ]
    rows = [("system", "entities", "items", "table"), *rows]
    rows.append(("together", f"{summary.total:,}", f"{summary.items:,}", f"on {summary.target}"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    speed = f"in {summary.took_s:.1f} s: {_per_second(summary.items, summary.took_s):,} items a second"
    return [
        *(f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}" for a, b, c, d in rows),
        f"{speed}; locks of unique values and derived items are items too",
    ]


def _data_of_all(summary: _Summary) -> dict[str, object]:
    return {
        "target": summary.target,
        "size": summary.size,
        "day": summary.day.isoformat(),
        "systems": [
            {
                "system": each.system,
                "table": each.table,
                "counts": each.counts,
                "total": each.loaded.total,
                "items": each.loaded.items,
                "units": each.loaded.units,
            }
            for each in summary.filled
        ],
        "total": summary.total,
        "items": summary.items,
        "units": sum(each.loaded.units for each in summary.filled),
        "seconds": round(summary.took_s, 3),
        "per_second": _per_second(summary.items, summary.took_s),
    }
