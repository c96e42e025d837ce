"""Pictures of designs: every entity stands in the right collection of the right view, in the order of its keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from designs.accounts import Accounts
from designs.cards import Cards
from designs.cooking import Cooking
from designs.feed import Feed
from designs.inverted_people import People
from designs.lunch import LunchCache as LunchWithSizes
from designs.recipes import Recipes
from designs.settings import Archive
from designs.social import Social
from singletable.blueprint import Blueprint
from singletable.design import Design
from singletable.drawing import Collection, Picture, Row, View, draw_design
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.lunch_cache.model.design import LunchCache

Lines = list[tuple[str, str | None, str]]

KEFIR: dict[str, Lines] = {
    "table": [
        ("USER#<userId>", "BATCH#<batchId>", "Batch"),
        ("USER#<userId>", "DEVICE#<deviceId>", "Device"),
        ("USER#<userId>", "METADATA", "User"),
        ("BATCH#<batchId>", "EVENT#<createdAt>#<eventId>", "BatchEvent"),
        ("BATCH#<batchId>", "REMINDER#<reminderId>", "Reminder"),
        ("EMAIL#<email>", "UNIQUE", "lock of User"),
        ("PUSHTOKEN#<pushToken>", "UNIQUE", "lock of Device"),
    ],
    "GSI1": [
        ("BATCH#<batchId>", "STATUS#<status>#<createdAt>", "Batch"),
        ("USER#<userId>", "DUE#<dueAt>", "Reminder"),
    ],
    "GSI2": [
        ("STATUS#<status>#<shard>", "BATCH#<createdAt>#<batchId>", "Batch"),
        ("REMINDER#PENDING#<shard>", "DUE#<nextTryAt>#<reminderId>", "Reminder"),
    ],
}
LUNCH: dict[str, Lines] = {
    "table": [
        ("<restaurant>-<year>-<week:02>", None, "WeeklyMenu"),
        ("HEALTH#<probe:020>", None, "HealthProbe"),
    ],
    "RestaurantIndex": [("<restaurant>", "<cachedAt>", "WeeklyMenu")],
}


def lines_of(view: View) -> Lines:
    return [
        (
            collection.partition.text,
            None if row.sort is None else row.sort.text,
            f"lock of {row.entity}" if row.kind == "lock" else row.entity,
        )
        for collection in view.collections
        for row in collection.rows
    ]


def drawn(design: type[Design]) -> Picture:
    return draw_design(design.blueprint())


def view_of(design: type[Design], name: str) -> View:
    (view,) = drawn(design).only(name).views
    return view


def collection_of(design: type[Design], view: str, partition: str) -> Collection:
    (found,) = [each for each in view_of(design, view).collections if each.partition.text == partition]
    return found


def row_of(design: type[Design], view: str, entity: str) -> Row:
    rows = [row for each in view_of(design, view).collections for row in each.rows]
    (found,) = [row for row in rows if row.entity == entity and row.kind == "item"]
    return found


# --- collections ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("design", "expected"), [(Kefir, KEFIR), (LunchCache, LUNCH)])
def test_every_entity_of_a_system_stands_where_its_keys_put_it(
    design: type[Design], expected: dict[str, Lines]
) -> None:
    assert {view.name: lines_of(view) for view in drawn(design).views} == expected


def test_lock_with_a_sort_key_of_its_own_is_drawn_with_a_hash() -> None:
    assert lines_of(view_of(People, "table")) == [
        ("PERSON#<personId>", "PROFILE", "Person"),
        ("NAME#<name>", "UNIQUE#<hash>", "lock of Person"),
        ("EMAIL#<email>", "UNIQUE#<hash>", "lock of Person"),
    ]


@pytest.mark.parametrize("design", [Kefir, LunchCache, Cooking, Cards, Feed, Social, Recipes, Accounts])
def test_nothing_of_a_design_is_left_out(design: type[Design]) -> None:
    blueprint = design.blueprint()
    picture = draw_design(blueprint)
    assert [view.name for view in picture.views] == ["table", *(index.name for index in blueprint.indexes)]
    for view in picture.views:
        index = None if view.name == "table" else view.name
        placed = [entity.name for entity in blueprint.entities if entity.place(index) is not None]
        rows = [row for each in view.collections for row in each.rows]
        assert sorted(row.entity for row in rows if row.kind == "item") == sorted(placed)
        locks = [entity.name for entity in blueprint.entities for _ in entity.uniques]
        assert sorted(row.entity for row in rows if row.kind == "lock") == sorted(
            locks if index is None else []
        )
        for each in view.collections:
            sorts = ["" if row.sort is None else row.sort.pieces[0].text for row in each.rows]
            assert sorts == sorted(sorts)


def test_entities_share_a_collection_if_their_keys_differ_in_names_alone() -> None:
    collection = collection_of(Social, "table", "POST#<postId>")
    assert [row.entity for row in collection.rows] == ["Comment", "Post", "Reaction", "Report"]
    assert [row.notes[:1] for row in collection.rows][:2] == [("POST#<about>",), ()]


def test_key_of_plain_attributes_names_each_of_them() -> None:
    view = view_of(LunchWithSizes, "SizeIndex")
    assert (view.partition_key, view.sort_key) == ("year", "lunchCount + averagePrice")
    assert lines_of(view) == [("<year>", "<lunchCount>, <averagePrice>", "WeeklyMenu")]


def test_views_name_their_keys() -> None:
    named = [(view.partition_key, view.sort_key) for view in drawn(Kefir).views]
    assert named == [("PK", "SK"), ("GSI1PK", "GSI1SK"), ("GSI2PK", "GSI2SK")]
    assert [view.sort_key for view in drawn(LunchCache).views] == [None, "cachedAt"]


def test_locks_that_two_entities_share_are_one_collection() -> None:
    collection = collection_of(Accounts, "table", "USERNAME#<username>")
    assert [(row.entity, row.kind) for row in collection.rows] == [("User", "lock"), ("Member", "lock")]


# --- what is said of them -------------------------------------------------------------------------------


def test_shards_and_buckets_are_noted() -> None:
    assert collection_of(Kefir, "GSI2", "STATUS#<status>#<shard>").notes == ("4 shards",)
    assert collection_of(Feed, "GSI2", "PUBLIC#<month>#<shard>").notes == ("4 shards", "one for each month")
    assert collection_of(Kefir, "table", "USER#<userId>").notes == ()


@pytest.mark.parametrize(
    ("design", "view", "entity", "notes"),
    [
        (Kefir, "GSI1", "Reminder", ("only while status = pending",)),
        (Kefir, "GSI2", "Reminder", ("only while status = pending",)),
        (Kefir, "GSI2", "Batch", ()),
        (Kefir, "table", "Device", ("expires 270 days after lastSeenAt",)),
        (LunchCache, "table", "HealthProbe", ("expires 5 minutes after it is made",)),
        (Cooking, "GSI2", "Recipe", ("only while is_public = true",)),
        (Cards, "GSI1", "Category", ("only while parentId exists",)),
        (Cards, "table", "Card", ("expires 30 days after it is made while isDraft = true",)),
        (Recipes, "table", "Facet", ("made from Recipe",)),
    ],
)
def test_condition_and_expiry_are_said(
    design: type[Design], view: str, entity: str, notes: tuple[str, ...]
) -> None:
    assert row_of(design, view, entity).notes == notes


def test_entity_that_expires_is_marked_in_all_views() -> None:
    assert row_of(Cards, "table", "Card").expires
    assert row_of(Cards, "GSI1", "Card").expires
    assert not row_of(Cards, "table", "Comment").expires


def test_lock_names_its_owner_and_expires_with_it() -> None:
    (row,) = collection_of(Kefir, "table", "PUSHTOKEN#<pushToken>").rows
    owner = [(each.name, each.text) for each in row.attributes]
    assert owner == [("$owner", "USER#<userId>"), ("$ownerSort", "DEVICE#<deviceId>")]
    assert (row.notes, row.expires) == (("one Device for each pushToken",), True)


def test_attributes_that_say_most_come_first_and_those_of_the_key_last() -> None:
    names = [attribute.name for attribute in row_of(Kefir, "table", "User").attributes]
    assert names == ["email", "name", "preferences", "createdAt", "updatedAt", "version", "userId"]
    device = {each.name: each for each in row_of(Kefir, "table", "Device").attributes}
    assert device["platform"].text == "ios | android | web"
    assert device["deviceInfo"].text == "DeviceInfo?"
    event = {each.name: each.text for each in row_of(Kefir, "table", "BatchEvent").attributes}
    assert event["toStage"] == "(1 | 2)?"
    assert (device["deviceId"].text, device["deviceId"].note) == ("DeviceId", "in the key")
    assert list(device)[-3:] == ["ttl", "deviceId", "userId"]


def test_what_the_layer_keeps_is_said_of_its_attribute() -> None:
    notes = {each.name: each.note for each in row_of(Social, "table", "Post").attributes}
    assert notes["likesCount"] == "the count of Reaction while kind = like"
    assert notes["userName"] == "repeats User.full_name"
    assert notes["version"] == "counts the writes"


def test_view_of_an_index_has_no_more_attributes_than_its_projection() -> None:
    blueprint = Archive.blueprint()
    for index in blueprint.indexes:
        (view,) = draw_design(blueprint).only(index.name).views
        names = {each.name for each in view.collections[0].rows[0].attributes}
        stored = {attribute.stored for attribute in blueprint.entities[0].attributes}
        keys = {*index.pk, *index.sk, blueprint.table.pk, blueprint.table.sk}
        assert names == (stored if index.projection == "ALL" else stored & {*keys, *index.included})
        assert bool(view.notes) == (index.projection != "ALL")
    assert {index.projection for index in blueprint.indexes} > {"ALL"}


def test_parts_of_keys_say_what_fills_them_in() -> None:
    assert collection_of(Kefir, "GSI2", "STATUS#<status>#<shard>").partition.about == (
        'status: "active" | "in_fridge" | "ready" | "archived"',
        "shard: one of 4, by batchId",
    )
    assert collection_of(Feed, "GSI1", "FEED#<month>").partition.about == ("month: the month of createdAt",)


# --- patterns -------------------------------------------------------------------------------------------


def numbers(collection: Collection) -> list[str]:
    return list(dict.fromkeys(pattern.number for pattern in collection.patterns))


@pytest.mark.parametrize(
    ("view", "partition", "expected"),
    [
        ("table", "USER#<userId>", ["1", "2", "3b", "10", "11", "12", "14"]),
        ("table", "BATCH#<batchId>", ["5", "6", "7", "13"]),
        ("GSI1", "BATCH#<batchId>", ["3", "13", "15"]),
        ("GSI1", "USER#<userId>", ["8"]),
        ("GSI2", "STATUS#<status>#<shard>", ["4"]),
        ("GSI2", "REMINDER#PENDING#<shard>", ["9"]),
    ],
)
def test_collection_knows_the_patterns_that_read_it(view: str, partition: str, expected: list[str]) -> None:
    found = numbers(collection_of(Kefir, view, partition))
    assert [number for number in found if number in expected] == expected


def test_pattern_says_what_it_asks_for() -> None:
    patterns = {
        each.number: each for each in collection_of(Kefir, "GSI2", "REMINDER#PENDING#<shard>").patterns
    }
    due = patterns["9"]
    assert (due.title, due.call, due.operation) == ("Get due reminders", "due(now)", "Query")
    assert (due.details, due.entities) == ("GSI2SK < DUE#<nextTryAt>#, x 4", ("Reminder",))


def test_filter_and_condition_of_a_pattern_name_what_is_stored() -> None:
    user = {each.number: each for each in collection_of(Kefir, "table", "USER#<userId>").patterns}
    assert user["12"].details == "begins_with(SK, BATCH#), filter status = <status>"
    menu = collection_of(LunchCache, "table", "<restaurant>-<year>-<week:02>").patterns[0]
    assert menu.details.startswith("if not cachedAt exists or cachedAt <= ")


def test_lookup_by_a_unique_value_reads_the_lock_and_its_owner() -> None:
    assert numbers(collection_of(Kefir, "table", "EMAIL#<email>")) == ["16"]
    assert "16" in numbers(collection_of(Kefir, "table", "USER#<userId>"))
    assert "16" not in numbers(collection_of(Kefir, "table", "BATCH#<batchId>"))


def test_patterns_that_write_are_those_of_the_table() -> None:
    table = collection_of(LunchCache, "table", "<restaurant>-<year>-<week:02>")
    assert [each.number for each in table.patterns if each.operation == "PutItem"] == ["1"]
    index = collection_of(LunchCache, "RestaurantIndex", "<restaurant>")
    assert {each.operation for each in index.patterns} == {"Query"}


# --- blueprints that nobody has checked -----------------------------------------------------------------


def test_template_that_is_wrong_is_drawn_as_it_is() -> None:
    blueprint = Kefir.blueprint()
    user = blueprint.entities[0]
    place = replace(user.places[0], pk=replace(user.places[0].pk, template="USER#{user_id"))
    wrong = replace(blueprint, entities=(replace(user, places=(place,)),))
    assert draw_design(wrong).views[0].collections[0].partition.text == "USER#{user_id"


def test_blueprint_from_a_file_is_drawn_like_the_design() -> None:
    read = Blueprint.from_json(Kefir.blueprint().to_json())
    assert draw_design(read) == drawn(Kefir)


def test_index_in_which_nothing_is_has_an_empty_view() -> None:
    blueprint = replace(Kefir.blueprint(), entities=Kefir.blueprint().entities[:1])
    assert [len(view.collections) for view in draw_design(blueprint).views] == [2, 0, 0]
