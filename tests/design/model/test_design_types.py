"""Type checkers accept right programs and reject wrong ones, without a plugin: mypy and pyright, both strict.

A line of a wrong program that must be reported ends with `# error`. No other line may be.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from mypy import api as mypy

from clients.environments import CannotInstallError, Client
from support.paths import TESTS, TYPE_CACHE

TYPING: Final = TESTS / "typing"
DESIGNS: Final = [TESTS / "designs" / f"{name}.py" for name in ("cards", "cooking", "kefir", "lunch")]
PROGRAMS: Final = [*sorted(TYPING.glob("*/*.py")), *DESIGNS]
PATHS: Final = [str(TESTS.parent / "src"), str(TESTS)]
CHECK_S_MAX: Final = 120.0

_MYPY_LINE: Final = re.compile(r"(?P<file>.+?):(?P<line>\d+): error: ")

Lines = dict[str, list[int]]


class _Pyright(Client):
    """Pyright as its authors publish it, of which the tests pin a version."""

    @property
    def directory(self) -> Path:
        return TYPING


def test_mypy_reports_the_marked_lines_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYPYPATH", os.pathsep.join(PATHS))
    options = ["--strict", "--config-file=", "--explicit-package-bases", "--no-error-summary"]
    printed, said, _ = mypy.run([*options, "--cache-dir", str(TYPE_CACHE / "programs"), *map(str, PROGRAMS)])
    assert said == ""
    found = [_MYPY_LINE.match(line) for line in printed.splitlines()]
    assert reported((Path(each["file"]), int(each["line"])) for each in found if each) == marked(), printed


def test_pyright_reports_the_marked_lines_and_no_others(tmp_path: Path) -> None:
    # Built from pyright's source, with everything that it runs on inside the package.
    check(tmp_path, [sys.executable, "-m", "basedpyright"])


@pytest.mark.clients
def test_pyright_of_its_authors_reports_the_same(tmp_path: Path) -> None:
    pyright = _Pyright("pyright")
    try:
        pyright.install()
    except CannotInstallError as reason:
        pytest.skip(str(reason))
    check(tmp_path, [str(pyright.programs / "pyright"), "--pythonpath", sys.executable])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_only_wrong_programs_have_marks(program: Path) -> None:
    marks = marked().get(relative(program), [])
    assert bool(marks) == (program.parent.name == "wrong")


def check(directory: Path, command: list[str]) -> None:
    """Run pyright or what is built from it, and compare what it reports with the marks."""
    settings: Mapping[str, Any] = {
        "include": [os.path.relpath(path, directory) for path in PROGRAMS],
        "extraPaths": PATHS,
        "pythonVersion": "3.11",
        "typeCheckingMode": "strict",
    }
    config = directory / "pyrightconfig.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    ran = subprocess.run(
        [*command, "--outputjson", "--project", str(config)],
        capture_output=True,
        text=True,
        timeout=CHECK_S_MAX,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer["summary"]["filesAnalyzed"] == len(PROGRAMS)
    errors = [each for each in answer["generalDiagnostics"] if each["severity"] == "error"]
    lines = ((Path(each["file"]), each["range"]["start"]["line"] + 1) for each in errors)
    assert reported(lines) == marked(), json.dumps(errors, indent=1)


def marked() -> Lines:
    """Return the marked lines of each program that has some."""
    marks = {}
    for path in PROGRAMS:
        lines = path.read_text(encoding="utf-8").splitlines()
        marks[relative(path)] = [number for number, line in enumerate(lines, 1) if line.endswith("  # error")]
    return {name: lines for name, lines in marks.items() if lines}


def reported(errors: Any) -> Lines:
    """Return the lines that were reported, each once."""
    lines: dict[str, set[int]] = {}
    for path, line in errors:
        lines.setdefault(relative(path), set()).add(line)
    return {name: sorted(found) for name, found in sorted(lines.items())}


def relative(path: Path) -> str:
    return path.resolve().relative_to(TESTS).as_posix()
