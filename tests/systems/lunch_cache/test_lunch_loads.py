"""The loads of Lunch Cache are within what its document states."""

from __future__ import annotations

import pytest

from singletable.systems import find_system
from systems.described import cited, monthly

BLUEPRINT = find_system("lunch_cache").blueprint()


def test_reads_and_writes_are_at_the_upper_end_of_the_document() -> None:
    assert monthly(cited(BLUEPRINT, "004:142", "pattern")) == pytest.approx(500 * 30)
    assert monthly(cited(BLUEPRINT, "004:143", "pattern")) == pytest.approx(50 / 7 * 30)
    assert monthly(cited(BLUEPRINT, "004:143", "create", "update")) == pytest.approx(50 / 7 * 30)
    assert monthly(cited(BLUEPRINT, "004:143", "service")) == pytest.approx(50 / 7 * 30)


def test_older_rates_of_patterns_agree_with_their_loads() -> None:
    loads = {load.of: load.monthly or 0 for load in BLUEPRINT.loads if load.kind == "pattern"}
    rates = {each.method: each.rps for each in BLUEPRINT.patterns if each.rps}
    assert {*rates} == {"store_menu", "menu"}
    for method, rps in rates.items():
        assert loads[method] == pytest.approx(rps * 30 * 86_400)


def test_nobody_counts_its_users() -> None:
    assert BLUEPRINT.users is None
    assert all(load.monthly_per_user is None for load in BLUEPRINT.loads)
