"""Every access pattern of PerfectIt on data full of traps: exact results, order, cursors, requests, units."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import BatchGet, Followed, Merged, Query, Walk
from singletable_systems.perfectit.model.entities import CardScore
from singletable_systems.perfectit.model.keys import DATE_SHARDS, VOTE_SHARDS, ScoreKind
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from support.targets import TARGETS
from systems.brute_force import milliseconds
from systems.perfectit_proof import Proof, opened_proof, written_items
from systems.perfectit_questions import QUESTIONS
from systems.perfectit_traps import GONE, HATED_CARD, NOW, VOTED_CARD
from systems.perfectit_world import PUBLISHED_BEFORE_NOW

moments = st.builds(
    lambda offset, finer, zone: (NOW - offset + timedelta(microseconds=finer)).astimezone(zone),
    st.sampled_from(PUBLISHED_BEFORE_NOW),
    st.integers(-2000, 2000),
    st.builds(timezone, st.integers(-23 * 60, 23 * 60).map(lambda minutes: timedelta(minutes=minutes))),
)
DOCUMENTED = {str(number) for number in range(1, 20)}


@pytest.fixture(scope="module", params=TARGETS)
def perfectit(request: pytest.FixtureRequest) -> Iterator[Proof]:
    with opened_proof(request.param) as proof:
        yield proof


def test_every_pattern_is_asked() -> None:
    assert set(QUESTIONS) == set(PerfectIt.patterns())


def test_every_documented_pattern_is_there() -> None:
    assert {info.number for info in PerfectIt.patterns().values()} >= DOCUMENTED


@pytest.mark.parametrize("name", QUESTIONS)
def test_pattern_finds_what_brute_force_finds(perfectit: Proof, name: str) -> None:
    asked = QUESTIONS[name]
    answers = []
    for arguments in asked.arguments:
        plan = getattr(perfectit.db, name)(*arguments)
        expected = getattr(perfectit.brute, name)(*arguments)
        assert not isinstance(asked.index, tuple)
        proves(perfectit, plan, expected, asked.index, asked.ties)
        answers.append(expected)
    assert any(answers)


def proves(perfectit: Proof, plan: Any, expected: Any, index: str | None, ties: tuple[str, ...]) -> None:
    if isinstance(plan, Query | Merged | Walk | Followed):
        tied = (lambda entity: [_tied(getattr(entity, name)) for name in ties]) if ties else None
        perfectit.finds_many(plan, expected, index=index, ties=tied)
    elif isinstance(plan, BatchGet):
        perfectit.finds_some(plan, expected)
    else:
        perfectit.finds_one(plan, expected, index=index)


def _tied(value: Any) -> Any:
    return milliseconds(value) if hasattr(value, "tzinfo") else value


@settings(max_examples=20)
@given(moments, st.integers(1, 40))
def test_recent_cards_at_any_moment_in_any_zone(perfectit: Proof, now: datetime, days: int) -> None:
    assert list(perfectit.db.recent(now, days).all()) == perfectit.brute.recent(now, days)


@settings(max_examples=20)
@given(
    st.sampled_from(["CARD", "TRENDING", "CONTROVERSIAL"]),
    st.lists(st.integers(1, 60), min_size=1, max_size=5),
)
def test_ranking_is_the_same_in_pages_of_any_size(
    perfectit: Proof, kind: ScoreKind, sizes: list[int]
) -> None:
    found: list[CardScore] = []
    cursor = None
    for size in cycle(sizes):
        page = perfectit.db.ranking(kind).page(size, cursor)
        found += page
        cursor = page.cursor
        if cursor is None:
            break
    assert found == perfectit.brute.ranking(kind)


# --- the traps are there --------------------------------------------------------------------------------------


def test_lists_leave_out_cards_that_the_stream_has_not_followed_yet(perfectit: Proof) -> None:
    ranked = [score.card_id for score in perfectit.db.ranking().all()]
    listed = [card.card_id for card in perfectit.db.top_voted().all()]
    hidden = set(ranked) - set(listed)
    cards = [perfectit.brute.card(card_id) for card_id in hidden]
    assert {None if card is None else card.status for card in cards} == {None, "DRAFT", "ARCHIVED"}
    assert [card_id for card_id in ranked if card_id not in hidden] == listed


def test_scores_are_in_the_order_of_numbers_below_zero_too(perfectit: Proof) -> None:
    scores = [score.score for score in perfectit.db.ranking().all()]
    assert scores == sorted(scores, reverse=True)
    assert {1000, 10, 9, 1, 0, -1, -9, -10, -1010} <= set(scores)
    assert len(set(scores)) < len(scores) / 2
    first, *_, last = perfectit.db.top_voted().all()
    assert (first.card_id, last.card_id) == (VOTED_CARD, HATED_CARD)


def test_places_hold_more_than_a_page_of_one_megabyte(perfectit: Proof) -> None:
    for index, plan in (
        ("GSI1", perfectit.db.cards_by_category("metal")),  # type: ignore[arg-type]
        ("GSI2", perfectit.db.own_cards("ada2")),  # type: ignore[arg-type]
        (None, perfectit.db.comments("c10")),  # type: ignore[arg-type]
        ("GSI1", perfectit.db.comments_by("ada2")),  # type: ignore[arg-type]
        (None, perfectit.db.collections("ada2")),  # type: ignore[arg-type]
    ):
        with perfectit.recorded(index) as calls:
            list(plan.all())
        assert len(calls) > 1


def test_expired_drafts_and_notifications_are_stored_and_not_found(perfectit: Proof) -> None:
    drafts = [f"d{10**number}" for number in range(6)]
    found = [card.card_id for card in perfectit.db.cards(drafts).all()]  # type: ignore[arg-type]
    assert found == ["d1", "d10", "d100"]
    told = perfectit.db.notifications("ada").all()  # type: ignore[arg-type]
    assert (len(list(told)), told.usage.read) == (12, 19)  # six are over, one is a stranger
    assert GONE not in {card.card_id for card in perfectit.db.top_voted().all()}


# --- partitions that are spread -------------------------------------------------------------------------------


def test_shared_partitions_are_as_many_as_the_options_say() -> None:
    """One of each is what the document has."""
    items = [item for item in written_items() if item["entityType"]["S"] != "Stranger"]
    votes = {item["GSI5PK"]["S"] for item in items if "GSI5PK" in item}
    of_cards = sorted(pk for pk in votes if pk.startswith("VOTETYPE#CARD"))
    heavy_day = sorted(
        {item["GSI3PK"]["S"] for item in items if item["PK"]["S"].startswith("CARD#h") and "GSI3PK" in item}
    )
    assert of_cards == _spread("VOTETYPE#CARD", VOTE_SHARDS)
    assert heavy_day == _spread("DATE#2040-02-20", DATE_SHARDS)


def _spread(pk: str, shards: int) -> list[str]:
    return [pk] if shards == 1 else [f"{pk}#{shard}" for shard in range(shards)]


def test_answers_are_the_same_when_partitions_are_spread() -> None:
    """Those of the indexes whose partitions the options spread; no key of the others has a shard in it."""
    wider = {"PERFECTIT_VOTE_SHARDS": "4", "PERFECTIT_DATE_SHARDS": "3"}
    spread = [name for name, asked in QUESTIONS.items() if asked.index in ("GSI3", "GSI5")]
    wanted = [
        "test_shared_partitions_are_as_many_as_the_options_say",
        *(f"test_pattern_finds_what_brute_force_finds[embedded-{name}]" for name in spread),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
        + [f"{__file__}::{name}" for name in wanted],
        env={**os.environ, **wider},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert f"{len(wanted)} passed" in done.stdout
