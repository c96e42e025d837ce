"""Trending: the score is as stated, only the fifty best are written, and of these only what has changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.model.entities import CookingHistory, Recipe
from singletable_systems.smart_cooking.model.keys import HistoryId, RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.recipes import Recipes
from singletable_systems.smart_cooking.services.trending import RANKED_MAX, WINDOW_DAYS, Trending, points_of
from support.design_clients import WRITES
from support.targets import TARGETS
from systems.cooking_recipes import cooked, raters, written
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched

DAY_S = 86_400


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        sign_up(db, ADA, BO, CY)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        sign_up(db, ADA, BO, CY)
        yield db


def ranking(db: SmartCooking) -> list[tuple[RecipeId, int]]:
    return [(rank.recipe_id, rank.score) for rank in db.ranking().all()]


def activity(
    db: SmartCooking, user_id: UserId, recipe_id: RecipeId, ago: timedelta, number: int = 0
) -> CookingHistory:
    """Store something that was cooked some time ago."""
    at = db.now() - ago
    return db.create(
        CookingHistory(
            history_id=HistoryId(f"{recipe_id}-{user_id}-{number}"),
            user_id=user_id,
            recipe_id=recipe_id,
            status="completed",
            cook_date=at,
            created_at=at,
        )
    ).entity


# --- the score ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ago", "points"),
    [
        (timedelta(0), 7),
        (timedelta(days=1) - timedelta(milliseconds=1), 7),
        (timedelta(days=1), 6),
        (timedelta(days=6), 1),
        (timedelta(days=7) - timedelta(milliseconds=1), 1),
        (timedelta(days=7), 0),
        (timedelta(days=30), 0),
    ],
)
def test_points_go_down_by_one_a_day(ago: timedelta, points: int) -> None:
    now = datetime.fromisoformat("2025-01-20T12:00:00+00:00")
    assert points_of(now - ago, now) == points


def test_ranking_is_that_of_the_last_week(db: SmartCooking) -> None:
    pho, bun, old = (written(db, title=title).recipe_id for title in ("Phở", "Bún", "Old"))
    activity(db, BO, pho, timedelta(hours=1))
    activity(db, CY, pho, timedelta(days=2))
    activity(db, ADA, bun, timedelta(hours=5))
    activity(db, BO, old, timedelta(days=8))
    assert Trending(db).refresh() == 2
    assert ranking(db) == [(pho, 12), (bun, 7)]
    assert [recipe.title for recipe in db.trending().all()] == ["Phở", "Bún"]


def test_one_user_counts_once_for_a_recipe_by_the_last_time(memory: SmartCooking) -> None:
    pho = written(memory).recipe_id
    for days in (3, 1, 2):
        activity(memory, BO, pho, timedelta(days=days), days)
    Trending(memory).refresh()
    assert ranking(memory) == [(pho, 6)]


def test_what_is_not_shown_or_not_completed_does_not_count(memory: SmartCooking) -> None:
    pho, bun = written(memory, title="Phở").recipe_id, written(memory, title="Bún").recipe_id
    Accounts(memory).set_privacy(BO, profile_visibility="private")
    cooked(memory, BO, pho)
    cooked(memory, CY, bun)
    hidden = cooked(memory, CY, written(memory, title="Hidden").recipe_id)
    Recipes(memory).unpublish(ADA, hidden.recipe_id)
    gone = cooked(memory, CY, written(memory, title="Gone").recipe_id)
    Recipes(memory).delete(ADA, gone.recipe_id)
    assert Trending(memory).refresh() == 1
    assert ranking(memory) == [(bun, 7)]


def test_ranking_is_that_of_counting_everything(memory: SmartCooking) -> None:
    chance = random.Random(11)
    recipes = [written(memory, title=f"Recipe {number}").recipe_id for number in range(60)]
    users = raters(memory, 10)
    last: dict[tuple[RecipeId, UserId], timedelta] = {}
    for number in range(400):
        recipe_id, user_id = chance.choice(recipes), chance.choice(users)
        ago = timedelta(seconds=chance.randrange(10 * DAY_S))
        activity(memory, user_id, recipe_id, ago, number)
        who = (recipe_id, user_id)
        last[who] = min(ago, last.get(who, ago))
    scores: dict[RecipeId, int] = {}
    for (recipe_id, _), ago in last.items():
        scores[recipe_id] = scores.get(recipe_id, 0) + max(0, WINDOW_DAYS - ago.days)
    best = sorted(((score, recipe_id) for recipe_id, score in scores.items() if score), reverse=True)
    expected = [(recipe_id, score) for score, recipe_id in best[:RANKED_MAX]]
    assert len(expected) == RANKED_MAX
    Trending(memory).refresh()
    assert ranking(memory) == expected
    assert memory.verify().is_clean


# --- what is written -----------------------------------------------------------------------------------------


def test_what_is_the_same_is_not_written_again(memory: SmartCooking, clock: ManualClock) -> None:
    pho, bun = written(memory, title="Phở").recipe_id, written(memory, title="Bún").recipe_id
    cooked(memory, BO, pho)
    cooked(memory, BO, bun)
    Trending(memory).refresh()
    seen, between = watched(memory)
    clock.advance(60)
    assert Trending(seen).refresh() == 0
    assert not WRITES & set(between.operations())
    cooked(memory, CY, pho)
    between.calls.clear()
    assert Trending(seen).refresh() == 1
    assert [call.operation for call in between.calls if call.operation in WRITES] == ["TransactWriteItems"]
    assert "Scan" not in between.operations()
    assert ranking(memory) == [(pho, 14), (bun, 7)]


def test_what_falls_out_is_deleted(memory: SmartCooking, clock: ManualClock) -> None:
    pho, bun = written(memory, title="Phở").recipe_id, written(memory, title="Bún").recipe_id
    cooked(memory, BO, pho)
    clock.advance(4 * DAY_S)
    cooked(memory, BO, bun)
    Trending(memory).refresh()
    assert ranking(memory) == [(bun, 7), (pho, 3)]
    clock.advance(4 * DAY_S)
    assert Trending(memory).refresh() == 2
    assert ranking(memory) == [(bun, 3)]


def test_rank_that_stays_the_same_does_not_expire(memory: SmartCooking, clock: ManualClock) -> None:
    pho = written(memory).recipe_id
    users = raters(memory, 12)
    for day in range(12):
        activity(memory, users[day], pho, timedelta(0))
        Trending(memory).refresh()
        clock.advance(DAY_S)
    assert ranking(memory) == [(pho, sum(range(1, 8)))]
    assert memory.ranking().one().counted_at > memory.now() - timedelta(days=4)


def test_ranking_that_nobody_keeps_any_more_goes_away(memory: SmartCooking, clock: ManualClock) -> None:
    cooked(memory, BO, written(memory).recipe_id)
    Trending(memory).refresh()
    clock.advance(WINDOW_DAYS * DAY_S)
    assert memory.trending().first() is None


def test_recipe_that_is_deleted_meanwhile_gets_no_rank(memory: SmartCooking) -> None:
    recipe: Recipe = written(memory)
    cooked(memory, BO, recipe.recipe_id)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Recipes(memory).delete(ADA, recipe.recipe_id)

    between.before = overtake
    assert Trending(slow).refresh() == 0
    assert ranking(memory) == []


# --- as a worker ---------------------------------------------------------------------------------------------


def test_worker_counts_a_page_a_step(memory: SmartCooking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("singletable_systems.smart_cooking.services.trending._PAGE_ACTIVITIES", 4)
    pho = written(memory).recipe_id
    for user_id in raters(memory, 10):
        activity(memory, user_id, pho, timedelta(hours=1))
    worker = Trending(memory).worker()
    steps = [worker.run_step()]
    while steps[-1].more:
        assert ranking(memory) == []
        steps.append(worker.run_step())
    assert len(steps) >= 3
    assert steps[-1].done == 1
    assert ranking(memory) == [(pho, 70)]
    again = worker.run_step()
    assert (again.more, ranking(memory)) == (True, [(pho, 70)])
