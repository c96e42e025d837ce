"""Scores are made of votes to three figures: a card with many votes is seldom moved."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from singletable_systems.perfectit.model.scores import (
    controversial_score,
    rounded,
    top_score,
    trending_score,
)

AT = datetime(2026, 11, 16, tzinfo=UTC)
SCORES: dict[str, Callable[[int, int], int]] = {
    "top": top_score,
    "trending": lambda up, down: trending_score(up, down, AT),
    "controversial": controversial_score,
}


def moves(score: Callable[[int, int], int], votes: list[tuple[int, int]]) -> int:
    """Count how often a card is moved while it gets votes."""
    return sum(score(*before) != score(*after) for before, after in pairwise(votes))


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("down", [0, 3, 500, 995, 1500])
def test_from_a_thousand_votes_on_one_in_ten_moves_a_card(name: str, down: int) -> None:
    votes = [(up, down) for up in range(1000, 2001)]
    assert moves(SCORES[name], votes) <= 100
    assert moves(SCORES[name], [(less, more) for more, less in votes]) <= 100


@pytest.mark.parametrize("name", SCORES)
def test_votes_that_come_from_both_sides_move_a_card_as_seldom(name: str) -> None:
    votes = [(500 + count // 2, 500 + (count + 1) // 2) for count in range(1001)]
    assert moves(SCORES[name], votes) <= 101


@pytest.mark.parametrize("name", SCORES)
def test_from_ten_thousand_votes_on_it_is_one_in_a_hundred(name: str) -> None:
    assert moves(SCORES[name], [(up, 4000) for up in range(10_000, 20_001)]) <= 100


def test_below_a_thousand_votes_each_one_counts() -> None:
    assert moves(top_score, [(up, 0) for up in range(1000)]) == 999
    assert top_score(5, 9) == -4


def test_number_has_three_figures() -> None:
    assert [rounded(number) for number in (0, 999, -999, 1234, 99_960)] == [0, 999, -999, 1230, 100_000]
