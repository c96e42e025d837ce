"""Properties of expressions: no text ends in anything but an answer or a refusal, and the answers are right.

The right answers come from evaluators that share no code with the product: they walk the tree that a text was
printed from, compare numbers as `Decimal`, binary values as `bytes` and sets as `frozenset`.
"""

from __future__ import annotations

import contextlib
import copy
import operator as operators
from base64 import b64decode
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.errors import ValidationError
from singletable.expressions import Scope

Value = dict[str, Any]
Tree = tuple[Any, ...]

# --- any text ----------------------------------------------------------------------------------

PIECES = """
    a b a.b l[0] l[1].x #n #u :n :s :l :u name size contains foo
    attribute_exists attribute_type begins_with if_not_exists list_append
    ( ) [ ] . , = <> < >= + - 0 12 99999999999
    AND or not between IN SET remove ADD delete ! _ é 😀 ' \x00
"""
SOUP = st.lists(
    st.tuples(st.sampled_from(PIECES.split()), st.sampled_from(["", " ", "  ", "\n"])), max_size=40
).map(lambda pairs: "".join(piece + space for piece, space in pairs))
NAMES = {"#n": "named"}
VALUES: dict[str, Value] = {":n": {"N": "1"}, ":s": {"S": "x"}, ":l": {"L": []}}
ITEM: dict[str, Value] = {
    "a": {"M": {"b": {"N": "1"}}},
    "b": {"N": "2"},
    "l": {"L": [{"N": "1"}, {"M": {"x": {"S": "y"}}}]},
    "named": {"SS": ["x"]},
}


@given(text=SOUP | st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_an_answer_or_a_refusal(text: str) -> None:
    scope = Scope(NAMES, VALUES)
    with contextlib.suppress(ValidationError):
        assert scope.condition(text, parameter="FilterExpression").holds(ITEM) in (True, False)
    with contextlib.suppress(ValidationError):
        assert isinstance(scope.update(text).apply(ITEM), dict)
    with contextlib.suppress(ValidationError):
        assert isinstance(scope.projection(text).apply(ITEM), dict)
    with contextlib.suppress(ValidationError):
        assert scope.key_condition(text).clauses


@given(text=SOUP)
@settings(max_examples=200, deadline=None)
def test_the_same_text_is_refused_in_the_same_words_again(text: str) -> None:
    def outcome() -> str:
        try:
            Scope(NAMES, VALUES).update(text)
        except ValidationError as error:
            return error.message
        return "read"

    assert outcome() == outcome()


# --- items and values -----------------------------------------------------------------------------

SCALARS = st.one_of(
    st.sampled_from(["0", "1", "2", "10", "-1", "1.5", "-0.25", "100"]).map(lambda text: {"N": text}),
    st.sampled_from(["", "x", "xy", "y", "é", "😀"]).map(lambda text: {"S": text}),
    st.sampled_from(["", "AQ==", "AQI=", "Ag==", "/w=="]).map(lambda text: {"B": text}),
)
ODD = st.one_of(
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
    st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, unique=True).map(lambda members: {"SS": members}),
    st.lists(st.sampled_from(["1", "2", "10"]), min_size=1, unique=True).map(lambda members: {"NS": members}),
    st.lists(st.sampled_from(["AQ==", "Ag=="]), min_size=1, unique=True).map(lambda members: {"BS": members}),
)
NESTED = st.recursive(
    SCALARS | ODD,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda members: {"L": members}),
        st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2).map(lambda members: {"M": members}),
    ),
    max_leaves=4,
)
ITEMS = st.dictionaries(st.sampled_from(["a", "b", "c"]), NESTED, max_size=3)
PATHS = st.tuples(
    st.sampled_from(["a", "b", "c"]), st.lists(st.sampled_from(["x", "y", 0, 1, 2]), max_size=2)
).map(lambda parts: (parts[0], *parts[1]))


def find(item: dict[str, Value], path: Tree) -> Value | None:
    found: Any = {"M": item}
    for step in path:
        tag = "M" if isinstance(step, str) else "L"
        if found is None or tag not in found:
            return None
        inside = found[tag]
        found = inside.get(step) if tag == "M" else next(iter(inside[step : step + 1]), None)
    return cast("Value | None", found)


def path_text(path: Tree) -> str:
    first, *rest = path
    return str(first) + "".join(f".{step}" if isinstance(step, str) else f"[{step}]" for step in rest)


def plain(value: Value) -> Any:
    """Return a value as something that Python compares as DynamoDB does."""
    ((tag, payload),) = value.items()
    match tag:
        case "N":
            return ("N", Decimal(payload))
        case "B":
            return ("B", b64decode(payload))
        case "SS" | "NS" | "BS":
            return (tag, frozenset(payload))
        case "L":
            return ("L", [plain(member) for member in payload])
        case "M":
            return ("M", {name: plain(member) for name, member in payload.items()})
        case _:
            return (tag, payload)


# --- conditions against a plain evaluator ------------------------------------------------------------

LEAVES = st.one_of(
    st.tuples(st.sampled_from(["=", "<>"]), PATHS, NESTED),
    st.tuples(st.sampled_from(["<", "<=", ">", ">="]), PATHS, SCALARS),
    st.tuples(st.just("between"), PATHS, SCALARS, SCALARS),
    st.tuples(st.just("in"), PATHS, st.lists(NESTED, min_size=1, max_size=3)),
    st.tuples(st.sampled_from(["attribute_exists", "attribute_not_exists"]), PATHS),
    st.tuples(
        st.just("attribute_type"),
        PATHS,
        st.sampled_from(["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"]).map(
            lambda name: {"S": name}
        ),
    ),
    st.tuples(st.just("begins_with"), PATHS, SCALARS.filter(lambda value: "N" not in value)),
    st.tuples(st.just("contains"), PATHS, NESTED),
    st.tuples(
        st.sampled_from(["size =", "size <", "size >="]), PATHS, st.sampled_from([{"N": "0"}, {"N": "2"}])
    ),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=6,
)


class Printer:
    """Prints a tree as an expression with as few parentheses as precedence allows."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}

    def value(self, value: Value) -> str:
        name = f":v{len(self.values)}"
        self.values[name] = value
        return name

    def print(self, tree: Tree, strength: int = 0) -> str:
        match tree:
            case ("and", parts):
                text, own = " AND ".join(self.print(part, 2) for part in parts), 1
            case ("or", parts):
                text, own = " or ".join(self.print(part, 1) for part in parts), 0
            case ("not", inner):
                text, own = f"NOT {self.print(inner, 2)}", 2
            case _:
                text, own = self.leaf(tree), 3
        return f"({text})" if own < strength else text

    def leaf(self, tree: Tree) -> str:
        match tree:
            case ("between", path, low, high):
                return f"{path_text(path)} BETWEEN {self.value(low)} AND {self.value(high)}"
            case ("in", path, candidates):
                return f"{path_text(path)} in ({', '.join(map(self.value, candidates))})"
            case ("attribute_exists" | "attribute_not_exists" as function, path):
                return f"{function}({path_text(path)})"
            case ("attribute_type" | "begins_with" | "contains" as function, path, value):
                return f"{function}({path_text(path)}, {self.value(value)})"
            case (operator, path, value) if operator.startswith("size"):
                return f"size({path_text(path)}) {operator[5:]} {self.value(value)}"
            case (operator, path, value):
                return f"{path_text(path)} {operator} {self.value(value)}"
            case _:
                raise AssertionError(tree)


COMPARE = {"<": operators.lt, "<=": operators.le, ">": operators.gt, ">=": operators.ge}


def compare(operator: str, left: Value | None, right: Value) -> bool:
    if left is None:
        return operator == "<>"
    one, other = plain(left), plain(right)
    if operator in ("=", "<>"):
        return bool(one == other) is (operator == "=")
    if one[0] != other[0] or one[0] not in ("S", "N", "B"):
        return False
    return bool(COMPARE[operator](one[1], other[1]))


def contains(value: Value, wanted: Value) -> bool:
    tag, payload = plain(value)
    wanted_tag, wanted_payload = plain(wanted)
    if tag in ("S", "B"):
        return tag == wanted_tag and wanted_payload in payload
    if tag in ("SS", "NS", "BS"):
        return tag == wanted_tag + "S" and next(iter(wanted.values())) in payload
    return tag == "L" and (wanted_tag, wanted_payload) in payload


def evaluate_function(function: str, found: Value, value: Value) -> bool:
    if function == "attribute_type":
        return value["S"] in found
    if function == "contains":
        return contains(found, value)
    tag, payload = plain(found)
    return tag in ("S", "B") and tag == plain(value)[0] and bool(payload.startswith(plain(value)[1]))


def evaluate(tree: Tree, item: dict[str, Value]) -> bool:
    match tree:
        case ("and", parts):
            return all(evaluate(part, item) for part in parts)
        case ("or", parts):
            return any(evaluate(part, item) for part in parts)
        case ("not", inner):
            return not evaluate(inner, item)
        case ("between", path, low, high):
            found = find(item, path)
            return compare(">=", found, low) and compare("<=", found, high)
        case ("in", path, candidates):
            found = find(item, path)
            return any(compare("=", found, candidate) for candidate in candidates)
        case ("attribute_exists", path):
            return find(item, path) is not None
        case ("attribute_not_exists", path):
            return find(item, path) is None
        case ("attribute_type" | "begins_with" | "contains" as function, path, value):
            found = find(item, path)
            return found is not None and evaluate_function(function, found, value)
        case (operator, path, value) if operator.startswith("size"):
            return compare(operator[5:], size(find(item, path)), value)
        case (operator, path, value):
            return compare(operator, find(item, path), value)
        case _:
            raise AssertionError(tree)


def size(found: Value | None) -> Value | None:
    if found is None or not found.keys().isdisjoint(("N", "BOOL", "NULL")):
        return None
    ((tag, payload),) = found.items()
    if tag == "S":
        return {"N": str(len(payload.encode("utf-16-le")) // 2)}
    return {"N": str(len(b64decode(payload) if tag == "B" else payload))}


def has_reversed_bounds(tree: Tree) -> bool:
    match tree:
        case ("and" | "or", parts):
            return any(map(has_reversed_bounds, parts))
        case ("not", inner):
            return has_reversed_bounds(inner)
        case ("between", _, low, high):
            return low.keys() != high.keys() or compare(">", low, high)
        case _:
            return False


@given(tree=TREES, item=ITEMS)
@settings(max_examples=250, deadline=None)
def test_printed_condition_means_what_its_tree_means(tree: Tree, item: dict[str, Value]) -> None:
    printer = Printer()
    text = printer.print(tree)
    scope = Scope(None, printer.values or None)
    if has_reversed_bounds(tree):
        with pytest.raises(ValidationError, match="BETWEEN operator requires"):
            scope.condition(text, parameter="FilterExpression")
        return
    condition = scope.condition(text, parameter="FilterExpression")
    scope.finish()
    assert condition.holds(item) is evaluate(tree, item)
    assert condition.attributes == attributes_of(tree)


def attributes_of(tree: Tree) -> set[str]:
    match tree:
        case ("and" | "or", parts):
            return set().union(*map(attributes_of, parts))
        case ("not", inner):
            return attributes_of(inner)
        case _:
            return {tree[1][0]}


# --- projections and updates against plain models -------------------------------------------------------


def in_the_way(one: Tree, other: Tree) -> bool:
    """Tell whether two paths overlap, or take one place for a map and for a list."""
    for left, right in zip(one, other, strict=False):
        if isinstance(left, int) is not isinstance(right, int):
            return True
        if left != right:
            return False
    return True


@given(paths=st.lists(PATHS, min_size=1, max_size=4), item=ITEMS)
@settings(max_examples=150, deadline=None)
def test_projection_returns_what_each_path_finds_and_nothing_else(
    paths: list[Tree], item: dict[str, Value]
) -> None:
    text = ", ".join(map(path_text, paths))
    clash = any(in_the_way(one, other) for number, one in enumerate(paths) for other in paths[:number])
    if clash:
        with pytest.raises(ValidationError, match="Two document paths"):
            Scope(None, None).projection(text)
        return
    selected = Scope(None, None).projection(text).apply(item)
    found = [value for path in paths if (value := find(item, path)) is not None]
    assert leaves(selected.values()) == leaves(found)
    if all(isinstance(step, str) for path in paths for step in path):
        assert all(find(selected, path) == find(item, path) for path in paths)


def leaves(values: Iterable[Value]) -> list[str]:
    found: list[str] = []
    for value in values:
        ((tag, payload),) = value.items()
        if tag == "L" and payload:
            found.extend(leaves(payload))
        elif tag == "M" and payload:
            found.extend(leaves(payload.values()))
        else:
            found.append(repr(value))
    return sorted(found)


MEMBERS = st.sampled_from(["x", "y", "z"])
ACTIONS = st.dictionaries(
    st.integers(0, 6),
    st.one_of(
        st.tuples(st.just("SET"), st.integers(0, 9).map(lambda number: {"N": str(number)})),
        st.tuples(st.just("REMOVE"), st.none()),
        st.tuples(
            st.just("DELETE"), st.lists(MEMBERS, min_size=1, unique=True).map(lambda members: {"SS": members})
        ),
    ),
    min_size=1,
)


@given(
    elements=st.lists(
        st.lists(MEMBERS, min_size=1, unique=True).map(lambda members: {"SS": members}), max_size=5
    ),
    actions=ACTIONS,
)
@settings(max_examples=150, deadline=None)
def test_list_elements_are_replaced_removed_and_appended_by_their_old_indexes(
    elements: list[Value], actions: dict[int, tuple[str, Value | None]]
) -> None:
    values: dict[str, Value] = {}
    sections: dict[str, list[str]] = {}
    expected: dict[int, Value] = dict(enumerate(elements))
    for index, (section, value) in actions.items():
        operand = ""
        if value is not None:
            values[f":v{index}"] = value
            operand = f" = :v{index}" if section == "SET" else f" :v{index}"
        sections.setdefault(section, []).append(f"l[{index}]{operand}")
        if section == "SET" and value is not None:
            expected[index] = value
        elif section == "REMOVE":
            expected.pop(index, None)
        elif value is not None and index in expected:
            left = [member for member in expected.pop(index)["SS"] if member not in value["SS"]]
            if left:
                expected[index] = {"SS": left}
    text = " ".join(f"{section} {', '.join(parts)}" for section, parts in sections.items())
    item = {"l": {"L": elements}}
    before = copy.deepcopy(item)
    after = Scope(None, values or None).update(text).apply(item)
    assert after == {"l": {"L": [expected[index] for index in sorted(expected)]}}
    assert item == before


@given(
    item=st.dictionaries(st.sampled_from("abcd"), SCALARS),
    written=st.dictionaries(
        st.sampled_from("abcd"), st.none() | SCALARS | st.sampled_from("abcd"), min_size=1
    ),
)
@settings(max_examples=150, deadline=None)
def test_top_level_update_is_a_dict_update_that_reads_the_old_item(
    item: dict[str, Value], written: dict[str, Value | str | None]
) -> None:
    values = {f":{name}": value for name, value in written.items() if isinstance(value, dict)}
    sets = [
        f"{name} = {f':{name}' if isinstance(value, dict) else value}"
        for name, value in written.items()
        if value is not None
    ]
    removes = [name for name, value in written.items() if value is None]
    text = (f"SET {', '.join(sets)} " if sets else "") + (f"REMOVE {', '.join(removes)}" if removes else "")
    update = Scope(None, values or None).update(text)
    if any(isinstance(value, str) and value not in item for value in written.values()):
        with pytest.raises(ValidationError, match="does not exist in the item"):
            update.apply(item)
        return
    expected = {**item, **{name: item[v] if isinstance(v, str) else v for name, v in written.items()}}
    expected = {name: value for name, value in expected.items() if value is not None}
    assert update.apply(item) == expected
    assert update.project(item) == {name: value for name, value in item.items() if name in written}
