"""Attribute values of the model: plain Python values, and their form on the wire.

S is str, N is Decimal, B is bytes, BOOL is bool, NULL is None, sets are frozensets, L is list, M is dict.
Python says that True == 1, so values are never compared with ==; `same` and `frozen` keep the types apart.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

Value = Any  # str | Decimal | bytes | bool | None | frozenset[...] | list[Value] | dict[str, Value]
Item = dict[str, Value]

# Arithmetic keeps 38 digits, as the guide says of numbers ("Data types": "up to 38 digits of precision").
ARITHMETIC = Context(prec=38)

SET_ELEMENTS = {"SS": "S", "NS": "N", "BS": "B"}


def type_of(value: Value) -> str:
    """Name the DynamoDB type of a value."""
    match value:
        case bool():
            return "BOOL"
        case None:
            return "NULL"
        case str():
            return "S"
        case Decimal():
            return "N"
        case bytes():
            return "B"
        case list():
            return "L"
        case dict():
            return "M"
        case frozenset():
            return type_of(next(iter(value))) + "S"
    raise AssertionError(f"not a value of the model: {value!r}")


def frozen(value: Value) -> Hashable:
    """Return a hashable twin: two values are the same to DynamoDB when their twins are equal."""
    match value:
        case list():
            return ("L", tuple(frozen(element) for element in value))
        case dict():
            return ("M", frozenset((name, frozen(element)) for name, element in value.items()))
        case _:
            return (type_of(value), value)


def same(left: Value, right: Value) -> bool:
    return frozen(left) == frozen(right)


def frozen_items(items: Iterable[Item]) -> list[Hashable]:
    return [frozen(item) for item in items]


def order_key(value: Value) -> Any:
    """Give the sort key of a scalar: strings by their UTF-8 bytes, numbers by value, binaries by byte."""
    return value.encode() if isinstance(value, str) else value


def number_text(number: Decimal) -> str:
    """Print a number as DynamoDB does: plain, no exponent, no leading or trailing zeros."""
    if number == 0:
        return "0"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def to_wire(value: Value) -> dict[str, Any]:
    """Write a value as boto3's low-level client takes it."""
    kind = type_of(value)
    match kind:
        case "N":
            return {"N": number_text(value)}
        case "NULL":
            return {"NULL": True}
        case "SS" | "NS" | "BS":
            element = SET_ELEMENTS[kind]
            return {kind: [to_wire(member)[element] for member in sorted(value, key=order_key)]}
        case "L":
            return {"L": [to_wire(element) for element in value]}
        case "M":
            return {"M": item_to_wire(value)}
    return {kind: value}


def from_wire(wire: Mapping[str, Any], *, exact_numbers: bool = True) -> Value:
    """Read a value of an answer. A number that is not in normal form is an error, unless told otherwise."""
    assert len(wire) == 1, f"a value has exactly one type: {wire!r}"
    ((kind, content),) = wire.items()
    match kind:
        case "N":
            number = Decimal(content)
            assert not exact_numbers or number_text(number) == content, f"not in normal form: {content!r}"
            return number
        case "NULL":
            assert content is True
            return None
        case "SS" | "NS" | "BS":
            element = SET_ELEMENTS[kind]
            members = [from_wire({element: member}, exact_numbers=exact_numbers) for member in content]
            assert members, f"an empty set: {wire!r}"
            assert len(set(members)) == len(members), f"a set with a repeated member: {wire!r}"
            return frozenset(members)
        case "L":
            return [from_wire(element, exact_numbers=exact_numbers) for element in content]
        case "M":
            return item_from_wire(content, exact_numbers=exact_numbers)
    assert isinstance(content, {"S": str, "B": bytes, "BOOL": bool}[kind]), f"wrong content: {wire!r}"
    return content


def item_to_wire(item: Mapping[str, Value]) -> dict[str, Any]:
    return {name: to_wire(value) for name, value in item.items()}


def item_from_wire(wire: Mapping[str, Any], *, exact_numbers: bool = True) -> Item:
    return {name: from_wire(value, exact_numbers=exact_numbers) for name, value in wire.items()}
