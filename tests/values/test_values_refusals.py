"""Refusals: which values are not taken, in DynamoDB's words."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.errors import ApiError, SerializationError, ValidationError
from singletable.values.reading import read_item, read_value
from singletable.values.refused import ValueRefusedError
from singletable.values.rules import Source, checked_value

INVALID = "One or more parameter values were invalid: "
EMPTY = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
SEVERAL = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
NULL_NOT_TRUE = INVALID + "Null attribute value types must have the value of true"
NOT_A_NUMBER = "The parameter cannot be converted to a numeric value"
UNEXPECTED_MAP = "Start of structure or map found where not expected"
UNRECOGNIZED = "Unrecognized collection type class "
AWS_CLASS = "com.amazonaws.dynamodb.v20120810.AttributeValue"
TOO_DEEP = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)


def error_of(call: Callable[[], object]) -> ApiError:
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value


def errors_of(raw: Any, *, native: bool = False, older: bool = False) -> list[ApiError]:
    """Read a value in each place where one can stand, and collect what is said of it."""
    return [
        error_of(lambda: read_value(raw, native=native, older=older)),
        error_of(lambda: read_item({"a": raw}, native=native, older=older)),
        error_of(lambda: read_item({"a": {"M": {"b": raw}}}, native=native, older=older)),
        error_of(lambda: read_item({"a": {"L": [{"S": "x"}, raw]}}, native=native, older=older)),
    ]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"N": "abc"}, NOT_A_NUMBER + ": abc"),
        ({"N": ""}, NOT_A_NUMBER + ": "),
        ({"N": " 5"}, NOT_A_NUMBER + ":  5"),
        ({"N": "٣"}, NOT_A_NUMBER + ": ٣"),
        ({"NS": ["1", "x"]}, NOT_A_NUMBER + ": x"),
        ({"NS": [""]}, NOT_A_NUMBER + ": "),
        ({"N": "1" * 39}, "Attempting to store more than 38 significant digits in a Number"),
        ({"NULL": False}, NULL_NOT_TRUE),
        ({"SS": []}, INVALID + "An string set  may not be empty"),
        ({"NS": []}, INVALID + "An number set  may not be empty"),
        ({"BS": []}, INVALID + "Binary sets should not be empty"),
        ({"SS": ["a", None]}, INVALID + "An string set may not have a null string as a member"),
        ({"SS": ["a", "a"]}, INVALID + 'Input collection ["a", "a"] contains duplicates.'),
        (
            {"SS": ["b", "a", "b", "C"]},
            INVALID + 'Input collection ["a", "b", "b", "C"] contains duplicates.',
        ),
        ({"SS": ['"é', '"é']}, INVALID + r'Input collection ["\"é", "\"é"] contains duplicates.'),
        ({"NS": ["1", "1"]}, INVALID + "Input collection contains duplicates."),
        ({"NS": ["1", "1.0"]}, INVALID + "Input collection contains duplicates."),
        ({"NS": ["-0", "0"]}, INVALID + "Input collection contains duplicates."),
        (
            {"BS": ["Yg==", "YQ==", "Yg=="]},
            INVALID + 'Input collection ["YQ==","Yg==","Yg=="]of type BS contains duplicates.',
        ),
        ({"M": {"": {"S": "a"}}}, "Empty attribute name"),
        ({"M": {"n" * 65536: {"S": "a"}}}, "Attribute name is too large, must be less than 65536 bytes"),
        (
            {"L": [{"M": {"é" * 32768: {"S": "a"}}}]},
            "Attribute name is too large, must be less than 65536 bytes",
        ),
    ],
    ids=lambda case: str(case)[:60],
)
def test_a_value_that_breaks_a_rule_is_refused(raw: dict[str, Any], message: str) -> None:
    for error in errors_of(raw):
        assert isinstance(error, ValueRefusedError)
        assert error.message == message
        assert error.code == "ValidationException"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"N": ""}, NOT_A_NUMBER),
        ({"N": "abc"}, NOT_A_NUMBER + ": abc"),
        ({"SS": []}, INVALID + "An string set  may not be empty"),
        ({"SS": ["b", "a", "b"]}, INVALID + "Input collection [b, a, b] contains duplicates."),
        ({"NS": ["1", "1.0"]}, "Input collection contains duplicates"),
        (
            {"BS": ["Yg==", "YQ==", "Yg=="]},
            INVALID + "Input collection [Yg==, YQ==, Yg==]of type BS contains duplicates.",
        ),
    ],
    ids=str,
)
def test_batches_and_transactions_have_the_older_wording(raw: dict[str, Any], message: str) -> None:
    assert {error.message for error in errors_of(raw, older=True)} == {message}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, EMPTY),
        (None, EMPTY),
        ({"S": None}, EMPTY),
        ({"X": "a"}, EMPTY),
        ({"s": "a"}, EMPTY),
        ({"S": "a", "N": "1"}, SEVERAL),
        ({"L": [], "M": {}}, SEVERAL),
        # With several types, what is wrong with one of them comes first.
        ({"S": "a", "N": "x"}, NOT_A_NUMBER + ": x"),
        ({"S": "a", "N": ""}, NOT_A_NUMBER),
        ({"S": "a", "NS": ["1", "x"]}, NOT_A_NUMBER + ": x"),
        ({"N": "x", "SS": []}, INVALID + "An string set  may not be empty"),
        ({"S": "a", "NULL": False}, NULL_NOT_TRUE),
        ({"NULL": "no"}, NULL_NOT_TRUE),
    ],
    ids=str,
)
def test_a_value_without_exactly_one_type_is_refused_outside_the_envelope(raw: Any, message: str) -> None:
    for error in errors_of(raw):
        assert type(error) is ValidationError
        assert error.message == message


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("a", "Unexpected value type in payload"),
        (5, "Unexpected value type in payload"),
        (True, "Unexpected value type in payload"),
        ([], UNRECOGNIZED + AWS_CLASS),
        ({"S": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"S": 5.5}, "DECIMAL_VALUE cannot be converted to String"),
        ({"S": True}, "TRUE_VALUE cannot be converted to String"),
        ({"S": False}, "FALSE_VALUE cannot be converted to String"),
        ({"S": ["a"]}, UNRECOGNIZED + "java.lang.String"),
        ({"S": {}}, UNEXPECTED_MAP),
        ({"N": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"N": 5.5}, "DECIMAL_VALUE cannot be converted to String"),
        ({"BOOL": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
        ({"BOOL": 1.5}, "DECIMAL_VALUE cannot be converted to Boolean"),
        ({"BOOL": "x"}, "Unexpected token received from parser"),
        ({"BOOL": []}, UNRECOGNIZED + "java.lang.Boolean"),
        ({"BOOL": {}}, UNEXPECTED_MAP),
        ({"NULL": 1}, "NUMBER_VALUE cannot be converted to Boolean"),
        ({"B": 5}, "only base-64-encoded strings are convertible to bytes"),
        ({"B": True}, "only base-64-encoded strings are convertible to bytes"),
        ({"B": []}, UNRECOGNIZED + "java.nio.ByteBuffer"),
        ({"B": {}}, UNEXPECTED_MAP),
        ({"B": "23456"}, "Base64 encoded length is expected a multiple of 4 bytes but found: 5"),
        ({"B": "=+/="}, "Invalid last non-pad Base64 character dectected"),
        ({"B": "+/+="}, "Invalid last non-pad Base64 character dectected"),
        ({"B": "YR=="}, "Invalid last non-pad Base64 character dectected"),
        ({"B": "a\nb="}, "Invalid last non-pad Base64 character dectected"),
        ({"B": "ééé="}, "Invalid last non-pad Base64 character dectected"),
        ({"SS": "a"}, "Unexpected field type"),
        ({"SS": 5}, "Unexpected field type"),
        ({"SS": {}}, UNEXPECTED_MAP),
        ({"SS": [5]}, "NUMBER_VALUE cannot be converted to String"),
        ({"NS": [5]}, "NUMBER_VALUE cannot be converted to String"),
        ({"BS": [5]}, "only base-64-encoded strings are convertible to bytes"),
        ({"BS": ["a"]}, "Base64 encoded length is expected a multiple of 4 bytes but found: 1"),
        ({"L": "a"}, "Unexpected field type"),
        ({"L": {}}, UNEXPECTED_MAP),
        ({"M": "a"}, "Unexpected field type"),
        ({"M": []}, f"Unrecognized collection type java.util.Map<java.lang.String, {AWS_CLASS}>"),
        ({"M": {"a": "b"}}, "Unexpected value type in payload"),
        ({"S": "a\ud800"}, "A string is not valid Unicode: it contains an unpaired surrogate"),
        ({"SS": ["\ud83d", "\ude00"]}, "A string is not valid Unicode: it contains an unpaired surrogate"),
        ({"M": {"\ud800": {"S": "a"}}}, "A string is not valid Unicode: it contains an unpaired surrogate"),
    ],
    ids=lambda case: ascii(case)[:60],
)
def test_a_wrong_json_type_is_a_serialization_error(raw: Any, message: str) -> None:
    for error in errors_of(raw):
        assert isinstance(error, SerializationError)
        assert error.message == message


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"B": 5}, "only base-64-encoded strings are convertible to bytes"),
        ({"N": 5}, "NUMBER_VALUE cannot be converted to String"),
        ({"S": b"a"}, "bytes cannot be converted to String"),
        ({"B": "\ud800"}, "A string is not valid Unicode: it contains an unpaired surrogate"),
        ({"SS": {"a", 5}}, "NUMBER_VALUE cannot be converted to String"),
        ({"L": {1, 2}}, "Unexpected field type"),
        ({"M": {5: {"S": "a"}}}, "NUMBER_VALUE cannot be converted to String"),
    ],
    ids=itertools.count(),  # the text of a set differs from run to run
)
def test_a_wrong_python_type_is_a_serialization_error(raw: dict[str, Any], message: str) -> None:
    for error in errors_of(raw, native=True):
        assert isinstance(error, SerializationError)
        assert error.message == message


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("a", "Unexpected field type"),
        (None, "Unexpected field type"),
        ([], f"Unrecognized collection type java.util.Map<java.lang.String, {AWS_CLASS}>"),
        ({5: {"S": "a"}}, "NUMBER_VALUE cannot be converted to String"),
    ],
    ids=str,
)
def test_an_item_that_is_no_map_is_a_serialization_error(raw: Any, message: str) -> None:
    error = error_of(lambda: read_item(raw, native=True))
    assert isinstance(error, SerializationError)
    assert error.message == message


@pytest.mark.parametrize("name", ["", "n" * 65536], ids=["empty", "too long"])
def test_an_item_with_an_unfit_name_is_refused(name: str) -> None:
    error = error_of(lambda: read_item({"a": {"S": "b"}, name: {"N": "1"}}, native=False))
    assert isinstance(error, ValueRefusedError)
    assert error.message == (
        "Attribute name is too large, must be less than 65536 bytes" if name else "Empty attribute name"
    )


def test_a_wrong_type_is_reported_before_a_broken_rule_that_stands_before_it() -> None:
    raw: dict[str, Any] = {"a": {"N": "x"}, "b": {"L": [{"M": {"c": {"S": 5}}}]}}
    error = error_of(lambda: read_item(raw, native=False))
    assert isinstance(error, SerializationError)
    assert isinstance(
        error_of(lambda: read_value({"L": list(raw.values())}, native=False)), SerializationError
    )


@pytest.mark.parametrize(
    ("innermost", "containers"),
    [({"S": "a"}, 32), ({"L": []}, 31), ({"M": {}}, 31), ({"S": "a"}, 500)],
    ids=["leaf in 32", "list in 31", "map in 31", "leaf in 500"],
)
@pytest.mark.parametrize(
    "wrap", [lambda inner: {"L": [inner]}, lambda inner: {"M": {"a": inner}}], ids=["L", "M"]
)
def test_a_value_nested_too_deep_is_refused(innermost: dict[str, Any], containers: int, wrap: Any) -> None:
    value = innermost
    for _ in range(containers):
        value = wrap(value)
    for call in (
        lambda: read_item({"v": value}, native=False),
        lambda: read_value(value, native=False),
        lambda: checked_value(value, Source(native=False, older=False), 1),
    ):
        error = error_of(call)
        assert isinstance(error, ValueRefusedError)
        assert error.message == TOO_DEEP


def test_a_list_that_contains_itself_is_nested_too_deep() -> None:
    loop: list[Any] = []
    loop.append({"L": loop})
    assert error_of(lambda: read_value({"L": loop}, native=True)).message == TOO_DEEP


def test_the_envelope_is_that_of_single_item_writes() -> None:
    error = error_of(lambda: read_item({"a": {"SS": []}}, native=False))
    assert isinstance(error, ValueRefusedError)
    assert error.enveloped().message == (
        f"1 validation error detected: {INVALID}An string set  may not be empty"
    )
    assert type(error.enveloped()) is ValidationError


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M", "X", ""]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=6,
)


@given(anything, st.booleans(), st.booleans())
def test_whatever_comes_in_is_either_read_or_refused_with_an_api_error(
    raw: object, native: bool, older: bool
) -> None:
    with suppress(ApiError):
        read_item({"a": raw}, native=native, older=older)
    try:
        value = read_value(raw, native=native, older=older)
    except ApiError:
        return
    # What was taken is in normal form.
    assert read_value(orjson.loads(orjson.dumps(value)), native=False) == value
