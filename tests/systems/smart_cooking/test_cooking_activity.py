"""Activity of a month: doings are counted once each, in their own month, however often they are told of."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from singletable import Change
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.model.entities import CookingHistory, CookingStatus, MonthlyActivity
from singletable_systems.smart_cooking.model.keys import HistoryId, RecipeId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.activity import cooked as cooked_once
from singletable_systems.smart_cooking.rules.activity import made, month_of
from singletable_systems.smart_cooking.services.cooking_history import Cooking
from singletable_systems.smart_cooking.services.ratings import Ratings
from singletable_systems.smart_cooking.services.recipes import Recipes
from support.targets import TARGETS
from systems.cooking_recipes import cooked, written
from systems.cooking_streams import handle
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up

MONTH = "2023-11"
AT = datetime(2023, 11, 14, tzinfo=UTC)


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        sign_up(db, ADA, BO, CY)
        yield db


def activity(db: SmartCooking, month: str = MONTH) -> MonthlyActivity:
    return db.activity(month).consistent().one()


@pytest.mark.parametrize(
    ("at", "month"),
    [
        (datetime(2025, 1, 31, 23, 59, 59, tzinfo=UTC), "2025-01"),
        (datetime(2025, 2, 1, tzinfo=UTC), "2025-02"),
        (datetime(2025, 2, 1, 6, tzinfo=timezone(timedelta(hours=7))), "2025-01"),
    ],
)
def test_month_is_that_of_utc(at: datetime, month: str) -> None:
    assert month_of(at) == month


def change(old: CookingHistory | None, new: CookingHistory | None) -> Change[CookingHistory]:
    return Change(old, new, is_expired=False, at=AT, sequence_number="1", event_id="e1")


def entry(status: CookingStatus) -> CookingHistory:
    return CookingHistory(
        history_id=HistoryId("h1"), user_id=BO, recipe_id=RecipeId("r1"), status=status, created_at=AT
    )


def test_only_what_is_made_is_counted_as_made() -> None:
    begun, done = entry("started"), entry("completed")
    changes = {"made": change(None, begun), "changed": change(begun, done), "deleted": change(done, None)}
    assert [name for name, each in changes.items() if list(made("recipes", each))] == ["made"]


def test_only_what_comes_to_its_end_is_counted_as_cooked() -> None:
    states = [None, entry("started"), entry("cancelled"), entry("completed")]
    counted = [
        (old and old.status, new and new.status)
        for old in states
        for new in states
        if list(cooked_once(change(old, new)))
    ]
    assert counted == [(None, "completed"), ("started", "completed"), ("cancelled", "completed")]


def test_what_is_done_in_a_month_is_counted(db: SmartCooking) -> None:
    recipe = written(db)
    written(db, is_public=False)
    Ratings(db).rate(BO, recipe.recipe_id, 5)
    Ratings(db).rate(CY, recipe.recipe_id, 4)
    cooked(db, BO, recipe.recipe_id)
    handle(db)
    assert activity(db) == MonthlyActivity(month=MONTH, recipes=2, ratings=2, cookings=1)


def test_what_is_changed_or_deleted_later_was_done_once(db: SmartCooking) -> None:
    recipe = written(db)
    Ratings(db).rate(BO, recipe.recipe_id, 5)
    Ratings(db).rate(BO, recipe.recipe_id, 1)
    Ratings(db).unrate(BO, recipe.recipe_id)
    entry = cooked(db, BO, recipe.recipe_id)
    Cooking(db).complete(BO, entry.created_at, entry.history_id, personal_rating=4)
    Cooking(db).favorite(BO, entry.created_at, entry.history_id)
    begun = Cooking(db).start(CY, recipe.recipe_id)
    Cooking(db).cancel(CY, begun.created_at, begun.history_id)
    Recipes(db).delete(ADA, recipe.recipe_id)
    handle(db)
    assert activity(db) == MonthlyActivity(month=MONTH, recipes=1, ratings=1, cookings=1)


def test_what_is_told_of_again_is_counted_once(db: SmartCooking) -> None:
    recipe = written(db)
    Ratings(db).rate(BO, recipe.recipe_id, 5)
    cooked(db, BO, recipe.recipe_id)
    handle(db, times=3)
    once = activity(db)
    handle(db, times=2)
    assert activity(db) == once == MonthlyActivity(month=MONTH, recipes=1, ratings=1, cookings=1)


def test_cooking_counts_in_the_month_in_which_it_was(db: SmartCooking, clock: ManualClock) -> None:
    recipe_id = written(db).recipe_id
    entry = Cooking(db).start(BO, recipe_id)
    clock.advance(20 * 86_400)
    Cooking(db).complete(BO, entry.created_at, entry.history_id, cook_date=entry.created_at)
    cooked(db, CY, recipe_id)
    handle(db)
    assert (activity(db).cookings, activity(db, "2023-12").cookings) == (1, 1)
