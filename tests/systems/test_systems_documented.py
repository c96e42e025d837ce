"""Designs as their documents have them beside those that run: what cites a document, what was changed and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from singletable.blueprint import Blueprint
from singletable.blueprint.differences import differences
from singletable.cli import main
from singletable.systems import System, installed_systems
from systems.documented import citing_files, covered_lines, has_test, lines_of

SYSTEMS = installed_systems()
DOCUMENTS = ("000", "001", "002", "003", "004")

each_system = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def documented(system: System) -> Blueprint:
    blueprint = system.documented()
    assert blueprint is not None
    return blueprint


# --- citations ------------------------------------------------------------------------------------------


def citations() -> Iterator[tuple[Path, str]]:
    for path in citing_files():
        for found in re.findall(r"\b00\d:\d+(?:-\d+)?", path.read_text(encoding="utf-8")):
            yield path, found


def test_documents_are_those_of_the_systems() -> None:
    ids = [each.id for system in SYSTEMS.values() for each in documented(system).documents]
    assert sorted(ids) == list(DOCUMENTS)


def test_every_citation_begins_and_ends_in_a_line_that_a_documented_design_has() -> None:
    covered = {line for system in SYSTEMS.values() for line in covered_lines(documented(system))}
    cited = list(citations())
    assert len(cited) > 1_500
    ends = {found: {min(lines_of(found)), max(lines_of(found))} for _, found in cited}
    assert [(path.name, found) for path, found in cited if not ends[found] <= covered] == []


# --- differences ----------------------------------------------------------------------------------------

# What the document neither asks for nor gets wrong.
WITHOUT_A_DEFECT = {
    "kefir": set[str](),
    "lunch_cache": {
        *(f"alarms.Monthly spend of ${usd}" for usd in (5, 10, 25)),  # the same, under names of CloudWatch
        *(f"alarms.lunch-cache-{{environment}}-bill-{usd}-usd" for usd in (5, 10, 25)),
    },
    "perfectit": set[str](),
    "smart_cooking": {
        # Suggestions are taken from stored recipes too (002:310); these find them by an ingredient.
        "entities.RecipeUse",
        "entities.Recipe.attributes.ingredient_names",
        "entities.RecipeIngredient.attributes.normalized_name",
        "patterns.49",
    },
}


@each_system
def test_every_difference_names_its_defect(system: System) -> None:
    found = differences(documented(system), system.blueprint())
    assert {part.path for part in found.parts if not part.fixes} == WITHOUT_A_DEFECT[system.name]


@each_system
def test_command_tells_every_defect_once_with_its_repair(
    system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["blueprint", "diff", f"{system.name}:documented", system.name]) == 1
    text = capsys.readouterr().out
    for fix in system.fixes():
        assert text.count(f"{fix.id}: {fix.defect.rstrip('.')}. Repaired: {fix.repair}\n") == 1


@each_system
def test_every_fix_has_parts_and_tests(system: System) -> None:
    assert [fix.id for fix in system.fixes() if not fix.parts or not fix.proof] == []
    assert [name for fix in system.fixes() for name in fix.proof if not has_test(name)] == []
