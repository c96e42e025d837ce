"""Ratings: average and count are exact at every moment, and lists move only when the step of 0.1 does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    InvalidInputError,
    RatingRefusedError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import RecipeRating
from singletable_systems.smart_cooking.model.keys import RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.cooking_history import Cooking
from singletable_systems.smart_cooking.services.ratings import Ratings
from singletable_systems.smart_cooking.services.recipes import Recipes
from support.kept_together import records
from support.opened_designs import stored_item
from support.targets import TARGETS
from systems.cooking_recipes import cooked, rate_all, raters, stored, written
from systems.cooking_streams import handle
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched

FACETS = {"FACET#CUISINE", "FACET#MEALTYPE"}


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


def numbers(db: SmartCooking, recipe_id: RecipeId) -> tuple[int, Decimal, Decimal]:
    recipe = stored(db, recipe_id)
    return recipe.rating_count, recipe.average_rating, recipe.rating_step


# --- average and count ---------------------------------------------------------------------------------------


def test_ratings_are_given_changed_and_taken_back(db: SmartCooking, clock: ManualClock) -> None:
    recipe_id = written(db).recipe_id
    ratings = Ratings(db)
    first = ratings.rate(BO, recipe_id, 5, comment="Món này rất ngon!")
    assert (first.rating, first.comment, first.is_verified_cook) == (5, "Món này rất ngon!", False)
    ratings.rate(CY, recipe_id, 2)
    assert numbers(db, recipe_id) == (2, Decimal("3.5"), Decimal("3.5"))
    clock.advance(60)
    changed = ratings.rate(BO, recipe_id, 3)
    assert (changed.rating_id, changed.created_at) == (first.rating_id, first.created_at)
    assert (changed.rating, changed.comment, changed.updated_at) == (3, first.comment, db.now())
    assert ratings.rate(BO, recipe_id, 3, comment="").comment == ""
    assert numbers(db, recipe_id) == (2, Decimal("2.5"), Decimal("2.5"))
    assert db.rating(recipe_id, BO).one().rating == 3
    for _ in range(2):
        ratings.unrate(CY, recipe_id)
        assert numbers(db, recipe_id) == (1, Decimal(3), Decimal(3))
    ratings.unrate(BO, recipe_id)
    assert numbers(db, recipe_id) == (0, Decimal(0), Decimal(0))
    assert db.verify().is_clean


def test_rating_that_is_sent_again_is_written_once(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    seen, between = watched(memory)
    first = Ratings(seen).rate(BO, recipe_id, 4, comment="Good")
    between.calls.clear()
    assert Ratings(seen).rate(BO, recipe_id, 4, comment="Good") == first
    assert set(between.operations()) == {"GetItem"}


def test_numbers_are_those_of_all_ratings_whatever_is_done(memory: SmartCooking) -> None:
    chance = random.Random(7)
    recipe_id = written(memory).recipe_id
    users = raters(memory, 9)
    given: dict[UserId, int] = {}
    for _ in range(120):
        user_id = chance.choice(users)
        if chance.random() < 0.25:
            Ratings(memory).unrate(user_id, recipe_id)
            given.pop(user_id, None)
        else:
            given[user_id] = chance.randint(1, 5)
            Ratings(memory).rate(user_id, recipe_id, given[user_id])
        count, average, step = numbers(memory, recipe_id)
        exact = Decimal(sum(given.values())) / max(1, len(given))
        assert count == len(given)
        assert abs(average - exact) <= Decimal("0.005")
        assert abs(step - exact) <= Decimal("0.05")
    handle(memory)
    assert memory.verify().is_clean


def test_recipe_is_in_its_lists_by_the_step(db: SmartCooking) -> None:
    better, worse = written(db, title="Phở"), written(db, title="Bún")
    users = rate_all(db, worse.recipe_id, [3, 4])
    for user_id in users:
        Ratings(db).rate(user_id, better.recipe_id, 4)
    for listed in (
        db.recipes_by_method("stir-fry"),
        db.recipes_by_cuisine("Vietnamese"),
        db.recipes_by_meal_type("main"),
    ):
        assert [each.recipe_id for each in listed.all()] == [better.recipe_id, worse.recipe_id]


# --- what a rating moves -------------------------------------------------------------------------------------


def changed_by(db: SmartCooking, rate: Any) -> dict[str, tuple[Any, Any]]:
    """Return the items that something changes, by sort key: the key in GSI2 before and after."""
    seen = {record["eventID"] for record in records(db)}
    rate()
    return {
        record["dynamodb"]["Keys"]["SK"]["S"]: tuple(
            record["dynamodb"].get(image, {}).get("GSI2SK", {}).get("S") for image in ("OldImage", "NewImage")
        )
        for record in records(db)
        if record["eventID"] not in seen
    }


def test_rating_that_does_not_change_the_step_moves_no_index_key(memory: SmartCooking) -> None:
    recipe = written(memory)
    rate_all(memory, recipe.recipe_id, [4] * 20 + [5])  # approved by now, with an average of 4.048

    before = numbers(memory, recipe.recipe_id)
    new = UserId("user-one-more")
    sign_up(memory, new)
    changed = changed_by(memory, lambda: Ratings(memory).rate(new, recipe.recipe_id, 4))
    after = numbers(memory, recipe.recipe_id)
    assert (before[0], after[0]) == (21, 22)
    assert (before[1], after[1]) == (Decimal("4.05"), Decimal("4.05"))
    assert before[2] == after[2] == Decimal("4")
    assert changed.keys() == {f"RATING#{new}", "METADATA"}
    assert len(set(changed["METADATA"])) == 1
    assert stored_item(memory, f"RECIPE#{recipe.recipe_id}", "FACET#APPROVED") is not None


def test_rating_that_changes_the_step_moves_all_lists_in_one_transaction(memory: SmartCooking) -> None:
    recipe = written(memory)
    rate_all(memory, recipe.recipe_id, [4] * 5)
    seen, between = watched(memory)
    between.calls.clear()
    changed = changed_by(memory, lambda: Ratings(seen).rate(BO, recipe.recipe_id, 5))
    lists = {"METADATA", "FACET#APPROVED", *FACETS}
    assert changed.keys() == {f"RATING#{BO}", *lists}
    at = "2023-11-14T22:13:20.000Z"
    assert {changed[name] for name in lists} == {(f"RECIPE#4.0#{at}", f"RECIPE#4.2#{at}")}
    [transaction] = [call for call in between.calls if call.operation == "TransactWriteItems"]
    assert written_keys(transaction) >= changed.keys()
    assert {call.operation for call in between.calls} == {"GetItem", "TransactWriteItems"}


def written_keys(call: Call) -> set[str]:
    """Return the sort keys of what a transaction is about."""
    found = set()
    for action in call.params["TransactItems"]:
        [(kind, params)] = action.items()
        found.add((params["Item"] if kind == "Put" else params["Key"])["SK"]["S"])
    return found


def test_rating_costs_as_much_as_it_moves(memory: SmartCooking) -> None:
    """An index key that moves is a delete and a put: what stays in its place costs neither."""
    recipe = written(memory)
    rate_all(memory, recipe.recipe_id, [4] * 20)

    def units(rating: int, user_id: UserId) -> float:
        entity = RecipeRating(
            rating_id=f"r-{user_id}", recipe_id=recipe.recipe_id, user_id=user_id, rating=rating
        )
        return memory.create(entity).units

    stays, moves = units(4, BO), units(1, CY)
    assert numbers(memory, recipe.recipe_id)[2] == Decimal("3.9")
    # Rating and recipe, as transactions write them, and their places in indexes: one and three.
    assert stays == 2 * 2 + 4
    # METHOD# is put and deleted. So is the place of each of three facets, and the facet itself is written.
    assert moves == stays + 1 + 3 * (2 + 2)


# --- races ---------------------------------------------------------------------------------------------------


def test_many_raters_at_once_leave_exact_numbers(db: SmartCooking) -> None:
    recipe_id = written(db).recipe_id
    users = raters(db, 12)

    def work(number: int) -> None:
        ratings = Ratings(db)
        for stars in (1 + number % 5, 5 - number % 3, 1 + (number + 2) % 5):
            ratings.rate(users[number], recipe_id, stars)
        if number % 4 == 0:
            ratings.unrate(users[number], recipe_id)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(12)))
    last = [1 + (number + 2) % 5 for number in range(12) if number % 4]
    count, average, step = numbers(db, recipe_id)
    assert count == len(last) == 9
    assert average == (Decimal(sum(last)) / 9).quantize(Decimal("0.01"))
    assert step == (Decimal(sum(last)) / 9).quantize(Decimal("0.1"))
    listed = db.recipes_by_cuisine("Vietnamese").one()
    assert listed.rating_step == step
    handle(db)
    assert db.verify().is_clean


def test_one_user_at_two_devices_has_one_rating(db: SmartCooking) -> None:
    recipe_id = written(db).recipe_id
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda stars: Ratings(db).rate(BO, recipe_id, stars), [1, 2, 3, 4, 5] * 3))
    [rating] = db.ratings(recipe_id).consistent().all()
    assert numbers(db, recipe_id) == (1, Decimal(rating.rating), Decimal(rating.rating))
    assert db.verify().is_clean


def test_rating_that_was_taken_back_meanwhile_is_made_anew(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    Ratings(memory).rate(BO, recipe_id, 1)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Ratings(memory).unrate(BO, recipe_id)

    between.before = overtake
    assert Ratings(slow).rate(BO, recipe_id, 4).rating == 4
    assert numbers(memory, recipe_id) == (1, Decimal(4), Decimal(4))


def test_recipe_that_is_deleted_meanwhile_is_not_rated(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Recipes(memory).delete(ADA, recipe_id)

    between.before = overtake
    with pytest.raises(RecipeNotFoundError):
        Ratings(slow).rate(BO, recipe_id, 4)
    assert memory.ratings(recipe_id).first() is None


def test_recipe_that_is_hidden_meanwhile_is_not_rated(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    before = rate_all(memory, recipe_id, [4])
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Recipes(memory).unpublish(ADA, recipe_id)

    for user_id in (BO, *before):
        between.before = overtake
        with pytest.raises(RecipeNotFoundError):
            Ratings(slow).rate(user_id, recipe_id, 2)
        assert numbers(memory, recipe_id) == (1, Decimal(4), Decimal(4))
        Recipes(memory).publish(ADA, recipe_id)
    assert memory.rating(recipe_id, BO).maybe() is None
    assert memory.verify().is_clean


def test_recipe_that_is_rated_by_others_meanwhile_is_rated_by_all(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Ratings(memory).rate(CY, recipe_id, 1)

    between.before = overtake
    Ratings(slow).rate(BO, recipe_id, 4)
    assert numbers(memory, recipe_id) == (2, Decimal("2.5"), Decimal("2.5"))


# --- who may -------------------------------------------------------------------------------------------------


def test_author_does_not_rate_his_own_recipe(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    with pytest.raises(RatingRefusedError, match="by others than its author"):
        Ratings(memory).rate(ADA, recipe_id, 5)
    assert numbers(memory, recipe_id)[0] == 0


def test_recipe_that_is_not_shown_is_not_rated(memory: SmartCooking) -> None:
    hidden = written(memory, is_public=False).recipe_id
    for recipe_id in (hidden, RecipeId("nobodys")):
        with pytest.raises(RecipeNotFoundError, match="there is no recipe"):
            Ratings(memory).rate(BO, recipe_id, 5)


def test_nobody_rates_nothing(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    with pytest.raises(UserNotFoundError):
        Ratings(memory).rate(UserId("user-nobody"), recipe_id, 5)
    assert memory.ratings(recipe_id).first() is None


@pytest.mark.parametrize("stars", [0, 6, -1, True, 4.5, "5", None])
def test_rating_is_one_to_five_stars(memory: SmartCooking, stars: Any) -> None:
    with pytest.raises(InvalidInputError, match="rating: Input should be "):
        Ratings(memory).rate(BO, written(memory).recipe_id, stars)


def test_comment_that_is_too_long_is_refused(memory: SmartCooking) -> None:
    with pytest.raises(InvalidInputError, match="comment"):
        Ratings(memory).rate(BO, written(memory).recipe_id, 5, comment="x" * 10_000)


# --- verified cooks -------------------------------------------------------------------------------------------


def test_who_has_cooked_a_recipe_is_a_verified_cook(db: SmartCooking) -> None:
    recipe_id = written(db).recipe_id
    entry = cooked(db, BO, recipe_id)
    rating = Ratings(db).rate(BO, recipe_id, 5, cooked=entry)
    assert (rating.is_verified_cook, rating.history_id) == (True, entry.history_id)
    again = Ratings(db).rate(BO, recipe_id, 4)
    assert (again.is_verified_cook, again.history_id, again.rating) == (True, entry.history_id, 4)


def test_cook_is_verified_in_the_transaction_that_rates(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    entry = cooked(memory, BO, recipe_id)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            memory.delete(memory.cooking(BO, entry.created_at, entry.history_id))

    between.before = overtake
    with pytest.raises(RatingRefusedError, match="has not cooked"):
        Ratings(slow).rate(BO, recipe_id, 5, cooked=entry)
    assert memory.rating(recipe_id, BO).maybe() is None
    assert numbers(memory, recipe_id)[0] == 0


def test_who_has_not_cooked_to_the_end_is_no_verified_cook(memory: SmartCooking) -> None:
    recipe_id, other = written(memory).recipe_id, written(memory, title="Phở").recipe_id
    begun = Cooking(memory).start(BO, recipe_id)
    elsewhere = cooked(memory, BO, other)
    somebody_elses = cooked(memory, CY, recipe_id)
    for entry in (begun, elsewhere, somebody_elses):
        with pytest.raises(RatingRefusedError):
            Ratings(memory).rate(BO, recipe_id, 5, cooked=entry)
    assert numbers(memory, recipe_id)[0] == 0


# --- approval ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stars", "is_approved"),
    [
        ([5, 5, 5, 5], False),
        ([4, 4, 4, 4, 4], True),
        ([5, 5, 5, 4, 1], True),
        ([5, 5, 4, 4, 1], False),
        ([5, 5, 5, 5, 5, 1], True),
    ],
    ids=["too few", "just so", "on average", "too bad", "one against five"],
)
def test_recipe_is_approved_at_the_threshold(
    memory: SmartCooking, stars: list[int], is_approved: bool
) -> None:
    recipe_id = written(memory).recipe_id
    rate_all(memory, recipe_id, stars)
    recipe = stored(memory, recipe_id)
    assert recipe.is_approved == is_approved
    assert recipe.approval_type == ("auto_rating" if is_approved else None)
    assert recipe.approved_at == (memory.now() if is_approved else None)
    assert [each.recipe_id for each in memory.approved_recipes().all()] == [recipe_id] * is_approved


def test_approval_is_never_taken_back_by_ratings(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    users = rate_all(memory, recipe_id, [5] * 5)
    approved_at = stored(memory, recipe_id).approved_at
    for user_id in users:
        Ratings(memory).rate(user_id, recipe_id, 1)
    Ratings(memory).unrate(users[0], recipe_id)
    handle(memory)
    recipe = stored(memory, recipe_id)
    assert (recipe.is_approved, recipe.average_rating, recipe.approved_at) == (True, Decimal(1), approved_at)
    assert memory.approved_recipes().one().rating_step == Decimal(1)


def test_stream_approves_what_a_rater_who_died_has_left(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    for user_id in raters(memory, 5):  # the transaction of a rating, and no more
        memory.create(RecipeRating(rating_id=f"r-{user_id}", recipe_id=recipe_id, user_id=user_id, rating=4))
    assert not stored(memory, recipe_id).is_approved
    handle(memory)
    recipe = stored(memory, recipe_id)
    assert (recipe.is_approved, recipe.approval_type) == (True, "auto_rating")
    assert recipe.approved_at is not None
    version = recipe.version
    handle(memory, times=2)
    assert stored(memory, recipe_id).version == version


def test_recipe_that_is_edited_while_it_is_approved_is_approved(memory: SmartCooking) -> None:
    recipe_id = written(memory).recipe_id
    rate_all(memory, recipe_id, [5] * 4)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if between.operations().count("TransactWriteItems") == 2:  # the rating was the first
            between.before = lambda call: None
            memory.update(memory.recipe(recipe_id), description="New")

    between.before = overtake
    Ratings(slow).rate(BO, recipe_id, 5)
    recipe = stored(memory, recipe_id)
    assert (recipe.is_approved, recipe.description) == (True, "New")
