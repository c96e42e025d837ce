"""Systems that are found by their entry points, and what is said of those that cannot be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from singletable.cli import main
from singletable.errors import TargetError
from singletable.systems import find_system, installed_systems

WORKING = "from singletable_systems.kefir.operating.system import SYSTEM\n"


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that Python finds packages in."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(packages: Path, name: str, module: str, code: str) -> None:
    """Put a package there that names a system, as an installer does."""
    information = packages / f"{module}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[singletable.systems]\n{name} = {module}:SYSTEM\n")
    (packages / f"{module}.py").write_text(code)


def test_system_of_another_package_is_found_by_its_name(packages: Path) -> None:
    install(packages, "brewery", "found_brewery", WORKING)
    assert find_system("brewery") is installed_systems()["brewery"] is find_system("kefir")


@pytest.mark.parametrize("asked", ["tea-house", "tea_house"])
def test_hyphen_in_the_name_of_a_system_is_an_underscore(packages: Path, asked: str) -> None:
    install(packages, "tea-house", "found_tea_house", WORKING)
    assert find_system(asked) is find_system("kefir")
    assert "tea_house" in installed_systems()


BROKEN = {
    "import": ("import not_there_at_all\n", "ModuleNotFoundError: No module named 'not_there_at_all'"),
    "no-name": ("OTHER = 1\n", "AttributeError: module 'found_broken_no_name' has no attribute 'SYSTEM'"),
    "no-system": ("SYSTEM = 5\n", "it is no System, but int"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_system_that_cannot_be_loaded_is_named_with_its_package(packages: Path, kind: str) -> None:
    code, why = BROKEN[kind]
    module = f"found_broken_{kind.replace('-', '_')}"
    install(packages, "broken", module, code)
    with pytest.raises(TargetError) as told:
        find_system("broken")
    assert told.value.message == f"the system 'broken' ({module}:SYSTEM) cannot be loaded: {why}"
    assert told.value.hint.startswith(f"repair {module}, ")
    assert find_system("kefir").name == "kefir"  # those that are asked for by name are not its victims


def test_list_of_all_systems_says_which_one_is_broken(
    packages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(packages, "broken", "found_broken_list", "1 / 0\n")
    assert main(["run", "--list"]) == 2
    assert "the system 'broken' (found_broken_list:SYSTEM) cannot be loaded" in capsys.readouterr().err
