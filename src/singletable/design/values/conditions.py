"""Conditions as data: for sparse indexes, for filters of queries, and for conditional writes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, TypeAlias

from singletable.blueprint.markdown import condition_sentence
from singletable.design.values.annotations import plain_value
from singletable.design.values.arguments import require_kind
from singletable.design.values.items import encode, is_empty, of_enum


class _Condition:
    """The base class of conditions: they combine with & | ~, and have no truth value of their own."""

    __slots__ = ()

    def __and__(self, other: Condition) -> And:
        return And(self, other)  # type: ignore[arg-type]  # every subclass is one of the union

    def __or__(self, other: Condition) -> Or:
        return Or(self, other)  # type: ignore[arg-type]

    def __invert__(self) -> Not:
        return Not(self)  # type: ignore[arg-type]

    def __bool__(self) -> NoReturn:
        raise TypeError("a condition is data, neither true nor false: combine conditions with & | ~")


def is_condition(value: object) -> bool:
    """Tell whether a value is a condition."""
    return isinstance(value, _Condition)


def require_condition(condition: object) -> None:
    """Refuse a value that is no condition."""
    require_kind(condition, _Condition, 'a condition is one like Eq("status", "ready")')


@dataclass(frozen=True, slots=True)
class _Compared(_Condition):
    field: str
    value: Any


class Eq(_Compared):
    """The field has this value."""

    __slots__ = ()


class Ne(_Compared):
    """The field has another value, or none."""

    __slots__ = ()


class Lt(_Compared):
    """The field is less than the value."""

    __slots__ = ()


class Le(_Compared):
    """The field is at most the value."""

    __slots__ = ()


class Gt(_Compared):
    """The field is greater than the value."""

    __slots__ = ()


class Ge(_Compared):
    """The field is at least the value."""

    __slots__ = ()


class In(_Condition):
    """The field has one of these values."""

    __slots__ = ("field", "values")
    __match_args__ = ("field", "values")

    def __init__(self, field: str, *values: Any) -> None:
        self.field = field
        self.values = values

    def __repr__(self) -> str:
        return f"In({self.field!r}, {', '.join(map(repr, self.values))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, In) and (self.field, self.values) == (other.field, other.values)

    def __hash__(self) -> int:
        return hash((self.field, self.values))


@dataclass(frozen=True, slots=True)
class Exists(_Condition):
    """The field has a value."""

    field: str


class Contains(_Compared):
    """The text holds the value, or the list or set has it as a member."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class BeginsWith(_Condition):
    """The text begins with the value, or the bytes do."""

    field: str
    value: str | bytes


@dataclass(frozen=True, slots=True)
class _Joined(_Condition):
    left: Condition
    right: Condition

    def __post_init__(self) -> None:
        require_condition(self.left)
        require_condition(self.right)


class And(_Joined):
    """Both conditions hold."""

    __slots__ = ()


class Or(_Joined):
    """One of the conditions holds."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Not(_Condition):
    """The condition does not hold."""

    inner: Condition

    def __post_init__(self) -> None:
        require_condition(self.inner)


Simple = Eq | Ne | Lt | Le | Gt | Ge | In | Exists | Contains | BeginsWith  # a condition on one field
Condition = Simple | And | Or | Not
ConditionData: TypeAlias = dict[str, Any]


# --- the operators --------------------------------------------------------------------------------------------


# The kinds of values that operators compare with; `condition_values` has a check for each.
Asks = Literal["a value", "a type", "an order", "a part", "a beginning"]


@dataclass(frozen=True, slots=True)
class Operator:
    """Everything about one kind of condition on a field. To add an operator, add its class and its row."""

    name: str  # in sentences, and in the data of a blueprint
    expression: str  # of DynamoDB: {0} is the attribute, {1} the value
    holds: Callable[..., object]  # takes the value of the field, and the values of the condition
    asks: Asks | None = None  # the kind of values that it compares with
    # The expression for a value that is stored as no attribute. Without one, an empty field never meets it.
    absent: str | None = None

    @property
    def is_of_part(self) -> bool:
        """Whether it compares with a part of the field's value: a member of a list, the beginning of a text."""
        return self.asks in ("a part", "a beginning")


def _contains(value: object, wanted: object) -> bool:
    if isinstance(value, list | tuple | set | frozenset):
        return any(of_enum(member) == wanted for member in value)
    return wanted in _stored_text(value)


def _begins(value: object, wanted: object) -> bool:
    return bool(_stored_text(value).startswith(wanted))


def _stored_text(value: object) -> Any:
    """Return the stored text or bytes of a value; an empty text for a value of another type."""
    if isinstance(value, str | bytes):
        return value
    return encode(value, lambda model: {}).get("S", "")


_EXISTS: Final = "attribute_exists({0})"
_EXISTS_NOT: Final = "attribute_not_exists({0})"

OPERATORS: Final[Mapping[type[Simple], Operator]] = {
    Eq: Operator("=", "{0} = {1}", operator.eq, "a value", _EXISTS_NOT),
    Ne: Operator("<>", "{0} <> {1}", operator.ne, "a type", _EXISTS),
    Lt: Operator("<", "{0} < {1}", operator.lt, "an order"),
    Le: Operator("<=", "{0} <= {1}", operator.le, "an order"),
    Gt: Operator(">", "{0} > {1}", operator.gt, "an order"),
    Ge: Operator(">=", "{0} >= {1}", operator.ge, "an order"),
    In: Operator("in", "{0} IN ({1})", lambda value, *wanted: value in wanted, "a value"),
    Exists: Operator("exists", _EXISTS, lambda value: True),
    Contains: Operator("contains", "contains({0}, {1})", _contains, "a part"),
    BeginsWith: Operator("begins_with", "begins_with({0}, {1})", _begins, "a beginning"),
}


def asked_of(condition: Simple) -> tuple[object, ...]:
    """Return the values that a condition compares with."""
    if isinstance(condition, In):
        return condition.values
    return () if isinstance(condition, Exists) else (condition.value,)


# --- what is made of conditions -------------------------------------------------------------------------------


def all_of(conditions: list[Condition]) -> Condition | None:
    """Return the condition that all of these hold; None if there are none."""
    whole: Condition | None = None
    for condition in conditions:
        whole = condition if whole is None else And(whole, condition)
    return whole


def simple_parts(condition: Condition, *, negated: bool = True) -> Iterator[Simple]:
    """Return the conditions on single fields inside a condition; optionally without those inside a Not."""
    match condition:
        case And(left, right) | Or(left, right):
            yield from simple_parts(left, negated=negated)
            yield from simple_parts(right, negated=negated)
        case Not(inner):
            if negated:
                yield from simple_parts(inner)
        case _:
            yield condition


def fields_of(condition: Condition) -> Iterator[str]:
    """Name the fields of a condition."""
    return (each.field for each in simple_parts(condition))


def holds(condition: Condition, values: Mapping[str, object]) -> bool:
    """Tell whether the values of an entity meet a condition, as DynamoDB would decide for the stored item."""
    match condition:
        case And(left, right):
            return holds(left, values) and holds(right, values)
        case Or(left, right):
            return holds(left, values) or holds(right, values)
        case Not(inner):
            return not holds(inner, values)
        case _:
            return _holds_for(condition, values.get(condition.field))


def _holds_for(condition: Simple, value: object) -> bool:
    row, asked = OPERATORS[type(condition)], asked_of(condition)
    if row.absent is not None and (is_empty(value) or is_empty(*asked)):
        return bool(row.holds(is_empty(value), is_empty(*asked)))  # whether there is an attribute
    if is_empty(value):
        return False
    try:
        return bool(row.holds(of_enum(value), *map(of_enum, asked)))
    except TypeError:  # values of different types have no order
        return False


def condition_data(condition: Condition) -> ConditionData:
    """Return a condition as data: {"operator": "=", "field": "status", "value": "pending"}."""
    match condition:
        case And() | Or():
            kind = type(condition)
            return {"operator": kind.__name__.lower(), "conditions": _flat(condition, kind)}
        case Not(inner):
            return {"operator": "not", "condition": condition_data(inner)}
        case _:
            data: ConditionData = {"operator": OPERATORS[type(condition)].name, "field": condition.field}
            if isinstance(condition, Exists):
                return data
            asked = [plain_value(value) for value in asked_of(condition)]
            return data | ({"values": asked} if isinstance(condition, In) else {"value": asked[0]})


def _flat(condition: Condition, kind: type[And] | type[Or]) -> list[ConditionData]:
    """Return the members of a chain of one operator: `a & b & c` is one "and" of three."""
    if isinstance(condition, And | Or) and isinstance(condition, kind):
        return [*_flat(condition.left, kind), *_flat(condition.right, kind)]
    return [condition_data(condition)]


def describe(condition: Condition) -> str:
    """Return a condition as a sentence for people."""
    text = condition_sentence(condition_data(condition))
    return text[1:-1] if isinstance(condition, And) else text
