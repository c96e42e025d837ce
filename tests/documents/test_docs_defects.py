"""The tables of defects in the READMEs of the systems are those of their fixes."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType
from typing import Final

import pytest

from documents.blocks import ROOT
from singletable.blueprint import FixBlueprint
from singletable.systems import System, installed_systems

SCRIPT: Final = ROOT / "scripts" / "insert_defects.py"
SYSTEMS: Final = installed_systems()


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("insert_defects", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_readme_has_a_row_for_each_fix(script: ModuleType, system: System) -> None:
    text = (ROOT / "src" / "singletable_systems" / system.name / "README.md").read_text(encoding="utf-8")
    assert script.insert(text, script.render(system.fixes())) == text
    assert re.findall(r"(?m)^\| ([A-Z]+-\d+) \| [EWDG] \|", text) == [fix.id for fix in system.fixes()]


def test_check_finds_nothing_to_write(script: ModuleType) -> None:
    assert script.main(["--check"]) == 0


@pytest.mark.parametrize(
    ("defect", "shown"),
    [
        ("A scan.", "A scan"),
        ("SK > EVENT#<timestamp>, which finds too much.", "SK > `EVENT#<timestamp>`, which finds too much"),
        ("cachedAt and is_public are read.", "`cachedAt` and `is_public` are read"),
        ("Nothing keeps # out.", "Nothing keeps `#` out"),
        ("By toISOString() or delete_expired().", "By `toISOString()` or `delete_expired()`"),
        ("A | B", "A \\| B"),
    ],
)
def test_keys_and_names_are_shown_as_code(script: ModuleType, defect: str, shown: str) -> None:
    rows = script.render([FixBlueprint("A-01", (), defect, "None.", "E")])
    assert rows.splitlines()[-1] == f"| A-01 | E | {shown} | None |"


def test_text_without_a_place_is_refused(script: ModuleType) -> None:
    with pytest.raises(script.NoPlaceError, match="no place between <!-- defects -->"):
        script.insert("# A system\n", "rows")
