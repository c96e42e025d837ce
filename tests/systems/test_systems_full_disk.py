"""A disk that fills up while a system is seeded: it is said plainly, and the rest is added when there is room."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from resilience.crash.faulty_disk import Fault, faulty_disk
from resilience.crash.verify import assert_sound
from singletable.cli import main
from singletable_systems.kefir import Kefir

DAY = datetime.now(UTC).date().isoformat()  # of another day, devices would be expired
ENDLESS = 1_000_000


@pytest.mark.parametrize("at", [20, 500, 900])
def test_seed_on_a_full_disk_says_so_and_is_completed_by_adding(
    tmp_path: Path, at: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kefir.db"
    command = ["seed", "kefir", "--day", DAY, "--target", str(path)]
    with faulty_disk(path) as disk:
        disk.arm(Fault.DISK_FULL, at=at, calls=ENDLESS)
        assert main(command) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith(f"error: ST806: {path}: the disk is full")
        assert "hint: make room" in said.err
        disk.disarm()
        assert main([*command, "--add"]) == 0
    with Kefir.open(str(path), stage="dev", create=False) as db:
        assert db.verify().items == 1056
        assert db.verify().is_clean
    assert_sound(path)
