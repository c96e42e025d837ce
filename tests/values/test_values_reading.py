"""Reading: what is legal comes out in the internal form, copied and measured."""

from __future__ import annotations

import itertools
from base64 import b64encode
from collections import OrderedDict
from enum import Enum
from types import MappingProxyType
from typing import Any

import orjson
import pytest
from hypothesis import given

from singletable.values.native import to_native
from singletable.values.reading import read_item, read_key, read_value
from singletable.values.rules import Source, checked_attributes
from singletable.values.sizes import item_bytes
from support.values_strategies import items, values


class Colour(str, Enum):  # noqa: UP042 - str() of a StrEnum would be right by chance
    RED = "red"


def containers(value: object) -> list[object]:
    """List every dict and list inside a value, itself too."""
    if isinstance(value, dict):
        return [value, *(found for member in value.values() for found in containers(member))]
    if isinstance(value, list):
        return [value, *(found for member in value for found in containers(member))]
    return []


@given(items)
def test_an_item_in_normal_form_stays_as_it_is(item: dict[str, dict[str, Any]]) -> None:
    stored = orjson.loads(orjson.dumps(item))
    assert read_item(stored, native=False) == (item, item_bytes(item))


@given(items)
def test_native_and_wire_input_give_the_same_item(item: dict[str, dict[str, Any]]) -> None:
    assert read_item(to_native(item), native=True) == (item, item_bytes(item))


@given(items)
def test_the_fast_walk_agrees_with_the_rules(item: dict[str, dict[str, Any]]) -> None:
    by_rules = checked_attributes(item, Source(native=False, older=False), 1)
    assert read_item(item, native=False) == by_rules


@given(values)
def test_a_value_in_normal_form_stays_as_it_is(value: dict[str, Any]) -> None:
    assert read_value(value, native=False) == value


@given(items)
def test_the_copy_shares_no_container_with_the_input(item: dict[str, dict[str, Any]]) -> None:
    copied, _ = read_item(item, native=False)
    originals = {id(container) for container in containers(item)}
    assert not any(id(container) in originals for container in containers(copied))


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({"N": "1e3"}, {"N": "1000"}),
        ({"N": "-0.0"}, {"N": "0"}),
        ({"NS": ["1.50", "2e1"]}, {"NS": ["1.5", "20"]}),
        ({"S": ""}, {"S": ""}),
        ({"B": ""}, {"B": ""}),
        ({"SS": [""]}, {"SS": [""]}),
        ({"BS": [""]}, {"BS": [""]}),
        ({"L": []}, {"L": []}),
        ({"M": {}}, {"M": {}}),
        (
            {"L": [{"N": "01"}, {"L": [{"M": {"a": {"N": "1.0"}}}]}]},
            {"L": [{"N": "1"}, {"L": [{"M": {"a": {"N": "1"}}}]}]},
        ),
        # A member that is null counts as absent, and a member of no known type is ignored.
        ({"S": "a", "N": None}, {"S": "a"}),
        ({"S": "a", "X": 1}, {"S": "a"}),
        # Some words are taken for booleans.
        ({"BOOL": "true"}, {"BOOL": True}),
        ({"BOOL": "YES"}, {"BOOL": True}),
        ({"BOOL": "0"}, {"BOOL": False}),
        ({"NULL": "t"}, {"NULL": True}),
    ],
    ids=str,
)
def test_wire_input_is_brought_into_the_internal_form(raw: dict[str, Any], value: dict[str, Any]) -> None:
    assert read_value(raw, native=False) == value
    assert read_key({"k": raw}, native=False) == {"k": value}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({"B": b"abc"}, {"B": "YWJj"}),
        ({"B": bytearray(b"abc")}, {"B": "YWJj"}),
        ({"B": memoryview(b"abc")}, {"B": "YWJj"}),
        # boto3 encodes text as UTF-8; it is not taken for base64.
        ({"B": "é"}, {"B": b64encode("é".encode()).decode()}),
        ({"BS": [b"b", bytearray(b"a")]}, {"BS": ["YQ==", "Yg=="]}),
        ({"BS": {b"b", b"a"}}, {"BS": ["YQ==", "Yg=="]}),
        ({"SS": {"b", "a", "c"}}, {"SS": ["a", "b", "c"]}),
        ({"SS": ("b", "a")}, {"SS": ["a", "b"]}),
        ({"NS": frozenset(("2", "1"))}, {"NS": ["1", "2"]}),
        ({"L": ({"S": "a"}, {"B": b"a"})}, {"L": [{"S": "a"}, {"B": "YQ=="}]}),
        ({"M": OrderedDict(a=MappingProxyType({"S": "a"}))}, {"M": {"a": {"S": "a"}}}),
        ({"M": {Colour.RED: {"S": Colour.RED}}}, {"M": {"red": {"S": "red"}}}),
        ({"SS": [Colour.RED]}, {"SS": ["red"]}),
    ],
    ids=itertools.count(),  # the text of a set differs from run to run
)
def test_python_types_are_brought_into_the_internal_form(raw: dict[str, Any], value: dict[str, Any]) -> None:
    item, size = read_item({"k": raw}, native=True)
    assert (item, size) == ({"k": value}, item_bytes({"k": value}))
    assert read_value(raw, native=True) == value
    # Nothing of a subclass is left: what comes out is what JSON would have given.
    assert orjson.loads(orjson.dumps(item)) == item


def test_a_subclass_of_str_comes_out_as_str() -> None:
    item, _ = read_item({Colour.RED: {"S": Colour.RED}}, native=True)
    [(name, value)] = item.items()
    assert type(name) is str
    assert type(value["S"]) is str


def test_a_mapping_that_is_no_dict_can_be_an_item() -> None:
    assert read_item(MappingProxyType({"a": {"S": "b"}}), native=True) == ({"a": {"S": "b"}}, 2)


def test_changing_the_input_later_does_not_change_the_item() -> None:
    data = bytearray(b"abc")
    raw: dict[str, dict[str, Any]] = {"b": {"B": data}, "l": {"L": [{"S": "a"}]}, "s": {"SS": ["a"]}}
    item, _ = read_item(raw, native=True)
    data[0] = 0
    raw["l"]["L"].append({"S": "b"})
    raw["s"]["SS"].append("b")
    assert item == {"b": {"B": "YWJj"}, "l": {"L": [{"S": "a"}]}, "s": {"SS": ["a"]}}


def test_a_name_of_the_greatest_length_is_read() -> None:
    name = "n" * 65535
    assert read_item({name: {"S": "a"}}, native=False) == ({name: {"S": "a"}}, 65536)
    assert read_value({"M": {name: {"S": "a"}}}, native=False) == {"M": {name: {"S": "a"}}}


@pytest.mark.parametrize(
    "wrap", [lambda inner: {"L": [inner]}, lambda inner: {"M": {"a": inner}}], ids=["L", "M"]
)
def test_a_leaf_inside_31_containers_is_read(wrap: Any) -> None:
    value = {"S": "a"}
    for _ in range(31):
        value = wrap(value)
    assert read_item({"v": value}, native=False)[0] == {"v": value}
    assert read_value(value, native=False) == value
