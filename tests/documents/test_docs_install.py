"""The project installs as the README says, into an environment that has nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from documents.blocks import ROOT


@pytest.mark.soak
@pytest.mark.parametrize(("wanted", "has_boto3"), [(".", False), (".[boto3]", True)])
def test_checkout_installs_into_a_fresh_environment(tmp_path: Path, wanted: str, has_boto3: bool) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    programs = tmp_path / "venv" / "bin"
    subprocess.run([str(programs / "pip"), "install", "--quiet", wanted], check=True, cwd=ROOT)
    version = subprocess.run(
        [str(programs / "singletable"), "--version"], check=True, capture_output=True, text=True
    ).stdout
    assert version.startswith("singletable 0.")
    found = subprocess.run([str(programs / "python"), "-c", "import boto3"], capture_output=True, check=False)
    assert (found.returncode == 0) is has_boto3
