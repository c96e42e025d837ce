"""Systems as data: services, which do what they declare, with their loads; roles, alarms and fixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.blueprint import Blueprint, BlueprintError, FixBlueprint, led_by_owner
from singletable.cli.seed import fill
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.errors import DeclarationError, SingleTableError
from singletable.systems import Service, System, installed_systems
from singletable_systems.kefir import Kefir
from support.design_clients import on_client
from systems import kefir_life, lunch_life
from systems.described import Watch, public_calls
from systems.kefir_users import ADA, BO, settle_in
from systems.test_systems_roles_of_large import USES

SYSTEMS = installed_systems()
DAY = date(2026, 11, 16)
NOW = datetime.combine(DAY, time(), UTC)
ASSUMPTIONS = ("assumption", "follows from", "one item a ", "each ")

each_system = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


# --- loads ----------------------------------------------------------------------------------------------


@each_system
def test_every_pattern_entity_and_service_has_a_load_with_a_reason(system: System) -> None:
    blueprint = system.blueprint()
    loads = {(load.kind, load.of): load for load in blueprint.loads}
    assert len(loads) == len(blueprint.loads)
    assert {of for kind, of in loads if kind == "pattern"} == {each.method for each in blueprint.patterns}
    assert {of for kind, of in loads if kind == "service"} == {each.name for each in blueprint.services}
    written = {of for kind, of in loads if kind in ("create", "update", "delete")}
    assert written == {each.name for each in blueprint.entities}
    assert {of for kind, of in loads if kind == "create"} == written
    assert {of for kind, of in loads if kind in ("delete", "expire")} >= _deleted(blueprint)
    for load in blueprint.loads:
        assert load.monthly is not None
        assert load.peak_per_s is not None
        assert load.because[:3].isdigit() or load.because.startswith(ASSUMPTIONS), load.because


def _deleted(blueprint: Blueprint) -> set[str]:
    """Name the entities whose items go without being asked for: they expire, or go with those that own them."""
    owned = {name for entity in blueprint.entities for name in entity.owns}
    return owned | {entity.name for entity in blueprint.entities if entity.ttl is not None}


@each_system
def test_load_of_a_user_and_of_all_agree(system: System) -> None:
    blueprint = system.blueprint()
    for load in blueprint.loads:
        if load.monthly_per_user is not None:
            assert blueprint.users is not None
            assert load.monthly == pytest.approx(load.monthly_per_user * blueprint.users)
        assert load.monthly is not None
        assert load.peak_per_s is not None
        assert load.peak_per_s >= load.monthly / (30 * 86_400) * 0.999


@each_system
def test_rates_are_the_mean_of_the_loads(system: System) -> None:
    blueprint = system.blueprint()
    loads: dict[tuple[str, str], float] = {
        (load.kind, load.of): load.monthly or 0 for load in blueprint.loads
    }
    for rate in blueprint.rates:
        for kind, mean in (("create", rate.creates), ("update", rate.updates), ("delete", rate.deletes)):
            assert mean * 30 * 86_400 == pytest.approx(loads.get((kind, rate.entity), 0))


@each_system
def test_every_public_method_is_in_a_service(system: System) -> None:
    declared = {call.__qualname__ for service in system.services for call in service.calls}
    assert declared == {name for name, _ in public_calls(system)}


# --- what services do -----------------------------------------------------------------------------------


def _use_kefir(db: Any) -> None:
    settle_in(db, ADA)
    settle_in(db, BO)
    for deed in (*kefir_life.READING.values(), *kefir_life.WRITING.values()):
        try:
            deed(db)
        except (SingleTableError, StopIteration):
            continue  # one of the deeds before has deleted what it is done with


def _use_lunch(db: Any) -> None:
    lunch_life.settle_in(db)
    for deed in (*lunch_life.READING.values(), *lunch_life.WRITING.values()):
        deed(db)


DEEDS: dict[str, Callable[[Any], object]] = {"kefir": _use_kefir, "lunch_cache": _use_lunch, **USES}


@each_system
def test_services_ask_and_write_what_they_declare(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(system, monkeypatch)
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        environment: dict[str, Any] = dict(system.environment)
        db: Any = on_client(system.design, client, **environment)
        if system.name in USES:
            fill(db, system, system.seed("small", DAY))
        DEEDS[system.name](db)
    assert len(watch.asked) > len(system.services) / 6
    not_declared = {
        service.name: more
        for service in system.services
        if (
            more := watch.asked.get(service.name, set()) - {*service.patterns}
            | watch.written.get(service.name, set()) - {entity.__name__ for entity in service.writes}
        )
    }
    assert not_declared == {}
    loads = {(load.kind, load.of) for load in system.blueprint().loads}
    assert watch.kinds or system.name == "lunch_cache"  # whose patterns write
    assert watch.kinds - loads == set()


# --- all of a system ------------------------------------------------------------------------------------


@each_system
def test_blueprint_of_a_system_has_its_roles_and_alarms_and_reads_back(system: System) -> None:
    blueprint = system.blueprint()
    table = blueprint.table.name
    assert {f"{table}-reader", f"{table}-writer"} <= {role.name for role in blueprint.roles}
    resources = {
        each for role in blueprint.roles for statement in role.statements for each in statement.resources
    }
    assert f"arn:${{AWS::Partition}}:dynamodb:${{AWS::Region}}:${{AWS::AccountId}}:table/{table}" in resources
    assert any(alarm.metric == "SuccessfulRequestLatency" for alarm in blueprint.alarms)
    assert blueprint.about == system.title
    assert Blueprint.from_json(blueprint.to_json()) == blueprint
    assert Blueprint.from_toml(blueprint.to_toml()) == blueprint


OWNED = {
    "kefir": {"User", "Batch", "Device"},
    "lunch_cache": set(),
    "perfectit": {"User", "Vote", "Collection", "Notification"},
    "smart_cooking": {
        *("UserProfile", "UserPreferences", "PrivacySettings", "UserIngredient", "CookingHistory"),
        *("AiSuggestion", "Friendship", "FeedItem", "Notification"),
    },
}


@each_system
def test_owner_is_declared_where_a_user_leads_the_keys(system: System) -> None:
    entities = system.blueprint().entities
    assert {each.name for each in entities if each.owner == "user_id"} == OWNED[system.name]
    for entity in entities:
        place = entity.place(None)
        assert place is not None
        named = replace(entity, owner="user_id")
        # An id that others lead the key by, such as that of a session, is no owner.
        assert led_by_owner(named, place) == (entity.owner is not None), entity.name


def test_fixes_are_read_from_their_file(tmp_path: Path) -> None:
    path = tmp_path / "fixes.toml"
    system = replace(SYSTEMS["kefir"], documents=tmp_path)
    assert system.documented() is None
    assert system.blueprint().fixes == ()
    path.write_text('[[fixes]]\nid = "KF-01"\nparts = ["patterns.4"]\ndefect = "no scan"\n', encoding="utf-8")
    assert system.blueprint().fixes == (FixBlueprint("KF-01", ("patterns.4",), "no scan"),)
    path.write_text('[[fixes]]\nid = "KF-01"\nreason = "none"\n', encoding="utf-8")
    with pytest.raises(BlueprintError, match=r"line 3, column 1: .*has no 'reason'"):
        system.blueprint()


def test_service_that_names_what_the_design_lacks_is_refused() -> None:
    some = SYSTEMS["kefir"].services[0]
    with pytest.raises(
        DeclarationError, match="the service start names nothing_like_it, which Kefir does not"
    ):
        Service("start", (), some.load, ("nothing_like_it",)).blueprint(Kefir)
