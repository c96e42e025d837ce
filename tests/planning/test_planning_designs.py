"""The planner against the engine, on designs made for it: what is kept beside items, projections, large pages.

Where nothing varies, the units are also written here as AWS's guide has them computed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from designs.reels import Pass, Reels, film
from designs.stockrooms import Part, Stockrooms, parts
from designs.workshops import Booking, Workshop, Workshops, workshops
from singletable.blueprint import PatternBlueprint
from singletable.design import Check, Create, Delete, Design, Entity, Put
from singletable.design.streams.dispatch import StreamDispatcher
from singletable.planning.amounts import Amount
from singletable.planning.profile import profile_items
from singletable.planning.reads import Asked
from singletable.planning.workload import Planner
from support.kept_together import records
from support.metered import Bill
from support.planned import World, Writer, opened, widest


def filled(design: type[Design], entities: Iterable[Entity]) -> World:
    world = opened(design, design.blueprint())
    for entity in entities:
        world.db.create(entity)
    settle(world)
    return world


def settle(world: World) -> None:
    """Let the stream keep what it keeps, until nothing follows."""
    if world.blueprint.table.stream is None:
        return
    seen: set[str] = set()
    while new := [each for each in records(world.db) if each["eventID"] not in seen]:
        seen |= {each["eventID"] for each in new}
        failure = StreamDispatcher(world.db, world.db.session, []).dispatch(new)
        assert failure is None


def planner(world: World) -> Planner:
    return Planner(world.blueprint, profile=profile_items(world.blueprint, world.items()))


def billed(world: World, deed: Any) -> Bill:
    with world.meter.bill() as bill:
        deed()
    return bill


def entity(world: World, name: str) -> Any:
    return world.blueprint.entity(name)


# --- any of them ----------------------------------------------------------------------------------------

WORLDS: list[Any] = [
    pytest.param(Workshops, workshops, id="workshops"),
    pytest.param(Stockrooms, parts, id="stockrooms"),
    pytest.param(Reels, lambda: [*film(count=5, size=9_000), Pass(pass_id="p1", text="x")], id="reels"),
]


@pytest.mark.parametrize(("design", "made"), WORLDS)
def test_writes_take_what_is_predicted(design: type[Design], made: Any) -> None:
    world = filled(design, made())
    seen = [profile_items(world.blueprint, world.items())]
    writer = Writer(world)
    found = [*writer.updates(), *writer.deletes_and_creates()]
    seen.append(profile_items(world.blueprint, world.items()))
    planned = Planner(world.blueprint, profile=widest(seen))
    assert {"create", "update", "delete"} == {each.kind for each in found}
    for each in found:
        predicted = planned.write(each.kind, each.entity, each.fields)
        assert each.bill.writes in predicted.units("write", by="call"), str(each)
        assert each.bill.reads in predicted.units("read", by="call"), str(each)
        for index in world.blueprint.indexes:
            measured = each.bill.written(index.name)
            assert measured in predicted.units("write", by="call", index=index.name), (str(each), index.name)


@pytest.mark.parametrize(("design", "made"), WORLDS)
def test_stored_bytes_are_those_that_the_engine_counts(design: type[Design], made: Any) -> None:
    world = filled(design, made())
    stored = planner(world).workload().stored
    for index, counted in world.sizes().items():
        parts_of = [part for part in stored if part.index == index]
        predicted = sum(part.size.mean - 100 * part.items.mean for part in parts_of)
        assert predicted == pytest.approx(counted, rel=0.02)


# --- what is kept beside items ----------------------------------------------------------------------------


def test_workshop_is_a_transaction_with_its_lock_and_its_slots() -> None:
    world = filled(Workshops, workshops())
    predicted = planner(world).write("create", entity(world, "Workshop"))
    new = Workshop(workshop_id="w999", title="Paper", slug="paper")
    bill = billed(world, lambda: world.db.create(new))
    assert bill.writes == 2 * (1 + 1 + 2)  # twice: the item, the lock, two slots
    assert predicted.units("write", by="call").mean == bill.writes
    assert bill.writes in predicted.units("write", by="call")


def test_booking_updates_the_counters_of_its_workshop() -> None:
    world = filled(Workshops, workshops())
    predicted = planner(world).write("create", entity(world, "Booking"))
    new = Booking(workshop_id="w001", booking_id="b9", guest="g9", note="x" * 700)
    bill = billed(world, lambda: world.db.create(new))
    assert bill.writes == 2 * (1 + 1) + 1  # twice: the item and its workshop; once: the entry of the index
    assert predicted.units("write", by="call") == Amount.exactly(5)


def test_consumer_of_the_stream_takes_what_is_predicted() -> None:
    world = filled(Workshops, workshops())
    planned = planner(world)
    deeds: list[tuple[Any, Any, tuple[str, ...], Any]] = [
        (
            "create",
            "Booking",
            (),
            lambda: world.db.create(Booking(workshop_id="w001", booking_id="b7", guest="g")),
        ),
        ("update", "Booking", ("seats",), lambda: world.db.update(booking(world, "w002"), seats=4)),
        (
            "update",
            "Workshop",
            ("title",),
            lambda: world.db.update(workshop(world, "w003"), title="Clay and ink"),
        ),
        ("delete", "Booking", (), lambda: world.db.delete(booking(world, "w003"))),
    ]
    for kind, name, fields, deed in deeds:
        known = {each["eventID"] for each in records(world.db)}
        deed()
        new = [each for each in records(world.db) if each["eventID"] not in known]
        dispatcher = StreamDispatcher(world.db, world.db.session, [])
        bill = billed(world, lambda new=new, by=dispatcher: by.dispatch(new))
        predicted = planned.write(kind, entity(world, name), fields)
        assert bill.writes in predicted.units("write", by="stream"), (kind, name)
        assert bill.reads in predicted.units("read", by="stream"), (kind, name, bill.reads)
        assert bill.writes > 0


def workshop(world: World, name: str) -> Workshop:
    found: Workshop = world.db.workshop(name).one()
    return found


def booking(world: World, name: str) -> Booking:
    found: Booking = next(each for each in world.db.booked_by("g0").all() if each.workshop_id == name)
    return found


# --- projections, and keys that move ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "change", "units"),
    [
        # An update of what is projected is one write, one of an indexed key two: the old entry is deleted, the new
        # one put (AWS guide, "Provisioned throughput considerations for global secondary indexes").
        (("grade",), {"grade": 77}, {None: 3, "ByShelf": 6, "ByState": 0, "ByMaker": 0}),
        (("state",), {"state": "old"}, {None: 3, "ByShelf": 3, "ByState": 2, "ByMaker": 0}),
        (("maker",), {"maker": "m9"}, {None: 3, "ByShelf": 3, "ByState": 0, "ByMaker": 2}),
        (("label",), {"label": "Another"}, {None: 3, "ByShelf": 3, "ByState": 0, "ByMaker": 1}),
        (("manual",), {"manual": "y" * 2_700}, {None: 3, "ByShelf": 3, "ByState": 0, "ByMaker": 0}),
        (("is_open",), {"is_open": False}, {None: 3, "ByShelf": 3, "ByState": 1, "ByMaker": 0}),
    ],
)
def test_entry_is_charged_by_what_changes_of_it(
    fields: tuple[str, ...], change: dict[str, Any], units: dict[str | None, float]
) -> None:
    world = filled(Stockrooms, [each for each in parts() if each.is_open])
    predicted = planner(world).write("update", entity(world, "Part"), fields)
    part: Part = world.db.part("p001").one()
    bill = billed(world, lambda: world.db.update(part, change))
    for index, expected in units.items():
        assert bill.written(index) == expected
        found = predicted.units("write", index=index)
        assert expected in found
        assert found.is_exact or fields == ("is_open",)


def test_query_of_keys_only_fetches_each_item_by_itself() -> None:
    world = filled(Stockrooms, parts())
    pattern = world.blueprint.patterns[2]
    bill = billed(world, lambda: world.db.in_state("new").page(10))
    assert bill.reads == 0.5 + 6 * 0.5
    assert planner(world).pattern(pattern, Asked(10)).reads == Amount.exactly(3.5)


def test_query_of_an_index_over_several_attributes_is_rounded_once() -> None:
    world = filled(Stockrooms, parts())
    bill = billed(world, lambda: list(world.db.on_shelf("north", "s0").all()))
    assert bill.reads == 1.5  # four items of 2.8 KB: 12 KB, halved
    assert planner(world).pattern(world.blueprint.patterns[1]).reads == Amount.exactly(1.5)


# --- pages, filters, batches, transactions, expiry -----------------------------------------------------------


def test_film_of_several_pages_is_rounded_page_by_page() -> None:
    world = filled(Reels, film(count=25, size=90_000))
    bill = billed(world, lambda: list(world.db.reels("f1").all()))
    assert len(bill.requests) == 3
    planned = planner(world)
    pattern = world.blueprint.patterns[0]
    known = planned.answered(pattern, [[each.sizes for each in bill.requests]])
    assert known.reads == Amount.exactly(bill.reads)
    paged = paged_pattern(pattern)
    assert bill.reads in planned.pattern(paged).reads
    (first, *_) = bill.requests
    assert (
        first.total in planned.pattern(pattern).reads
    )  # one request: a page ends with the item that fills it


def paged_pattern(pattern: PatternBlueprint) -> PatternBlueprint:
    return replace(pattern, reads=tuple(replace(read, is_paged=True) for read in pattern.reads))


@pytest.mark.parametrize("limit", [2, 3, 20])
def test_filter_reads_more_than_it_returns(limit: int) -> None:
    world = filled(Reels, film(count=18, size=3_000))
    planned, pattern = planner(world), world.blueprint.patterns[1]
    bill = billed(world, lambda: world.db.cut("f1").page(limit))
    assert bill.reads in planned.pattern(pattern, Asked(limit)).reads
    known = planned.answered(pattern, [[each.sizes for each in bill.requests]])
    assert known.reads == Amount.exactly(bill.reads)


def test_batch_rounds_each_item_by_itself() -> None:
    world = filled(Reels, film(count=4, size=4_500))
    bill = billed(world, lambda: world.db.some("f1", [0, 1, 2, 9]).found())
    assert bill.reads == 3 * 1.0 + 0.5  # 4.5 KB are two blocks, halved; one is not there
    pattern = world.blueprint.patterns[2]
    assert bill.reads in planner(world).pattern(pattern, Asked(keys=4)).reads
    known = planner(world).answered(pattern, [[each.sizes for each in bill.requests]])
    assert known.reads == Amount.exactly(bill.reads)


def test_writes_of_a_batch_take_as_much_as_one_by_one() -> None:
    world = filled(Reels, film(count=3, size=2_500))
    planned = planner(world)
    new = [*film("f2", count=3, size=2_500)]
    old = [*world.db.reels("f1").all()]
    bill = billed(world, lambda: world.db.batch(*map(Put, new), *map(Delete, old)))
    once = planned.write("create", entity(world, "Reel")).writes
    gone = planned.write("delete", entity(world, "Reel")).writes
    assert once * 3 + gone * 3 == Amount.exactly(bill.writes)


def test_transaction_doubles_the_table_and_its_checks() -> None:
    world = filled(Reels, film(count=2, size=2_500))
    planned = planner(world)
    (first, _), (new,) = world.db.reels("f1").all(), film("f2", count=1, size=2_500)
    bill = billed(world, lambda: world.db.transaction(Create(new), Check(first)))
    reel = entity(world, "Reel")
    predicted = [planned.transacted("create", reel), planned.transacted("check", reel)]
    assert sum(each.writes.mean for each in predicted) == bill.writes == 2 * (3 + 3)
    assert all(each.writes.is_exact for each in predicted)


def test_expiry_is_free_and_stands_in_the_workload() -> None:
    world = filled(Reels, [Pass(pass_id="p1")])
    assert planner(world).expired(entity(world, "Pass")).writes == Amount.exactly(0)


def test_failed_condition_takes_the_units_of_the_item() -> None:
    world = filled(Reels, film(count=2, size=2_500))
    failed = planner(world).failed("create", entity(world, "Reel"))
    assert failed.writes == Amount.exactly(3)


def test_item_moves_to_its_new_key_by_a_transaction() -> None:
    world = filled(Reels, film(count=2, size=2_500))
    moved = planner(world).moved_key(entity(world, "Reel"))
    assert moved.writes == Amount.exactly(2 * 3 * 2)
    assert moved.reads == Amount.exactly(2)
