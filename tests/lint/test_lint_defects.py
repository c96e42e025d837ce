"""Known defects of the documented systems: each that can be found from a blueprint is found, at its place."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from singletable.cli.blueprint import find_blueprint
from singletable.lint import lint
from singletable.lint.rule import all_rules
from singletable.systems import installed_systems

SYSTEMS = ("kefir", "smart-cooking", "perfectit", "lunch-cache")
FILES = sorted((Path(__file__).parent / "defects").glob("*.toml"))
ROWS = {path.stem: tomllib.loads(path.read_text()) for path in FILES}
FOUND = [(family, row) for family, rows in ROWS.items() for row in rows.get("found", ())]
JUDGEMENTS = [(family, row) for family, rows in ROWS.items() for row in rows.get("judgement", ())]


@lru_cache
def _findings(system: str) -> tuple[tuple[str, frozenset[str]], ...]:
    blueprint = find_blueprint(system)
    return tuple((each.code, frozenset(each.places(blueprint))) for each in lint(blueprint))


def _title(value: object) -> str | None:
    return f"{value['defect']}-{value['code']}" if isinstance(value, dict) else None


@pytest.mark.parametrize(("family", "row"), FOUND, ids=_title)
def test_defect_of_documented_system_is_found_at_its_places(family: str, row: dict[str, Any]) -> None:
    places = set(row["places"])
    found = [at for code, at in _findings(f"{row['system']}:documented") if code == row["code"]]
    assert places
    assert places <= frozenset().union(*found), (row["code"], [sorted(at) for at in found])


@pytest.mark.parametrize("system", SYSTEMS)
def test_nothing_is_found_on_system_that_runs(system: str) -> None:
    assert _findings(system) == ()


@pytest.mark.parametrize("family", ROWS)
def test_rows_of_family_name_rules_of_family_and_systems_that_are_there(family: str) -> None:
    found = [row for name, row in FOUND if name == family]
    assert found or any(name == family for name, _ in JUDGEMENTS)
    assert {row["code"] for row in found} <= {code for code in all_rules() if code.startswith(family)}
    assert {row["system"] for row in found} <= set(SYSTEMS)


def test_no_row_is_told_twice() -> None:
    told = [(row["system"], row["code"], *row["places"], row["defect"]) for _, row in FOUND]
    assert len(told) == len(set(told))


def test_no_defect_is_both_found_and_left_to_judgement() -> None:
    found = {row["defect"] for _, row in FOUND}
    left = {row["defect"] for _, row in JUDGEMENTS}
    assert found.isdisjoint(left)
    assert all(row["because"] for _, row in JUDGEMENTS)


LEDGER = {fix.id: fix.severity for system in installed_systems().values() for fix in system.fixes()}


def test_every_defect_is_found_or_left_to_judgement_with_a_reason() -> None:
    told = {row["defect"] for _, row in (*FOUND, *JUDGEMENTS)}
    wanted = {defect for defect, severity in LEDGER.items() if severity in "EWD"}
    assert len(LEDGER) == 163
    assert told <= set(LEDGER)
    assert wanted <= told
