"""The catalogue: names of one ingredient each, found by their beginning, by aliases, with and without accents."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    IngredientExistsError,
    IngredientNotFoundError,
    InvalidInputError,
)
from singletable_systems.smart_cooking.model.entities import MasterIngredient
from singletable_systems.smart_cooking.model.keys import IngredientId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.catalogue import ALIASES_MAX, Catalogue
from support.opened_designs import stored_item
from support.targets import TARGETS
from systems.cooking_users import opened_cooking, watched

CHICKEN, LIVER = IngredientId("chicken-id"), IngredientId("liver-id")


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, ManualClock()) as db:
        yield db


@pytest.fixture
def memory() -> Iterator[SmartCooking]:
    with opened_cooking("embedded", ManualClock()) as db:
        yield db


def add_chicken(db: SmartCooking) -> MasterIngredient:
    """The ingredient of 002:149-166."""
    aliases = ["gà", "chicken", "thịt gà ta"]
    return Catalogue(db).add("Thịt gà", "meat", aliases=aliases, ingredient_id=CHICKEN)


def names(db: SmartCooking, term: str) -> list[str]:
    return [each.name for each in Catalogue(db).search(term)]


def test_ingredient_is_added_with_what_it_is_found_by(db: SmartCooking) -> None:
    added = add_chicken(db)
    assert db.ingredient(CHICKEN).consistent().one() == added
    assert db.ingredient_by_name("THIT-GA").one() == added
    assert (added.normalized_name, added.aliases, added.is_active) == (
        "thit ga",
        ["gà", "chicken", "thịt gà ta"],
        True,
    )
    alias = stored_item(db, "INGREDIENT#chicken-id", "ALIAS#gà")
    assert alias is not None
    assert (alias["GSI2PK"]["S"], alias["GSI2SK"]["S"]) == ("INGREDIENT#SEARCH", "NAME#ga")


@pytest.mark.parametrize("name", ["Thịt gà", "thit-ga", " THỊT  GÀ "])
def test_name_is_of_one_ingredient_however_it_is_written(db: SmartCooking, name: str) -> None:
    add_chicken(db)
    with pytest.raises(IngredientExistsError, match="there is an ingredient"):
        Catalogue(db).add(name, "meat")
    other = Catalogue(db).add("Gan gà", "meat")
    with pytest.raises(IngredientExistsError):
        Catalogue(db).rename(other.ingredient_id, name)
    assert db.ingredient(other.ingredient_id).consistent().one().name == "Gan gà"


def test_id_is_of_one_ingredient(memory: SmartCooking) -> None:
    add_chicken(memory)
    with pytest.raises(IngredientExistsError):
        Catalogue(memory).add("Gan gà", "meat", ingredient_id=CHICKEN)


@pytest.mark.parametrize("name", ["", "  ", "!!", "x" * 101])
def test_name_that_is_none_is_refused(memory: SmartCooking, name: str) -> None:
    catalogue = Catalogue(memory)
    with pytest.raises(InvalidInputError):
        catalogue.add(name, "meat")
    with pytest.raises(InvalidInputError):
        catalogue.add("Thịt gà", "meat", aliases=[name])


@pytest.mark.parametrize("category", ["", " ", "a#b"])
def test_category_that_is_none_is_refused(memory: SmartCooking, category: str) -> None:
    with pytest.raises(InvalidInputError, match="is no category"):
        Catalogue(memory).add("Thịt gà", category)


def test_search_finds_beginnings_of_names_and_aliases_in_their_order(db: SmartCooking) -> None:
    catalogue = Catalogue(db)
    add_chicken(db)  # by its aliases `gà` and `thịt gà ta` too
    catalogue.add("Gạo", "grain")
    catalogue.add("Gan", "meat", aliases=["gà gan"])
    catalogue.add("Hành", "vegetable")
    assert names(db, "ga") == ["Thịt gà", "Gan", "Gạo"]
    assert names(db, "GA") == names(db, "gà") == ["Thịt gà", "Gan", "Gạo"]
    assert names(db, "thit") == ["Thịt gà"]
    assert names(db, "chick") == ["Thịt gà"]
    assert names(db, "anh") == []


@pytest.mark.parametrize("term", ["", "  ", "-"])
def test_search_for_no_letters_finds_nothing(memory: SmartCooking, term: str) -> None:
    add_chicken(memory)
    assert names(memory, term) == []


def test_search_ends_after_fifty_names(memory: SmartCooking) -> None:
    catalogue = Catalogue(memory)
    for number in range(60):
        catalogue.add(f"Ga {number:02}", "meat")
    assert names(memory, "ga") == [f"Ga {number:02}" for number in range(50)]


def test_names_are_resolved_whole(db: SmartCooking) -> None:
    add_chicken(db)
    resolved = Catalogue(db).resolve(["chicken", "thịt", "THIT GA", "abc xyz", "!", "chicken"])
    assert {name: each.ingredient_id for name, each in resolved.valid.items()} == {
        "chicken": CHICKEN,
        "THIT GA": CHICKEN,
    }
    assert resolved.valid["chicken"].model_dump() == {
        "ingredient_id": CHICKEN,
        "name": "Thịt gà",
        "normalized_name": "thit ga",
        "category": "meat",
    }
    assert resolved.invalid == ["thịt", "abc xyz", "!"]
    assert [each.ingredient_id for each in resolved.ingredients] == [CHICKEN]


def test_own_name_comes_before_the_alias_of_another(db: SmartCooking) -> None:
    Catalogue(db).add("Gan", "meat", aliases=["Thịt gà"], ingredient_id=IngredientId("0-sorts-first"))
    add_chicken(db)
    resolved = Catalogue(db).resolve(["thịt gà"])
    assert [each.name for each in resolved.ingredients] == ["Thịt gà"]


def test_renamed_ingredient_is_found_by_its_new_name_only(db: SmartCooking) -> None:
    add_chicken(db)
    renamed = Catalogue(db).rename(CHICKEN, "Gà ta")
    assert renamed.normalized_name == "ga ta"
    resolved = Catalogue(db).resolve(["gà ta", "thịt gà", "chicken"])
    assert {name: each.name for name, each in resolved.valid.items()} == {
        "gà ta": "Gà ta",
        "chicken": "Gà ta",
    }
    assert resolved.invalid == ["thịt gà"]
    assert Catalogue(db).add("Thịt gà", "meat").ingredient_id != CHICKEN


def test_alias_is_added_and_removed(db: SmartCooking) -> None:
    catalogue = Catalogue(db)
    catalogue.add("Gan", "meat", ingredient_id=LIVER)
    assert catalogue.add_alias(LIVER, "liver").aliases == ["liver"]
    assert catalogue.add_alias(LIVER, " LIVER ").aliases == ["liver"]
    assert names(db, "liv") == ["Gan"]
    assert catalogue.remove_alias(LIVER, "Liver").aliases == []
    assert names(db, "liv") == []


def test_aliases_end_at_forty(memory: SmartCooking) -> None:
    catalogue = Catalogue(memory)
    aliases = [f"gan {number}" for number in range(ALIASES_MAX)]
    catalogue.add("Gan", "meat", aliases=aliases, ingredient_id=LIVER)
    with pytest.raises(InvalidInputError, match="may have 40 other names"):
        catalogue.add_alias(LIVER, "liver")


def test_aliases_that_two_add_at_once_are_both_there(memory: SmartCooking) -> None:
    Catalogue(memory).add("Gan", "meat", ingredient_id=LIVER)
    slow, between = watched(memory)

    def overtake(call: Call) -> None:
        if call.operation == "TransactWriteItems":
            between.before = lambda call: None
            Catalogue(memory).add_alias(LIVER, "liver")

    between.before = overtake
    Catalogue(slow).add_alias(LIVER, "foie")
    assert memory.ingredient(LIVER).one().aliases == ["liver", "foie"]


def test_inactive_ingredient_is_in_no_list_and_comes_back(db: SmartCooking) -> None:
    add_chicken(db)
    catalogue = Catalogue(db)
    catalogue.deactivate(CHICKEN)
    assert names(db, "thit") == names(db, "chicken") == []
    assert catalogue.resolve(["thịt gà", "gà"]).valid == {}
    assert db.ingredients_by_category("meat").first() is None
    with pytest.raises(IngredientExistsError):
        catalogue.add("Thịt gà", "meat")
    catalogue.activate(CHICKEN)
    assert names(db, "chicken") == ["Thịt gà"]
    assert [each.name for each in db.ingredients_by_category("meat").all()] == ["Thịt gà"]


def test_unknown_ingredient_is_a_clear_error(memory: SmartCooking) -> None:
    catalogue = Catalogue(memory)
    with pytest.raises(IngredientNotFoundError, match="there is no ingredient liver-id"):
        catalogue.rename(LIVER, "Gan")
    with pytest.raises(IngredientNotFoundError):
        catalogue.add_alias(LIVER, "liver")
    with pytest.raises(IngredientNotFoundError):
        catalogue.deactivate(LIVER)


def test_catalogue_stays_in_order(memory: SmartCooking) -> None:
    catalogue = Catalogue(memory)
    add_chicken(memory)
    catalogue.rename(CHICKEN, "Gà ta")
    catalogue.add_alias(CHICKEN, "hen")
    catalogue.remove_alias(CHICKEN, "gà")
    catalogue.deactivate(CHICKEN)
    assert memory.verify().differences == ()


@pytest.mark.parametrize(
    "name", ["", "!!", "x" * 3_000, "\ufdfa" * 100], ids=["empty", "signs", "long", "phrases"]
)
def test_name_that_can_be_of_nothing_is_invalid_and_no_error(db: SmartCooking, name: str) -> None:
    add_chicken(db)
    resolved = Catalogue(db).resolve([name, "chicken"])
    assert (resolved.invalid, [each.name for each in resolved.ingredients]) == ([name], ["Thịt gà"])
    with pytest.raises(InvalidInputError):
        Catalogue(db).add_alias(CHICKEN, name)
