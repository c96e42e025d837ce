"""The planner against the engine: what it predicts for a call of each service of the four systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from singletable.blueprint import StepBlueprint
from singletable.errors import DeclarationError
from singletable.planning.amounts import Amount, total
from singletable.planning.profile import profile_items
from singletable.planning.workload import Planner
from singletable.systems.steps import read_steps
from singletable_systems.kefir import Kefir
from support.metered import Bill
from support.planned import seeded, widest
from systems import cooking_calls, kefir_calls, lunch_calls, perfectit_calls
from systems.service_calls import ServiceCall

CALLS: dict[str, Callable[[Any], Iterator[ServiceCall]]] = {
    "kefir": kefir_calls.calls,
    "lunch_cache": lunch_calls.calls,
    "perfectit": perfectit_calls.calls,
    "smart_cooking": cooking_calls.calls,
}


@cache
def called(name: str) -> tuple[Planner, list[tuple[str, Bill]]]:
    """Call every service of a system; the profile has the table before, before deletions, and afterwards."""
    _, world = seeded(name)
    seen = [profile_items(world.blueprint, world.items())]
    found = []
    for service, call in CALLS[name](world.db):
        if "delet" in service:
            seen.append(profile_items(world.blueprint, world.items()))
        with world.meter.bill() as bill:
            call()
        found.append((service, bill))
    seen.append(profile_items(world.blueprint, world.items()))
    return Planner(world.blueprint, profile=widest(seen)), found


@pytest.mark.parametrize("name", CALLS)
def test_every_service_is_called_and_has_steps(name: str) -> None:
    planner, found = called(name)
    assert {service for service, _ in found} == {each.name for each in planner.blueprint.services}
    assert [each.name for each in planner.blueprint.services if not each.steps] == []


@pytest.mark.parametrize("name", CALLS)
def test_service_takes_what_is_predicted(name: str) -> None:
    planner, found = called(name)
    services = {each.name: each for each in planner.blueprint.services}
    for service, bill in found:
        predicted = planner.service(services[service])
        reads, writes = predicted.units("read", by="call"), predicted.units("write", by="call")
        assert bill.reads in reads, f"{service}: {bill.reads} is not {reads}"
        assert bill.writes in writes, f"{service}: {bill.writes} is not {writes}"
        for index in planner.blueprint.indexes:
            measured = bill.written(index.name)
            assert measured in predicted.units("write", by="call", index=index.name), (service, index.name)


@pytest.mark.parametrize("name", CALLS)
def test_steps_name_only_what_the_service_is_said_to_ask_and_write(name: str) -> None:
    planner, _ = called(name)
    for service in planner.blueprint.services:
        written = {each.of for each in service.steps if each.kind in ("create", "put", "update", "delete")}
        assert written <= {*service.writes}, service.name


@pytest.mark.parametrize("name", CALLS)
def test_expected_units_are_near_those_of_all_calls_together(name: str) -> None:
    planner, found = called(name)
    services = {each.name: each for each in planner.blueprint.services}
    # What is deleted varies most, and most days that an index is filled from have no cards.
    kept = [each for each in found if "delet" not in each[0] and each[0] != "IndexFiller.run"]
    calls = [planner.service(services[service]) for service, _ in kept]
    reads = total(call.units("read", by="call") for call in calls)
    writes = total(call.units("write", by="call") for call in calls)
    assert reads.mean == pytest.approx(sum(bill.reads for _, bill in kept), rel=0.5)
    assert writes.mean == pytest.approx(sum(bill.writes for _, bill in kept), rel=0.5)


# --- the text of steps ----------------------------------------------------------------------------------


def test_steps_are_read_from_a_line() -> None:
    text = "own_batch [ ~Batch(status) ?User ] due:20 reminders!*Reminder/Batch devices*0-3~1 -Device %User"
    assert read_steps(text, Kefir) == (
        StepBlueprint("pattern", "own_batch"),
        StepBlueprint("update", "Batch", ("status",), together=1),
        StepBlueprint("check", "User", together=1),
        StepBlueprint("pattern", "due", limit=20),
        StepBlueprint("pattern", "reminders", per=("Reminder", "Batch"), is_consistent=True),
        StepBlueprint("pattern", "devices", least=0, most=3, expected=1),
        StepBlueprint("delete", "Device"),
        StepBlueprint("plan", "User"),
    )


@pytest.mark.parametrize("text", ["own_bach", "+Bach", "~Batch(status", "-Device*Device/Nobody"])
def test_step_that_the_design_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(DeclarationError):
        read_steps(text, Kefir)


def test_service_without_steps_has_no_units_and_says_so() -> None:
    planner, _ = called("kefir")
    service = planner.blueprint.services[0]
    bare = planner.service(type(service)(service.name))
    assert bare.reads == bare.writes == Amount.exactly(0)
    assert bare.notes == (f"what one call of {service.name} does is not declared",)
