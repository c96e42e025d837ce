"""`singletable seed`: fill the table of a system with made-up data."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from singletable.cli.messages import say, say_error
from singletable.cli.progress import progress_bar
from singletable.cli.targets import choose_target
from singletable.clock import SystemClock
from singletable.systems import Size, System, find_system

if TYPE_CHECKING:
    import argparse

    from singletable.design import Design, Loaded

DONE = 0
HAS_ITEMS = 1


def run(arguments: argparse.Namespace) -> int:
    """Fill one table; print how many of each entity were written."""
    system = find_system(arguments.system)
    target = choose_target(arguments.target, system.name)
    clock = SystemClock()
    environment: dict[str, Any] = {**system.environment, **dict(arguments.env)}
    with system.design.open(target, create=True, **environment) as db:
        if not arguments.add and has_items(db):
            say_error(
                f"the table {db.session.table} on {target} has items already",
                hint="--add writes all the same: over what has the same keys, beside everything else",
            )
            return HAS_ITEMS
        day: date = arguments.day or db.now().date()
        began_us = clock.elapsed_us()
        loaded = fill(db, system, arguments.size, day)
        took_s = (clock.elapsed_us() - began_us) / 1_000_000
        if arguments.json:
            print(json.dumps(_data(system, db, loaded, target, arguments.size, day, took_s)))
        else:
            print("\n".join(_lines(db, loaded, target, took_s)))
            say(f"singletable run --list {system.name} names what can be asked")
    return DONE


def has_items(db: Design) -> bool:
    """Tell whether there is an item in the table of a design."""
    params = {"TableName": db.session.table, "Limit": 1, "ConsistentRead": True}
    return bool(db.session.client.call("Scan", params)["Items"])


def fill(db: Design, system: System, size: Size, day: date) -> Loaded:
    """Write the made-up data of a system into its table, and show how far that is."""
    made = system.seed(size, day)
    with progress_bar() as show:
        return db.load(made.entities, progress=lambda done: show("seeding", done, made.count))


def _lines(db: Design, loaded: Loaded, target: str, took_s: float) -> list[str]:
    counts = _counts(db, loaded)
    width = max(map(len, counts), default=0)
    lines = [f"{name:<{width}} {count:>9,}" for name, count in counts.items()]
    speed = f"{loaded.total:,} in {took_s:.1f} s: {_per_s(loaded, took_s):,} a second"
    return [f"{db.session.table} on {target}", *lines, speed]


def _counts(db: Design, loaded: Loaded) -> dict[str, int]:
    """Return how many there are of each entity, in the order of the design."""
    names = [entity.__name__ for entity in db.entities]
    return {name: loaded.counts[name] for name in names if name in loaded.counts}


def _data(
    system: System, db: Design, loaded: Loaded, target: str, size: Size, day: date, took_s: float
) -> dict[str, object]:
    return {
        "system": system.name,
        "target": target,
        "table": db.session.table,
        "size": size,
        "day": day.isoformat(),
        "counts": _counts(db, loaded),
        "total": loaded.total,
        "units": loaded.units,
        "seconds": round(took_s, 3),
        "per_second": _per_s(loaded, took_s),
    }


def _per_s(loaded: Loaded, took_s: float) -> int:
    return round(loaded.total / max(took_s, 0.001))
