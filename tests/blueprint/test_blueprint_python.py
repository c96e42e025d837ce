"""A blueprint as a Python module: what a right design loses, what a wrong one leaves out; nothing runs."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mypy import api as mypy
from pydantic import BaseModel

import designs
from designs.hostile import Hostile
from designs.kefir import Kefir
from designs.lunch import LunchCache as Lunch
from singletable import Design, Key, SortKey, Table
from singletable.blueprint import (
    AggregateBlueprint,
    AttributeBlueprint,
    Blueprint,
    DerivedBlueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    KeyCondition,
    KeyPart,
    ModelBlueprint,
    ParameterBlueprint,
    PatternBlueprint,
    PlaceBlueprint,
    ReadBlueprint,
    SortBlueprint,
    TableBlueprint,
    UniqueBlueprint,
)
from singletable.blueprint.python.names import OF_DESIGNS, OF_KEYS, OF_MODELS, OF_OPEN, OF_TABLES
from singletable.blueprint.python_text import to_python
from singletable.systems import installed_systems
from singletable_systems.kefir.model.design import KefirDesign
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.perfectit.model.design import PerfectItDesign
from singletable_systems.smart_cooking.model.design import SmartCookingDesign
from support.blueprints import HOSTILE, blueprints, changed
from support.paths import TESTS, TYPE_CACHE

SYSTEMS: Final = (KefirDesign, LunchCache, PerfectItDesign, SmartCookingDesign)
CHECK_S_MAX: Final = 120.0
_NUMBERS: Final = itertools.count()

# Handlers of the stream are functions, all of them. A module names them in a comment.
FUNCTIONS: Final = ("consumers",)
# What else a module does not say, by design: functions (upcasters, Computed, Derived, Normalize, validators,
# factories of defaults), properties, bytes, and patterns that are more than a plan.
LOST: Final = {
    "singletable_systems.kefir.model.design.KefirDesign": {
        "entities.BatchEvent.upcasts",
        "entities.Reminder.attributes.next_try_at.default",
        "entities.Reminder.attributes.next_try_at.is_required",
    },
    "singletable_systems.lunch_cache.model.design.LunchCache": {
        "entities.WeeklyMenu.attributes.lunch_count.markers",
        "loads.write_probe",
        "patterns.write_probe",
    },
    "singletable_systems.perfectit.model.design.PerfectItDesign": {
        "entities.CardScore.derived",
        "entities.Category.attributes.name.markers",
        "entities.Collection.attributes.name.markers",
        "entities.Comment.attributes.text.markers",
        "entities.PerfectionCard.attributes.title.markers",
        "entities.PerfectionCard.upcasts",
        "entities.SearchToken.derived",
        "entities.SearchToken.places.found.pk.parts.token.markers",
        "entities.User.places.by_username.pk.parts.username.markers",
        "entities.User.uniques.unique_username.parts.username.markers",
    },
    "singletable_systems.smart_cooking.model.design.SmartCookingDesign": {
        "entities.ApprovedFacet.derived",
        "entities.CommentReaction.attributes.target_id.markers",
        "entities.CookingHistory.attributes.cook_date.default",
        "entities.CookingHistory.attributes.cook_date.is_required",
        "entities.CuisineFacet.derived",
        "entities.IngredientAlias.attributes.normalized_name.markers",
        "entities.IngredientAlias.derived",
        "entities.IngredientAlias.places.search.pk.parts.initial.markers",
        "entities.IngredientAlias.places.search.sk.parts.normalized_name.markers",
        "entities.InvalidIngredient.attributes.normalized_name.markers",
        "entities.InvalidIngredient.places.key.pk.parts.normalized_name.markers",
        "entities.InvalidIngredientReport.attributes.normalized_name.markers",
        "entities.InvalidIngredientReport.places.key.pk.parts.normalized_name.markers",
        "entities.MasterIngredient.attributes.normalized_name.markers",
        "entities.MasterIngredient.places.by_category.sk.parts.normalized_name.markers",
        "entities.MasterIngredient.places.search.pk.parts.initial.markers",
        "entities.MasterIngredient.places.search.sk.parts.normalized_name.markers",
        "entities.MasterIngredient.uniques.unique_name.parts.normalized_name.markers",
        "entities.MealTypeFacet.derived",
        "entities.Reaction.attributes.target_id.markers",
        "entities.Recipe.attributes.normalized_title.markers",
        "entities.Recipe.places.by_title.pk.parts.initial.markers",
        "entities.Recipe.places.by_title.sk.parts.normalized_title.markers",
        "entities.RecipeIngredient.attributes.normalized_name.markers",
        "entities.RecipeUse.derived",
        "entities.RecipeUse.places.key.sk.parts.normalized_name.markers",
        "entities.RecipeUse.places.listed.pk.parts.normalized_name.markers",
        "entities.UserIngredient.attributes.normalized_name.markers",
        "entities.UserIngredient.places.key.sk.parts.normalized_name.markers",
        "loads.feed",
        "patterns.feed",
    },
    "designs.accounts.Accounts": {
        "entities.Invitation.uniques.unique_address",
    },
    "designs.author_feed.Feed": {
        "entities.Tagged.derived",
        "patterns.somebody",
    },
    "designs.brewing.Brewing": {
        "entities.Brew.attributes.label.default",
        "entities.Brew.attributes.label.is_required",
    },
    "designs.busy_shops.Shops": {
        "entities.Label.derived",
        "loads.count",
    },
    "designs.cards.Cards": {
        "entities.Card.upcasts",
    },
    "designs.chess.Clubs": {
        "entities.Badge.derived",
        "entities.Member.attributes.label.markers",
    },
    "designs.cooking.Cooking": {
        "entities.MasterIngredient.places.search.sk.parts.name.markers",
        "entities.Recipe.places.by_method",
        "entities.UserIngredient.places.key.sk.parts.name.markers",
        "patterns.recipes_by_method",
    },
    "designs.journals.Journals": {
        "entities.Tag.derived",
    },
    "designs.larder.Larder": {
        "entities.Dish.attributes.is_reviewed.markers",
        "entities.Dish.attributes.rank.markers",
        "entities.Ingredient.attributes.initial.markers",
        "entities.Ingredient.attributes.is_draft.markers",
        "entities.Ingredient.attributes.normalized_name.markers",
        "entities.Review.attributes.shouted.markers",
        "entities.Word.derived",
    },
    "designs.members.Members": {
        "entities.Badge.derived",
    },
    "designs.memos.Memos": {
        "entities.Memo.attributes.folded.markers",
    },
    "designs.moving_shelves.Shelves": {
        "entities.Label.derived",
        "patterns.some",
    },
    "designs.options.Options": {
        "patterns.keep",
        "patterns.put_line",
    },
    "designs.pantry.Pantry": {
        "entities.Ingredient.places.by_name.pk.parts.initial.markers",
        "entities.Ingredient.places.by_name.sk.parts.name.markers",
    },
    "designs.pantry.LetterPantry": {
        "entities.LetterIngredient.places.by_name.pk.parts.initial.markers",
        "entities.LetterIngredient.places.by_name.sk.parts.name.markers",
    },
    "designs.pantry.LettersPantry": {
        "entities.LettersIngredient.places.by_name.pk.parts.initial.markers",
        "entities.LettersIngredient.places.by_name.sk.parts.name.markers",
    },
    "designs.recipes.Recipes": {
        "entities.Facet.derived",
        "entities.Word.derived",
    },
    "designs.shops.Shops": {
        "entities.Label.derived",
    },
    "designs.sized_notes.Notes": {
        "entities.Note.attributes.head.markers",
        "entities.Note.attributes.label.markers",
        "entities.Note.attributes.page_count.markers",
        "entities.Note.attributes.size.markers",
    },
    "designs.tasks.Tasks": {
        "entities.Task.places.by_letter",
        "patterns.lettered",
    },
    "designs.workshops.Workshops": {"entities.Slot.derived", "entities.Word.derived"},
}


def designs_of_tests() -> Iterator[type[Design]]:
    for module in iter_modules(designs.__path__):
        found = import_module(f"designs.{module.name}")
        for value in vars(found).values():
            if isinstance(value, type) and issubclass(value, Design) and value.__module__ == found.__name__:
                yield value


ALL: Final[tuple[type[Design], ...]] = (*SYSTEMS, *designs_of_tests())


def named(design: type[Design]) -> str:
    return f"{design.__module__}.{design.__name__}"


def imported(text: str) -> ModuleType:
    """Import a module from its text."""
    module = ModuleType(f"generated_{next(_NUMBERS)}")
    sys.modules[module.__name__] = module  # Pydantic looks annotations up there
    exec(compile(text, module.__name__, "exec"), module.__dict__)
    return module


def design_in(module: ModuleType) -> type[Design] | None:
    found = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, Design)]
    return next((each for each in found if each is not Design), None)


def remade(blueprint: Blueprint) -> tuple[str, type[Design]]:
    """Return the module of a blueprint, and its design, which can be opened."""
    text = to_python(blueprint)
    design = design_in(imported(text))
    assert design is not None, text
    design.open(":memory:").close()
    return text, design


# --- right designs ----------------------------------------------------------------------------------------


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Name the members in which two blueprints differ."""
    if is_dataclass(one) and type(one) is type(other):
        for each in fields(one):
            yield from differences(getattr(one, each.name), getattr(other, each.name), f"{path}.{each.name}")
    elif isinstance(one, tuple) and isinstance(other, tuple) and one and is_dataclass(one[0]):
        mine, its = _by_name(one, path), _by_name(other, path)
        yield from (f"{path}.{name}" for name in mine.keys() ^ its.keys())
        for name in mine.keys() & its.keys():
            yield from differences(mine[name], its[name], f"{path}.{name}")
    elif one != other:
        yield path


def _by_name(members: tuple[Any, ...], path: str) -> dict[str, Any]:
    if path.endswith("reads"):
        return {str(number): each for number, each in enumerate(members)}
    kinds = ("method", "name", "field", "entity", "of")
    return {next(str(getattr(each, kind)) for kind in kinds if hasattr(each, kind)): each for each in members}


@pytest.mark.parametrize("design", ALL, ids=named)
def test_module_of_a_design_says_all_but_its_functions(design: type[Design]) -> None:
    blueprint = design.blueprint()
    _, again = remade(blueprint)
    lost = {path.lstrip(".") for path in differences(blueprint, again.blueprint())}
    lost = {path for path in lost if path.split(".")[0] not in FUNCTIONS}
    assert lost == LOST.get(named(design), set())


def test_every_listed_loss_is_of_a_design() -> None:
    assert LOST.keys() <= set(map(named, ALL))


def test_second_module_is_the_first() -> None:
    text, again = remade(Kefir.blueprint())
    assert to_python(again.blueprint()) == text


def test_what_is_left_out_is_said() -> None:
    text = to_python(SmartCookingDesign.blueprint())
    assert "# open: normalized_name is worked out by normalize from ['ingredient_name']" in text
    assert (
        "# open: items are made from MasterIngredient, by transaction, and a blueprint holds no code" in text
    )
    assert "(feed) is left out: its pages are made by a function" in text


def test_generated_kefir_puts_and_reads() -> None:
    module = imported(to_python(Kefir.blueprint()))
    design, of = module.Kefir, vars(module)
    now = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
    with design.open(":memory:") as db:
        batch = of["Batch"](
            user_id="u1",
            batch_id="b1",
            name="Ginger",
            water_volume_ml=1000,
            sugar_grams=60,
            temperature_c=21,
            start_time=now,
            target_hours_stage1=48,
        )
        db.put(batch)
        assert db.batches("u1").page(limit=5).items == [batch]
        assert db.batches_by_status("active").page(limit=5).items == [batch]
        assert db.batch_by_id("b1").page(limit=5).items == [batch]


DOCUMENTED: Final = {
    f"{name}_documented": found
    for name, system in installed_systems().items()
    if (found := system.documented()) is not None
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_documented_design_opens_with_its_questions_as_comments(name: str) -> None:
    text, design = remade(DOCUMENTED[name])
    assert len(DOCUMENTED[name].entities) >= len(design.entities) > 0
    plain = re.sub(r"\n *#   ", " ", text)
    assert all(f"# open: {' '.join(each.split())}" in plain for each in DOCUMENTED[name].questions)


def test_type_checkers_accept_generated_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = documented()
    for name, blueprint in (
        ("kefir", KefirDesign.blueprint()),
        ("smart_cooking", SmartCookingDesign.blueprint()),
        ("wrong", wrong),
        *DOCUMENTED.items(),
    ):
        (tmp_path / f"{name}.py").write_text(to_python(blueprint), encoding="utf-8")
    source = str(TESTS.parent / "src")
    monkeypatch.setenv("MYPYPATH", source)
    options = ["--strict", "--config-file=", "--no-error-summary", "--cache-dir", str(TYPE_CACHE / "modules")]
    printed, said, _ = mypy.run([*options, *map(str, sorted(tmp_path.glob("*.py")))])
    assert said == ""
    assert [line for line in printed.splitlines() if str(tmp_path) in line] == []
    config = tmp_path / "pyrightconfig.json"
    paths = {"include": ["."], "extraPaths": [source]}
    config.write_text(json.dumps({**paths, "pythonVersion": "3.11", "typeCheckingMode": "strict"}))
    ran = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--outputjson", "--project", str(config)],
        capture_output=True,
        text=True,
        timeout=CHECK_S_MAX,
        check=False,
        env={**os.environ, "PYTHONPATH": source},
    )
    answer = json.loads(ran.stdout)
    assert answer["summary"]["filesAnalyzed"] == 3 + len(DOCUMENTED)
    assert [each for each in answer["generalDiagnostics"] if each["severity"] == "error"] == []


# --- wrong designs ----------------------------------------------------------------------------------------


def attribute(name: str, type_: str = "str", **more: Any) -> AttributeBlueprint:
    return AttributeBlueprint(name, more.pop("stored", name), type_, **more)


def place(pk: str | None, sk: str | None = None, index: str | None = None, **more: Any) -> PlaceBlueprint:
    sort = None if sk is None else KeyBlueprint((), sk)
    return PlaceBlueprint(more.pop("name", ""), KeyBlueprint((), pk), sort, index, **more)


def asked(number: str, *conditions: tuple[str, str, str], **more: Any) -> PatternBlueprint:
    """Return a pattern as a document has it: conditions instead of keys."""
    asks = tuple(KeyCondition(name, operator, (template,)) for name, operator, template in conditions)
    read = ReadBlueprint(more.pop("operation", "Query"), index=more.pop("index", None), conditions=asks)
    parameters = tuple(ParameterBlueprint(name, "str") for name in more.pop("given", ()))
    return PatternBlueprint(number, f"Question {number}", parameters=parameters, reads=(read,), **more)


def documented() -> Blueprint:
    """Return a design as a document may have it: some of it right, much of it impossible."""
    return Blueprint(
        "brewing notes",
        TableBlueprint("brewing-{stage}", sk="SK", stream="NEW_AND_OLD_IMAGES"),
        indexes=(
            IndexBlueprint("GSI1", ("GSI1PK",), ("GSI1SK",)),
            IndexBlueprint("LSI1", ("PK",), ("LSI1SK",), is_local=True),
        ),
        entities=(
            EntityBlueprint(
                "Batch",
                "Batch",
                (
                    attribute("PK"),
                    attribute("userId", "String"),
                    attribute("batchId", "String"),
                    attribute("status", "string", values=("active", "done")),
                    attribute("createdAt", "timestamp"),
                    attribute("what is it", "Frobnicator"),
                    attribute("class", "Number", minimum=1),
                ),
                (
                    place("USER#{userId}", "BATCH#{batchId}"),
                    place("BATCH#{batchId}", "STATUS#{status}#{createdAt}", "GSI1"),
                    place("OTHER#{nobody}", "X", "LSI1"),
                ),
                uniques=(UniqueBlueprint("email", "EMAIL#{email}", "UNIQUE", ("email",)),),
                owns=("Batch", "Nothing"),
                aggregates=(AggregateBlueprint("class", "median", "Batch"),),
            ),
            EntityBlueprint(
                "Photo", "Photo", (attribute("url"),), (place("BATCH#{batchId}", "PHOTO#{url}"),)
            ),
            EntityBlueprint("Ghost", "Ghost", (attribute("x"),)),
        ),
        patterns=(
            asked("1", ("PK", "=", "USER#{userId}"), ("SK", "begins_with", "BATCH#"), given=("userId",)),
            asked("2", ("GSI1PK", "begins_with", "BATCH#"), index="GSI1"),
            asked("3", ("PK", "=", "USER#{userId}"), ("SK", ">", "A"), ("SK", "<", "B"), given=("userId",)),
            asked("4", ("status", "=", "active")),
            asked("5", ("PK", "=", "NOWHERE#{x}"), given=("x",)),
            asked("6", ("PK", "=", "USER#{userId}"), operation="Scan", given=("userId",)),
            asked("7", ("PK", "=", "USER#{userId}"), index="LSI1", given=("userId",)),
            asked("8", ("PK", "=", "USER#{userId}")),
        ),
        questions=("who deletes old batches?",),
        casing="camel",
    )


WHY: Final = (
    "# open: who deletes old batches?",
    "# open: the index LSI1 (PK, LSI1SK) is left out: a design has global indexes, and it is a local one",
    "# open: PK is written by a key, so it is no field",
    "# open: what is it is Frobnicator, which names no type here",
    "# open: class cannot be the name of a field, so it is class_",
    "# open: a place in LSI1, OTHER#{nobody} / X, cannot be: there is no index LSI1 that a design can have",
    "# open: email cannot be unique: it names email, which is no attribute of it",
    "# open: class is the median of Batch, which cannot be kept: a median is none of count, sum, average",
    "# open: {batchId} in the key is no attribute: a field is added, which stored items lack",
    "# open: Ghost is left out: no key in the table is said for it",
    "2 Question 2 is left out: the partition key GSI1PK is asked for by begins_with, and a query needs one =.",
    "# open: 3 Question 3 is left out: there are 2 conditions on the sort key, and a query has one.",
    "# open: 4 Question 4 is left out: status is no key there, so no condition on keys can name it.",
    "# open: 5 Question 5 is left out: no entity has the key NOWHERE#{x} there.",
    "# open: 6 Question 6 is left out: it is a Scan, and a design reads by keys.",
    "# open: 7 Question 7 is left out: there is no index LSI1 that a design can have.",
    "# open: 8 Question 8 is left out: nothing gives userId, which is str.",
)


@pytest.mark.parametrize("why", WHY)
def test_what_cannot_be_said_stands_as_a_comment(why: str) -> None:
    assert why in re.sub(r"\n *#   ", " ", to_python(documented()))


def test_what_is_right_in_a_wrong_design_is_said() -> None:
    text, design = remade(documented())
    assert [each.__name__ for each in design.entities] == ["Batch", "Photo"]
    assert design.blueprint().patterns[0].reads[0].sort == SortBlueprint("begins_with", ("BATCH#",), "BATCH#")
    assert "class BrewingNotes(Design):" in text
    assert "GSI1PK begins_with BATCH#" not in text.replace("begins_with(GSI1PK, BATCH#)", "")
    assert "begins_with(GSI1PK, BATCH#)" in text  # what was asked


def test_key_that_a_template_cannot_hold_is_given_whole() -> None:
    menu = EntityBlueprint(
        "Menu", "Menu", (attribute("place"), attribute("week", "int")), (place("{place}-{week}-{week}"),)
    )
    text, design = remade(Blueprint("Menus", TableBlueprint("menus", pk="pk"), entities=(menu,)))
    assert "whoever writes an item gives the whole key" in re.sub(r"\n *#   ", " ", text)
    with design.open(":memory:", create=True) as db:
        stored = design.entities[0].model_validate({"pk": "niagara-3-3", "place": "niagara", "week": 3})
        db.put(stored)
        items = db.session.client.call("Scan", {"TableName": "menus"})["Items"]
    assert [each["pk"] for each in items] == [{"S": "niagara-3-3"}]


def test_entities_that_own_each_other_are_owned_one_way() -> None:
    def entity(name: str, other: str) -> EntityBlueprint:
        keys = place("ROOM#{room}", f"{name.upper()}#{{room}}")
        return EntityBlueprint(name, name, (attribute("room"),), (keys,), owns=(other, name))

    blueprint = Blueprint(
        "Rooms", TableBlueprint("rooms", sk="SK"), entities=(entity("A", "B"), entity("B", "A"))
    )
    text, design = remade(blueprint)
    assert [each.entity_options.owns for each in design.entities] == [("B",), ()]
    assert text.count("goes in a circle") == 3


def test_models_that_hold_each_other_are_declared() -> None:
    models = (
        ModelBlueprint("Part", (attribute("whole", "Whole", is_optional=True), attribute("name"))),
        ModelBlueprint("Whole", (attribute("parts", "list[Part]"),)),
    )
    entity = EntityBlueprint(
        "Thing", "Thing", (attribute("id"), attribute("part", "Part")), (place("T#{id}"),), models=models
    )
    module = imported(to_python(Blueprint("Things", TableBlueprint("things"), entities=(entity,))))
    thing = module.Thing(id="1", part={"name": "a", "whole": {"parts": [{"name": "b"}]}})
    assert thing.part.whole.parts[0].name == "b"


def test_derived_items_are_no_function_that_raises() -> None:
    entity = EntityBlueprint("A", "A", (attribute("x"),), (place("A#{x}"),), derived=DerivedBlueprint("B"))
    text, _ = remade(Blueprint("D", TableBlueprint("ddd"), entities=(entity,)))
    assert "raise" not in text
    assert (
        '# open: items are made from B, by transaction, and a blueprint holds no code: made = Derived("B", ...)'
        in text
    )


def test_parts_that_render_as_nothing_stay() -> None:
    parts = (
        KeyPart("user", "str", "user"),
        KeyPart("shard", "int", "user", shards=1),
        KeyPart("month", "str", "at", bucket="never"),
    )
    keys = PlaceBlueprint("key", KeyBlueprint(("PK",), "U#{user}", parts, "UserPK"))
    entity = EntityBlueprint("A", "A", (attribute("user"), attribute("at", "datetime")), (keys,))
    text, design = remade(Blueprint("D", TableBlueprint("ddd"), entities=(entity,)))
    assert 'template="U#{user}#{shard}#{month}"' in text
    assert design.blueprint().entities[0].places[0].pk == keys.pk


# --- names and texts --------------------------------------------------------------------------------------


def test_names_that_every_class_has_are_known() -> None:
    public = {name for name in dir(Design) if not name.startswith("_")}
    assert public <= OF_DESIGNS
    assert {name for name in (*dir(Key), *dir(SortKey)) if not name.startswith("_")} <= OF_KEYS
    assert {name for name in dir(Table) if not name.startswith("_")} | {"name"} <= OF_TABLES
    assert set(dir(BaseModel)) <= OF_MODELS
    assert set(inspect.signature(Design.open).parameters) - {"environment"} <= OF_OPEN


def test_alias_with_the_name_of_what_every_model_has_gets_another() -> None:
    attributes = (attribute("id"), attribute("size", alias="model_config", is_optional=True))
    entity = EntityBlueprint("A", "A", attributes, (place("A#{id}"),))
    text, _ = remade(Blueprint("D", TableBlueprint("ddd"), entities=(entity,)))
    assert "model_config_2 | None" in text


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_stays_text(text: str) -> None:
    entity = EntityBlueprint(
        f"A{text}",
        f"a{text}",
        (
            attribute("id", about=text),
            attribute(text, f'"x" | "{text}"', default={"value": text}),
            attribute("t", text),
        ),
        (place(f"A{text.replace('{', '').replace('}', '')}#{{id}}", name=text),),
        about=text,
        was=(text,),
    )
    blueprint = Blueprint(
        f"D{text}",
        TableBlueprint("ddd", tags={"a": text}, about=text),
        entities=(entity,),
        patterns=(PatternBlueprint(text, text, text, documented=text, fixes=text, about=text),),
        about=text,
        questions=(text,),
    )
    only_declares(to_python(blueprint))
    remade(blueprint)


def test_variable_of_a_loop_is_not_used_by_the_next_read() -> None:
    parts = (KeyPart("room", "int", "note", shards=2),)
    sharded = PlaceBlueprint("", KeyBlueprint((), "NOTE#{room}", parts), KeyBlueprint((), "NOTE#{note}"))
    note = EntityBlueprint("Note", "Note", (attribute("note"),), (sharded,))
    visit = EntityBlueprint(
        "Visit", "Visit", (attribute("room"), attribute("day")), (place("ROOM#{room}", "VISIT#{day}"),)
    )
    reads = (
        ReadBlueprint("Query", ("Note",), "NOTE#{room}", count=2, name="notes"),
        ReadBlueprint("Query", ("Visit",), "ROOM#{room}", name="visits"),
    )
    asked_for = PatternBlueprint(
        "1", "Room", "room_view", parameters=(ParameterBlueprint("room", "str"),), reads=reads
    )
    table = TableBlueprint("rooms", sk="SK")
    text, design = remade(Blueprint("Rooms", table, entities=(note, visit), patterns=(asked_for,)))
    assert "for room_2 in shards(" in text
    assert [read.pk for read in design.blueprint().patterns[0].reads] == ["NOTE#{room}", "ROOM#{room}"]


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CALLS: Final = words(
    """AverageOf BucketOf Compressed Contains CopyOf CountOf Create Delete Digits Eq Exists Field Ge Gt In Index
    InitialOf Keys Le Lt MaxBytes Merged Ne NewType Normalize Pad Put Rate ShardOf Stored SumOf Unique Update
    Verbatim Volume Walk BeginsWith auto buckets collect expires gather pattern shards Decimal UUID timedelta set
    frozenset tuple"""
)
METHODS: Final = words(
    "keys get query batch_get prefix starting where newest_first limit consistent follow fromisoformat"
)
MODULES: Final = words("__future__ collections.abc datetime decimal enum typing uuid pydantic singletable")


def only_declares(text: str) -> None:
    """Check that importing a text declares classes and names, and does nothing else."""
    tree = ast.parse(text)
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    renamed: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            assert node.module in MODULES
            renamed |= {each.asname or each.name: each.name for each in node.names}
        elif isinstance(node, ast.Expr):
            assert isinstance(node.value, ast.Constant)
        else:
            assert isinstance(node, ast.ClassDef | ast.Assign), ast.dump(node)
    new_types = {
        node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for inner in ast.walk(tree):
        assert not isinstance(
            inner,
            ast.Import | ast.Raise | ast.Global | ast.Await | ast.While | ast.With | ast.Try | ast.JoinedStr,
        )
        if isinstance(inner, ast.FunctionDef):
            assert [type(each) for each in inner.body] == [ast.Return]
        if isinstance(inner, ast.Call):
            match inner.func:
                case ast.Name(name):
                    assert renamed.get(name, name) in CALLS or name in classes | new_types, ast.unparse(inner)
                case ast.Attribute(_, name):
                    assert name in METHODS, ast.unparse(inner)
                case _:
                    raise AssertionError(ast.unparse(inner))


BASES: Final = tuple(design.blueprint() for design in (Kefir, Lunch, Hostile))


@settings(max_examples=40, deadline=None)
@given(blueprints())
@example(documented())
def test_any_blueprint_is_a_module_that_only_declares(blueprint: Blueprint) -> None:
    text = to_python(blueprint)
    only_declares(text)
    imported(text)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(BASES).flatmap(changed))
def test_nearly_right_blueprint_is_a_module_that_opens(blueprint: Blueprint) -> None:
    text = to_python(blueprint)
    only_declares(text)
    design = design_in(imported(text))
    if design is not None:
        design.open(":memory:").close()
        design.blueprint()
