"""The parameters from before there were expressions: Expected, AttributeUpdates, KeyConditions and the filters."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from golden.side_by_side.designs import ATTRIBUTE_NAMES, Design, Index
from golden.side_by_side.values import ANY, SETS, Item, Value, scalars, usual

_VALUES_OF = {
    "EQ": 1,
    "NE": 1,
    "LT": 1,
    "LE": 1,
    "GT": 1,
    "GE": 1,
    "BEGINS_WITH": 1,
    "CONTAINS": 1,
    "NOT_CONTAINS": 1,
    "BETWEEN": 2,
    "IN": 2,
    "NULL": 0,
    "NOT_NULL": 0,
}
_KEY_OPERATORS = ("EQ", "LT", "LE", "GT", "GE", "BEGINS_WITH", "BETWEEN")


def _names(design: Design) -> st.SearchStrategy[str]:
    return st.sampled_from((*ATTRIBUTE_NAMES, *design.types))


def _value(draw: st.DrawFn, name: str, design: Design) -> Value:
    return draw(st.one_of(usual(name, design), ANY))


def _condition(draw: st.DrawFn, name: str, design: Design) -> dict[str, Any]:
    operator = draw(st.sampled_from(tuple(_VALUES_OF)))
    condition: dict[str, Any] = {"ComparisonOperator": operator}
    if operator in ("BETWEEN", "IN"):
        kind = draw(st.sampled_from(("S", "N", "B")))
        condition["AttributeValueList"] = [draw(scalars(kind)) for _ in range(2)]
    elif _VALUES_OF[operator]:
        condition["AttributeValueList"] = [_value(draw, name, design)]
    return condition


def conditions(draw: st.DrawFn, design: Design) -> dict[str, Any]:
    """Draw a QueryFilter or ScanFilter."""
    names = draw(st.lists(_names(design), min_size=1, max_size=2, unique=True))
    return {name: _condition(draw, name, design) for name in names}


def expectations(draw: st.DrawFn, design: Design, items: list[Item]) -> dict[str, Any]:
    """Draw Expected, in its older and its newer form, with its operator."""
    expected: dict[str, Any] = {}
    for name in draw(st.lists(_names(design), min_size=1, max_size=2, unique=True)):
        held = [item[name] for item in items if name in item]
        is_held = bool(held) and draw(st.booleans())
        value = draw(st.sampled_from(held)) if is_held else _value(draw, name, design)
        match draw(st.sampled_from(("condition", "exists", "absent"))):
            case "condition":
                expected[name] = _condition(draw, name, design)
            case "exists":
                expected[name] = {"Value": value}
            case "absent":
                expected[name] = {"Exists": False}
    found: dict[str, Any] = {"Expected": expected}
    if draw(st.booleans()):
        found["ConditionalOperator"] = draw(st.sampled_from(("AND", "OR")))
    return found


def attribute_updates(draw: st.DrawFn, design: Design) -> dict[str, Any]:
    """Draw AttributeUpdates."""
    names = [name for name in (*ATTRIBUTE_NAMES, *design.types) if name not in design.keys]
    updates: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True)):
        action = draw(st.sampled_from(("PUT", "ADD", "DELETE", None)))
        update: dict[str, Any] = {} if action is None else {"Action": action}
        if action == "ADD":
            update["Value"] = draw(scalars("N") if draw(st.booleans()) else usual(name, design))
        elif action != "DELETE":
            update["Value"] = _value(draw, name, design)
        elif draw(st.booleans()):
            update["Value"] = draw(SETS)
        updates[name] = update
    return updates


def attributes_to_get(draw: st.DrawFn, design: Design) -> list[str]:
    """Draw names of attributes."""
    return draw(st.lists(_names(design), min_size=1, max_size=3, unique=True))


def key_conditions(draw: st.DrawFn, design: Design, index: Index) -> dict[str, Any]:
    """Draw KeyConditions for a table or an index."""
    found: dict[str, Any] = {}
    for name in index.hashes:
        found[name] = {
            "ComparisonOperator": "EQ",
            "AttributeValueList": [draw(scalars(design.types[name]))],
        }
    for name in index.ranges[: draw(st.integers(0, len(index.ranges)))]:
        operator = draw(st.sampled_from(_KEY_OPERATORS))
        count = 2 if operator == "BETWEEN" else 1
        values = [draw(scalars(design.types[name])) for _ in range(count)]
        found[name] = {"ComparisonOperator": operator, "AttributeValueList": values}
    return found
