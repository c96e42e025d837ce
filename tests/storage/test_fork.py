"""A forked child goes on with a file through its own connections; memory stays with its parent."""

from __future__ import annotations

from pathlib import Path

import pytest

from resilience.crash import children, forking
from resilience.crash.verify import assert_sound

FILE_SCENARIOS = {
    "a child reads and writes, its parent goes on": forking.child_reads_and_writes,
    "a child reads the past with the view of its parent": forking.child_reads_the_past,
    "a child closes, its parent goes on": forking.child_closes,
    "a grandchild writes": forking.grandchild_writes,
    "processes of multiprocessing write": forking.multiprocessing_writes,
    "forks while other threads write and read": forking.fork_beside_busy_threads,
    "forks while an index is being filled": forking.fork_beside_a_backfill,
}
MEMORY_SCENARIOS = {
    "a child gets an error, its parent goes on": forking.child_uses_memory_of_parent,
    "a child makes a database of its own": forking.child_makes_its_own_memory,
    "a child that ends leaves the backups": forking.child_leaves_backups_of_memory,
}


@pytest.mark.parametrize("scenario", FILE_SCENARIOS.values(), ids=FILE_SCENARIOS.keys())
def test_file_is_shared_with_forked_children(scenario: object, tmp_path: Path) -> None:
    children.run("forking", scenario.__name__, tmp_path / "app.db")  # type: ignore[attr-defined]
    assert_sound(tmp_path / "app.db")


@pytest.mark.parametrize("scenario", MEMORY_SCENARIOS.values(), ids=MEMORY_SCENARIOS.keys())
def test_memory_stays_with_the_process_that_made_it(scenario: object) -> None:
    children.run("forking", scenario.__name__)  # type: ignore[attr-defined]
