"""`make unit` and `make check` run every test, once, whichever process it falls to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.paths import ROOT

CONFTEST = """
import pytest

@pytest.fixture
def said():
    return "{said}"
"""
TESTS = """
import pytest

def test_one(said):
    with open("{log}", "a") as log:
        print("{name} one", said, file=log)

@pytest.mark.skipif("False")
def test_two():
    with open("{log}", "a") as log:
        print("{name} two", file=log)

@pytest.mark.filterwarnings("ignore")
def test_marked():
    raise AssertionError("left out")
"""


def run(*paths: Path, processes: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "run_tests.py"), "-n", str(processes)]
    command += ["-m", "not filterwarnings", *map(str, paths)]
    return subprocess.run(command, cwd=paths[0], capture_output=True, text=True, check=False, timeout=60)


def test_every_test_runs_once_with_the_fixtures_of_its_folder(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for folder in ("", "inner"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "conftest.py").write_text(CONFTEST.format(said=folder or "outer"))
        for name in "abc":
            file = tmp_path / folder / f"test_{folder}{name}.py"
            file.write_text(TESTS.format(log=log, name=folder + name))
    done = run(tmp_path, processes=2)
    assert done.returncode == 0, done.stdout
    expected = [f"{name} one outer" for name in "abc"] + [f"inner{name} one inner" for name in "abc"]
    expected += [f"{folder}{name} two" for folder in ("", "inner") for name in "abc"]
    assert sorted(log.read_text().splitlines()) == sorted(expected)


def test_test_that_fails_and_file_that_cannot_be_imported_are_told(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text("def test_it():\n    assert 1 == 2\n")
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    done = run(tmp_path, processes=2)
    assert done.returncode == 1, done.stdout
    assert "FAILED test_failing.py::test_it" in done.stdout
    assert "ERROR test_broken.py" in done.stdout
