"""The pictures of the systems in the documentation are those that their designs give."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support.paths import ROOT

SCRIPT = ROOT / "scripts" / "draw_systems.py"


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_systems", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_those_of_the_designs() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_check_names_a_picture_that_differs_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load_script()
    monkeypatch.setattr(script, "FOLDER", tmp_path / "systems")
    assert script.main([]) == 0
    assert sorted(path.name for path in (tmp_path / "systems").iterdir()) == [
        "kefir.html",
        "kefir.svg",
        "lunch_cache.html",
        "lunch_cache.svg",
        "perfectit.html",
        "perfectit.svg",
        "smart_cooking.html",
        "smart_cooking.svg",
    ]
    (tmp_path / "systems" / "kefir.svg").write_text("<svg/>")
    assert script.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "error: kefir.svg differs from its design\n\nhint: run python scripts/draw_systems.py\n"
    )
    assert (tmp_path / "systems" / "kefir.svg").read_text() == "<svg/>"
