"""Projections: what is taken from an item, and paths that are in each other's way."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.errors import ValidationError
from singletable.expressions import Scope

ITEM: dict[str, Any] = {
    "n": {"N": "5"},
    "s": {"S": "text"},
    "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"N": "2"}, "w": {"N": "3"}}}, "k": {"N": "7"}}},
    "l": {
        "L": [
            {"N": "10"},
            {"L": [{"N": "1"}, {"N": "2"}]},
            {"N": "12"},
            {"M": {"a": {"N": "1"}, "b": {"N": "2"}}},
        ]
    },
    "e": {"M": {}},
    "status": {"S": "reserved"},
}
NAMES = {"#status": "status", "#m": "m", "#x": "x"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n", {"n": ITEM["n"]}),
        ("s,n", {"n": ITEM["n"], "s": ITEM["s"]}),
        ("#status", {"status": {"S": "reserved"}}),
        ("absent", {}),
        ("absent, n", {"n": ITEM["n"]}),
        ("e", {"e": {"M": {}}}),
        ("m.x", {"m": {"M": {"x": {"N": "1"}}}}),
        ("#m.#x, m.k", {"m": {"M": {"x": {"N": "1"}, "k": {"N": "7"}}}}),
        ("m.y.z, m.y.w", {"m": {"M": {"y": {"M": {"z": {"N": "2"}, "w": {"N": "3"}}}}}}),
        ("m.y.z, n", {"m": {"M": {"y": {"M": {"z": {"N": "2"}}}}}, "n": {"N": "5"}}),
        ("l[0]", {"l": {"L": [{"N": "10"}]}}),
        ("l[2], l[0]", {"l": {"L": [{"N": "10"}, {"N": "12"}]}}),
        ("l[1][1], l[0]", {"l": {"L": [{"N": "10"}, {"L": [{"N": "2"}]}]}}),
        ("l[3].a, l[3].b", {"l": {"L": [{"M": {"a": {"N": "1"}, "b": {"N": "2"}}}]}}),
        (
            "l[3].b, l[1][0], l[3].a",
            {"l": {"L": [{"L": [{"N": "1"}]}, {"M": {"a": {"N": "1"}, "b": {"N": "2"}}}]}},
        ),
        # What is not there leaves no empty shell.
        ("m.absent", {}),
        ("m.y.absent", {}),
        ("e.x", {}),
        ("l[9]", {}),
        ("l[0].x", {}),
        ("n.x", {}),
        ("n[0]", {}),
        ("m[0]", {}),
        ("l.x", {}),
    ],
)
def test_projection_takes_what_its_paths_find(text: str, expected: dict[str, Any]) -> None:
    assert Scope(NAMES, None).projection(text).apply(ITEM) == expected


def test_projection_leaves_the_item_alone() -> None:
    before = repr(ITEM)
    Scope(NAMES, None).projection("l[2], l[0], m.y.z").apply(ITEM)
    assert repr(ITEM) == before


@pytest.mark.parametrize(
    ("text", "attributes", "nested"),
    [("n, #status", {"n", "status"}, set()), ("m.x, n, l[0]", {"m", "n", "l"}, {"m", "l"})],
)
def test_projection_knows_the_attributes_it_takes_from(
    text: str, attributes: set[str], nested: set[str]
) -> None:
    projection = Scope(NAMES, None).projection(text)
    assert projection.attributes == attributes
    assert projection.nested_attributes == nested


@pytest.mark.parametrize(
    ("text", "verb", "one", "two"),
    [
        ("n, n", "overlap", "[n]", "[n]"),
        ("m, #m", "overlap", "[m]", "[m]"),
        ("a, a.b", "overlap", "[a]", "[a, b]"),
        ("a.b, a", "overlap", "[a, b]", "[a]"),
        ("s, m.y.z, n, m.y", "overlap", "[m, y, z]", "[m, y]"),
        ("l[0], l[0]", "overlap", "[l, [0]]", "[l, [0]]"),
        ("l[1], l[1][0]", "overlap", "[l, [1]]", "[l, [1], [0]]"),
        ("m.x, m[0]", "conflict", "[m, x]", "[m, [0]]"),
        ("l[0], l.x", "conflict", "[l, [0]]", "[l, x]"),
        ("a.b, c.d, a.b.c", "overlap", "[a, b]", "[a, b, c]"),
        # Of several such pairs the last one is named.
        ("m.x, m[0], m", "overlap", "[m, [0]]", "[m]"),
    ],
)
def test_paths_in_each_others_way_are_refused(text: str, verb: str, one: str, two: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Scope(NAMES, None).projection(text)
    assert caught.value.message == (
        f"Invalid ProjectionExpression: Two document paths {verb} with each other; "
        f"must remove or rewrite one of these paths; path one: {one}, path two: {two}"
    )


def test_undefined_name_is_refused() -> None:
    with pytest.raises(ValidationError) as caught:
        Scope(NAMES, None).projection("n, m.#missing")
    assert caught.value.message == (
        "Invalid ProjectionExpression: An expression attribute name used in the document path is not defined; "
        "attribute name: #missing"
    )
