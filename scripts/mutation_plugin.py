"""A pytest plugin of `scripts/mutate.py`: notes which tests enter which functions, and runs chosen tests in order.

Marked functions call `enter`. A process that a test starts notes what it enters too, under the name of that test.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_NOTES = os.environ.get("MUTATE_NOTES")
_CHOSEN = os.environ.get("MUTATE_CHOSEN")
_current = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
_entered: set[str] = set()


def enter(function: str) -> None:
    """Note that the test that runs has entered a function."""
    if function not in _entered:
        _entered.add(function)
        _note("entered", _current, function)


def _note(*words: str) -> None:
    if _NOTES is not None:
        with Path(_NOTES).open("a") as notes:
            notes.write("\t".join(words) + "\n")


def pytest_runtest_logstart(nodeid: str) -> None:
    global _current
    _current = nodeid
    _entered.clear()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _note(report.outcome, report.nodeid, str(report.duration))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that were chosen, in the order in which they were chosen."""
    if _CHOSEN is not None:
        places = {name: place for place, name in enumerate(Path(_CHOSEN).read_text().splitlines())}
        items[:] = sorted(
            (item for item in items if item.nodeid in places), key=lambda item: places[item.nodeid]
        )
