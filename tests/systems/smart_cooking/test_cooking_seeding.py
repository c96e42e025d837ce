"""Made-up data of Smart Cooking: consistent, the same for the same day, and led by its first circle."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, TypeVar

import pytest

from singletable import Entity
from singletable.clock import ManualClock
from singletable_systems.smart_cooking import (
    AiSuggestion,
    Comment,
    CookingHistory,
    FeedItem,
    Feeds,
    Friendship,
    InvalidIngredient,
    MasterIngredient,
    MonthlyActivity,
    Notification,
    PantrySource,
    Post,
    PrivacySettings,
    Recipe,
    RecipeRating,
    SmartCooking,
    SuggestionCache,
    Suggestions,
    Trending,
    TrendingRecipe,
    UserId,
    UserProfile,
    Viewing,
)
from singletable_systems.smart_cooking.operating.seeding import CIRCLE_COUNTS, seed
from singletable_systems.smart_cooking.operating.seeding.circles import circle, entity_count
from singletable_systems.smart_cooking.operating.seeding.people import CIRCLE, user_id
from singletable_systems.smart_cooking.operating.seeding.recipes import OTHERS_DAYS_MAX
from singletable_systems.smart_cooking.rules.activity import month_of
from singletable_systems.smart_cooking.rules.approval import earns_approval
from singletable_systems.smart_cooking.rules.fan_out import spread_for
from support.opened_designs import stored_items
from systems.cooking_streams import handle, stored

DAY = date(2026, 11, 16)
NOW = datetime(2026, 11, 16, tzinfo=UTC)
MAI = UserId("mai")
# What handlers and the worker make of all the rest.
FOLLOWING = (FeedItem, Notification, MonthlyActivity, TrendingRecipe)
PARENTS = (MasterIngredient, UserProfile, PrivacySettings, Recipe, Post, InvalidIngredient)
E = TypeVar("E", bound=Entity)


def opened() -> Any:
    return SmartCooking.open(
        ":memory:", environment="dev", clock=ManualClock(int(NOW.timestamp()) * 1_000_000)
    )


@pytest.fixture(scope="module")
def small() -> list[Entity]:
    return list(seed("small", DAY).entities)


@pytest.fixture(scope="module")
def db() -> Iterator[SmartCooking]:
    """A table that nothing is written to, but the seed."""
    with seeded() as db:
        yield db


@contextmanager
def seeded() -> Iterator[SmartCooking]:
    with opened() as db:
        db.load(seed("small", DAY).entities, settled=True)
        yield db


def of(kind: type[E], entities: Iterable[Entity]) -> list[E]:
    return [each for each in entities if isinstance(each, kind)]


# --- how much -------------------------------------------------------------------------------------------------


def test_seed_has_as_many_entities_as_it_says(small: list[Entity]) -> None:
    assert len(small) == seed("small", DAY).count
    others = (CIRCLE_COUNTS["large"] - 1) * entity_count(1, NOW)
    assert seed("large", DAY).count == len(small) + others


@pytest.mark.parametrize("number", [2, 41, 239])
def test_all_circles_but_the_first_have_as_many(number: int) -> None:
    assert entity_count(number, NOW) == entity_count(1, NOW)


def test_circles_of_another_day_have_as_many() -> None:
    leap_day = datetime(2028, 2, 29, tzinfo=UTC)
    assert [entity_count(number, leap_day) for number in (0, 1)] == [
        entity_count(number, NOW) for number in (0, 1)
    ]


# --- always the same ------------------------------------------------------------------------------------------


def test_same_day_makes_the_same_data(small: list[Entity]) -> None:
    assert list(seed("small", DAY).entities) == small


def test_small_data_is_the_beginning_of_the_large(small: list[Entity]) -> None:
    """But for the activity of those months in which others were there, too: that is in the end."""
    months, since = of(MonthlyActivity, small), month_of(NOW - timedelta(days=OTHERS_DAYS_MAX))
    shared = [each for each in months if each.month >= since]
    alone = len(small) - len(shared)
    assert len(shared) < len(months)
    assert small[alone:] == shared
    assert list(islice(seed("large", DAY).entities, alone)) == small[:alone]


# --- consistent -----------------------------------------------------------------------------------------------


def test_seeded_table_is_clean(db: SmartCooking) -> None:
    assert db.verify().is_clean


def test_circles_do_not_get_into_each_others_way() -> None:
    with seeded() as db:
        before = len(stored_items(db))
        added = db.load([*circle(1, NOW), *circle(2, NOW)], settled=True)
        sizes = Counter(item["PK"]["S"] for item in stored_items(db))
        assert sizes.total() == before + added.items
        assert db.verify().is_clean
    # Users, recipes and posts are the partitions: whatever is listed for all is in indexes.
    assert max(sizes.values()) < 120
    assert len(sizes) > 300


def test_everything_has_happened_before_the_day(small: list[Entity]) -> None:
    names = (
        *("created_at", "updated_at", "cook_date", "approved_at", "added_at", "last_login"),
        *("requested_at", "responded_at", "commented_at"),
    )
    for entity in small:
        for name in names:
            at = getattr(entity, name, None)
            assert at is None or at < NOW


def test_nothing_expires_until_the_last_minute_of_the_day(db: SmartCooking) -> None:
    expiring = [int(item["ttl"]["N"]) for item in stored_items(db) if "ttl" in item]
    assert min(expiring) >= (NOW + timedelta(days=1, minutes=-1)).timestamp()


def test_handlers_would_have_made_the_same_feeds_notifications_and_activity(
    db: SmartCooking,
) -> None:
    with opened() as other:
        made = [each for each in seed("small", DAY).entities if not isinstance(each, FOLLOWING)]
        for kinds in (PARENTS, (Comment,), (Entity,)):  # what is counted comes before those it is counted of
            other.load(SmartCooking.counted(each, ()) for each in made if isinstance(each, kinds))
            made = [each for each in made if not isinstance(each, kinds)]
        handle(other)
        found, settled = _following(other), _following(db)
        assert found.keys() == settled.keys()
        assert [key for key in found if found[key] != settled[key]] == []


def _following(db: SmartCooking) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what handlers write, but for what was read of it."""
    read = {"is_read", "GSI1PK", "GSI1SK"}
    kinds = [{"S": name} for name in ("FEED_ITEM", "NOTIFICATION", "MONTHLY_ACTIVITY")]
    return {
        key: {name: value for name, value in item.items() if name not in read}
        for key, item in stored(db).items()
        if item["entity_type"] in kinds
        and any(item.get(name) != {"N": "0"} for name in ("cookings", "ratings", "recipes", "posts"))
    }


def test_ranking_is_what_is_counted(db: SmartCooking, small: list[Entity]) -> None:
    assert len(of(TrendingRecipe, small)) >= 10
    assert Trending(db).refresh(NOW) == 0


def test_friendships_have_both_rows(small: list[Entity]) -> None:
    rows = {(each.user_id, each.friend_id): each for each in of(Friendship, small)}
    for (own, friend), row in rows.items():
        other = rows[friend, own]
        assert {row.direction, other.direction} == {"sent", "received"}
        assert (row.status, row.friendship_id) == (other.status, other.friendship_id)
    assert {each.status for each in rows.values()} == {"pending", "accepted", "declined"}


@pytest.mark.parametrize("number", [0, 1, 239])
def test_posts_spread_as_the_number_of_friends_says(number: int) -> None:
    entities = list(circle(number, NOW))
    users = {each.user_id: each for each in of(UserProfile, entities)}
    rows = of(Friendship, entities)
    accepted = Counter(row.user_id for row in rows if row.status == "accepted")
    for user in users.values():
        assert user.friends_count == accepted[user.user_id]
        assert user.feeds_by == spread_for(user.friends_count, user.feeds_by)
    for row in rows:
        is_friend = row.status == "accepted"
        assert row.friend_feeds_by == (users[row.friend_id].feeds_by if is_friend else None)


def test_pattern_and_service_show_everybody_the_same_feed(db: SmartCooking) -> None:
    shown = Counter[str]()
    for user in db.users([user_id(number) for number in range(CIRCLE)]).all():
        found = list(db.feed(user.user_id).all())
        assert found == Feeds(db).personal(user.user_id, 100).items
        shown.update("nameless" if post.user_name is None else "named" for post in found)
    assert shown["named"] > shown["nameless"] > 0  # somebody hides the profile


def test_verified_cooks_have_cooked_before_they_rated(small: list[Entity]) -> None:
    cooked = {each.history_id: each for each in of(CookingHistory, small)}
    for rating in of(RecipeRating, small):
        assert rating.is_verified_cook == (rating.history_id is not None)
        if rating.history_id is not None:
            history = cooked[rating.history_id]
            assert (history.user_id, history.recipe_id) == (rating.user_id, rating.recipe_id)
            assert history.status == "completed"
            assert history.created_at < history.cook_date < rating.created_at


def test_nobody_rates_his_own_and_everything_is_rated_after_it_was_written(small: list[Entity]) -> None:
    recipes = {each.recipe_id: each for each in of(Recipe, small)}
    for rating in of(RecipeRating, small):
        recipe = recipes[rating.recipe_id]
        assert recipe.is_public
        assert rating.user_id != recipe.user_id
        assert rating.created_at > recipe.created_at


def test_recipes_are_approved_when_they_have_earned_it(small: list[Entity]) -> None:
    recipes = of(Recipe, [*small, *circle(1, NOW)])
    assert not any(map(earns_approval, recipes))
    assert {(each.is_approved, each.approval_type) for each in recipes} == {
        *((False, None), (True, "auto_rating"), (True, "admin"))
    }


def test_suggestions_name_recipes_that_the_user_may_cook(small: list[Entity]) -> None:
    recipes = {each.recipe_id: each for each in of(Recipe, small)}
    for suggestion in of(AiSuggestion, small):
        assert suggestion.recipes_from_db + suggestion.recipes_from_ai == len(suggestion.recipe_ids) == 3
        for number, recipe_id in enumerate(suggestion.recipe_ids):
            recipe = recipes[recipe_id]
            assert recipe.created_at <= suggestion.created_at
            is_from_db = number < suggestion.recipes_from_db
            assert (recipe.is_approved, recipe.is_ai_generated) == (is_from_db, not is_from_db)


def test_cache_is_hit_as_often_as_suggestions_say(small: list[Entity]) -> None:
    hits = Counter(digest for each in of(AiSuggestion, small) for digest in each.cache_ids)
    cached = {each.digest: each for each in of(SuggestionCache, small)}
    recipes = {each.recipe_id: each for each in of(Recipe, small)}
    assert hits
    for digest, entry in cached.items():
        assert entry.hit_count == hits[digest]
        assert sum(recipes[each].ai_cache_hit_count for each in entry.recipe_ids) == hits[digest]


# --- lists ----------------------------------------------------------------------------------------------------


def test_first_circle_leads_every_list(small: list[Entity]) -> None:
    """So the first pages of a small and of a large table are the same."""
    others = [each for number in (1, 7) for each in circle(number, NOW)]
    for name in ("cooking_method", "cuisine_type", "meal_type", "is_approved"):
        best: defaultdict[Any, Decimal] = defaultdict(Decimal)
        for recipe in of(Recipe, others):
            best[getattr(recipe, name)] = max(best[getattr(recipe, name)], recipe.rating_step)
        better = Counter(
            getattr(each, name)
            for each in of(Recipe, small)
            if each.rating_step > best[getattr(each, name)] and each.is_public
        )
        assert better.most_common(1)[0][1] >= 10, name
    newest_post = max(each.created_at for each in of(Post, others) if each.is_public)
    assert sum(each.created_at > newest_post and each.is_public for each in of(Post, small)) >= 10
    newest_cooking = max(each.cook_date for each in of(CookingHistory, others) if each.status == "completed")
    shown = [
        each
        for each in of(CookingHistory, small)
        if (each.status, each.visibility) == ("completed", "public")
    ]
    assert sum(each.cook_date > newest_cooking for each in shown) >= 10
    assert of(TrendingRecipe, others) == []
    most_reported = max(each.total_reports for each in of(InvalidIngredient, others))
    pending = [each for each in of(InvalidIngredient, small) if each.status == "pending"]
    assert sum(each.total_reports > most_reported for each in pending) >= 6


def test_seeded_lists_are_full(db: SmartCooking) -> None:
    lists = (
        db.approved_recipes(),
        db.recipes_by_method("stir-fry"),
        db.recipes_by_cuisine("Vietnamese"),
        db.recipes_by_meal_type("main"),
        db.recipes_using("Thịt gà"),
        db.recent_activities(NOW),
        db.public_feed(NOW),
        db.trending(),
    )
    for found in lists:
        assert len(found.page(5).items) == 5
    for mine in (db.feed(MAI), db.unread(MAI), db.favorites(MAI), db.history(MAI), db.suggestions(MAI)):
        assert mine.page(5).items
    (chicken,) = db.ingredients_named("gà").one().aliases
    assert (chicken.ingredient_name, chicken.alias) == ("Thịt gà", "gà")
    assert db.admins().first() is not None


def test_people_see_what_others_show(db: SmartCooking) -> None:
    viewing = Viewing(db)
    profile = viewing.profile(user_id(2), viewer=MAI)
    assert (profile.full_name, profile.email) == ("Lê Bình", None)


def test_seeded_table_can_be_asked_for_suggestions() -> None:
    with seeded() as db:
        given = Suggestions(db, PantrySource()).suggest(MAI, ["chicken", "kryptonite"], count=3)
        assert [recipe.is_approved for recipe in given.recipes] == [True, False, False]
        assert given.recipes[0].title == "Gà xào sả ớt"
        assert given.suggestion.invalid_ingredients == ["kryptonite"]
        assert db.verify().is_clean
