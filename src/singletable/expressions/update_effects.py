"""The effect of each action of an update on the old item: a new value, or None where it is removed.

Every action reads the old item, not the writes of other actions. All values are worked out before any path is
followed, so a missing or mistyped operand is reported before a path that cannot be written (measured on the
service in October 2026).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, assert_never

from singletable.errors import ValidationError
from singletable.expressions.checks import Values
from singletable.expressions.nodes import (
    Action,
    AddAction,
    Arithmetic,
    DeleteAction,
    FunctionCall,
    Operand,
    Path,
    Placeholder,
    RemoveAction,
    SetAction,
)
from singletable.expressions.operands import path_getter
from singletable.values.numbers import add, subtract
from singletable.values.sets import in_order
from singletable.values.types import Item, Value

Effect: TypeAlias = Callable[[Item, Values], Value | None]
_Source: TypeAlias = Callable[[Item, Values], Value]

_MISSING: Final = "The provided expression refers to an attribute that does not exist in the item"
_MISTYPED: Final = "An operand in the update expression has an incorrect data type"


def effect_of(action: Action) -> Effect:
    """Compile an action."""
    match action:
        case SetAction(_, value):
            return _arithmetic(value) if isinstance(value, Arithmetic) else _source(value)
        case RemoveAction():
            return _nothing
        case AddAction(target, Placeholder(name)):
            return _addition(target, name)
        case DeleteAction(target, Placeholder(name)):
            return _deletion(target, name)
        case _:
            assert_never(action)


def _nothing(_item: Item, _values: Values) -> None:
    return None


def _source(operand: Operand) -> _Source:
    match operand:
        case Placeholder(name):
            return lambda _item, values: values[name]
        case Path():
            return _stored(operand)
        case FunctionCall("if_not_exists", (Path() as path, fallback)):
            return _if_not_exists(path, _source(fallback))
        case FunctionCall("list_append", (first, second)):
            return _list_append(_source(first), _source(second))
        case FunctionCall():
            raise AssertionError("the checks let no other function into an update")


def _stored(path: Path) -> _Source:
    find = path_getter(path)

    def get(item: Item, _values: Values) -> Value:
        found = find(item)
        if found is None:
            raise ValidationError(_MISSING)
        return found

    return get


def _if_not_exists(path: Path, fallback: _Source) -> _Source:
    find = path_getter(path)

    def get(item: Item, values: Values) -> Value:
        found = find(item)
        return fallback(item, values) if found is None else found

    return get


def _list_append(first: _Source, second: _Source) -> _Source:
    def get(item: Item, values: Values) -> Value:
        head = first(item, values).get("L")
        if head is None:
            raise ValidationError(_MISTYPED)
        tail = second(item, values).get("L")
        if tail is None:
            raise ValidationError(_MISTYPED)
        return {"L": head + tail}

    return get


def _arithmetic(node: Arithmetic) -> _Source:
    compute = add if node.operator == "+" else subtract
    left, right = _source(node.left), _source(node.right)

    def get(item: Item, values: Values) -> Value:
        one = left(item, values).get("N")
        if one is None:
            raise ValidationError(_MISTYPED)
        other = right(item, values).get("N")
        if other is None:
            raise ValidationError(_MISTYPED)
        return {"N": compute(one, other)}

    return get


def _addition(target: Path, placeholder: str) -> Effect:
    find = path_getter(target)

    def effect(item: Item, values: Values) -> Value:
        addend = values[placeholder]
        stored = find(item)
        if stored is None:
            return addend
        ((tag, payload),) = addend.items()
        current = stored.get(tag)
        if current is None:
            raise ValidationError(_MISTYPED)
        if tag == "N":
            return {"N": add(current, payload)}
        return {tag: in_order(tag, {*current, *payload})}

    return effect


def _deletion(target: Path, placeholder: str) -> Effect:
    find = path_getter(target)

    def effect(item: Item, values: Values) -> Value | None:
        stored = find(item)
        if stored is None:
            return None
        ((tag, payload),) = values[placeholder].items()
        current = stored.get(tag)
        if current is None:
            raise ValidationError(_MISTYPED)
        unwanted = set(payload)
        remaining = [member for member in current if member not in unwanted]
        # A set is never empty: without members the attribute is gone.
        return {tag: remaining} if remaining else None

    return effect
