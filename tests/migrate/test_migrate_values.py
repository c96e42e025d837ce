"""Stored values beside each other: which are equal, and what of one stays beside the other."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.migrate.values import same, with_unknown

Value = dict[str, Any]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"N": "21.5"}, {"N": "21.500"}),
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}),
        ({"NS": ["1", "2.0"]}, {"NS": ["2", "1"]}),
        ({"BS": ["YQ==", "Yg=="]}, {"BS": ["Yg==", "YQ=="]}),
        (
            {"M": {"a": {"N": "1"}, "b": {"L": [{"N": "2"}]}}},
            {"M": {"b": {"L": [{"N": "2.0"}]}, "a": {"N": "1"}}},
        ),
        ({"BOOL": True}, {"BOOL": True}),
    ],
    ids=lambda value: next(iter(value)),
)
def test_values_are_the_same_however_they_are_written(one: Value, other: Value) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"N": "1"}, {"S": "1"}),
        ({"N": "1"}, {"N": "1.1"}),
        ({"SS": ["a"]}, {"SS": ["a", "b"]}),
        ({"M": {"a": {"N": "1"}}}, {"M": {"a": {"N": "1"}, "b": {"N": "1"}}}),
        ({"L": [{"N": "1"}, {"N": "2"}]}, {"L": [{"N": "2"}, {"N": "1"}]}),
        ({"L": [{"N": "1"}]}, {"L": [{"N": "1"}, {"N": "2"}]}),
        ({"S": "2024-01-15T10:30:00Z"}, {"S": "2024-01-15T10:30:00.000Z"}),
    ],
    ids=lambda value: next(iter(value)),
)
def test_values_differ(one: Value, other: Value) -> None:
    assert not same(one, other)


def test_what_no_model_knows_stays_inside_of_maps_and_lists() -> None:
    wanted = {"M": {"at": {"S": "new"}, "each": {"L": [{"M": {"a": {"N": "1"}}}]}}}
    stored = {"M": {"at": {"S": "old"}, "each": {"L": [{"M": {"b": {"N": "2"}}}]}, "theme": {"S": "dark"}}}
    assert with_unknown(wanted, stored) == {
        "M": {
            "at": {"S": "new"},
            "each": {"L": [{"M": {"a": {"N": "1"}, "b": {"N": "2"}}}]},
            "theme": {"S": "dark"},
        }
    }


@pytest.mark.parametrize("stored", [None, {"S": "text"}, {"L": []}])
def test_value_of_another_kind_is_replaced(stored: Value | None) -> None:
    wanted = {"L": [{"N": "1"}]}
    assert with_unknown(wanted, stored) == wanted
