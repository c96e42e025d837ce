"""The planner against the engine: what it predicts for each access pattern and each write of the four systems.

Predictions are made from the blueprint and a profile of the table alone. Who is told the items that were read
predicts to the unit; who is not, predicts a range, and what was measured lies inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest

from singletable.blueprint import PatternBlueprint, ReadBlueprint
from singletable.design.plans.plan import Many
from singletable.design.writes.write import WritePlan
from singletable.planning.amounts import Amount
from singletable.planning.profile import TableProfile, profile_items, profile_table
from singletable.planning.reads import Asked, Pages
from singletable.planning.rules import OVERHEAD_BYTES
from singletable.planning.workload import Planner
from singletable.systems import System, installed_systems
from support.metered import Bill, Metered
from support.planned import DAY, World, Writer, Written, seeded, widest

SYSTEMS = [*installed_systems()]
PAGE = 5
CASES = [
    pytest.param(name, pattern.method, id=f"{name}-{pattern.method}")
    for name in SYSTEMS
    for pattern in installed_systems()[name].blueprint().patterns
]


@cache
def world_of(name: str) -> tuple[System, World, Planner]:
    system, world = seeded(name)
    return system, world, Planner(world.blueprint, profile=profile_items(world.blueprint, world.items()))


def asked(name: str, method: str) -> Iterator[tuple[PatternBlueprint, Asked, Bill, Planner]]:
    """Ask a pattern with the arguments of its system: for a page where it has pages, and for all there is."""
    system, world, planner = world_of(name)
    pattern = planner.find_pattern(method)
    assert pattern is not None
    plan: Any = getattr(world.db, method)(**system.samples(DAY)[method])
    if isinstance(plan, WritePlan):
        with world.meter.bill() as bill:
            plan.run()
        yield pattern, Asked(), bill, planner
        return
    plan = plan.with_(cache_s=None)
    ways: list[tuple[int | None, Callable[[], Any]]]
    if isinstance(plan, Many):
        ways = [(PAGE, lambda: plan.page(PAGE)), (None, lambda: list(plan.all()))]
    else:
        ways = [(None, plan.found)]
    for limit, way in ways:
        with world.meter.bill() as bill:
            way()
        yield pattern, Asked(limit, keys_of(pattern, bill)), bill, planner


def keys_of(pattern: PatternBlueprint, bill: Bill) -> int | None:
    """Return how many keys a caller has asked for, where he names them."""
    batches = [each for each in bill.requests if each.call.operation == "BatchGetItem"]
    if pattern.operation not in ("BatchGet", "Composed") or not batches:
        return None
    return max(len(each.sizes) for each in batches)


def pages_of(pattern: PatternBlueprint, requests: Sequence[Metered]) -> list[Pages]:
    """Return what was read, for each read of the blueprint: it has a read for every request that was sent."""
    pages: list[list[Sequence[float]]] = [[] for _ in pattern.reads]
    for request in requests:
        if request.is_read:
            number = next(i for i, read in enumerate(pattern.reads) if is_of(request, read))
            pages[number].append(request.sizes)
    return list(pages)


def is_of(request: Metered, read: ReadBlueprint) -> bool:
    params = request.call.params
    consistent = params.get("ConsistentRead", False)
    if request.call.operation == "BatchGetItem":
        consistent = any(each.get("ConsistentRead", False) for each in params["RequestItems"].values())
    is_index = params.get("IndexName") == read.index
    return request.call.operation == read.operation and is_index and consistent == read.is_consistent


# --- patterns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "method"), CASES)
def test_pattern_takes_what_is_predicted(name: str, method: str) -> None:
    for pattern, wanted, bill, planner in asked(name, method):
        predicted = planner.pattern(pattern, wanted)
        assert bill.reads in predicted.reads, (wanted, str(predicted.reads))
        assert bill.writes in predicted.writes
        if pattern.operation in ("Get", "Lookup", "BatchGet"):
            assert predicted.reads.is_exact
        if pattern.operation == "Query" and wanted.limit is None and is_whole(pattern):
            assert predicted.reads.high <= 6 * predicted.reads.low
        if pattern.writes:
            continue
        known = planner.answered(pattern, pages_of(pattern, bill.requests))
        assert known.reads == Amount.exactly(bill.reads)
        for index in {None, *(read.index for read in pattern.reads)}:
            measured = sum(each.units.get(index, 0.0) for each in bill.requests)
            assert known.units("read", index=index) == Amount.exactly(measured)


def is_whole(pattern: PatternBlueprint) -> bool:
    """Tell whether a pattern reads all of its entity that lies under a key, and no range of its caller."""
    return all(read.sort is None or "{" not in "".join(read.sort.templates) for read in pattern.reads)


# --- writes ---------------------------------------------------------------------------------------------


@cache
def written(name: str) -> tuple[Planner, list[Written]]:
    """Write each entity of a system, field by field and whole; a profile has the sizes before and after."""
    _, world = seeded(name)
    seen = [profile_items(world.blueprint, world.items())]
    writer = Writer(world)
    found = list(writer.updates())
    seen.append(profile_items(world.blueprint, world.items()))
    found += writer.deletes_and_creates()
    seen.append(profile_items(world.blueprint, world.items()))
    return Planner(world.blueprint, profile=widest(seen)), found


@pytest.mark.parametrize("name", SYSTEMS)
def test_writes_take_what_is_predicted(name: str) -> None:
    planner, found = written(name)
    for each in found:
        predicted = planner.write(each.kind, each.entity, each.fields)
        assert each.bill.writes in predicted.units("write", by="call"), str(each)
        assert each.bill.reads in predicted.units("read", by="call"), str(each)
        for index in planner.blueprint.indexes:
            measured = each.bill.written(index.name)
            assert measured in predicted.units("write", by="call", index=index.name), (str(each), index.name)


@pytest.mark.parametrize("name", SYSTEMS)
def test_update_of_fields_that_nobody_names_has_a_wider_range(name: str) -> None:
    planner, found = written(name)
    for each in found:
        named, unnamed = (
            planner.write(each.kind, each.entity, fields).writes for fields in (each.fields, ())
        )
        assert each.bill.writes in unnamed, str(each)
        assert unnamed.low <= named.low


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_entity_is_written(name: str) -> None:
    planner, found = written(name)
    tried = {each.entity.name for each in found}
    left = [
        each.name for each in planner.blueprint.entities if each.derived is None and each.name not in tried
    ]
    assert left in ([], ["HealthProbe"])  # there is none, but while it is looked for


# --- storage --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYSTEMS)
def test_stored_bytes_are_those_that_the_engine_counts(name: str) -> None:
    _, world = seeded(name)
    profile = profile_table(world.meter, world.blueprint, world.table)
    stored = Planner(world.blueprint, profile=profile).workload().stored
    for index, counted in world.sizes().items():
        parts = [part for part in stored if part.index == index]
        predicted = sum(part.size.mean - OVERHEAD_BYTES * part.items.mean for part in parts)
        assert predicted == pytest.approx(counted, rel=0.02)


@pytest.mark.parametrize("name", SYSTEMS)
def test_profile_counts_every_item(name: str) -> None:
    _, world, _ = world_of(name)
    items = world.items()
    profile = profile_items(world.blueprint, items)
    assert isinstance(profile, TableProfile)
    locks = sum(lock.count for each in profile.values() for lock in each.locks.values())
    assert sum(each.count for each in profile.values()) + locks == len(items)
    assert profile.others.count == 0
