"""What plain files survive, encrypted files survive too: the decisive tests of this room again, with a key.

The layer of the cipher loses errors of the reads below it; `page_sums.c` keeps them.
"""

# ruff: noqa: F401
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from resilience.crash.almost_full_log import Template
from resilience.test_crash_every_write import (
    _count_calls,
    _die_and_verify,
    template,
    test_death_in_the_middle_of_every_write_loses_nothing,
)
from resilience.test_crash_kill import (
    test_nothing_is_lost_in_a_hundred_kills,
    test_two_killed_processes_lose_nothing,
)
from resilience.test_crash_powercut import (
    test_power_cut_loses_nothing_of_a_log_and_of_those_who_live_by_it,
    test_power_cut_under_concurrent_writers_loses_nothing,
)
from resilience.test_faults_reads import (
    _write_with_a_failing_read,
    test_failed_read_anywhere_spoils_nothing,
    test_failed_read_is_an_error_and_the_next_read_works,
    test_failed_read_while_opening_is_not_a_verdict_on_the_file,
)
from resilience.test_model_engine import SHORT, FileMachine, LogFileMachine
from support.encrypted_files import encrypt_files


@pytest.fixture(scope="module", autouse=True)
def encrypted() -> Iterator[None]:
    encrypt_files(on=True)
    yield
    encrypt_files(on=False)


def test_death_in_the_middle_of_a_write_loses_nothing_encrypted(template: Template, tmp_path: Path) -> None:  # noqa: F811
    counting = tmp_path / "counting"
    counting.mkdir()
    calls = _count_calls(template, counting)
    _die_and_verify(template, tmp_path, sorted(Random(7).sample(range(1, calls + 1), 8)))


def test_failed_read_spoils_nothing_encrypted(tmp_path: Path) -> None:
    for at in sorted(Random(71).sample(range(1, 150), 6)):
        _write_with_a_failing_read(tmp_path / f"{at}.db", at)


@pytest.mark.parametrize("machine", [FileMachine, LogFileMachine], ids=["items", "log"])
def test_random_operations_agree_with_the_model_encrypted(
    machine: type[FileMachine | LogFileMachine],
) -> None:
    run_state_machine_as_test(machine, settings=settings(SHORT, max_examples=6))
