"""From the internal form to Python's: base64 becomes bytes, nothing else changes."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import orjson
import pytest
from hypothesis import given

from singletable.values.native import has_binary, to_native
from support.values_strategies import items


def test_binary_values_become_bytes_at_any_depth() -> None:
    item: dict[str, dict[str, Any]] = {
        "b": {"B": "YWJj"},
        "s": {"BS": ["YQ==", ""]},
        "l": {"L": [{"B": "Yg=="}, {"M": {"deep": {"B": "Yw=="}}}]},
        "t": {"S": "YWJj"},
    }
    assert to_native(item) == {
        "b": {"B": b"abc"},
        "s": {"BS": [b"a", b""]},
        "l": {"L": [{"B": b"b"}, {"M": {"deep": {"B": b"c"}}}]},
        "t": {"S": "YWJj"},
    }
    assert item["b"] == {"B": "YWJj"}


def with_bytes(value: dict[str, Any]) -> dict[str, Any]:
    [(tag, payload)] = value.items()
    if tag == "B":
        return {tag: b64decode(payload)}
    if tag == "BS":
        return {tag: [b64decode(member) for member in payload]}
    if tag == "L":
        return {tag: [with_bytes(member) for member in payload]}
    if tag == "M":
        return {tag: {name: with_bytes(member) for name, member in payload.items()}}
    return value


@given(items)
def test_everything_else_stays(item: dict[str, dict[str, Any]]) -> None:
    assert to_native(item) == {name: with_bytes(value) for name, value in item.items()}


@given(items)
def test_an_item_that_seems_free_of_binary_values_is(item: dict[str, dict[str, Any]]) -> None:
    if not has_binary(orjson.dumps(item)):
        assert to_native(item) == item


@pytest.mark.parametrize(
    ("item", "answer"),
    [
        ({"a": {"B": "YQ=="}}, True),
        ({"a": {"BS": ["YQ=="]}}, True),
        ({"a": {"L": [{"M": {"b": {"B": ""}}}]}}, True),
        ({"a": {"S": "B"}, "b": {"BOOL": True}}, False),
        ({"a": {"S": '"B":'}}, False),
        ({}, False),
    ],
    ids=str,
)
def test_binary_values_are_noticed_in_encoded_items(item: dict[str, Any], answer: bool) -> None:
    assert has_binary(orjson.dumps(item)) is answer
