"""What access patterns can be asked: each finds something in made-up data, and the same where there is more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, time
from functools import cache
from itertools import islice
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable.design import Collect, Design, Entity
from singletable.design.plans.plan import Many
from singletable.design.writes.write import WritePlan
from singletable.systems import System, installed_systems
from singletable_systems.perfectit import Category

DAY = date(2026, 3, 4)
PAGE = 5
MORE_ENTITIES = 1_000

SYSTEMS = installed_systems()
CASES = [(name, pattern) for name, system in SYSTEMS.items() for pattern in system.design.patterns()]
READS = [
    pytest.param(name, pattern, id=f"{name}-{pattern}")
    for name, pattern in CASES
    if name not in ("lunch_cache",)
    or not pattern.endswith("_probe")  # there is none, but while it is looked for
    if (name, pattern) != ("smart_cooking", "pulled_friends")  # nobody has a thousand friends
]


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[[str], tuple[Design, Design]]]:
    """Any system twice, in memory, as of one day: with the small seed, and with a part of the large one."""
    with ExitStack() as stack:

        def filled(system: System, entities: Iterator[Entity], *, settled: bool) -> Design:
            clock = ManualClock(int(datetime.combine(DAY, time(), UTC).timestamp() * 1_000_000))
            db = stack.enter_context(system.design.open(":memory:", clock=clock))
            db.load(entities, settled=settled)
            return db

        @cache
        def both(name: str) -> tuple[Design, Design]:
            system = SYSTEMS[name]
            small, large = system.seed("small", DAY), system.seed("large", DAY)
            count = small.count + MORE_ENTITIES
            return (
                filled(system, iter(small.entities), settled=small.is_settled),
                filled(system, islice(large.entities, count), settled=large.is_settled),
            )

        yield both


def asked(db: Design, name: str, pattern: str) -> Any:
    plan = getattr(db, pattern)(**SYSTEMS[name].samples(DAY)[pattern])
    return plan if isinstance(plan, WritePlan) else plan.with_(cache_s=None)


def carried_out(plan: Any) -> tuple[list[Any], float]:
    """Return what a plan finds or writes, and the units."""
    if isinstance(plan, Many):
        page = plan.page(PAGE)
        return page.items, page.units
    if isinstance(plan, WritePlan):
        written = plan.run()
        return [written.entity], written.units
    found = plan.found()
    if isinstance(plan, Collect) and found.item is not None:
        return [value for value in found.item.__dict__.values() if value], found.units
    return found.item if isinstance(found.item, list) else [found.item], found.units


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_pattern_has_a_sample(name: str) -> None:
    assert SYSTEMS[name].samples(DAY).keys() == SYSTEMS[name].design.patterns().keys()


@pytest.mark.parametrize(("name", "pattern"), READS)
def test_sample_finds_something_and_the_same_at_the_same_cost_where_there_is_more(
    opened: Callable[[str], tuple[Design, Design]], name: str, pattern: str
) -> None:
    small, large = opened(name)
    (many, their_cost), (few, cost) = (carried_out(asked(db, name, pattern)) for db in (large, small))
    assert few
    assert None not in few
    assert [uncounted(each) for each in many] == [uncounted(each) for each in few]
    assert their_cost == cost


def uncounted(found: Any) -> Any:
    """Return what was found; of a category, without the number of its cards, which is of all there are."""
    return found.model_copy(update={"cards_count": 0}) if isinstance(found, Category) else found
