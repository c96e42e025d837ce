"""Blueprints as TOML and JSON, and back; their schema; files that are wrong, or hostile."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from singletable.blueprint import (
    AttributeBlueprint,
    Blueprint,
    BlueprintError,
    EntityBlueprint,
    TableBlueprint,
)
from singletable.blueprint.positions import in_json, in_toml
from singletable.blueprint.toml_text import toml_text
from singletable.systems import installed_systems
from support.blueprints import changed
from support.paths import ROOT

SCHEMA = ROOT / "docs" / "reference" / "blueprint.schema.json"
FOLLOWS_SCHEMA = jsonschema.Draft202012Validator(Blueprint.schema())
quickly = settings(max_examples=25, suppress_health_check=list(HealthCheck))


def is_sayable(blueprint: Blueprint) -> bool:
    """Tell whether TOML and JSON have all of its values: no infinite number, and no half of a character."""
    try:
        blueprint.to_json()
    except BlueprintError:
        return False
    return True


documented = installed_systems()["kefir"].documented()
assert documented is not None
any_blueprint = changed(documented).filter(is_sayable)


@quickly
@given(any_blueprint)
def test_any_blueprint_reads_back_from_both_forms(blueprint: Blueprint) -> None:
    by_toml, by_json = blueprint.to_toml(), blueprint.to_json()
    assert Blueprint.from_json(by_json) == Blueprint.from_toml(by_toml) == blueprint
    assert Blueprint.from_json(by_json).to_json() == by_json
    assert Blueprint.from_toml(by_toml).to_toml() == by_toml


@quickly
@given(any_blueprint)
def test_what_is_written_follows_the_published_schema(blueprint: Blueprint) -> None:
    FOLLOWS_SCHEMA.validate(json.loads(blueprint.to_json()))


@pytest.mark.parametrize("value", ["\ud800", float("inf")])
def test_value_that_no_file_can_hold_is_one_sentence(value: Any) -> None:
    attribute = AttributeBlueprint("a", "a", "str", samples=(value,))
    blueprint = Blueprint("x", TableBlueprint("t"), entities=(EntityBlueprint("A", "A", (attribute,)),))
    for write in (blueprint.to_json, blueprint.to_toml):
        with pytest.raises(BlueprintError, match="cannot be written"):
            write()


def test_mapping_that_stands_for_null_in_toml_is_itself_in_json() -> None:
    attribute = AttributeBlueprint("a", "a", "dict", samples=({"null": True}, None))
    blueprint = Blueprint("x", TableBlueprint("t"), entities=(EntityBlueprint("A", "A", (attribute,)),))
    assert Blueprint.from_json(blueprint.to_json()) == blueprint
    with pytest.raises(BlueprintError, match="cannot be written as TOML"):
        blueprint.to_toml()


def test_schema_is_the_published_one() -> None:
    written = json.dumps(Blueprint.schema(), indent=2, ensure_ascii=False) + "\n"
    assert SCHEMA.read_text(encoding="utf-8") == written, "singletable blueprint schema --out writes it"


@pytest.mark.parametrize("name", installed_systems())
def test_systems_and_their_documents_read_back(name: str) -> None:
    system = installed_systems()[name]
    for blueprint in (system.blueprint(), system.documented()):
        assert blueprint is not None
        assert Blueprint.from_toml(blueprint.to_toml()) == blueprint
        assert Blueprint.from_json(blueprint.to_json()) == blueprint


# --- TOML -----------------------------------------------------------------------------------------------------

plain = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), inner, max_size=4)
    ),
    max_leaves=30,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), plain, max_size=4))
def test_any_data_is_written_as_toml_that_another_reader_reads(data: dict[str, Any]) -> None:
    assert tomllib.loads(toml_text(data)) == data


def test_toml_has_a_line_for_what_fits_on_one() -> None:
    text = toml_text({"a": 1, "table": {"name": "t", "types": {"PK": "S"}}, "list": [{"x": 1}, {"x": 2}]})
    assert (
        text == 'a = 1\n\n[table]\nname = "t"\ntypes = { PK = "S" }\n\n[[list]]\nx = 1\n\n[[list]]\nx = 2\n'
    )


def test_dates_without_quotes_are_texts() -> None:
    text = 'blueprint = 2\nname = "x"\n[table]\nname = "t"\n[[entities]]\nname = "A"\ndiscriminator = "A"\n'
    text += 'attributes = [{ name = "at", stored = "at", type = "str", samples = [2025-01-20T10:30:00Z] }]'
    assert Blueprint.from_toml(text).entities[0].attributes[0].samples == ("2025-01-20T10:30:00Z",)


def test_integer_of_any_length_is_read() -> None:
    text = f'{TOML_HEAD}[[figures]]\nname = "f"\nvalue = {10**30}\n'
    assert Blueprint.from_toml(text).figures[0].value == 1e30


# --- errors point at a line and a column ----------------------------------------------------------------------

TOML_HEAD = 'blueprint = 2\nname = "x"\n[table]\nname = "t"\n'
WRONG_TOML = {
    "a type": (TOML_HEAD + "pitr_days = 'x'", "line 5, column 1: Blueprint.table.pitr_days is 'x'"),
    "in a list": (
        TOML_HEAD + 'regions = [\n  { code = "a" },\n  { code = 1 },\n]',
        r"line 7, column 5: Blueprint.table.regions\[1\].code is 1, and should be a valid string",
    ),
    "in the second section": (
        TOML_HEAD + '[[indexes]]\nname = "a"\npk = ["a"]\n\n# more\n[[indexes]]\nname = "b"\npk = "b"\n',
        r"line 12, column 1: Blueprint.indexes\[1\].pk is 'b', and should be a valid array",
    ),
    "below a section": (
        TOML_HEAD + '[[entities]]\nname = "a"\ndiscriminator = "a"\n[entities.ttl]\nfield = 1\nstored = "b"',
        r"line 9, column 1: Blueprint.entities\[0\].ttl.field is 1",
    ),
    "a misspelt member": (
        TOML_HEAD + "billling = 'x'",
        "line 5, column 1: Blueprint.table has no 'billling'; it has name",
    ),
    "a missing member": (
        TOML_HEAD + "[[indexes]]\nname = 'a'",
        r"line 5, column 1: Blueprint.indexes\[0\] lacks pk",
    ),
    "a string over lines": (
        TOML_HEAD + 'about = """\none\ntwo"""\nttl = 3',
        "line 8, column 1: Blueprint.table.ttl is 3",
    ),
    "no TOML": (TOML_HEAD + "x = = 1", "this is no TOML: .*line 5"),
    "a number for a truth": (
        TOML_HEAD + "deletion_protection = 1",
        "line 5, column 1: .* should be a valid boolean",
    ),
    "a truth for a number": (
        TOML_HEAD + "pitr_days = true",
        "line 5, column 1: .* should be a valid integer",
    ),
    "less than nothing": (
        TOML_HEAD + '[[loads]]\nkind = "create"\nof = "A"\nmonthly = -5',
        r"line 8, column 1: Blueprint.loads\[0\].monthly is -5, and should be greater than or equal to 0",
    ),
    "more than all": (
        TOML_HEAD + '[[loads]]\nkind = "create"\nof = "A"\nmonthly = 5\nfails = 2',
        r"line 9, column 1: Blueprint.loads\[0\].fails is 2, and should be less than or equal to 1",
    ),
    "fewer users than none": (
        f"users = -3\n{TOML_HEAD}",
        "line 1, column 1: Blueprint.users is -3, and should be greater than or equal to 0",
    ),
    "no blueprint": ("a = 1", 'it has no "blueprint": 2'),
    "a version of tomorrow": ("blueprint = 9", "of version 9, and this release reads 1 to 2"),
    "a version that is none": ("blueprint = true", "of version True"),
    "not a number": (TOML_HEAD + "[[figures]]\nname = 'f'\nvalue = nan", "value is"),
}


@pytest.mark.parametrize(("text", "message"), WRONG_TOML.values(), ids=WRONG_TOML.keys())
def test_mistake_in_toml_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(BlueprintError, match=message) as caught:
        Blueprint.from_toml(text)
    assert "\n" not in str(caught.value)


def test_mistake_in_json_is_told_with_its_place() -> None:
    text = '{"blueprint": 2, "name": "x",\n "table": {"name": "t"},\n "indexes": [\n  {"name": "\\"}", "pk": 3}]}'
    with pytest.raises(BlueprintError, match=r"line 4, column 19: Blueprint.indexes\[0\].pk is 3"):
        Blueprint.from_json(text)


@given(st.dictionaries(st.text("ab.\"'#=[]{} \n", max_size=4), plain, max_size=4), st.data())
def test_every_path_of_any_text_is_found(data: dict[str, Any], draw: st.DataObject) -> None:
    path: tuple[int | str, ...] = ()
    here: Any = data
    while isinstance(here, dict | list) and here:
        key: Any = draw.draw(st.sampled_from(list(here) if isinstance(here, dict) else range(len(here))))
        path, here = (*path, key), here[key]
    if path:
        for text, find in ((json.dumps(data, indent=1), in_json), (toml_text(data), in_toml)):
            line, column = find(text, path) or (0, 0)
            assert 1 <= line <= text.count("\n") + 1
            assert 1 <= column <= len(text)


# --- hostile files --------------------------------------------------------------------------------------------

DEEP = 100_000
HOSTILE = {
    "deep lists in JSON": (Blueprint.from_json, "[" * DEEP),
    "deep objects in JSON": (Blueprint.from_json, '{"a":' * DEEP),
    "deep lists in TOML": (Blueprint.from_toml, "a = " + "[" * DEEP),
    "deep tables in TOML": (Blueprint.from_toml, "a = " + "{a=" * DEEP),
    "a deep header": (Blueprint.from_toml, f"[{'a.' * DEEP}a]\nb = 1"),
    "depth that both readers take": (
        Blueprint.from_toml,
        f"{TOML_HEAD}[[entities]]\nname='a'\ndiscriminator='a'\nsamples=[{{a={'[' * 150}{']' * 150}}}]\nx=1",
    ),
    "too long": (Blueprint.from_json, " " * 32_000_001),
    "a name of a megabyte": (Blueprint.from_json, json.dumps({"blueprint": 2, "x" * 1_000_000: 1})),
    "null bytes": (Blueprint.from_toml, "\0" * 100),
    "half a character": (Blueprint.from_json, '{"blueprint": 2, "name": "\\ud800", "table": {"name": "t"}}'),
    "nothing": (Blueprint.from_toml, ""),
    "a list": (Blueprint.from_json, "[]"),
    "twice the same section": (Blueprint.from_toml, TOML_HEAD + "[table]\nname='u'"),
}


@pytest.mark.parametrize(("read", "text"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_ends_in_one_sentence(read: Any, text: str) -> None:
    with pytest.raises(BlueprintError) as caught:
        read(text)
    assert len(str(caught.value)) < 1_200
    assert "\n" not in str(caught.value)


@settings(max_examples=50)
@given(plain, st.sampled_from(["table", "entities", "patterns", "loads", "figures", "said", "name"]))
def test_wrong_types_everywhere_end_in_one_sentence(value: Any, member: str) -> None:
    text = json.dumps({"blueprint": 2, "name": "x", "table": {"name": "t"}, member: value})
    try:
        Blueprint.from_json(text)
    except BlueprintError as error:
        said = str(error)
    else:
        said = ""
    assert "\n" not in said


def test_entities_that_own_each_other_are_no_trouble() -> None:
    data = {
        "blueprint": 2,
        "name": "x",
        "table": {"name": "t"},
        "entities": [
            {"name": one, "discriminator": one, "owns": [other], "derived": {"of": other}}
            for one, other in (("A", "B"), ("B", "A"), ("C", "C"))
        ],
    }
    blueprint = Blueprint.from_json(json.dumps(data))
    assert Blueprint.from_toml(blueprint.to_toml()) == blueprint
    assert "A" in blueprint.text()


def test_table_without_a_word_has_no_sort_key(tmp_path: Path) -> None:
    assert Blueprint.from_toml(TOML_HEAD).table == TableBlueprint("t")
    assert Blueprint.from_json('{"blueprint": 1, "name": "x", "table": {"name": "t"}}').table.sk == "SK"


# --- Markdown -------------------------------------------------------------------------------------------------


def texts_in(value: Any) -> set[str]:
    """Return the texts of people in a blueprint: what things are about, and where they were said."""
    if isinstance(value, dict):
        own = {
            each for name, each in value.items() if name in ("about", "at", "text", "because", "documented")
        }
        return {each for each in own if isinstance(each, str)}.union(*map(texts_in, value.values()))
    return set().union(*map(texts_in, value)) if isinstance(value, list) else set()


def plain_text(text: str) -> str:
    return " ".join(text.replace("\\|", "|").split())


@pytest.mark.parametrize("name", installed_systems())
def test_markdown_has_every_statement_of_a_document_with_its_place(name: str) -> None:
    blueprint = installed_systems()[name].documented()
    assert blueprint is not None
    shown = plain_text(blueprint.text())
    said = texts_in(json.loads(blueprint.to_json()))
    missing = sorted(each for each in said if plain_text(each).removesuffix(".") not in shown)
    assert missing == []
    for title, members in (
        ("Write rules", blueprint.rules),
        ("Expiry", blueprint.ttl_rules),
        ("Streams", blueprint.consumers),
        ("Roles", blueprint.roles),
        ("Alarms", blueprint.alarms),
        ("Planned changes", blueprint.changes),
        ("Figures", blueprint.figures),
        ("Open questions", blueprint.questions),
    ):
        assert (f"## {title} " in shown) == bool(members)


@quickly
@given(any_blueprint)
def test_any_blueprint_has_tables_whose_rows_are_as_wide_as_their_heads(blueprint: Blueprint) -> None:
    for block in blueprint.text().split("\n\n"):
        rows = [line.replace("\\|", "").count("|") for line in block.split("\n") if line.startswith("| ")]
        assert len(set(rows)) <= 1
