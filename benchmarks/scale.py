"""The large seed beside the small one: what every access pattern of every system costs in both, in units and time.

Both files have all installed systems in them, and are asked in turn in the same seconds, so that the ratio is that
of the sizes alone. What is asked is the same in both: the arguments come with the systems. Of what has many items
a page is read. Nothing is taken from a design's cache.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from benchmarks.measure import Comparison, Contender, Plan, Reading, compare, interleave
from singletable import Database, Delete
from singletable.cli.seed import fill
from singletable.clock import SystemClock
from singletable.design.plans.plan import Many
from singletable.design.plans.plan import Plan as ReadPlan
from singletable.design.writes.write import Create, WritePlan
from singletable.systems import Seed, Size, System, find_system, installed_systems

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from singletable.design import Design

PAGE: Final = 5  # which the small seed has of every list
QUICK_PART: Final = 20  # of which a quick run loads one

PLAN: Final = Plan(rounds=15, turns=4, calls=25)
QUICK_PLAN: Final = Plan(rounds=5, turns=2, calls=10)
GROWTH_MAX: Final = 1.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled(Comparison):
    """One pattern on both seeds: the subject is the large one. It is reached when the units are the same, too."""

    system: str
    units: float
    units_small: float

    @property
    def reached(self) -> bool | None:
        return self.units == self.units_small and self.ratio <= GROWTH_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What one system has in a file."""

    system: str
    items: int
    seconds: float


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Scaled | Reading]:
    """Fill both files in processes of their own, then ask them in turn."""
    day = datetime.now(UTC).date()
    filled: dict[Size, list[Filled]] = {"small": [], "large": []}
    for size, found in filled.items():
        for name in installed_systems():
            part = QUICK_PART if quick and size == "large" else 1
            found.append(in_child(fill_one, file_of(directory, size), name, size, day, part))
            say(f"{name}, {size}: {found[-1].items:,} items in {found[-1].seconds:.0f} s")
    with ExitStack() as stack:
        small, large = (
            stack.enter_context(Database.open(file_of(directory, size), durability="relaxed"))
            for size in filled
        )
        scaled: list[Scaled | Reading] = []
        for system in installed_systems().values():
            say(f"{system.name}: every pattern on both")
            scaled += patterns_of(stack, system, small, large, day, quick=quick)
    return [*scaled, *readings(filled)]


def file_of(directory: Path, size: Size) -> str:
    return str(directory / f"{size}.db")


def readings(filled: dict[Size, list[Filled]]) -> list[Reading]:
    """Say how much there is in both files, and how fast it came there."""
    return [
        reading
        for size, found in filled.items()
        for reading in (
            Reading(name=f"items of the {size} seed", unit="items", value=sum(each.items for each in found)),
            Reading(
                name=f"loading the {size} seed",
                unit="items/s",
                value=round(sum(each.items for each in found) / sum(each.seconds for each in found)),
            ),
        )
    ]


# --- asking ------------------------------------------------------------------------------------------------


def patterns_of(
    stack: ExitStack, system: System, small: Database, large: Database, day: date, *, quick: bool
) -> list[Scaled]:
    """Measure all patterns of one system."""
    environment: dict[str, Any] = {**system.environment}
    designs = [stack.enter_context(system.design.open(each, **environment)) for each in (small, large)]
    samples = system.samples(day)
    results = []
    for name, info in system.design.patterns().items():
        if name not in samples:
            continue
        asked = [Asked(db, name, samples[name]) for db in designs]
        units_small, units = (each.carry_out(each.plan()) for each in asked)
        contenders = [
            Contender(name=size, prepare=each.plan, run=each.carry_out)
            for size, each in zip(("small", "large"), asked, strict=True)
        ]
        interleave(contenders, plan_of(asked[0], quick=quick))
        compared = compare(
            f"{info.number} {name}", subject=contenders[1], floor=contenders[0], ratio_max=GROWTH_MAX
        )
        fields = {field: getattr(compared, field) for field in Comparison.__dataclass_fields__}
        results.append(Scaled(**fields, system=system.name, units=units, units_small=units_small))
    return results


def plan_of(asked: Asked, *, quick: bool) -> Plan:
    """Return how long to measure; what is created is taken away before it is created again."""
    plan = QUICK_PLAN if quick else PLAN
    if isinstance(asked.plan(), Create):
        return Plan(rounds=plan.rounds, turns=plan.turns * plan.calls, calls=1)
    return plan


@dataclass(frozen=True, slots=True)
class Asked:
    """One pattern of one design, with what it is asked."""

    db: Design
    pattern: str
    arguments: Any

    def plan(self) -> Any:
        """Return the plan, to be carried out once; what it would create is taken away first."""
        plan = getattr(self.db, self.pattern)(**self.arguments)
        if isinstance(plan, Create):
            self.db.transaction(Delete(plan.entity))
        return plan.with_(cache_s=None) if isinstance(plan, ReadPlan) else plan

    def carry_out(self, plan: Any) -> float:
        """Read a page, or what there is; or write. Return the units."""
        if isinstance(plan, Many):
            return plan.page(PAGE).units
        done: Any = plan.run() if isinstance(plan, WritePlan) else plan.found()
        return float(done.units)


# --- in a process of its own ----------------------------------------------------------------------------------


def in_child(function: Callable[..., Any], *arguments: object) -> Any:
    """Run a function in a fresh process: its memory is its own, and is gone afterwards."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        return executor.submit(function, *arguments).result()


def fill_one(path: str, name: str, size: Size, day: date, part: int) -> Filled:
    """Write the made-up data of one system into a file; of that, one part of so many."""
    system, clock = find_system(name), SystemClock()
    made = system.seed(size, day)
    if part > 1:
        count = made.count // part
        made = Seed(count, islice(made.entities, count), is_settled=made.is_settled)
    environment: dict[str, Any] = {**system.environment}
    with (
        Database.open(path, durability="relaxed") as database,
        system.design.open(database, **environment) as db,
    ):
        began_us = clock.elapsed_us()
        loaded = fill(db, system, made)
        return Filled(system=name, items=loaded.items, seconds=(clock.elapsed_us() - began_us) / 1_000_000)
