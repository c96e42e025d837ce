"""docs/reference/peers.md shows what was kept of the other engines, and every reason is in use."""

from __future__ import annotations

import pytest

from golden.peers.engines import ENGINES
from golden.peers.page import PAGE, render
from golden.peers.results import kept


def test_page_is_what_the_reasons_and_kept_runs_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run PYTHONPATH=tests python -m golden.peers.page"


@pytest.mark.parametrize("engine", ENGINES)
def test_reasons_are_those_of_the_kept_run(engine: str) -> None:
    reasons = [difference.reason for difference in ENGINES[engine].differences]
    assert len(set(reasons)) == len(reasons)
    assert set(kept(engine).differing) == set(reasons)


@pytest.mark.parametrize("engine", ENGINES)
def test_figures_of_the_kept_run_add_up(engine: str) -> None:
    result = kept(engine)
    assert result.agreeing + sum(map(len, result.differing.values())) == result.vectors
    assert len(result.reasons()) == result.vectors - result.agreeing
