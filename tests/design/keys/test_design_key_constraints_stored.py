"""Items whose keys have constraints: new ones are held to them, and what is stored already stays in reach."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, Field, StringConstraints

from singletable.blueprint import Blueprint
from singletable.design import (
    CountOf,
    Design,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    Normalize,
    Query,
    SortKey,
    Table,
    Unique,
    pattern,
)
from singletable.errors import KeyValueError
from support.opened_designs import opened_design, store, stored_item, stored_items
from support.targets import TARGETS

Place = Annotated[str, Field(pattern="^[a-z]+(-[a-z]+)*$", max_length=20)]
Year = Annotated[int, Field(ge=2000, le=9999)]
Week = Annotated[int, Field(ge=1, le=53)]


class PlacePK(Key, template="PLACE#{place}"):
    place: Place


class WeekSK(SortKey, template="WEEK#{year:04}#{week:02}#{title}"):
    year: Year
    week: Week
    title: Annotated[str, Field(min_length=3)]


class StatePK(Key, template="STATE#{state}"):
    state: Annotated[str, Field(max_length=5)]


class WeekOnlySK(SortKey, template="{week:02}"):
    week: Week


class CodePK(Key, template="CODE#{code}"):
    code: Annotated[str, Field(pattern=r"^\d+$")]


class MenuTable(Table):
    name = "menus"
    pitr_days = None
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class Menu(Entity):
    """Its own fields ask for nothing: only its keys do."""

    key = Keys(PlacePK, WeekSK)
    by_state = MenuTable.gsi1.keys(StatePK, WeekOnlySK, when=Eq("is_public", True))
    unique_code = Unique(CodePK)

    place: str
    year: int
    week: int
    title: str
    state: str = "new"
    is_public: bool = False
    code: str | None = None
    note: str = ""


class Menus(Design):
    table = MenuTable
    entities = (Menu,)

    @pattern("1 Menus of some weeks")
    def menus(self, place: str, year: int, first: int, last: int) -> Query[Menu]:
        bounds = [WeekSK.prefix(year=year, week=week) for week in (first, last)]
        return Menu.key.query(PlacePK(place=place), ge=bounds[0], le=bounds[1])

    @pattern("2 A menu")
    def menu(self, place: str, year: int, week: int, title: str) -> Get[Menu]:
        return Menu.key.get(PlacePK(place=place), WeekSK(year=year, week=week, title=title))


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Menus]:
    with opened_design(Menus, request.param) as db:
        yield db


def menu(**values: Any) -> Menu:
    return Menu(**{"place": "niagara", "year": 2025, "week": 3, "title": "soup", **values})


def test_pattern_refuses_bounds_that_no_item_can_be_between(db: Menus) -> None:
    db.create(menu())
    assert [each.week for each in db.menus("niagara", 2025, 1, 53).page()] == [3]
    with pytest.raises(KeyValueError, match="54 is refused by le=53"):
        db.menus("niagara", 2025, 1, 54)
    with pytest.raises(
        KeyValueError, match="'Niagara' is refused: it should have another form, as 'niagara' has"
    ):
        db.menus("Niagara", 2025, 1, 53)


# --- what is stored ---------------------------------------------------------------------------------------


# As it was written before the keys had constraints.
OLD = Menus.stored_item(menu(place="Niagara", week=99, state="forgotten", is_public=True))


def test_stored_key_is_read_whatever_the_constraints_say_now() -> None:
    key = WeekSK.parse("WEEK#1925#99#so")
    assert key.values() == (1925, 99, "so")
    assert key.render() == "WEEK#1925#99#so"
    assert menu(place="Niagara").key[0] == PlacePK.parse("PLACE#Niagara")


def test_older_item_is_found_changed_and_deleted(db: Menus) -> None:
    store(db, OLD)
    found = db.plan(Menu.key.get(PlacePK.parse("PLACE#Niagara"), WeekSK.parse("WEEK#2025#99#soup"))).one()
    assert (found.place, found.week) == ("Niagara", 99)
    by_state = Menu.by_state.query(StatePK.parse("STATE#forgotten"))
    assert db.plan(by_state).one() == found
    assert db.verify().is_clean
    changed = db.update(found, note="old").entity
    assert changed.note == "old"
    db.update(changed, state="kept")
    item = stored_item(db, "PLACE#Niagara", "WEEK#2025#99#soup")
    assert item is not None
    assert (item["GSI1PK"], item["GSI1SK"]) == ({"S": "STATE#kept"}, {"S": "99"})
    db.delete(changed)
    assert stored_items(db) == []


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"week": 54}, "WeekSK.week .* 54 is refused by le=53"),
        (
            {"place": "Niagara"},
            "PlacePK.place .* 'Niagara' is refused: it should have another form, as 'niagara' has",
        ),
        ({"state": "forgotten", "is_public": True}, "StatePK.state .* is refused by max_length=5"),
        ({"code": "x"}, "CodePK.code .* 'x' is refused: it should have another form"),
    ],
    ids=["sort key", "partition key", "index", "unique"],
)
def test_new_item_that_nobody_could_ask_for_is_not_written(
    db: Menus, values: dict[str, Any], sentence: str
) -> None:
    for write in (db.create, db.put, lambda each: db.load([each])):
        with pytest.raises(KeyValueError, match=sentence):
            write(menu(**values))
    assert stored_items(db) == []


def test_item_that_is_in_no_index_may_have_any_value_of_its_key(db: Menus) -> None:
    db.create(menu(state="forgotten"))
    assert db.menu("niagara", 2025, 3, "soup").one().state == "forgotten"


def test_change_to_what_nobody_could_ask_for_is_refused(db: Menus) -> None:
    made = db.create(menu(is_public=True, code="1")).entity
    with pytest.raises(KeyValueError, match=r"StatePK\.state .* is refused by max_length=5"):
        db.update(made, state="forgotten")
    with pytest.raises(KeyValueError, match=r"StatePK\.state .* is refused by max_length=5"):
        db.update(Menu.key.get(*made.key), state="forgotten")
    with pytest.raises(KeyValueError, match=r"CodePK\.code .* is refused: it should have another form"):
        db.update(made, code="x")
    assert db.menu("niagara", 2025, 3, "soup").one() == made
    assert db.update(made, state="kept", code="2").entity.state == "kept"


class OldPlacePK(Key, template="P#{place}"):
    place: Annotated[str, Field(max_length=3)]


class MovedMenu(Entity, name="Menu"):
    key = Keys(PlacePK, WeekSK, was=(OldPlacePK, WeekSK))

    place: str
    year: int
    week: int
    title: str


class MovedMenus(Design):
    table = MenuTable
    entities = (MovedMenu,)


def test_older_keys_are_looked_under_whatever_they_allowed(db: Menus) -> None:
    moved = MovedMenus._on(MovedMenus._session_on(db.session.client, {}))
    item = {name: value for name, value in OLD.items() if not name.startswith("GSI")}
    store(db, {**item, "PK": {"S": "P#niagara"}, "place": {"S": "niagara"}})
    found = moved.plan(MovedMenu.key.query(PlacePK(place="niagara"))).one()
    assert (found.place, found.week) == ("niagara", 99)


class SeasonSK(SortKey, template="SEASON#{year:04}"):
    year: Year


class DishSK(SortKey, template="DISH#{year:04}#{name}"):
    year: Year
    name: Annotated[str, Normalize(str.casefold), Field(max_length=4)]


class Season(Entity, owns=("Dish",)):
    key = Keys(PlacePK, SeasonSK)

    place: str
    year: int
    dishes: Annotated[int, CountOf("Dish")] = 0


class Dish(Entity):
    key = Keys(PlacePK, DishSK)

    place: str
    year: int
    name: str


class Seasons(Design):
    table = MenuTable
    entities = (Season, Dish)


@pytest.mark.parametrize("target", TARGETS)
def test_older_owner_is_counted_and_deleted_with_what_it_owns(target: str) -> None:
    with opened_design(Seasons, target) as db:
        season = Season(place="Niagara", year=1925, dishes=2)
        for entity in (season, *(Dish(place="Niagara", year=1925, name=name) for name in ("soup", "fish"))):
            store(db, Seasons.stored_item(entity))
        assert db.verify().is_clean
        found = db.plan(Season.key.get(*season.key)).one()
        assert db.delete_plan(found).counts["Dish"] == 2
        db.delete(found)
        assert stored_items(db) == []


@pytest.mark.parametrize("target", TARGETS)
def test_whole_key_as_a_beginning_finds_what_it_is_the_normal_form_of(target: str) -> None:
    with opened_design(Seasons, target) as db:
        db.create(Season(place="niagara", year=2025))
        db.create(Dish(place="niagara", year=2025, name="ßßßß"))
        whole = DishSK.prefix(year=2025, name="ßßßß")
        assert db.plan(Dish.key.query(PlacePK(place="niagara"), whole)).one().name == "ßßßß"


# --- blueprints -------------------------------------------------------------------------------


def test_blueprint_is_made_where_only_the_keys_have_constraints() -> None:
    menus, one = Menus.blueprint().patterns
    assert menus.reads[0].pk == "PLACE#{place}"
    assert one.reads[0].sort is not None
    assert one.reads[0].sort.templates == ("WEEK#{year:04}#{week:02}#{title}",)
    with pytest.raises(KeyValueError):  # the samples alone were let in
        PlacePK(place="Niagara")


class ShownPK(Key, template="{name}"):
    name: str


class Shown(Entity):
    key = Keys(ShownPK)

    name: Annotated[str, Field(pattern="^[a-z]+$", max_length=9)]
    nick: Annotated[str, Field(pattern=re.compile("^[a-z]$"))] | None = None
    code: Annotated[str, StringConstraints(pattern=re.compile("^x"), to_lower=True)] = "x"
    size: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0
    note: Annotated[str, AfterValidator(str.strip)] = ""


class ShownTable(Table):
    name = "shown"
    sk = None


class ShownDesign(Design):
    table = ShownTable
    entities = (Shown,)


def test_blueprint_shows_constraints_with_their_values() -> None:
    blueprint = ShownDesign.blueprint()
    markers = {each.name: list(each.markers) for each in blueprint.entities[0].attributes}
    assert markers == {
        "name": [{"kind": "MaxLen", "max_length": 9}, {"kind": "pattern", "value": "^[a-z]+$"}],
        "nick": [{"kind": "pattern", "value": "^[a-z]$"}],
        "code": [{"kind": "StringConstraints", "to_lower": True, "pattern": "^x"}],
        "size": [{"kind": "Ge", "ge": 0}, {"kind": "AllowInfNan", "allow_inf_nan": False}],
        "note": [{"kind": "AfterValidator", "func": "strip"}],
    }
    assert Blueprint.from_json(blueprint.to_json()) == blueprint
