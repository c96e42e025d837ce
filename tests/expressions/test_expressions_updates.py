"""Updates: what becomes of an item, what is returned of it, and what is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from singletable.errors import ValidationError
from singletable.expressions import ExpressionRefusedError, Scope

VALUES: dict[str, Any] = {
    ":one": {"N": "1"},
    ":five": {"N": "5"},
    ":seven": {"N": "7"},
    ":half": {"N": "0.5"},
    ":huge": {"N": "9" + "0" * 125},
    ":x": {"S": "x"},
    ":true": {"BOOL": True},
    ":null": {"NULL": True},
    ":bytes": {"B": "AQ=="},
    ":a": {"SS": ["a"]},
    ":b": {"SS": ["b"]},
    ":bc": {"SS": ["b", "c"]},
    ":ab": {"SS": ["a", "b"]},
    ":numbers": {"NS": ["2", "3"]},
    ":binaries": {"BS": ["AQ=="]},
    ":list": {"L": [{"S": "new"}]},
    ":map": {"M": {"k": {"N": "1"}}},
}
NAMES = {"#n": "n", "#m": "m", "#odd": "odd name"}

ITEM: dict[str, Any] = {
    "pk": {"S": "k"},
    "n": {"N": "5"},
    "s": {"S": "text"},
    "l": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}]},
    "lm": {"L": [{"M": {"x": {"N": "1"}}}, {"N": "7"}]},
    "m": {"M": {"a": {"N": "1"}, "deep": {"M": {"b": {"N": "2"}}}}},
    "ss": {"SS": ["a", "b"]},
    "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["AQ==", "Ag=="]},
    "ls": {"L": [{"SS": ["a"]}, {"S": "x"}, {"S": "y"}]},
    "ls2": {"L": [{"SS": ["a"]}, {"SS": ["b"]}]},
    "lss": {"L": [{"SS": ["a"]}, {"SS": ["b", "c"]}, {"S": "z"}]},
}


def apply(text: str, item: dict[str, Any] = ITEM) -> dict[str, Any]:
    before = copy.deepcopy(item)
    after = Scope(NAMES, VALUES).update(text).apply(item)
    assert item == before, "the given item stays as it was"
    return after


def changes(text: str, item: dict[str, Any] = ITEM) -> dict[str, Any]:
    """Return the attributes that an update changed, None for those it removed."""
    after = apply(text, item)
    return {name: after.get(name) for name in item.keys() | after.keys() if after.get(name) != item.get(name)}


def numbers(*texts: str) -> dict[str, Any]:
    return {"L": [{"N": text} for text in texts]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SET n = :one", {"n": {"N": "1"}}),
        ("SET #n = :one, #odd = :x", {"n": {"N": "1"}, "odd name": {"S": "x"}}),
        ("set fresh = :x Remove s", {"fresh": {"S": "x"}, "s": None}),
        ("SET fresh = n", {"fresh": {"N": "5"}}),
        ("SET fresh = m.deep.b", {"fresh": {"N": "2"}}),
        ("SET fresh = (l[2])", {"fresh": {"N": "3"}}),
        # Everything on the right is read from the old item.
        ("SET n = s, s = n", {"n": {"S": "text"}, "s": {"N": "5"}}),
        ("SET fresh = n REMOVE n", {"fresh": {"N": "5"}, "n": None}),
        ("SET n = :one, fresh = n + :one", {"n": {"N": "1"}, "fresh": {"N": "6"}}),
        # sums
        ("SET n = n + :one", {"n": {"N": "6"}}),
        ("SET n = n - :seven", {"n": {"N": "-2"}}),
        ("SET n = :one - n", {"n": {"N": "-4"}}),
        ("SET n = (n + :half)", {"n": {"N": "5.5"}}),
        ("SET n = n - n", {"n": {"N": "0"}}),
        ("SET m.a = m.a + l[1]", {"m": {"M": {"a": {"N": "3"}, "deep": {"M": {"b": {"N": "2"}}}}}}),
        ("SET n = if_not_exists(absent, :seven) + :one", {"n": {"N": "8"}}),
        # functions
        ("SET fresh = if_not_exists(fresh, :one)", {"fresh": {"N": "1"}}),
        ("SET n = if_not_exists(n, :one)", {}),
        ("SET fresh = if_not_exists(m.absent, n)", {"fresh": {"N": "5"}}),
        ("SET fresh = if_not_exists(absent, if_not_exists(gone, :one))", {"fresh": {"N": "1"}}),
        ("SET l = list_append(l, :list)", {"l": {"L": [{"N": "1"}, {"N": "2"}, {"N": "3"}, {"S": "new"}]}}),
        ("SET l = list_append(:list, l)", {"l": {"L": [{"S": "new"}, {"N": "1"}, {"N": "2"}, {"N": "3"}]}}),
        ("SET fresh = list_append(l, l)", {"fresh": numbers("1", "2", "3", "1", "2", "3")}),
        ("SET fresh = list_append(if_not_exists(fresh, :list), :list)", {"fresh": {"L": [{"S": "new"}] * 2}}),
        # nested targets
        ("SET m.a = :x", {"m": {"M": {"a": {"S": "x"}, "deep": {"M": {"b": {"N": "2"}}}}}}),
        (
            "SET m.deep.c = :x",
            {"m": {"M": {"a": {"N": "1"}, "deep": {"M": {"b": {"N": "2"}, "c": {"S": "x"}}}}}},
        ),
        ("SET lm[0].y = :one", {"lm": {"L": [{"M": {"x": {"N": "1"}, "y": {"N": "1"}}}, {"N": "7"}]}}),
        ("SET l[0] = :seven, l[2] = :x", {"l": {"L": [{"N": "7"}, {"N": "2"}, {"S": "x"}]}}),
        ("REMOVE m.a, m.deep.b", {"m": {"M": {"deep": {"M": {}}}}}),
        ("REMOVE lm[0].x", {"lm": {"L": [{"M": {}}, {"N": "7"}]}}),
        ("REMOVE absent, m.absent, l[9]", {}),
        # sets and counters
        ("ADD n :one", {"n": {"N": "6"}}),
        ("ADD fresh :one", {"fresh": {"N": "1"}}),
        ("ADD fresh :bc", {"fresh": {"SS": ["b", "c"]}}),
        ("ADD ss :bc", {"ss": {"SS": ["a", "b", "c"]}}),
        ("ADD ns :numbers", {"ns": {"NS": ["1", "2", "3"]}}),
        ("ADD bs :binaries", {}),
        (
            "ADD m.a :one, m.fresh :one",
            {"m": {"M": {**ITEM["m"]["M"], "a": {"N": "2"}, "fresh": {"N": "1"}}}},
        ),
        ("DELETE ss :bc", {"ss": {"SS": ["a"]}}),
        ("DELETE ns :numbers", {"ns": {"NS": ["1"]}}),
        ("DELETE bs :binaries", {"bs": {"BS": ["Ag=="]}}),
        ("DELETE ss :ab", {"ss": None}),
        ("DELETE absent :a, m.absent :a", {}),
        (
            "SET fresh = :x REMOVE s ADD n :one DELETE ss :a",
            {"fresh": {"S": "x"}, "s": None, "n": {"N": "6"}, "ss": {"SS": ["b"]}},
        ),
    ],
)
def test_update_changes_the_item(text: str, expected: dict[str, Any]) -> None:
    assert changes(text) == expected


def test_update_of_an_absent_item_starts_from_nothing() -> None:
    assert apply("SET n = :one ADD c :one REMOVE s DELETE ss :a", {}) == {"n": {"N": "1"}, "c": {"N": "1"}}


# Recorded on the service in October 2026 (by dynoxide): every index means what it meant in the old list.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ADD l[3] :five", {"l": numbers("1", "2", "3", "5")}),
        ("REMOVE l[3]", {}),
        ("SET l[10] = :seven ADD l[3] :five", {"l": numbers("1", "2", "3", "5", "7")}),
        ("SET l[10] = :x ADD l[3] :five", {"l": {"L": [*numbers("1", "2", "3", "5")["L"], {"S": "x"}]}}),
        ("SET l[10] = :seven REMOVE l[3]", {"l": numbers("1", "2", "3", "7")}),
        ("SET l[10] = :seven REMOVE l[2]", {"l": numbers("1", "2", "7")}),
        ("SET l[10] = :ab DELETE l[3] :a", {"l": {"L": [*numbers("1", "2", "3")["L"], {"SS": ["a", "b"]}]}}),
        ("SET l[10] = :five, l[11] = :seven", {"l": numbers("1", "2", "3", "5", "7")}),
        ("SET l[11] = :seven, l[10] = :five", {"l": numbers("1", "2", "3", "5", "7")}),
        ("SET l[5] = :seven REMOVE l[0]", {"l": numbers("2", "3", "7")}),
        ("REMOVE l[0], l[1]", {"l": numbers("3")}),
        ("REMOVE l[1], l[0]", {"l": numbers("3")}),
        ("REMOVE l[0], l[9]", {"l": numbers("2", "3")}),
        ("REMOVE l[0], l[1], l[2]", {"l": {"L": []}}),
        ("REMOVE lm[1] ADD lm[0].x :one", {"lm": {"L": [{"M": {"x": {"N": "2"}}}]}}),
        ("DELETE ls[0] :a", {"ls": {"L": [{"S": "x"}, {"S": "y"}]}}),
        ("DELETE ls[0] :a REMOVE ls[1]", {"ls": {"L": [{"S": "y"}]}}),
        ("DELETE ls[0] :a SET ls[1] = :x", {"ls": {"L": [{"S": "x"}, {"S": "y"}]}}),
        ("DELETE lss[0] :a, lss[1] :b", {"lss": {"L": [{"SS": ["c"]}, {"S": "z"}]}}),
        ("DELETE ls2[0] :a, ls2[1] :b", {"ls2": {"L": []}}),
        ("REMOVE ls[1] DELETE ls[0] :a", {"ls": {"L": [{"S": "y"}]}}),
    ],
)
def test_list_indexes_are_those_of_the_old_item(text: str, expected: dict[str, Any]) -> None:
    assert changes(text) == expected


BAD_PATH = "The document path provided in the update expression is invalid for update"
BAD_TYPE = "An operand in the update expression has an incorrect data type"
NOT_THERE = "The provided expression refers to an attribute that does not exist in the item"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET zz.y = :one", BAD_PATH),
        ("SET zz.y.w = :one", BAD_PATH),
        ("SET m.nope.y = :one", BAD_PATH),
        ("SET s.y = :one", BAD_PATH),
        ("SET nolist[0] = :one", BAD_PATH),
        ("SET m[0] = :one", BAD_PATH),
        ("SET lm[1].y = :one", BAD_PATH),
        ("SET lm[9].y = :one", BAD_PATH),
        ("REMOVE zz.y", BAD_PATH),
        ("REMOVE m.nope.y", BAD_PATH),
        ("REMOVE nolist[0]", BAD_PATH),
        ("REMOVE s.y", BAD_PATH),
        ("REMOVE m[0]", BAD_PATH),
        ("ADD zz.y :one", BAD_PATH),
        ("ADD m.nope.y :one", BAD_PATH),
        ("ADD s.y :one", BAD_PATH),
        ("ADD lm[1].q :one", BAD_PATH),
        ("DELETE zz.y :a", BAD_PATH),
        ("DELETE s.y :a", BAD_PATH),
        ("SET n = :one, zz.y = :one", BAD_PATH),
        ("SET n = :one REMOVE zz.y", BAD_PATH),
        ("SET n = s + :one", BAD_TYPE),
        ("SET n = :one - m", BAD_TYPE),
        ("SET n = if_not_exists(absent, :x) + :one", BAD_TYPE),
        ("SET l = list_append(s, :list)", BAD_TYPE),
        ("SET l = list_append(:list, n)", BAD_TYPE),
        ("SET l = list_append(if_not_exists(absent, :one), :list)", BAD_TYPE),
        ("ADD s :one", BAD_TYPE),
        ("ADD n :a", BAD_TYPE),
        ("ADD l :one", BAD_TYPE),
        ("ADD ss :numbers", BAD_TYPE),
        ("DELETE s :a", BAD_TYPE),
        ("DELETE ns :a", BAD_TYPE),
        ("SET n = absent", NOT_THERE),
        ("SET n = m.absent", NOT_THERE),
        ("SET n = l[9]", NOT_THERE),
        ("SET n = s.x", NOT_THERE),
        ("SET n = absent + :one", NOT_THERE),
        ("SET n = :one - absent", NOT_THERE),
        ("SET l = list_append(absent, :list)", NOT_THERE),
        ("SET l = list_append(:list, absent)", NOT_THERE),
        ("SET n = if_not_exists(absent, gone)", NOT_THERE),
        ("SET fresh = :one, n = fresh + :one", NOT_THERE),
        # All values are worked out before any path is followed.
        ("SET zz.y = :one ADD s :one", BAD_TYPE),
        ("SET zz.y = :one DELETE s :a", BAD_TYPE),
        ("REMOVE zz.y SET n = absent", NOT_THERE),
        ("SET n = absent, zz.y = :one", NOT_THERE),
        (
            "SET n = :huge + :huge",
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ),
        (
            "SET n = :huge + :one",
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ),
    ],
)
def test_update_that_does_not_fit_the_item_is_refused(text: str, message: str) -> None:
    update = Scope(NAMES, VALUES).update(text)
    with pytest.raises(ValidationError) as caught:
        update.apply(ITEM)
    assert caught.value.message == message
    assert not isinstance(caught.value, ExpressionRefusedError), "the item is at fault, not the request"


def nest(value: dict[str, Any], levels: int) -> dict[str, Any]:
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


def test_update_may_not_nest_the_item_deeper_than_32_levels() -> None:
    item = {"d": nest({"S": "leaf"}, 30)}
    target = "d" + ".n" * 30
    just_fits = Scope(None, {":v": nest({"S": "leaf"}, 1)}).update(f"SET {target} = :v").apply(item)
    assert just_fits == {"d": nest({"S": "leaf"}, 31)}
    too_deep = Scope(None, {":v": nest({"S": "leaf"}, 2)}).update(f"SET {target} = :v")
    with pytest.raises(ValidationError) as caught:
        too_deep.apply(item)
    assert caught.value.message == "Nesting Levels have exceeded supported limits"
    appended = Scope(None, {":v": {"L": [{"L": []}]}}).update("SET d" + ".n" * 29 + " = :v").apply(item)
    assert appended == {"d": nest({"L": [{"L": []}]}, 29)}


# --- what is returned -------------------------------------------------------------------------


# The nested cases were checked against the service by ScyllaDB's conformance tests.
@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("SET n = :one, fresh = :x", {"n": {"N": "5"}}, {"n": {"N": "1"}, "fresh": {"S": "x"}}),
        ("SET n = n", {"n": {"N": "5"}}, {"n": {"N": "5"}}),
        ("REMOVE n", {"n": {"N": "5"}}, {}),
        ("REMOVE absent", {}, {}),
        ("ADD n :one", {"n": {"N": "5"}}, {"n": {"N": "6"}}),
        ("DELETE ss :ab", {"ss": {"SS": ["a", "b"]}}, {}),
        ("SET m.a = :x", {"m": {"M": {"a": {"N": "1"}}}}, {"m": {"M": {"a": {"S": "x"}}}}),
        ("SET m.fresh = :x", {}, {"m": {"M": {"fresh": {"S": "x"}}}}),
        ("REMOVE m.a", {"m": {"M": {"a": {"N": "1"}}}}, {}),
        ("SET l[1] = :seven", {"l": numbers("2")}, {"l": numbers("7")}),
        (
            "SET l[1] = :seven, m.a = :x",
            {"l": numbers("2"), "m": {"M": {"a": {"N": "1"}}}},
            {"l": numbers("7"), "m": {"M": {"a": {"S": "x"}}}},
        ),
        ("SET l[100] = :seven", {}, {}),
        ("SET l[3] = :seven", {}, {"l": numbers("7")}),
        ("REMOVE l[1], l[3]", {"l": numbers("2")}, {"l": numbers("3")}),
        ("REMOVE l[2]", {"l": numbers("3")}, {}),
        (
            "SET lm[0].x = :x",
            {"lm": {"L": [{"M": {"x": {"N": "1"}}}]}},
            {"lm": {"L": [{"M": {"x": {"S": "x"}}}]}},
        ),
    ],
)
def test_written_paths_are_returned_as_they_are_in_the_old_and_the_new_item(
    text: str, old: dict[str, Any], new: dict[str, Any]
) -> None:
    update = Scope(NAMES, VALUES).update(text)
    assert update.project(ITEM) == old
    assert update.project(update.apply(ITEM)) == new


def test_update_knows_the_attributes_it_writes() -> None:
    update = Scope(NAMES, VALUES).update("SET #m.a = n, #odd = :x REMOVE s ADD l[0] :one DELETE ss :a")
    assert update.attributes == {"m", "odd name", "s", "l", "ss"}
    assert update.nested_attributes == {"m", "l"}


# --- what is refused without an item ------------------------------------------------------------

TYPE = "Incorrect operand type for operator or function; operator or function: "
COUNT = "Incorrect number of operands for operator or function; operator or function: "
NAME = "An expression attribute name used in the document path is not defined; attribute name: "
VALUE = "An expression attribute value used in expression is not defined; attribute value: "


def in_the_way(verb: str, one: str, two: str) -> str:
    return (
        f"Two document paths {verb} with each other; must remove or rewrite one of these paths; "
        f"path one: {one}, path two: {two}"
    )


def wrong_section_type(operator: str, operand: str) -> str:
    return (
        f"Incorrect operand type for operator or function; operator: {operator}, operand type: {operand}, "
        "typeSet: ALLOWED_FOR_ADD_OPERAND"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SET n = :x + :one", f"{TYPE}+, operand type: S"),
        ("SET n = n - :list", f"{TYPE}-, operand type: L"),
        ("SET l = list_append(l, :one)", f"{TYPE}list_append, operand type: N"),
        ("SET l = list_append(:ab, l)", f"{TYPE}list_append, operand type: SS"),
        ("SET n = if_not_exists(n)", f"{COUNT}if_not_exists, number of operands: 1"),
        ("SET n = list_append(n, s, l)", f"{COUNT}list_append, number of operands: 3"),
        (
            "SET n = if_not_exists(:one, n)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET n = if_not_exists(if_not_exists(n, s), :one)",
            "Operator or function requires a document path; operator or function: if_not_exists",
        ),
        (
            "SET n = if_not_exists(n, #n)",
            (
                "The first operand must be distinct from the remaining operands for this operator or function; "
                "operator: if_not_exists, first operand: [n]"
            ),
        ),
        ("ADD n :x", wrong_section_type("ADD", "STRING")),
        ("ADD n :bytes", wrong_section_type("ADD", "Binary")),
        ("ADD n :true", wrong_section_type("ADD", "BOOL")),
        ("ADD n :null", wrong_section_type("ADD", "NULL")),
        ("ADD n :list", wrong_section_type("ADD", "LIST")),
        ("ADD n :map", wrong_section_type("ADD", "MAP")),
        ("DELETE ss :one", wrong_section_type("DELETE", "NUMBER")),
        ("DELETE ss :x", wrong_section_type("DELETE", "STRING")),
        ("SET n = #absent", f"{NAME}#absent"),
        ("SET n = :absent", f"{VALUE}:absent"),
        ("ADD n :absent", f"{VALUE}:absent"),
        ("SET n = :one, n = :five", in_the_way("overlap", "[n]", "[n]")),
        ("SET n = :one, #n = :five", in_the_way("overlap", "[n]", "[n]")),
        ("SET a.b = :one, a = :map", in_the_way("overlap", "[a, b]", "[a]")),
        ("SET a = :map, a.b = :one", in_the_way("overlap", "[a]", "[a, b]")),
        ("SET l[3] = :one REMOVE l[3]", in_the_way("overlap", "[l, [3]]", "[l, [3]]")),
        ("REMOVE m ADD m.a :one", in_the_way("overlap", "[m]", "[m, a]")),
        ("SET a[0] = :one, a[0].b = :one", in_the_way("overlap", "[a, [0]]", "[a, [0], b]")),
        ("SET a.b = :one, a[0] = :one", in_the_way("conflict", "[a, b]", "[a, [0]]")),
        ("SET a.b.c = :one REMOVE a.b[1]", in_the_way("conflict", "[a, b, c]", "[a, b, [1]]")),
        # Targets before values, and the last action before the first.
        ("SET n = :absent, #absent = :one", f"{NAME}#absent"),
        ("SET #absent = :one, n = :absent", f"{NAME}#absent"),
        ("SET #absent1 = :one REMOVE #absent2", f"{NAME}#absent2"),
        ("SET #absent = :one, n = :one, n = :one", in_the_way("overlap", "[n]", "[n]")),
        ("SET n = :absent1 ADD s :absent2", f"{VALUE}:absent2"),
        ("ADD s :absent2 SET n = :absent1", f"{VALUE}:absent1"),
        ("SET n = :absent ADD s :x", wrong_section_type("ADD", "STRING")),
        ("ADD s :x SET n = :absent", f"{VALUE}:absent"),
        ("SET n = :x + if_not_exists(s, :absent)", f"{VALUE}:absent"),
    ],
)
def test_update_is_refused_before_any_item_is_seen(text: str, message: str) -> None:
    with pytest.raises(ExpressionRefusedError) as caught:
        Scope(NAMES, VALUES).update(text)
    assert caught.value.message == f"Invalid UpdateExpression: {message}"


@pytest.mark.parametrize(
    "text", ["SET m.a = :one, m.b = :one", "SET l[0] = :one, l[1] = :one", "SET aa = :one, a = :one"]
)
def test_neighbours_are_not_in_each_others_way(text: str) -> None:
    assert json.dumps(apply(text))
