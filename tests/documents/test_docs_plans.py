"""What pages say of plans is what is planned."""

from __future__ import annotations

import subprocess
import sys

from documents.blocks import ROOT


def test_pages_and_pictures_show_what_is_planned() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "insert_plans.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
