"""Suggestions: approved recipes first, then what was generated before, then new ones; stored and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from hashlib import sha256
from typing import Any, cast

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    ChangeRefusedError,
    InvalidInputError,
    RecipeNotFoundError,
    SuggestionNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import AiSuggestion, Recipe, SuggestionCache
from singletable_systems.smart_cooking.model.keys import RecipeId, SuggestionId, UserId
from singletable_systems.smart_cooking.model.names import normalize
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.rules.drafts import RecipeText
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.cooking_history import Cooking
from singletable_systems.smart_cooking.services.ratings import Ratings
from singletable_systems.smart_cooking.services.recipes import Recipes
from singletable_systems.smart_cooking.services.sources import PantrySource, SourceRequest
from singletable_systems.smart_cooking.services.suggestions import Suggestions
from support.opened_designs import stored_items
from support.targets import TARGETS
from systems.cooking_recipes import raters, stock, stored, written
from systems.cooking_streams import handle
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched

CHICKEN = ("thịt gà", "cà chua")
DIGEST = sha256(b"ca chua\nthit ga").hexdigest()


class Counting:
    """The source that needs nothing, which remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[SourceRequest] = []

    def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
        self.requests.append(request)
        return PantrySource().generate(request)


def prepared(db: SmartCooking) -> SmartCooking:
    sign_up(db, ADA, BO, CY)
    stock(db)
    return db


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        yield prepared(db)


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        yield prepared(db)


@pytest.fixture
def source() -> Counting:
    return Counting()


def approved(db: SmartCooking, *names: str, stars: int = 0, **others: Any) -> Recipe:
    """Store a recipe that is approved, with one rating if it has any."""
    recipe = written(db, *names, **others)
    db.update(db.recipe(recipe.recipe_id), is_approved=True, approval_type="admin")
    if stars:
        Ratings(db).rate(CY, recipe.recipe_id, stars)
    return recipe


def cache(db: SmartCooking) -> SuggestionCache:
    return db.suggestion_cache(DIGEST).consistent().one()


# --- approved recipes first ---------------------------------------------------------------------------------


def test_approved_recipes_come_first_by_overlap_then_rating(db: SmartCooking, source: Counting) -> None:
    one = approved(db, "thịt gà", "sả", title="One", stars=5)
    both = approved(db, "thịt gà", "cà chua", title="Both", stars=1)
    better = approved(db, "cà chua", "chicken", "tỏi", title="Better", stars=4)
    approved(db, "tỏi", title="Neither", stars=5)
    written(db, "thịt gà", "cà chua", title="Not approved")
    hidden = approved(db, "thịt gà", "cà chua", title="Hidden")
    handle(db)
    Recipes(db).unpublish(ADA, hidden.recipe_id)  # which the lists have not heard of yet
    suggested = Suggestions(db, source).suggest(BO, CHICKEN, count=3)
    assert [recipe.title for recipe in suggested.recipes] == ["Better", "Both", "One"]
    assert suggested.suggestion.recipe_ids == [better.recipe_id, both.recipe_id, one.recipe_id]
    assert (suggested.suggestion.recipes_from_db, suggested.suggestion.recipes_from_ai) == (3, 0)
    assert source.requests == []
    assert db.suggestion_cache(DIGEST).maybe() is None
    assert db.suggestions(BO).one() == suggested.suggestion


def test_what_is_missing_is_generated_and_stored_whole(db: SmartCooking, source: Counting) -> None:
    known = approved(db, "thịt gà", title="Known")
    handle(db)
    suggested = Suggestions(db, source).suggest(BO, CHICKEN, count=3, prompt_text="Gợi ý món với gà")
    suggestion = suggested.suggestion
    assert suggestion.recipe_ids[0] == known.recipe_id
    assert (suggestion.recipes_from_db, suggestion.recipes_from_ai) == (1, 2)
    assert (suggestion.was_from_cache, suggestion.cache_ids) == (False, [])
    assert (suggestion.prompt_text, suggestion.requested_recipe_count) == ("Gợi ý món với gà", 3)
    assert suggestion.ingredients_used == ["Thịt gà", "Cà chua"]
    assert suggestion.ttl == db.now() + timedelta(days=90)
    assert suggestion.ai_response is not None
    assert [each["title"] for each in suggestion.ai_response["recipes"]] == [
        recipe.title for recipe in suggested.recipes[1:]
    ]
    for recipe in suggested.recipes[1:]:
        view = Recipes(db).view(BO, recipe.recipe_id)
        assert view.recipe == recipe
        assert (recipe.is_ai_generated, recipe.is_public, recipe.is_approved) == (True, False, False)
        assert {line.normalized_name for line in view.ingredients} == {"thit ga", "ca chua"}
        assert set(recipe.ingredient_names) == {"thit ga", "ca chua"}
    [request] = source.requests
    assert (request.ingredients, request.count) == (("Thịt gà", "Cà chua"), 2)
    assert cache(db).recipe_ids == suggestion.recipe_ids[1:]
    assert db.verify().is_clean


def test_as_many_are_suggested_as_the_user_prefers(memory: SmartCooking) -> None:
    suggestions = Suggestions(memory, PantrySource())
    assert len(suggestions.suggest(BO, CHICKEN).recipes) == 3
    Accounts(memory).set_preferences(BO, preferred_recipe_count=2)
    assert len(suggestions.suggest(BO, CHICKEN).recipes) == 2
    memory.update(memory.preferences(BO), preferred_recipe_count=99)
    assert len(suggestions.suggest(BO, CHICKEN).recipes) == 5


def test_taste_is_told_to_the_source(memory: SmartCooking, source: Counting) -> None:
    memory.update(
        memory.preferences(BO),
        favorite_cuisines=["Hue"],
        preferred_cooking_methods=["soup"],
        dietary_restrictions=["low salt"],
        spice_level="hot",
    )
    suggested = Suggestions(memory, source).suggest(BO, CHICKEN, count=1)
    [request] = source.requests
    assert (request.cuisines, request.methods, request.dietary_restrictions, request.spice_level) == (
        ("Hue",),
        ("soup",),
        ("low salt",),
        "hot",
    )
    assert (suggested.recipes[0].cooking_method, suggested.recipes[0].cuisine_type) == ("soup", "Hue")


# --- the cache -----------------------------------------------------------------------------------------------


def test_what_was_generated_is_given_to_whoever_names_the_same(db: SmartCooking, source: Counting) -> None:
    suggestions = Suggestions(db, source)
    first = suggestions.suggest(BO, ["Thịt gà", "tomato"], count=2)
    second = suggestions.suggest(CY, ["CÀ CHUA", "chicken", "thịt-gà"], count=2)
    assert second.suggestion.recipe_ids == first.suggestion.recipe_ids
    assert (second.suggestion.was_from_cache, second.suggestion.cache_ids) == (True, [DIGEST])
    assert (second.suggestion.recipes_from_db, second.suggestion.recipes_from_ai) == (0, 2)
    assert second.suggestion.ai_response is None
    assert len(source.requests) == 1
    assert cache(db).hit_count == 1
    assert [stored(db, each).ai_cache_hit_count for each in first.suggestion.recipe_ids] == [1, 1]
    assert db.verify().is_clean


def test_what_the_cache_lacks_is_generated_besides(memory: SmartCooking, source: Counting) -> None:
    suggestions = Suggestions(memory, source)
    first = suggestions.suggest(BO, CHICKEN, count=1)
    second = suggestions.suggest(CY, CHICKEN, count=3)
    assert second.suggestion.recipe_ids[:1] == first.suggestion.recipe_ids
    assert (source.requests[1].count, source.requests[1].besides) == (2, (first.recipes[0].title,))
    assert len({recipe.title for recipe in second.recipes}) == 3
    assert second.suggestion.was_from_cache
    assert cache(memory).recipe_ids == second.suggestion.recipe_ids
    assert suggestions.suggest(BO, CHICKEN, count=3).suggestion.recipe_ids == second.suggestion.recipe_ids
    assert len(source.requests) == 2
    assert cache(memory).hit_count == 2


def test_cache_forgets_after_a_week(memory: SmartCooking, clock: ManualClock, source: Counting) -> None:
    suggestions = Suggestions(memory, source)
    first = suggestions.suggest(BO, CHICKEN, count=1)
    clock.advance(7 * 86_400 + 1)
    second = suggestions.suggest(BO, CHICKEN, count=1)
    assert not second.suggestion.was_from_cache
    assert second.suggestion.recipe_ids != first.suggestion.recipe_ids
    assert cache(memory).recipe_ids == second.suggestion.recipe_ids


def test_generated_recipe_that_somebody_has_made_his_own_is_given_to_nobody_else(
    memory: SmartCooking, source: Counting
) -> None:
    suggestions = Suggestions(memory, source)
    edited, deleted, left = suggestions.suggest(BO, CHICKEN, count=3).recipes
    text = RecipeText(title="My secret", cuisine_type="Home", cooking_method="soup", meal_type="main")
    Recipes(memory).edit(BO, edited.recipe_id, text)
    Recipes(memory).delete(BO, deleted.recipe_id)
    again = suggestions.suggest(CY, CHICKEN, count=1)
    assert again.suggestion.recipe_ids == [left.recipe_id]


def test_recipe_that_is_deleted_meanwhile_is_not_suggested(memory: SmartCooking, source: Counting) -> None:
    [gone, left] = Suggestions(memory, source).suggest(BO, CHICKEN, count=2).recipes
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Recipes(memory).delete(BO, gone.recipe_id)

    between.before = overtake
    suggested = Suggestions(slow, source).suggest(CY, CHICKEN, count=2)
    assert suggested.suggestion.recipe_ids[0] == left.recipe_id
    assert gone.recipe_id not in suggested.suggestion.recipe_ids
    assert len(suggested.recipes) == 2
    assert stored(memory, left.recipe_id).ai_cache_hit_count == 1


def test_two_who_generate_the_same_at_once_fill_one_cache(memory: SmartCooking, source: Counting) -> None:
    slow, between = watched(memory)
    other: list[AiSuggestion] = []

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            other.append(Suggestions(memory, source).suggest(CY, CHICKEN, count=2).suggestion)

    between.before = overtake
    late = Suggestions(slow, source).suggest(BO, CHICKEN, count=2).suggestion
    assert late.recipe_ids == other[0].recipe_ids == cache(memory).recipe_ids
    assert (late.was_from_cache, cache(memory).hit_count) == (True, 1)
    assert len([item for item in stored_items(memory) if item["entity_type"]["S"] == "RECIPE"]) == 2


def test_hits_of_many_at_once_are_all_counted(db: SmartCooking) -> None:
    Suggestions(db, PantrySource()).suggest(BO, CHICKEN, count=2)
    users = raters(db, 8)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda user: Suggestions(db, PantrySource()).suggest(user, CHICKEN, count=2), users))
    assert cache(db).hit_count == 8
    assert [stored(db, each).ai_cache_hit_count for each in cache(db).recipe_ids] == [8, 8]


# --- names that nobody knows ----------------------------------------------------------------------------------


def test_unknown_names_are_reported_and_the_rest_goes_on(db: SmartCooking) -> None:
    suggestion = (
        Suggestions(db, PantrySource()).suggest(BO, ["gàà", "Cà chua", "xyz", "!!"], count=1).suggestion
    )
    assert suggestion.invalid_ingredients == ["gàà", "xyz", "!!"]
    assert suggestion.ingredients_used == ["Cà chua"]
    assert len(suggestion.recipe_ids) == 1
    assert [each.ingredient_name for each in db.pending_reports().all()] != []
    assert {each.ingredient_name for each in db.reports_of(BO).all()} == {"gàà", "xyz"}


def test_nothing_but_unknown_names_is_a_suggestion_of_nothing(memory: SmartCooking, source: Counting) -> None:
    suggested = Suggestions(memory, source).suggest(BO, ["xyz"])
    assert (suggested.recipes, suggested.suggestion.recipe_ids) == ([], [])
    assert suggested.suggestion.invalid_ingredients == ["xyz"]
    assert memory.suggestions(BO).one() == suggested.suggestion
    assert source.requests == []


@pytest.mark.parametrize(
    ("names", "others", "what"),
    [
        ([], {}, "names: .*at least 1"),
        (["sả"] * 21, {}, "names: .*at most 20"),
        ("sả", {}, "names: 'str' instances are not allowed"),
        (["x" * 101], {}, "names.0: .*at most 100"),
        (["sả"], {"count": 0}, "count: "),
        (["sả"], {"count": 6}, "count: "),
        (["sả"], {"prompt_text": "x" * 5_000}, "prompt_text: .*4,000 are allowed"),
    ],
)
def test_wish_that_makes_no_sense_is_refused(
    memory: SmartCooking, names: list[str], others: dict[str, Any], what: str
) -> None:
    with pytest.raises(InvalidInputError, match=what):
        Suggestions(memory, PantrySource()).suggest(BO, names, **others)
    assert memory.suggestions(BO).first() is None


def test_nobody_is_suggested_anything(memory: SmartCooking, source: Counting) -> None:
    with pytest.raises(UserNotFoundError):
        Suggestions(memory, source).suggest(UserId("user-nobody"), ["sả", "xyz"])
    assert source.requests == []
    assert memory.pending_reports().first() is None


# --- what must not be eaten -----------------------------------------------------------------------------------


@pytest.mark.parametrize("allergy", ["Đậu phộng", "peanut", "lạc"])
def test_nothing_with_an_allergen_is_suggested(memory: SmartCooking, source: Counting, allergy: str) -> None:
    safe = approved(memory, "thịt gà", title="Safe")
    approved(memory, "thịt gà", "cà chua", "đậu phộng", title="By its name")
    approved(memory, "thịt gà", "cà chua", "peanut butter", title="In its name")
    handle(memory)
    memory.update(memory.preferences(BO), allergies=[allergy])
    suggested = Suggestions(memory, source).suggest(BO, [*CHICKEN, "peanut"], count=3)
    assert suggested.recipes[0].recipe_id == safe.recipe_id
    assert not any(
        "phong" in name or "peanut" in name for each in suggested.recipes for name in each.ingredient_names
    )
    assert source.requests[0].ingredients == ("Thịt gà", "Cà chua")


def test_cached_recipe_with_an_allergen_is_not_given(memory: SmartCooking) -> None:
    names = ["thịt gà", "peanut"]
    suggestions = Suggestions(memory, PantrySource())
    first = suggestions.suggest(BO, names, count=2)
    memory.update(memory.preferences(CY), allergies=["đậu phộng"])
    second = suggestions.suggest(CY, names, count=2)
    assert len(second.recipes) == 2
    assert not set(first.suggestion.recipe_ids) & set(second.suggestion.recipe_ids)
    assert {name for each in second.recipes for name in each.ingredient_names} == {"thit ga"}


# --- sources that cannot be relied upon -----------------------------------------------------------------------


class Scripted:
    """A source that does what a test says."""

    def __init__(self, generate: Callable[[SourceRequest], Any]) -> None:
        self._generate = generate

    def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
        return self._generate(request)  # type: ignore[no-any-return]


def fail(request: SourceRequest) -> Any:
    raise TimeoutError("the model is asleep")


def half(request: SourceRequest) -> Any:
    good, *_ = PantrySource().generate(request)
    return [{**good, "servings": "two"}, {"title": "?"}, good, None]


@pytest.mark.parametrize(
    ("generate", "left"),
    [(fail, 0), (lambda request: None, 0), (lambda request: ["soup"], 0), (half, 1)],
    ids=["fails", "nothing", "nonsense", "half of it"],
)
def test_bad_source_means_fewer_recipes_and_nothing_half_stored(
    memory: SmartCooking, generate: Callable[[SourceRequest], Any], left: int
) -> None:
    suggested = Suggestions(memory, Scripted(generate)).suggest(BO, CHICKEN, count=4)
    assert len(suggested.recipes) == left
    assert suggested.suggestion.recipes_from_ai == left
    assert memory.suggestions(BO).one() == suggested.suggestion
    kinds = [item["entity_type"]["S"] for item in stored_items(memory)]
    assert (kinds.count("RECIPE"), kinds.count("SUGGESTION_CACHE")) == (left, left)
    assert kinds.count("RECIPE_INGREDIENT") == sum(len(each.ingredient_names) for each in suggested.recipes)


def test_generated_recipes_with_all_they_may_have_are_one_transaction(memory: SmartCooking) -> None:
    def large(request: SourceRequest) -> Any:
        [good] = PantrySource().generate(SourceRequest(request.ingredients, 1))
        steps = [{"step_number": number, "description": "x" * 900} for number in range(45)]
        lines = [{"ingredient_name": f"thing {number}"} for number in range(15)]
        return [
            {**good, "title": f"Soup {number}", "instructions": steps, "ingredients": lines}
            for number in range(5)
        ]

    slow, between = watched(memory)
    suggested = Suggestions(slow, Scripted(large)).suggest(BO, CHICKEN, count=5)
    assert len(suggested.recipes) == 5
    assert between.operations().count("TransactWriteItems") == 1
    assert suggested.suggestion.ai_response is None  # 200 KB
    assert len(list(memory.recipe_ingredients(suggested.recipes[4].recipe_id).all())) == 15


def test_user_who_is_deleted_meanwhile_leaves_nothing_of_it(memory: SmartCooking) -> None:
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Accounts(memory).delete_all_data(BO)

    between.before = overtake
    with pytest.raises(UserNotFoundError):
        Suggestions(slow, PantrySource()).suggest(BO, CHICKEN)
    kinds = {item["entity_type"]["S"] for item in stored_items(memory)}
    assert not kinds & {"RECIPE", "AI_SUGGESTION", "SUGGESTION_CACHE"}


@pytest.mark.parametrize("allergy", ["Peanuts", "peanut", "lạc", "ĐẬU PHỘNG"])
def test_allergy_is_known_in_the_singular_and_in_the_plural(memory: SmartCooking, allergy: str) -> None:
    Accounts(memory).set_preferences(BO, allergies=[allergy])
    suggested = Suggestions(memory, PantrySource()).suggest(BO, ["Đậu phộng", "sả"], count=3)
    assert {name for recipe in suggested.recipes for name in recipe.ingredient_names} == {"sa"}
    assert suggested.unknown_allergies == []


def test_allergy_that_the_catalogue_does_not_know_is_matched_by_its_words(memory: SmartCooking) -> None:
    approved(memory, "sả", "oat flakes", title="With oats")
    approved(memory, "sả", "boats", title="With boats")
    handle(memory)
    Accounts(memory).set_preferences(BO, allergies=["Oats", "tomatoes"])
    suggested = Suggestions(memory, PantrySource()).suggest(BO, ["sả"], count=2)
    assert suggested.recipes[0].title == "With boats"
    assert "With oats" not in [recipe.title for recipe in suggested.recipes]
    assert suggested.unknown_allergies == ["Oats"]


def test_preferences_of_an_old_table_stop_nothing(memory: SmartCooking) -> None:
    memory.update(memory.preferences(BO), allergies=["x" * 3_000, "", "!!"])
    assert len(Suggestions(memory, PantrySource()).suggest(BO, CHICKEN, count=2).recipes) == 2


@pytest.mark.parametrize("hides", ["recipes", "profile", "account"])
def test_recipe_that_its_author_hides_is_neither_suggested_nor_accepted(db: SmartCooking, hides: str) -> None:
    shown = approved(db, "sả", title="Shown")
    handle(db)
    suggestions = Suggestions(db, PantrySource())
    before = suggestions.suggest(BO, ["sả"], count=1).suggestion
    assert before.recipe_ids == [shown.recipe_id]
    if hides == "account":
        Accounts(db).deactivate(ADA)
    else:
        Accounts(db).set_privacy(ADA, **cast(Any, {f"{hides}_visibility": "private"}))
    assert shown.recipe_id not in suggestions.suggest(BO, ["sả"], count=1).suggestion.recipe_ids
    assert suggestions.suggest(ADA, ["sả"], count=1).suggestion.recipe_ids == [shown.recipe_id]
    with pytest.raises(RecipeNotFoundError):
        suggestions.accept(BO, before.created_at, before.suggestion_id, shown.recipe_id)
    with pytest.raises(RecipeNotFoundError):
        Cooking(db).start(BO, shown.recipe_id)
    assert db.history(BO).first() is None


def test_what_was_generated_for_others_is_kept_from_who_eats_otherwise(
    memory: SmartCooking, source: Counting
) -> None:
    suggestions = Suggestions(memory, source)
    everything = suggestions.suggest(BO, CHICKEN, count=2).suggestion
    Accounts(memory).set_preferences(CY, dietary_restrictions=["Vegetarian", "low salt"])
    restricted = suggestions.suggest(CY, CHICKEN, count=2).suggestion
    assert not {*everything.recipe_ids} & {*restricted.recipe_ids}
    assert len(source.requests) == 2
    Accounts(memory).set_preferences(ADA, dietary_restrictions=["LOW-SALT", "vegetarian"])
    again = suggestions.suggest(ADA, CHICKEN, count=2).suggestion
    assert (again.recipe_ids, again.was_from_cache) == (restricted.recipe_ids, True)
    assert suggestions.suggest(ADA, ["sả"], count=1).suggestion.was_from_cache is False


def test_one_recipe_is_suggested_of_each_title(memory: SmartCooking) -> None:
    class Repeating:
        def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
            kind = {"cuisine_type": "Home", "cooking_method": "soup", "meal_type": "main"}
            lines = [{"ingredient_name": "Sả"}]
            titles = ["CHAO GA", "Soup", "soup!", "Súp", "Stew"]
            return [{"title": title, **kind, "ingredients": lines} for title in titles[: request.count]]

    for _ in range(2):
        approved(memory, "sả", title="Cháo gà")
    handle(memory)
    suggestions = Suggestions(memory, Repeating())
    suggested = suggestions.suggest(BO, ["sả"], count=5)
    assert [normalize(recipe.title) for recipe in suggested.recipes] == ["chao ga", "soup", "sup"]
    written(memory, "sả", by=CY, title="soup")
    approved(memory, "sả", by=CY, title="SOUP")
    handle(memory)
    again = suggestions.suggest(BO, ["sả"], count=3)
    assert sorted(normalize(recipe.title) for recipe in again.recipes) == ["chao ga", "soup", "sup"]


@pytest.mark.parametrize("quantity", ["1.23456 kg", "1" * 50])
def test_source_can_give_quantities_that_nobody_can_measure(memory: SmartCooking, quantity: str) -> None:
    class Odd:
        def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
            kind = {"cuisine_type": "Home", "cooking_method": "soup", "meal_type": "main"}
            return [
                {"title": "Odd", **kind, "ingredients": [{"ingredient_name": "Sả", "quantity": quantity}]}
            ]

    [recipe] = Suggestions(memory, Odd()).suggest(BO, ["sả"], count=1).recipes
    [line] = memory.recipe_ingredients(recipe.recipe_id).all()
    assert (line.quantity, line.amount) == (None, quantity)


def test_generated_recipe_that_cannot_be_stored_is_left_out(memory: SmartCooking) -> None:
    class Large:
        def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
            kind = {"cuisine_type": "Home", "cooking_method": "soup", "meal_type": "main"}
            lines = [{"ingredient_name": f"{number}" + "\ufdfa" * 29} for number in range(15)]
            steps = [{"step_number": int("1" * 40), "description": "Stir"}]
            small = [{"ingredient_name": "Sả"}]
            return [
                {"title": "Large", **kind, "ingredients": lines},
                {"title": "Steps", **kind, "ingredients": small, "instructions": steps},
                {"title": "Small", **kind, "ingredients": small},
            ]

    suggested = Suggestions(memory, Large()).suggest(BO, ["sả"], count=3)
    assert [recipe.title for recipe in suggested.recipes] == ["Small"]


def test_suggestion_reads_a_bounded_number_of_items(memory: SmartCooking) -> None:
    for number in range(70):
        approved(memory, "sả", title=f"Recipe {number}")
    handle(memory)
    slow, between = watched(memory)
    Suggestions(slow, PantrySource()).suggest(BO, ["sả"], count=3)
    assert "Scan" not in between.operations()
    [uses] = [call for call in between.calls if call.params.get("Limit") == 50 and "USES" in repr(call)]
    assert uses.operation == "Query"
    read = [call for call in between.calls if call.operation == "BatchGetItem"]
    keys = [len(call.params["RequestItems"][memory.session.table]["Keys"]) for call in read]
    assert keys == [50, 1, 1, 1]  # the recipes; what their one author shows


# --- what becomes of it --------------------------------------------------------------------------------------


def test_accepted_suggestion_begins_a_cooking(db: SmartCooking, source: Counting) -> None:
    suggestions = Suggestions(db, source)
    suggestions.suggest(CY, CHICKEN, count=2)
    mine = suggestions.suggest(BO, CHICKEN, count=2).suggestion  # of the cache: Cy's recipes
    entry = suggestions.accept(BO, mine.created_at, mine.suggestion_id, mine.recipe_ids[1])
    assert (entry.status, entry.recipe_id, entry.suggestion_id) == (
        "started",
        mine.recipe_ids[1],
        mine.suggestion_id,
    )
    assert db.history(BO).one() == entry
    assert db.suggestion(BO, mine.created_at, mine.suggestion_id).one().was_accepted
    assert suggestions.accept(BO, mine.created_at, mine.suggestion_id, mine.recipe_ids[1]) == entry
    with pytest.raises(ChangeRefusedError, match="accepted before"):
        suggestions.accept(BO, mine.created_at, mine.suggestion_id, mine.recipe_ids[0])
    assert db.history(BO).one() == entry


def test_only_what_was_suggested_is_accepted(memory: SmartCooking) -> None:
    suggestions = Suggestions(memory, PantrySource())
    mine = suggestions.suggest(BO, CHICKEN, count=1).suggestion
    with pytest.raises(RecipeNotFoundError):
        suggestions.accept(BO, mine.created_at, mine.suggestion_id, RecipeId("other"))
    with pytest.raises(SuggestionNotFoundError):
        suggestions.accept(CY, mine.created_at, mine.suggestion_id, mine.recipe_ids[0])
    Recipes(memory).delete(BO, mine.recipe_ids[0])
    with pytest.raises(RecipeNotFoundError):
        suggestions.accept(BO, mine.created_at, mine.suggestion_id, mine.recipe_ids[0])
    assert memory.history(BO).first() is None
    assert not memory.suggestion(BO, mine.created_at, mine.suggestion_id).one().was_accepted


def test_suggestion_is_told_how_good_it_was(db: SmartCooking) -> None:
    suggestions = Suggestions(db, PantrySource())
    mine = suggestions.suggest(BO, CHICKEN, count=1).suggestion
    for rating, comment in ((5, "Gợi ý rất hay!"), (2, None)):
        suggestions.feedback(BO, mine.created_at, mine.suggestion_id, rating, comment)
        after = db.suggestion(BO, mine.created_at, mine.suggestion_id).one()
        assert (after.feedback_rating, after.feedback_comment) == (rating, comment)
    with pytest.raises(InvalidInputError, match="rating: "):
        suggestions.feedback(BO, mine.created_at, mine.suggestion_id, 0)
    with pytest.raises(InvalidInputError, match="comment: "):
        suggestions.feedback(BO, mine.created_at, mine.suggestion_id, 3, "x" * 5_000)
    with pytest.raises(SuggestionNotFoundError):
        suggestions.feedback(BO, mine.created_at, SuggestionId("other"), 3)


def test_suggestion_is_forgotten_after_ninety_days(memory: SmartCooking, clock: ManualClock) -> None:
    suggestions = Suggestions(memory, PantrySource())
    mine = suggestions.suggest(BO, CHICKEN, count=1).suggestion
    clock.advance(90 * 86_400)
    assert memory.suggestions(BO).first() is None
    with pytest.raises(SuggestionNotFoundError):
        suggestions.accept(BO, mine.created_at, mine.suggestion_id, mine.recipe_ids[0])
    with pytest.raises(SuggestionNotFoundError):
        suggestions.feedback(BO, mine.created_at, mine.suggestion_id, 5)
