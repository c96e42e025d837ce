"""Conditions of the model: a small tree that is evaluated naively, and printed (never parsed)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from resilience.model.paths import MISSING, Missing, Path, Printer, reach
from resilience.model.values import Item, Value, frozen, order_key, same, type_of


@dataclass(frozen=True)
class Attribute:
    path: Path


@dataclass(frozen=True)
class Literal:
    value: Value


@dataclass(frozen=True)
class Size:
    path: Path


Operand = Attribute | Literal | Size


@dataclass(frozen=True)
class Compare:
    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True)
class Between:
    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True)
class In:
    operand: Operand
    choices: tuple[Operand, ...]


@dataclass(frozen=True)
class Exists:
    path: Path
    wanted: bool


@dataclass(frozen=True)
class TypeIs:
    path: Path
    kind: str


@dataclass(frozen=True)
class BeginsWith:
    path: Path
    prefix: Operand


@dataclass(frozen=True)
class Contains:
    path: Path
    member: Operand


@dataclass(frozen=True)
class And:
    left: Condition
    right: Condition


@dataclass(frozen=True)
class Or:
    left: Condition
    right: Condition


@dataclass(frozen=True)
class Not:
    inner: Condition


Condition = Compare | Between | In | Exists | TypeIs | BeginsWith | Contains | And | Or | Not

ORDERED_TYPES = ("S", "N", "B")


def holds(condition: Condition, item: Item) -> bool:
    """Evaluate a condition on an item (an empty dict where there is no item)."""
    match condition:
        case Compare(operator, left, right):
            return compares(operator, evaluate(left, item), evaluate(right, item))
        case Between(operand, low, high):
            found = evaluate(operand, item)
            return compares(">=", found, evaluate(low, item)) and compares("<=", found, evaluate(high, item))
        case In(operand, choices):
            found = evaluate(operand, item)
            return any(compares("=", found, evaluate(choice, item)) for choice in choices)
        case Exists(path, wanted):
            return (reach(item, path) is not MISSING) == wanted
        case TypeIs(path, kind):
            reached = reach(item, path)
            return not isinstance(reached, Missing) and type_of(reached) == kind
        case BeginsWith(path, prefix):
            return begins(reach(item, path), evaluate(prefix, item))
        case Contains(path, member):
            return contains(reach(item, path), evaluate(member, item))
        case And(left_condition, right_condition):
            return holds(left_condition, item) and holds(right_condition, item)
        case Or(left_condition, right_condition):
            return holds(left_condition, item) or holds(right_condition, item)
        case Not(inner):
            return not holds(inner, item)
        case _:
            assert_never(condition)


def evaluate(operand: Operand, item: Item) -> Value | Missing:
    match operand:
        case Attribute(path):
            return reach(item, path)
        case Literal(value):
            return value
        case Size(path):
            return size(reach(item, path))
        case _:
            assert_never(operand)


def size(found: Value | Missing) -> Decimal | Missing:
    """Count characters, bytes or elements; a number, a boolean and NULL have no size.

    Characters are UTF-16 units: DynamoDB answers 3 for "é𝄞" (ExtendDB pull request 67, verified on AWS).
    """
    if isinstance(found, str):
        return Decimal(len(found.encode("utf-16-le")) // 2)
    if isinstance(found, bytes | frozenset | list | dict):
        return Decimal(len(found))
    return MISSING


def compares(operator: str, left: Value | Missing, right: Value | Missing) -> bool:
    """Compare. Two values of different types are unequal and have no order; neither has a missing one."""
    if isinstance(left, Missing) or isinstance(right, Missing):
        return operator == "<>"
    if operator == "=":
        return same(left, right)
    if operator == "<>":
        return not same(left, right)
    if type_of(left) != type_of(right) or type_of(left) not in ORDERED_TYPES:
        return False
    one, other = order_key(left), order_key(right)
    return bool({"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[operator])


def begins(found: Value | Missing, prefix: Value | Missing) -> bool:
    if isinstance(found, str) and isinstance(prefix, str):
        return found.startswith(prefix)
    return isinstance(found, bytes) and isinstance(prefix, bytes) and found.startswith(prefix)


def contains(found: Value | Missing, member: Value | Missing) -> bool:
    """Look for a part of a string or binary, or an element of a set or list."""
    if isinstance(found, Missing) or isinstance(member, Missing):
        return False
    if isinstance(found, str):
        return isinstance(member, str) and member in found
    if isinstance(found, bytes):
        return isinstance(member, bytes) and member in found
    if isinstance(found, frozenset | list):
        return frozen(member) in [frozen(element) for element in found]
    return False


def printed(condition: Condition, printer: Printer) -> str:
    """Write a condition as expression text. Brackets everywhere: precedence has tests of its own."""
    match condition:
        case Compare(operator, left, right):
            return f"{_text(left, printer)} {operator} {_text(right, printer)}"
        case Between(operand, low, high):
            parts = [_text(part, printer) for part in (operand, low, high)]
            return f"{parts[0]} BETWEEN {parts[1]} AND {parts[2]}"
        case In(operand, choices):
            first = _text(operand, printer)
            return f"{first} IN ({', '.join(_text(choice, printer) for choice in choices)})"
        case Exists(path, wanted):
            return f"{'attribute_exists' if wanted else 'attribute_not_exists'}({printer.path(path)})"
        case TypeIs(path, kind):
            return f"attribute_type({printer.path(path)}, {printer.value(kind)})"
        case BeginsWith(path, prefix):
            return f"begins_with({printer.path(path)}, {_text(prefix, printer)})"
        case Contains(path, member):
            return f"contains({printer.path(path)}, {_text(member, printer)})"
        case And(left_condition, right_condition):
            return f"({printed(left_condition, printer)}) AND ({printed(right_condition, printer)})"
        case Or(left_condition, right_condition):
            return f"({printed(left_condition, printer)}) OR ({printed(right_condition, printer)})"
        case Not(inner):
            return f"NOT ({printed(inner, printer)})"
        case _:
            assert_never(condition)


def _text(operand: Operand, printer: Printer) -> str:
    match operand:
        case Attribute(path):
            return printer.path(path)
        case Literal(value):
            return printer.value(value)
        case Size(path):
            return f"size({printer.path(path)})"
        case _:
            assert_never(operand)


def top_level_names(condition: Condition) -> set[str]:
    """Name the attributes that a condition reads."""
    match condition:
        case Compare(_, left, right):
            return _operand_names(left, right)
        case Between(operand, low, high):
            return _operand_names(operand, low, high)
        case In(operand, choices):
            return _operand_names(operand, *choices)
        case Exists(path, _) | TypeIs(path, _):
            return {str(path[0])}
        case BeginsWith(path, other) | Contains(path, other):
            return {str(path[0])} | _operand_names(other)
        case And(one, two) | Or(one, two):
            return top_level_names(one) | top_level_names(two)
        case Not(inner):
            return top_level_names(inner)
        case _:
            assert_never(condition)


def _operand_names(*operands: Operand) -> set[str]:
    return {str(operand.path[0]) for operand in operands if not isinstance(operand, Literal)}
