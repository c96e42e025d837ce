"""`singletable seed`: fill the table of a system with made-up data, or those of all systems."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from singletable.cli import seed_all
from singletable.cli.filling import (
    counts_in_order,
    fill,
    has_items,
    per_second,
    say_that_it_has_items,
    say_what_is_not_kept,
)
from singletable.cli.messages import say
from singletable.cli.progress import progress_bar
from singletable.cli.seed_arguments import ALL
from singletable.cli.targets import choose_target, given_capabilities
from singletable.clock import SystemClock
from singletable.systems import Size, System, find_system

if TYPE_CHECKING:
    import argparse

    from singletable.design import Design, Loaded

DONE = 0
HAS_ITEMS = 1


def run(arguments: argparse.Namespace) -> int:
    """Fill one table, or those of all systems; print how many of each entity were written."""
    if arguments.system == ALL:
        return DONE if seed_all.run(arguments) else HAS_ITEMS
    system = find_system(arguments.system)
    target = choose_target(arguments.target, system.name)
    clock = SystemClock()
    environment: dict[str, Any] = {**system.environment, **dict(arguments.env)}
    capabilities = given_capabilities(arguments, target)
    with system.design.open(target, create=True, capabilities=capabilities, **environment) as db:
        say_what_is_not_kept(db)
        if not arguments.add and has_items(db):
            say_that_it_has_items(db, target)
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
    counts = counts_in_order(db, loaded)
    width = max(map(len, counts), default=0)
    lines = [f"{name:<{width}} {count:>9,}" for name, count in counts.items()]
    items = f"{loaded.total:,} entities, {loaded.items:,} items"
    speed = f"{items} in {took_s:.1f} s: {per_second(loaded.items, took_s):,} items a second"
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
        "counts": counts_in_order(db, loaded),
        "total": loaded.total,
        "items": loaded.items,
        "units": loaded.units,
        "seconds": round(took_s, 3),
        "per_second": per_second(loaded.items, took_s),
    }
