"""Equality and order of values."""

from __future__ import annotations

from base64 import b64decode
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.values.compare import equal, less, order
from support.values_strategies import scalars, values


@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [
        ({"S": "a"}, {"S": "a"}, True),
        ({"S": "1"}, {"N": "1"}, False),
        ({"S": "YQ=="}, {"B": "YQ=="}, False),
        ({"BOOL": True}, {"BOOL": False}, False),
        ({"BOOL": True}, {"NULL": True}, False),
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}, True),
        ({"SS": ["a"]}, {"SS": ["a", "b"]}, False),
        ({"SS": ["1"]}, {"NS": ["1"]}, False),
        ({"NS": ["1", "2.5"]}, {"NS": ["2.5", "1"]}, True),
        ({"BS": ["YQ==", "Yg=="]}, {"BS": ["Yg==", "YQ=="]}, True),
        ({"L": [{"S": "a"}, {"S": "b"}]}, {"L": [{"S": "b"}, {"S": "a"}]}, False),
        ({"L": [{"S": "a"}]}, {"L": [{"S": "a"}, {"S": "b"}]}, False),
        ({"L": [{"SS": ["a", "b"]}]}, {"L": [{"SS": ["b", "a"]}]}, True),
        ({"M": {"a": {"NS": ["1", "2"]}}}, {"M": {"a": {"NS": ["2", "1"]}}}, True),
        ({"M": {"a": {"S": "x"}, "b": {"S": "y"}}}, {"M": {"b": {"S": "y"}, "a": {"S": "x"}}}, True),
        ({"M": {"a": {"S": "x"}}}, {"M": {"b": {"S": "x"}}}, False),
        ({"M": {}}, {"L": []}, False),
    ],
    ids=str,
)
def test_equality(left: dict[str, Any], right: dict[str, Any], answer: bool) -> None:
    assert equal(left, right) is answer
    assert equal(right, left) is answer


def shuffled(value: dict[str, Any]) -> dict[str, Any]:
    """Write a value down in another order wherever order means nothing."""
    [(tag, payload)] = value.items()
    if tag in ("SS", "NS", "BS"):
        return {tag: payload[::-1]}
    if tag == "L":
        return {tag: [shuffled(member) for member in payload]}
    if tag == "M":
        return {tag: {name: shuffled(payload[name]) for name in reversed(payload)}}
    return value


@given(values)
def test_the_order_of_sets_and_maps_means_nothing(value: dict[str, Any]) -> None:
    assert equal(value, shuffled(value))


@given(values, values)
def test_values_are_equal_when_they_are_without_regard_to_order(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    assert equal(left, right) == (frozen(left) == frozen(right))


def frozen(value: dict[str, Any]) -> Any:
    [(tag, payload)] = value.items()
    if tag in ("SS", "NS", "BS"):
        return tag, frozenset(payload)
    if tag == "L":
        return tag, tuple(map(frozen, payload))
    if tag == "M":
        return tag, frozenset((name, frozen(member)) for name, member in payload.items())
    return tag, payload


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ({"S": ""}, {"S": "a"}),
        ({"S": "Z"}, {"S": "a"}),
        ({"S": "\uffff"}, {"S": "\U00010000"}),
        ({"N": "9"}, {"N": "10"}),
        ({"N": "-10"}, {"N": "-9"}),
        ({"N": "-0.5"}, {"N": "0.25"}),
        ({"N": "1"}, {"N": "1.0000000000000000000000000000000000001"}),
        ({"B": "fw=="}, {"B": "gA=="}),
        # Base64 sorts unlike the bytes it stands for: 0xFB is "+w==", 0x00 is "AA==".
        ({"B": "AA=="}, {"B": "+w=="}),
        ({"B": "YQ=="}, {"B": "YWE="}),
    ],
    ids=ascii,
)
def test_order_within_a_type(lower: dict[str, Any], higher: dict[str, Any]) -> None:
    assert less(lower, higher)
    assert not less(higher, lower)
    assert not less(lower, dict(lower))
    assert (order(lower, higher), order(higher, lower), order(lower, dict(lower))) == (-1, 1, 0)


@given(scalars, scalars)
def test_order_is_that_of_python_within_a_type_and_none_across(
    left: dict[str, Any], right: dict[str, Any]
) -> None:
    [(left_tag, left_payload)] = left.items()
    [(right_tag, right_payload)] = right.items()
    ranks: dict[str, Any] = {"S": str.encode, "N": Decimal, "B": b64decode}
    if left_tag != right_tag or left_tag not in ranks:
        assert order(left, right) is None
        assert not less(left, right)
        return
    lower, higher = ranks[left_tag](left_payload), ranks[left_tag](right_payload)
    assert order(left, right) == (lower > higher) - (lower < higher)


@given(st.sampled_from([{"SS": ["a"]}, {"L": []}, {"M": {}}, {"BOOL": True}, {"NULL": True}]))
def test_other_types_have_no_order(value: dict[str, Any]) -> None:
    assert order(value, value) is None
