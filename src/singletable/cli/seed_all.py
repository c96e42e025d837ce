"""`singletable seed all`: the tables of all installed systems in one target, filled one after the other."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from singletable.cli.filling import (
    counts_in_order,
    fill,
    has_items,
    per_second,
    say_that_it_has_items,
    say_what_is_not_kept,
)
from singletable.cli.messages import say
from singletable.cli.progress import Show, progress_bar
from singletable.cli.seed_arguments import ALL
from singletable.cli.targets import choose_target, given_capabilities, is_remote
from singletable.cli.wrong_use import WrongUseError
from singletable.clock import SystemClock
from singletable.database import Database
from singletable.systems import System, installed_systems

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from singletable.design import Design, Loaded


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


def run(arguments: argparse.Namespace) -> bool:
    """Fill all tables, and print what was written; False if one of them has items, and nothing is written then."""
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
            say_what_is_not_kept(db)
        in_use = [] if arguments.add else [db for _, db in opened if has_items(db)]
        for db in in_use:
            say_that_it_has_items(db, target)
        if in_use:
            return False
        summary = _fill_all(opened, target, arguments)
    if arguments.json:
        print(json.dumps(_data(summary)))
    else:
        print("\n".join(_lines(summary)))
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
            filled.append(_Filled(system.name, db.session.table, counts_in_order(db, loaded), loaded))
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


# --- what is printed -----------------------------------------------------------------------------------------


def _lines(summary: _Summary) -> list[str]:
    rows = [
        (each.system, f"{each.loaded.total:,}", f"{each.loaded.items:,}", each.table)
        for each in summary.filled
    ]
    rows = [("system", "entities", "items", "table"), *rows]
    rows.append(("together", f"{summary.total:,}", f"{summary.items:,}", f"on {summary.target}"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    speed = f"in {summary.took_s:.1f} s: {per_second(summary.items, summary.took_s):,} items a second"
    return [
        *(f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}" for a, b, c, d in rows),
        f"{speed}; locks of unique values and derived items are items too",
    ]


def _data(summary: _Summary) -> dict[str, object]:
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
        "per_second": per_second(summary.items, summary.took_s),
    }
