"""Items that are made from another one are there when it says so, and gone when it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs.recipes import Facet, MetadataSK, Recipe, RecipePK, Recipes, Word
from singletable.design import (
    Create,
    Derived,
    Design,
    Entity,
    Key,
    Keys,
    Put,
    SortKey,
    Table,
    Update,
    Version,
)
from singletable.errors import AlreadyExistsError, DeclarationError, InvalidWriteError
from support.design_clients import ALL_TARGETS, Between, on_client
from support.kept_together import consume, opened_design, records


@pytest.fixture(params=ALL_TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Recipes]:
    with opened_design(Recipes, request.param) as db:
        yield db
        consume(db)
        assert db.verify().is_clean


def recipe(**values: Any) -> Recipe:
    return Recipe(**{"recipe_id": "r", "title": "Bread", **values})


def recipe_key() -> Any:
    return Recipe.key.get(RecipePK(recipe_id="r"), MetadataSK())


def facets(db: Design) -> dict[str, str]:
    found = db.plan(Facet.key.query(RecipePK(recipe_id="r")).consistent()).all()
    return {facet.kind: facet.value for facet in found}


def words(db: Design) -> set[str]:
    return {word.word for word in db.plan(Word.key.query(RecipePK(recipe_id="r")).consistent()).all()}


def test_derived_item_is_not_for_callers_to_write(db: Recipes) -> None:
    db.create(recipe(cuisine="French"))
    (made,) = db.plan(Facet.key.query(RecipePK(recipe_id="r")).consistent()).all()
    for attempt in (
        lambda: db.create(made.model_copy(update={"kind": "MEALTYPE", "value": "Dinner"})),
        lambda: db.put(made),
        lambda: db.update(made, title="Cake"),
        lambda: db.batch(Put(made)),
    ):
        with pytest.raises(InvalidWriteError, match="Facet is made from Recipe by the layer"):
            attempt()
    assert facets(db) == {"CUISINE": "French"}


# --- by transaction --------------------------------------------------------------------------------------------


def test_create_makes_the_derived_items(db: Recipes) -> None:
    db.create(recipe(cuisine="French", meal="Breakfast"))
    assert facets(db) == {"CUISINE": "French", "MEALTYPE": "Breakfast"}
    assert [facet.title for facet in db.by_facet("CUISINE", "French").all()] == ["Bread"]


def test_update_makes_changes_and_removes_them(db: Recipes) -> None:
    db.create(recipe(cuisine="French"))
    db.update(recipe_key(), cuisine=None, meal="Dinner")
    assert facets(db) == {"MEALTYPE": "Dinner"}
    db.update(recipe_key(), title="Rye bread")
    assert [facet.title for facet in db.by_facet("MEALTYPE", "Dinner").all()] == ["Rye bread"]


def test_put_over_an_existing_source_replaces_what_was_derived(db: Recipes) -> None:
    made = db.create(recipe(cuisine="French", meal="Dinner")).entity
    made.cuisine, made.meal = None, "Breakfast"
    db.put(made)
    assert facets(db) == {"MEALTYPE": "Breakfast"}


def test_delete_takes_the_derived_items_along(db: Recipes) -> None:
    db.create(recipe(cuisine="French"))
    db.delete(recipe_key())
    assert facets(db) == {}


def test_write_that_is_refused_derives_nothing(db: Recipes) -> None:
    db.create(recipe())
    with pytest.raises(AlreadyExistsError):
        db.create(recipe(cuisine="French"))
    assert facets(db) == {}


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_derived_items_are_part_of_the_transaction(target: str) -> None:
    with opened_design(Recipes, target) as db:
        db.create(recipe(cuisine="French"))
        db.create(recipe(recipe_id="s"))
        with pytest.raises(AlreadyExistsError):
            db.transaction(Update(recipe_key(), meal="Dinner"), Create(recipe(recipe_id="s")))
        assert facets(db) == {"CUISINE": "French"}
        db.transaction(Update(recipe_key(), meal="Dinner"), Create(recipe(recipe_id="t", cuisine="Thai")))
        assert facets(db) == {"CUISINE": "French", "MEALTYPE": "Dinner"}
        assert len(list(db.by_facet("CUISINE", "Thai").all())) == 1


def test_what_is_made_belongs_to_its_source() -> None:
    def wrong(thing: Thing) -> Iterator[Part]:
        yield Part(thing_id="another", part_id="1")

    class Thing(Entity):
        key = Keys(ThingPK, MainSK)
        thing_id: str

    class Part(Entity):
        key = Keys(ThingPK, PartSK)
        made = Derived(Thing, wrong)
        thing_id: str
        part_id: str

    class Things(Design):
        table = ThingTable
        entities = (Thing, Part)

    with (
        Things.open(":memory:") as db,
        pytest.raises(InvalidWriteError, match=r"Part\.made has made Part\(thing_id='another'"),
    ):
        db.create(Thing(thing_id="1"))


# --- by stream -------------------------------------------------------------------------------------------------


def test_stream_makes_what_follows_from_the_source(db: Recipes) -> None:
    db.create(recipe(title="rye bread"))
    assert words(db) == set()
    consume(db)
    assert words(db) == {"rye", "bread"}
    db.update(recipe_key(), title="sour rye")
    consume(db)
    assert words(db) == {"rye", "sour"}
    db.delete(recipe_key())
    consume(db)
    assert words(db) == set()


@settings(max_examples=40, deadline=None)
@given(titles=st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=6), data=st.data())
def test_stream_converges_in_any_order_and_any_number_of_times(
    titles: list[set[str]], data: st.DataObject
) -> None:
    with opened_design(Recipes, "embedded") as db:
        db.create(recipe(title="x"))
        for title in titles:
            db.update(recipe_key(), title=" ".join(sorted(title)))
        seen = records(db)
        consume(db, data.draw(st.permutations([*seen, *seen])))
        assert words(db) == titles[-1]


def test_change_that_is_not_read_writes_nothing(db: Recipes) -> None:
    db.create(recipe(title="rye bread"))
    consume(db)
    before = {record["eventID"] for record in records(db)}
    db.update(recipe_key(), method="fried")
    later = [record for record in records(db) if record["eventID"] not in before]
    between = Between(db.session.client)
    consume(on_client(Recipes, between, makes_table=False), later)
    assert "PutItem" not in between.operations()


def test_source_that_changes_while_items_are_made_is_looked_at_again(db: Recipes) -> None:
    db.create(recipe(title="rye bread"))
    seen = records(db)
    between = Between(db.session.client)
    slow = on_client(Recipes, between, makes_table=False)

    def interfere(call: Any) -> None:
        if call.operation == "PutItem":
            between.before = lambda call: None
            db.update(recipe_key(), title="sour milk")
            consume(db)

    between.before = interfere
    consume(slow, seen)
    assert words(db) == {"sour", "milk"}


@pytest.mark.parametrize(("cuisine", "left"), [("Thai", {"CUISINE": "Thai"}), (None, {})])
def test_slow_writer_without_transactions_leaves_what_the_source_says_now(
    cuisine: str | None, left: dict[str, str]
) -> None:
    with opened_design(Recipes, "no-transactions") as db:
        db.create(recipe())
        between = Between(db.session.client)
        slow = on_client(Recipes, between, makes_table=False)

        def interfere(call: Any) -> None:
            if call.operation == "PutItem" and call.params["Item"]["SK"] == {"S": "FACET#CUISINE"}:
                between.before = lambda call: None
                db.update(recipe_key(), cuisine=cuisine)

        between.before = interfere
        slow.update(recipe_key(), cuisine="French")
        assert facets(db) == left


# --- declarations ------------------------------------------------------------------------------------------------


class ThingTable(Table):
    name = "things"


class ThingPK(Key, template="THING#{thing_id}"):
    thing_id: str


class MainSK(SortKey, template="MAIN"):
    pass


class PartSK(SortKey, template="PART#{part_id}"):
    part_id: str


class Root(Entity):
    key = Keys(ThingPK, MainSK)
    thing_id: str


class NoRoot(Entity):
    key = Keys(PartSK, MainSK)
    made = Derived(Root, lambda root: [])
    part_id: str


class Versioned(Entity):
    key = Keys(ThingPK, PartSK)
    made = Derived(Root, lambda root: [])
    thing_id: str
    part_id: str
    version: Version = 0


class Reads(Entity):
    key = Keys(ThingPK, PartSK)
    made = Derived(Root, lambda root: [], reads=("name",))
    thing_id: str
    part_id: str


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        (Versioned, "Versioned.made: derived items have another entity as their source"),
        (Reads, "Reads.made reads Root.name, which is not a field; it has thing_id"),
        (NoRoot, "NoRoot.made: NoRoot does not say which Root it belongs to: it has no field thing_id"),
    ],
)
def test_derivation_that_cannot_be_kept_is_refused_when_the_design_is_made(
    entity: type[Entity], message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):

        class Things(Design):
            table = ThingTable
            entities = (Root, entity)
