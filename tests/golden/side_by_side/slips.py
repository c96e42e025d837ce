"""Slips: small changes that make a right request slightly wrong, as a person or a faulty client would.

A slip picks one place of a request (a member, an entry, a value) and does to it one thing that fits what is
there: a wrong type, nothing, too much, too long, an unknown word, a value of two types, a token too many.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from golden.side_by_side.requests import Request
from golden.side_by_side.values import TYPES

Path = tuple[str | int, ...]

WRONG_TYPES: tuple[Any, ...] = (1, "", "x", True, None, 1.5, [], {}, [1], {"x": "y"})
WRONG_NUMBERS = (0, -1, 1, 2**31 - 1, 2**31, 1_000_000, 1_000_001)
WRONG_STRINGS = ("", " ", "x" * 256, "é", "NONE", "none", "no such thing")
LONG_STRINGS = ("x" * 1024, "x" * 1025, "x" * 2048, "x" * 2049, "x" * 65535, "x" * 65536)
WRONG_VALUES: tuple[Any, ...] = (
    {},
    {"S": None},
    {"S": "a", "N": "1"},
    {"X": "a"},
    {"SS": []},
    {"NS": []},
    {"BS": []},
    {"SS": ["a", "a"]},
    {"NS": ["1", "1.0"]},
    {"BS": ["YQ==", "YQ=="]},
    {"SS": [""]},
    {"SS": ["a", None]},
    {"N": ""},
    {"N": "x"},
    {"N": "NaN"},
    {"N": "1e126"},
    {"N": "1e-131"},
    {"N": "0e500"},
    {"N": "1" * 39},
    {"N": " 1"},
    {"N": "01.50"},
    {"N": "+1"},
    {"N": 1},
    {"NULL": False},
    {"NULL": "true"},
    {"BOOL": "true"},
    {"BOOL": 1},
    {"B": "%"},
    {"B": "YQ"},
    {"M": {"": {"S": "a"}}},
    {"L": [{}]},
    {"L": [{"SS": []}]},
    {"M": {"x": {"N": "x"}}},
)
TOKENS = (
    *("AND", "OR", "NOT", "(", ")", ",", "=", "<>", "+", "-", ".", "[", "]", "[0]", "0", "#", ":"),
    *("#undefined", ":undefined", ":v0", "#n0", "a", "p", "size", "name", "BETWEEN", "IN", "SET", "REMOVE"),
    *("attribute_exists", "begins_with", "list_append", "if_not_exists", "nonsense(", "size(a)"),
)
EXTRA_MEMBERS: tuple[tuple[str, Any], ...] = (
    ("Unknown", 1),
    ("ExpressionAttributeNames", {"#unused": "a"}),
    ("ExpressionAttributeNames", {}),
    ("ExpressionAttributeNames", {"n": "a"}),
    ("ExpressionAttributeNames", {"#n0": ""}),
    ("ExpressionAttributeValues", {":unused": {"S": "a"}}),
    ("ExpressionAttributeValues", {}),
    ("ExpressionAttributeValues", {"v": {"S": "a"}}),
    ("ConditionExpression", "attribute_exists(a)"),
    ("ConditionExpression", ""),
    ("FilterExpression", "attribute_exists(a)"),
    ("ProjectionExpression", "a"),
    ("UpdateExpression", "SET a = a"),
    ("KeyConditionExpression", "p = :p"),
    ("IndexName", "gsi"),
    ("IndexName", "lsi"),
    ("IndexName", "none"),
    ("Limit", 0),
    ("Select", "COUNT"),
    ("Select", "ALL_ATTRIBUTES"),
    ("Segment", 0),
    ("TotalSegments", 1),
    ("ConsistentRead", True),
    ("ReturnValues", "ALL_NEW"),
    ("ReturnValues", "ALL_OLD"),
    ("ReturnConsumedCapacity", "ALL"),
    ("ClientRequestToken", ""),
    ("ClientRequestToken", "x" * 37),
    ("AttributesToGet", ["a"]),
    ("AttributesToGet", ["a", "a"]),
    ("Expected", {"a": {"Exists": False}}),
    ("Expected", {"a": {"Exists": True}}),
    ("Expected", {}),
    ("ConditionalOperator", "OR"),
    ("AttributeUpdates", {}),
    ("ScanFilter", {"a": {"ComparisonOperator": "NULL"}}),
    ("QueryFilter", {"a": {"ComparisonOperator": "NULL"}}),
    ("TableName", "NoSuchTable"),
    ("TableName", "ab"),
)
_TOKEN = re.compile(r"[#:]?\w+|<>|<=|>=|\S")


def places(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every place below a node, with what is there."""
    entries: Any = ()
    if isinstance(node, dict):
        entries = node.items()
    elif isinstance(node, list):
        entries = enumerate(node)
    for key, entry in entries:
        yield (*path, key), entry
        yield from places(entry, (*path, key))


def _parent(request: Any, path: Path) -> Any:
    for key in path[:-1]:
        request = request[key]
    return request


def _is_value(found: Any) -> bool:
    return isinstance(found, dict) and len(found) == 1 and next(iter(found)) in TYPES


@st.composite
def slipped(draw: st.DrawFn, request: Request) -> Request:
    """Draw a copy of a request with one slip in it."""
    changed: Request = copy.deepcopy(request)
    found = list(places(changed))
    if not found or not draw(st.integers(0, 5)):
        name, value = draw(st.sampled_from(EXTRA_MEMBERS))
        holders = [node for _, node in found if isinstance(node, dict) and "TableName" in node]
        holder = draw(st.sampled_from([changed, *holders]))
        holder[name] = copy.deepcopy(value)
        return changed
    # Values are many and members few: half of the slips are at the top.
    tops = [place for place in found if len(place[0]) == 1]
    path, there = draw(st.sampled_from(tops if draw(st.booleans()) else found))
    parent, key = _parent(changed, path), path[-1]
    change = draw(st.sampled_from(tuple(_changes(key, there))))
    if change == "drop":
        del parent[key]
    elif change == "twice" and isinstance(parent, list):
        parent.append(copy.deepcopy(there))
    elif change == "rename" and isinstance(parent, dict):
        del parent[key]
        parent[draw(st.sampled_from(("", "x", "a", "p", "#x", ":x", "r", "g", "x" * 256)))] = there
    else:
        parent[key] = draw(_replacements(change, there))
    return changed


def _changes(key: str | int, there: Any) -> Iterator[str]:
    """Yield the kinds of change that fit a place."""
    if _is_value(there):
        yield from ("value", "value", "value", "tag")
    if isinstance(there, str):
        yield from ("text", "long")
        if isinstance(key, str) and key.endswith("Expression"):
            yield from ("token", "token", "token", "token", "token")
    if isinstance(there, int) and not isinstance(there, bool):
        yield "number"
    if isinstance(there, list) and there:
        yield from ("empty", "many")
    yield from ("type", "drop", "rename" if isinstance(key, str) else "twice")


def _replacements(change: str, there: Any) -> st.SearchStrategy[Any]:
    match change:
        case "value":
            return st.sampled_from(WRONG_VALUES).map(copy.deepcopy)
        case "tag":
            ((_, payload),) = there.items()
            return st.sampled_from(TYPES).map(lambda tag: {tag: payload})
        case "text":
            return st.sampled_from(WRONG_STRINGS)
        case "long":
            return st.sampled_from(LONG_STRINGS)
        case "token":
            return _retokened(there)
        case "number":
            return st.sampled_from((*WRONG_NUMBERS, there + 1, there - 1))
        case "empty":
            return st.just([])
        case "many":
            return st.sampled_from((2, 26, 101)).map(
                lambda count: [copy.deepcopy(there[0]) for _ in range(count)]
            )
        case _:
            return st.sampled_from(WRONG_TYPES).map(copy.deepcopy)


@st.composite
def _retokened(draw: st.DrawFn, text: str) -> str:
    """Draw an expression with a token dropped, doubled, swapped, added or replaced."""
    tokens = _TOKEN.findall(text) or [""]
    place = draw(st.integers(0, len(tokens) - 1))
    match draw(st.sampled_from(("drop", "double", "swap", "add", "replace"))):
        case "drop":
            del tokens[place]
        case "double":
            tokens.insert(place, tokens[place])
        case "swap":
            other = draw(st.integers(0, len(tokens) - 1))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        case "add":
            tokens.insert(place, draw(st.sampled_from(TOKENS)))
        case "replace":
            tokens[place] = draw(st.sampled_from(TOKENS))
    return " ".join(tokens)
