"""`make check` finds the tests of whatever is changed."""

from __future__ import annotations

import importlib.util
import re
from pathlib import PurePath
from types import ModuleType

import pytest

from support.paths import ROOT

PACKAGES = sorted(
    path.relative_to(ROOT)
    for folder in ("singletable", "singletable_systems")
    for path in (ROOT / "src" / folder).iterdir()
    if path.suffix in ("", ".py") and path.stem not in ("__init__", "__main__", "__pycache__", "py")
)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("touched_rooms", ROOT / "scripts" / "touched_rooms.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_every_package_has_a_room_of_tests(script: ModuleType, package: PurePath) -> None:
    rooms = script.rooms_of(package / "something.py" if not package.suffix else package)
    assert rooms
    assert all(any((ROOT / room).rglob("test_*.py")) for room in rooms)


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_room_of_the_same_name_is_never_left_out(script: ModuleType, package: PurePath) -> None:
    own = f"tests/{package.stem}"
    rooms = script.rooms_of(package / "something.py" if not package.suffix else package)
    assert own in rooms or not (ROOT / own).is_dir()


@pytest.mark.parametrize(
    ("changed", "room"),
    [
        ("src/singletable/design/kept/unique.py", "tests/design/kept"),
        ("src/singletable/design/design.py", "tests/design"),
        ("src/singletable_systems/kefir/model/keys.py", "tests/systems/kefir"),
        ("tests/engine/test_engine_items.py", "tests/engine/test_engine_items.py"),
        ("tests/resilience/crash/writer.py", "tests/resilience"),
        ("README.md", "tests/documents/test_docs_blocks.py"),
        ("src/singletable_systems/shared/services.py", "tests/systems"),
        ("tests/support/targets.py", "tests"),
        ("Makefile", "tests/documents"),
    ],
)
def test_change_has_its_own_room(script: ModuleType, changed: str, room: str) -> None:
    assert script.rooms_of(PurePath(changed)) == {room}


def test_marks_of_the_makefile_are_marks_of_pytest() -> None:
    """A mark that pytest does not know would end a target before its first test."""
    known = set(re.findall(r'^    "(\w+): ', (ROOT / "pyproject.toml").read_text(), re.MULTILINE))
    used = re.findall(r'(?:QUICK :=|pytest .*-m) "?([\w ]+)', (ROOT / "Makefile").read_text())
    words = {word for text in used for word in text.split()} - {"not", "and", "or"}
    assert words <= known


def test_what_has_no_tests_of_its_own_has_no_room(script: ModuleType) -> None:
    assert script.rooms_of(PurePath("LICENSE")) == set()
