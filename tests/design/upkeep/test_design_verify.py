"""Verify finds every kind of damage that raw writes can do, says what it should be, and puts it right."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs.recipes import MetadataSK, Note, Rating, Recipe, RecipePK, Recipes
from designs.social import Comment, Post, Reaction, Social, User
from singletable.client import Call
from singletable.design import Design, Mismatch
from support.design_clients import ALL_TARGETS, Between, on_client
from support.kept_together import consume, damage, opened_design, stored_item, stored_items
from support.opened_designs import store

RECIPE = ("RECIPE#r", "METADATA")


@pytest.fixture(params=ALL_TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Recipes]:
    with opened_design(Recipes, request.param) as db:
        fill(db)
        assert db.verify().is_clean
        yield db


@pytest.fixture(params=ALL_TARGETS)
def social(request: pytest.FixtureRequest) -> Iterator[Social]:
    with opened_design(Social, request.param) as db:
        db.create(User(user_id="u", full_name="Ann"))
        db.create(Post(post_id="p", user_id="u"))
        for number in range(3):
            db.create(Reaction(post_id="p", user_id=str(number)))
            db.create(Comment(about="p", comment_id=str(number), weight=Decimal("1.5")))
        consume(db)
        assert db.verify().is_clean
        yield db


def fill(db: Design) -> None:
    db.create(Recipe(recipe_id="r", title="rye bread", slug="rye", cuisine="French", meal="Dinner"))
    for number in range(3):
        db.create(Rating(recipe_id="r", user_id=str(number), stars=Decimal(number)))
    db.create(Note(recipe_id="r", note_id="1"))
    consume(db)


def mended(db: Design, before: list[Any]) -> list[Mismatch]:
    """Verify, repair and verify again; the table is then what it was before the damage."""
    found = db.verify().differences
    report = db.verify(repair=True)
    assert [each.is_repaired for each in found] == [False] * len(found)
    assert [each.is_repaired for each in report.differences] == [True] * len(report.differences)
    assert report.is_clean  # nothing is left of what it lists
    assert db.verify().is_clean
    assert by_key(stored_items(db)) == by_key(before)
    return list(found)


def by_key(items: list[Any]) -> dict[str, Any]:
    changing = ("$takenAt", "$claim", "version")
    return {
        f"{item['PK']['S']} {item['SK']['S']}": {k: v for k, v in item.items() if k not in changing}
        for item in items
    }


def fields(found: list[Mismatch]) -> dict[str, tuple[Any, Any]]:
    return {each.field: (each.expected, each.found) for each in found}


# --- each kind of damage ---------------------------------------------------------------------------------------


def test_counter_that_is_wrong_is_counted_again(social: Social) -> None:
    before = stored_items(social)
    damage(social, "POST#p", "POST", likesCount={"N": "7"})
    found = social.verify().differences
    assert fields(list(found)) == {"likes_count": (3, 7)} | {
        "likes_total": (7, 3)  # of the user, who adds up what is wrong
    }
    social.verify(repair=True)
    assert social.verify().is_clean
    assert by_key(stored_items(social)) == by_key(before)


def test_counter_that_is_missing_is_counted_again(social: Social) -> None:
    before = stored_items(social)
    damage(social, "USER#u", "PROFILE", postsCount=None, likesTotal=None)
    assert fields(mended(social, before)) == {"posts_count": (1, 0), "likes_total": (3, 0)}


def test_sum_that_a_stream_keeps_is_repaired(social: Social) -> None:
    before = stored_items(social)
    damage(social, "POST#p", "POST", words={"N": "-3"}, commentsCount={"N": "4"})
    assert fields(mended(social, before)) == {"words": (Decimal("4.5"), -3), "comments_count": (3, 4)}


def test_child_that_was_written_by_other_means_is_counted(social: Social) -> None:
    item = stored_item(social, "POST#p", "REACTION#1")
    assert item is not None
    extra = {**item, "SK": {"S": "REACTION#9"}, "userId": {"S": "9"}}
    social.session.client.call("PutItem", {"TableName": social.session.table, "Item": extra})
    social.verify(repair=True)
    assert social.verify().is_clean
    post = stored_item(social, "POST#p", "POST")
    assert post is not None
    assert post["likesCount"] == {"N": "4"}


def test_average_is_worked_out_again_with_its_index_keys_and_facets(db: Recipes) -> None:
    before = stored_items(db)
    damage(db, *RECIPE, averageSum={"N": "50"}, ratingStepCount={"N": "2"}, ratingStep={"N": "4.9"})
    found = fields(list(db.verify().differences))
    assert found["averageSum"] == (3, 50)
    assert found["ratingStepCount"] == (3, 2)
    assert found["rating_step"] == (1, Decimal("4.9"))
    db.verify(repair=True)
    db.verify(repair=True)
    assert db.verify().is_clean
    assert by_key(stored_items(db)) == by_key(before)


def test_half_a_key_is_made_whole(db: Recipes) -> None:
    before = stored_items(db)
    damage(db, *RECIPE, GSI2SK=None)
    assert fields(mended(db, before)) == {"GSI2SK": ("101.0#r", None)}


def test_key_of_an_index_that_the_item_is_not_in_is_removed(db: Recipes) -> None:
    before = stored_items(db)
    damage(db, "RECIPE#r", "NOTE#1", GSI2PK={"S": "METHOD#x"}, GSI2SK={"S": "x"})
    assert fields(mended(db, before)) == {"GSI2PK": (None, "METHOD#x"), "GSI2SK": (None, "x")}


def test_field_that_was_changed_without_its_key_moves_the_item(db: Recipes) -> None:
    damage(db, *RECIPE, method={"S": "fried"})
    db.verify(repair=True)
    assert [recipe.recipe_id for recipe in db.by_method("fried").all()] == ["r"]
    assert list(db.by_method("baked").all()) == []
    assert db.verify().is_clean


def test_stale_copy_is_refreshed(db: Recipes) -> None:
    before = stored_items(db)
    damage(db, "RECIPE#r", "NOTE#1", recipeTitle={"S": "old"})
    assert fields(mended(db, before)) == {"recipe_title": ("rye bread", "old")}


def test_refreshed_copy_moves_the_item_in_its_index(social: Social) -> None:
    damage(social, "USER#u", "PROFILE", fullName={"S": "Bea"})
    social.verify(repair=True)
    assert [post.post_id for post in social.posts_of("Bea").all()] == ["p"]


def test_derived_item_that_is_missing_or_wrong_is_made_again(db: Recipes) -> None:
    before = stored_items(db)
    key = {"PK": {"S": "RECIPE#r"}, "SK": {"S": "FACET#CUISINE"}}
    db.session.client.call("DeleteItem", {"TableName": db.session.table, "Key": key})
    damage(db, "RECIPE#r", "FACET#MEALTYPE", title={"S": "old"})
    damage(db, "RECIPE#r", "WORD#rye", more={"S": "x"})
    found = mended(db, before)
    assert sorted((each.key["SK"]["S"], each.found is None) for each in found) == [
        ("FACET#CUISINE", True),
        ("FACET#MEALTYPE", False),
        ("WORD#rye", False),
    ]


def test_derived_item_that_nothing_makes_is_deleted(db: Recipes) -> None:
    before = stored_items(db)
    for pk, sk in (("RECIPE#r", "WORD#milk"), ("RECIPE#gone", "WORD#milk")):
        damage(
            db,
            pk,
            sk,
            entityType={"S": "Word"},
            recipeId={"S": pk.removeprefix("RECIPE#")},
            word={"S": "milk"},
        )
    found = mended(db, before)
    assert [each.expected for each in found] == [None, None]


def test_lock_that_is_missing_is_put_back(db: Recipes) -> None:
    before = stored_items(db)
    key = {"PK": {"S": "SLUG#rye"}, "SK": {"S": "UNIQUE"}}
    db.session.client.call("DeleteItem", {"TableName": db.session.table, "Key": key})
    (found,) = mended(db, before)
    assert (found.entity, found.field, found.found) == ("Recipe", "slug", None)


def test_lock_of_nobody_is_deleted_once_it_is_old(db: Recipes) -> None:
    before = stored_items(db)
    lock = next(item for item in before if item["PK"] == {"S": "SLUG#rye"})
    stray = {**lock, "PK": {"S": "SLUG#old"}}
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": stray})
    assert db.verify(repair=True).is_clean  # it may be for a write to come
    old = {**stray, "$takenAt": {"S": "2001-01-01T00:00:00.000Z"}}
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": old})
    (found,) = mended(db, before)
    assert found.key["PK"] == {"S": "SLUG#old"}


def test_report_is_not_clean_while_something_is_left(db: Recipes) -> None:
    damage(db, *RECIPE, slug={"S": "other"})
    damage(db, "RECIPE#r", "NOTE#1", recipeTitle={"S": "old"}, noteId={"S": "2"})
    report = db.verify(repair=True)
    assert {each.is_repaired for each in report.differences} == {True, False}
    assert not report.is_clean


def test_value_that_two_items_have_is_for_people_to_decide(db: Recipes) -> None:
    db.create(Recipe(recipe_id="s", title="x", slug="second"))
    consume(db)
    damage(db, "RECIPE#s", "METADATA", slug={"S": "rye"})
    report = db.verify(repair=True)
    assert [(each.field, each.is_repaired) for each in report.differences if each.entity == "Recipe"] == [
        ("slug", False)
    ]


def test_item_that_cannot_be_read_is_reported(db: Recipes) -> None:
    damage(db, "RECIPE#r", "NOTE#1", recipeId={"L": []})
    (found,) = db.verify(repair=True).differences
    assert (found.entity, found.is_repaired) == ("Note", False)
    assert "recipe_id" in found.found


def test_counter_of_an_item_that_cannot_be_read_is_reported_and_left(db: Recipes) -> None:
    damage(db, "RECIPE#r", "RATING#1", stars={"S": "many"})
    before = stored_items(db)
    report = db.verify(repair=True)
    found = {(each.entity, each.is_repaired) for each in report.differences}
    assert found == {("Rating", False), ("Recipe", False)}
    assert {"is no Rating: stars" in each.found for each in report.differences} == {True}
    assert not report.is_clean
    assert stored_items(db) == before


def test_copy_of_an_item_that_cannot_be_read_is_reported_and_left(db: Recipes) -> None:
    damage(db, *RECIPE, title={"L": []})
    report = db.verify(repair=True)
    assert {"Recipe", "Note"} <= {each.entity for each in report.differences}
    assert not any(each.is_repairable for each in report.differences)
    assert not report.is_clean


def test_number_that_is_none_is_counted_again(social: Social) -> None:
    before = stored_items(social)
    damage(social, "POST#p", "POST", likesCount={"S": "many"}, commentsCount={"BOOL": True})
    report = social.verify()
    assert fields([each for each in report.differences if each.is_repairable]) == {
        "likes_count": ("a number that fits", "many"),
        "comments_count": ("a number that fits", True),
    }
    social.verify(repair=True)
    assert social.verify().is_clean
    assert by_key(stored_items(social)) == by_key(before)


def test_items_of_no_entity_are_reported(db: Recipes) -> None:
    store(db, {"PK": {"S": "RECIPE#r"}, "SK": {"S": "ROBOT"}, "entityType": {"S": "Robot"}})
    store(db, {"PK": {"S": "RECIPE#r"}, "SK": {"S": "UNKNOWN"}})
    before = stored_items(db)
    report = db.verify(repair=True)
    assert {(each.entity, each.key["SK"]["S"], each.found) for each in report.differences} == {
        ("Robot", "ROBOT", "its entityType is 'Robot'"),
        ("", "UNKNOWN", "its key is that of none"),
    }
    assert {each.expected for each in report.differences} == {"an item of an entity of Recipes"}
    assert {each.is_repairable for each in report.differences} == {False}
    assert not report.is_clean
    assert stored_items(db) == before


def test_what_the_layer_keeps_for_itself_is_no_stranger(db: Recipes) -> None:
    for name in ("$upkeep", "$migration"):  # there are locks already
        store(db, {"PK": {"S": "KEPT"}, "SK": {"S": name}, "entityType": {"S": name}})
    assert "$unique" in {item["entityType"]["S"] for item in stored_items(db)}
    assert db.verify().is_clean


def test_stranger_that_is_gone_meanwhile_is_not_reported(db: Recipes) -> None:
    key = {"PK": {"S": "RECIPE#r"}, "SK": {"S": "ROBOT"}}
    store(db, key)
    between = Between(db.session.client)

    def delete_behind_the_scan(call: Call) -> None:
        if call.operation == "GetItem" and call.params["Key"] == key:
            db.session.client.call("DeleteItem", {"TableName": db.session.table, "Key": key})

    between.before = delete_behind_the_scan
    assert on_client(Recipes, between, makes_table=False).verify().is_clean


def test_table_key_that_does_not_fit_the_fields_is_reported(db: Recipes) -> None:
    damage(db, "RECIPE#r", "NOTE#1", noteId={"S": "2"})
    (found,) = db.verify(repair=True).differences
    assert (found.field, found.expected, found.found, found.is_repaired) == ("SK", "NOTE#2", "NOTE#1", False)


# --- how it runs ---------------------------------------------------------------------------------------------


def test_clean_table_is_only_read_and_progress_is_told(db: Recipes) -> None:
    between = Between(db.session.client)
    told: list[tuple[int, int]] = []
    report = on_client(Recipes, between, makes_table=False).verify(
        repair=True, progress=lambda items, differences: told.append((items, differences))
    )
    assert report.is_clean
    assert told == [(report.items, 0)]
    assert set(between.operations()) <= {"Scan", "GetItem", "Query", "DescribeTable"}


def test_verify_without_holding_up_the_event_loop(db: Recipes) -> None:
    damage(db, *RECIPE, ratings={"N": "9"})
    report = asyncio.run(db.averify(repair=True))
    assert [each.field for each in report.differences] == ["ratings"]
    assert db.verify().is_clean


def test_write_while_a_repair_is_worked_out_is_not_lost(db: Recipes) -> None:
    damage(db, *RECIPE, ratings={"N": "9"})
    between = Between(db.session.client)
    slow = on_client(Recipes, between, makes_table=False)
    others = iter(range(10, 13))

    def interfere(call: Any) -> None:
        is_repair = call.operation in ("UpdateItem", "TransactWriteItems")
        if is_repair and (number := next(others, None)) is not None:
            db.create(Rating(recipe_id="r", user_id=str(number), stars=Decimal(1)))

    between.before = interfere
    slow.verify(repair=True)
    found = db.plan(Recipe.key.get(RecipePK(recipe_id="r"), MetadataSK()).consistent()).one()
    assert found is not None
    assert (found.ratings, found.average) == (6, Decimal(1))
    assert db.verify().is_clean


def test_child_that_is_written_while_it_is_counted_is_no_difference(db: Recipes) -> None:
    between = Between(db.session.client)
    slow = on_client(Recipes, between, makes_table=False)
    others = iter(range(10, 12))

    def interfere(call: Any) -> None:
        if call.operation == "Query" and (number := next(others, None)) is not None:
            db.create(Rating(recipe_id="r", user_id=str(number), stars=Decimal(1)))

    between.before = interfere
    assert slow.verify().is_clean


def test_many_pages_are_verified(db: Recipes) -> None:
    for number in range(4):
        db.create(Recipe(recipe_id=f"m{number}", title="milk"))
    consume(db)
    between = Between(db.session.client)

    def paged(call: Any) -> Any:
        if call.operation == "Scan":
            return between.inner.call("Scan", {**call.params, "Limit": 2})
        return None

    between.before = paged
    report = on_client(Recipes, between, makes_table=False).verify()
    assert report.is_clean
    assert report.items == len(stored_items(db))
    assert between.operations().count("Scan") > 5


# --- any damage ----------------------------------------------------------------------------------------------

NUMBERS = [
    "average",
    "averageSum",
    "averageCount",
    "ratingStep",
    "ratingStepSum",
    "ratingStepCount",
    "ratings",
]
hurts = st.one_of(
    st.tuples(
        st.just(RECIPE),
        st.sampled_from(NUMBERS),
        st.one_of(st.none(), st.integers(-20, 20).map(lambda n: {"N": str(n)})),
    ),
    st.tuples(
        st.just(RECIPE),
        st.sampled_from(["GSI2PK", "GSI2SK"]),
        st.sampled_from([None, {"S": "x"}, {"S": "y"}]),
    ),
    st.tuples(
        st.sampled_from([("RECIPE#r", "FACET#CUISINE"), ("RECIPE#r", "WORD#rye")]),
        st.sampled_from(["title", "GSI2PK", "extra"]),
        st.just({"S": "z"}),
    ),
    st.tuples(st.just(("RECIPE#r", "NOTE#1")), st.just("recipeTitle"), st.just({"S": "z"})),
)


@settings(max_examples=40, deadline=None)
@given(wanted=st.lists(hurts, max_size=5))
def test_any_damage_is_found_and_repaired(wanted: list[Any]) -> None:
    with opened_design(Recipes, "embedded") as db:
        fill(db)
        before = stored_items(db)
        for (pk, sk), name, value in wanted:
            if name in ("ratingStep",) and value is None:
                continue
            damage(db, pk, sk, **{name: value})
        for _ in range(3):
            db.verify(repair=True)
        assert db.verify().is_clean
        assert by_key(stored_items(db)) == by_key(before)
