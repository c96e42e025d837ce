"""Operands as functions of an item and of the values of the request."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from singletable.expressions.checks import Values
from singletable.expressions.nodes import FunctionCall, Operand, Path, Placeholder
from singletable.values.sizes import binary_bytes
from singletable.values.types import Item, Value

Getter: TypeAlias = Callable[[Item, Values], Value | None]


def path_getter(path: Path) -> Callable[[Item], Value | None]:
    """Return the function that finds a path in an item; it returns None if the path is not there."""
    attribute, *rest = path.elements
    assert isinstance(attribute, str), "a path starts with a name"
    if not rest:

        def top_level(item: Item) -> Value | None:
            return item.get(attribute)

        return top_level

    def nested(item: Item) -> Value | None:
        found = item.get(attribute)
        for element in rest:
            if found is None:
                return None
            if isinstance(element, str):
                members = found.get("M")
                found = members.get(element) if members is not None else None
            else:
                elements = found.get("L")
                found = elements[element] if elements is not None and element < len(elements) else None
        return found

    return nested


def operand_getter(operand: Operand) -> Getter:
    """Return the function that gives an operand of a condition its value."""
    match operand:
        case Path():
            return _path(operand)
        case Placeholder(name):
            return _placeholder(name)
        case FunctionCall(_, (inner,)):
            return _size(operand_getter(inner))
        case FunctionCall():
            raise AssertionError("of the functions, only size is an operand of a condition")


def size_of(value: Value) -> int | None:
    """Return the size() of a value; numbers, booleans and null have none."""
    ((tag, payload),) = value.items()
    if tag == "S":
        # Strings are measured in UTF-16 code units: an emoji counts twice (DynamoDB Local and dynoxide agree).
        return len(payload) if payload.isascii() else len(payload) + sum(char > "\uffff" for char in payload)
    if tag == "B":
        return binary_bytes(payload)
    if tag in ("N", "BOOL", "NULL"):
        return None
    return len(payload)


def _path(path: Path) -> Getter:
    find = path_getter(path)
    if len(path.elements) > 1:
        return lambda item, _values: find(item)
    attribute = path.attribute
    return lambda item, _values: item.get(attribute)


def _placeholder(name: str) -> Getter:
    return lambda _item, values: values[name]


def _size(inner: Getter) -> Getter:
    def get(item: Item, values: Values) -> Value | None:
        found = inner(item, values)
        if found is None:
            return None
        size = size_of(found)
        return None if size is None else {"N": str(size)}

    return get
