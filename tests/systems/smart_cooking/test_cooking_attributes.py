"""Every attribute of Smart Cooking's design document, with its line, beside ours; and the items as stored."""

from __future__ import annotations

import gzip
import inspect
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable_systems.smart_cooking.model import entities
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from support.opened_designs import opened_design, store, stored_items
from support.targets import TARGETS
from systems.cooking_added_items import ADDED_ITEMS
from systems.cooking_document import DOCUMENTED, documented_item, precise
from systems.cooking_examples import EXAMPLES, SAMPLES, STORED_AT, at
from systems.cooking_items import ITEMS

KEYS = {"PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK"}
ROWS = [row for row in DOCUMENTED if row[2] not in KEYS]
# Line: what ours has, and the defect that it repairs.
DIFFERENT: dict[str, tuple[Any, str]] = {
    "002:232": (300, "SC-42"),
    "002:313": ({"recipes": 1}, "SC-41"),  # compressed; the document leaves it out
    "002:466": (None, "SC-33"),  # in the summary of the name
    "002:467": (None, "SC-33"),
    "002:468": (None, "SC-33"),
}
# Line, entity, and an attribute that the document names outside of its JSON: in a key, or further down.
ELSEWHERE = [
    ("002:89", "USER_PREFERENCES", "user_id"),
    ("002:109", "PRIVACY_SETTINGS", "user_id"),
    ("002:132", "USER_INGREDIENT", "user_id"),
    ("002:228", "RECIPE_INGREDIENT", "recipe_id"),
    ("002:229", "RECIPE_INGREDIENT", "position"),
    ("002:408", "REACTION", "post_id"),
    ("002:608", "AI_SUGGESTION", "ttl"),
    ("002:615", "NOTIFICATION", "ttl"),
    ("002:622", "COOKING_HISTORY", "ttl"),
    ("002:660", "POST", "user_name"),
    ("002:661", "POST", "user_avatar"),
]
# Entity, attribute, and what its remark says: the defect that it repairs.
ADDED = [
    ("USER_PROFILE", "friends_count", "SC-22"),
    ("USER_PROFILE", "feeds_by", "SC-22"),
    ("USER_PROFILE", "version", "X-04"),
    ("USER_PREFERENCES", "version", "X-04"),
    ("PRIVACY_SETTINGS", "version", "X-04"),
    ("MASTER_INGREDIENT", "version", "X-04"),
    ("RECIPE", "rating_step", "SC-10, SC-11"),
    ("RECIPE", "ingredient_names", "added"),
    ("RECIPE", "version", "X-04"),
    ("RECIPE_INGREDIENT", "normalized_name", "added"),
    ("RECIPE_INGREDIENT", "amount", "added"),
    ("COOKING_HISTORY", "visibility", "SC-19"),
    ("COOKING_HISTORY", "version", "X-04"),
    ("FRIENDSHIP", "direction", "SC-31"),
    ("FRIENDSHIP", "friend_feeds_by", "SC-22"),
    ("POST", "version", "X-04"),
    ("COMMENT", "parent_user_id", "SC-58"),
    ("COMMENT", "likes_count", "SC-36"),
]
# Whole entities that were added, and the defect.
ADDED_ENTITIES = {
    "SESSION": "SC-28",
    "INGREDIENT_ALIAS": "SC-14",
    "INVALID_INGREDIENT": "SC-33",
    "RECIPE_CUISINE": "SC-08",
    "RECIPE_MEALTYPE": "SC-08",
    "RECIPE_APPROVED": "SC-08",
    "RECIPE_USE": "",  # for suggestions
    "TRENDING_RECIPE": "SC-20",
    "SUGGESTION_CACHE": "SC-57",
    "MONTHLY_ACTIVITY": "SC-59",
    "COMMENT_REACTION": "SC-36",
    "FEED_ITEM": "SC-22",
}


def plain(value: dict[str, Any]) -> Any:
    """Return an attribute value as JSON would have it."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return Decimal(content)
        case "L":
            return [plain(each) for each in content]
        case "M":
            return {name: plain(each) for name, each in content.items()}
        case "B":
            return json.loads(gzip.decompress(content))
    return content


def attributes() -> dict[str, set[str]]:
    """Return the attributes of ours as they are stored, by entity."""
    return {
        entity.discriminator: {each.stored for each in entity.attributes}
        for entity in SmartCooking.blueprint().entities
    }


# --- documented and added -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "entity", "name"), [row[:3] for row in ROWS], ids=[row[0] for row in ROWS])
def test_attribute_of_a_sample_is_the_documents(line: str, entity: str, name: str) -> None:
    item = SmartCooking.stored_item(SAMPLES[entity])
    ours = plain(item[name]) if name in item else None
    documented = precise(documented_item(entity)[name])
    if line in DIFFERENT:
        assert ours == DIFFERENT[line][0] != documented
    else:
        assert ours == (Decimal(str(documented)) if isinstance(documented, float) else documented)
        assert isinstance(ours, bool) == isinstance(documented, bool)


def test_every_attribute_is_documented_or_added() -> None:
    moved = {("INVALID_INGREDIENT_REPORT", name) for name in ("total_reports", "status", "admin_notes")}
    documented = {(entity, name) for _, entity, name, _ in ROWS if name != "entity_type"} - moved
    named = {(entity, name) for _, entity, name in ELSEWHERE} | {(entity, name) for entity, name, _ in ADDED}
    found = {(entity, name) for entity, names in attributes().items() for name in names}
    assert {each for each in found if each[0] not in ADDED_ENTITIES} == documented | named
    assert set(attributes()) == set(SAMPLES) | set(ADDED_ENTITIES)


def test_what_a_report_lost_is_in_the_summary_of_its_name() -> None:
    assert attributes()["INVALID_INGREDIENT"] >= {"total_reports", "status", "admin_notes"}  # SC-33


@pytest.mark.parametrize(("entity", "attribute", "remark"), ADDED)
def test_added_attribute_has_a_remark(entity: str, attribute: str, remark: str) -> None:
    lines = inspect.getsource(CLASSES[entity]).splitlines()
    fields = [at for at, line in enumerate(lines) if re.match(r"    \w+:", line)]
    first = next(at for at in fields if lines[at].startswith(f"    {attribute}:"))
    behind = min([at for at in fields if at > first], default=len(lines))
    above = max(at for at in range(first) if not lines[at].strip())
    comments = [line for line in lines[above:first] if line.strip().startswith("#")]
    assert remark in " ".join(line for line in (*comments, *lines[first:behind]) if "dded" in line)


@pytest.mark.parametrize(("entity", "defect"), ADDED_ENTITIES.items())
def test_added_entity_names_the_defect_that_it_repairs(entity: str, defect: str) -> None:
    module, documentation = inspect.getmodule(CLASSES[entity]), CLASSES[entity].__doc__
    assert module is not None
    assert f"Added, {defect}" in str(documentation) or f"added, {defect}" in inspect.getsource(module)


CLASSES = {SmartCooking.stored_item(example)["entity_type"]["S"]: type(example) for example in EXAMPLES} | {
    "INGREDIENT_ALIAS": entities.IngredientAlias,
    "RECIPE_CUISINE": entities.CuisineFacet,
    "RECIPE_MEALTYPE": entities.MealTypeFacet,
    "RECIPE_APPROVED": entities.ApprovedFacet,
    "RECIPE_USE": entities.RecipeUse,
}


# --- items --------------------------------------------------------------------------------------------------


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[SmartCooking]:
    clock = ManualClock(int(STORED_AT.timestamp()) * 1_000_000)
    with opened_design(SmartCooking, request.param, clock, environment="test") as design:
        yield design


def sorted_items(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: (item["PK"], item["SK"]))


def test_full_examples_are_stored_literally_so(db: SmartCooking) -> None:
    db.load(EXAMPLES, settled=True)
    found = [{name: plain(value) for name, value in item.items()} for item in stored_items(db)]
    assert sorted_items(found) == sorted_items([*ITEMS, *ADDED_ITEMS])


def test_examples_hold_every_attribute() -> None:
    stored: dict[str, set[str]] = {}
    for item in (*ITEMS, *ADDED_ITEMS):
        stored.setdefault(item["entity_type"], set()).update(item)
    never = {("COOKING_HISTORY", "ttl"), ("RECIPE_INGREDIENT", "amount")}
    missing = {(entity, name) for entity, names in attributes().items() for name in names - stored[entity]}
    assert missing == never


def typed(value: Any) -> dict[str, Any]:
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int() | float():
            return {"N": str(value)}
        case str():
            return {"S": value}
        case list():
            return {"L": [typed(each) for each in value]}
    return {"M": {name: typed(each) for name, each in value.items()}}


# Where a sample of the document has an id in its key alone, and the side of a friendship nowhere (SC-31).
COMPLETED: dict[str, dict[str, Any]] = {
    "USER_PREFERENCES": {"user_id": "uuid-123"},
    "PRIVACY_SETTINGS": {"user_id": "uuid-123"},
    "USER_INGREDIENT": {"user_id": "uuid-123"},
    "RECIPE_INGREDIENT": {"recipe_id": "uuid-101", "position": 1},
    "FRIENDSHIP": {"direction": "sent"},
    "REACTION": {"post_id": "uuid-606"},
    "AI_SUGGESTION": {"ai_response": {"recipes": 1}},
}
# Entity, and a pattern that finds its sample.
READ = [
    ("USER_PROFILE", "user", ("uuid-123",)),
    ("USER_PREFERENCES", "preferences", ("uuid-123",)),
    ("PRIVACY_SETTINGS", "privacy", ("uuid-123",)),
    ("USER_INGREDIENT", "user_ingredients", ("uuid-123",)),
    ("USER_INGREDIENT", "user_ingredient", ("uuid-123", "Thịt gà")),
    ("MASTER_INGREDIENT", "ingredient", ("uuid-789",)),
    ("MASTER_INGREDIENT", "ingredients_by_category", ("meat",)),
    ("RECIPE", "recipe", ("uuid-101",)),
    ("RECIPE", "recipes_of", ("uuid-123",)),
    ("RECIPE", "recipes_by_method", ("stir-fry",)),
    ("RECIPE_INGREDIENT", "recipe_ingredients", ("uuid-101",)),
    ("COOKING_HISTORY", "history", ("uuid-123",)),
    ("COOKING_HISTORY", "favorites", ("uuid-123",)),
    ("RECIPE_RATING", "ratings", ("uuid-101",)),
    ("RECIPE_RATING", "ratings_of", ("uuid-123",)),
    ("RECIPE_RATING", "rating", ("uuid-101", "uuid-123")),
    ("AI_SUGGESTION", "suggestions", ("uuid-123",)),
    ("FRIENDSHIP", "friends", ("uuid-123",)),
    ("FRIENDSHIP", "friended_by", ("uuid-456",)),
    ("FRIENDSHIP", "friendship", ("uuid-123", "uuid-456")),
    ("POST", "post", ("uuid-606",)),
    ("POST", "posts_of", ("uuid-123",)),
    ("POST", "public_feed", (at("25 00:00"),)),
    ("COMMENT", "comments", ("uuid-606",)),
    ("COMMENT", "comments_of", ("uuid-456",)),
    ("REACTION", "reactions", ("uuid-606",)),
    ("REACTION", "reactions_of", ("uuid-456",)),
    ("NOTIFICATION", "notifications", ("uuid-123",)),
    ("NOTIFICATION", "unread", ("uuid-123",)),
    ("INVALID_INGREDIENT_REPORT", "report", ("abc xyz", "uuid-123")),
]
# What an item of the document cannot say, with what it is then.
UNSAID = {
    "version",
    "ttl",
    "friends_count",
    "visibility",
    "rating_step",
    "ingredient_names",
    "normalized_name",
}


def test_items_of_the_document_are_read_without_what_was_added(db: SmartCooking) -> None:
    for entity in SAMPLES:
        item = documented_item(entity) | COMPLETED.get(entity, {})
        store(db, {name: typed(value) for name, value in item.items()})
    for entity, name, arguments in READ:
        found = getattr(db, name)(*arguments).one()
        documented = {each for _, owner, each, _ in ROWS if owner == entity}
        for field in documented & set(type(found).model_fields) - UNSAID:
            assert getattr(found, field) == getattr(SAMPLES[entity], field), (entity, field)
