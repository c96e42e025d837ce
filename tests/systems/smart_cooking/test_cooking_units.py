"""The requests that each pattern of Smart Cooking sends, beside the documents' words, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from singletable import Entity
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.model.keys import RecipeId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from support.design_clients import Between, on_client
from support.targets import TARGETS, opened
from systems.cooking_examples import (
    COMMENT,
    EXAMPLES,
    FEED_ITEM,
    FRIENDSHIP,
    HISTORY,
    INGREDIENT,
    INVALID_INGREDIENT,
    NOTIFICATION,
    POST,
    RATED_RECIPE,
    RATING,
    REACTION,
    STORED_AT,
    TRENDING,
    USER,
)
from systems.cooking_requests import REQUESTS
from systems.pattern_proof import shown

# Pattern: line, and what the document says there.
DOCUMENTED = {
    "user": ("002:83", "PK=USER#<id>, SK=PROFILE"),
    "admins": ("002:84", "GSI1PK=ROLE#admin"),
    "preferences": ("002:104", "PK=USER#<id>, SK=PREFERENCES"),
    "privacy": ("002:126", "PK=USER#<id>, SK=PRIVACY"),
    "user_ingredients": ("002:143", "PK=USER#<id>, SK begins_with INGREDIENT#"),
    "user_ingredient": ("002:144", "PK=USER#<id>, SK=INGREDIENT#<name>"),
    "ingredient": ("002:170", "PK=INGREDIENT#<id>, SK=METADATA"),
    "search_ingredients": ("002:171", "GSI2PK=INGREDIENT#SEARCH, GSI2SK begins_with NAME#<term>"),
    "ingredients_named": ("000:94", "GSI2PK=INGREDIENT#SEARCH, GSI2SK=NAME#<name>"),
    "ingredients_by_category": ("002:172", "GSI1PK=CATEGORY#<category>"),
    "recipe": ("002:220", "PK=RECIPE#<id>, SK=METADATA"),
    "recipes_of": ("002:221", "GSI1PK=USER#<user_id>, GSI1SK begins_with RECIPE#"),
    "recipes_by_method": ("002:222", "GSI2PK=METHOD#<method>, Sort by rating DESC"),
    "approved_recipes": ("002:223", "GSI2PK=APPROVED, GSI2SK begins_with RECIPE#"),
    "recipes_by_cuisine": ("002:505", "GSI2PK=CUISINE#<cuisine>"),
    "recipes_by_meal_type": ("002:506", "GSI2PK=MEALTYPE#<meal_type>"),
    "recipe_ingredients": ("002:239", "PK=RECIPE#<id>, SK begins_with INGREDIENT#"),
    "history": ("002:266", "PK=USER#<id>, SK begins_with COOKING#, Sort DESC"),
    "favorites": ("002:267", "GSI1PK=USER#<id>#FAVORITE, Sort by cook_date DESC"),
    "recent_activities": ("000:96", "GSI3PK=RECENT#<year-month>"),
    "trending": ("000:26", "GSI3PK=TRENDING#weekly"),
    "ratings": ("002:292", "PK=RECIPE#<id>, SK begins_with RATING#"),
    "ratings_of": ("002:293", "GSI1PK=USER#<id>, SK begins_with RATING#"),
    "rating": ("002:294", "PK=RECIPE#<id>, SK=RATING#<user_id>"),
    "suggestions": ("002:323", "PK=USER#<id>, SK begins_with SUGGESTION#, Sort DESC"),
    "suggestion_at": ("002:324", "PK=USER#<id>, SK=SUGGESTION#<timestamp>"),
    "friends": ("002:346", "PK=USER#<id>, SK begins_with FRIEND#, Filter status=accepted"),
    "friended_by": ("002:347", "GSI1PK=USER#<id>, SK begins_with FRIEND#"),
    "friendship": ("002:348", "PK=USER#<id>, SK=FRIEND#<friend_id>"),
    "post": ("002:376", "PK=POST#<id>, SK=METADATA"),
    "posts_of": ("002:377", "GSI1PK=USER#<id>, SK begins_with POST#"),
    "public_feed": ("002:378", "GSI3PK=FEED#PUBLIC, Sort DESC"),
    "feed": ("002:520", "GSI3PK=FEED#<user_id>"),
    "comments": ("002:401", "PK=POST#<id>, SK begins_with COMMENT#, Sort ASC"),
    "comments_of": ("002:402", "GSI1PK=USER#<id>, SK begins_with COMMENT#"),
    "reactions": ("002:424", "PK=POST#<id>, SK begins_with REACTION#"),
    "reaction": ("002:425", "PK=POST#<id>, SK=REACTION#<user_id>"),
    "reactions_of": ("002:426", "GSI1PK=USER#<id>, SK begins_with REACTION#"),
    "notifications": ("002:451", "PK=USER#<id>, SK begins_with NOTIFICATION#, Sort DESC"),
    "unread": ("002:452", "GSI1PK=USER#<id>#UNREAD, Sort DESC"),
    "report": ("002:478", "PK=INVALID_INGREDIENT#<name>, SK=USER#<user_id>"),
    "pending_reports": ("002:479", "GSI1PK=REPORTS#PENDING, Sort by total DESC"),
    "recipes": ("002:683", "BatchGet RECIPE#101, RECIPE#102, RECIPE#103 with SK=METADATA"),
}


# --- the documents' words -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DOCUMENTED)
def test_pattern_asks_what_the_document_asks(name: str) -> None:
    line, documented = DOCUMENTED[name]
    info = SmartCooking.patterns()[name]
    assert info.documented == documented, line
    # A feed first asks for the friends whose posts are fetched on read (SC-22).
    request = REQUESTS[name].requests[1 if name == "feed" else 0]
    for part in documented.split(", ") if name != "recipes" else ():
        assert_asked(part, request, info.fixes)


def assert_asked(part: str, request: str, fixes: str) -> None:
    """Prove that a request has a part of what the document says, unless a defect says otherwise."""
    attribute, sign, text = part.partition("=") if "=" in part else part.partition(" begins_with ")
    literal = text.partition("<")[0]
    if part.startswith("Sort"):
        assert ("backward" in request) == part.endswith("DESC")
    elif part.startswith("Filter"):
        assert "filtered" in request
    elif sign == " begins_with ":
        asked = attribute if "SC-17" not in fixes else "GSI1SK"  # SC-17: SK is no key of GSI1
        assert f"begins_with({asked}, {literal}" in request
    elif "SC-25" in fixes and attribute == "SK":
        assert f"begins_with(SK, {literal}" in request  # several of one moment
    else:
        assert literal in request


def test_several_recipes_are_gotten_by_the_keys_of_the_document(cooking: Opened) -> None:
    request = cooking.db.recipes([RecipeId(text) for text in ("101", "102", "103")]).request()
    (asked,) = request if isinstance(request, list) else [request]
    keys = [(f"RECIPE#{number}", "METADATA") for number in (101, 102, 103)]  # 002:683-685
    (table,) = asked["RequestItems"].values()
    assert [(key["PK"]["S"], key["SK"]["S"]) for key in table["Keys"]] == keys


def test_every_documented_pattern_is_listed() -> None:
    documented = {name for name, info in SmartCooking.patterns().items() if info.documented}
    assert set(DOCUMENTED) == documented
    numbers = {SmartCooking.patterns()[name].number.rstrip("b") for name in DOCUMENTED}
    assert numbers == {str(number) for number in range(1, 43)}


def test_pattern_without_words_of_a_document_repairs_a_defect_or_stands_beside_one() -> None:
    numbers = {info.number for info in SmartCooking.patterns().values() if info.documented}
    for name, info in SmartCooking.patterns().items():
        beside = info.number.rstrip("bcdefgh") in numbers
        assert info.documented or info.fixes or beside or int(info.number.rstrip("bcd")) > 42, name


# --- requests and units ---------------------------------------------------------------------------------------


class Opened:
    """A design with the examples in it, and who writes its requests down."""

    def __init__(self, db: SmartCooking, between: Between, empty_page_units: float = 0.5) -> None:
        self.db = db
        self.between = between
        self.empty_page_units = empty_page_units

    def asked(self, name: str, limit: int = 10) -> tuple[float, list[str]]:
        """Ask a pattern about the examples; return the units, and the requests."""
        plan = getattr(self.db, name)(*REQUESTS[name].arguments).cached(seconds=0)
        calls = self.between.calls = []
        found = plan.page(limit) if hasattr(plan, "page") else plan.found()
        return found.usage.units, [shown(call) for call in calls]


@pytest.fixture(scope="module", params=TARGETS)
def cooking(request: pytest.FixtureRequest) -> Iterator[Opened]:
    clock = ManualClock(int(STORED_AT.timestamp()) * 1_000_000)
    with opened(request.param, clock=clock) as client:
        between = Between(client)
        db = on_client(SmartCooking, between, environment="test")
        db.load(EXAMPLES, settled=True)
        # DynamoDB Local asks nothing for a page without items.
        yield Opened(db, between, 0.0 if request.param == "aws-local" else 0.5)


def test_every_pattern_has_its_requests() -> None:
    assert set(REQUESTS) == set(SmartCooking.patterns())


@pytest.mark.parametrize("name", REQUESTS)
def test_pattern_sends_these_requests_at_this_cost(cooking: Opened, name: str) -> None:
    empty_pages = 1 if name == "feed" else 0  # nobody of the examples is read where he stands
    units = REQUESTS[name].units - empty_pages * (0.5 - cooking.empty_page_units)
    assert cooking.asked(name) == (units, list(REQUESTS[name].requests))


def test_no_pattern_scans() -> None:
    words = {request.split(",")[0] for expected in REQUESTS.values() for request in expected.requests}
    assert words == {"GetItem", "BatchGetItem", "Query"}


# --- what others have costs nothing -----------------------------------------------------------------------------


def others(count: int) -> Iterator[Entity]:
    """Make what other people have, and what comes after the examples in the lists that all share."""
    for number in range(count):
        name, earlier = f"other-{number}", timedelta(days=1, seconds=number)
        user = {"user_id": name}
        yield USER.model_copy(update={**user, "email": f"{name}@example.com", "username": name})
        yield INGREDIENT.model_copy(
            update={
                "ingredient_id": name,
                "name": f"xa {number}",
                "normalized_name": f"xa {number}",
                "aliases": [],
            }
        )
        yield RATED_RECIPE.model_copy(
            update={**user, "recipe_id": name, "created_at": RATED_RECIPE.created_at - earlier}
        )
        yield RATING.model_copy(update={**user, "recipe_id": name})
        yield TRENDING.model_copy(update={"recipe_id": name, "score": 41})
        yield HISTORY.model_copy(update={**user, "cook_date": HISTORY.cook_date - earlier})
        yield FRIENDSHIP.model_copy(update={**user, "friend_id": f"{name}-friend"})
        yield POST.model_copy(update={**user, "post_id": name, "created_at": POST.created_at - earlier})
        yield COMMENT.model_copy(update={**user, "post_id": name, "comment_id": name})
        yield REACTION.model_copy(update={**user, "post_id": name, "target_id": name})
        yield FEED_ITEM.model_copy(update={**user, "post_id": name})
        yield NOTIFICATION.model_copy(update=user)
        unknown = f"zz {number}"
        yield INVALID_INGREDIENT.model_copy(
            update={"ingredient_name": unknown, "normalized_name": unknown, "total_reports": 4}
        )


def test_pattern_costs_the_same_in_a_table_with_much_of_others() -> None:
    clock = ManualClock(int(STORED_AT.timestamp()) * 1_000_000)
    with opened("embedded", clock=clock) as client:
        between = Between(client)
        cooking = Opened(on_client(SmartCooking, between, environment="test"), between)
        cooking.db.load(EXAMPLES, settled=True)
        before: dict[str, Any] = {name: cooking.asked(name, 1) for name in REQUESTS}
        cooking.db.load(others(150), settled=True)
        assert {name: cooking.asked(name, 1) for name in REQUESTS} == before
