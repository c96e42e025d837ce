"""What holds of every plan: more never costs less, two designs cost their sum, a batch is no cheaper in pieces."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.blueprint import Blueprint, IndexBlueprint, KeyBlueprint, KeyPart, PlaceBlueprint
from singletable.planning.amounts import NOTHING, Amount, stepped, total
from singletable.planning.rules import paged_read_units, read_units, write_units
from singletable.planning.workload import Planner, Workload
from singletable.systems import installed_systems

NAMES = st.sampled_from([*installed_systems()])
SIZES = st.integers(0, 400 * 1024)
FACTORS = st.floats(1, 100)
few_examples = settings(max_examples=20)  # each is a plan of a whole system, or two


@cache
def blueprint(name: str) -> Blueprint:
    return installed_systems()[name].blueprint()


def planned(made: Blueprint) -> Workload:
    return Planner(made).workload()


def is_no_less(more: Amount, less: Amount) -> bool:
    pairs = ((more.low, less.low), (more.mean, less.mean), (more.high, less.high))
    return all(one >= other * (1 - 1e-9) for one, other in pairs)


@given(SIZES, SIZES)
def test_larger_item_never_takes_less(first: int, second: int) -> None:
    small, large = sorted((first, second))
    for units in (read_units, write_units):
        assert is_no_less(units(Amount.exactly(large)), units(Amount.exactly(small)))


@given(st.lists(SIZES, min_size=1, max_size=25), st.integers(1, 24))
def test_splitting_a_batch_never_lowers_units(sizes: list[int], at: int) -> None:
    def taken(part: list[int]) -> Amount:
        return total(write_units(Amount.exactly(size)) for size in part)

    assert is_no_less(taken(sizes[:at]) + taken(sizes[at:]), taken(sizes))


@given(st.lists(SIZES, min_size=1, max_size=10), st.integers(1, 9))
def test_splitting_a_page_never_lowers_units(sizes: list[int], at: int) -> None:
    def taken(part: list[int]) -> Amount:
        return read_units(Amount.exactly(sum(part)))

    whole = taken(sizes)
    assert is_no_less(taken(sizes[:at]) + taken(sizes[at:]), whole)
    paged = paged_read_units(Amount.exactly(1), Amount.exactly(sum(sizes)))
    assert paged.high >= whole.high


@given(SIZES, SIZES, SIZES)
def test_range_of_steps_keeps_its_order(one: int, two: int, three: int) -> None:
    found = stepped(Amount(*sorted((one, two, three))), 1_024)
    assert found.low <= found.mean <= found.high


@few_examples
@given(NAMES, st.data(), FACTORS)
def test_higher_rate_never_takes_less(name: str, data: st.DataObject, factor: float) -> None:
    made = blueprint(name)
    loads = [load for load in made.loads if load.kind in ("pattern", "create", "update", "delete")]
    chosen = data.draw(st.sampled_from(loads))
    raised = replace(
        chosen,
        monthly=None if chosen.monthly is None else chosen.monthly * factor,
        monthly_per_user=None if chosen.monthly_per_user is None else chosen.monthly_per_user * factor,
        peak_per_s=None if chosen.peak_per_s is None else chosen.peak_per_s * factor,
    )
    before, after = planned(made), planned(with_load(made, chosen, raised))
    assert is_no_less(after.reads_month, before.reads_month)
    # A pattern that writes makes some of its entity's writes: those are counted with it, and not twice.
    if chosen.kind != "pattern":
        assert is_no_less(after.writes_month, before.writes_month)


def with_load(made: Blueprint, old: object, new: object) -> Blueprint:
    return replace(made, loads=tuple(new if load is old else load for load in made.loads))  # type: ignore[misc]


@few_examples
@given(NAMES, st.data(), FACTORS)
def test_larger_items_never_take_less(name: str, data: st.DataObject, factor: float) -> None:
    made = blueprint(name)
    chosen = data.draw(st.sampled_from(made.volumes))
    upto = None if chosen.upto_kb is None else chosen.upto_kb * factor
    raised = replace(chosen, kb=chosen.kb * factor, upto_kb=upto)
    volumes = tuple(raised if each is chosen else each for each in made.volumes)
    before, after = planned(made), planned(replace(made, volumes=volumes))
    assert is_no_less(after.writes_month, before.writes_month)
    assert is_no_less(after.reads_month, before.reads_month)
    assert is_no_less(after.stored_bytes, before.stored_bytes)


@few_examples
@given(NAMES, st.data())
def test_another_index_never_takes_less(name: str, data: st.DataObject) -> None:
    made = blueprint(name)
    chosen = data.draw(st.sampled_from([each for each in made.entities if each.places]))
    field = data.draw(st.sampled_from([each.name for each in chosen.attributes]))
    key = KeyBlueprint(("X1PK",), f"X#{{{field}}}", (KeyPart(field, "str", field),), "X")
    place = PlaceBlueprint("added", key, index="X1")
    entities = tuple(
        replace(each, places=(*each.places, place)) if each is chosen else each for each in made.entities
    )
    index = IndexBlueprint("X1", ("X1PK",))
    before, after = planned(made), planned(replace(made, entities=entities, indexes=(*made.indexes, index)))
    assert is_no_less(after.writes_month, before.writes_month)
    assert is_no_less(after.stored_bytes, before.stored_bytes)


@few_examples
@given(st.lists(NAMES, min_size=2, max_size=2, unique=True))
def test_plan_of_two_designs_is_the_sum(names: list[str]) -> None:
    first, second = (planned(blueprint(name)) for name in names)
    lines = [*first.lines, *second.lines]
    both = Workload(None, tuple(lines), (*first.stored, *second.stored), ())
    for of in ("reads_month", "writes_month", "stored_bytes"):
        apart = getattr(first, of) + getattr(second, of)
        found = getattr(both, of)
        assert is_no_less(found, apart)
        assert is_no_less(apart, found)


@few_examples
@given(NAMES, st.floats(1, 1_000))
def test_more_users_never_take_less(name: str, factor: float) -> None:
    made = blueprint(name)
    if made.users is None:
        return
    few, many = (Planner(made, made.users * each).workload() for each in (1, factor))
    assert is_no_less(many.writes_month, few.writes_month)
    assert is_no_less(many.stored_bytes, few.stored_bytes)


def test_nothing_is_the_sum_of_nothing() -> None:
    assert total([]) == NOTHING
