"""Conditions and filters: what they are true of, and what is refused once names and values are known."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.errors import ValidationError
from singletable.expressions import Scope

VALUES: dict[str, Any] = {
    ":zero": {"N": "0"},
    ":one": {"N": "1"},
    ":two": {"N": "2"},
    ":three": {"N": "3"},
    ":ten": {"N": "10"},
    ":x": {"S": "x"},
    ":xy": {"S": "xy"},
    ":y": {"S": "y"},
    ":empty": {"S": ""},
    ":true": {"BOOL": True},
    ":null": {"NULL": True},
    ":bytes1": {"B": "AQ=="},
    ":bytes2": {"B": "Ag=="},
    ":bytes12": {"B": "AQI="},
    ":nobytes": {"B": ""},
    ":strings": {"SS": ["b", "a"]},
    ":numbers": {"NS": ["1", "2"]},
    ":binaries": {"BS": ["AQ=="]},
    ":list": {"L": [{"N": "9"}]},
    ":map": {"M": {"a": {"N": "1"}}},
    ":S": {"S": "S"},
    ":N": {"S": "N"},
    ":M": {"S": "M"},
}

ITEM: dict[str, Any] = {
    "n": {"N": "2"},
    "s": {"S": "xyz"},
    "u": {"S": "é😀"},
    "b": {"B": "AQIC"},
    "t": {"BOOL": True},
    "nil": {"NULL": True},
    "strings": {"SS": ["a", "b"]},
    "numbers": {"NS": ["2", "1"]},
    "binaries": {"BS": ["AQI=", "Ag=="]},
    "l": {"L": [{"N": "9"}, {"L": [{"N": "9"}]}, {"M": {"a": {"N": "1"}}}, {"S": "x"}, {"SS": ["a", "b"]}]},
    "l1": {"L": [{"N": "9"}]},
    "m": {"M": {"a": {"N": "1"}, "b": {"L": []}}},
    "m1": {"M": {"a": {"N": "1"}}},
    "reserved name": {"S": "x"},
}

NAMES = {"#reserved": "reserved name", "#n": "n", "#a": "a"}


def holds(text: str, item: dict[str, Any] = ITEM) -> bool:
    scope = Scope(NAMES, VALUES)
    return scope.condition(text, parameter="ConditionExpression").holds(item)


TRUE = [
    # comparisons
    "n = :two",
    "n <> :one",
    "n < :ten",
    "n > :one",
    "n <= :two",
    "n >= :two",
    "s > :x",
    "b > :bytes12",
    "b < :bytes2",
    "t = :true",
    "nil = :null",
    "strings = :strings",
    "numbers = :numbers",
    "l1 = :list",
    "m1 = :map",
    "m.a = l[2].a",
    ":one < n",
    ":one = :one",
    "#n = :two",
    "m.#a = :one",
    "#reserved = :x",
    # numbers are compared as numbers, not as text
    "n < :ten and not n > :ten",
    # other types, and what is not there, are equal to nothing and before nothing
    "n <> :x",
    "strings <> numbers",
    "absent <> :one",
    "absent <> absent2",
    "nil <> absent",
    "not absent = :one",
    "not n < :x",
    "not n >= :x",
    "not absent < :one",
    # between and in
    "n between :two and :three",
    "n between :one and :two",
    "s between :x and u",
    "not n between :three and :ten",
    "not absent between :one and :two",
    "not n between :one and absent",
    "not n between :x and :y",
    "n in (:one, :two)",
    "n in (absent, :two)",
    "strings in (:one, :strings)",
    "not absent in (absent2)",
    "not s in (:x)",
    # functions
    "attribute_exists(n)",
    "attribute_exists(m.a)",
    "attribute_exists(l[4])",
    "attribute_exists(nil)",
    "attribute_not_exists(absent)",
    "attribute_not_exists(m.absent)",
    "attribute_not_exists(l[5])",
    "attribute_not_exists(n.a)",
    "attribute_not_exists(m[0])",
    "attribute_not_exists(l.a)",
    "attribute_type(n, :N)",
    "attribute_type(m, :M)",
    "not attribute_type(n, :S)",
    "not attribute_type(absent, :S)",
    "begins_with(s, :xy)",
    "begins_with(s, :empty)",
    "begins_with(b, :bytes12)",
    "begins_with(b, :nobytes)",
    "begins_with(:xy, :x)",
    "not begins_with(s, :y)",
    "not begins_with(n, :x)",
    "not begins_with(s, :bytes1)",
    "not begins_with(absent, :x)",
    "contains(s, :y)",
    "contains(s, :empty)",
    "contains(b, :bytes2)",
    "contains(b, :bytes12)",
    "contains(strings, s) or contains(strings, l[4]) or contains(numbers, :two)",
    "contains(binaries, :bytes12)",
    "contains(l, :x)",
    "contains(l, :list)",
    "contains(l, :map)",
    "contains(l, :strings)",
    "not contains(strings, :strings)",
    "not contains(s, :one)",
    "not contains(n, :two)",
    "not contains(m, :x)",
    "not contains(absent, :x)",
    "not contains(s, absent)",
    "size(s) = :three",
    "size(u) = :three",  # in UTF-16 code units
    "size(b) = :three",
    "size(strings) = :two",
    "size(numbers) = :two",
    "size(binaries) = :two",
    "size(m) = :two",
    "size(l) > :three",
    "size(:xy) = :two",
    "size(s) > size(strings)",
    "size(n) <> :one",
    "not size(n) = :one",
    "not size(absent) >= :zero",
    # precedence: NOT before AND before OR
    "n = :two or n = :two and s = :x",
    "not (n = :one or n = :two) or n = :two",
    "not n = :one and n = :two",
    "not not n = :two",
    "not not not n = :one",
    "n = :one or n = :one or n = :two",
    "n = :two and n = :two and n = :two",
    "NOT n = :one And n BeTwEeN :one aNd :three oR n iN (:one)",
]


@pytest.mark.parametrize("text", TRUE)
def test_condition_holds(text: str) -> None:
    assert holds(text)
    assert not holds(f"not ({text})")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("attribute_not_exists(n)", True),
        ("attribute_exists(n)", False),
        ("n = :one", False),
        ("n <> :one", True),
        ("size(n) = :zero", False),
    ],
)
def test_condition_on_an_absent_item_sees_no_attributes(text: str, *, expected: bool) -> None:
    assert holds(text, {}) is expected


@pytest.mark.parametrize(
    ("text", "attributes", "nested"),
    [
        ("n = :one", {"n"}, set()),
        ("a.b[0] = c and size(#reserved) > :one", {"a", "c", "reserved name"}, {"a"}),
        ("not (x in (y, :one)) or begins_with(z, :x)", {"x", "y", "z"}, set()),
        ("attribute_exists(l[0])", {"l"}, {"l"}),
        (":one = :one", set(), set()),
    ],
)
def test_condition_knows_the_attributes_it_reads(text: str, attributes: set[str], nested: set[str]) -> None:
    condition = Scope(NAMES, VALUES).condition(text, parameter="FilterExpression")
    assert condition.attributes == attributes
    assert condition.nested_attributes == nested


TYPE = "Incorrect operand type for operator or function; operator or function: "
DISTINCT = (
    "The first operand must be distinct from the remaining operands for this operator or function; operator: "
)
COUNT = "Incorrect number of operands for operator or function; operator or function: "
PATH = "Operator or function requires a document path; operator or function: "
NAME = "An expression attribute name used in the document path is not defined; attribute name: "
VALUE = "An expression attribute value used in expression is not defined; attribute value: "

REFUSED = [
    ("n < :list", f"{TYPE}<, operand type: L"),
    ("n <= :true", f"{TYPE}<=, operand type: BOOL"),
    ("n > :null", f"{TYPE}>, operand type: NULL"),
    ("n >= :map", f"{TYPE}>=, operand type: M"),
    (":strings < n", f"{TYPE}<, operand type: SS"),
    ("n between :list and :list", f"{TYPE}BETWEEN, operand type: L"),
    (":numbers between n and :one", f"{TYPE}BETWEEN, operand type: NS"),
    ("begins_with(s, :one)", f"{TYPE}begins_with, operand type: N"),
    ("begins_with(:binaries, s)", f"{TYPE}begins_with, operand type: BS"),
    ("begins_with(s, size(n))", f"{TYPE}begins_with, operand type: N"),
    ("size(:one) = :one", f"{TYPE}size, operand type: N"),
    ("size(:null) = :one", f"{TYPE}size, operand type: NULL"),
    ("size(size(n)) = :one", f"{TYPE}size, operand type: N"),
    ("attribute_type(n, :one)", f"{TYPE}attribute_type, operand type: N"),
    ("attribute_type(n, size(s))", f"{TYPE}attribute_type, operand type: N"),
    ("attribute_type(n, s)", f"{TYPE}attribute_type, operand type: {{NS,SS,L,BS,N,M,B,BOOL,NULL,S}}"),
    (
        "attribute_type(n, :x)",
        "Invalid attribute type name found; type: x, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
    ),
    ("attribute_exists(:one)", f"{PATH}attribute_exists"),
    ("attribute_not_exists(size(n))", f"{PATH}attribute_not_exists"),
    ("attribute_exists(n, s)", f"{COUNT}attribute_exists, number of operands: 2"),
    ("attribute_type(n)", f"{COUNT}attribute_type, number of operands: 1"),
    ("begins_with(n, n, :list)", f"{COUNT}begins_with, number of operands: 3"),
    ("size(n, s) = :one", f"{COUNT}size, number of operands: 2"),
    ("n = n", f"{DISTINCT}=, first operand: [n]"),
    ("n = #n", f"{DISTINCT}=, first operand: [n]"),
    ("m.a <> m.a", f"{DISTINCT}<>, first operand: [m, a]"),
    ("l[0] < l[0]", f"{DISTINCT}<, first operand: [l, [0]]"),
    ("n in (:one, s, n)", f"{DISTINCT}IN, first operand: [n]"),
    ("n between s and n", f"{DISTINCT}BETWEEN, first operand: [n]"),
    ("contains(n, n)", f"{DISTINCT}contains, first operand: [n]"),
    ("begins_with(n, n)", f"{DISTINCT}begins_with, first operand: [n]"),
    (
        "n between :two and :one",
        (
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
            "lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"
        ),
    ),
    (
        "n between :ten and :two",
        (
            "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
            "lower bound operand: AttributeValue: {N:10}, upper bound operand: AttributeValue: {N:2}"
        ),
    ),
    (
        "n between :x and :one",
        (
            "The BETWEEN operator requires same data type for lower and upper bounds; "
            "lower bound operand: AttributeValue: {S:x}, upper bound operand: AttributeValue: {N:1}"
        ),
    ),
    (
        f"n in ({', '.join(['s'] * 101)})",
        "The IN operator is provided with too many operands; number of operands: 101",
    ),
    ("#missing = :one", f"{NAME}#missing"),
    ("m.#missing[0] = :one", f"{NAME}#missing"),
    ("n = :missing", f"{VALUE}:missing"),
    # In the order written, operands before what they are operands of.
    ("#missing = :missing", f"{NAME}#missing"),
    (":missing = #missing", f"{VALUE}:missing"),
    ("n = n and n = :missing", f"{DISTINCT}=, first operand: [n]"),
    ("n = :missing and n = n", f"{VALUE}:missing"),
    ("(n = :missing or s = s) and n = n", f"{VALUE}:missing"),
    ("begins_with(:list, :missing)", f"{VALUE}:missing"),
    ("contains(size(:null), :missing)", f"{TYPE}size, operand type: NULL"),
    ("n between :list and n", f"{TYPE}BETWEEN, operand type: L"),
    ("attribute_type(n, n)", f"{DISTINCT}attribute_type, first operand: [n]"),
    ("attribute_exists(:missing, #missing)", f"{VALUE}:missing"),
    # What the text alone is refused for comes before all of these.
    (
        "n = :missing and size(s)",
        "The function is not allowed to be used this way in an expression; function: size",
    ),
    ("n = n and name = :one", "Attribute name is a reserved keyword; reserved keyword: name"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text[:50] for text, _ in REFUSED])
@pytest.mark.parametrize("parameter", ["ConditionExpression", "FilterExpression"])
def test_condition_is_refused_before_any_item_is_seen(parameter: str, text: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Scope(NAMES, VALUES).condition(text, parameter=parameter)
    assert caught.value.message == f"Invalid {parameter}: {message}"


def test_hundred_candidates_are_the_most_that_in_takes() -> None:
    assert holds(f"n in ({', '.join([':one'] * 99)}, :two)")


def test_remembered_condition_is_checked_against_the_types_of_the_next_values() -> None:
    def bind(value: dict[str, Any]) -> bool:
        return (
            Scope(None, {":v": value})
            .condition("begins_with(s, :v)", parameter="FilterExpression")
            .holds(ITEM)
        )

    assert bind({"S": "xy"})
    with pytest.raises(ValidationError, match="begins_with, operand type: N"):
        bind({"N": "1"})
    assert not bind({"S": "yx"})
