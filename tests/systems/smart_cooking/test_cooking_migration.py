"""The table of Smart Cooking's documents, brought to the design by the migration that comes with the system."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable.migrate import Folder, Migration, Recompute, Runner, VerificationError, plan
from singletable.migrate.comparing import compare
from singletable_systems.smart_cooking import (
    Accounts,
    CommentId,
    Friends,
    IngredientId,
    PostId,
    RecipeId,
    Recipes,
    SmartCooking,
    UserId,
)
from singletable_systems.smart_cooking.operating.system import SYSTEM
from support.design_clients import on_client
from support.migrating import drive, sleep_of
from support.opened_designs import call, stored_items
from support.targets import TARGETS, opened
from systems import cooking_old_table as old
from systems.cooking_streams import handle, told

assert SYSTEM.migrations is not None
FOLDER = SYSTEM.migrations
NOW = datetime(2025, 1, 25, tzinfo=UTC)
JOHN, GRACE, ROOT = UserId("uuid-123"), UserId("uuid-456"), UserId("uuid-1")
RECIPE, HIDDEN = RecipeId("uuid-101"), RecipeId("uuid-102")
POST = PostId("uuid-606")
COOKED_AT = datetime(2025, 1, 20, 18, tzinfo=UTC)
BEGUN_AT = datetime(2025, 1, 20, 15, 30, tzinfo=UTC)
SUGGESTED_AT = datetime(2025, 1, 20, 10, tzinfo=UTC)
each_target = pytest.mark.parametrize("target", TARGETS)


@contextmanager
def old_table(target: str = "embedded", *items: old.Old) -> Iterator[SmartCooking]:
    """Open the design on the documents' table, which it has not made, with their items and more."""
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
        old.make_table(client)
        old.put(client, *old.ITEMS, *items)
        yield on_client(SmartCooking, client, makes_table=False, environment=old.ENVIRONMENT)


def migrations() -> list[Migration]:
    return Folder(FOLDER).migrations()


def migrate(db: SmartCooking, **options: Any) -> Any:
    """Run everything; return what became of the first migration, which adopts the table."""
    report, *others = Runner(db, **options).run(migrations())
    assert {each.state for each in others} <= {"done", "was done"}
    return report


def did(report: Any) -> dict[str, str]:
    return {step.kind: step.did for step in report.steps}


def shown(db: SmartCooking) -> dict[tuple[str, str], Any]:
    """Return all items as they are stored; without the records of migrations."""
    found = {(item["PK"]["S"], item["SK"]["S"]): item for item in stored_items(db)}
    return {key: item for key, item in found.items() if key[0] != "MIGRATIONS"}


def index_keys(db: SmartCooking, index: str) -> set[tuple[str, str]]:
    items = call(db, "Scan", IndexName=index)["Items"]
    return {(item[f"{index}PK"]["S"], item[f"{index}SK"]["S"]) for item in items}


# --- what comes with the system ------------------------------------------------------------------------------


def test_shipped_migration_is_what_the_tool_writes_and_leads_to_the_design_of_today() -> None:
    assert migrations()[0].steps == compare(None, SmartCooking.blueprint(), every_item=True)
    assert plan(SmartCooking, FOLDER).is_empty
    function = "singletable_systems.smart_cooking.adopting:complete"
    calls, listed, verify = migrations()[1].steps
    assert (calls, verify) == plan(SmartCooking, FOLDER, functions=[function]).steps
    # What is counted of the reports, and what the consumer would make of the names.
    assert listed == Recompute({"INVALID_INGREDIENT": ("total_reports",)}, {"RECIPE": ("RECIPE_USE",)})


def test_items_of_every_entity_of_the_document_are_in_the_old_table() -> None:
    added = {
        *("SESSION", "INGREDIENT_ALIAS", "INVALID_INGREDIENT", "RECIPE_CUISINE", "RECIPE_MEALTYPE"),
        *("RECIPE_APPROVED", "RECIPE_USE", "TRENDING_RECIPE", "SUGGESTION_CACHE", "MONTHLY_ACTIVITY"),
        *("COMMENT_REACTION", "FEED_ITEM"),
    }
    names = {schema.name for schema in SmartCooking.catalog.schemas.values()}
    assert {item["entity_type"] for item in old.ITEMS} == names - added


# --- before --------------------------------------------------------------------------------------------------


def test_before_the_migration_old_items_are_read_by_their_keys() -> None:
    with old_table() as db:
        assert db.user(JOHN).one().username == "cookmaster"
        assert db.preferences(JOHN).one().user_id == JOHN
        assert [each.user_id for each in db.user_ingredients(JOHN).all()] == [JOHN, JOHN]
        assert [each.position for each in db.recipe_view(RECIPE).one().ingredients] == [1, 2]
        assert db.reaction(POST, GRACE).one().post_id == POST


def test_before_the_migration_some_answers_are_wrong_or_missing() -> None:
    with old_table() as db:
        assert [each.recipe_id for each in db.recipes_by_method("stir-fry").all()] == [HIDDEN]
        assert len(list(db.public_feed(NOW).all())) == 2
        assert len(list(db.recent_activities(NOW).all())) == 2
        assert db.user_by_email("user@example.com").maybe() is None
        assert db.ingredients_named("chicken").one().aliases == []
        assert db.user_ingredient(JOHN, "Cà chua").maybe() is None
        assert list(db.friends(GRACE).all()) == []


# --- after ---------------------------------------------------------------------------------------------------


@each_target
def test_after_the_migration_everything_is_found(target: str) -> None:
    with old_table(target) as db:
        assert migrate(db).state == "done"
        assert db.verify().is_clean
        assert Runner(db).verify().is_right
        assert_people(db)
        assert_ingredients(db)
        assert_recipes(db)
        assert_cooking(db)
        assert_posts(db)


def assert_people(db: SmartCooking) -> None:
    john = db.user(JOHN).one()
    assert (john.full_name, john.created_at) == ("John Doe", datetime(2025, 1, 15, 10, tzinfo=UTC))
    assert db.user_by_email("USER@example.com").one() == db.user_by_username("Cookmaster").one() == john
    assert [each.user_id for each in db.admins().all()] == [ROOT]
    assert db.preferences(JOHN).one().allergies == ["shrimp", "crab"]
    assert db.privacy(GRACE).one().profile_visibility == "private"


def assert_ingredients(db: SmartCooking) -> None:
    assert [each.ingredient_name for each in db.user_ingredients(JOHN).all()] == ["Cà chua", "Thịt gà"]
    assert db.user_ingredient(JOHN, "cà chua").one().normalized_name == "ca chua"
    assert db.ingredient_by_name("Ca Chua").one().ingredient_id == "uuid-790"
    assert [each.ingredient_id for each in db.ingredients_named("chicken").one().aliases] == ["uuid-789"]
    found = db.search_ingredients("thit").one()
    assert [each.name for each in found.ingredients] == ["Thịt gà"]
    assert [each.alias for each in found.aliases] == ["thịt gà ta"]
    assert db.ingredient(IngredientId("uuid-789")).one().category == "meat"
    assert [each.name for each in db.ingredients_by_category("vegetable").all()] == ["Cà chua"]
    assert [each.user_report_count for each in db.reporters("abc xyz").all()] == [1, 4]
    assert [each.report_id for each in db.reports_of(GRACE).all()] == ["uuid-1011"]


def assert_recipes(db: SmartCooking) -> None:
    recipe = db.recipe(RECIPE).one()
    # Of its twelve ratings (002:206) there are two.
    assert (recipe.average_rating, recipe.rating_step, recipe.rating_count) == (
        Decimal("4.5"),
        Decimal("4.5"),
        2,
    )
    for listed in (
        db.recipes_by_method("stir-fry"),
        db.recipes_by_cuisine("Vietnamese"),
        db.recipes_by_meal_type("main"),
        db.approved_recipes(),
        db.search_recipes("gà xào"),
    ):
        assert [each.recipe_id for each in listed.all()] == [RECIPE]
    assert {each.recipe_id for each in db.recipes_of(JOHN).all()} == {RECIPE, HIDDEN}
    first, second = db.recipe_ingredients(RECIPE).all()
    assert (first.quantity, first.unit, first.normalized_name) == (Decimal(300), "gram", "thit ga")
    assert (second.quantity, second.amount) == (None, "a few stalks")
    assert sorted(each.rating for each in db.ratings(RECIPE).all()) == [4, 5]
    assert [each.rating_id for each in db.ratings_of(GRACE).all()] == ["uuid-404"]


def assert_cooking(db: SmartCooking) -> None:
    (history,) = db.history(JOHN).all()
    assert (history.created_at, history.cook_date, history.ttl) == (BEGUN_AT, COOKED_AT, None)
    assert list(db.favorites(JOHN).all()) == list(db.recent_activities(NOW).all()) == [history]
    assert [each.visibility for each in db.history(GRACE).all()] == ["private"]
    assert list(db.favorites(GRACE).all()) == []
    (suggestion,) = db.suggestions(JOHN).all()
    assert suggestion == db.suggestion_at(JOHN, SUGGESTED_AT).one()
    assert suggestion.ai_response == {"recipes": [{"title": "Gà xào sả ớt"}]}
    assert suggestion.ttl == SUGGESTED_AT + timedelta(days=90)


def assert_posts(db: SmartCooking) -> None:
    (post,) = db.public_feed(NOW).all()
    # Of its fifteen likes and three comments (002:364) there are one and two.
    assert (post.post_id, post.user_name, post.likes_count, post.comments_count) == (POST, "John Doe", 1, 2)
    assert [each.comment_id for each in db.comments(POST).all()] == ["uuid-707", "uuid-708"]
    assert [each.comment_id for each in db.replies(CommentId("uuid-707")).all()] == ["uuid-708"]
    assert [each.reaction_id for each in db.reactions_of(GRACE).all()] == ["uuid-808"]
    assert [each.notification_id for each in db.notifications(JOHN).all()] == ["uuid-910", "uuid-909"]
    (unread,) = db.unread(JOHN).all()
    assert (unread.notification_id, unread.ttl) == ("uuid-909", unread.created_at + timedelta(days=30))


@each_target
def test_only_what_belongs_there_is_in_the_indexes(target: str) -> None:
    with old_table(target) as db:
        assert ("ROLE#user", "USER#2025-01-15T10:00:00Z") in index_keys(db, "GSI1")
        migrate(db)
        gsi1 = index_keys(db, "GSI1")
        assert {pk for pk, _ in gsi1 if pk.startswith(("ROLE", "REPORTS"))} == {
            "ROLE#admin",
            "REPORTS#PENDING",
        }
        assert {pk for pk, _ in gsi1 if pk.endswith(("FAVORITE", "UNREAD"))} == {
            *("USER#uuid-123#FAVORITE", "USER#uuid-123#UNREAD")
        }
        assert not any(sk == "PREFERENCES" for _, sk in gsi1)
        assert {sk for pk, sk in index_keys(db, "GSI2") if pk == "METHOD#stir-fry"} == {
            "RECIPE#4.5#2025-01-20T10:00:00.000Z"
        }


@each_target
def test_run_twice_changes_nothing(target: str) -> None:
    with old_table(target) as db:
        migrate(db)
        before = shown(db)
        assert migrate(db).state == "was done"
        assert shown(db) == before


def test_attributes_that_the_design_does_not_have_stay() -> None:
    with old_table() as db:
        migrate(db)
        report = shown(db)["INVALID_INGREDIENT#abc xyz", "USER#uuid-456"]
        assert (report["total_reports"], report["admin_notes"]) == ({"N": "5"}, {"S": "looks like a typo"})


def test_settings_of_the_table_are_those_of_the_design() -> None:
    with old_table() as db:
        assert [each.what for each in db.drift()] != []
        migrate(db)
        assert list(db.drift()) == []


# --- rehearsed, and interrupted ------------------------------------------------------------------------------


@each_target
def test_dry_run_tells_the_numbers_and_writes_nothing(target: str) -> None:
    with old_table(target) as db:
        before = shown(db)
        report, completing = Runner(db).run(migrations(), dry_run=True)
        assert shown(db) == before
        assert did(completing)["run_function"].startswith("is counted when this is done: Move the items")
        expected, done = did(report), did(migrate(db))
        for kind in ("rekey", "backfill"):
            assert f"would be: {done[kind]}" == expected[kind]
        assert done["rekey"] == "8 moved of 30 items"


@pytest.mark.parametrize("calls", range(8, 330, 46))
def test_killed_migration_goes_on_where_it_stood(calls: int) -> None:
    with old_table() as db, old_table() as other:
        migrate(db)
        steps = Runner(other, page_items=7, owner="killed").steps(migrations())
        is_done = drive(other.session.client, steps, calls)
        clock = other.session.client.clock
        assert isinstance(clock, ManualClock)
        clock.advance(120)  # until the lease is over
        assert migrate(other, page_items=7).state == ("was done" if is_done else "done")
        assert other.verify().is_clean
        assert _facts(other) == _facts(db)


def _facts(db: SmartCooking) -> dict[tuple[str, str], Any]:
    """Return what is stored, but for when, and how often it was written."""
    return {
        key: {
            name: value for name, value in item.items() if name not in ("$takenAt", "updated_at", "version")
        }
        for key, item in shown(db).items()
    }


# --- what no migration knows ---------------------------------------------------------------------------------


@contextmanager
def migrated(*items: old.Old) -> Iterator[SmartCooking]:
    """Open a table that is migrated, with a consumer that begins behind that; nothing is wrong in the end."""
    with old_table("embedded", *items) as db:
        migrate(db)
        known = told(db)
        yield db
        handle(db, known=known)
        assert db.verify().is_clean


@each_target
def test_migration_alone_makes_friends_and_pending_reports_visible(target: str) -> None:
    with old_table(target) as db:
        _, report = Runner(db).run(migrations())
        assert did(report) == {
            "run_function": "4 changed of 37 items",
            "recompute": "2 changed of 40 items",
            "verify": "every item is as it should be",
        }
        assert [each.friend_id for each in db.friends(GRACE).all()] == [JOHN]
        assert [each.ingredient_name for each in db.pending_reports().all()] == ["abc xyz"]
        assert db.recipe(RECIPE).one().ingredient_names == ["thit ga", "sa"]
        assert db.verify().is_clean


def test_rehearsal_counts_what_is_to_be_completed() -> None:
    with old_table() as db:
        Runner(db).run(migrations(), to="0001")
        before = shown(db)
        _, rehearsed = Runner(db).run(migrations(), dry_run=True)
        assert shown(db) == before
        step = rehearsed.steps[0]
        assert step.did == "would be: 5 changed of 37 items"  # each report of a name lacks its summary
        assert step.samples[0]["writes"]
        _, done = Runner(db).run(migrations())
        assert done.steps[0].did.startswith("4 changed")


def test_completing_without_an_event_loop_and_with_one_is_the_same() -> None:
    with old_table() as db, old_table() as other:
        migrate(db)
        asyncio.run(Runner(other).arun(migrations()))
        assert _facts(db) == _facts(other)


def test_friendships_get_the_row_of_the_other() -> None:
    with migrated() as db:
        own, other = db.friendship(JOHN, GRACE).one(), db.friendship(GRACE, JOHN).one()
        assert (own.direction, other.direction) == ("sent", "received")
        assert (own.status, other.status, own.friendship_id) == ("accepted", "accepted", other.friendship_id)
        assert (own.friend_feeds_by, other.friend_feeds_by) == ("writing", "writing")
        assert [db.user(each).one().friends_count for each in (JOHN, GRACE, ROOT)] == [1, 1, 0]
        assert [each.user_id for each in db.friended_by(JOHN).all()] == [ROOT]
        Friends(db).accept(JOHN, ROOT)
        assert [each.friend_id for each in db.friends(JOHN).all()] == [ROOT, GRACE]


def test_two_who_have_asked_each_other_are_friends_by_the_first_request() -> None:
    asked_back = old.FRIENDSHIP | {
        "PK": "USER#uuid-123",
        "SK": "FRIEND#uuid-1",
        "friendship_id": "uuid-507",
        "friend_id": "uuid-1",
        "status": "pending",
        "requested_at": "2025-01-19T10:00:00Z",
        "responded_at": None,
        "GSI1PK": "USER#uuid-1",
    }
    with migrated(asked_back) as db:
        first, second = db.friendship(ROOT, JOHN).one(), db.friendship(JOHN, ROOT).one()
        assert (first.direction, second.direction) == ("sent", "received")
        assert (first.status, second.status) == ("accepted", "accepted")
        assert first.friendship_id == second.friendship_id == "uuid-506"
        assert first.responded_at == second.responded_at == datetime(2025, 1, 19, 10, tzinfo=UTC)
        assert db.user(JOHN).one().friends_count == 2


def test_friendship_with_somebody_who_is_gone_stays_as_it_is() -> None:
    lonely = old.FRIENDSHIP | {"SK": "FRIEND#nobody", "friend_id": "nobody", "GSI1PK": "USER#nobody"}
    with migrated(lonely) as db:
        assert db.friendship(JOHN, UserId("nobody")).one().direction == "sent"
        assert db.friendship(UserId("nobody"), JOHN).maybe() is None


def test_reports_of_a_name_get_their_summary() -> None:
    with migrated() as db:
        (summary,) = db.pending_reports().all()
        assert (summary.ingredient_name, summary.total_reports) == ("abc xyz", 5)
        assert summary.created_at == datetime(2025, 1, 19, 10, tzinfo=UTC)


def test_migrated_items_can_be_changed_as_any_other() -> None:
    with migrated() as db:
        Accounts(db).rename(JOHN, "John D.")
        Recipes(db).unpublish(JOHN, RECIPE)
        assert list(db.approved_recipes().all()) == []


# --- what is for people --------------------------------------------------------------------------------------


@each_target
def test_two_users_with_one_email_are_named_and_nothing_is_lost(target: str) -> None:
    twin = old.profile("uuid-124", "twin", email="USER@example.com")
    with old_table(target, twin) as db:
        with pytest.raises(VerificationError, match=r"email .* is also that of"):
            migrate(db)
        other = {JOHN, UserId("uuid-124")} - {db.user_by_email("user@example.com").one().user_id}
        Accounts(db).change_email(other.pop(), "twin@example.com")
        assert migrate(db).state == "done"
        assert db.verify().is_clean


def test_two_ingredients_of_one_name_are_named() -> None:
    again = old.INGREDIENT | {"PK": "INGREDIENT#uuid-9", "ingredient_id": "uuid-9", "name": "THỊT-GÀ"}
    with old_table("embedded", again) as db:
        with pytest.raises(VerificationError, match=r"normalized_name 'thit ga' is also that of"):
            migrate(db)
        db.delete(db.ingredient(IngredientId("uuid-9")))
        assert migrate(db).state == "done"


def test_reaction_to_a_comment_is_named_and_left() -> None:
    """SC-36: it has taken the place of the reaction to the post; nothing says when its comment was written."""
    mixed_up = old.REACTION | {"SK": "REACTION#uuid-1", "target_type": "comment", "target_id": "uuid-707"}
    with old_table("embedded", mixed_up) as db:
        with pytest.raises(VerificationError, match=r"REACTION#uuid-1 is no Reaction: target_type"):
            migrate(db)
        assert shown(db)["POST#uuid-606", "REACTION#uuid-1"] == old.marshalled(mixed_up)["M"]
