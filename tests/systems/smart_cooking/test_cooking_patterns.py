"""Every access pattern of Smart Cooking on data full of traps: exact results, order, cursors, requests, units."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import BatchGet, Collect, Composed, Followed, Merged, Query, Walk
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.model.entities import Recipe, RecipeRating
from singletable_systems.smart_cooking.model.patterns import NamesFound
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from support.opened_designs import opened_design
from support.targets import TARGETS
from systems.brute_force import milliseconds
from systems.cooking_brute_force import CookingBruteForce
from systems.cooking_dishes import CUISINES, HEAVY_METHOD, MEAL_TYPES, METHODS, USED
from systems.cooking_proof import Proof, opened_proof
from systems.cooking_questions import QUESTIONS
from systems.cooking_society import HEAVY_POST
from systems.cooking_streams import handle
from systems.cooking_traps import AGES, COOKS, HEAVY_USER, NOW
from systems.cooking_world import make_world
from systems.questions import Question

moments = st.builds(
    lambda age, finer, zone: (NOW - age + finer * timedelta(microseconds=1)).astimezone(zone),
    st.sampled_from(AGES),
    st.integers(-2000, 2000),
    st.builds(timezone, st.integers(-23 * 60, 23 * 60).map(lambda minutes: timedelta(minutes=minutes))),
)
DOCUMENTED = {str(number) for number in range(1, 43)}


@pytest.fixture(scope="module", params=TARGETS)
def cooking(request: pytest.FixtureRequest) -> Iterator[Proof]:
    with opened_proof(request.param) as proof:
        yield proof


def test_every_pattern_is_asked() -> None:
    assert set(QUESTIONS) == set(SmartCooking.patterns())


def test_every_documented_pattern_is_there() -> None:
    assert {info.number for info in SmartCooking.patterns().values()} >= DOCUMENTED


@pytest.mark.parametrize("name", QUESTIONS)
def test_pattern_finds_what_brute_force_finds(cooking: Proof, name: str) -> None:
    asked = QUESTIONS[name]
    answers = []
    for arguments in asked.arguments:
        plan = getattr(cooking.db, name)(*arguments).cached(seconds=0)
        expected = getattr(cooking.brute, name)(*arguments)
        proves(cooking, asked, plan, expected)
        answers.append(expected)
    assert any(answers)


def proves(cooking: Proof, asked: Question, plan: Any, expected: Any) -> None:
    if isinstance(plan, Query | Merged | Walk | Followed | Composed):
        ties = (lambda entity: [_tied(getattr(entity, name)) for name in asked.ties]) if asked.ties else None
        cooking.finds_many(plan, expected, index=asked.index, ties=ties)
    elif isinstance(plan, BatchGet):
        cooking.finds_some(plan, expected)
    elif isinstance(plan, Collect) and isinstance(expected, NamesFound):
        finds_names(cooking, plan, expected)
    else:
        cooking.finds_one(plan, expected, index=asked.index)


def _tied(value: Any) -> Any:
    return milliseconds(value) if hasattr(value, "tzinfo") else value


def finds_names(cooking: Proof, plan: Any, expected: NamesFound) -> None:
    """Prove a search. Names of several ingredients come in no defined order."""
    with cooking.recorded("GSI2") as calls:
        found = plan.found()
    for kind in ("ingredients", "aliases"):
        names = [[each.normalized_name for each in getattr(names, kind)] for names in (found.item, expected)]
        assert names[0] == names[1]
        assert same(getattr(found.item, kind)) == same(getattr(expected, kind))
    cooking.costs_that(found.usage, calls)


def same(entities: list[Any]) -> list[Any]:
    return sorted(
        entities, key=lambda each: (each.normalized_name, each.ingredient_id, getattr(each, "alias", ""))
    )


# --- traps ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("recipes_of", (HEAVY_USER,)),
        ("recipes_by_method", (HEAVY_METHOD,)),
        ("search_recipes", ("nướng",)),
        ("history", (HEAVY_USER,)),
        ("suggestions", (HEAVY_USER,)),
        ("posts_of", (HEAVY_USER,)),
        ("comments", (HEAVY_POST,)),
        ("comments_of", (HEAVY_USER,)),
        ("notifications", (HEAVY_USER,)),
    ],
)
def test_pattern_reads_on_behind_a_megabyte(cooking: Proof, name: str, arguments: tuple[Any, ...]) -> None:
    calls = cooking.between.calls = []
    list(getattr(cooking.db, name)(*arguments).all())
    if cooking.knows_filters or "FilterExpression" not in calls[0].params:
        assert [call.operation for call in calls] == ["Query", "Query"]


def test_private_recipe_is_in_no_list_but_its_authors(cooking: Proof) -> None:
    listed = [
        *cooking.db.approved_recipes().all(),
        *(each for name in METHODS for each in cooking.db.recipes_by_method(name).all()),
        *(each for name in CUISINES for each in cooking.db.recipes_by_cuisine(name).all()),
        *(each for name in MEAL_TYPES for each in cooking.db.recipes_by_meal_type(name).all()),
        *(each for name in USED for each in cooking.db.recipes_using(name).all()),
        *cooking.db.search_recipes("g").all(),
        *cooking.db.trending().all(),
    ]
    private = {each.recipe_id for each in cooking.db.recipes_of(COOKS[0]).all() if not each.is_public}
    assert private
    assert private.isdisjoint(each.recipe_id for each in listed)


def test_only_approved_recipes_are_suggested_from(cooking: Proof) -> None:
    approved = {each.recipe_id for each in cooking.db.approved_recipes().all()}
    used = {each.recipe_id for name in USED for each in cooking.db.recipes_using(name).all()}
    assert used
    assert used <= approved


def test_recent_activities_are_there_on_the_first_of_a_month(cooking: Proof) -> None:
    page = cooking.db.recent_activities(NOW).page(20)
    assert len({each.cook_date.astimezone(UTC).month for each in page}) > 1


def test_recent_activities_are_of_people_who_show_them(cooking: Proof) -> None:
    cooks = {each.user_id for each in cooking.db.recent_activities(NOW).all()}
    visible = {user: cooking.db.privacy(user).maybe() for user in COOKS}
    assert cooks == {user for user, each in visible.items() if each and each.profile_visibility == "public"}
    assert len(cooks) < len(COOKS)


def test_reverse_lookup_returns_who_asked_me_and_nobody_whom_i_asked(cooking: Proof) -> None:
    for user_id in COOKS:
        asked_me = {each.user_id for each in cooking.db.friended_by(user_id).all()}
        i_asked = {
            each.friend_id for each in cooking.db.friendships(user_id).all() if each.direction == "sent"
        }
        assert asked_me.isdisjoint(i_asked)


def test_private_post_of_a_friend_is_not_in_the_feed(cooking: Proof) -> None:
    feed = cooking.db.feed(HEAVY_USER).all()
    assert all(post.is_public for post in feed)
    assert feed.usage.thrown_away > 9  # private ones, those that are gone, and those of a month ago


def placed(entity: Any) -> list[str]:
    return [part.render() for part in entity.key]


@settings(max_examples=20)
@given(moments, st.integers(1, 366))
def test_lists_of_any_time_in_any_zone(cooking: Proof, now: datetime, days: int) -> None:
    for name in ("recent_activities", "public_feed"):
        found = getattr(cooking.db, name)(now, days).all()
        expected = getattr(cooking.brute, name)(now, days)
        assert sorted(map(placed, found)) == sorted(map(placed, expected))


@settings(max_examples=20)
@given(moments)
def test_posts_before_any_moment_in_any_zone(cooking: Proof, before: datetime) -> None:
    found = {post.post_id for post in cooking.db.posts_before(COOKS[0], before).all()}
    assert found == {post.post_id for post in cooking.brute.posts_before(COOKS[0], before)}


def test_lists_by_ingredient_are_as_the_stream_keeps_them() -> None:
    """The world has them loaded: here the consumer writes them, and the pattern finds the same."""
    dishes = [each for each in make_world().entities if isinstance(each, Recipe | RecipeRating)]
    light = [each for each in dishes if not each.recipe_id.startswith("h")]
    with opened_design(
        SmartCooking, "embedded", ManualClock(int(NOW.timestamp()) * 1_000_000), environment="test"
    ) as db:
        for entity in light:
            db.create(entity)
        handle(db)
        # As they are then: the consumer has approved some.
        recipes = (
            db.recipes([each.recipe_id for each in light if isinstance(each, Recipe)]).consistent().all()
        )
        brute = CookingBruteForce(recipes, NOW)
        for name in USED:
            found = list(db.recipes_using(name).all())
            expected = brute.recipes_using(name)
            assert [each.rating_step for each in found] == [each.rating_step for each in expected]
            assert sorted(found, key=placed) == sorted(expected, key=placed) != []
