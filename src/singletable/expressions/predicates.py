"""Comparisons and functions of conditions as functions of an item and of the values of the request.

Something that is not there, or of another type, makes a comparison false, except for "<>", which is true then.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable
from typing import Final, TypeAlias

from singletable.expressions.checks import Values
from singletable.expressions.nodes import Comparator, FunctionCall, Operand, Path
from singletable.expressions.operands import Getter, operand_getter, path_getter
from singletable.values.compare import equal, order
from singletable.values.types import SCALAR_TYPES, Item, Value

Test: TypeAlias = Callable[[Item, Values], bool]

# The orders of two values for which a comparison holds.
_ORDERS: Final[dict[str, tuple[int, ...]]] = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}


def comparison_test(operator: Comparator, left: Getter, right: Getter) -> Test:
    """Return the test of a comparison."""
    if operator in ("=", "<>"):
        return _equality(left, right, wanted=operator == "=")
    return _ordering(left, right, _ORDERS[operator])


def between_test(operand: Getter, low: Getter, high: Getter) -> Test:
    """Return the test of BETWEEN; both bounds belong to the range."""

    def test(item: Item, values: Values) -> bool:
        found = operand(item, values)
        if found is None:
            return False
        least = low(item, values)
        most = high(item, values)
        if least is None or most is None:
            return False
        return order(found, least) in (0, 1) and order(found, most) in (0, -1)

    return test


def in_test(operand: Getter, candidates: tuple[Getter, ...]) -> Test:
    """Return the test of IN."""

    def test(item: Item, values: Values) -> bool:
        found = operand(item, values)
        if found is None:
            return False
        for get in candidates:
            candidate = get(item, values)
            if candidate is not None and equal(found, candidate):
                return True
        return False

    return test


def in_values_test(operand: Getter, placeholders: tuple[str, ...]) -> Test:
    """Return the test of IN with values of the request alone: most are, and one look finds a value among them."""

    def test(item: Item, values: Values) -> bool:
        found = operand(item, values)
        if found is None:
            return False
        candidates = [values[name] for name in placeholders]
        if found in candidates:
            return True
        return SCALAR_TYPES.isdisjoint(found) and any(equal(found, candidate) for candidate in candidates)

    return test


def call_test(call: FunctionCall) -> Test:
    """Return the test of a function that is a condition."""
    match call:
        case FunctionCall("attribute_exists", (Path() as path,)):
            return _existence(path, wanted=True)
        case FunctionCall("attribute_not_exists", (Path() as path,)):
            return _existence(path, wanted=False)
        case FunctionCall("attribute_type", operands):
            return _of_both(operands, lambda value, name: name["S"] in value)
        case FunctionCall("begins_with", operands):
            return _of_both(operands, _begins_with)
        case FunctionCall("contains", operands):
            return _of_both(operands, _contains)
        case _:
            raise AssertionError("the checks let no other function be a condition")


def _equality(left: Getter, right: Getter, *, wanted: bool) -> Test:
    def test(item: Item, values: Values) -> bool:
        one = left(item, values)
        if one is None:
            return not wanted
        other = right(item, values)
        if other is None:
            return not wanted
        return equal(one, other) is wanted

    return test


def _ordering(left: Getter, right: Getter, wanted: tuple[int, ...]) -> Test:
    def test(item: Item, values: Values) -> bool:
        one = left(item, values)
        if one is None:
            return False
        other = right(item, values)
        return other is not None and order(one, other) in wanted

    return test


def _existence(path: Path, *, wanted: bool) -> Test:
    attribute = path.attribute
    if len(path.elements) > 1:
        find = path_getter(path)
        return lambda item, _values: (find(item) is not None) is wanted
    if wanted:
        return lambda item, _values: attribute in item
    return lambda item, _values: attribute not in item


def _of_both(operands: tuple[Operand, ...], holds: Callable[[Value, Value], bool]) -> Test:
    first, second = map(operand_getter, operands)

    def test(item: Item, values: Values) -> bool:
        one = first(item, values)
        if one is None:
            return False
        other = second(item, values)
        return other is not None and holds(one, other)

    return test


def _begins_with(value: Value, prefix: Value) -> bool:
    ((tag, payload),) = value.items()
    wanted = prefix.get(tag)
    if wanted is None:
        return False
    if tag == "S":
        return bool(payload.startswith(wanted))
    return tag == "B" and a2b_base64(payload).startswith(a2b_base64(wanted))


def _contains(value: Value, wanted: Value) -> bool:
    ((tag, payload),) = value.items()
    match tag:
        case "S":
            return "S" in wanted and wanted["S"] in payload
        case "B":
            return "B" in wanted and a2b_base64(wanted["B"]) in a2b_base64(payload)
        case "SS" | "NS" | "BS":
            # Members are canonical texts, so equal members are the same text.
            return tag[0] in wanted and wanted[tag[0]] in payload
        case "L":
            return any(equal(element, wanted) for element in payload)
        case _:
            return False
