"""Cooking history: begun, completed, cancelled, liked; kept for good unless there is an archive."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    ChangeRefusedError,
    CookingNotFoundError,
    InvalidInputError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import CookingHistory
from singletable_systems.smart_cooking.model.keys import HistoryId, RecipeId, UserId
from singletable_systems.smart_cooking.reactions.archive import FileArchive
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.cooking_history import YEAR_DAYS, Cooking
from support.opened_designs import stored_item
from support.targets import TARGETS
from systems.cooking_recipes import cooked, written
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched


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


def which(entry: CookingHistory) -> tuple[UserId, datetime, HistoryId]:
    return entry.user_id, entry.created_at, entry.history_id


def now_stored(db: SmartCooking, entry: CookingHistory) -> CookingHistory:
    return db.cooking(*which(entry)).one()


# --- begun and completed --------------------------------------------------------------------------------------


def test_cooking_is_begun_and_completed(db: SmartCooking, clock: ManualClock) -> None:
    recipe = written(db)
    entry = Cooking(db).start(BO, recipe.recipe_id)
    assert now_stored(db, entry) == entry
    assert (entry.status, entry.created_at, entry.ttl) == ("started", db.now(), None)
    assert db.recent_activities(db.now()).first() is None
    clock.advance(3600)
    done = Cooking(db).complete(*which(entry), personal_rating=5, personal_notes="Rất ngon, sẽ nấu lại!")
    assert done == now_stored(db, entry)
    assert (done.status, done.cook_date, done.updated_at) == ("completed", db.now(), db.now())
    assert (done.personal_rating, done.personal_notes) == (5, "Rất ngon, sẽ nấu lại!")
    assert db.history(BO).one() == done
    assert db.recent_activities(db.now()).one() == done


def test_completing_again_changes_what_is_told_and_nothing_else(
    memory: SmartCooking, clock: ManualClock
) -> None:
    entry = cooked(memory, BO, written(memory).recipe_id)
    clock.advance(60)
    same = Cooking(memory).complete(*which(entry))
    assert same == now_stored(memory, entry) == entry
    told = Cooking(memory).complete(*which(entry), personal_rating=3)
    assert (told.personal_rating, told.cook_date, told.version) == (3, entry.cook_date, entry.version + 1)


def test_day_of_cooking_may_be_another_one(memory: SmartCooking) -> None:
    entry = Cooking(memory).start(BO, written(memory).recipe_id)
    yesterday = memory.now() - timedelta(days=1)
    done = Cooking(memory).complete(*which(entry), cook_date=yesterday)
    assert done.cook_date == yesterday
    with pytest.raises(InvalidInputError, match="before now"):
        Cooking(memory).complete(*which(entry), cook_date=memory.now() + timedelta(seconds=1))


@pytest.mark.parametrize("wrong", [{"personal_rating": 6}, {"personal_notes": "x" * 9_000}])
def test_what_makes_no_sense_is_refused(memory: SmartCooking, wrong: dict[str, object]) -> None:
    entry = Cooking(memory).start(BO, written(memory).recipe_id)
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        Cooking(memory).complete(*which(entry), **wrong)  # type: ignore[arg-type]
    assert now_stored(memory, entry).status == "started"


def test_cooking_is_given_up(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    entry = Cooking(memory).start(BO, recipe_id)
    for _ in range(2):
        assert Cooking(memory).cancel(*which(entry)).status == "cancelled"
    with pytest.raises(ChangeRefusedError, match="was cancelled"):
        Cooking(memory).complete(*which(entry))
    with pytest.raises(ChangeRefusedError, match="is completed"):
        Cooking(memory).cancel(*which(cooked(memory, BO, recipe_id)))


def test_cooking_that_is_cancelled_meanwhile_is_not_completed(memory: SmartCooking) -> None:
    entry = Cooking(memory).start(BO, written(memory).recipe_id)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation in ("UpdateItem", "TransactWriteItems"):
            between.before = lambda call: None
            Cooking(memory).cancel(*which(entry))

    between.before = overtake
    with pytest.raises(ChangeRefusedError):
        Cooking(slow).complete(*which(entry))
    assert now_stored(memory, entry).status == "cancelled"


def test_two_of_one_moment_are_two(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    cooking = Cooking(memory)
    first, second = cooking.start(BO, recipe_id), cooking.start(BO, recipe_id)
    assert list(memory.history(BO).all()) == [second, first]


# --- favorites ------------------------------------------------------------------------------------------------


def test_favorites_are_an_index_that_empties_again(db: SmartCooking, clock: ManualClock) -> None:
    recipe_id = written(db).recipe_id
    entries = []
    for _ in range(3):
        clock.advance(60)
        entries.append(cooked(db, BO, recipe_id))
    for entry in entries[:2]:
        Cooking(db).favorite(*which(entry))
    assert [each.history_id for each in db.favorites(BO).all()] == [
        entries[1].history_id,
        entries[0].history_id,
    ]
    for entry in entries[:2]:
        for _ in range(2):
            Cooking(db).unfavorite(*which(entry))
    assert db.favorites(BO).first() is None
    item = stored_item(db, f"USER#{BO}", db.stored_item(entries[0])["SK"]["S"])
    assert item is not None
    assert not {"GSI1PK", "GSI1SK"} & item.keys()


# --- who may, and who sees it ---------------------------------------------------------------------------------


def test_recipe_that_is_not_shown_is_not_cooked(memory: SmartCooking) -> None:
    hidden = written(memory, is_public=False).recipe_id
    for recipe_id in (hidden, RecipeId("nobodys")):
        with pytest.raises(RecipeNotFoundError):
            Cooking(memory).start(BO, recipe_id)
    assert Cooking(memory).start(ADA, hidden).recipe_id == hidden
    memory.update(memory.recipe(hidden), is_ai_generated=True)
    assert Cooking(memory).start(BO, hidden).recipe_id == hidden


def test_nobody_cooks_nothing(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    with pytest.raises(UserNotFoundError):
        Cooking(memory).start(UserId("user-nobody"), recipe_id)


def test_entry_of_somebody_else_is_not_found(memory: SmartCooking) -> None:
    entry = Cooking(memory).start(BO, written(memory).recipe_id)
    cooking = Cooking(memory)
    for act in (cooking.complete, cooking.cancel, cooking.favorite, cooking.unfavorite):
        with pytest.raises(CookingNotFoundError):
            act(CY, entry.created_at, entry.history_id)


def test_what_is_cooked_in_private_is_in_no_list_of_all(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    Accounts(memory).set_privacy(BO, profile_visibility="friends")
    cooked(memory, BO, recipe_id)
    shown = cooked(memory, CY, recipe_id)
    assert memory.recent_activities(memory.now()).one() == shown


# --- kept for a while -----------------------------------------------------------------------------------------


def test_history_is_kept_for_a_year_only_if_there_is_an_archive(memory: SmartCooking, tmp_path: Path) -> None:
    recipe_id = written(memory).recipe_id
    with pytest.raises(InvalidInputError, match="unless there is an archive"):
        Cooking(memory, keep_days=YEAR_DAYS)
    memory.archive = FileArchive(tmp_path)
    entry = Cooking(memory, keep_days=YEAR_DAYS).start(BO, recipe_id)
    assert entry.ttl == datetime(2024, 11, 13, 22, 13, 20, tzinfo=UTC)
    assert Cooking(memory).start(BO, recipe_id).ttl is None
    done = Cooking(memory, keep_days=1).complete(*which(entry))
    assert done.ttl == entry.ttl
    for days in (0, 10**9):
        with pytest.raises(InvalidInputError, match="for 1 to 36,500 days"):
            Cooking(memory, keep_days=days)


@pytest.mark.parametrize("days", [0, -1, 10**6])
def test_lists_of_too_many_days_or_none_are_refused(memory: SmartCooking, days: int) -> None:
    with pytest.raises(InvalidInputError, match=f"of the last 1 to 366 days, not of {days}"):
        memory.recent_activities(memory.now(), days)
    with pytest.raises(InvalidInputError, match=f"of the last 1 to 3660 days, not of {days}"):
        memory.public_feed(memory.now(), days)
