"""What the type of a parameter means in texts: what its values are called, and how they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, is_typeddict

from pydantic import BaseModel

from singletable.design import Key
from singletable.design.values.annotations import unwrap

Kind = Literal["text", "choice", "flag", "time", "date", "span", "bytes", "key", "json", "list"]

_LISTS: Final = (list, set, frozenset, tuple, Sequence, Iterable)
_KINDS: Final[tuple[tuple[type[Any], Kind, str], ...]] = (
    (bool, "flag", "true|false"),
    (datetime, "time", "TIME"),
    (date, "date", "DATE"),
    (timedelta, "span", "SPAN"),
    (bytes, "bytes", "BASE64"),
    (Key, "key", "KEY"),
    (BaseModel, "json", "JSON"),
    (Mapping, "json", "JSON"),
    (int, "text", "INTEGER"),
    (Decimal, "text", "NUMBER"),
    (float, "text", "NUMBER"),
)


@dataclass(frozen=True, slots=True)
class ParameterShape:
    """How the values of a type are written: their kind, their name in the help, and the class they are of."""

    kind: Kind
    metavar: str
    of: Any = str
    choices: tuple[Any, ...] = ()
    member: ParameterShape | None = None
    is_optional: bool = False

    @property
    def is_told_by_clock(self) -> bool:
        """Whether a text may mean something else later, as `now` does."""
        return (self.member or self).kind in ("time", "date")


def shape_of(annotation: Any) -> ParameterShape:
    """Return how values of a type are written in texts."""
    annotation, _ = unwrap(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _choice(arguments)
    if origin in (Union, UnionType):
        return _union(arguments)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return _choice(tuple(annotation))
    if (origin or annotation) in _LISTS:
        inner = shape_of(arguments[0]) if arguments else ParameterShape("text", "TEXT")
        metavar = f"{inner.metavar},..." if inner.kind == "list" else inner.metavar  # mia,tom is a pair
        return ParameterShape("list", metavar, annotation, inner.choices, inner)
    kind = origin or annotation
    if isinstance(kind, type):
        for known, name, metavar in _KINDS:
            if issubclass(kind, known):
                return ParameterShape(name, metavar, kind)
        if is_typeddict(kind) or is_dataclass(kind):
            return ParameterShape("json", "JSON", kind)
    return ParameterShape("text", "TEXT", kind)


def choice_text(value: Any) -> str:
    """Return how a choice is written."""
    return str(value.value if isinstance(value, Enum) else value)


def _choice(values: tuple[Any, ...]) -> ParameterShape:
    return ParameterShape("choice", "|".join(map(choice_text, values)), choices=values)


def _union(arguments: tuple[Any, ...]) -> ParameterShape:
    shapes = [shape_of(each) for each in arguments if each is not NoneType]
    is_optional = NoneType in arguments
    # Of several types, the validation takes the one that the text fits.
    shape = shapes[0] if len(shapes) == 1 else ParameterShape("text", "TEXT", Any)
    return ParameterShape(shape.kind, shape.metavar, shape.of, shape.choices, shape.member, is_optional)
