"""Computed fields: what they are made of decides them, wherever an item is made, read, changed or put right."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Self

import pytest
from pydantic import Field, ValidationError, model_validator

from designs.larder import (
    Dish,
    Ingredient,
    IngredientPK,
    Larder,
    MetadataSK,
    OldIngredient,
    OldLarder,
    Review,
    normalize,
)
from designs.sized_notes import Note, NotePK, Notes, NoteTable
from singletable.design import (
    Add,
    Computed,
    CopyOf,
    CountOf,
    Create,
    Design,
    Entity,
    Eq,
    Key,
    Keys,
    Put,
    Update,
    UpdatedAt,
    Version,
    auto,
)
from singletable.design.tables.create import create_table
from singletable.errors import DeclarationError, DuplicateError, InvalidWriteError, NotFoundError
from singletable.migrate import Migration, Recompute, Runner
from singletable.migrate.comparing import compare
from support.design_clients import ALL_TARGETS
from support.kept_together import damage, opened_design, stored_item
from support.migrating import EVERYWHERE, design_on, fresh_client

CHICKEN = Ingredient.key.get(IngredientPK(ingredient_id="1"), MetadataSK())


@pytest.fixture(params=ALL_TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Larder]:
    with opened_design(Larder, request.param) as db:
        yield db


def chicken(**values: Any) -> Ingredient:
    return Ingredient(ingredient_id="1", **{"name": "Chicken  Breast", **values})


def stored(db: Design, pk: str = "INGREDIENT#1", sk: str = "METADATA") -> dict[str, Any]:
    """Return an item in plain values."""
    item = stored_item(db, pk, sk)
    assert item is not None
    return {name: next(iter(value.values())) for name, value in item.items()}


def words(db: Larder, *wanted: str) -> list[str]:
    return [word for word in wanted if list(db.with_word(word).all())]


# --- entities ---------------------------------------------------------------------------------------------


def test_field_is_worked_out_when_an_entity_is_made() -> None:
    assert (chicken().normalized_name, chicken().initial) == ("chicken breast", "c")


def test_given_value_is_never_believed() -> None:
    assert chicken(normalized_name="tofu", initial=None).normalized_name == "chicken breast"


def test_field_made_of_a_computed_one_may_stand_before_it() -> None:
    assert list(Ingredient.model_fields).index("initial") < list(Ingredient.model_fields).index(
        "normalized_name"
    )
    assert chicken(name="Óleo").initial == "ó"


def test_functions_get_the_fields_in_the_order_in_which_they_are_named() -> None:
    class Name(Entity):
        last: str
        first: str
        whole: Annotated[str, Computed("{} {}".format, "first", "last")] = ""

    assert Name(first="Ann", last="Lee").whole == "Ann Lee"


def test_field_without_a_default_need_not_be_given() -> None:
    class Name(Entity):
        name: str
        size: Annotated[int, Computed(len, "name")]

    assert Name.model_validate({"name": "Ann"}).size == 3


def test_what_a_function_returns_is_validated() -> None:
    class Name(Entity):
        name: str
        size: Annotated[int, Computed(len, "name"), Field(le=3)] = 0

    with pytest.raises(ValidationError, match="less than or equal to 3"):
        Name(name="Anne")


def test_only_the_wrong_field_is_named_when_what_a_field_is_made_of_is_wrong() -> None:
    with pytest.raises(ValidationError) as refused:
        chicken(name=3)
    assert [error["loc"] for error in refused.value.errors()] == [("name",)]


def test_validators_of_the_model_see_the_value_and_what_they_change_is_followed() -> None:
    seen = []

    class Name(Entity):
        name: str
        size: Annotated[int, Computed(len, "name")] = 0

        @model_validator(mode="after")
        def _strip(self) -> Self:
            seen.append(self.size)
            self.__dict__["name"] = self.name.strip()
            return self

    assert (Name(name=" Ann ").size, seen) == (3, [5])


def test_subclass_works_out_what_its_base_declares() -> None:
    class Spice(Ingredient, name="Spice"):
        heat: int = 0

    assert Spice(ingredient_id="2", name="Chili").normalized_name == "chili"


# --- writes -----------------------------------------------------------------------------------------------


def test_value_is_stored_like_any_field(db: Larder) -> None:
    db.create(chicken())
    item = stored(db)
    assert (item["normalizedName"], item["initial"], item["isDraft"]) == ("chicken breast", "c", False)
    assert item["GSI1SK"] == "chicken breast#1"


def test_value_follows_what_was_assigned_when_the_entity_is_put(db: Larder) -> None:
    made = db.create(chicken()).entity
    made.name = "Duck"
    db.put(made)
    assert (made.normalized_name, stored(db)["normalizedName"], words(db, "chicken", "duck")) == (
        "duck",
        "duck",
        ["duck"],
    )


@pytest.mark.parametrize("by_key", [False, True], ids=["of an entity", "by its key"])
def test_update_stores_all_that_follows(db: Larder, by_key: bool) -> None:
    made = db.create(chicken()).entity
    updated = db.update(CHICKEN if by_key else made, name="Smoked Duck").entity
    assert (updated.normalized_name, updated.initial) == ("smoked duck", "s")
    item = stored(db)
    assert (item["normalizedName"], item["initial"], item["GSI1SK"]) == ("smoked duck", "s", "smoked duck#1")
    assert [found.ingredient_id for found in db.search("SMOKED").all()] == ["1"]
    assert list(db.search("chicken").all()) == []
    assert db.named("Smoked duck").one() == updated
    assert db.named("chicken breast").maybe() is None
    assert words(db, "chicken", "breast", "smoked", "duck") == ["smoked", "duck"]
    assert db.verify().is_clean


def test_unique_value_that_is_computed_is_refused_to_a_second_item(db: Larder) -> None:
    db.create(chicken())
    other = db.create(Ingredient(ingredient_id="2", name="Duck")).entity
    with pytest.raises(DuplicateError):
        db.update(other, name="CHICKEN breast")
    with pytest.raises(DuplicateError):
        db.create(Ingredient(ingredient_id="3", name="chicken BREAST"))
    assert db.verify().is_clean


def test_expiry_follows_a_computed_field(db: Larder) -> None:
    made = db.create(chicken()).entity
    assert "ttl" not in stored(db)
    db.update(CHICKEN, status="draft")
    assert (stored(db)["isDraft"], "ttl" in stored(db)) == (True, True)
    db.update(made, status="listed")
    assert (stored(db)["isDraft"], "ttl" in stored(db)) == (False, False)


def test_computed_field_cannot_be_updated(db: Larder) -> None:
    db.create(chicken())
    with pytest.raises(InvalidWriteError, match=r"normalized_name is worked out from name") as refused:
        db.update(CHICKEN, normalized_name="tofu")
    assert refused.value.hint == "change name, and it follows"


def test_update_of_a_missing_item_says_so(db: Larder) -> None:
    with pytest.raises(NotFoundError):
        db.update(CHICKEN, name="Duck")


def test_update_in_a_transaction_stores_what_follows() -> None:
    with opened_design(Larder, "embedded") as db:
        db.create(chicken())
        db.transaction(Update(CHICKEN, name="Duck"), Create(Ingredient(ingredient_id="2", name="Hen")))
        assert (stored(db)["normalizedName"], words(db, "chicken", "duck", "hen")) == (
            "duck",
            ["duck", "hen"],
        )


def test_conditions_and_filters_know_the_stored_value(db: Larder) -> None:
    db.create(chicken())
    db.update(CHICKEN, when=Eq("normalized_name", "chicken breast"), note="lean")
    assert db.search("chicken").where(Eq("initial", "c")).one().note == "lean"
    assert list(db.search("chicken").where(Eq("initial", "d")).all()) == []


def test_asynchronous_twins_store_what_follows() -> None:
    async def renamed(db: Larder) -> Ingredient:
        await db.acreate(chicken())
        await db.aupdate(CHICKEN, name="Duck")
        return await db.ingredient("1").aone()

    with opened_design(Larder, "http") as db:
        assert asyncio.run(renamed(db)).normalized_name == "duck"
        assert stored(db)["normalizedName"] == "duck"


def test_loaded_and_batched_items_have_the_value() -> None:
    with opened_design(Notes, "embedded") as db:
        db.load([Note(note_id="1", text="Hello")])
        db.batch(Put(Note(note_id="2", text="Hey")))
        items = db.session.client.call("Scan", {"TableName": "notes"})["Items"]
        assert sorted(item["size"]["N"] for item in items) == ["3", "5"]


# --- numbers and copies -----------------------------------------------------------------------------------


def test_value_follows_what_is_counted(db: Larder) -> None:
    db.create(Dish(dish_id="d", title="Stew"))
    assert [dish.dish_id for dish in db.of_rank(0).all()] == ["d"]
    db.create(Review(dish_id="d", reviewer="a", stars=5))
    assert (stored(db, "DISH#d")["rank"], stored(db, "DISH#d")["isReviewed"]) == ("10", True)
    db.create(Review(dish_id="d", reviewer="b", stars=2))
    dish = db.dish("d").one()
    assert (dish.stars, dish.rank, stored(db, "DISH#d")["rank"]) == (Decimal("3.5"), 7, "7")
    assert (list(db.of_rank(0).all()), list(db.of_rank(7).all())) == ([], [dish])
    assert db.verify().is_clean


def test_put_of_an_older_copy_keeps_what_follows_from_the_numbers(db: Larder) -> None:
    read = db.create(Dish(dish_id="d", title="Stew")).entity
    db.create(Review(dish_id="d", reviewer="a", stars=4))
    read.title = "Soup"
    db.put(read)
    assert (stored(db, "DISH#d")["rank"], stored(db, "DISH#d")["GSI2PK"]) == ("8", "RANK#8")
    assert db.verify().is_clean


def test_parent_and_child_of_one_transaction_agree() -> None:
    with opened_design(Larder, "embedded") as db:
        db.transaction(
            Create(Dish(dish_id="d", title="Stew")),
            Create(Review(dish_id="d", reviewer="a", stars=4, dish_title="Stew")),
        )
        assert (stored(db, "DISH#d")["rank"], stored(db, "DISH#d")["isReviewed"]) == ("8", True)
        assert db.verify().is_clean


def test_value_follows_a_copy(db: Larder) -> None:
    dish = db.create(Dish(dish_id="d", title="Stew")).entity
    db.create(Review(dish_id="d", reviewer="a", stars=4))
    assert stored(db, "DISH#d", "REVIEW#a")["shouted"] == "STEW"
    db.update(db.dish("d").one(), title="Soup")
    assert stored(db, "DISH#d", "REVIEW#a")["shouted"] == "SOUP"
    assert dish.title == "Stew"
    assert db.verify().is_clean


# --- verifying and migrating ------------------------------------------------------------------------------


def test_value_that_is_stored_otherwise_is_not_read(db: Larder) -> None:
    db.create(chicken())
    damage(db, "INGREDIENT#1", "METADATA", normalizedName={"N": "7"}, isDraft=None)
    assert db.ingredient("1").one() == chicken()


def test_verify_reports_and_repairs_what_is_stored_otherwise(db: Larder) -> None:
    db.create(chicken())
    damage(db, "INGREDIENT#1", "METADATA", normalizedName={"S": "tofu"}, initial=None)
    found = {each.field: (each.expected, each.found) for each in db.verify().differences}
    assert found == {"normalized_name": ("chicken breast", "tofu"), "initial": ("c", None)}
    assert all(each.is_repaired for each in db.verify(repair=True).differences)
    assert (stored(db)["normalizedName"], stored(db)["initial"]) == ("chicken breast", "c")
    assert db.verify().is_clean


@pytest.mark.parametrize("target", EVERYWHERE)
def test_migration_fills_in_a_new_computed_field(target: str) -> None:
    steps = compare(OldLarder.blueprint(), Larder.blueprint())
    (recompute,) = [step for step in steps if isinstance(step, Recompute)]
    assert recompute.entities["Ingredient"] == ("unique_name", "initial", "normalized_name", "is_draft")
    with fresh_client(target) as client:
        old = design_on(client, OldLarder, {})
        client.run(create_table(old.session))
        for number in range(3):
            old.put(OldIngredient(ingredient_id=str(number), name=f"Bean {number}"))
        db = design_on(client, Larder, {})
        (report,) = Runner(db).run([Migration("0002_compute", "Compute", steps, None)])
        assert report.state == "done"
        assert stored(db)["normalizedName"] == "bean 1"
        assert [found.ingredient_id for found in db.search("BEAN").all()] == ["0", "1", "2"]
        assert db.verify().is_clean


def test_another_function_is_a_difference_that_is_recomputed() -> None:
    class Changed(Entity, name="Note"):
        key = Keys(NotePK)
        note_id: str
        text: str = ""
        size: Annotated[int, Computed(hash, "text")] = 0

    class ChangedNotes(Design):
        table = NoteTable
        entities = (Changed,)

    (recompute,) = compare(Notes.blueprint(), ChangedNotes.blueprint())
    assert recompute == Recompute({"Note": ("size",)}, {})


def test_blueprint_says_what_a_field_is_made_of() -> None:
    entity = Larder.blueprint().entity("Ingredient")
    assert entity is not None
    (attribute,) = [each for each in entity.attributes if each.name == "normalized_name"]
    assert attribute.markers == ({"kind": "Computed", "function": "normalize", "fields": ["name"]},)


def test_blueprint_of_a_partial_function_is_the_same_everywhere() -> None:
    class Rounded(Entity):
        key = Keys(NotePK)
        note_id: str
        price: float = 0
        shown: Annotated[float, Computed(partial(round, ndigits=1), "price")] = 0

    class Prices(Design):
        table = NoteTable
        entities = (Rounded,)

    (attribute,) = [each for each in Prices.blueprint().entities[0].attributes if each.name == "shown"]
    assert attribute.markers[0]["function"] == "round"


# --- keys of the table ------------------------------------------------------------------------------------


class SlugPK(Key, template="PAGE#{slug}"):
    slug: str


def slug_of(title: str) -> str:
    return title.lower().replace(" ", "-")


class Page(Entity):
    key = Keys(SlugPK)

    title: str
    views: int = 0
    slug: Annotated[str, Computed(slug_of, "title")] = ""


class Pages(Design):
    table = NoteTable
    entities = (Page,)


def test_key_of_the_table_can_be_computed_and_what_it_is_made_of_stays() -> None:
    with Pages.open(":memory:", create=True) as db:
        page = db.create(Page(title="About Us")).entity
        db.update(page, views=Add(1))
        assert db.plan(Page.key.get(SlugPK(slug="about-us"))).one().views == 1
        with pytest.raises(InvalidWriteError, match=r"Page\.title is part of the key"):
            db.update(page, title="Contact")


# --- declarations -----------------------------------------------------------------------------------------


def declared(annotation: Any, **fields: Any) -> type[Entity]:
    """Make an entity with a field of this annotation."""
    names = {"text": str, "computed": annotation, **fields}
    return type("Wrong", (Entity,), {"__annotations__": names, "__module__": __name__})


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (
            Annotated[str, Computed(normalize, "txt")],
            r"Wrong\.computed is worked out from 'txt', which is not",
        ),
        (Annotated[str, Computed(normalize)], r"Wrong\.computed is worked out from no field"),
        (Annotated[str, Computed("text", "text")], r"'text', which is no function"),  # type: ignore[arg-type]
        (
            Annotated[str, Computed(normalize, "computed")],
            r"Wrong\.computed is worked out from itself: computed from computed",
        ),
        (
            Annotated[str, Computed(normalize, "text"), Computed(len, "text")],
            r"Wrong\.computed is worked out in two ways",
        ),
        (Annotated[Version, Computed(len, "text")], r"Wrong\.computed is Computed and Lock"),
    ],
)
def test_declaration_that_cannot_be_worked_out_is_refused(annotation: Any, message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        declared(annotation)


def test_hint_names_the_field_that_was_meant() -> None:
    with pytest.raises(DeclarationError) as refused:
        declared(Annotated[str, Computed(normalize, "txt")])
    assert refused.value.hint == "did you mean text?"


def test_function_that_its_own_field_hides_is_refused() -> None:
    with pytest.raises(DeclarationError, match="worked out by 0, which is no function") as refused:

        class Hidden(Entity):
            text: str
            hash: Annotated[int, Computed(hash, "text")] = 0

    assert refused.value.hint is not None
    assert "another name" in refused.value.hint


def test_circle_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"computed from other from computed"):
        declared(
            Annotated[str, Computed(normalize, "other")],
            other=Annotated[str, Computed(normalize, "computed")],
        )


def test_what_is_known_last_decides_nothing() -> None:
    with pytest.raises(DeclarationError, match="known only when everything else is decided"):
        declared(Annotated[int, Computed(abs, "version")], version=Version)


def test_key_cannot_be_worked_out_from_what_changes_by_itself() -> None:
    class Late(Entity):
        key = Keys(SlugPK)
        touched: UpdatedAt = auto()
        slug: Annotated[str, Computed(str, "touched")] = ""

    class Counting(Entity):
        key = Keys(SlugPK)
        number: Annotated[int, CountOf("Counting")] = 0
        slug: Annotated[str, Computed(str, "number")] = ""

    class Copying(Entity):
        key = Keys(SlugPK)
        title: Annotated[str, CopyOf("Copying", "title")] = ""
        slug: Annotated[str, Computed(slug_of, "title")] = ""

    for entity, message in (
        (Late, "time of every write"),
        (Counting, "is counted, and part of the key"),
        (Copying, "is a copy, and part of the key"),
    ):
        with pytest.raises(DeclarationError, match=message):
            type("Wrongs", (Design,), {"table": NoteTable, "entities": (entity,)})
