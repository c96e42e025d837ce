"""Conditions as data: what an index is sparse by, what a query filters, what a write demands.

A condition names Python fields. It can be read (`describe`), asked about values in the process (`holds`), and put
into a request (`singletable.design.expressions`). Nothing here knows requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn, assert_never

from singletable.design.arguments import require_kind
from singletable.design.stored_values import encode, is_empty


class _Condition:
    """What all conditions share: they combine with & | ~, and are never true or false by themselves."""

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
    """Refuse what is no condition."""
    require_kind(condition, _Condition, 'a condition is one like Eq("status", "ready")')


@dataclass(frozen=True, slots=True)
class Eq(_Condition):
    """The field has this value."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Ne(_Condition):
    """The field has another value, or none."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Lt(_Condition):
    """The field is less than the value."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Le(_Condition):
    """The field is at most the value."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Gt(_Condition):
    """The field is greater than the value."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class Ge(_Condition):
    """The field is at least the value."""

    field: str
    value: Any


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


@dataclass(frozen=True, slots=True)
class Contains(_Condition):
    """The text holds the value, or the list or set has it as a member."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class BeginsWith(_Condition):
    """The text begins with the value, or the bytes do."""

    field: str
    value: str | bytes


@dataclass(frozen=True, slots=True)
class And(_Condition):
    """Both conditions hold."""

    left: Condition
    right: Condition

    def __post_init__(self) -> None:
        require_condition(self.left)
        require_condition(self.right)


@dataclass(frozen=True, slots=True)
class Or(_Condition):
    """One of the conditions holds."""

    left: Condition
    right: Condition

    def __post_init__(self) -> None:
        require_condition(self.left)
        require_condition(self.right)


@dataclass(frozen=True, slots=True)
class Not(_Condition):
    """The condition does not hold."""

    inner: Condition

    def __post_init__(self) -> None:
        require_condition(self.inner)


Condition = Eq | Ne | Lt | Le | Gt | Ge | In | Exists | Contains | BeginsWith | And | Or | Not

_SIGNS = {Eq: "=", Ne: "<>", Lt: "<", Le: "<=", Gt: ">", Ge: ">="}


def all_of(conditions: list[Condition]) -> Condition | None:
    """Return the condition that all of these hold; None if there are none."""
    whole: Condition | None = None
    for condition in conditions:
        whole = condition if whole is None else And(whole, condition)
    return whole


def fields_of(condition: Condition) -> Iterator[str]:
    """Name the fields that a condition looks at."""
    match condition:
        case And(left, right) | Or(left, right):
            yield from fields_of(left)
            yield from fields_of(right)
        case Not(inner):
            yield from fields_of(inner)
        case _:
            yield condition.field


def holds(condition: Condition, values: Mapping[str, Any]) -> bool:
    """Tell whether a condition holds for the values of an entity, as DynamoDB would say it of the stored item."""
    match condition:
        case And(left, right):
            return holds(left, values) and holds(right, values)
        case Or(left, right):
            return holds(left, values) or holds(right, values)
        case Not(inner):
            return not holds(inner, values)
        case Ne(field, value):
            return not _is_equal(values.get(field), value)
        case Eq(field, value):
            return _is_equal(values.get(field), value)
        case _:
            value = _plain(values.get(condition.field))
            if is_empty(value):
                return False  # it is stored as no attribute
            try:
                return _holds_for(condition, value)
            except TypeError:  # values of different kinds, which have no order
                return False


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _is_equal(value: Any, wanted: Any) -> bool:
    if is_empty(value) or is_empty(wanted):  # stored as no attribute
        return is_empty(value) and is_empty(wanted)
    return bool(_plain(value) == _plain(wanted))


def _holds_for(condition: Lt | Le | Gt | Ge | In | Exists | Contains | BeginsWith, value: Any) -> bool:
    match condition:
        case Lt(_, wanted):
            return bool(value < _plain(wanted))
        case Le(_, wanted):
            return bool(value <= _plain(wanted))
        case Gt(_, wanted):
            return bool(value > _plain(wanted))
        case Ge(_, wanted):
            return bool(value >= _plain(wanted))
        case In(_, values):
            return value in [_plain(each) for each in values]
        case Exists():
            return True
        case Contains(_, wanted) if isinstance(value, list | tuple | set | frozenset):
            return wanted in value or any(_plain(member) == _plain(wanted) for member in value)
        case Contains(_, wanted):
            return bool(_plain(wanted) in _stored_text(value))
        case BeginsWith(_, wanted):
            return bool(_stored_text(value).startswith(_plain(wanted)))
        case _:
            assert_never(condition)


def _stored_text(value: Any) -> Any:
    """Return the text or the bytes that a value is stored as; an empty text for what is stored otherwise."""
    if isinstance(value, str | bytes):
        return value
    return encode(value, lambda model: {}).get("S", "")


def describe(condition: Condition) -> str:
    """Write a condition as a reader of a design would."""
    match condition:
        case And(left, right):
            return f"{describe(left)} and {describe(right)}"
        case Or(left, right):
            return f"({describe(left)} or {describe(right)})"
        case Not(inner):
            return f"not ({describe(inner)})"
        case In(field, values):
            return f"{field} in ({', '.join(str(_plain(value)) for value in values)})"
        case Exists(field):
            return f"{field} exists"
        case Contains(field, value):
            return f"{field} contains {_plain(value)}"
        case BeginsWith(field, value):
            return f"{field} begins with {value!s}"
        case Eq() | Ne() | Lt() | Le() | Gt() | Ge():
            return f"{condition.field} {_SIGNS[type(condition)]} {_plain(condition.value)}"
        case _:
            assert_never(condition)
