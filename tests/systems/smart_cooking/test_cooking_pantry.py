"""Pantries: what users have at home, under the names of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    IngredientNotFoundError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.keys import IngredientId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.catalogue import Catalogue
from singletable_systems.smart_cooking.services.pantry import NAMES_AT_ONCE_MAX, Pantry
from support.targets import TARGETS
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched

CHICKEN = IngredientId("chicken-id")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        prepare(db)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        prepare(db)
        yield db


def prepare(db: SmartCooking) -> None:
    sign_up(db, ADA, BO)
    Catalogue(db).add("Thịt gà", "meat", aliases=["chicken"], ingredient_id=CHICKEN)


def at_home(db: SmartCooking, user_id: UserId) -> list[tuple[str, IngredientId | None]]:
    page = Pantry(db).page(user_id)
    return [(each.ingredient_name, each.ingredient_id) for each in page.items]


def test_known_and_unknown_ingredients_are_added(db: SmartCooking) -> None:
    added = Pantry(db).add(ADA, ["thit ga", "Rau càng cua"])
    assert [each.ingredient_name for each in added] == ["Thịt gà", "Rau càng cua"]
    assert at_home(db, ADA) == [("Rau càng cua", None), ("Thịt gà", CHICKEN)]
    assert at_home(db, BO) == []


def test_names_of_one_ingredient_are_one_entry(db: SmartCooking, clock: ManualClock) -> None:
    [first] = Pantry(db).add(ADA, ["chicken", "Thịt gà"])
    clock.advance(60)
    assert Pantry(db).add(ADA, ["CHICKEN"]) == [first]
    assert at_home(db, ADA) == [("Thịt gà", CHICKEN)]
    assert Pantry(db).get(ADA, "chicken") == Pantry(db).get(ADA, "thit ga") == first


@pytest.mark.parametrize("name", ["chicken", "thịt GÀ"])
def test_ingredient_is_removed_by_any_of_its_names(db: SmartCooking, name: str) -> None:
    Pantry(db).add(ADA, ["Thịt gà", "Sả"])
    Pantry(db).remove(ADA, name)
    Pantry(db).remove(ADA, name)
    assert at_home(db, ADA) == [("Sả", None)]
    with pytest.raises(IngredientNotFoundError, match="there is no ingredient"):
        Pantry(db).get(ADA, name)


def test_entry_from_before_the_catalogue_knew_it_is_found_and_removed(memory: SmartCooking) -> None:
    Pantry(memory).add(ADA, ["lemongrass"])
    Catalogue(memory).add("Sả", "herb", aliases=["lemongrass"])
    assert Pantry(memory).get(ADA, "Lemongrass").ingredient_name == "lemongrass"
    Pantry(memory).remove(ADA, "Lemongrass")
    assert at_home(memory, ADA) == []


def test_ingredients_are_read_in_pages(memory: SmartCooking) -> None:
    Pantry(memory).add(ADA, [f"herb {number:02}" for number in range(20)])
    first = Pantry(memory).page(ADA, limit=15)
    rest = Pantry(memory).page(ADA, limit=15, cursor=first.cursor)
    assert [each.normalized_name for each in [*first.items, *rest.items]] == [
        f"herb {number:02}" for number in range(20)
    ]
    assert rest.cursor is None


def test_all_or_nothing_is_added(memory: SmartCooking) -> None:
    with pytest.raises(InvalidInputError):
        Pantry(memory).add(ADA, ["Sả", "!"])
    with pytest.raises(InvalidInputError, match="50 ingredients can be added at once"):
        Pantry(memory).add(ADA, [f"herb {number}" for number in range(NAMES_AT_ONCE_MAX + 1)])
    assert at_home(memory, ADA) == []
    assert Pantry(memory).add(ADA, []) == []


def test_what_two_devices_add_at_once_is_there_once(memory: SmartCooking) -> None:
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Pantry(memory).add(ADA, ["chicken"])

    between.before = overtake
    Pantry(slow).add(ADA, ["Thịt gà", "Sả"])
    assert at_home(memory, ADA) == [("Sả", None), ("Thịt gà", CHICKEN)]


def test_nobody_has_nothing_at_home(memory: SmartCooking) -> None:
    with pytest.raises(UserNotFoundError, match="there is no user user-cy"):
        Pantry(memory).add(CY, ["Sả"])
    assert at_home(memory, CY) == []
